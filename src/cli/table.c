#include "config.h"

#include "src/cli/commands.h"
#include "src/cli/table_delayed.h"
#include "src/cli/table_index.h"

#define NO_OPTIONS NULL

static const struct command_option global_options[] = {
    {"config", 'c', "FILE",
     "the configuration (default: ./millrace.yaml, then "
     "/etc/millrace/millrace.yaml)",
     "file"},
    {"socket", 0, "PATH", "the daemon's socket (default: as configured)", "file"},
    {"set", 0, "NAME=VALUE", "a setting that wins over the file and the environment",
     "settings"},
    {"output", 'o', "FORM", "table, json or yaml (default: table)", "table json yaml"},
    {"help", 'h', NULL, "show how to use the command", NULL},
    {"version", 'V', NULL, "print the program's version", NULL},
    {NULL, 0, NULL, NULL, NULL},
};

#define YES                                                   \
    {                                                         \
        "yes", 'y', NULL, "do not ask for confirmation", NULL \
    }
#define END                       \
    {                             \
        NULL, 0, NULL, NULL, NULL \
    }

static const struct command_option yes_options[] = {YES, END};

static const struct command_option table_delete_options[] = {
    {"with-indexes", 0, NULL, "also delete its indexes", NULL},
    {"confirm", 0, "TABLE", "with --with-indexes: even if searches use them; name it again",
     "table"},
    YES,
    END,
};

static const struct command_option status_options[] = {
    {"check", 0, NULL, "say by the exit code whether all is well", NULL},
    {"watch", 'w', NULL,
     "show it again every 2 seconds, until Ctrl-C; with -o json, an object a line", NULL},
    END,
};

static const struct command_option init_options[] = {
    {"table", 0, "NAME", "only this table; may be repeated", NULL},
    {"search", 0, "URL", "the search engine; may be repeated (default: http://127.0.0.1:9200)",
     NULL},
    {"password-file", 0, "FILE", "its first line is the database user's password", "file"},
    {"tls", 0, NULL, "encrypt, and check the server's certificate with the system's", NULL},
    {"ca-file", 0, "FILE", "the same, with the certificate authorities of this file", "file"},
    {"directory", 'C', "DIR", "write the files here (default: the current directory)", "file"},
    {"data", 0, "DIR", "the daemon's data folder (default: data, beside the files)", "file"},
    END,
};

static const struct command_option apply_options[] = {
    {"dry-run", 'n', NULL, "show what would change, and change nothing", NULL},
    {"prune", 0, NULL, "remove everything that no file names", NULL},
    {"take-alias", 0, NULL,
     "let a table take an alias that points to an index that Millrace did not make", NULL},
    YES,
    END,
};

static const struct command_option pause_options[] = {
    {"reason", 0, "TEXT", "why, for whoever looks at the status", NULL},
    END,
};

#define CHANGE                                                                       \
    {"dry-run", 'n', NULL, "show what would move, and move nothing", NULL}, YES,     \
        {"wait", 'w', NULL, "wait until all has moved (this is the default)", NULL}, \
    {                                                                                \
        "no-wait", 0, NULL, "return at once", NULL                                   \
    }

static const struct command_option node_options[] = {CHANGE, END};

static const struct command_option move_options[] = {
    {"to", 0, "NODE", "the node, by its name or id; any: wherever it fits", "node"},
    CHANGE,
    END,
};

#define WHICH                                                                   \
    {"topic", 0, "NAME", "only this topic", "topic"},                           \
        {"table", 0, "NAME", "only this table", "table"},                       \
        {"index", 0, "NAME", "only this index version (orders_v2)", "version"}, \
    {                                                                           \
        "reason", 0, "TEXT", "only where the reason contains TEXT", NULL        \
    }

static const struct command_option letter_options[] = {
    WHICH,
    {"limit", 0, "N", "print at most N (default: 100)", NULL},
    {"after", 0, "ID", "print those after this one", NULL},
    END,
};

static const struct command_option letters_options[] = {
    WHICH,
    {"all", 0, NULL, "all dead letters", NULL},
    YES,
    END,
};

static const struct command_option check_options[] = {
    {"all", 0, NULL, "all tables with a daily_check_column, one after another", NULL},
    {"no-wait", 0, NULL, "start the job and print its id", NULL},
    {"rate", 0, "N", "at most N rows per second", NULL},
    {"repair", 0, NULL, "read the rows of what differs again", NULL},
    {"since", 0, "TIME", "rows that changed since then, as \"2026-11-25 13:00\"", NULL},
    {"values", 0, NULL, "show the values that differ", NULL},
    END,
};

static const struct command_option verify_options[] = {
    {"all", 0, NULL, "the indexes of all tables, one after another", NULL},
    {"dry-run", 0, NULL, "compare only, also with --repair", NULL},
    {"key", 0, "ID", "only the document with this _id; may be repeated", NULL},
    {"no-wait", 0, NULL, "start the job and print its id", NULL},
    {"rate", 0, "N", "at most N rows and documents per second", NULL},
    {"repair", 0, NULL, "read the rows of what differs again", NULL},
    {"sample", 0, "N", "only N documents, taken at random, and the newest rows", NULL},
    {"values", 0, NULL, "show the values that differ", NULL},
    {"version", 0, "N", "this version of the index, if it is current", NULL},
    {"where", 0, "SQL", "only rows that meet this condition", NULL},
    {"yes", 'y', NULL,
     "repair also if more than 5 % or 10,000 documents differ; needs a report", NULL},
    END,
};

static const struct command_option replay_options[] = {
    {"all", 0, NULL, "the indexes of all tables, one after another", NULL},
    {"day", 0, "DAY", "this day, as 2026-11-26 (default: yesterday)", NULL},
    {"rate", 0, "N", "write at most N documents a second (default: 1000); 0: no limit", NULL},
    {"wait", 'w', NULL, "follow the replay to its end (this is the default)", NULL},
    {"no-wait", 0, NULL, "start the job and print its id", NULL},
    END,
};

static const struct command_option trace_options[] = {
    {"log", 0, NULL, "also read the server's log for changes of the row", NULL},
    {"from", 0, "FILE:OFFSET", "start here in the log (default: at the oldest)", NULL},
    END,
};

static const struct command_option delivery_options[] = {
    {"reset", 0, NULL, "return to the configured value", NULL},
    END,
};
static const struct command_option drain_options[] = {
    {"worker", 0, "N", "drain only this worker (0 to delivery.workers - 1)", NULL},
    {"timeout", 0, "SECONDS", "time limit (default: delivery.drain_timeout)", NULL},
    {"cancel", 0, NULL, "end the running drain", NULL},
    END,
};
static const struct command_option config_options[] = {
    {"origin", 0, NULL, "show where each value comes from", NULL},
    END,
};

#define LIST(noun_, plural, arg, complete_, example_)                                     \
    {                                                                                     \
        noun_ " list", arg, "list the " plural, NULL, NEED_STORE, command_list, noun_, 0, \
            sizeof(arg) > 1, NO_OPTIONS, complete_, false, example_                       \
    }
#define GET(noun_, example_)                                                                 \
    {                                                                                        \
        noun_ " get", "NAME", "show one " noun_, NULL, NEED_STORE, command_get, noun_, 1, 1, \
            NO_OPTIONS, noun_, false, example_                                               \
    }
#define DELETE(noun_, text, example_)                                                        \
    {                                                                                        \
        noun_ " delete", "NAME", "remove a " noun_, text, NEED_STORE, command_delete, noun_, \
            1, 1, yes_options, noun_, false, example_                                        \
    }

static const struct command list[] = {
    {"init", "mysql://USER@HOST[:PORT]/DATABASE", "write first files for a database's tables",
     "Looks at the schema and writes millrace.yaml and DATABASE.yaml: every table, its "
     "types, and the relations that follow from foreign keys, as comments to take in.  "
     "Checks the server as doctor does, prints what needs fixing, and prints the next "
     "commands.  Replaces no file; asks nothing.  A socket is "
     "mysql://USER@/DATABASE?socket=PATH.\n\n"
     "The password comes from --password-file, from the environment (MYSQL_PWD), or from "
     "the address, where others can see it.  Unless it comes from a file, init writes it "
     "to DATABASE.password, which only its owner may read.\n\n"
     "Exit code 1 if nothing was written, or if a check failed; the files are then "
     "written all the same.",
     NEED_NOTHING, command_init, NULL, 1, 1, init_options, NULL, false,
     "init mysql://millrace@db.example/shop --password-file shop.password"},
    {"run", "", "run the daemon",
     "Follows every topic, keeps the indexes equal to their tables, and serves the "
     "status page, the metrics and the socket that the other commands use.  Stays in "
     "the foreground and logs to standard error: lines of text on a terminal, JSON "
     "elsewhere, or as log.format says.\n\n"
     "On SIGTERM or SIGINT "
     "the daemon delivers what is queued, saves the positions and exits; on a second "
     "signal it exits at once, which loses nothing either.  On SIGHUP it reads the "
     "configuration again: log.* and delivery.* take effect, and the log names "
     "the settings that need a restart.",
     NEED_NOTHING, command_run, NULL, 0, 0, NO_OPTIONS, NULL, false,
     "run --config /etc/millrace/millrace.yaml"},

    {"apply", "FILE...", "check and store definition files",
     "Compares the topics, databases and tables in the files with the stored ones, "
     "prints the changes, and stores them; a running daemon acts on them at once.  "
     "If any file has an error, nothing is stored.  Whatever the files do not name "
     "stays as it is, unless --prune is given.  \"-\" reads standard input.\n\n"
     "A "
     "change that needs a new index version is stored as pending and takes effect "
     "with the next index create.",
     NEED_STORE, command_apply, NULL, 1, 1000, apply_options, "file", false,
     "apply --dry-run shop.yaml"},
    {"export", "", "print the stored definitions as YAML",
     "The same definitions give the same bytes, and applying them changes nothing.", NEED_STORE,
     command_export, NULL, 0, 0, NO_OPTIONS, NULL, false, "export"},

    {"status", "", "show the state of topics, tables, builds and delivery",
     "For each topic: its state, its lag in time and bytes, its rate and position.  "
     "For each table: its state, index version, the age of its oldest undelivered change, "
     "documents, documents written a second, dead letters and running build.  Then each "
     "check that failed or warns, with its reason and the fix, as doctor has them.  In a "
     "window, long names are cut in the middle.\n\n"
     "With --check, exit code 0 says that all is well or works with warnings, 1 that a check "
     "failed, 75 that nobody can say: no daemon answers, or the engine or the store has not "
     "answered since the start.",
     NEED_DAEMON, command_status, NULL, 0, 0, status_options, NULL, false, "status -o json"},
    {"doctor", "", "check every requirement on the servers",
     "Connects to each topic's server, the search engine and the store, and checks "
     "settings, privileges and tables.  Each failure says why it matters and how to "
     "fix it.  Does not wait for a server that is silent for 5 seconds, but names "
     "it.  Exit code 1 if a check failed.",
     NEED_STORE, command_doctor, NULL, 0, 0, NO_OPTIONS, NULL, false, "doctor"},
    {"explain", "TABLE KEY", "show how one row becomes a document",
     "Prints the SQL statements with their rows and times, the document, and the "
     "lines of the bulk request.  Lists for each table the columns and rows whose "
     "change builds the document again, and how Millrace finds the document from "
     "there.  For a row without a document, says why.  KEY is the document's _id.  "
     "Writes nothing.",
     NEED_STORE, command_explain, NULL, 2, 2, NO_OPTIONS, "table", false,
     "explain shop.orders 42"},
    {"verify", "TABLE", "compare documents with their rows",
     "Builds documents from the rows by the definition of the index that searches use, and "
     "compares them with what the engine stores: as values, so that only the meaning "
     "counts.  Looks again before it calls anything a difference, until changes on their "
     "way are delivered.\n\n"
     "With --key it compares single documents at once.  Without, a job of the daemon reads "
     "all rows and all documents of the index; it goes on after a restart and leaves a "
     "report (millrace report list).  Tables that share an index are compared together.\n\n"
     "With --sample, it takes half of N from the documents and half from the rows, both at "
     "random, and the 100 rows with the greatest keys.  That finds damage of many documents "
     "soon, and says nothing of the documents that were not taken.  With --where, it reads "
     "the rows that meet the condition, and does not look for documents without a row.\n\n"
     "With --repair, has the rows read again and looks once more.  If more than 5 % of the "
     "index or 10,000 documents would change, it changes nothing without --yes.\n\n"
     "Exit code 0: equal, or repaired and seen equal.  1: differences.  2: wrong usage, or "
     "refused.  "
     "75: could not be judged now.",
     NEED_DAEMON, command_verify, NULL, 0, 1, verify_options, "table", false,
     "verify shop.orders --key 42 --repair"},
    {"check", "TABLE", "compare the rows that have changed with their documents",
     "Compares the rows whose daily_check_column has changed since the last good check (and a "
     "minute before it, or since a time of your own), as verify does.  A check is good if it "
     "found all equal, or repaired what was not; the first one compares all rows that have a "
     "value in the column.\n\n"
     "It cannot see deleted rows, rows without a value in the column, and changes of related "
     "rows: millrace verify does.  If more than 5 % of the index or 10,000 documents would "
     "change, it changes nothing and marks the index to be verified.\n\n"
     "Exit code 0: equal, or repaired and seen equal.  1: differences.  2: wrong usage, or "
     "refused.  "
     "75: could not be judged now, or a verification of the index runs.",
     NEED_DAEMON, command_check, NULL, 0, 1, check_options, "table", false,
     "check --all --repair"},
    {"replay", "[TABLE]", "read and write again whatever changed on a day",
     "Reads the day's part of the server's log once more, and has each document that it leads "
     "to read afresh and written, or deleted if its row is gone.  A day begins at midnight in "
     "the topic's day_zone.  Leaves a report (millrace report list).  Where that log is gone, "
     "takes the rows whose daily_check_column is in the day, and says so.\n\n"
     "Exit code 0: replayed, or by daily_check_column.  1: not all of it, as the report says.  "
     "2: wrong usage, or refused.  75: a replay of the topic runs, or it failed.",
     NEED_DAEMON, command_replay, NULL, 0, 1, replay_options, "table", false,
     "replay --all --wait"},
    {"trace", "TABLE ID", "show why a document is, or is not, as its row",
     "Says first, in one sentence, why searches see what they see of one row, and what to do "
     "next.  Then shows where the document lies: the row, each version of the index, "
     "differences by their path, and whatever is on its way: queued, read, sent, purged, or a "
     "dead letter.  ID is the document's _id.  Of a row that other documents show, ID is its "
     "primary key, and the command lists and compares at most 100 of these documents.  Writes "
     "nothing.\n\n"
     "With --log, also lists the changes of the row in the server's log: at most 1,000, and as "
     "far as 20 seconds lead; to go on from there, give --from.\n\n"
     "Exit code 0: equal, or rightly absent.  1: different.  2: wrong usage, or refused.  75: "
     "could not be judged now.",
     NEED_DAEMON, command_trace, NULL, 2, 2, trace_options, "table", false,
     "trace shop.orders 42"},
    {"mapping", "TABLE", "print the index mapping made from a table's columns", NULL,
     NEED_STORE, command_mapping, NULL, 1, 1, NO_OPTIONS, "table", false,
     "mapping shop.orders"},

    LIST("topic", "topics: MySQL and MariaDB servers", "", NULL, "topic list"),
    GET("topic", "topic get shop"),
    DELETE("topic", "Removes only a topic that no database names.", "topic delete old_shop"),
    {"topic reset", "TOPIC", "let a stopped topic continue from now",
     "Continues from the server's current position.  For a topic whose server purged "
     "a log that Millrace still needs, was reset, or was replaced by another server.  "
     "The indexes miss the changes in between, so the topic's tables are marked to "
     "be built again.",
     NEED_DAEMON, command_topic_reset, NULL, 1, 1, yes_options, "topic", false,
     "topic reset shop"},
    {"topic pause", "TOPIC", "stop reading a topic's log until it is resumed",
     "What was read is delivered.  Survives a restart.  status shows since when and why.  "
     "The server must keep its log: if it purges what a paused topic still needs, the "
     "indexes must be built again.",
     NEED_DAEMON, command_topic_pause, NULL, 1, 1, pause_options, "topic", false,
     "topic pause shop --reason 'the server moves'"},
    {"topic resume", "TOPIC", "end a pause, or retry now whatever made a topic stop or wait",
     "For use after the cause is fixed: a password, a privilege, a setting, a server "
     "that is back.  Also retries indexes that are held.",
     NEED_DAEMON, command_topic_resume, NULL, 1, 1, NO_OPTIONS, "topic", false,
     "topic resume shop"},
    {"topic move", "TOPIC", "let another node follow a topic",
     "Shows what would move, asks, and waits until the topic runs on the node, or says why it "
     "does not: exit code 1.  The cluster "
     "keeps it there as long as the node lives and is not evacuated, and moves other topics "
     "to share them evenly; --to any lets the cluster choose again.  Topics whose tables "
     "share an index, or that have the same group, move together.",
     NEED_DAEMON, command_topic_move, NULL, 1, 1, move_options, "topic", false,
     "topic move shop --to db2"},
    LIST("database", "databases", "", NULL, "database list"),
    GET("database", "database get shop"),
    DELETE("database", "Removes only a database that no table names.",
           "database delete old_shop"),
    LIST("table", "tables", "", NULL, "table list"),
    GET("table", "table get shop.orders"),
    {"table delete", "NAME", "remove a table",
     "Retires the table's index: it stays in the search engine, Millrace writes "
     "nothing to it, and millrace index delete deletes it.  Refused while the index "
     "is being built.\n\n"
     "With --with-indexes, also deletes all versions of the index, and those that are retired "
     "already.  Searches by its alias then find nothing.  Refused while a version is being "
     "built, while searches use one, and while an alias points to one, unless --confirm names "
     "the table again; always refused while other tables share the index.  What the engine "
     "does not delete now, Millrace deletes later by itself.",
     NEED_STORE, command_table_delete, "table", 1, 1, table_delete_options, "table", false,
     "table delete shop.old_orders"},
    {"table columns generate", "DATABASE.TABLE",
     "print a definition with every column of a table",
     "Prints a definition file to edit and apply: each column with its field type "
     "and its type in the database, the key, the values that searches do not see, "
     "and the relations that follow from foreign keys.  Applied unchanged, it means "
     "the same as a definition without columns.  Only the database must be defined, "
     "not the table.",
     NEED_STORE, command_columns, NULL, 1, 1, NO_OPTIONS, NULL, false,
     "table columns generate shop.orders"},
    LIST("relation", "relations", "[TABLE]", "table", "relation list shop.orders"),
    {"node list", "", "list the nodes that share the store",
     "For each node: its name and the start of its id, its state, its version, since when it "
     "runs, and the topics that it follows.  normal: it works; rebalancing: others wait for "
     "it; waiting: it waits for others; starting: it has come; left out: it lives and did not "
     "answer; evacuating, evacuated: it gives its topics away, or has none; shut down, gone: "
     "it does not live.  Then for whom the cluster waits.",
     NEED_DAEMON, command_list, "node", 0, 0, NO_OPTIONS, NULL, false, "node list"},
    {"node get", "NODE", "show one node", NULL, NEED_DAEMON, command_get, "node", 1, 1,
     NO_OPTIONS, "node", false, "node get db2"},
    {"node rebalance", "", "share the topics evenly",
     "Shows what would move, asks, and waits until all has moved.  The cluster does this by "
     "itself when a node comes or goes.  What does not move is not interrupted.",
     NEED_DAEMON, command_node_rebalance, NULL, 0, 0, node_options, NULL, false,
     "node rebalance --dry-run"},
    {"node evacuate", "NODE", "move a node's topics away, and give it none",
     "For a node that is to be stopped, updated or removed.  Shows what would move, asks, and "
     "waits until all has moved.  The node delivers what it has read and stores each position, "
     "so that the others go on from there.  It takes no topic until millrace node admit, also "
     "after a restart.  Interrupting the command does not stop the moves.",
     NEED_DAEMON, command_node_evacuate, NULL, 1, 1, node_options, "node", false,
     "node evacuate db2"},
    {"node admit", "NODE", "give an evacuated node topics again",
     "Shows what would move, asks, and waits until all has moved.", NEED_DAEMON,
     command_node_admit, NULL, 1, 1, node_options, "node", false, "node admit db2"},
    {"node forget", "NODE", "forget a node that does not come back",
     "Removes what is known of a node that is gone, and what was asked of it: that it is "
     "evacuated, and the topics that were moved there.  Its name is free then, and nothing "
     "warns of it any more.  If it comes back after all, it takes part like a new one.",
     NEED_DAEMON, command_node_forget, NULL, 1, 1, yes_options, "node", false,
     "node forget db2"},
    LIST("version", "index versions", "[INDEX]", "index", "version list orders"),
    LIST("job", "builds and other long jobs, with their progress", "", NULL, "job list"),
    GET("job", "job get 7"),
    LIST("report", "reports of verifications", "", NULL, "report list"),
    {"report get", "JOB", "show the report of a verification, or how far it is", NULL,
     NEED_STORE, command_report, NULL, 1, 1, NO_OPTIONS, NULL, false, "report get 12"},

    LIST("log", "latest events: what was built, changed or stopped, and why", "[TABLE]",
         "table", "log list shop.orders"),
    {"log get", "ID", "show one event",
     "Of a build's event also what is kept of the build: its parameters, the mapping and the "
     "settings that the search engine was sent, the nodes that took part, its end and its "
     "times.",
     NEED_STORE, command_get, "log", 1, 1, NO_OPTIONS, "log", false, "log get 311"},

    {"index create", "[TABLE]", "build a new version of a table's index",
     "Reads the table in key order while changes go to the old and the new version, "
     "then moves the alias in one step; the old version is kept.  An interrupted "
     "build continues where it stopped.  Progress goes to standard error; "
     "interrupting the command does not stop the build.  While a delayed run writes "
     "documents of the index, the command waits and asks again, ten times by default, and "
     "then ends with 75.\n\n"
     "Before the alias moves, the build counts rows and documents, and compares 1,000 "
     "documents, taken at random, and the 100 newest with their rows; with --verify full all "
     "of them, with none only the counts (default: index.verify_builds).  What differs is "
     "written again, and Millrace compares once more.  Exit code 1 if documents still differ, "
     "or the new version lacks more documents than the previous one: then it waits, see "
     "millrace index cutover.\n\n"
     "With --all, builds every index and goes on after a failure; the exit code is that of "
     "the first failure.  With --hold, the new version is complete, receives all changes "
     "and waits, and searches use the previous one until millrace index cutover.\n\n"
     "With --buckets-by mod, the server reads the whole table for each bucket.  The command "
     "first says how many rows that will be; --dry-run says it and builds nothing.",
     NEED_DAEMON, command_index_create, NULL, 0, 1, create_options, "table", false,
     "index create shop.orders --rate 5000 --hold"},
    {"index list", "[INDEX]", "list the indexes",
     "Prints every version of every index, with its table, its state, and why it "
     "exists: changing (the build is running), waiting (the build is complete, and "
     "millrace index cutover publishes it), available (searches use it), kept (replaced, "
     "and current for millrace index rollback), history (replaced), or retired (no "
     "definition names it, and Millrace writes nothing to it).  History and retired "
     "versions stay until millrace index delete, or for index.retire_after if no alias "
     "points to them.",
     NEED_STORE, command_list, "index", 0, 1, NO_OPTIONS, "index", false, "index list orders"},
    {"index set", "TABLE", "change a running build", NULL, NEED_DAEMON, command_index_set, NULL,
     1, 1, set_options, "table", false, "index set shop.orders --rate 0"},
    {"index cutover", "TABLE", "publish a complete version that waits",
     "Publishes a version that waits, as one built with --hold does.  If the search "
     "engine refuses more documents "
     "of a build than of the previous version, Millrace does not publish the build: "
     "the new version is complete, receives all changes and waits, and searches use "
     "the previous one.  millrace status says what it waits for.  Exit code 1 if it "
     "still waits.",
     NEED_DAEMON, command_index_cutover, NULL, 1, 1, cutover_options, "table", false,
     "index cutover shop.orders --accept-dead-letters 3"},
    {"index pause", "TABLE", "write nothing to a table's index until it is resumed",
     "Searches see the index as it is.  Millrace keeps the keys of what changes, and "
     "other indexes go on.  Survives a restart.  status shows since when and why.",
     NEED_DAEMON, command_index_pause, NULL, 1, 1, pause_options, "table", false,
     "index pause shop.orders --reason 'the cluster is upgraded'"},
    {"index resume", "TABLE", "write to a paused index again",
     "Reads the rows that changed meanwhile, and writes their documents.  Also retries "
     "indexes that are held.",
     NEED_DAEMON, command_index_resume, NULL, 1, 1, NO_OPTIONS, "table", false,
     "index resume shop.orders"},
    {"index refresh", "TABLE", "read some rows again and write their documents",
     "Writes them into the version that searches use, equal or not, without a new version; "
     "never over a newer change.  A job of the daemon does it, goes on after a restart, and "
     "leaves a report (millrace report get).\n\n"
     "With --where, of the rows that meet the condition now: a document whose row no longer "
     "meets it stays as it is.  With --key, also the document of a row that is gone: it is "
     "deleted.  Rows of which documents show a part of this table are not read: name their "
     "table.\n\n"
     "Exit code 0: all are written and equal.  1: documents differ still.  2: wrong usage, or "
     "refused.  75: not all could be judged, or the job was cancelled.",
     NEED_DAEMON, command_index_refresh, NULL, 1, 1, refresh_options, "table", false,
     "index refresh shop.orders --key 42 --key 43"},
    {"index rollback", "TABLE", "let searches use an older version again",
     "Returns to a version that was kept current (index.keep_versions, index create --keep): "
     "it has every change, as its own definition shows it.  The present version is kept "
     "instead, for index.keep_for, so that --to leads back to it.  Refused, with the "
     "reason, for a version that is not current, and while a build runs.",
     NEED_DAEMON, command_index_rollback, NULL, 1, 1, rollback_options, "table", false,
     "index rollback shop.orders --to 3"},
    {"index reset", "TABLE", "stop a running build and drop its version",
     "Ends a build in any bad state, or drops a version that waits.  The version "
     "that searches use stays.",
     NEED_DAEMON, command_index_reset, NULL, 1, 1, yes_options, "table", false,
     "index reset shop.orders"},
    {"index delete", "TABLE [NUMBER]", "delete versions that searches do not use",
     "Deletes one version, also a kept one, or every version that is history or retired: "
     "all of them, or none.  TABLE may be the name of an index that no definition names "
     "any more; "
     "searches by its alias then find nothing.  Refuses to delete an index that "
     "another alias points to.",
     NEED_DAEMON, command_index_delete, NULL, 1, 2, yes_options, "table", false,
     "index delete shop.orders 3"},

    {"dead-letter list", "", "list documents that the search engine refused", NULL, NEED_STORE,
     command_dead_letter_list, NULL, 0, 0, letter_options, NULL, false,
     "dead-letter list --table shop.orders"},
    {"dead-letter show", "ID", "show one dead letter with its document", NULL, NEED_STORE,
     command_dead_letter_show, NULL, 1, 1, NO_OPTIONS, NULL, false, "dead-letter show 17"},
    {"dead-letter replay", "[ID]", "read their rows again and write the documents",
     "Takes an ID, options that select dead letters, or --all.  A document that is "
     "refused again becomes a dead letter again.",
     NEED_DAEMON, command_dead_letter_replay, NULL, 0, 1, letters_options, NULL, false,
     "dead-letter replay --table shop.orders"},
    {"dead-letter discard", "[ID]", "forget dead letters",
     "Takes an ID, options that select dead letters, or --all.  Their documents stay "
     "missing or stale in the index until their rows change.",
     NEED_DAEMON, command_dead_letter_discard, NULL, 0, 1, letters_options, NULL, false,
     "dead-letter discard 17"},

    {"delayed list", "", "list changes of delayed tables", NULL, NEED_STORE,
     command_delayed_list, NULL, 0, 0, snapshot_options, NULL, false,
     "delayed list --table shop.category --status init"},
    {"delayed runs", "", "show delayed runs, and how much waits", NULL, NEED_DAEMON,
     command_delayed_runs, NULL, 0, 0, NO_OPTIONS, NULL, false, "delayed runs"},
    {"delayed run", "[TABLE]", "read the documents again that delayed changes concern",
     "Takes a delayed TABLE, --all or --one ID.  What changes during the run waits for the "
     "next one.  A topic has one run at a time: a second one ends with 75.  While an index is "
     "built whose documents it would write, the command waits and asks again, ten times by "
     "default, and then ends with 75.  For cron: millrace delayed run --all --wait.",
     NEED_DAEMON, command_delayed_run, NULL, 0, 1, delayed_options, "table", false,
     "delayed run shop.category --wait"},
    {"delayed done", "ID...", "mark delayed changes as done, without a run",
     "Their documents stay as they are until their rows change.  For snapshots of a table "
     "that is gone, or whose documents were built again.",
     NEED_DAEMON, command_delayed_done, NULL, 1, 1000, NO_OPTIONS, NULL, false,
     "delayed done 17 18"},

    {"binlog decode", "[FILE...]", "print the row changes of binlog files as JSON lines",
     "Prints one object a line: file, pos, end_pos, gtid, time, server_id, database, "
     "table, op, before, after.  Columns have their names if the log has them, "
     "otherwise \"@1\" and so on; a column that is not in the log is omitted.  For a "
     "damaged file, prints everything before the damage; exit code 1.  For a "
     "transaction that a crash cut off, prints all its rows and warns where the log "
     "continues after it.\n\n"
     "FILE - is standard input.  With --topic the command "
     "reads the log from that topic's server, up to its current end.",
     NEED_STORE, command_binlog_decode, NULL, 0, 1000000, decode_options, "file", false,
     "binlog decode --table shop.* binlog.000042"},
    {"binlog inspect", "[FILE...]", "print figures about binlog files",
     "Prints for each file the server that wrote it, its checksum, times, GTIDs, "
     "transactions and the largest of them, events by type, row changes by table, "
     "statements that change tables, and any damage.  The options select a part of "
     "the log; the figures then describe that part.  If a file is damaged, reads the "
     "other files and ends with exit code 1.\n\n"
     "FILE - is standard input.  With "
     "--topic the command reads the log from that topic's server, up to its current "
     "end.",
     NEED_STORE, command_binlog_inspect, NULL, 0, 1000000, inspect_options, "file", false,
     "binlog inspect --topic shop"},

    {"drain", "", "deliver what is queued",
     "Delivers everything that is queued when the drain begins, without waiting for "
     "fuller batches; changes that arrive meanwhile follow.  Prints how the drain "
     "ended: done; blocked (only documents of indexes that take nothing are left); "
     "timed_out; cancel_timed_out (the engine did not answer the requests in flight "
     "either); stopped; in_progress (another drain is running).  With --timeout 0 the "
     "drain waits only for requests in flight.\n\n"
     "Exit code 0: done.  1: it ended otherwise, or was refused.  75: no daemon answers.",
     NEED_DAEMON, command_drain, NULL, 0, 0, drain_options, NULL, false, "drain --timeout 30"},

    {"config show", "", "print the settings in force",
     "Masks secrets.  A setting comes from --set NAME=VALUE, from the environment "
     "(MILLRACE_LISTEN, MILLRACE_SEARCH__URL) or from the file; the first of these "
     "wins.  If a running daemon uses another value, standard error says so, and where "
     "the daemon has it from: --origin shows that for each value, as FILE:LINE, "
     "environment NAME, --set, default or, in a daemon, set at run time.",
     NEED_NOTHING, command_config_show, NULL, 0, 0, config_options, NULL, false,
     "config show --origin"},
    {"config delivery get", "[NAME]", "print the delivery settings in force",
     "Shows each setting with its configured value and its origin: a place in the "
     "configuration, or \"set at run time\".",
     NEED_STORE, command_delivery_get, NULL, 0, 1, NO_OPTIONS, "setting", false,
     "config delivery get helpers"},
    {"config delivery set", "NAME=VALUE...", "change delivery settings at run time",
     "Changes all the settings or none, and prints the previous values.  The new "
     "values apply to every request from then on; the store keeps them, and they "
     "override the configuration, also after a restart.\n\n"
     "With --reset, a NAME "
     "without a value returns to its configured value; without any NAME, every "
     "setting does.\n\n"
     "On SIGHUP the daemon reads a changed configuration file; "
     "delivery.* takes effect at once, except for settings changed at run time.",
     NEED_STORE, command_delivery_set, NULL, 0, 1000, delivery_options, "setting", false,
     "config delivery set helpers=4 batch_max=500"},

    {"version", "", "print the program's version", NULL, NEED_NOTHING, command_version, NULL, 0,
     0, NO_OPTIONS, NULL, false, "version"},
    {"help", "[COMMAND...]", "show how to use a command", NULL, NEED_NOTHING, command_help,
     NULL, 0, 3, NO_OPTIONS, "command", false, "help index create"},
    {"completion", "SHELL", "print the completion script for a shell: bash, zsh or fish",
     "make install puts the scripts where the shells look for them.  To try one: source "
     "<(millrace completion bash), the same for zsh after compinit, and millrace completion "
     "fish | source.",
     NEED_NOTHING, command_completion, NULL, 1, 1, NO_OPTIONS, "bash zsh fish", false,
     "completion bash"},
    {"manual", "", "print the manual page", NULL, NEED_NOTHING, command_manual, NULL, 0, 0,
     NO_OPTIONS, NULL, true, NULL},
    {"complete", "WORD...", "print what the last word can be, for completion", NULL, NEED_STORE,
     command_complete, NULL, 1, 1000, NO_OPTIONS, NULL, true, NULL},
};

const struct command_set commands = {list, ARRAY_LEN(list), global_options};

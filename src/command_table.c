#include "config.h"

#include "src/commands.h"

#define NO_OPTIONS NULL

const struct command_option command_global_options[] = {
    {"config", 'c', "FILE",
     "the configuration (default: ./millrace.yaml, then "
     "/etc/millrace/millrace.yaml)",
     "file"},
    {"socket", 0, "PATH", "the daemon's socket (default: as configured)", "file"},
    {"set", 0, "NAME=VALUE", "a setting that wins over the file and the environment", NULL},
    {"output", 'o', "FORM", "table, json or yaml (default: table)", "table json yaml"},
    {"help", 'h', NULL, "say how the command is used", NULL},
    {"version", 'V', NULL, "print the program's version", NULL},
    {NULL, 0, NULL, NULL, NULL},
};

#define YES                                  \
    {                                        \
        "yes", 'y', NULL, "do not ask", NULL \
    }
#define END                       \
    {                             \
        NULL, 0, NULL, NULL, NULL \
    }

static const struct command_option yes_options[] = {YES, END};

static const struct command_option apply_options[] = {
    {"dry-run", 'n', NULL, "say what would change, and change nothing", NULL},
    {"prune", 0, NULL, "remove what no file names", NULL},
    YES,
    END,
};

static const struct command_option create_options[] = {
    {"rate", 0, "N", "read at most N rows a second (default: no limit)", NULL},
    {"chunk", 0, "N", "read N rows a statement (default: as fits)", NULL},
    {"wait", 'w', NULL, "follow the build to its end (this is the default)", NULL},
    {"no-wait", 0, NULL, "return at once", NULL},
    END,
};

static const struct command_option set_options[] = {
    {"rate", 0, "N", "read at most N rows a second; 0: no limit", NULL},
    END,
};

#define WHICH                                                            \
    {"topic", 0, "NAME", "of this topic", "topic"},                      \
        {"table", 0, "NAME", "of this table", "table"},                  \
        {"index", 0, "NAME", "of this index version (orders_v2)", NULL}, \
    {                                                                    \
        "reason", 0, "TEXT", "whose reason contains TEXT", NULL          \
    }

static const struct command_option letter_options[] = {
    WHICH,
    {"limit", 0, "N", "at most N of them (default: 100)", NULL},
    {"after", 0, "ID", "those that come after this one", NULL},
    END,
};

static const struct command_option letters_options[] = {
    WHICH,
    {"all", 0, NULL, "all of them", NULL},
    YES,
    END,
};

#define WHICH_PART                                                                             \
    {"table", 0, "NAME", "only this DATABASE.TABLE, * and ? are wildcards; may be repeated", NULL},                   \
        {"topic", 0, "NAME", "read from a topic's server instead of files", "topic"},          \
        {"from", 0, "FILE:OFFSET", "start here; OFFSET alone is in the first file", NULL},                                        \
        {"to", 0, "FILE:OFFSET", "end before this; OFFSET alone is in the last file", NULL},                                     \
        {"from-time", 0, "TIME", "only what is from then on: 2026-11-21T10:00:00Z, 2026-11-21 (UTC)", NULL},     \
        {"to-time", 0, "TIME", "only what is before then", NULL},                              \
    {                                                                                          \
        "gtid", 0, "GTIDS",                                                                    \
            "only these transactions: a set of MySQL's, or a list of MariaDB's ids", NULL      \
    }

static const struct command_option decode_options[] = {
    {"format", 0, "FORM", "json, or none: decode and throw away (default: json)", "json none"},
    {"count", 0, NULL, "say how many changes, cells and NULLs there were", NULL},
    {"events", 0, NULL, "a line for every event, not only for row changes", NULL},
    WHICH_PART,
    END,
};

static const struct command_option inspect_options[] = {WHICH_PART, END};

static const struct command_option delivery_options[] = {
    {"reset", 0, NULL, "take the configured value again", NULL},
    END,
};
static const struct command_option drain_options[] = {
    {"worker", 0, "N", "only what this worker of delivery.workers has, from 0 on", NULL},
    {"timeout", 0, "SECONDS", "how long it may take (default: delivery.drain_timeout)", NULL},
    {"cancel", 0, NULL, "end the drain that goes", NULL},
    END,
};
static const struct command_option config_options[] = {
    {"origin", 0, NULL, "say where each value comes from", NULL},
    END,
};

#define LIST(noun_, plural, arg, complete_)                                               \
    {                                                                                     \
        noun_ " list", arg, "list the " plural, NULL, NEED_STORE, command_list, noun_, 0, \
            sizeof(arg) > 1, NO_OPTIONS, complete_, false                                 \
    }
#define GET(noun_)                                                                           \
    {                                                                                        \
        noun_ " get", "NAME", "show one " noun_, NULL, NEED_STORE, command_get, noun_, 1, 1, \
            NO_OPTIONS, noun_, false                                                         \
    }
#define DELETE(noun_, text)                                                                  \
    {                                                                                        \
        noun_ " delete", "NAME", "remove a " noun_, text, NEED_STORE, command_delete, noun_, \
            1, 1, yes_options, noun_, false                                                  \
    }

const struct command command_table[] = {
    {"run", "", "run the daemon",
     "Follows every topic, keeps the indexes equal to their tables, and serves the status "
     "page, "
     "the metrics and the socket that the other commands use.  Stays in the foreground and "
     "logs "
     "JSON lines to standard error.\n\n"
     "SIGTERM and SIGINT deliver what is under way, save the positions and end it; a second "
     "one "
     "ends it at once, which loses nothing either.  SIGHUP reads the configuration again: the "
     "log "
     "level takes effect, and what needs a restart is said in the log.",
     NEED_NOTHING, command_run, NULL, 0, 0, NO_OPTIONS, NULL, false},

    {"apply", "FILE...", "check and store definition files",
     "Compares the topics, databases and tables in the files with what is stored, prints what "
     "changes, and stores it; a running daemon acts on it at once.  Any error stores nothing "
     "of "
     "all files.  What the files do not name stays as it is unless --prune is given.  \"-\" "
     "reads "
     "standard input.\n\n"
     "A change that needs a new index version is stored as pending and takes effect with the "
     "next "
     "index create.",
     NEED_STORE, command_apply, NULL, 1, 1000, apply_options, "file", false},
    {"export", "", "print the stored definitions as YAML",
     "The same definitions give the same bytes, and applying them changes nothing.", NEED_STORE,
     command_export, NULL, 0, 0, NO_OPTIONS, NULL, false},

    {"status", "", "how everything is: topics, tables, builds, delivery",
     "Of each topic the state, how far it is behind in time and bytes, its rate and position; "
     "of "
     "each table its state, index version, documents, dead letters and a running build.  What "
     "needs someone comes with its reason and the way out.",
     NEED_DAEMON, command_status, NULL, 0, 0, NO_OPTIONS, NULL, false},
    {"doctor", "", "check every requirement on the servers",
     "Connects to each topic's server, the search engine and the store, and checks settings, "
     "rights and tables.  Each failure says why it matters and how to put it right.  Exit code "
     "1 "
     "when a check failed.",
     NEED_STORE, command_doctor, NULL, 0, 0, NO_OPTIONS, NULL, false},
    {"explain", "TABLE KEY", "what becomes of one row",
     "The SQL that is run with its rows and times, the document, the lines of the bulk request, "
     "and of each table the columns and rows whose change builds the document again, and how it "
     "is found from there.  Of a row that has no document: why.  KEY is the document's _id.  "
     "Writes nothing.",
     NEED_STORE, command_explain, NULL, 2, 2, NO_OPTIONS, "table", false},
    {"mapping", "TABLE", "the index mapping made from a table's columns", NULL, NEED_STORE,
     command_mapping, NULL, 1, 1, NO_OPTIONS, "table", false},

    LIST("topic", "topics: MySQL and MariaDB servers", "", NULL),
    GET("topic"),
    DELETE("topic", "Only a topic that no database names any more can be removed."),
    {"topic reset", "TOPIC", "let a topic that stopped go on from now",
     "For a topic whose server has purged the log that is still needed, was reset, or is "
     "another "
     "one: goes on from the server's current position.  What lies between is lost to its "
     "indexes, so its tables are marked to be built again.",
     NEED_DAEMON, command_topic_reset, NULL, 1, 1, yes_options, "topic", false},
    {"topic resume", "TOPIC", "try again now what made a topic stop or wait",
     "After its reason was put right: a password, a right, a setting, a server that is back.  "
     "Indexes "
     "that are held are tried again, too.",
     NEED_DAEMON, command_topic_resume, NULL, 1, 1, NO_OPTIONS, "topic", false},
    LIST("database", "databases", "", NULL),
    GET("database"),
    DELETE("database", "Only a database that no table names any more can be removed."),
    LIST("table", "tables", "", NULL),
    GET("table"),
    DELETE("table", "Its index stays in the search engine as it is; nothing writes to it."),
    {"table columns generate", "DATABASE.TABLE", "a definition with every column of a table",
     "Prints a definition file, ready to be changed and applied: each column with its field "
     "type, its type in the database, the key, what of its values searches do not see, and the "
     "relations that follow from foreign keys.  Applied as it is it means the same as no "
     "columns at all.  The table need not be defined, only its database.",
     NEED_STORE, command_columns, NULL, 1, 1, NO_OPTIONS, NULL, false},
    LIST("relation", "relations", "[TABLE]", "table"),
    LIST("version", "index versions", "[INDEX]", NULL),
    LIST("job", "builds and other long work, and how far it is", "", NULL),
    GET("job"),
    LIST("log", "latest events: what was built, changed and stopped, and why", "[TABLE]",
         "table"),

    {"index create", "TABLE", "build a new version of a table's index",
     "Reads the table in key order while changes go to the old and the new version, then moves "
     "the alias in one step; the old version is kept.  A build that is cut off goes on where "
     "it "
     "was.  Progress goes to standard error; interrupting the command does not stop the build.",
     NEED_DAEMON, command_index_create, NULL, 1, 1, create_options, "table", false},
    {"index set", "TABLE", "change a running build", NULL, NEED_DAEMON, command_index_set, NULL,
     1, 1, set_options, "table", false},
    {"index reset", "TABLE", "stop a running build and drop what it made",
     "The way out of any bad state of a build.  The version that searches use stays.",
     NEED_DAEMON, command_index_reset, NULL, 1, 1, yes_options, "table", false},
    {"index delete", "TABLE [NUMBER]", "delete versions that searches do not use",
     "Deletes one version, or every one that is history or failed.", NEED_DAEMON,
     command_index_delete, NULL, 1, 2, yes_options, "table", false},

    {"dead-letter list", "", "documents that the search engine refused", NULL, NEED_STORE,
     command_dead_letter_list, NULL, 0, 0, letter_options, NULL, false},
    {"dead-letter show", "ID", "one of them, with its document", NULL, NEED_STORE,
     command_dead_letter_show, NULL, 1, 1, NO_OPTIONS, NULL, false},
    {"dead-letter replay", "[ID]", "read their rows again and write them",
     "Which ones: an ID, or those that the options name, or --all.  Those that are refused "
     "again "
     "come back.",
     NEED_DAEMON, command_dead_letter_replay, NULL, 0, 1, letters_options, NULL, false},
    {"dead-letter discard", "[ID]", "forget them",
     "Which ones: an ID, or those that the options name, or --all.  Their documents stay "
     "missing "
     "or old in the index until their rows change.",
     NEED_DAEMON, command_dead_letter_discard, NULL, 0, 1, letters_options, NULL, false},

    {"binlog decode", "[FILE...]", "print the row changes of binlog files as JSON lines",
     "One object a line: file, pos, end_pos, gtid, time, server_id, database, table, op, "
     "before, "
     "after.  Columns have names where the log has them, else \"@1\" and so on; a column that "
     "is "
     "not in the log is missing.  On a damaged file exit code 1, after everything before the "
     "damage was printed.\n\n"
     "FILE - is standard input.  With --topic the log is read from that topic's server, and ends "
     "where it ends.",
     NEED_STORE, command_binlog_decode, NULL, 0, 1000000, decode_options, "file", false},
    {"binlog inspect", "[FILE...]", "what binlog files hold, in figures",
     "Of each file: the server that wrote it, its checksum, times, GTIDs and transactions, the "
     "largest of them, events by type, row changes by table, statements that change tables, "
     "and where it is damaged.  The options choose a part; the figures are of that part.  Exit "
     "code 1 when a file is damaged, after all files were read.\n\n"
     "FILE - is standard input.  With --topic the log is read from that topic's server, and ends "
     "where it ends.",
     NEED_STORE, command_binlog_inspect, NULL, 0, 1000000, inspect_options, "file", false},

    {"drain", "", "deliver what is queued",
     "Everything that waits when it begins goes out, without waiting for more; what comes "
     "meanwhile follows.  It says how it ended: done; blocked, where all that is left is of "
     "indexes that take nothing; timed_out; cancel_timed_out, where requests in flight were not "
     "answered either; stopped; in_progress, where another drain goes.  Exit code 1 unless "
     "done.  With --timeout 0 only what is on its way is waited for.",
     NEED_STORE, command_drain, NULL, 0, 0, drain_options, NULL, false},

    {"config show", "", "the settings in force",
     "Secrets are masked.  A setting is given by --set NAME=VALUE, by the environment "
     "(MILLRACE_LISTEN, MILLRACE_SEARCH__URL), or in the file, in this order of precedence.  "
     "Where a running daemon "
     "has another value, standard error says so.",
     NEED_NOTHING, command_config_show, NULL, 0, 0, config_options, NULL, false},
    {"config delivery get", "[NAME]", "the settings of delivery that are in force",
     "With what is configured and where the value comes from: a place in the configuration, or "
     "\"set at run time\".",
     NEED_STORE, command_delivery_get, NULL, 0, 1, NO_OPTIONS, "setting", false},
    {"config delivery set", "NAME=VALUE...", "change settings of delivery at run time",
     "They act at once on what is sent from then on, are kept in the store, and count more than "
     "the configuration, also after a restart.  All of them are taken or none; what was in force "
     "before is shown.\n\n"
     "With --reset, NAME without a value takes the configured one again, and no NAME at all "
     "resets every setting.\n\n"
     "A changed configuration file is taken up with SIGHUP: for delivery.* at once, unless the "
     "setting was set at run time.",
     NEED_STORE, command_delivery_set, NULL, 0, 1000, delivery_options, "setting", false},

    {"version", "", "print the program's version", NULL, NEED_NOTHING, command_version, NULL, 0,
     0, NO_OPTIONS, NULL, false},
    {"help", "[COMMAND...]", "say how a command is used", NULL, NEED_NOTHING, command_help,
     NULL, 0, 3, NO_OPTIONS, "command", false},
    {"completion", "SHELL", "print the completion for a shell: bash",
     "To try it: source <(millrace completion bash)", NEED_NOTHING, command_completion, NULL, 1,
     1, NO_OPTIONS, "bash", false},
    {"manual", "", "print the manual page", NULL, NEED_NOTHING, command_manual, NULL, 0, 0,
     NO_OPTIONS, NULL, true},
    {"complete", "NOUN", "print the names of a noun, for completion", NULL, NEED_STORE,
     command_complete, NULL, 1, 1, NO_OPTIONS, NULL, true},
};

const size_t n_commands = ARRAY_LEN(command_table);

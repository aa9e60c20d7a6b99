#include "config.h"

#include "src/cli/commands.h"
#include "src/cli/table/rows.h"

static const struct command_option create_options[] = {
    {"rate", 0, "N", "read at most N rows a second (default: no limit)", NULL},
    {"chunk", 0, "N", "read N rows with one statement (default: chosen to fit)", NULL},
    {"buckets", 0, "N", "fill it in N parts, on all nodes (default: as there are nodes)", NULL},
    {"buckets-by", 0, "HOW",
     "divide its rows by bucket_column (or by mod of it), or by the key", "column key mod"},
    {"nodes", 0, "N", "fill it on N nodes at most, its topic's among them (default: all)",
     NULL},
    {"take-index", 0, NULL, "take the alias from an index of another store of Millrace", NULL},
    {"take-alias", 0, NULL, "take the alias from an index that Millrace did not make", NULL},
    {"all", 0, NULL, "build the index of every table, one after another", NULL},
    {"hold", 0, NULL, "do not publish it: the version waits for index cutover", NULL},
    {"keep", 0, "N", "keep N older versions current (default: index.keep_versions)", NULL},
    {"verify", 0, "WHAT", "sample, full or none: compare it before searches see it",
     "sample full none"},
    {"dry-run", 'n', NULL, "show what it would read, and build nothing", NULL},
    {"attempts", 0, "N", "ask N times while a delayed run writes it (default: 10)", NULL},
    {"wait", 'w', NULL, "follow the build to its end (this is the default)", NULL},
    {"no-wait", 0, NULL, "return at once", NULL},
    END,
};

static const struct command_option cutover_options[] = {
    {"accept-dead-letters", 0, "N", "publish it with up to N dead letters", NULL},
    TRY,
    WHY,
    {"wait", 'w', NULL, "follow the cutover to its end (this is the default)", NULL},
    {"no-wait", 0, NULL, "return at once", NULL},
    END,
};

static const struct command_option rollback_options[] = {
    {"to", 0, "N", "to version N (default: the newest kept one before the present)", NULL},
    TRY,
    WHY,
    END,
};

static const struct command_option refresh_options[] = {
    {"where", 0, "SQL", "the rows that meet this condition", NULL},
    {"key", 0, "ID", "the row of the document with this _id; may be repeated", NULL},
    {"rate", 0, "N", "at most N rows per second", NULL},
    {"wait", 'w', NULL, "follow the job to its end (this is the default)", NULL},
    {"no-wait", 0, NULL, "start the job and print its id", NULL},
    {"cancel", 0, NULL, "end the refresh that runs", NULL},
    TRY,
    END,
};

static const struct command_option set_options[] = {
    {"rate", 0, "N", "read at most N rows a second; 0: no limit", NULL},
    {"nodes", 0, "N", "fill it on N nodes at most; 0: on all", NULL},
    TRY,
    END,
};

static const struct command_option audit_options[] = {
    {"limit", 0, "N", "print at most N (default: 100)", NULL},
    {"after", 0, "ID", "print those before this one, which are older", NULL},
    END,
};

static const struct command_option log_options[] = {
    {"limit", 0, "N", "print at most N (default: 200)", NULL},
    {"after", 0, "ID", "print those before this one, which are older", NULL},
    END,
};

static const struct command list[] = {
    LIST("version", "index versions", "[INDEX]", "index", "version list orders"),
    LIST("job", "builds and other long jobs, with their progress", "", NULL, "job list"),
    GET("job", "job get 7"),
    LIST("report", "reports of verifications", "", NULL, "report list"),
    {"report get", "JOB", "show the report of a verification, or how far it is", NULL,
     NEED_STORE, command_report, NULL, 1, 1, NO_OPTIONS, NULL, false, "report get 12"},

    {"log list", "[TABLE]", "list the events: what was built, changed or stopped, and why",
     "The newest first.", NEED_STORE, command_list, "log", 0, 1, log_options, "table", false,
     "log list shop.orders"},
    {"log get", "ID", "show one event",
     "Of a build's event also what is kept of the build: its parameters, the mapping and the "
     "settings that the search engine was sent, the nodes that took part, its end and its "
     "times.",
     NEED_STORE, command_get, "log", 1, 1, NO_OPTIONS, "log", false, "log get 311"},

    {"audit list", "[OBJECT]", "show who has changed what",
     "The newest 100,000 calls that changed something, newest first: who, when, at which node, "
     "what, and of which table, topic or node.  -o json and -o yaml show the call and what it "
     "asked for; of definitions and settings, what was before and what is now.  A dry run, a "
     "call that was refused, and a question are not in it.",
     NEED_STORE, command_audit_list, NULL, 0, 1, audit_options, "table", false,
     "audit list shop.orders"},

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
     NEED_DAEMON, command_index_resume, NULL, 1, 1, dry_run_options, "table", false,
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
};

const struct command_rows index_rows = {list, ARRAY_LEN(list)};

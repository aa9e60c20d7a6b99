#include "config.h"

#include "src/cli/commands.h"
#include "src/cli/table/rows.h"

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
    {"if-revision", 0, "N", "only if the definitions are of this revision still", NULL},
    {"take-alias", 0, NULL,
     "let a table take an alias that points to an index that Millrace did not make", NULL},
    YES,
    END,
};

static const struct command list[] = {
    {"init", "mysql://USER@HOST[:PORT]/DATABASE", "write first files for a database's tables",
     "Looks at the schema and writes millrace.yaml and DATABASE.yaml: every table, its "
     "types, and the relations that follow from foreign keys, as comments to take in.  "
     "Checks the server as doctor does, prints what needs fixing, and prints the next "
     "commands.  Replaces no file; asks nothing.  A millrace.yaml that is there already stays, "
     "unless --search or --data are given, and names the search engine.  A socket is "
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
};

const struct command_rows start_rows = {list, ARRAY_LEN(list)};

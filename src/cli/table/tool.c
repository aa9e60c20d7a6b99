#include "config.h"

#include "src/cli/commands.h"
#include "src/cli/table/rows.h"

static const struct command_option delivery_options[] = {
    {"reset", 0, NULL, "return to the configured value", NULL},
    TRY,
    WHY,
    END,
};

static const struct command_option drain_options[] = {
    {"worker", 0, "N", "drain only this worker (0 to delivery.workers - 1)", NULL},
    {"timeout", 0, "SECONDS", "time limit (default: delivery.drain_timeout)", NULL},
    {"wait", 'w', NULL, "wait until it has ended (this is the default)", NULL},
    {"no-wait", 0, NULL, "start the job and print its id", NULL},
    {"cancel", 0, NULL, "end the running drain", NULL},
    TRY,
    END,
};

static const struct command_option backup_options[] = {
    {"force", 'f', NULL, "replace FILE if it exists", NULL},
    END,
};

static const struct command_option config_options[] = {
    {"origin", 0, NULL, "show where each value comes from", NULL},
    END,
};

static const struct command list[] = {
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

    {"alarm test", "", "send a test to the receivers of alarms",
     "Posts a message with the state test to each address of alarms.url, and prints what each "
     "answers.  In a cluster, the node that the command asks sends it.\n\n"
     "Exit code 0: each receiver has taken it.  1: one has not, or none is configured.  75: no "
     "daemon answers.",
     NEED_DAEMON, command_alarm_test, NULL, 0, 0, NO_OPTIONS, NULL, false, "alarm test"},

    {"backup", "FILE", "copy the store into one file",
     "Copies the store in the data folder as it is at one moment, whether the daemon runs or "
     "not, and holds nothing up; the log file of the store (millrace.db-wal) grows until the "
     "copy is made.  Checks the copy as the daemon checks its store at the start, and only "
     "then gives it its name.  Only its owner may read it.  Run this as the user that runs "
     "the daemon, or as root.\n\n"
     "The copy has definitions, positions, index versions, jobs, dead letters, and whatever "
     "waits.  It has neither the documents, nor the files that the command names: the "
     "configuration, the key that opens the passwords in the copy, and the files that the "
     "configuration names; nor those that definitions name.\n\n"
     "To restore it: stop the daemon, leave only secret.key and node in its data folder, "
     "copy FILE there as millrace.db, start the daemon.  It reads the logs again from where "
     "the copy says that each topic goes on.\n\n"
     "A store in MySQL is refused: the message has the command for it.\n\n"
     "Exit code 0: FILE is there and whole.  1: it is not there, or as it was.  75: the disk "
     "is full or fails, or the store is locked.",
     NEED_NOTHING, command_backup, NULL, 1, 1, backup_options, "file", false,
     "backup /backup/millrace.db"},

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

const struct command_rows tool_rows = {list, ARRAY_LEN(list)};

#include "config.h"

#include "src/cli/commands.h"
#include "src/cli/table/rows.h"

static const struct command_option check_options[] = {
    {"all", 0, NULL, "all tables with a daily_check_column, one after another", NULL},
    {"no-wait", 0, NULL, "start the job and print its id", NULL},
    {"rate", 0, "N", "at most N rows per second", NULL},
    {"repair", 0, NULL, "read the rows of what differs again", NULL},
    {"since", 0, "TIME", "rows that changed since then, as \"2026-11-25 13:00\"", NULL},
    {"values", 0, NULL, "show the values that differ", NULL},
    WHY,
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
    WHY,
    END,
};

static const struct command_option replay_options[] = {
    {"all", 0, NULL, "the indexes of all tables, one after another", NULL},
    {"day", 0, "DAY", "this day, as 2026-11-26 (default: yesterday)", NULL},
    {"rate", 0, "N", "write at most N documents a second (default: 1000); 0: no limit", NULL},
    TRY,
    {"wait", 'w', NULL, "follow the replay to its end (this is the default)", NULL},
    {"no-wait", 0, NULL, "start the job and print its id", NULL},
    END,
};

static const struct command_option trace_options[] = {
    {"log", 0, NULL, "also read the server's log for changes of the row", NULL},
    {"from", 0, "FILE:OFFSET", "start here in the log (default: at the oldest)", NULL},
    END,
};

static const struct command list[] = {
    {"explain", "TABLE KEY [FILE...]", "show how one row becomes a document",
     "Prints the SQL statements with their rows and times, the document, and the "
     "lines of the bulk request.  Lists for each table the columns and rows whose "
     "change builds the document again, and how Millrace finds the document from "
     "there.  For a row without a document, says why.  KEY is the document's _id.  "
     "With files, does so by the definitions that applying them would make.  Writes nothing.",
     NEED_STORE, command_explain, NULL, 2, 1000, NO_OPTIONS, "table", false,
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
    {"mapping", "TABLE [FILE...]", "print the index mapping made from a table's columns",
     "With files, by the definitions that applying them would make.", NEED_STORE,
     command_mapping, NULL, 1, 1000, NO_OPTIONS, "table", false, "mapping shop.orders"},
};

const struct command_rows document_rows = {list, ARRAY_LEN(list)};

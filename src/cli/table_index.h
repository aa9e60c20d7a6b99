/* The options of `index`; for src/cli/table.c alone. */
#ifndef SRC_CLI_TABLE_INDEX_H
#define SRC_CLI_TABLE_INDEX_H

#include "src/base/base.h"
#include "src/cli/command.h"

#include <stddef.h>

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
    {NULL, 0, NULL, NULL, NULL},
};

static const struct command_option cutover_options[] = {
    {"accept-dead-letters", 0, "N", "publish it with up to N dead letters", NULL},
    {"wait", 'w', NULL, "follow the cutover to its end (this is the default)", NULL},
    {"no-wait", 0, NULL, "return at once", NULL},
    {NULL, 0, NULL, NULL, NULL},
};

static const struct command_option rollback_options[] = {
    {"to", 0, "N", "to version N (default: the newest kept one before the present)", NULL},
    {NULL, 0, NULL, NULL, NULL},
};

static const struct command_option refresh_options[] = {
    {"where", 0, "SQL", "the rows that meet this condition", NULL},
    {"key", 0, "ID", "the row of the document with this _id; may be repeated", NULL},
    {"rate", 0, "N", "at most N rows per second", NULL},
    {"wait", 'w', NULL, "follow the job to its end (this is the default)", NULL},
    {"no-wait", 0, NULL, "start the job and print its id", NULL},
    {"cancel", 0, NULL, "end the refresh that runs", NULL},
    {NULL, 0, NULL, NULL, NULL},
};

static const struct command_option set_options[] = {
    {"rate", 0, "N", "read at most N rows a second; 0: no limit", NULL},
    {"nodes", 0, "N", "fill it on N nodes at most; 0: on all", NULL},
    {NULL, 0, NULL, NULL, NULL},
};

#endif

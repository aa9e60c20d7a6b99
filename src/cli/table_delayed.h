/* The options of `delayed`; for src/cli/table.c alone. */
#ifndef SRC_CLI_TABLE_DELAYED_H
#define SRC_CLI_TABLE_DELAYED_H

#include "src/base/base.h"
#include "src/cli/command.h"

#include <stddef.h>

static const struct command_option snapshot_options[] = {
    {"topic", 0, "NAME", "only this topic", "topic"},
    {"table", 0, "NAME", "only this table", "table"},
    {"op", 0, "OP", "only insert, update, delete or table (as a whole)",
     "insert update delete table"},
    {"row", 0, "KEY", "only the row with this key", NULL},
    {"day", 0, "DAY", "only of this day: 2026-11-21 (UTC)", NULL},
    {"status", 0, "STATUS", "only init, running or done", "init running done"},
    {"limit", 0, "N", "print at most N (default: 100)", NULL},
    {"after", 0, "ID", "print those after this one", NULL},
    {NULL, 0, NULL, NULL, NULL},
};

static const struct command_option delayed_options[] = {
    {"all", 0, NULL, "what waits of all tables", NULL},
    {"one", 0, "ID", "this snapshot only, which then still waits", NULL},
    {"attempts", 0, "N", "ask N times while an index is built (default: 10)", NULL},
    {"wait", 'w', NULL, "wait until no run goes on", NULL},
    {NULL, 0, NULL, NULL, NULL},
};

#endif

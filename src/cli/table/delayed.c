#include "config.h"

#include "src/cli/commands.h"
#include "src/cli/table/rows.h"

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
    END,
};

static const struct command_option delayed_options[] = {
    {"all", 0, NULL, "what waits of all tables", NULL},
    {"one", 0, "ID", "this snapshot only, which then still waits", NULL},
    {"dry-run", 'n', NULL, "show what it would take, and begin nothing", NULL},
    {"attempts", 0, "N", "ask N times while an index is built (default: 10)", NULL},
    {"wait", 'w', NULL, "wait until no run goes on", NULL},
    END,
};

static const struct command_option done_options[] = {TRY, WHY, END};

static const struct command list[] = {
    {"delayed list", "", "list changes of delayed tables", NULL, NEED_STORE,
     command_delayed_list, NULL, 0, 0, snapshot_options, NULL, false,
     "delayed list --table shop.category --status init"},
    {"delayed runs", "", "show delayed runs, and how much waits", NULL, NEED_DAEMON,
     command_delayed_runs, NULL, 0, 0, NO_OPTIONS, NULL, false, "delayed runs"},
    {"delayed run", "[TABLE]", "read the documents again that delayed changes concern",
     "Takes a delayed TABLE, --all or --one ID.  What changes during the run waits for the "
     "next one.  A topic has one run at a time: a second one ends with 75.  While an index is "
     "built whose documents it would write, the command waits and asks again, ten times by "
     "default, and then ends with 75.  First says how many rows the server will read for a "
     "`level_sql`; --dry-run says it alone.  For cron: millrace delayed run --all --wait.",
     NEED_DAEMON, command_delayed_run, NULL, 0, 1, delayed_options, "table", false,
     "delayed run shop.category --wait"},
    {"delayed done", "ID...", "mark delayed changes as done, without a run",
     "Their documents stay as they are until their rows change.  For snapshots of a table "
     "that is gone, or whose documents were built again.",
     NEED_DAEMON, command_delayed_done, NULL, 1, 1000, done_options, NULL, false,
     "delayed done 17 18"},
};

const struct command_rows delayed_rows = {list, ARRAY_LEN(list)};

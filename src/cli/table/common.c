#include "config.h"

#include "src/cli/table/rows.h"

const struct command_option yes_options[] = {TRY, YES, END};

const struct command_option dry_run_options[] = {TRY, END};

const struct command_option pause_options[] = {
    {"reason", 0, "TEXT", "why, for whoever looks at the status", NULL},
    TRY,
    END,
};

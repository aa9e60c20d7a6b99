#include "config.h"

#include "src/cli/commands.h"
#include "src/cli/table/rows.h"

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
    END,
};

static const struct command_rows *const parts[] = {
    &start_rows, &document_rows, &definition_rows, &cluster_rows, &access_rows,
    &index_rows, &letter_rows,   &delayed_rows,    &word_rows,    &tool_rows,
};

const struct command_set commands = {parts, ARRAY_LEN(parts), global_options};

/*
 * The rows of the table of commands, by file, and what several files write alike.
 *
 * @thread main
 */
#ifndef SRC_CLI_TABLE_ROWS_H
#define SRC_CLI_TABLE_ROWS_H

#include "src/base/base.h"
#include "src/cli/command.h"

#include <stddef.h>

/* In this order, which is that of the help. */
extern const struct command_rows start_rows; /* The first steps: what a new user needs. */
extern const struct command_rows
    document_rows; /* One document, or all of a table, and their rows. */
extern const struct command_rows definition_rows; /* Topics, databases, tables, relations. */
extern const struct command_rows cluster_rows;    /* The nodes that share a store. */
extern const struct command_rows access_rows;     /* Users and tokens. */
extern const struct command_rows index_rows;      /* Indexes: versions, jobs, reports, log. */
extern const struct command_rows letter_rows;     /* Dead letters. */
extern const struct command_rows delayed_rows;    /* Delayed tables. */
extern const struct command_rows word_rows;       /* Words of the IK analyzer. */
extern const struct command_rows tool_rows;       /* Logs, delivery, configuration, help. */

extern const struct command_option yes_options[], dry_run_options[], pause_options[];

#define NO_OPTIONS NULL

#define WHY                                                             \
    {                                                                   \
        "why", 0, "TEXT", "the reason, which the audit log keeps", NULL \
    }
#define TRY                                                                      \
    {                                                                            \
        "dry-run", 'n', NULL, "show what would change, and change nothing", NULL \
    }
#define YES {"yes", 'y', NULL, "do not ask for confirmation", NULL}, WHY
#define END                       \
    {                             \
        NULL, 0, NULL, NULL, NULL \
    }

/* Of what moves topics. */
#define MOVE_OPTIONS                                                                 \
    {"dry-run", 'n', NULL, "show what would move, and move nothing", NULL}, YES,     \
        {"wait", 'w', NULL, "wait until all has moved (this is the default)", NULL}, \
    {                                                                                \
        "no-wait", 0, NULL, "return at once", NULL                                   \
    }

/* What several nouns can do. */
#define LIST(noun_, plural, arg, complete_, example_)                                     \
    {                                                                                     \
        noun_ " list", arg, "list the " plural, NULL, NEED_STORE, command_list, noun_, 0, \
            sizeof(arg) > 1, NO_OPTIONS, complete_, false, example_                       \
    }
#define GET(noun_, example_)                                                                 \
    {                                                                                        \
        noun_ " get", "NAME", "show one " noun_, NULL, NEED_STORE, command_get, noun_, 1, 1, \
            NO_OPTIONS, noun_, false, example_                                               \
    }
#define DELETE(noun_, text, example_)                                                        \
    {                                                                                        \
        noun_ " delete", "NAME", "remove a " noun_, text, NEED_STORE, command_delete, noun_, \
            1, 1, yes_options, noun_, false, example_                                        \
    }

#endif

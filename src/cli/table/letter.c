#include "config.h"

#include "src/cli/commands.h"
#include "src/cli/table/rows.h"

#define WHICH                                                                   \
    {"topic", 0, "NAME", "only this topic", "topic"},                           \
        {"table", 0, "NAME", "only this table", "table"},                       \
        {"index", 0, "NAME", "only this index version (orders_v2)", "version"}, \
    {                                                                           \
        "reason", 0, "TEXT", "only where the reason contains TEXT", NULL        \
    }

static const struct command_option letter_options[] = {
    WHICH,
    {"limit", 0, "N", "print at most N (default: 100)", NULL},
    {"after", 0, "ID", "print those after this one", NULL},
    END,
};

static const struct command_option letters_options[] = {
    WHICH, {"all", 0, NULL, "all dead letters", NULL}, TRY, YES, END,
};

static const struct command_option discard_options[] = {
    WHICH, {"all", 0, NULL, "all dead letters", NULL}, TRY, YES, END,
};

static const struct command list[] = {
    {"dead-letter list", "", "list documents that the search engine refused", NULL, NEED_STORE,
     command_dead_letter_list, NULL, 0, 0, letter_options, NULL, false,
     "dead-letter list --table shop.orders"},
    {"dead-letter show", "ID", "show one dead letter with its document", NULL, NEED_STORE,
     command_dead_letter_show, NULL, 1, 1, NO_OPTIONS, NULL, false, "dead-letter show 17"},
    {"dead-letter replay", "[ID]", "read their rows again and write the documents",
     "Takes an ID, options that select dead letters, or --all.  A document that is "
     "refused again becomes a dead letter again.",
     NEED_DAEMON, command_dead_letter_replay, NULL, 0, 1, letters_options, NULL, false,
     "dead-letter replay --table shop.orders"},
    {"dead-letter discard", "[ID]", "forget dead letters",
     "Takes an ID, options that select dead letters, or --all.  Their documents stay "
     "missing or stale in the index until their rows change.",
     NEED_DAEMON, command_dead_letter_discard, NULL, 0, 1, discard_options, NULL, false,
     "dead-letter discard 17"},
};

const struct command_rows letter_rows = {list, ARRAY_LEN(list)};

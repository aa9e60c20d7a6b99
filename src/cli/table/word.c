#include "config.h"

#include "src/cli/commands.h"
#include "src/cli/table/rows.h"

#define LIST_OF                                                                              \
    {                                                                                        \
        "list", 0, "LIST", "ext, words to find, or stop, words to leave out (default: ext)", \
            "ext stop"                                                                       \
    }
#define STATE                                                                          \
    {                                                                                  \
        "state", 0, "STATE", "only those in state init or published", "init published" \
    }
#define PUBLISH                                          \
    {                                                    \
        "publish", 0, NULL, "publish them at once", NULL \
    }

static const struct command_option list_options[] = {
    LIST_OF,
    STATE,
    {"limit", 0, "N", "print at most N (default: 100)", NULL},
    {"after", 0, "WORD", "print those behind this one", NULL},
    END,
};
static const struct command_option of_list_options[] = {LIST_OF, END};
static const struct command_option add_options[] = {LIST_OF, PUBLISH, TRY, END};
static const struct command_option export_options[] = {LIST_OF, STATE, END};
static const struct command_option set_options[] = {LIST_OF, TRY, END};
static const struct command_option delete_options[] = {LIST_OF, TRY, YES, END};
static const struct command_option publish_options[] = {
    LIST_OF,
    {"all", 0, NULL, "all words of the list that are not published", NULL},
    TRY,
    END,
};
static const struct command_option try_options[] = {
    {"analyzer", 0, "NAME", "the analyzer (default: ik_smart)", "ik_smart ik_max_word"},
    END,
};

#define WORDS_MAX_ARGS 1000

static const struct command list[] = {
    {"word add", "WORD...", "add words to a list of the IK analyzer",
     "A new word is init: the analyzer does not get it until millrace word publish.  A "
     "word that is there stays as it is.",
     NEED_STORE, command_word_add, NULL, 1, WORDS_MAX_ARGS, add_options, NULL, false,
     "word add 龙井茶 --publish"},
    {"word set", "WORD NEW", "change a word that is not published",
     "A published word can only be deleted.", NEED_STORE, command_word_set, NULL, 2, 2,
     set_options, NULL, false, "word set 龙井 龙井茶"},
    {"word list", "[PART]", "list the words", "With PART, only those with PART in them.",
     NEED_STORE, command_word_list, NULL, 0, 1, list_options, NULL, false,
     "word list --state init"},
    {"word get", "WORD", "show one word", NULL, NEED_STORE, command_word_get, NULL, 1, 1,
     of_list_options, NULL, false, "word get 龙井茶"},
    {"word delete", "WORD...", "delete words",
     "Deletes all of them, or none if one is not there.  A published word leaves the analyzer "
     "when it asks next.",
     NEED_STORE, command_word_delete, NULL, 1, WORDS_MAX_ARGS, delete_options, NULL, false,
     "word delete 龙井茶"},
    {"word publish", "[WORD...]", "give words to the analyzer",
     "The analyzer asks once a minute, so it has them within that time.  They count for text "
     "that is indexed from then on: the command names the tables whose indexes are to be built "
     "again for the rest.",
     NEED_STORE, command_word_publish, NULL, 0, WORDS_MAX_ARGS, publish_options, NULL, false,
     "word publish --all"},
    {"word import", "FILE", "add the words of a file, a word a line",
     "- is standard input.  Empty lines and spaces around a word do not count.  If a line is "
     "no word, none is added, and the command names the lines.",
     NEED_STORE, command_word_import, NULL, 1, 1, add_options, "file", false,
     "word import words.dic --publish"},
    {"word export", "", "print a list, a word a line", NULL, NEED_STORE, command_word_export,
     NULL, 0, 0, export_options, NULL, false, "word export --state published"},
    {"word status", "", "show what is published, who pulled it, and which tables use it",
     "Who pulled is what this node has seen since it started.  HAS ALL: what the search "
     "engine's node has is what is published now.",
     NEED_STORE, command_word_status, NULL, 0, 0, NO_OPTIONS, NULL, false, "word status"},
    {"word try", "TEXT", "show what an analyzer makes of a text", NULL, NEED_STORE,
     command_word_try, NULL, 1, 1, try_options, NULL, false, "word try 新到龙井茶上市"},
};

const struct command_rows word_rows = {list, ARRAY_LEN(list)};

/*
 * What a command is, and the parser of command lines.
 *
 * The parser, --help, the manual page and the completion all follow from one table
 * (src/cli/table), so they cannot disagree. They get it as a struct command_set, because the
 * table names the handlers, and handlers use the parser.
 *
 * @thread main
 */
#ifndef SRC_CLI_COMMAND_H
#define SRC_CLI_COMMAND_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Exit codes. */
enum command_exit {
    EXIT_DONE = 0,
    EXIT_FAILED = 1, /* or differences were found */
    EXIT_USAGE = 2,
    EXIT_BUSY = 75, /* try again */
};

struct command_option {
    const char *name;  /* without the dashes */
    char letter;       /* 0: none */
    const char *value; /* its value's name, "FILE"; NULL: it is a flag */
    const char *help;  /* one line, lower case */
    const char *words; /* what completion offers as its value, as in command.complete */
};

enum command_need {
    NEED_NOTHING = 0,
    NEED_STORE,  /* the daemon; without one, the store under its lock */
    NEED_DAEMON, /* a running daemon */
};

struct invocation;

struct command {
    const char *name;    /* "index create" */
    const char *args;    /* "TABLE", "FILE..." */
    const char *summary; /* one line, lower case */
    const char *help;    /* paragraphs, separated by an empty line; NULL: the summary says it */
    enum command_need need;
    int (*run)(const struct invocation *inv);
    const char *noun; /* for handlers that serve several nouns */
    size_t min_args, max_args;
    const struct command_option *options; /* ends with a NULL name; NULL: none */
    /*
     * What completion offers as arguments: "file", "command", "setting" or "settings" (of
     * "config delivery", of --set), a noun, or two or more words themselves.  NULL: nothing.
     */
    const char *complete;
    bool hidden;
    const char *example; /* a command line without the program's name; NULL if hidden */
};

struct command_rows {
    const struct command *list;
    size_t n;
};

/* The commands that exist. */
struct command_set {
    const struct command_rows *const *parts;
    size_t n_parts;
    const struct command_option *options; /* of every command; ends with a NULL name */
};

#define INVOCATION_OPTIONS_MAX 64

struct given_option {
    const struct command_option *option;
    const char *value;
};

/* One parsed command line.  Its strings are those of argv. */
struct invocation {
    const struct command_set *set;
    const struct command *command;
    const char *const *args; /* without the command's name */
    size_t n_args;
    struct given_option given[INVOCATION_OPTIONS_MAX];
    size_t n_given;
};

/* The command after c, or the first if c is NULL; NULL after the last. */
const struct command *command_next(const struct command_set *set, const struct command *c);

/*
 * Find the command that the first of n words name; *n_named is how many they are.  NULL: no
 * such command, and err suggests the nearest.
 */
const struct command *command_find(const struct command_set *set, const char *const *words,
                                   size_t n, size_t *n_named, struct err *err) MUST_CHECK;

/*
 * Parse argv, which has no program name, by the commands of inv->set, which the caller sets.
 * args must have room for argc strings.  Returns false for wrong usage, which err explains;
 * inv->command is set if it was found.  The caller handles --help and --version.
 */
bool command_parse(struct invocation *inv, const char **args, int argc, const char *const *argv,
                   struct err *err) MUST_CHECK;

/*
 * The option of the line's command that the word names and whose value is the next word, or
 * NULL.
 */
const struct command_option *command_awaits(const struct invocation *line, const char *word);

/*
 * The value of an option, the last if it was given more than once; "" for a flag, NULL if it
 * was not given.
 */
const char *invocation_value(const struct invocation *inv, const char *option);
bool invocation_has(const struct invocation *inv, const char *option);
/* Tell whether the option that all commands share was given, and not the command's own. */
bool invocation_has_global(const struct invocation *inv, const char *option);
/*
 * Read an option's value as a whole number; without the option *out is unchanged.  Returns
 * false for wrong usage.
 */
bool invocation_number(const struct invocation *inv, const char *option, uint64_t *out,
                       struct err *err) MUST_CHECK;

/* Print the failure on standard error and return the exit code that fits. */
int command_fail(const struct err *err);
int command_usage(const struct invocation *inv, const struct err *err);

#endif

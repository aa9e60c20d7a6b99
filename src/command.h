/*
 * The commands: what each is called, takes and does, in one table.
 *
 * The parser, --help, the manual page and the completion all follow from the table
 * (command_table.c), so that they cannot disagree.
 *
 * @thread main
 */
#ifndef SRC_COMMAND_H
#define SRC_COMMAND_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a command ends. */
enum command_exit {
    EXIT_DONE = 0,
    EXIT_FAILED = 1, /* or differences were found */
    EXIT_USAGE = 2,
    EXIT_BUSY = 75, /* try again */
};

struct command_option {
    const char *name;  /* without the dashes */
    char letter;       /* 0: none */
    const char *value; /* what it takes, "FILE"; NULL: it is a flag */
    const char *help;  /* one line, lower case */
    const char *words; /* what completion offers as its value, or NULL */
};

enum command_need {
    NEED_NOTHING = 0,
    NEED_STORE,  /* the daemon, or without one the store under its lock */
    NEED_DAEMON, /* a running one */
};

struct invocation;

struct command {
    const char *name;    /* "index create" */
    const char *args;    /* "TABLE", "FILE..." */
    const char *summary; /* one line, lower case */
    const char *help;    /* paragraphs, separated by an empty line; NULL: the summary says it */
    enum command_need need;
    int (*run)(const struct invocation *inv);
    const char *noun; /* for whom one handler serves several nouns */
    size_t min_args, max_args;
    const struct command_option *options; /* ended by a NULL name; NULL: none */
    const char *complete; /* what completion offers as argument: "file", a noun, or NULL */
    bool hidden;
};

extern const struct command command_table[];
extern const size_t n_commands;
/* Every command takes these; ended by a NULL name. */
extern const struct command_option command_global_options[];

#define INVOCATION_OPTIONS_MAX 64

struct given_option {
    const struct command_option *option;
    const char *value;
};

/* One command line, parsed; the strings are those of argv. */
struct invocation {
    const struct command *command;
    const char *const *args; /* those that are left */
    size_t n_args;
    struct given_option given[INVOCATION_OPTIONS_MAX];
    size_t n_given;
};

/*
 * Find the command of words (a list of n) and give how many of them name it; NULL: none, and
 * err suggests the nearest.
 */
const struct command *command_find(const char *const *words, size_t n, size_t *n_named,
                                   struct err *err) MUST_CHECK;

/*
 * Parse argv without the program's name.  args is room for argc strings.  False: wrong usage,
 * in err; inv->command is set if it was found.  --help and --version are left to the caller.
 */
bool command_parse(struct invocation *inv, const char **args, int argc, const char *const *argv,
                   struct err *err) MUST_CHECK;

/* The value of an option that was given (the last one), or NULL; a flag has "". */
const char *invocation_value(const struct invocation *inv, const char *option);
bool invocation_has(const struct invocation *inv, const char *option);
/* A whole number; *out stays as it is without the option.  False: wrong usage. */
bool invocation_number(const struct invocation *inv, const char *option, uint64_t *out,
                       struct err *err) MUST_CHECK;

/* Say what failed on standard error, and give the exit code that fits. */
int command_fail(const struct err *err);
int command_usage(const struct invocation *inv, const struct err *err);

#endif

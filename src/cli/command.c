#include "config.h"

#include "src/cli/command.h"

#include "src/base/fix.h"
#include "src/base/nearest.h"
#include "src/cli/report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- finding ---- */

/* How many of the words name the command; 0: they do not. */
static size_t named(const struct command *c, const char *const *words, size_t n)
{
    const char *rest = c->name;
    size_t used = 0;

    while (*rest != '\0') {
        size_t len = strcspn(rest, " ");

        if (used == n || strlen(words[used]) != len || memcmp(words[used], rest, len) != 0)
            return 0;
        rest += len + (rest[len] == ' ');
        used++;
    }
    return used;
}

const struct command *command_next(const struct command_set *set, const struct command *c)
{
    for (size_t i = 0; i < set->n_parts; i++) {
        const struct command_rows *rows = set->parts[i];

        if (c == NULL)
            return rows->list;
        if (c >= rows->list && c < rows->list + rows->n - 1)
            return c + 1;
        if (c == rows->list + rows->n - 1)
            c = NULL;
    }
    return NULL;
}

/* True if name is the first word of a command with more words. */
static bool is_group(const struct command_set *set, const char *name)
{
    size_t len = strlen(name);

    for (const struct command *c = NULL; (c = command_next(set, c)) != NULL;)
        if (strncmp(c->name, name, len) == 0 && c->name[len] == ' ')
            return true;
    return false;
}

static bool unknown(const struct command_set *set, const char *const *words, size_t n,
                    struct err *err)
{
    char name[80];
    bool group = is_group(set, words[0]);

    if (group && n == 1)
        return err_set(err, ERR_REJECT, "millrace %s does what? see millrace %s --help",
                       words[0], words[0]);
    snprintf(name, sizeof(name), "%s%s%s", words[0], group ? " " : "", group ? words[1] : "");

    struct nearest near = nearest_to(str_from(name));

    for (const struct command *c = NULL; (c = command_next(set, c)) != NULL;) {
        const char *known = c->name;

        if (c->hidden)
            continue;
        nearest_offer(&near, str_from(known));
        if (!group)
            nearest_offer(&near, (struct str){known, strcspn(known, " ")});
    }
    if (near.best.len > 0)
        return err_set(err, ERR_REJECT, "there is no command \"%s\"; did you mean \"%.*s\"?",
                       name, (int)near.best.len, near.best.ptr);
    return err_set(err, ERR_REJECT, "there is no command \"%s\"; millrace --help lists them",
                   name);
}

const struct command *command_find(const struct command_set *set, const char *const *words,
                                   size_t n, size_t *n_named, struct err *err)
{
    const struct command *best = NULL;

    *n_named = 0;
    for (const struct command *c = NULL; (c = command_next(set, c)) != NULL;) {
        size_t used = named(c, words, n);

        if (used > *n_named) {
            best = c;
            *n_named = used;
        }
    }
    /* "version" is a command by itself and also the group of "version list". */
    if (best != NULL && *n_named == 1 && n > 1 && best->max_args == 0 &&
        is_group(set, words[0]))
        best = NULL;
    if (best == NULL)
        unknown(set, words, n, err);
    return best;
}

/* ---- parsing ---- */

static const struct command_option *find_in(const struct command_option *options,
                                            const char *name, size_t len)
{
    for (const struct command_option *o = options; o != NULL && o->name != NULL; o++)
        if (len == 1 ? o->letter == name[0]
                     : strlen(o->name) == len && memcmp(o->name, name, len) == 0)
            return o;
    return NULL;
}

static const struct command_option *find_option(const struct command_set *set,
                                                const struct command *c, const char *name,
                                                size_t len)
{
    const struct command_option *o = c != NULL ? find_in(c->options, name, len) : NULL;

    return o != NULL ? o : find_in(set->options, name, len);
}

static void offer_all(struct nearest *near, const struct command_option *options)
{
    for (const struct command_option *o = options; o != NULL && o->name != NULL; o++)
        nearest_offer(near, str_from(o->name));
}

static bool unknown_option(const struct invocation *inv, struct str name, struct err *err)
{
    struct nearest near = nearest_to(name);

    offer_all(&near, inv->set->options);
    offer_all(&near, inv->command != NULL ? inv->command->options : NULL);
    if (near.best.len > 0)
        return err_set(err, ERR_REJECT, "there is no option --%.*s; did you mean --%.*s?",
                       (int)name.len, name.ptr, (int)near.best.len, near.best.ptr);
    return err_set(err, ERR_REJECT, "there is no option --%.*s", (int)name.len, name.ptr);
}

/*
 * True if some command has an option of this name that takes a value: of one that all commands
 * share as a flag, only a command that the n words before it name.
 */
static bool takes_value_somewhere(const struct command_set *set, const char *const *words,
                                  size_t n, const char *name, size_t len)
{
    const struct command_option *shared = find_in(set->options, name, len);
    const bool is_flag = shared != NULL && shared->value == NULL;

    for (const struct command *c = NULL; (c = command_next(set, c)) != NULL;) {
        const struct command_option *o = find_option(set, c, name, len);

        if (o != NULL && o->value != NULL && (!is_flag || named(c, words, n) > 0))
            return true;
    }
    return false;
}

/* One word that begins with a dash, in parts. */
struct dashed {
    const char *name;
    size_t len;
    const char *value; /* after the '=' or the letter, or NULL */
};

static struct dashed cut_dashed(const char *word)
{
    const char *equals = strchr(word, '=');

    if (word[1] != '-')
        return (struct dashed){word + 1, 1, word[2] != '\0' ? word + 2 : NULL};
    return (struct dashed){word + 2,
                           equals != NULL ? (size_t)(equals - word) - 2 : strlen(word) - 2,
                           equals != NULL ? equals + 1 : NULL};
}

/* "-" means standard input, and "-5" is a negative key. */
static bool is_dashed(const char *word)
{
    return word[0] == '-' && word[1] != '\0' && !(word[1] >= '0' && word[1] <= '9');
}

/* Collect the words that are not options: the command's name and its arguments. */
static size_t take_words(const struct command_set *set, const char **words, int argc,
                         const char *const *argv)
{
    size_t n = 0;
    bool all = false; /* after "--" */

    for (int i = 0; i < argc; i++) {
        if (all || !is_dashed(argv[i])) {
            words[n++] = argv[i];
        } else if (strcmp(argv[i], "--") == 0) {
            all = true;
        } else {
            struct dashed d = cut_dashed(argv[i]);

            if (d.value == NULL && takes_value_somewhere(set, words, n, d.name, d.len))
                i++;
        }
    }
    return n;
}

const struct command_option *command_awaits(const struct invocation *line, const char *word)
{
    if (!is_dashed(word) || strcmp(word, "--") == 0)
        return NULL;

    struct dashed d = cut_dashed(word);
    const struct command_option *o = find_option(line->set, line->command, d.name, d.len);

    return o != NULL && o->value != NULL && d.value == NULL ? o : NULL;
}

static bool take_option(struct invocation *inv, const char *word, const char *next,
                        bool *used_next, struct err *err)
{
    struct dashed d = cut_dashed(word);
    const struct command_option *o = find_option(inv->set, inv->command, d.name, d.len);

    *used_next = false;
    if (o == NULL)
        return unknown_option(inv, (struct str){d.name, d.len}, err);
    if (o->value == NULL && d.value != NULL)
        return err_set(err, ERR_REJECT, "--%s takes no value", o->name);
    if (o->value != NULL && d.value == NULL) {
        if (next == NULL)
            return err_set(err, ERR_REJECT, "--%s needs %s", o->name, o->value);
        d.value = next;
        *used_next = true;
    }
    if (inv->n_given == INVOCATION_OPTIONS_MAX)
        return err_set(err, ERR_REJECT, "too many options");
    inv->given[inv->n_given++] = (struct given_option){o, d.value != NULL ? d.value : ""};
    return true;
}

static bool take_options(struct invocation *inv, int argc, const char *const *argv,
                         struct err *err)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++) {
        bool used_next;

        if (!is_dashed(argv[i]))
            continue;
        if (!take_option(inv, argv[i], i + 1 < argc ? argv[i + 1] : NULL, &used_next, err))
            return false;
        i += used_next;
    }
    return true;
}

bool command_parse(struct invocation *inv, const char **args, int argc, const char *const *argv,
                   struct err *err)
{
    const struct command_set *set = inv->set;
    size_t n = take_words(set, args, argc, argv), n_named = 0;
    bool found = true;

    *inv = (struct invocation){.set = set};
    if (n > 0) {
        inv->command = command_find(set, args, n, &n_named, err);
        found = inv->command != NULL;
    }
    inv->args = args + n_named;
    inv->n_args = n - n_named;
    /* The caller must see --help even if the command is unknown. */
    if (!found) {
        struct err other;

        (void)!take_options(inv, argc, argv, &other);
        return false;
    }
    if (!take_options(inv, argc, argv, err))
        return false;
    if (inv->command == NULL || invocation_has(inv, "help"))
        return true;
    if (inv->n_args < inv->command->min_args)
        return err_set(err, ERR_REJECT, "%s needs %s", inv->command->name, inv->command->args);
    if (inv->n_args > inv->command->max_args)
        return err_set(err, ERR_REJECT, "%s does not take \"%s\"", inv->command->name,
                       inv->args[inv->command->max_args]);
    return true;
}

/* ---- asking ---- */

const char *invocation_value(const struct invocation *inv, const char *option)
{
    for (size_t i = inv->n_given; i > 0; i--)
        if (strcmp(inv->given[i - 1].option->name, option) == 0)
            return inv->given[i - 1].value;
    return NULL;
}

bool invocation_has(const struct invocation *inv, const char *option)
{
    return invocation_value(inv, option) != NULL;
}

bool invocation_has_global(const struct invocation *inv, const char *option)
{
    for (size_t i = 0; i < inv->n_given; i++)
        if (inv->given[i].option == find_in(inv->set->options, option, strlen(option)))
            return true;
    return false;
}

bool invocation_number(const struct invocation *inv, const char *option, uint64_t *out,
                       struct err *err)
{
    const char *value = invocation_value(inv, option);
    char *end = NULL;

    if (value == NULL)
        return true;
    errno = 0;

    unsigned long long n = strtoull(value, &end, 10);

    if (value[0] < '0' || value[0] > '9' || *end != '\0' || errno != 0)
        return err_set(err, ERR_REJECT, "--%s takes a whole number, not \"%s\"", option, value);
    *out = n;
    return true;
}

int command_fail(const struct err *err)
{
    struct str message = str_from(err->msg);
    const struct str fix = fix_split(&message);

    return report_error(&(struct report){
        .kind = err->kind,
        .exit = err->kind == ERR_RETRY ? EXIT_BUSY : EXIT_FAILED,
        .message = message,
        .fix = fix,
    });
}

int command_usage(const struct invocation *inv, const struct err *err)
{
    report_error(&(struct report){
        .kind = ERR_REJECT, .exit = EXIT_USAGE, .message = str_from(err->msg)});
    if (inv->command != NULL && !report_is_json())
        fprintf(stderr, "usage: millrace %s%s%s [options]   (millrace %s --help says more)\n",
                inv->command->name, inv->command->args[0] != '\0' ? " " : "",
                inv->command->args, inv->command->name);
    return EXIT_USAGE;
}

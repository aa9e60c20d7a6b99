#include "config.h"

#include "src/cli/complete.h"

#include "src/config/setting.h"

#include <string.h>

static void offer(struct buf *out, struct str name, const char *end, const char *meaning)
{
    buf_append(out, name);
    buf_append(out, str_from(end));
    if (meaning != NULL)
        buf_printf(out, "\t%s", meaning);
    buf_append_char(out, '\n');
}

/* ---- words of commands ---- */

/* What follows the n words in the command's name; NULL: it does not begin with them. */
static const char *rest_of_name(const struct command *c, const char *const *words, size_t n)
{
    const char *rest = c->name;

    if (c->hidden)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        size_t len = strlen(words[i]);

        if (strncmp(rest, words[i], len) != 0 || rest[len] != ' ')
            return NULL;
        rest += len + 1;
    }
    return rest;
}

/* True if a command before this one has the same word there. */
static bool was_offered(const struct command_set *set, const struct command *command,
                        const char *const *words, size_t n, struct str word)
{
    for (const struct command *c = NULL; (c = command_next(set, c)) != command;) {
        const char *rest = rest_of_name(c, words, n);

        if (rest != NULL && str_equal(word, (struct str){rest, strcspn(rest, " ")}))
            return true;
    }
    return false;
}

/* The words that can follow these in the name of a command. */
static void offer_commands(struct buf *out, const struct command_set *set,
                           const char *const *words, size_t n)
{
    for (const struct command *c = NULL; (c = command_next(set, c)) != NULL;) {
        const char *rest = rest_of_name(c, words, n);
        const struct str word = {rest, rest != NULL ? strcspn(rest, " ") : 0};

        if (rest != NULL && !was_offered(set, c, words, n, word))
            offer(out, word, "", rest[word.len] == '\0' ? c->summary : NULL);
    }
}

/* ---- options, and values ---- */

static void offer_options(struct buf *out, const struct command_option *options)
{
    for (const struct command_option *o = options; o != NULL && o->name != NULL; o++) {
        buf_append(out, STR("--"));
        offer(out, str_from(o->name), "", o->help);
    }
}

static void offer_settings(struct buf *out)
{
    for (size_t i = 0; i < n_settings; i++)
        offer(out, str_from(settings[i].name), "=", settings[i].help);
}

/* Those that change at run time, without their section. */
static void offer_run_time_settings(struct buf *out)
{
    for (size_t i = 0; i < n_settings; i++)
        if (settings[i].changes == CHANGES_AT_RUN_TIME)
            offer(out, str_from(settings[i].name + strlen("delivery.")), "", settings[i].help);
}

static void offer_each(struct buf *out, const char *words)
{
    while (*words != '\0') {
        size_t len = strcspn(words, " ");

        offer(out, (struct str){words, len}, "", NULL);
        words += len + (words[len] == ' ');
    }
}

/* What the table says can stand somewhere (command.h).  Returns the noun, if it is one. */
static const char *offer_kind(struct buf *out, const struct invocation *line, const char *kind)
{
    if (kind == NULL)
        return NULL;
    if (strcmp(kind, "file") == 0)
        offer(out, STR("/"), "", NULL);
    else if (strcmp(kind, "setting") == 0)
        offer_run_time_settings(out);
    else if (strcmp(kind, "settings") == 0)
        offer_settings(out);
    else if (strcmp(kind, "command") == 0)
        offer_commands(out, line->set, line->args, line->n_args);
    else if (strchr(kind, ' ') != NULL)
        offer_each(out, kind);
    else
        return kind;
    return NULL;
}

/* A noun's name is the first argument; what follows it may be files, and else is not known. */
static const char *kind_of_argument(const struct command *c, size_t n_before)
{
    const bool takes_files = strstr(c->args, "FILE") != NULL;

    if (n_before >= c->max_args)
        return NULL;
    if (n_before == 0 || (!takes_files && c->max_args > 2))
        return c->complete;
    return takes_files && n_before >= c->min_args ? "file" : NULL;
}

/* ---- all of it ---- */

const char *complete_words(struct buf *out, struct invocation *line, const char **args,
                           const char *const *words, size_t n)
{
    const char *current = n > 0 ? words[--n] : "";
    struct err unfinished = {0};

    (void)!command_parse(line, args, (int)n, words, &unfinished);

    const struct command *c = line->command;
    const struct command_option *o = n > 0 ? command_awaits(line, words[n - 1]) : NULL;

    if (o != NULL)
        return offer_kind(out, line, o->words);
    if (current[0] == '-') {
        offer_options(out, c != NULL ? c->options : NULL);
        offer_options(out, line->set->options);
        return NULL;
    }
    offer_commands(out, line->set, args, (size_t)(line->args - args) + line->n_args);
    return c != NULL ? offer_kind(out, line, kind_of_argument(c, line->n_args)) : NULL;
}

static const struct {
    const char *shell, *text;
} scripts[] = {
#include "src/cli/completion_scripts.def"
};

const char *complete_script(const char *shell)
{
    for (size_t i = 0; i < ARRAY_LEN(scripts); i++)
        if (strcmp(scripts[i].shell, shell) == 0)
            return scripts[i].text;
    return NULL;
}

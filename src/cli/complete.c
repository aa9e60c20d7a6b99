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
static bool was_offered(const struct command_set *set, size_t command, const char *const *words,
                        size_t n, struct str word)
{
    for (size_t i = 0; i < command; i++) {
        const char *rest = rest_of_name(&set->list[i], words, n);

        if (rest != NULL && str_equal(word, (struct str){rest, strcspn(rest, " ")}))
            return true;
    }
    return false;
}

/* The words that can follow these in the name of a command. */
static void offer_commands(struct buf *out, const struct command_set *set,
                           const char *const *words, size_t n)
{
    for (size_t i = 0; i < set->n; i++) {
        const char *rest = rest_of_name(&set->list[i], words, n);
        const struct str word = {rest, rest != NULL ? strcspn(rest, " ") : 0};

        if (rest != NULL && !was_offered(set, i, words, n, word))
            offer(out, word, "", rest[word.len] == '\0' ? set->list[i].summary : NULL);
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
    /* A noun's name is the first argument; explain's KEY follows it. */
    if (c == NULL || line->n_args >= c->max_args || (line->n_args == 1 && c->max_args == 2))
        return NULL;
    return offer_kind(out, line, c->complete);
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

#include "config.h"

#include "src/config/values.h"

#include "src/base/arena.h"
#include "src/base/buf.h"

#include <string.h>

static struct str absolute(const struct configuration *c, const struct setting *s,
                           struct str text)
{
    struct buf b = {0};

    if (s->kind != SETTING_PATH || text.len == 0 || text.ptr[0] == '/' || c->folder.len == 0)
        return arena_copy(c->arena, text);
    buf_append(&b, c->folder);
    buf_append_char(&b, '/');
    buf_append(&b, text);

    const struct str path = arena_copy(c->arena, buf_str(&b));

    buf_free(&b);
    return path;
}

/*
 * True for http://user:password@host: the password would be shown, logged and repeated in every
 * message.
 */
static bool holds_password(struct str text)
{
    const char *start = text.len == 0 ? NULL : memmem(text.ptr, text.len, "://", 3);

    if (start == NULL)
        return false;
    start += 3;

    const size_t left = (size_t)(text.ptr + text.len - start);
    const char *at = memchr(start, '@', left), *slash = memchr(start, '/', left);

    return at != NULL && (slash == NULL || at < slash) &&
           memchr(start, ':', (size_t)(at - start)) != NULL;
}

static void refuse_password(const struct setting *s, const struct origin *from,
                            struct problems *problems)
{
    problems_add(problems, SEVERITY_ERROR, from->place,
                 "%s: a password does not belong in an address", s->name);
    problems_fix(problems, "%s",
                 strncmp(s->name, "search", 6) == 0
                     ? "search.user, and the password in a file that search.password_file names"
                     : "the password in a file that store_password_file names");
}

void configuration_changed(struct configuration *c, size_t i)
{
    setting_put(&settings[i], value_texts(&c->values[i]), &c->settings);
}

void configuration_put(struct configuration *c, size_t i, const struct str *texts, size_t n,
                       const struct origin *from, struct problems *problems)
{
    const struct setting *s = &settings[i];
    const char **items = arena_alloc(c->arena, n + 1, sizeof(*items));

    for (size_t k = 0; k < n; k++) {
        struct err err;

        if (holds_password(texts[k])) {
            refuse_password(s, from, problems);
            return;
        }
        if (!setting_check(s, texts[k], &err)) {
            problems_add(problems, SEVERITY_ERROR, from->place, "%s", err.msg);
            return;
        }
        items[k] = absolute(c, s, texts[k]).ptr;
    }
    c->values[i].configured = (struct setting_texts){items, n};
    c->values[i].origin = arena_copy(c->arena, str_from(from->text)).ptr;
    configuration_changed(c, i);
}

void configuration_report_unknown(struct problems *problems, enum severity severity,
                                  struct place place, struct str name)
{
    const struct str near = setting_nearest(name);

    problems_add(problems, severity, place, "unknown setting `%" STR_FMT "`", STR_ARG(name));
    if (near.len > 0)
        problems_fix(problems, "did you mean `%" STR_FMT "`?", STR_ARG(near));
}

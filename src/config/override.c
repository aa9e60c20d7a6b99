#include "config.h"

#include "src/config/values.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/failpoint.h"

#include <ctype.h>
#include <string.h>

#define ENV_PREFIX "MILLRACE_"

/* The failpoint variable (src/base/failpoint.h) is not a setting. */
static bool is_other(struct str variable)
{
    return str_equal(variable, STR(FAILPOINT_VARIABLE));
}

/* True if ${VARIABLE} stands in the file. */
static bool is_used_by_file(const struct configuration *c, struct str variable)
{
    struct buf name = {0};
    bool found;

    buf_printf(&name, ", %" STR_FMT ",", STR_ARG(variable));
    found = c->used.len > 0 && memmem(c->used.ptr, c->used.len, name.ptr, name.len) != NULL;
    buf_free(&name);
    return found;
}

/* MILLRACE_SEARCH__CA_FILE -> search.ca_file */
void configuration_take_environment(struct configuration *c, char **environment,
                                    struct problems *problems)
{
    for (; environment != NULL && *environment != NULL; environment++) {
        const char *equals = strchr(*environment, '=');
        struct buf name = {0};

        if (equals == NULL || strncmp(*environment, ENV_PREFIX, strlen(ENV_PREFIX)) != 0 ||
            is_other((struct str){*environment, (size_t)(equals - *environment)}))
            continue;
        for (const char *at = *environment + strlen(ENV_PREFIX); at < equals; at++) {
            const bool nested = at[0] == '_' && at[1] == '_';

            buf_append_char(&name, nested ? '.' : (char)tolower((unsigned char)*at));
            at += nested;
        }

        const struct str variable = {*environment, (size_t)(equals - *environment)};
        struct buf where = {0};

        buf_printf(&where, "environment %" STR_FMT, STR_ARG(variable));

        const char *shown = arena_copy(c->arena, buf_str(&where)).ptr;
        const struct origin from = {.place = {.file = shown + strlen("environment ")},
                                    .text = shown};
        const struct str text = str_from(equals + 1);
        const size_t i = setting_find(buf_str(&name));

        if (i < n_settings)
            configuration_put(c, i, &text, 1, &from, problems);
        else if (!is_used_by_file(c, variable))
            /* Perhaps not meant for us: container platforms set MILLRACE_PORT and the like. */
            configuration_report_unknown(problems, SEVERITY_WARNING, from.place,
                                         buf_str(&name));
        buf_free(&where);
        buf_free(&name);
    }
}

void configuration_take_sets(struct configuration *c, const char *const *sets, size_t n,
                             struct problems *problems)
{
    const struct origin from = {.place = {.file = "--set"}, .text = "--set"};

    for (size_t k = 0; k < n; k++) {
        const char *equals = strchr(sets[k], '=');
        const struct str name = {sets[k],
                                 equals == NULL ? strlen(sets[k]) : (size_t)(equals - sets[k])};
        const size_t i = setting_find(name);

        if (i == n_settings) {
            configuration_report_unknown(problems, SEVERITY_ERROR, from.place, name);
        } else if (equals == NULL) {
            problems_add(problems, SEVERITY_ERROR, from.place,
                         "`%s` has no value: --set name=value", sets[k]);
        } else if (settings[i].secret) {
            problems_add(problems, SEVERITY_ERROR, from.place,
                         "%s is a secret and not for a command line; use %s_file",
                         settings[i].name, settings[i].name);
        } else {
            const struct str text = str_from(equals + 1);

            configuration_put(c, i, &text, 1, &from, problems);
        }
    }
}

#include "config.h"

#include "src/configuration.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/mem.h"
#include "src/configuration_values.h"
#include "src/secret_file.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

static const struct value *get(const struct configuration *c, const char *name)
{
    const size_t i = setting_find(str_from(name));

    assert(i < n_settings);
    return &c->values[i];
}

/* ---- life ---- */

static void take_defaults(struct configuration *c, struct problems *problems)
{
    const struct origin from = {.place = {.file = "default"}, .text = "default"};

    for (size_t i = 0; i < n_settings; i++)
        if (settings[i].preset != NULL) {
            const struct str text = str_from(settings[i].preset);

            configuration_put(c, i, &text, 1, &from, problems);
        }
}

static void check_secret_files(const struct configuration *c, struct problems *problems)
{
    struct stat st;

    for (size_t i = 0; i < n_settings; i++) {
        const struct value *v = &c->values[i];

        if (!settings[i].secret_file || v->n == 0 || stat(v->texts[0], &st) != 0 ||
            (st.st_mode & S_IROTH) == 0)
            continue;
        problems_add(problems, SEVERITY_WARNING, (struct place){.file = v->origin},
                     "%s: everyone may read %s", settings[i].name, v->texts[0]);
        problems_fix(problems, "chmod 600 %s", v->texts[0]);
    }
}

static void check_batches(const struct configuration *c, struct problems *problems)
{
    const struct value *max = get(c, "delivery.batch_max");
    const int64_t min = configuration_number(c, "delivery.batch_min");
    int64_t n;

    if (setting_parse_count(str_from(max->texts[0]), &n) && n < min)
        problems_add(problems, SEVERITY_ERROR, (struct place){.file = max->origin},
                     "delivery.batch_max, %s, is less than delivery.batch_min, %lld",
                     max->texts[0], (long long)min);
}

static void check_addresses(const struct configuration *c, struct problems *problems)
{
    const struct value *urls = get(c, "search.url");

    for (size_t i = 0; i < urls->n; i++) {
        if (strncasecmp(urls->texts[i], "http://", 7) == 0 ||
            strncasecmp(urls->texts[i], "https://", 8) == 0)
            continue;
        problems_add(problems, SEVERITY_ERROR, (struct place){.file = urls->origin},
                     "search.url: expected an address like http://127.0.0.1:9200 or "
                     "https://…, got `%s`",
                     urls->texts[i]);
    }
}

struct configuration *configuration_load(const struct configuration_source *source,
                                         struct problems *problems)
{
    struct configuration *c = mem_alloc(1, sizeof(*c));

    c->arena = arena_new();
    c->values = mem_alloc(n_settings, sizeof(*c->values));
    take_defaults(c, problems);
    if (source->file != NULL)
        configuration_take_file(c, source->file, true, problems);
    else
        configuration_take_file(c, "millrace.yaml", false, problems);
    if (source->file == NULL && c->file == NULL)
        configuration_take_file(c, "/etc/millrace/millrace.yaml", false, problems);
    configuration_take_environment(c, source->environment, problems);
    configuration_take_sets(c, source->sets, source->n_sets, problems);
    check_secret_files(c, problems);
    check_batches(c, problems);
    check_addresses(c, problems);
    if (problems_count(problems, SEVERITY_ERROR) == 0)
        return c;
    configuration_free(c);
    return NULL;
}

void configuration_free(struct configuration *c)
{
    if (c == NULL)
        return;
    arena_free(c->arena);
    free(c->values);
    free(c->file);
    free(c);
}

/* ---- values ---- */

const char *configuration_file(const struct configuration *c)
{
    return c->file;
}

const char *configuration_text(const struct configuration *c, const char *name)
{
    const struct value *v = get(c, name);

    return v->n == 0 ? NULL : v->texts[0];
}

const char *configuration_origin(const struct configuration *c, const char *name)
{
    return get(c, name)->origin;
}

int64_t configuration_number(const struct configuration *c, const char *name)
{
    return get(c, name)->number;
}

bool configuration_bool(const struct configuration *c, const char *name)
{
    return get(c, name)->number != 0;
}

const char *const *configuration_list(const struct configuration *c, const char *name,
                                      size_t *n)
{
    const struct value *v = get(c, name);

    *n = v->n;
    return v->texts;
}

/* ---- secrets ---- */

/* The value of a setting that need not be in the table. */
static const char *text_if_known(const struct configuration *c, const char *name,
                                 const char *suffix)
{
    struct buf full = {0};
    const char *text = NULL;

    buf_printf(&full, "%s%s", name, suffix);

    const size_t i = setting_find(buf_str(&full));

    if (i < n_settings && c->values[i].n > 0)
        text = c->values[i].texts[0];
    buf_free(&full);
    return text;
}

bool configuration_secret(const struct configuration *c, const char *name, char **out,
                          struct err *err)
{
    const char *file = text_if_known(c, name, "_file"),
               *variable = text_if_known(c, name, "_env");
    const char *literal = text_if_known(c, name, "");

    *out = NULL;
    if (file != NULL)
        return secret_file_read(file, out, err);
    if (variable != NULL && getenv(variable) == NULL)
        return err_set(err, ERR_REJECT, "%s_env: the environment variable %s is not set", name,
                       variable);
    if (variable != NULL)
        *out = mem_copy(getenv(variable));
    else if (literal != NULL)
        *out = mem_copy(literal);
    return true;
}

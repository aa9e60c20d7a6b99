#include "config.h"

#include "src/config/configuration.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/mem.h"
#include "src/config/store_address.h"
#include "src/config/values.h"
#include "src/file/secret_file.h"
#include "src/file/whole_file.h"
#include "src/mysql/login.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#define PRESET "default"

static const struct setting_value *get(const struct configuration *c, const char *name)
{
    const size_t i = setting_find(str_from(name));

    assert(i < n_settings);
    return &c->values[i];
}

static struct place place_of(const struct configuration *c, const char *name)
{
    return (struct place){.file = get(c, name)->origin};
}

/* ---- checks ---- */

static void check_secret_files(const struct configuration *c, struct problems *problems)
{
    struct stat st;

    for (size_t i = 0; i < n_settings; i++) {
        const struct setting_value *v = &c->values[i];

        if (!settings[i].secret_file || v->configured.n == 0)
            continue;

        const char *path = v->configured.items[0];

        if (stat(path, &st) != 0 || !whole_file_is_exposed(&st))
            continue;
        problems_add(problems, SEVERITY_ERROR, (struct place){.file = v->origin},
                     "%s: others may read or change %s", settings[i].name, path);
        problems_fix(problems, "chmod 600 %s", path);
    }
}

/* An empty password may be one; an empty log-in is none.  Whether it can be read, its user
 * says. */
static void check_login(const struct configuration *c, struct problems *problems)
{
    const char *file = c->settings.coordination_auth_file;
    struct err ignored = {0};
    char *login = NULL;

    if (file == NULL || !secret_file_read(file, &login, &ignored) || login[0] != '\0') {
        free(login);
        return;
    }
    free(login);
    problems_add(problems, SEVERITY_ERROR, place_of(c, "coordination_auth_file"),
                 "coordination_auth_file: %s holds no log-in", file);
    problems_fix(problems, "write one line user:password, the same at all nodes, or leave the "
                           "setting out");
}

bool configuration_check(const struct configuration *c, struct err *err)
{
    const struct delivery_settings *d = &c->settings.delivery;

    return d->batch_max == 0 || d->batch_max >= d->batch_min ||
           err_set(err, ERR_REJECT,
                   "delivery.batch_max, %u, is less than delivery.batch_min, %u; fix: set "
                   "batch_max to auto or to %u at least, or batch_min to %u at most",
                   d->batch_max, d->batch_min, d->batch_min, d->batch_max);
}

static void check_together(const struct configuration *c, struct problems *problems)
{
    struct err err;

    if (!configuration_check(c, &err))
        problems_add(problems, SEVERITY_ERROR, place_of(c, "delivery.batch_max"), "%s",
                     err.msg);
}

static void check_addresses(const struct configuration *c, struct problems *problems)
{
    const struct setting_texts *urls = &c->settings.search.urls;

    for (size_t i = 0; i < urls->n; i++)
        if (strncasecmp(urls->items[i], "http://", 7) != 0 &&
            strncasecmp(urls->items[i], "https://", 8) != 0)
            problems_add(problems, SEVERITY_ERROR, place_of(c, "search.url"),
                         "search.url: expected an address like http://127.0.0.1:9200 or "
                         "https://…, got `%s`",
                         urls->items[i]);
}

/* Warn of a remote store without checked TLS: it holds definitions and keys of rows. */
static void warn_of_open_store(const struct configuration *c, struct problems *problems)
{
    const bool has_tls = configuration_gives(c, "store_tls.");
    struct store_address address;
    struct err ignored;

    if ((has_tls && c->settings.store_tls.verify) ||
        !store_address_parse(&address, c->settings.store, &ignored))
        return;

    const bool is_local = mysql_login_is_local(str_from(address.host));

    store_address_free(&address);
    if (is_local)
        return;
    problems_add(problems, SEVERITY_WARNING, place_of(c, "store"), "%s",
                 has_tls
                     ? "store_tls.verify: nobody checks who answers as the store, so somebody "
                       "in between can read and change what goes there"
                     : "the store is on another machine, and what goes there is not encrypted");
    problems_fix(problems,
                 "`store_tls: {ca_file: ...}` with the authority that signed the server's "
                 "certificate, or `store_tls: {verify: true}` where the system trusts it");
}

/* ---- life ---- */

struct configuration *configuration_new(void)
{
    struct configuration *c = mem_alloc(1, sizeof(*c));

    c->arena = arena_new();
    c->values = mem_alloc(n_settings, sizeof(*c->values));
    c->variables = variables_of_environment(NULL);
    for (size_t i = 0; i < n_settings; i++) {
        c->values[i].origin = PRESET;
        c->values[i].configured =
            (struct setting_texts){&settings[i].preset, settings[i].preset != NULL};
        configuration_changed(c, i);
    }
    return c;
}

struct configuration *configuration_load(const struct configuration_source *source,
                                         struct problems *problems)
{
    struct configuration *c = configuration_new();

    c->variables = variables_of_environment(source->environment);
    c->to_connect = source->to_connect;
    if (source->file != NULL)
        configuration_take_file(c, source->file, true, problems);
    else
        configuration_take_file(c, "millrace.yaml", false, problems);
    if (source->file == NULL && c->file == NULL)
        configuration_take_file(c, "/etc/millrace/millrace.yaml", false, problems);
    configuration_take_environment(c, source->environment, problems);
    configuration_take_sets(c, source->sets, source->n_sets, problems);
    check_secret_files(c, problems);
    check_login(c, problems);
    check_together(c, problems);
    check_addresses(c, problems);
    warn_of_open_store(c, problems);
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
    buf_free(&c->used);
    free(c->file);
    free(c);
}

/* ---- values ---- */

const char *configuration_file(const struct configuration *c)
{
    return c->file;
}

bool configuration_lacks_variables(const struct configuration *c)
{
    return c->lacks_variables;
}

const struct settings *configuration_settings(const struct configuration *c)
{
    return &c->settings;
}

bool configuration_gives(const struct configuration *c, const char *prefix)
{
    bool gives = false;

    for (size_t i = 0; i < n_settings; i++)
        gives = gives ||
                (strncmp(settings[i].name, prefix, strlen(prefix)) == 0 &&
                 c->values[i].configured.n > 0 && strcmp(c->values[i].origin, PRESET) != 0);
    return gives;
}

const char *configuration_text(const struct configuration *c, const char *name)
{
    const struct setting_texts *texts = value_texts(get(c, name));

    return texts->n == 0 ? NULL : texts->items[0];
}

bool configuration_is_same(const struct configuration *a, const struct configuration *b,
                           size_t i)
{
    const struct setting_texts *x = value_texts(&a->values[i]), *y = value_texts(&b->values[i]);
    bool same = x->n == y->n;

    for (size_t k = 0; same && k < x->n; k++)
        same = strcmp(x->items[k], y->items[k]) == 0;
    return same;
}

/* ---- secrets ---- */

/* The configured value of setting name + suffix, which need not exist in the table. */
static const char *text_if_known(const struct configuration *c, const char *name,
                                 const char *suffix)
{
    struct buf full = {0};
    const char *text = NULL;

    buf_printf(&full, "%s%s", name, suffix);

    const size_t i = setting_find(buf_str(&full));

    if (i < n_settings && c->values[i].configured.n > 0)
        text = c->values[i].configured.items[0];
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

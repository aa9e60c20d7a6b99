#include "config.h"

#include "src/cli/init_config.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/format/yaml_name.h"
#include "sync/draft/database_url.h"
#include "sync/draft/draft_name.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* Search engines listen on this port by default. */
static const char *const usual_urls[] = {"http://127.0.0.1:9200"};
static const char *const system_schemas[] = {"mysql", "information_schema",
                                             "performance_schema", "sys"};

static const char doc_folder[] =
#include "src/cli/doc_folder.def"
    ;

static struct str PRINTF_LIKE(2, 3) text(struct arena *a, const char *fmt, ...)
{
    char *p = NULL;
    struct str out;
    va_list ap;

    va_start(ap, fmt);
    const int n = vasprintf(&p, fmt, ap);
    va_end(ap);
    out = n < 0 ? (struct str){0} : arena_copy(a, (struct str){p, (size_t)n});
    free(p);
    return out;
}

static bool refuse_system(struct str schema, struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(system_schemas); i++)
        if (str_equal_any_case(schema, str_from(system_schemas[i])))
            return err_set(err, ERR_REJECT,
                           "%s is the server's own database; name one of yours",
                           system_schemas[i]);
    return true;
}

/* A path of the command line as the definition file must say it, which is in another folder. */
static bool take_path(const char *path, bool elsewhere, struct arena *a, struct str *out,
                      struct err *err)
{
    char *real = NULL;

    if (path == NULL)
        return true;
    if (elsewhere && path[0] != '/') {
        real = realpath(path, NULL);
        if (real == NULL)
            return err_set(err, ERR_REJECT, "%s: %s", path, strerror(errno));
        path = real;
    }
    *out = arena_copy(a, str_from(path));
    free(real);
    return true;
}

static bool read_urls(const struct invocation *inv, struct arena *a, struct init_config *out,
                      struct err *err)
{
    const char **urls = arena_alloc(a, inv->n_given + 1, sizeof(*urls));

    out->urls = usual_urls;
    out->n_urls = 1;
    for (size_t i = 0, n = 0; i < inv->n_given; i++) {
        const char *url = inv->given[i].value;

        if (strcmp(inv->given[i].option->name, "search") != 0)
            continue;
        if (strncasecmp(url, "http://", 7) != 0 && strncasecmp(url, "https://", 8) != 0)
            return err_set(err, ERR_REJECT, "--search takes http://HOST:9200 or https://…");
        if (strchr(url, '@') != NULL)
            return err_set(err, ERR_REJECT,
                           "--search takes no user and password; write search.user and "
                           "search.password_file into millrace.yaml");
        urls[n++] = url;
        out->urls = urls;
        out->n_urls = n;
    }
    return true;
}

static bool read_password(const struct invocation *inv, const struct database_url *url,
                          struct arena *a, struct init_config *out, struct err *err)
{
    const char *file = invocation_value(inv, "password-file"), *set = getenv("MYSQL_PWD");
    struct server_definition *s = &out->topic.server;

    if (file != NULL && url->has_password)
        return err_set(err, ERR_REJECT,
                       "the address has a password, and --password-file is "
                       "given: one of them is enough");
    if (file != NULL)
        return take_path(file, invocation_has(inv, "directory"), a, &s->password_file, err);
    out->is_password_seen = url->password.len > 0;
    out->password = url->has_password ? url->password
                    : set != NULL     ? arena_copy(a, str_from(set))
                                      : (struct str){0};
    s->password = out->password;
    return out->password.len == 0 || strchr(out->password.ptr, '\n') == NULL ||
           err_set(err, ERR_REJECT,
                   "MYSQL_PWD has a line end, which no password file can hold");
}

static bool read_tls(const struct invocation *inv, struct arena *a, struct init_config *out,
                     struct err *err)
{
    struct tls_definition *tls = &out->topic.server.tls;

    tls->given = invocation_has(inv, "tls") || invocation_has(inv, "ca-file");
    tls->verify = true;
    return take_path(invocation_value(inv, "ca-file"), invocation_has(inv, "directory"), a,
                     &tls->ca_file, err);
}

/* The definition file must not be the configuration. */
static void name_files(struct init_config *c, struct arena *a)
{
    const char *more = str_equal(c->name, STR("millrace")) ? "_tables" : "";
    const struct str start =
        str_equal(c->folder, STR(".")) ? STR("") : text(a, "%s/", c->folder.ptr);

    c->configuration_path = text(a, "%smillrace.yaml", start.ptr);
    c->definition_path = text(a, "%s%s%s.yaml", start.ptr, c->name.ptr, more);
    if (c->password.len > 0)
        c->password_path = text(a, "%s%s.password", start.ptr, c->name.ptr);
    c->drafted = c->topic.server;
    c->drafted.password = (struct str){0};
    if (c->password.len > 0)
        c->drafted.password_file = text(a, "%s.password", c->name.ptr);
}

bool init_config_read(const struct invocation *inv, struct arena *a, struct init_config *out,
                      struct err *err)
{
    const char *folder = invocation_value(inv, "directory");
    struct database_url url;
    struct buf name = {0};

    *out = (struct init_config){.data = invocation_value(inv, "data")};
    if (!database_url_parse(inv->args[0], a, &url, err) || !refuse_system(url.database, err))
        return false;
    draft_append_database(&name, url.database);
    out->name = arena_copy(a, buf_str(&name));
    buf_free(&name);
    out->schema = url.database;
    out->folder = arena_copy(a, str_from(folder != NULL ? folder : "."));
    out->topic = (struct topic_definition){.name = out->name};
    out->topic.server.address = url.address;
    out->topic.server.user = url.user;
    if (!read_password(inv, &url, a, out, err) || !read_tls(inv, a, out, err) ||
        !read_urls(inv, a, out, err))
        return false;
    name_files(out, a);
    out->keeps_configuration = !invocation_has(inv, "data") && !invocation_has(inv, "search") &&
                               access(out->configuration_path.ptr, F_OK) == 0;
    return true;
}

void init_config_append_schema(struct buf *yaml, const char *schema)
{
    buf_printf(yaml, "# yaml-language-server: $schema=%s/%s.schema.json\n", doc_folder, schema);
}

void init_config_append_yaml(const struct init_config *c, struct buf *yaml)
{
    buf_append(yaml, STR("# Written by millrace init; docs/configuration.md has all settings.\n"
                         "data: "));
    yaml_append_name(yaml, str_from(c->data != NULL ? c->data : "data"));
    buf_append(yaml, STR("\nsearch: {url: ["));
    for (size_t i = 0; i < c->n_urls; i++) {
        buf_append(yaml, i > 0 ? STR(", ") : STR(""));
        yaml_append_name(yaml, str_from(c->urls[i]));
    }
    buf_append(yaml, STR("]}\n"));
}

#include "config.h"

#include "sync/server/server_access.h"

#include "src/base/buf.h"
#include "src/base/mem.h"
#include "src/file/seal.h"
#include "src/file/secret_file.h"
#include "sync/definition/definition.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct access_strings {
    struct server_access access;
    char *host, *socket, *name, *user, *password;
    char *ca_file, *cert_file, *key_file, *public_key_file;
};

static struct access_strings *strings_of(const struct server_access *a)
{
    return (struct access_strings *)(uintptr_t)a;
}

static char *copy(struct str s)
{
    return s.len == 0 ? NULL : strndup(s.ptr, s.len);
}

/* Returns path, or folder/path if path is relative. */
static char *resolve(const char *folder, struct str path)
{
    if (path.len == 0)
        return NULL;
    if (path.ptr[0] == '/' || folder == NULL || folder[0] == '\0')
        return copy(path);

    struct buf b = {0};

    buf_printf(&b, "%s/%" STR_FMT, folder, STR_ARG(path));
    return b.ptr;
}

static bool load_password(struct access_strings *s, const struct server_definition *d,
                          const char *folder, struct err *err)
{
    if (d->password_file.len > 0) {
        char *path = resolve(folder, d->password_file);
        const bool ok = secret_file_read(path, &s->password, err);

        free(path);
        return ok;
    }
    if (d->password_env.len > 0) {
        char *name = copy(d->password_env);
        const char *value = getenv(name);

        if (value != NULL)
            s->password = mem_copy(value);
        else
            err_set(err, ERR_REJECT,
                    "environment variable %s, which should hold the password, is not set",
                    name);
        free(name);
        return s->password != NULL;
    }
    s->password = copy(d->password);
    return !seal_is_text(d->password) ||
           err_set(
               err, ERR_REJECT,
               "the stored password was sealed with another key, or somebody changed its "
               "address in the store; fix: restore the key file (secret_file), or apply the "
               "definition with its password again");
}

/* "host", "host:port", "[v6]:port" or "/path/of/socket". */
static bool set_address(struct access_strings *s, struct str address, struct err *err)
{
    struct mysql_options *o = &s->access.options;

    o->port = 3306;
    s->name = copy(address);
    if (address.len > 0 && address.ptr[0] == '/') {
        s->socket = copy(address);
        return true;
    }

    const char *colon = memrchr(address.ptr, ':', address.len);
    const char *bracket = memrchr(address.ptr, ']', address.len);
    struct str host = address;

    if (colon != NULL && (bracket == NULL || colon > bracket)) {
        const long port = strtol(colon + 1, NULL, 10);

        if (port < 1 || port > 65535)
            return err_set(err, ERR_REJECT,
                           "address %" STR_FMT ": the port is a number from 1 to 65535",
                           STR_ARG(address));
        o->port = (uint16_t)port;
        host.len = (size_t)(colon - address.ptr);
    }
    if (host.len >= 2 && host.ptr[0] == '[' && host.ptr[host.len - 1] == ']')
        host = (struct str){host.ptr + 1, host.len - 2};
    s->host = copy(host);
    return s->host != NULL || err_set(err, ERR_REJECT, "a server needs an address");
}

static struct str either(struct str own, struct str inherited)
{
    return own.len > 0 ? own : inherited;
}

static bool has_password(const struct server_definition *d)
{
    return d->password.len > 0 || d->password_file.len > 0 || d->password_env.len > 0;
}

static void set_tls(struct access_strings *s, const struct tls_definition *tls,
                    const char *folder)
{
    struct mysql_tls *out = &s->access.options.tls;

    s->ca_file = resolve(folder, tls->ca_file);
    s->cert_file = resolve(folder, tls->cert_file);
    s->key_file = resolve(folder, tls->key_file);
    *out = (struct mysql_tls){.enabled = tls->given,
                              .verify = tls->verify,
                              .ca_file = s->ca_file,
                              .cert_file = s->cert_file,
                              .key_file = s->key_file};
}

bool server_access_new(struct server_access **out, const struct topic_definition *topic,
                       const struct database_definition *database, const char *folder,
                       struct err *err)
{
    const bool own = database != NULL && database->own_server;
    const struct server_definition *from_topic = &topic->server;
    const struct server_definition *d = own ? &database->server : from_topic;
    struct access_strings *s = mem_alloc(1, sizeof(*s));
    const struct str user = either(d->user, from_topic->user);

    s->access.refs = 1;
    s->access.replica =
        own && d->address.len > 0 && !str_equal(d->address, from_topic->address);
    s->user = copy(user);
    if (!set_address(s, either(d->address, from_topic->address), err) ||
        !load_password(s, has_password(d) ? d : from_topic, folder, err)) {
        server_access_unref(&s->access);
        return false;
    }
    set_tls(s, d->tls.given ? &d->tls : &from_topic->tls, folder);
    s->public_key_file =
        resolve(folder, either(d->server_public_key_file, from_topic->server_public_key_file));
    s->access.options.public_key_file = s->public_key_file;
    s->access.options.host = s->host;
    s->access.options.socket = s->socket;
    s->access.options.user = s->user;
    s->access.options.password = s->password;
    *out = &s->access;
    return true;
}

struct server_access *server_access_ref(struct server_access *a)
{
    __atomic_add_fetch(&a->refs, 1, __ATOMIC_RELAXED);
    return a;
}

void server_access_unref(struct server_access *a)
{
    if (a == NULL || __atomic_sub_fetch(&a->refs, 1, __ATOMIC_ACQ_REL) > 0)
        return;

    struct access_strings *s = strings_of(a);

    if (s->password != NULL)
        explicit_bzero(s->password, strlen(s->password));
    free(s->host);
    free(s->socket);
    free(s->name);
    free(s->user);
    free(s->password);
    free(s->ca_file);
    free(s->cert_file);
    free(s->key_file);
    free(s->public_key_file);
    free(s);
}

static bool same(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

bool server_access_equal(const struct server_access *a, const struct server_access *b)
{
    const struct mysql_options *o = &a->options, *p = &b->options;

    return a == b ||
           (a->replica == b->replica && o->port == p->port && same(o->host, p->host) &&
            same(o->socket, p->socket) && same(o->user, p->user) &&
            same(o->password, p->password) && o->tls.enabled == p->tls.enabled &&
            o->tls.verify == p->tls.verify && same(o->tls.ca_file, p->tls.ca_file) &&
            same(o->tls.cert_file, p->tls.cert_file) &&
            same(o->tls.key_file, p->tls.key_file) &&
            same(o->public_key_file, p->public_key_file));
}

const char *server_access_name(const struct server_access *a)
{
    return strings_of(a)->name;
}

#include "config.h"

#include "src/net/aws_credentials.h"

#include "src/base/buf.h"
#include "src/base/lock.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/file/whole_file.h"
#include "src/net/sigv4.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What identifies a version of the file. */
struct file_state {
    struct timespec at;
    off_t size;
    ino_t number;
};

struct aws_credentials {
    char *path;
    struct sigv4_key *of; /* we use its region and service */

    struct lock lock;

    /* All guarded by lock. */
    struct file_state seen;
    struct sigv4_key *key; /* NULL until one is read */
};

static char *trim(char *text)
{
    char *end;

    text += strspn(text, " \t");
    end = text + strlen(text);
    while (end > text && strchr(" \t\r", end[-1]) != NULL)
        *--end = '\0';
    return text;
}

static void take(struct sigv4_key *key, const char *name, const char *value)
{
    const struct {
        const char *name, **to;
    } fields[] = {{"aws_access_key_id", &key->id},
                  {"aws_secret_access_key", &key->secret},
                  {"aws_session_token", &key->token}};

    for (size_t i = 0; i < ARRAY_LEN(fields); i++)
        if (strcmp(name, fields[i].name) == 0 && value[0] != '\0')
            *fields[i].to = value;
}

/* Parses and modifies text; key points into it. */
static void parse(char *text, struct sigv4_key *key)
{
    bool counts = true;

    for (char *next = text; next != NULL;) {
        char *line = next, *equals;

        next = strchr(line, '\n');
        if (next != NULL)
            *next++ = '\0';
        line = trim(line);
        if (line[0] == '[')
            counts = strcmp(line, "[default]") == 0;
        equals = strchr(line, '=');
        if (!counts || equals == NULL || line[0] == '#' || line[0] == ';')
            continue;
        *equals = '\0';
        take(key, trim(line), trim(equals + 1));
    }
}

/* Copies the file's key, with the region and service of `of`. */
static bool read_key(const char *path, const struct sigv4_key *of, struct sigv4_key **out,
                     struct err *err)
{
    struct sigv4_key key = {.region = of->region, .service = of->service};
    struct buf text = {0};
    bool ok = whole_file_read(path, &text, NULL) ||
              err_set_code(err, ERR_REJECT, "errno", errno, "credentials file %s: %s", path,
                           strerror(errno));

    if (ok && text.len > 0)
        parse(text.ptr, &key);
    if (ok && (key.id == NULL || key.secret == NULL))
        ok = err_set(err, ERR_REJECT,
                     "credentials file %s has no %s in [default]; fix: write "
                     "aws_access_key_id and aws_secret_access_key there, and "
                     "aws_session_token for a session key",
                     path, key.id == NULL ? "aws_access_key_id" : "aws_secret_access_key");
    if (ok)
        *out = sigv4_copy_key(&key);
    buf_free(&text);
    return ok;
}

bool aws_credentials_check(const char *path, struct err *err)
{
    const struct sigv4_key of = {.region = "", .service = ""};
    struct sigv4_key *key = NULL;
    const bool ok = read_key(path, &of, &key, err);

    free(key);
    return ok;
}

struct aws_credentials *aws_credentials_new(const char *path, const struct sigv4_key *of)
{
    struct aws_credentials *k = mem_alloc(1, sizeof(*k));

    k->path = mem_copy(path);
    k->of = sigv4_copy_key(&(struct sigv4_key){
        .region = of->region, .service = of->service, .id = "", .secret = ""});
    lock_init(&k->lock, LOCK_private);
    return k;
}

void aws_credentials_free(struct aws_credentials *k)
{
    if (k == NULL)
        return;
    lock_fini(&k->lock);
    free(k->key);
    free(k->of);
    free(k->path);
    free(k);
}

static bool has_changed(const struct file_state *a, const struct file_state *b)
{
    return a->at.tv_sec != b->at.tv_sec || a->at.tv_nsec != b->at.tv_nsec ||
           a->size != b->size || a->number != b->number;
}

static void read_again(struct aws_credentials *k) NEEDS(k->lock)
{
    struct sigv4_key *key = NULL;
    struct err err = {0};

    if (!read_key(k->path, k->of, &key, &err)) {
        log_failure(LOG_WARN, &err, "the key for the search engine was not renewed");
        return;
    }
    if (k->key != NULL)
        log_info("the key for the search engine was renewed",
                 KV("file", (const char *)k->path));
    free(k->key);
    k->key = key;
}

struct sigv4_key *aws_credentials_get(struct aws_credentials *k)
{
    struct sigv4_key *copy;
    struct file_state now = {0};
    struct stat st;

    if (stat(k->path, &st) == 0)
        now = (struct file_state){st.st_mtim, st.st_size, st.st_ino};
    lock_acquire(&k->lock);
    if (has_changed(&now, &k->seen)) {
        k->seen = now;
        read_again(k);
    }
    copy = sigv4_copy_key(k->key);
    lock_release(&k->lock);
    return copy;
}

#include "config.h"

#include "src/address_set.h"

#include "src/base/backoff.h"
#include "src/base/buf.h"
#include "src/base/mem.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define ASIDE_BASE_MS 1000
#define ASIDE_MAX_MS  30000

struct address {
    char *url;
    char *name;
    struct backoff backoff;
    bool aside;
    bool on_trial;  /* a request is finding out whether it works again */
    int64_t due_ms; /* when it may be tried, while aside */
};

struct address_set {
    struct address *items;
    size_t n;
    size_t next;
    struct random random;
};

/* The URL as it is used: with a scheme, without a slash at the end. */
static char *tidy(const char *url)
{
    struct buf b = {0};

    if (strstr(url, "://") == NULL)
        buf_append(&b, STR("http://"));
    buf_append(&b, str_from(url));
    while (b.len > 0 && b.ptr[b.len - 1] == '/')
        b.len--;

    char *tidied = mem_alloc(b.len + 1, 1);

    memcpy(tidied, b.ptr, b.len);
    buf_free(&b);
    return tidied;
}

/* Cut "user:password@" out of a tidy URL. */
static char *without_user(const char *url)
{
    char *name = mem_copy(url);
    char *host = strstr(name, "://");

    if (host == NULL)
        return name;
    host += strlen("://");

    size_t authority = strcspn(host, "/?#");

    for (size_t i = authority; i > 0; i--) {
        if (host[i - 1] == '@') {
            memmove(host, host + i, strlen(host + i) + 1);
            break;
        }
    }
    return name;
}

struct address_set *address_set_new(const char *const *urls, size_t n)
{
    struct address_set *s = mem_alloc(1, sizeof(*s));

    assert(n > 0);
    s->items = mem_alloc(n, sizeof(*s->items));
    s->n = n;
    random_init_system(&s->random);
    for (size_t i = 0; i < n; i++) {
        s->items[i].url = tidy(urls[i]);
        s->items[i].name = without_user(s->items[i].url);
        s->items[i].backoff =
            (struct backoff){.base_ms = ASIDE_BASE_MS, .max_ms = ASIDE_MAX_MS};
    }
    return s;
}

void address_set_free(struct address_set *s)
{
    if (s == NULL)
        return;
    for (size_t i = 0; i < s->n; i++) {
        free(s->items[i].url);
        free(s->items[i].name);
    }
    free(s->items);
    free(s);
}

/* Of two that are aside: is a the better guess? */
static bool is_better(const struct address *a, const struct address *b)
{
    if (a->on_trial != b->on_trial)
        return b->on_trial;
    return a->due_ms < b->due_ms;
}

static size_t choose(const struct address_set *s, int64_t now_ms)
{
    size_t best = s->next;

    for (size_t k = 0; k < s->n; k++) {
        size_t i = (s->next + k) % s->n;
        const struct address *a = &s->items[i];

        if (!a->aside || a->due_ms <= now_ms)
            return i;
        if (is_better(a, &s->items[best]))
            best = i;
    }
    return best;
}

size_t address_set_pick(struct address_set *s, int64_t now_ms)
{
    size_t i = choose(s, now_ms);
    struct address *a = &s->items[i];

    s->next = (i + 1) % s->n;
    if (a->aside) {
        /* Nobody else tries it until this request has ended, or was forgotten. */
        a->on_trial = true;
        a->due_ms = now_ms + ASIDE_MAX_MS;
    }
    return i;
}

void address_set_worked(struct address_set *s, size_t i)
{
    struct address *a = &s->items[i];

    a->aside = false;
    a->on_trial = false;
    backoff_reset(&a->backoff);
}

void address_set_failed(struct address_set *s, size_t i, int64_t now_ms)
{
    struct address *a = &s->items[i];

    /* Of many requests that break off together, one counts. */
    if (a->aside && !a->on_trial)
        return;
    a->aside = true;
    a->on_trial = false;
    a->due_ms = now_ms + backoff_next_ms(&a->backoff, &s->random);
}

size_t address_set_count(const struct address_set *s)
{
    return s->n;
}

size_t address_set_healthy(const struct address_set *s)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n; i++)
        n += !s->items[i].aside;
    return n;
}

const char *address_set_url(const struct address_set *s, size_t i)
{
    return s->items[i].url;
}

const char *address_set_name(const struct address_set *s, size_t i)
{
    return s->items[i].name;
}

#include "config.h"

#include "src/address_set.h"

#include "src/base/backoff.h"
#include "src/base/buf.h"
#include "src/base/mem.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define ASIDE_BASE_MS 1000
#define ASIDE_MAX_MS  30000

struct address {
    char *url;
    char *name;
    struct backoff backoff;
    bool is_seed;
    bool takes_turns;
    bool aside;
    bool on_trial;  /* a request is finding out whether it works again */
    int64_t due_ms; /* when it may be tried, while aside */
};

struct address_set {
    pthread_mutex_t lock;
    /* All guarded by lock.  An address is never freed before the set, as requests and messages
     * have it; one that comes back is the same again. */
    struct address **items;
    size_t n;
    size_t next;
    uint64_t n_failures;
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

static struct address *add(struct address_set *s, const char *url)
{
    struct address *a = mem_alloc(1, sizeof(*a));

    a->url = tidy(url);
    a->name = without_user(a->url);
    a->backoff = (struct backoff){.base_ms = ASIDE_BASE_MS, .max_ms = ASIDE_MAX_MS};
    s->items = mem_resize(s->items, s->n + 1, sizeof(struct address *));
    s->items[s->n++] = a;
    return a;
}

struct address_set *address_set_new(const char *const *urls, size_t n)
{
    struct address_set *s = mem_alloc(1, sizeof(*s));

    assert(n > 0);
    pthread_mutex_init(&s->lock, NULL);
    random_init_system(&s->random);
    for (size_t i = 0; i < n; i++) {
        struct address *a = add(s, urls[i]);

        a->is_seed = true;
        a->takes_turns = true;
    }
    return s;
}

void address_set_free(struct address_set *s)
{
    if (s == NULL)
        return;
    for (size_t i = 0; i < s->n; i++) {
        free(s->items[i]->url);
        free(s->items[i]->name);
        free(s->items[i]);
    }
    free(s->items);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

static bool is_used(const struct address *a)
{
    return a->takes_turns || a->is_seed;
}

/* Of two that are aside: is a the better guess? */
static bool is_better(const struct address *a, const struct address *b)
{
    if (a->on_trial != b->on_trial)
        return b->on_trial;
    return a->due_ms < b->due_ms;
}

/* The next one that may be used now, of those that take turns or of the others; n: none. */
static size_t choose_of(const struct address_set *s, bool takes_turns, int64_t now_ms)
{
    for (size_t k = 0; k < s->n; k++) {
        const size_t i = (s->next + k) % s->n;
        const struct address *a = s->items[i];

        if (is_used(a) && a->takes_turns == takes_turns && (!a->aside || a->due_ms <= now_ms))
            return i;
    }
    return s->n;
}

/* All are aside: the best guess. */
static size_t choose_aside(const struct address_set *s)
{
    size_t best = s->n;

    for (size_t k = 0; k < s->n; k++) {
        const size_t i = (s->next + k) % s->n;

        if (is_used(s->items[i]) &&
            (best == s->n || is_better(s->items[i], s->items[best])))
            best = i;
    }
    return best;
}

static size_t choose(const struct address_set *s, int64_t now_ms)
{
    size_t i = choose_of(s, true, now_ms);

    if (i == s->n)
        i = choose_of(s, false, now_ms);
    return i < s->n ? i : choose_aside(s);
}

size_t address_set_pick(struct address_set *s, int64_t now_ms)
{
    pthread_mutex_lock(&s->lock);

    const size_t i = choose(s, now_ms);
    struct address *a = s->items[i];

    s->next = (i + 1) % s->n;
    if (a->aside) {
        /* Nobody else tries it until this request has ended, or was forgotten. */
        a->on_trial = true;
        a->due_ms = now_ms + ASIDE_MAX_MS;
    }
    pthread_mutex_unlock(&s->lock);
    return i;
}

void address_set_worked(struct address_set *s, size_t i)
{
    pthread_mutex_lock(&s->lock);

    struct address *a = s->items[i];

    a->aside = false;
    a->on_trial = false;
    backoff_reset(&a->backoff);
    pthread_mutex_unlock(&s->lock);
}

void address_set_failed(struct address_set *s, size_t i, int64_t now_ms)
{
    pthread_mutex_lock(&s->lock);

    struct address *a = s->items[i];

    /* Of many requests that break off together, one counts. */
    if (!a->aside || a->on_trial) {
        s->n_failures += !a->aside;
        a->aside = true;
        a->on_trial = false;
        a->due_ms = now_ms + backoff_next_ms(&a->backoff, &s->random);
    }
    pthread_mutex_unlock(&s->lock);
}

static struct address *find(const struct address_set *s, const char *url)
{
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->items[i]->url, url) == 0)
            return s->items[i];
    return NULL;
}

/* One that was not in use is only heard of: a first request shows whether it can be reached. */
static struct address *find_or_add(struct address_set *s, const char *url, int64_t now_ms)
{
    char *tidied = tidy(url);
    struct address *a = find(s, tidied);

    if (a == NULL)
        a = add(s, tidied);
    if (!is_used(a)) {
        a->aside = true;
        a->on_trial = false;
        a->due_ms = now_ms;
        backoff_reset(&a->backoff);
    }
    free(tidied);
    return a;
}

bool address_set_found(struct address_set *s, const char *const *urls, size_t n, int64_t now_ms)
{
    pthread_mutex_lock(&s->lock);

    struct address **found = mem_alloc(n > 0 ? n : 1, sizeof(struct address *));
    bool changed = false;

    for (size_t i = 0; i < n; i++)
        found[i] = find_or_add(s, urls[i], now_ms);
    for (size_t k = 0; k < s->n; k++) {
        struct address *a = s->items[k];
        bool takes_turns = n == 0 && a->is_seed;

        for (size_t i = 0; i < n; i++)
            takes_turns |= found[i] == a;
        changed |= takes_turns != a->takes_turns;
        a->takes_turns = takes_turns;
    }
    free(found);
    pthread_mutex_unlock(&s->lock);
    return changed;
}

size_t address_set_count(struct address_set *s)
{
    size_t n = 0;

    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < s->n; i++)
        n += is_used(s->items[i]);
    pthread_mutex_unlock(&s->lock);
    return n;
}

size_t address_set_healthy(struct address_set *s)
{
    size_t n = 0;

    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < s->n; i++)
        n += is_used(s->items[i]) && !s->items[i]->aside;
    pthread_mutex_unlock(&s->lock);
    return n;
}

uint64_t address_set_failures(struct address_set *s)
{
    pthread_mutex_lock(&s->lock);

    const uint64_t n = s->n_failures;

    pthread_mutex_unlock(&s->lock);
    return n;
}

static const struct address *item(struct address_set *s, size_t i)
{
    pthread_mutex_lock(&s->lock);

    const struct address *a = s->items[i];

    pthread_mutex_unlock(&s->lock);
    return a;
}

const char *address_set_url(struct address_set *s, size_t i)
{
    return item(s, i)->url;
}

const char *address_set_name(struct address_set *s, size_t i)
{
    return item(s, i)->name;
}

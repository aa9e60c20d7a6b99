#include "config.h"

#include "src/net/address_set.h"

#include "src/base/buf.h"
#include "src/base/lock.h"
#include "src/base/mem.h"
#include "src/net/address.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct address_member {
    char *url;
    char *name;
    struct address address;
    bool is_seed;
    bool is_found;
    bool takes_turns;
    char why[ADDRESS_WHY_MAX];
};

struct address_set {
    struct lock lock;
    /* All guarded by lock. A member is freed only with the set, because requests and messages
     * point to it. An address that comes back gets its old member. */
    struct address_member **items;
    size_t n;
    size_t next;
    uint64_t n_failures;
    struct random random;
};

/* Returns the URL with a scheme and without a trailing slash. */
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

/* Cuts "user:password@" out of a tidy URL. */
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

static struct address_member *add(struct address_set *s, const char *url)
{
    struct address_member *m = mem_alloc(1, sizeof(*m));

    m->url = tidy(url);
    m->name = without_user(m->url);
    s->items = mem_resize(s->items, s->n + 1, sizeof(struct address_member *));
    s->items[s->n++] = m;
    return m;
}

struct address_set *address_set_new(const char *const *urls, size_t n)
{
    struct address_set *s = mem_alloc(1, sizeof(*s));

    assert(n > 0);
    lock_init(&s->lock, LOCK_private);
    random_init_system(&s->random);
    for (size_t i = 0; i < n; i++) {
        struct address_member *m = add(s, urls[i]);

        m->is_seed = true;
        m->takes_turns = true;
        address_init(&m->address, true, 0);
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
    lock_fini(&s->lock);
    free(s);
}

static bool is_used(const struct address_member *m)
{
    return m->takes_turns || m->is_seed;
}

static bool is_up(const struct address_member *m)
{
    return m->address.state == ADDRESS_UP;
}

/* Returns true if a is the better guess of two addresses that are away. */
static bool is_better(const struct address *a, const struct address *b)
{
    if (a->state != b->state)
        return b->state == ADDRESS_ASKED;
    return a->due_ms < b->due_ms;
}

/* Returns the next address that is up, among those that take turns or among the others; n if
 * none. */
static size_t choose_of(const struct address_set *s, bool takes_turns) NEEDS(s->lock)
{
    for (size_t k = 0; k < s->n; k++) {
        const size_t i = (s->next + k) % s->n;
        const struct address_member *m = s->items[i];

        if (is_used(m) && m->takes_turns == takes_turns && is_up(m))
            return i;
    }
    return s->n;
}

/* Returns the best guess among addresses that are away. */
static size_t choose_away(const struct address_set *s) NEEDS(s->lock)
{
    size_t best = s->n;

    for (size_t k = 0; k < s->n; k++) {
        const size_t i = (s->next + k) % s->n;

        if (is_used(s->items[i]) && !is_up(s->items[i]) &&
            (best == s->n || is_better(&s->items[i]->address, &s->items[best]->address)))
            best = i;
    }
    return best;
}

static size_t choose(const struct address_set *s) NEEDS(s->lock)
{
    size_t i = choose_of(s, true);

    if (i == s->n)
        i = choose_of(s, false);
    return i < s->n ? i : choose_away(s);
}

size_t address_set_pick(struct address_set *s, int64_t now_ms)
{
    lock_acquire(&s->lock);

    const size_t i = choose(s);

    s->next = (i + 1) % s->n;
    address_ask(&s->items[i]->address, now_ms);
    lock_release(&s->lock);
    return i;
}

static size_t count_used(const struct address_set *s) NEEDS(s->lock)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n; i++)
        n += is_used(s->items[i]);
    return n;
}

/* Returns n if none is due. */
static size_t choose_due(const struct address_set *s, int64_t now_ms) NEEDS(s->lock)
{
    size_t first = s->n;

    for (size_t i = 0; i < s->n; i++) {
        const struct address *a = &s->items[i]->address;

        if (is_used(s->items[i]) && address_is_due(a, now_ms) &&
            (first == s->n || a->due_ms < s->items[first]->address.due_ms))
            first = i;
    }
    return first;
}

bool address_set_ask(struct address_set *s, int64_t now_ms, size_t *i)
{
    lock_acquire(&s->lock);

    const size_t first = count_used(s) > 1 ? choose_due(s, now_ms) : s->n;
    const bool is_due = first < s->n;

    if (is_due) {
        address_ask(&s->items[first]->address, now_ms);
        *i = first;
    }
    lock_release(&s->lock);
    return is_due;
}

static void take_good(struct address_set *s, size_t i, int64_t now_ms,
                      void (*take)(struct address *, int64_t))
{
    lock_acquire(&s->lock);
    take(&s->items[i]->address, now_ms);
    s->items[i]->why[0] = '\0';
    lock_release(&s->lock);
}

void address_set_worked(struct address_set *s, size_t i, int64_t now_ms)
{
    take_good(s, i, now_ms, address_worked);
}

void address_set_answered(struct address_set *s, size_t i, int64_t now_ms)
{
    take_good(s, i, now_ms, address_answered);
}

void address_set_failed(struct address_set *s, size_t i, int64_t now_ms, const char *why)
{
    lock_acquire(&s->lock);

    struct address_member *m = s->items[i];

    s->n_failures += address_failed(&m->address, now_ms, &s->random);
    snprintf(m->why, sizeof(m->why), "%s", why);
    lock_release(&s->lock);
}

static struct address_member *find(const struct address_set *s, const char *url) NEEDS(s->lock)
{
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->items[i]->url, url) == 0)
            return s->items[i];
    return NULL;
}

/* Sniffing only heard of a new address: a first probe shows whether we can reach it. */
static struct address_member *find_or_add(struct address_set *s, const char *url,
                                          int64_t now_ms) NEEDS(s->lock)
{
    char *tidied = tidy(url);
    struct address_member *m = find(s, tidied);

    if (m == NULL)
        m = add(s, tidied);
    if (!is_used(m)) {
        address_init(&m->address, false, now_ms);
        m->why[0] = '\0';
    }
    free(tidied);
    return m;
}

bool address_set_found(struct address_set *s, const char *const *urls, size_t n, int64_t now_ms)
{
    lock_acquire(&s->lock);

    struct address_member **found = mem_alloc(n > 0 ? n : 1, sizeof(struct address_member *));
    bool changed = false;

    for (size_t i = 0; i < n; i++)
        found[i] = find_or_add(s, urls[i], now_ms);
    for (size_t k = 0; k < s->n; k++) {
        struct address_member *m = s->items[k];

        m->is_found = false;
        for (size_t i = 0; i < n; i++)
            m->is_found |= found[i] == m;

        const bool takes_turns = n == 0 ? m->is_seed : m->is_found;

        changed |= takes_turns != m->takes_turns;
        m->takes_turns = takes_turns;
    }
    free(found);
    lock_release(&s->lock);
    return changed;
}

size_t address_set_count(struct address_set *s)
{
    lock_acquire(&s->lock);

    const size_t n = count_used(s);

    lock_release(&s->lock);
    return n;
}

size_t address_set_healthy(struct address_set *s)
{
    size_t n = 0;

    lock_acquire(&s->lock);
    for (size_t i = 0; i < s->n; i++)
        n += is_used(s->items[i]) && is_up(s->items[i]);
    lock_release(&s->lock);
    return n;
}

bool address_set_has_other(struct address_set *s, const char *name)
{
    bool has = false;

    lock_acquire(&s->lock);
    for (size_t i = 0; i < s->n && !has; i++)
        has =
            is_used(s->items[i]) && is_up(s->items[i]) && strcmp(s->items[i]->name, name) != 0;
    lock_release(&s->lock);
    return has;
}

uint64_t address_set_failures(struct address_set *s)
{
    lock_acquire(&s->lock);

    const uint64_t n = s->n_failures;

    lock_release(&s->lock);
    return n;
}

static void look(const struct address_member *m, struct address_view *v)
{
    const struct address *a = &m->address;

    *v = (struct address_view){
        .name = m->name,
        .is_up = is_up(m),
        .is_known = a->is_known,
        .since_ms = a->since_ms,
        .due_ms = a->due_ms,
        .is_seed = m->is_seed,
        .is_found = m->is_found,
    };
    memcpy(v->why, m->why, sizeof(v->why));
}

bool address_set_next(struct address_set *s, size_t *i, struct address_view *v)
{
    lock_acquire(&s->lock);
    while (*i < s->n && !is_used(s->items[*i]))
        ++*i;

    const bool is_there = *i < s->n;

    if (is_there)
        look(s->items[(*i)++], v);
    lock_release(&s->lock);
    return is_there;
}

static const struct address_member *item(struct address_set *s, size_t i)
{
    lock_acquire(&s->lock);

    const struct address_member *m = s->items[i];

    lock_release(&s->lock);
    return m;
}

const char *address_set_url(struct address_set *s, size_t i)
{
    return item(s, i)->url;
}

const char *address_set_name(struct address_set *s, size_t i)
{
    return item(s, i)->name;
}

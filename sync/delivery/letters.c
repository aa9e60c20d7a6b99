#include "config.h"

#include "sync/delivery/letters.h"

#include "src/base/backoff.h"
#include "src/base/buf.h"
#include "src/base/list.h"
#include "src/base/log.h"
#include "src/base/map.h"
#include "src/base/mem.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STORE_BASE_MS 100
#define STORE_MAX_MS  10000
#define STORE_MAX     100 /* letters per call */

struct letter {
    struct link link;
    struct document *doc;
    int status;
    bool again; /* replaces a stored letter, so needs no room */
    struct buf reason;
};

/* A dead letter in the store. */
struct known {
    uint64_t version;      /* of the refused write */
    struct link link;      /* in to_clear: its document was written, so remove it */
    struct target *target; /* set when in to_clear; a reference */
    uint64_t written;      /* set when in to_clear: the version written */
    size_t routing_len, id_len;
    char routing_and_id[];
};

struct letters {
    const struct delivery_options *opt;
    struct random random;

    struct link waiting; /* those that need no room come first */
    size_t n_stored;     /* this many at the front are durable */
    struct backoff store;
    int64_t store_ms; /* no attempt before */
    struct err full;

    struct map *known; /* by index, routing and id */
    struct link to_clear;
    struct backoff clear;
    int64_t clear_ms;

    struct buf key; /* scratch */
};

struct letters *letters_new(const struct delivery_options *opt, uint64_t seed)
{
    struct letters *l = mem_alloc(1, sizeof(*l));

    l->opt = opt;
    random_init(&l->random, seed);
    list_init(&l->waiting);
    list_init(&l->to_clear);
    l->known = map_new();
    l->store = l->clear = (struct backoff){.base_ms = STORE_BASE_MS, .max_ms = STORE_MAX_MS};
    return l;
}

static void free_letter(struct letter *letter)
{
    buf_free(&letter->reason);
    free(letter);
}

static void free_known(void *known)
{
    target_unref(((struct known *)known)->target);
    free(known);
}

void letters_free(struct letters *l)
{
    if (l == NULL)
        return;
    LIST_EACH(at, &l->waiting)
    free_letter(LIST_ITEM(at, struct letter, link));
    map_free(l->known, free_known);
    buf_free(&l->key);
    free(l);
}

/* The lengths stand first, so that no two names give the same key. */
static struct str key_of(struct letters *l, struct str index, struct str routing, struct str id)
{
    buf_clear(&l->key);
    buf_printf(&l->key, "%zu,%zu,", index.len, routing.len);
    buf_append(&l->key, index);
    buf_append(&l->key, routing);
    buf_append(&l->key, id);
    return buf_str(&l->key);
}

/*
 * If the refused write is newer than the written one, its letter has replaced the one to be
 * removed: keep it.
 */
static void keep(struct known *known, uint64_t version)
{
    if (version > known->version)
        known->version = version;
    if (!link_is_listed(&known->link) || known->written >= version)
        return;
    list_remove(&known->link);
    target_unref(known->target);
    known->target = NULL;
}

const struct document *letters_first(struct letters *l)
{
    struct link *first = list_first(&l->waiting);

    return first == NULL ? NULL : LIST_ITEM(first, struct letter, link)->doc;
}

const struct err *letters_are_full(const struct letters *l)
{
    return l->full.kind == ERR_NONE ? NULL : &l->full;
}

void letters_note(struct letters *l, struct str index, struct str routing, struct str id,
                  uint64_t version)
{
    const struct str key = key_of(l, index, routing, id);
    struct known *known = map_find(l->known, key);

    if (known != NULL) {
        keep(known, version);
        return;
    }
    known = mem_alloc(1, sizeof(*known) + routing.len + id.len);
    known->version = version;
    known->routing_len = routing.len;
    known->id_len = id.len;
    memcpy(known->routing_and_id, routing.ptr, routing.len);
    memcpy(known->routing_and_id + routing.len, id.ptr, id.len);
    map_put(l->known, key, known);
}

static struct known *find_known(struct letters *l, const struct write *w)
{
    if (map_count(l->known) == 0)
        return NULL;
    return map_find(l->known,
                    key_of(l, str_from(w->target->index), write_routing(w), write_id(w)));
}

bool letters_know(struct letters *l, const struct write *w)
{
    return find_known(l, w) != NULL;
}

void letters_refuse(struct letters *l, struct document *doc, int status, struct str reason)
{
    struct letter *letter = mem_alloc(1, sizeof(*letter));

    assert(doc->state == DOCUMENT_REFUSED);
    letter->doc = doc;
    letter->status = status;
    letter->again = letters_know(l, doc->now);
    buf_append(&letter->reason, reason);
    if (!letter->again || l->n_stored > 0) {
        list_push_back(&l->waiting, &letter->link);
        return;
    }
    list_push_front(&l->waiting, &letter->link);
    if (letters_are_full(l) != NULL)
        l->store_ms = 0; /* it need not wait for room, as the others do */
}

static struct dead_letter_note note_of(const struct letter *letter)
{
    const struct write *w = letter->doc->now;

    return (struct dead_letter_note){
        .target = w->target,
        .id = write_id(w),
        .routing = write_routing(w),
        .key = write_key(w),
        .body = write_body(w),
        .version = w->version,
        .op = (enum doc_op)w->op,
        .status = letter->status,
        .reason = buf_str(&letter->reason),
        .attempts = letter->doc->attempts + 1u,
        .again = letter->again,
    };
}

/*
 * Store the first of those that wait, all of one kind, in one call: each call syncs the disk.
 */
static bool store(struct letters *l, bool again, struct err *err)
{
    struct dead_letter_note notes[STORE_MAX];
    size_t n = 0;

    LIST_EACH(at, &l->waiting)
    {
        const struct letter *letter = LIST_ITEM(at, struct letter, link);

        /* Letters that need no room must not wait with those that do. */
        if (n == STORE_MAX || letter->again != again)
            break;
        notes[n++] = note_of(letter);
    }
    if (l->opt->dead != NULL && !l->opt->dead(l->opt->ctx, notes, n, err))
        return false;
    l->n_stored = n;
    return true;
}

struct document *letters_next(struct letters *l, int64_t now_ms)
{
    struct link *first = list_first(&l->waiting);
    struct err err = {0};

    if (first == NULL || (l->n_stored == 0 && now_ms < l->store_ms))
        return NULL;

    struct letter *letter = LIST_ITEM(first, struct letter, link);
    struct document *doc = letter->doc;

    if (l->n_stored == 0 && !store(l, letter->again, &err)) {
        l->store_ms = now_ms + backoff_next_ms(&l->store, &l->random);
        if (!letter->again)
            l->full = err.kind == ERR_REJECT ? err : (struct err){0};
        log_failure(LOG_WARN, &err, "could not store dead letters, trying again",
                    KV("index", doc->now->target->index), KV("id", write_id(doc->now)));
        return NULL;
    }
    backoff_reset(&l->store);
    if (!letter->again)
        l->full = (struct err){0};
    l->n_stored--;
    letters_note(l, str_from(doc->now->target->index), write_routing(doc->now),
                 write_id(doc->now), doc->now->version);
    list_remove(&letter->link);
    free_letter(letter);
    return doc;
}

static struct str routing_of(const struct known *k)
{
    return (struct str){k->routing_and_id, k->routing_len};
}

static struct str id_of(const struct known *k)
{
    return (struct str){k->routing_and_id + k->routing_len, k->id_len};
}

/* Returns true if the letter is no longer in the store. */
static bool clear(struct letters *l, const struct known *k)
{
    struct err err = {0};

    if (l->opt->cleared == NULL ||
        l->opt->cleared(l->opt->ctx, k->target, routing_of(k), id_of(k), k->written, &err))
        return true;
    log_failure(LOG_WARN, &err, "could not take back a dead letter, trying again",
                KV("index", k->target->index), KV("id", id_of(k)));
    return false;
}

void letters_written(struct letters *l, const struct write *w, int64_t now_ms)
{
    struct known *known = find_known(l, w);

    if (known == NULL || w->version < known->version)
        return;
    known->written = w->version;
    if (link_is_listed(&known->link))
        return;
    known->target = target_ref(w->target);
    list_push_back(&l->to_clear, &known->link);
    letters_turn(l, now_ms);
}

void letters_turn(struct letters *l, int64_t now_ms)
{
    if (now_ms < l->clear_ms)
        return;
    LIST_EACH(at, &l->to_clear)
    {
        const struct known *k = LIST_ITEM(at, struct known, link);

        if (!clear(l, k)) {
            l->clear_ms = now_ms + backoff_next_ms(&l->clear, &l->random);
            return;
        }
        list_remove(at);
        free_known(map_remove(l->known,
                              key_of(l, str_from(k->target->index), routing_of(k), id_of(k))));
        backoff_reset(&l->clear);
    }
}

static void forget(struct letters *l, struct str key)
{
    struct known *known = map_remove(l->known, key);

    if (known != NULL && link_is_listed(&known->link))
        list_remove(&known->link);
    if (known != NULL)
        free_known(known);
}

void letters_discard(struct letters *l, struct str index, struct str routing, struct str id,
                     uint64_t version)
{
    const struct str key = key_of(l, index, routing, id);
    const struct known *known = map_find(l->known, key);

    if (known != NULL && known->version <= version)
        forget(l, key);
}

/* Parses a key of key_of(). */
static bool is_of_index(struct str key, struct str index)
{
    char head[32];
    const int len = snprintf(head, sizeof(head), "%zu,", index.len);
    const char *comma;

    if (key.len < (size_t)len || memcmp(key.ptr, head, (size_t)len) != 0)
        return false;
    comma = memchr(key.ptr + len, ',', key.len - (size_t)len);
    return comma != NULL && memcmp(comma + 1, index.ptr, index.len) == 0;
}

void letters_drop(struct letters *l, struct str index)
{
    struct str key;
    void *known;

    for (size_t i = 0; map_next(l->known, &i, &key, &known);)
        if (is_of_index(key, index) && !link_is_listed(&((struct known *)known)->link))
            forget(l, key);
}

struct document *letters_take(struct letters *l, struct str index)
{
    assert(l->n_stored == 0);
    LIST_EACH(at, &l->waiting)
    {
        struct letter *letter = LIST_ITEM(at, struct letter, link);
        struct document *doc = letter->doc;

        if (!str_equal(str_from(doc->now->target->index), index))
            continue;
        list_remove(at);
        free_letter(letter);
        if (list_is_empty(&l->waiting)) /* nobody waits for room any more */
            l->full = (struct err){0};
        return doc;
    }
    return NULL;
}

size_t letters_kept_back(const struct letters *l,
                         bool (*counts)(const void *ctx, const struct document *doc),
                         const void *ctx)
{
    size_t n = 0;

    if (letters_are_full(l) == NULL)
        return 0;
    LIST_EACH(at, &l->waiting)
    n += counts == NULL || counts(ctx, LIST_ITEM(at, struct letter, link)->doc);
    return n;
}

int64_t letters_wait_ms(const struct letters *l, int64_t now_ms, int64_t max_ms)
{
    int64_t at = INT64_MAX;

    if (!list_is_empty(&l->waiting))
        at = l->store_ms;
    if (!list_is_empty(&l->to_clear) && l->clear_ms < at)
        at = l->clear_ms;
    if (at <= now_ms)
        return 0;
    return at - now_ms < max_ms ? at - now_ms : max_ms;
}

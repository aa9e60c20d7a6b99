#include "config.h"

#include "rebalance/trees/trees.h"

#include "rebalance/trees/pair.h"
#include "rebalance/trees/trees_exchange.h"
#include "src/base/buf.h"
#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/base/hash.h"
#include "src/base/lock.h"
#include "src/base/log.h"
#include "src/base/map.h"
#include "src/base/mem.h"
#include "src/base/thread.h"
#include "src/file/data_folder.h"
#include "src/format/json_hash.h"
#include "sync/document/key_set.h"

#include <dirent.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define QUEUE_BYTES (1 << 20)
#define GATHER_MS   100 /* so long what is noted may wait for more of its bucket */

/* An entry in the queue, in front of its id. The pair is held. */
struct tree_record {
    struct pair *pair;
    uint64_t hash;
    uint32_t id_len;
    uint8_t side;
    bool is_gone;
};

/* What the thread took of the queue, in the order of trees. */
struct taken_record {
    struct tree_record record;
    struct tree_entry entry;
};

struct trees {
    char *folder;
    struct pair_home home;
    struct lock lock;        /* guards all below */
    pthread_cond_t arrived;  /* something is in the queue, or stops is set */
    pthread_cond_t taken;    /* the queue is empty, or what was taken is put */
    bool is_swept;           /* only trees_keep() knows it */
    struct map *pairs;       /* index -> struct pair, held */
    struct buf queue;        /* records and ids */
    uint64_t n_noted, n_put; /* records since the start */
    size_t n_flush;          /* callers wait until all is put */
    bool stops;
    pthread_t thread;
};

/* ---- the pairs ---- */

/* Returns the pair, held, or NULL. */
static struct pair *find(struct trees *all, struct str index)
{
    lock_acquire(&all->lock);

    struct pair *p = map_find(all->pairs, index);

    if (p != NULL)
        pair_ref(p);
    lock_release(&all->lock);
    return p;
}

/* Takes over p. */
static void put(struct trees *all, struct str index, struct pair *p)
{
    lock_acquire(&all->lock);

    struct pair *old = map_put(all->pairs, index, p);

    lock_release(&all->lock);
    pair_unref(old);
}

/* Ends p, and takes it out unless another one has its place by now. */
static void take_out(struct trees *all, struct str index, struct pair *p)
{
    pair_end(p);
    lock_acquire(&all->lock);

    struct pair *old = map_find(all->pairs, index) == p ? map_remove(all->pairs, index) : NULL;

    lock_release(&all->lock);
    pair_unref(old);
}

static void open_pair(struct trees *all, struct str index)
{
    struct pair *p;
    struct err err = {0};

    if (pair_open(&p, &all->home, index, &err))
        put(all, index, p);
    else
        log_debug("an index has no anti-entropy trees", KV("index", index),
                  KV("why", (const char *)err.msg));
}

static struct pair *find_or_open(struct trees *all, struct str index)
{
    struct pair *p = find(all, index);

    if (p != NULL)
        return p;
    open_pair(all, index);
    return find(all, index);
}

/* Of a topic that does not run, or whose files cannot be opened, the files alone are there. */
void trees_end(struct trees *all, struct str index)
{
    struct pair *p = find(all, index);

    if (p != NULL)
        take_out(all, index, p);
    else
        pair_remove(&all->home, index);
    pair_unref(p);
}

void trees_follow(struct trees *all, struct str index, uint64_t term)
{
    struct pair *p = find_or_open(all, index);

    if (p != NULL && !pair_follow(p, term)) {
        log_info("anti-entropy trees have missed changes, and are built anew",
                 KV("index", index));
        trees_end(all, index);
    }
    pair_unref(p);
}

bool trees_begin(struct trees *all, struct str index, uint64_t term, uint64_t n_expected,
                 struct err *err)
{
    struct pair *p;

    trees_end(all, index);
    if (!pair_create(&p, &all->home, index, term, n_expected, err))
        return false;
    put(all, index, p);
    return true;
}

/* Returns false if there is none that nobody wants. */
static bool find_unwanted(struct trees *all, const struct key_set *wanted, struct buf *out)
{
    struct str index;
    void *value;
    bool found = false;

    buf_clear(out);
    lock_acquire(&all->lock);
    for (size_t i = 0; !found && map_next(all->pairs, &i, &index, &value);)
        if (key_set_find(wanted, index) == KEY_SET_NONE) {
            buf_append(out, index);
            found = true;
        }
    lock_release(&all->lock);
    return found;
}

/* Removes the files of all other indexes. */
static void sweep(const char *folder, const struct key_set *wanted)
{
    struct key_set names = {0};
    DIR *d = opendir(folder);
    const struct dirent *e;

    for (uint32_t i = 0; i < wanted->n; i++) {
        struct buf name = {0};

        pair_append_name(&name, key_set_get(wanted, i));
        key_set_add(&names, buf_str(&name));
        buf_free(&name);
    }
    while (d != NULL && (e = readdir(d)) != NULL) {
        const struct str name = {e->d_name, strcspn(e->d_name, ".")};

        if (pair_owns(e->d_name) && key_set_find(&names, name) == KEY_SET_NONE)
            (void)unlinkat(dirfd(d), e->d_name, 0);
    }
    if (d != NULL)
        closedir(d);
    key_set_fini(&names);
}

void trees_keep(struct trees *all, const struct key_set *wanted)
{
    struct buf index = {0};

    if (!all->is_swept)
        sweep(all->folder, wanted);
    all->is_swept = true;
    while (find_unwanted(all, wanted, &index))
        trees_end(all, buf_str(&index));
    buf_free(&index);
}

/* ---- what is noted ---- */

static uint64_t hash_body(const struct trees *all, struct str routing, struct str body)
{
    const struct str own = STR("_millrace");
    const struct json_hashing how = {
        .ignored = &own, .n_ignored = 1, .seed = hash_bytes(routing, all->home.owner)};
    struct err ignored = {0};
    uint64_t hash;

    if (!json_hash(&how, body, &hash, &ignored))
        return TREE_READ_AGAIN;
    return hash != TREE_READ_AGAIN ? hash : 1;
}

uint64_t trees_value(struct trees *all, struct str index, struct str routing, struct str body)
{
    lock_acquire(&all->lock);

    const bool is_known = map_find(all->pairs, index) != NULL;

    lock_release(&all->lock);
    return is_known ? hash_body(all, routing, body) : TREE_READ_AGAIN;
}

void trees_note(struct trees *all, struct str index, const struct tree_news *news)
{
    lock_acquire(&all->lock);
    while (all->queue.len > QUEUE_BYTES && map_find(all->pairs, index) != NULL)
        lock_wait(&all->lock, &all->taken);

    struct pair *p = map_find(all->pairs, index);

    if (p != NULL) {
        const struct tree_record r = {.pair = pair_ref(p),
                                      .hash = news->hash,
                                      .id_len = (uint32_t)news->id.len,
                                      .side = (uint8_t)news->side,
                                      .is_gone = news->is_gone};

        const size_t len = all->queue.len;

        buf_append(&all->queue, (struct str){(const char *)&r, sizeof(r)});
        buf_append(&all->queue, news->id);
        all->n_noted++;
        if (len == 0 || (len < QUEUE_BYTES / 2 && all->queue.len >= QUEUE_BYTES / 2))
            pthread_cond_signal(&all->arrived);
    }
    lock_release(&all->lock);
}

void trees_note_both(struct trees *all, struct str index, bool is_gone, uint64_t hash,
                     struct str id)
{
    struct tree_news news = {TREE_SOURCE, is_gone, hash, id};

    trees_note(all, index, &news);
    news.side = TREE_INDEX;
    trees_note(all, index, &news);
}

void trees_flush(struct trees *all)
{
    if (all == NULL)
        return;
    lock_acquire(&all->lock);
    all->n_flush++;
    pthread_cond_signal(&all->arrived);
    for (const uint64_t n = all->n_noted; all->n_put < n;)
        lock_wait(&all->lock, &all->taken);
    all->n_flush--;
    lock_release(&all->lock);
}

/* ---- the thread ---- */

/* A pair that cannot be changed has missed a change. */
static void give_up(struct trees *all, struct pair *p, const struct err *why)
{
    log_failure(LOG_WARN, why, "anti-entropy trees cannot be written, and are built anew",
                KV("index", pair_index(p)));
    take_out(all, pair_index(p), p);
}

static int by_tree(const void *a, const void *b)
{
    const struct taken_record *x = a, *y = b;

    if (x->record.pair != y->record.pair)
        return x->record.pair < y->record.pair ? -1 : 1;
    if (x->record.side != y->record.side)
        return x->record.side < y->record.side ? -1 : 1;
    return x->entry.id.ptr < y->entry.id.ptr ? -1 : 1; /* as they lie in the queue */
}

/* Returns n records, sorted. */
static struct taken_record *read_queue(struct str queue, size_t n)
{
    struct taken_record *taken = mem_alloc(n, sizeof(*taken));

    for (size_t i = 0, at = 0; i < n; i++) {
        struct tree_record *r = &taken[i].record;

        memcpy(r, queue.ptr + at, sizeof(*r));
        at += sizeof(*r);
        taken[i].entry = (struct tree_entry){{queue.ptr + at, r->id_len}, r->hash, r->is_gone};
        at += r->id_len;
    }
    qsort(taken, n, sizeof(*taken), by_tree);
    return taken;
}

/* Changes the tree of the first of n, of which some are of others. Returns how many were of it.
 */
static size_t put_tree(struct trees *all, const struct taken_record *taken, size_t n,
                       struct tree_entry *entries)
{
    struct pair *const pair = taken->record.pair;
    const uint8_t side = taken->record.side;
    struct err err = {0};
    size_t len = 0;

    for (; len < n && taken[len].record.pair == pair && taken[len].record.side == side; len++)
        entries[len] = taken[len].entry;
    if (!pair_change(pair, (enum tree_side)side, entries, len, &err))
        give_up(all, pair, &err);
    return len;
}

static void put_all(struct trees *all, struct str queue, size_t n)
{
    struct taken_record *taken = read_queue(queue, n);
    struct tree_entry *entries = mem_alloc(n, sizeof(*entries));

    for (size_t i = 0; i < n;)
        i += put_tree(all, taken + i, n - i, entries);
    for (size_t i = 0; i < n; i++)
        pair_unref(taken[i].record.pair);
    free(entries);
    free(taken);
}

/* Many entries at once cost less each, so what is not in a hurry waits a little for more. */
static void gather(struct trees *all) NEEDS(all->lock)
{
    const int64_t until_ms = clock_mono_ms() + GATHER_MS;

    while (all->queue.len < QUEUE_BYTES / 2 && all->n_flush == 0 && !all->stops &&
           lock_wait_until(&all->lock, &all->arrived, until_ms))
        ;
}

/* Puts what is in the queue, without the lock. */
static void take(struct trees *all, struct buf *spare) NEEDS(all->lock)
{
    const struct buf queue = all->queue;
    const size_t n = (size_t)(all->n_noted - all->n_put);

    all->queue = *spare;
    pthread_cond_broadcast(&all->taken);
    lock_release(&all->lock);
    FAILPOINT(trees_taken);
    put_all(all, buf_str(&queue), n);
    *spare = queue;
    buf_clear(spare);
    lock_acquire(&all->lock);
    all->n_put += n;
    pthread_cond_broadcast(&all->taken);
}

static void *trees_main(void *arg)
{
    struct trees *all = arg;
    struct buf spare = {0};

    lock_acquire(&all->lock);
    while (all->queue.len > 0 || !all->stops) {
        if (all->queue.len == 0) {
            lock_wait(&all->lock, &all->arrived);
            continue;
        }
        gather(all);
        take(all, &spare);
    }
    lock_release(&all->lock);
    buf_free(&spare);
    return NULL;
}

/* ---- made and ended ---- */

bool trees_new(struct trees **out, const char *folder, struct str owner, struct err *err)
{
    if (!data_folder_open(folder, err))
        return false;

    struct trees *all = mem_alloc(1, sizeof(*all));

    all->folder = mem_copy(folder);
    all->home = (struct pair_home){all->folder, hash_bytes(owner, 0)};
    all->pairs = map_new();
    lock_init(&all->lock, LOCK_private);
    lock_init_cond(&all->arrived);
    lock_init_cond(&all->taken);
    all->thread = thread_start("trees", trees_main, all);
    *out = all;
    return true;
}

static void drop_pair(void *value)
{
    pair_unref(value);
}

void trees_free(struct trees *all)
{
    if (all == NULL)
        return;
    lock_acquire(&all->lock);
    all->stops = true;
    pthread_cond_broadcast(&all->arrived);
    lock_release(&all->lock);
    pthread_join(all->thread, NULL);
    map_free(all->pairs, drop_pair);
    buf_free(&all->queue);
    pthread_cond_destroy(&all->arrived);
    pthread_cond_destroy(&all->taken);
    lock_fini(&all->lock);
    free(all->folder);
    free(all);
}

/* ---- compared ---- */

bool trees_complete(struct trees *all, struct str index)
{
    trees_flush(all);

    struct pair *p = find(all, index);
    const bool ok = p != NULL && pair_complete(p);

    pair_unref(p);
    return ok;
}

bool trees_name(struct trees *all, struct str index, const struct tree_id *id, struct buf *out)
{
    struct pair *p = find(all, index);
    const bool found = p != NULL && pair_name(p, id, out);

    pair_unref(p);
    return found;
}

void trees_exchanged(struct trees *all, struct str index, uint64_t n_unnamed)
{
    struct pair *p = find(all, index);

    if (p != NULL)
        pair_exchanged(p, n_unnamed);
    pair_unref(p);
}

bool trees_snapshot(struct trees *all, struct str index, enum tree_side side,
                    struct trees_snapshot *out, struct err *err)
{
    *out = (struct trees_snapshot){0};
    trees_flush(all);

    struct pair *p = find(all, index);
    const bool ok = p != NULL ? pair_snapshot(p, side, &out->tree, err)
                              : err_set(err, ERR_REJECT, "the index has no trees");

    if (ok)
        *out = (struct trees_snapshot){pair_ref(p), side, out->tree};
    pair_unref(p);
    return ok;
}

void trees_snapshot_close(struct trees_snapshot *s)
{
    if (s->pair == NULL)
        return;
    pair_snapshot_close(s->pair, s->side, s->tree);
    pair_unref(s->pair);
    *s = (struct trees_snapshot){0};
}

const char *trees_state_word(enum trees_state state)
{
    static const char *const words[] = {
        [TREES_NONE] = "missing", [TREES_BUILDING] = "building", [TREES_COMPLETE] = "complete"};

    return words[state];
}

struct trees_view trees_look(struct trees *all, struct str index)
{
    struct pair *p = all != NULL ? find(all, index) : NULL;
    const struct trees_view v = p != NULL ? pair_look(p) : (struct trees_view){0};

    pair_unref(p);
    return v;
}

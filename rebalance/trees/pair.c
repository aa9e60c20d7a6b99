#include "config.h"

#include "rebalance/trees/pair.h"

#include "rebalance/trees/tree_id.h"
#include "src/base/buf.h"
#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/base/hash.h"
#include "src/base/lock.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/format/json_hash.h"
#include "sync/document/key_set.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define N_SIDES     2
#define NAME_DIGITS 16
#define NAMES_BYTES (512 << 10)
#define NAME_COST   64 /* bytes, beside its text */

/* Ids that trees have only a hash of.  A text has the number of its packed form. */
struct long_ids {
    struct key_set packed, texts;
};

struct pair {
    unsigned refs; /* atomic */
    struct lock lock;
    char *paths[N_SIDES];
    struct tree *trees[N_SIDES];
    struct buf index;
    bool is_over;
    int64_t exchanged_ms, since_ms;
    uint64_t n_unnamed;
    struct long_ids names, older; /* of entries to be read again, since the last exchange, and
                                  of the time between the two before */
};

/* The name of an index may be too long for a file's. */
void pair_append_name(struct buf *out, struct str index)
{
    buf_printf(out, "%016" PRIx64, hash_bytes(index, 0));
}

/* ---- names ---- */

static struct str packed(const struct tree_id *id)
{
    return (struct str){(const char *)id->bytes, sizeof(id->bytes)};
}

static void free_names(struct long_ids *n)
{
    key_set_fini(&n->packed);
    key_set_fini(&n->texts);
    *n = (struct long_ids){0};
}

/* What has no room is found by a pass over the ids of the index, unless the index lacks it. */
static void keep_name(struct long_ids *n, struct str text)
{
    struct tree_id id;
    struct buf ignored = {0};

    tree_id_pack(&id, text);
    if (!tree_id_unpack(&id, &ignored) &&
        n->texts.bytes.len + n->texts.n * NAME_COST < NAMES_BYTES &&
        key_set_find(&n->packed, packed(&id)) == KEY_SET_NONE) {
        key_set_add(&n->packed, packed(&id));
        key_set_add(&n->texts, text);
    }
    buf_free(&ignored);
}

static bool find_name(const struct long_ids *n, const struct tree_id *id, struct buf *out)
{
    const uint32_t number = key_set_find(&n->packed, packed(id));

    if (number != KEY_SET_NONE)
        buf_append(out, key_set_get(&n->texts, number));
    return number != KEY_SET_NONE;
}

bool pair_name(struct pair *p, const struct tree_id *id, struct buf *out)
{
    lock_acquire(&p->lock);

    const bool found = find_name(&p->names, id, out) || find_name(&p->older, id, out);

    lock_release(&p->lock);
    return found;
}

/* ---- made and ended ---- */

static char *path_of(const char *folder, struct str index, enum tree_side side)
{
    struct buf path = {0};

    buf_printf(&path, "%s/", folder);
    pair_append_name(&path, index);
    buf_printf(&path, ".%s", side == TREE_SOURCE ? "source" : "index");
    return path.ptr;
}

static struct pair *pair_new(const struct pair_home *home, struct str index)
{
    struct pair *p = mem_alloc(1, sizeof(*p));

    p->refs = 1;
    p->since_ms = clock_wall_ms();
    buf_append(&p->index, index);
    lock_init(&p->lock, LOCK_private);
    for (int side = 0; side < N_SIDES; side++)
        p->paths[side] = path_of(home->folder, index, (enum tree_side)side);
    return p;
}

static struct tree_identity identity_of(const struct pair_home *home, struct str index,
                                        int side)
{
    return (struct tree_identity){.side = (enum tree_side)side,
                                  .index = index,
                                  .version = home->owner,
                                  .definition = JSON_HASH_VERSION};
}

static bool set_notes(struct pair *p, struct tree_note note, struct err *err)
{
    bool ok = true;

    for (int side = 0; side < N_SIDES && ok; side++) {
        ok = tree_set_note(p->trees[side], note, err);
        if (side == TREE_SOURCE)
            FAILPOINT(trees_half_noted);
    }
    return ok;
}

/* For who cannot say why. */
static bool try_notes(struct pair *p, struct tree_note note)
{
    struct err err = {0};

    if (set_notes(p, note, &err))
        return true;
    log_failure(LOG_WARN, &err, "anti-entropy trees cannot be written",
                KV("index", buf_str(&p->index)));
    return false;
}

bool pair_create(struct pair **out, const struct pair_home *home, struct str index,
                 uint64_t term, uint64_t n_expected, struct err *err)
{
    struct pair *p = pair_new(home, index);
    bool ok = true;

    for (int side = 0; side < N_SIDES && ok; side++) {
        const struct tree_identity identity = identity_of(home, index, side);

        tree_delete(p->paths[side]);
        ok = tree_create(&p->trees[side], p->paths[side], &identity, n_expected, err);
    }
    if (ok && set_notes(p, (struct tree_note){.position = term}, err)) {
        *out = p;
        return true;
    }
    pair_end(p);
    pair_unref(p);
    return false;
}

bool pair_open(struct pair **out, const struct pair_home *home, struct str index,
               struct err *err)
{
    struct pair *p = pair_new(home, index);
    bool ok = true;

    for (int side = 0; side < N_SIDES && ok; side++) {
        const struct tree_identity identity = identity_of(home, index, side);

        ok = tree_open(&p->trees[side], p->paths[side], &identity, err);
    }
    if (ok &&
        tree_note(p->trees[TREE_SOURCE]).position != tree_note(p->trees[TREE_INDEX]).position)
        ok = err_set(err, ERR_REJECT, "tree %s is of another time than its other side",
                     p->paths[TREE_SOURCE]);
    if (ok)
        *out = p;
    else
        pair_unref(p);
    return ok;
}

void pair_remove(const struct pair_home *home, struct str index)
{
    for (int side = 0; side < N_SIDES; side++) {
        char *path = path_of(home->folder, index, (enum tree_side)side);

        tree_delete(path);
        free(path);
    }
}

bool pair_owns(const char *name)
{
    return strspn(name, "0123456789abcdef") == NAME_DIGITS && name[NAME_DIGITS] == '.';
}

struct str pair_index(const struct pair *p)
{
    return buf_str(&p->index);
}

struct pair *pair_ref(struct pair *p)
{
    __atomic_add_fetch(&p->refs, 1, __ATOMIC_RELAXED);
    return p;
}

static void close_side(struct pair *p, int side)
{
    struct err err = {0};

    /* What could not be written may be on disk as it was before: nobody could tell. */
    if (!tree_close(p->trees[side], !p->is_over, &err)) {
        log_failure(LOG_WARN, &err, "an anti-entropy tree is removed, as it cannot be written",
                    KV("file", (const char *)p->paths[side]));
        tree_delete(p->paths[side]);
    }
    free(p->paths[side]);
}

void pair_unref(struct pair *p)
{
    if (p == NULL || __atomic_sub_fetch(&p->refs, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    for (int side = 0; side < N_SIDES; side++)
        close_side(p, side);
    free_names(&p->names);
    free_names(&p->older);
    lock_fini(&p->lock);
    buf_free(&p->index);
    free(p);
}

bool pair_follow(struct pair *p, uint64_t term)
{
    lock_acquire(&p->lock);

    struct tree_note note = tree_note(p->trees[TREE_SOURCE]);
    bool may = !p->is_over && note.position + 1 == term;

    note.position = term;
    if (may)
        may = try_notes(p, note);
    lock_release(&p->lock);
    return may;
}

bool pair_complete(struct pair *p)
{
    lock_acquire(&p->lock);

    struct tree_note note = tree_note(p->trees[TREE_SOURCE]);

    note.built_ms = p->since_ms = clock_wall_ms();

    const bool ok = !p->is_over && try_notes(p, note);

    lock_release(&p->lock);
    return ok;
}

void pair_exchanged(struct pair *p, uint64_t n_unnamed)
{
    lock_acquire(&p->lock);
    p->exchanged_ms = clock_wall_ms();
    p->n_unnamed = n_unnamed;
    free_names(&p->older);
    p->older = p->names;
    p->names = (struct long_ids){0};
    lock_release(&p->lock);
}

void pair_end(struct pair *p)
{
    lock_acquire(&p->lock);
    for (int side = 0; side < N_SIDES && !p->is_over; side++)
        tree_delete(p->paths[side]);
    p->is_over = true;
    lock_release(&p->lock);
}

bool pair_change(struct pair *p, enum tree_side side, const struct tree_entry *entries,
                 size_t n, struct err *err)
{
    bool ok = true;

    lock_acquire(&p->lock);
    if (!p->is_over) { /* else its files are gone */
        ok = tree_change(p->trees[side], entries, n, err);
        for (size_t i = 0; i < n; i++)
            if (!entries[i].is_gone && entries[i].hash == TREE_READ_AGAIN)
                keep_name(&p->names, entries[i].id);
    }
    lock_release(&p->lock);
    return ok;
}

/* The index's note is written last. */
static bool is_complete(const struct pair *p)
{
    return !p->is_over && tree_note(p->trees[TREE_INDEX]).built_ms > 0;
}

bool pair_snapshot(struct pair *p, enum tree_side side, struct tree_snapshot **out,
                   struct err *err)
{
    lock_acquire(&p->lock);

    const bool ok = is_complete(p) ? tree_snapshot_take(p->trees[side], out, err)
                                   : err_set(err, ERR_REJECT, "the trees are not complete yet");

    lock_release(&p->lock);
    return ok;
}

void pair_snapshot_close(struct pair *p, enum tree_side side, struct tree_snapshot *s)
{
    lock_acquire(&p->lock);
    tree_snapshot_close(p->trees[side], s);
    lock_release(&p->lock);
}

struct trees_view pair_look(struct pair *p)
{
    struct trees_view v = {.state = TREES_NONE};

    lock_acquire(&p->lock);
    if (!p->is_over) {
        v.state = is_complete(p) ? TREES_COMPLETE : TREES_BUILDING;
        v.entries = tree_count(p->trees[TREE_INDEX]);
        v.bytes = tree_bytes(p->trees[TREE_SOURCE]) + tree_bytes(p->trees[TREE_INDEX]);
        v.built_ms = tree_note(p->trees[TREE_INDEX]).built_ms;
        v.exchanged_ms = p->exchanged_ms;
        v.since_ms = p->since_ms;
        v.n_unnamed = p->n_unnamed;
    }
    lock_release(&p->lock);
    return v;
}

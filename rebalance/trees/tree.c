#include "config.h"

#include "rebalance/trees/tree.h"

#include "rebalance/trees/tree_entries.h"
#include "rebalance/trees/tree_snapshot.h"
#include "src/base/mem.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Entries for each bucket: when a tree is made, 80 % of its page; at most, then it grows. */
#define BUCKET_BUILT (TREE_PAGE_ENTRIES * 4 / 5)
#define BUCKET_MOST  (TREE_PAGE_ENTRIES * 9 / 10)

struct tree {
    char *path;
    char *index; /* of identity */
    struct tree_identity identity;
    struct tree_file *file;
    size_t n_snapshots;  /* open */
    uint64_t grow_above; /* entries: it could not grow before */
};

static struct tree *tree_new(const char *path, const struct tree_identity *identity)
{
    struct tree *t = mem_alloc(1, sizeof(*t));
    const struct str index = identity->index;

    t->path = mem_copy(path);
    t->index = mem_alloc(index.len + 1, 1);
    if (index.len > 0)
        memcpy(t->index, index.ptr, index.len);
    t->identity = *identity;
    t->identity.index.ptr = t->index;
    return t;
}

static void tree_free(struct tree *t)
{
    tree_file_unref(t->file);
    free(t->index);
    free(t->path);
    free(t);
}

/* Returns false, so that a failure is one line. */
static bool fail(const struct tree *t, struct err *err)
{
    return err_wrap(err, "tree %s", t->path);
}

/* ---- made and opened ---- */

static uint32_t buckets_for(uint64_t n)
{
    const uint64_t buckets = n / BUCKET_BUILT + (n % BUCKET_BUILT != 0);

    if (buckets > TREE_BUCKETS_MAX)
        return TREE_BUCKETS_MAX;
    return buckets > 0 ? (uint32_t)buckets : 1;
}

/* The name of a file that is not yet, or never became, the tree. */
static void draft_name(const char *path, struct buf *out)
{
    buf_printf(out, "%s.new", path);
}

static void remove_draft(const char *path)
{
    struct buf name = {0};

    draft_name(path, &name);
    unlink(name.ptr);
    buf_free(&name);
}

/* Makes an empty file beside the tree's. */
static bool make_draft(const struct tree *t, uint32_t n_buckets, struct tree_file **out,
                       struct err *err)
{
    struct buf name = {0};
    bool ok;

    remove_draft(t->path); /* left by a process that was killed here */
    draft_name(t->path, &name);
    ok = tree_file_create(out, name.ptr, &t->identity, n_buckets, err);
    buf_free(&name);
    return ok;
}

/* Makes the draft the tree's file, or removes it. */
static bool end_draft(struct tree *t, struct tree_file *draft, bool use, struct err *err)
{
    struct buf name = {0};

    draft_name(t->path, &name);
    if (use && rename(name.ptr, t->path) != 0)
        use = err_set_code(err, ERR_RETRY, "errno", errno, "cannot rename %s: %s", name.ptr,
                           strerror(errno));
    if (use) {
        tree_file_unref(t->file);
        t->file = draft;
    } else {
        unlink(name.ptr);
        tree_file_unref(draft);
    }
    buf_free(&name);
    return use;
}

bool tree_create(struct tree **out, const char *path, const struct tree_identity *identity,
                 uint64_t n_expected, struct err *err)
{
    struct tree *t = tree_new(path, identity);
    struct tree_file *draft;

    if (!make_draft(t, buckets_for(n_expected), &draft, err) ||
        !end_draft(t, draft, true, err)) {
        fail(t, err);
        tree_free(t);
        return false;
    }
    *out = t;
    return true;
}

bool tree_open(struct tree **out, const char *path, const struct tree_identity *identity,
               struct err *err)
{
    struct tree *t = tree_new(path, identity);

    if (!tree_file_open(&t->file, path, &t->identity, err)) {
        fail(t, err);
        tree_free(t);
        return false;
    }
    remove_draft(path);
    *out = t;
    return true;
}

void tree_delete(const char *path)
{
    remove_draft(path);
    tree_snapshot_remove(path);
    unlink(path);
}

bool tree_close(struct tree *t, bool durable, struct err *err)
{
    bool ok = true;

    if (t == NULL)
        return true;
    assert(t->n_snapshots == 0);
    if (durable && !tree_file_settle(t->file, err))
        ok = fail(t, err);
    tree_free(t);
    return ok;
}

/* ---- grown ---- */

/* Makes the changes from *at on that are of one bucket. */
static bool change_bucket(struct tree_file *f, const struct tree_batch *batch, size_t *at,
                          struct err *err)
{
    const uint32_t n_buckets = f->view.shape.n_buckets;
    const struct tree_change *first = &batch->changes[*at];
    const size_t n = tree_batch_run(batch, *at, n_buckets);

    *at += n;
    return tree_entries_change(f, tree_bucket_of(first->id.bytes, n_buckets), first, n, err);
}

static bool copy_bucket(struct tree_file *from, uint32_t bucket, struct tree_file *to,
                        struct tree_batch *batch, struct err *err)
{
    const uint8_t *entry;
    bool ok = tree_file_read(from, bucket, err);

    batch->n = 0;
    for (size_t page = 0, i = 0;
         ok && (entry = tree_bucket_next(&from->pages, &page, &i)) != NULL;) {
        struct tree_id id;

        memcpy(id.bytes, entry, TREE_ID_SIZE);
        tree_batch_add(batch, &id, tree_entry_hash(entry), false);
    }
    tree_batch_sort(batch);
    for (size_t at = 0; ok && at < batch->n;)
        ok = change_bucket(to, batch, &at, err);
    return ok;
}

static bool copy_entries(struct tree_file *from, struct tree_file *to, struct err *err)
{
    struct tree_batch batch = {0};
    bool ok = true;

    for (uint32_t b = 0; ok && b < from->view.shape.n_buckets; b++)
        ok = copy_bucket(from, b, to, &batch, err);
    tree_batch_free(&batch);
    return ok;
}

static bool resize(struct tree *t, uint32_t n_buckets, struct err *err)
{
    struct tree_file *draft;
    bool ok;

    if (!make_draft(t, n_buckets, &draft, err))
        return false;
    ok = copy_entries(t->file, draft, err) &&
         tree_file_set_note(draft, t->file->state.note, err);
    return end_draft(t, draft, ok, err);
}

bool tree_resize(struct tree *t, uint32_t n_buckets, struct err *err)
{
    assert(n_buckets > 0 && n_buckets <= TREE_BUCKETS_MAX);
    return resize(t, n_buckets, err) || fail(t, err);
}

static bool is_full(const struct tree *t)
{
    const struct tree_file *f = t->file;
    const struct tree_shape *shape = &f->view.shape;

    return f->state.count > (uint64_t)shape->n_buckets * BUCKET_MOST ||
           f->state.n_used - shape->first_more > shape->n_buckets / 4 + 1;
}

/* Without room for a larger file the tree lives on with longer buckets. */
static bool grow(struct tree *t, struct err *err)
{
    const uint32_t n = t->file->view.shape.n_buckets;
    const uint32_t more = n / 4 + 1;
    const uint64_t count = t->file->state.count;

    if (n > TREE_BUCKETS_MAX - more || count <= t->grow_above)
        return true;
    t->grow_above = 0;
    if (resize(t, n + more, err))
        return true;
    t->grow_above = count + count / 64;
    return err->kind == ERR_RETRY;
}

/* ---- entries ---- */

bool tree_change(struct tree *t, const struct tree_entry *entries, size_t n, struct err *err)
{
    struct tree_batch batch = {0};
    bool ok = true;

    for (size_t i = 0; i < n; i++) {
        struct tree_id id;

        tree_id_pack(&id, entries[i].id);
        tree_batch_add(&batch, &id, entries[i].hash, entries[i].is_gone);
    }
    tree_batch_sort(&batch);
    for (size_t at = 0; ok && at < batch.n;)
        ok = change_bucket(t->file, &batch, &at, err) && (!is_full(t) || grow(t, err));
    tree_batch_free(&batch);
    return ok || fail(t, err);
}

bool tree_find(struct tree *t, struct str id, bool *found, uint64_t *hash, struct err *err)
{
    struct tree_id packed;

    tree_id_pack(&packed, id);
    return tree_entries_find(t->file, &packed, found, hash, err) || fail(t, err);
}

uint64_t tree_count(const struct tree *t)
{
    return t->file->state.count;
}

uint64_t tree_bytes(const struct tree *t)
{
    return (uint64_t)t->file->state.n_pages * TREE_PAGE_SIZE;
}

uint32_t tree_n_buckets(const struct tree *t)
{
    return t->file->view.shape.n_buckets;
}

struct tree_note tree_note(const struct tree *t)
{
    return t->file->state.note;
}

bool tree_set_note(struct tree *t, struct tree_note note, struct err *err)
{
    return tree_file_set_note(t->file, note, err) || fail(t, err);
}

/* ---- snapshots ---- */

bool tree_snapshot_take(struct tree *t, struct tree_snapshot **out, struct err *err)
{
    if (!tree_snapshot_new(out, t->file, t->path, err))
        return fail(t, err);
    t->n_snapshots++;
    return true;
}

void tree_snapshot_close(struct tree *t, struct tree_snapshot *s)
{
    if (s == NULL)
        return;
    tree_snapshot_free(s);
    t->n_snapshots--;
}

#include "config.h"

#include "tests/fakes/fake_engine.h"

#include "src/base/map.h"
#include "src/base/mem.h"

#include <assert.h>
#include <stdlib.h>

struct fake_doc {
    uint64_t version;
    bool is_deleted;
    int64_t deleted_ms;
    struct buf body;
};

struct fake_index {
    struct buf name;
    struct map *docs;
};

struct fake_engine {
    struct map *indexes;
    struct map *aliases; /* to struct fake_index */
    int64_t gc_deletes_ms;
};

struct fake_engine *fake_engine_new(void)
{
    struct fake_engine *e = mem_alloc(1, sizeof(*e));

    e->indexes = map_new();
    e->aliases = map_new();
    e->gc_deletes_ms = 60000;
    return e;
}

static void free_doc(void *arg)
{
    struct fake_doc *doc = arg;

    buf_free(&doc->body);
    free(doc);
}

static void free_index(void *arg)
{
    struct fake_index *x = arg;

    map_free(x->docs, free_doc);
    buf_free(&x->name);
    free(x);
}

void fake_engine_free(struct fake_engine *e)
{
    map_free(e->aliases, NULL);
    map_free(e->indexes, free_index);
    free(e);
}

bool fake_engine_create(struct fake_engine *e, struct str index)
{
    struct fake_index *x;

    if (map_find(e->indexes, index) != NULL)
        return false;
    x = mem_alloc(1, sizeof(*x));
    buf_append(&x->name, index);
    x->docs = map_new();
    map_put(e->indexes, index, x);
    return true;
}

bool fake_engine_delete(struct fake_engine *e, struct str index)
{
    struct fake_index *x = map_remove(e->indexes, index);
    struct str alias;
    void *to;

    if (x == NULL)
        return false;
    for (size_t i = 0; map_next(e->aliases, &i, &alias, &to);)
        if (to == x)
            map_remove(e->aliases, alias);
    free_index(x);
    return true;
}

bool fake_engine_exists(const struct fake_engine *e, struct str index)
{
    return map_find(e->indexes, index) != NULL;
}

void fake_engine_alias(struct fake_engine *e, struct str alias, struct str index, bool remove)
{
    struct fake_index *x = map_find(e->indexes, index);

    if (remove && x != NULL && map_find(e->aliases, alias) == x)
        map_remove(e->aliases, alias);
    else if (!remove && x != NULL)
        map_put(e->aliases, alias, x);
}

struct str fake_engine_resolve(const struct fake_engine *e, struct str alias)
{
    const struct fake_index *x = map_find(e->aliases, alias);

    return x == NULL ? (struct str){0} : buf_str(&x->name);
}

bool fake_engine_next(const struct fake_engine *e, size_t *i, struct str *index)
{
    void *x;

    return map_next(e->indexes, i, index, &x);
}

bool fake_engine_next_alias(const struct fake_engine *e, size_t *i, struct str *alias,
                            struct str *index)
{
    void *x;

    if (!map_next(e->aliases, i, alias, &x))
        return false;
    *index = buf_str(&((struct fake_index *)x)->name);
    return true;
}

/* A document that is there, or whose tombstone is. */
static struct fake_doc *find(struct fake_engine *e, struct fake_index *x, struct str id,
                             int64_t now_ms)
{
    struct fake_doc *doc = map_find(x->docs, id);

    if (doc == NULL || !doc->is_deleted || now_ms < doc->deleted_ms + e->gc_deletes_ms)
        return doc;
    free_doc(map_remove(x->docs, id));
    return NULL;
}

static bool conflicts(const struct fake_doc *doc, const struct fake_op *op)
{
    switch (op->version_type) {
    case FAKE_INTERNAL: return false;
    case FAKE_EXTERNAL: return doc->version >= op->version;
    case FAKE_EXTERNAL_GTE: return doc->version > op->version;
    }
    return false;
}

static int status_of(const struct fake_op *op, bool was_there)
{
    if (op->is_delete)
        return was_there ? 200 : 404;
    return was_there ? 200 : 201;
}

int fake_engine_apply(struct fake_engine *e, struct str index, const struct fake_op *op,
                      int64_t now_ms, uint64_t *stored)
{
    struct fake_index *x = map_find(e->indexes, index);

    assert(x != NULL);

    struct fake_doc *doc = find(e, x, op->id, now_ms);
    const bool was_there = doc != NULL && !doc->is_deleted;

    if (doc != NULL && conflicts(doc, op)) {
        *stored = doc->version;
        return 409;
    }
    if (doc == NULL) {
        doc = mem_alloc(1, sizeof(*doc));
        map_put(x->docs, op->id, doc);
    }
    doc->version = op->version_type == FAKE_INTERNAL ? doc->version + 1 : op->version;
    doc->is_deleted = op->is_delete;
    doc->deleted_ms = now_ms;
    buf_clear(&doc->body);
    if (!op->is_delete)
        buf_append(&doc->body, op->body);
    return status_of(op, was_there);
}

bool fake_engine_get(struct fake_engine *e, struct str index, struct str id, uint64_t *version,
                     struct buf *body)
{
    const struct fake_index *x = map_find(e->indexes, index);
    const struct fake_doc *doc = x == NULL ? NULL : map_find(x->docs, id);

    if (doc == NULL || doc->is_deleted)
        return false;
    *version = doc->version;
    buf_append(body, buf_str(&doc->body));
    return true;
}

size_t fake_engine_count(const struct fake_engine *e, struct str index)
{
    const struct fake_index *x = map_find(e->indexes, index);
    struct str id;
    void *doc;
    size_t n = 0;

    if (x == NULL)
        return 0;
    for (size_t i = 0; map_next(x->docs, &i, &id, &doc);)
        n += !((struct fake_doc *)doc)->is_deleted;
    return n;
}

void fake_engine_set_gc_deletes(struct fake_engine *e, int64_t ms)
{
    e->gc_deletes_ms = ms;
}

void fake_engine_restart_shards(struct fake_engine *e)
{
    struct str index, id;
    void *x, *doc;

    for (size_t i = 0; map_next(e->indexes, &i, &index, &x);) {
        struct map *docs = ((struct fake_index *)x)->docs;

        for (size_t k = 0; map_next(docs, &k, &id, &doc);)
            if (((struct fake_doc *)doc)->is_deleted)
                free_doc(map_remove(docs, id));
    }
}

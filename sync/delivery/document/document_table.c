#include "config.h"

#include "sync/delivery/document/document_table.h"

#include "src/base/mem.h"

#include <assert.h>
#include <stdlib.h>

#define INITIAL_BUCKETS 1024
#define SLAB_DOCUMENTS  256

/*
 * Tens of thousands of documents come and go each second: they are cut from slabs and reused.
 */
struct slab {
    struct slab *next;
    struct document documents[SLAB_DOCUMENTS];
};

struct document_table {
    struct document **buckets;
    size_t n_buckets; /* a power of two */
    size_t n_documents;
    struct document *unused; /* list by hash_next */
    struct slab *slabs;
};

struct document_table *document_table_new(void)
{
    struct document_table *t = mem_alloc(1, sizeof(*t));

    t->n_buckets = INITIAL_BUCKETS;
    t->buckets = mem_alloc(t->n_buckets, sizeof(struct document *));
    return t;
}

void document_table_free(struct document_table *t, struct write_ends *ends)
{
    struct document_cursor at = {0};
    struct document *doc;

    if (t == NULL)
        return;
    while ((doc = document_table_next(t, &at)) != NULL) {
        write_abandon(doc->now, ends);
        if (doc->later != NULL)
            write_abandon(doc->later, ends);
    }
    while (t->slabs != NULL) {
        struct slab *slab = t->slabs;

        t->slabs = slab->next;
        free(slab);
    }
    free(t->buckets);
    free(t);
}

static struct document **bucket_of(const struct document_table *t, uint64_t hash)
{
    return &t->buckets[hash & (t->n_buckets - 1)];
}

static void widen(struct document_table *t)
{
    struct document_table wider = {.n_buckets = t->n_buckets * 2};

    wider.buckets = mem_alloc(wider.n_buckets, sizeof(struct document *));
    for (size_t i = 0; i < t->n_buckets; i++) {
        struct document *next;

        for (struct document *doc = t->buckets[i]; doc != NULL; doc = next) {
            struct document **bucket = bucket_of(&wider, doc->hash);

            next = doc->hash_next;
            doc->hash_next = *bucket;
            *bucket = doc;
        }
    }
    free(t->buckets);
    t->buckets = wider.buckets;
    t->n_buckets = wider.n_buckets;
}

static struct document *cut(struct document_table *t)
{
    if (t->unused == NULL) {
        struct slab *slab = mem_alloc(1, sizeof(*slab));

        slab->next = t->slabs;
        t->slabs = slab;
        for (size_t i = SLAB_DOCUMENTS; i-- > 0;) {
            slab->documents[i].hash_next = t->unused;
            t->unused = &slab->documents[i];
        }
    }

    struct document *doc = t->unused;

    t->unused = doc->hash_next;
    *doc = (struct document){0};
    return doc;
}

struct name {
    uint64_t hash;
    const struct index_queue *index_queue;
    struct str routing, id;
};

static bool is_of(const struct document *doc, const struct name *name)
{
    return doc->hash == name->hash && doc->index_queue == name->index_queue &&
           str_equal(write_id(doc->now), name->id) &&
           str_equal(write_routing(doc->now), name->routing);
}

static struct document *find(const struct document_table *t, const struct name *name)
{
    struct document *doc = *bucket_of(t, name->hash);

    while (doc != NULL && !is_of(doc, name))
        doc = doc->hash_next;
    return doc;
}

struct document *document_table_find(const struct document_table *t,
                                     const struct index_queue *o, uint64_t hash,
                                     struct str routing, struct str id)
{
    return find(t, &(struct name){hash, o, routing, id});
}

struct document *document_table_arrive(struct document_table *t, struct index_queue *o,
                                       struct write *w, struct write_ends *ends, bool *to_place)
{
    struct document *doc = find(t, &(struct name){w->hash, o, write_routing(w), write_id(w)});

    *to_place = true;
    if (doc != NULL) {
        *to_place = document_arrive(doc, w, ends);
        return doc;
    }
    if (t->n_documents == t->n_buckets)
        widen(t);
    doc = cut(t);
    doc->hash = w->hash;
    doc->index_queue = o;
    document_begin(doc, w);

    struct document **bucket = bucket_of(t, w->hash);

    doc->hash_next = *bucket;
    *bucket = doc;
    t->n_documents++;
    return doc;
}

void document_table_remove(struct document_table *t, struct document *doc)
{
    struct document **at = bucket_of(t, doc->hash);

    assert(doc->now == NULL && doc->later == NULL && !link_is_listed(&doc->link));
    while (*at != doc)
        at = &(*at)->hash_next;
    *at = doc->hash_next;
    doc->hash_next = t->unused;
    t->unused = doc;
    t->n_documents--;
}

void document_table_fetch(const struct document_table *t, uint64_t hash)
{
    __builtin_prefetch(bucket_of(t, hash));
}

size_t document_table_count(const struct document_table *t)
{
    return t->n_documents;
}

struct document *document_table_next(struct document_table *t, struct document_cursor *at)
{
    struct document *doc = at->next;

    while (doc == NULL && at->bucket < t->n_buckets)
        doc = t->buckets[at->bucket++];
    at->next = doc == NULL ? NULL : doc->hash_next;
    return doc;
}

/*
 * An index queue with usual settings, and documents of one index that arrive at it, go in
 * batches and are delivered or come back, at a time that the test sets.
 */
#ifndef TESTS_UNIT_INDEX_QUEUE_FIXTURE_H
#define TESTS_UNIT_INDEX_QUEUE_FIXTURE_H

#include "tests/unit/unit.h"
#include "tests/unit/writes.h"

#include "src/base/mem.h"
#include "sync/delivery/document/document_table.h"
#include "sync/delivery/index/index_queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fixture {
    struct index_queue *index_queue;
    struct document_table *table;
    struct target *target;
    struct write_ends ends;
    int64_t now_ms;
};

static const struct index_queue_options usual = {
    .workers = 4,
    .width_max = 4,
    .batch_min = 1,
    .batch_bytes = 1 << 20,
    .flush_ms = 1000,
    .job_share = 20,
    .fuse = {.failures = 3, .window_ms = 5000, .reset_ms = 30000}};

static inline void begin(struct fixture *f, const struct index_queue_options *opt)
{
    index_queue_free(f->index_queue);
    f->index_queue = index_queue_new(STR("orders_v2"), opt, 1);
}

static inline int set_up(void **state)
{
    static struct fixture f;

    f = (struct fixture){.table = document_table_new(), .target = a_target("orders_v2")};
    f.now_ms = 1000000;
    begin(&f, &usual);
    *state = &f;
    return 0;
}

static inline int tear_down(void **state)
{
    struct fixture *f = *state;

    index_queue_free(f->index_queue);
    document_table_free(f->table, &f->ends);
    target_unref(f->target);
    return 0;
}

static inline struct document *arrive_as(struct fixture *f, bool gathered, enum doc_op op,
                                         unsigned id, uint64_t version, const char *body)
{
    struct document *doc;
    struct write *w;
    char name[16];
    bool to_place;

    snprintf(name, sizeof(name), "%u", id);
    w = a_write(f->target, op, name, version, body);
    w->gathered = gathered;
    doc = document_table_arrive(f->table, f->index_queue, w, &f->ends, &to_place);
    if (to_place)
        index_queue_place(f->index_queue, doc, f->now_ms);
    else
        index_queue_resize(f->index_queue, doc);
    return doc;
}

static inline struct document *arrive(struct fixture *f, enum doc_op op, unsigned id,
                                      uint64_t version, const char *body)
{
    return arrive_as(f, false, op, id, version, body);
}

static inline void arrive_many(struct fixture *f, unsigned first, unsigned n, const char *body)
{
    for (unsigned i = 0; i < n; i++)
        arrive(f, DOC_INDEX, first + i, 1, body);
}

static inline bool next(struct fixture *f, struct batch *b)
{
    index_queue_turn(f->index_queue, f->now_ms);
    return index_queue_next_batch(f->index_queue, f->now_ms, false, b);
}

/* All documents of the batch were delivered. */
static inline void deliver(struct fixture *f, struct batch *b)
{
    for (size_t i = 0; i < b->n; i++) {
        if (document_end(b->docs[i], OUTCOME_DELIVERED, &f->ends))
            index_queue_place(f->index_queue, b->docs[i], f->now_ms);
        else
            document_table_remove(f->table, b->docs[i]);
    }
    index_queue_end_batch(f->index_queue, b);
}

/* None of it was applied, and all goes back to where it was. */
static inline void give_back(struct fixture *f, struct batch *b)
{
    for (size_t i = b->n; i-- > 0;) {
        document_not_applied(b->docs[i], &f->ends);
        index_queue_place_first(f->index_queue, b->docs[i], f->now_ms);
    }
    index_queue_end_batch(f->index_queue, b);
}

/* The caller frees it. */
static inline char *text_of(size_t len)
{
    char *text = mem_alloc(len + 1, 1);

    memset(text, 'x', len);
    return text;
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif

/*
 * One document "1" of one index, in a table: what arrives for it, and what becomes of it.
 */
#ifndef TESTS_UNIT_ONE_DOCUMENT_H
#define TESTS_UNIT_ONE_DOCUMENT_H

#include "tests/unit/unit.h"
#include "tests/unit/writes.h"

#include "sync/delivery/document/document_table.h"

struct fixture {
    struct document_table *table;
    struct target *target;
    struct ticket_counters tickets;
    struct write_ends ends;
    struct document *doc;
};

static inline int set_up(void **state)
{
    static struct fixture f;

    f = (struct fixture){.table = document_table_new(), .target = a_target("orders_v2")};
    *state = &f;
    return 0;
}

static inline int tear_down(void **state)
{
    struct fixture *f = *state;

    document_table_free(f->table, &f->ends);
    target_unref(f->target);
    return 0;
}

static inline void arrive(struct fixture *f, enum doc_op op, uint64_t version, const char *body)
{
    struct write *w = counted(a_write(f->target, op, "1", version, body), &f->tickets);
    bool to_place;

    f->doc = document_table_arrive(f->table, NULL, w, &f->ends, &to_place);
}

static inline void arrive_fill(struct fixture *f, uint64_t version, const char *body)
{
    struct write *w = counted(a_write(f->target, DOC_INDEX, "1", version, body), &f->tickets);
    bool to_place;

    w->strict = true;
    f->doc = document_table_arrive(f->table, NULL, w, &f->ends, &to_place);
}

static inline void loaded(struct fixture *f, uint64_t stamp, const char *body)
{
    document_loaded(f->doc, stamp, body == NULL ? (struct str){0} : str_from(body), &f->ends);
}

static inline void end(struct fixture *f, enum outcome how)
{
    if (document_end(f->doc, how, &f->ends))
        return;
    document_table_remove(f->table, f->doc);
    f->doc = NULL;
}

static inline uint64_t done(const struct fixture *f, enum outcome how)
{
    return f->tickets.done[how];
}

static inline uint64_t open_tickets(const struct fixture *f)
{
    uint64_t n = f->tickets.read;

    for (unsigned i = 0; i < N_OUTCOMES; i++)
        n -= f->tickets.done[i];
    return n;
}

#define CHECK_NOW(f, s, v, text)                                           \
    do {                                                                   \
        assert_int_equal((f)->doc->state, (s));                            \
        assert_true((f)->doc->now->version == (v));                        \
        assert_true(str_equal(write_body((f)->doc->now), str_from(text))); \
    } while (0)

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif

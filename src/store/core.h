/*
 * What the store's files share: the transaction around each call, and arrays of rows.
 *
 * Only files of src/store include this.
 */
#ifndef SRC_STORE_CORE_H
#define SRC_STORE_CORE_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/lock.h"
#include "src/base/str.h"
#include "src/store/backend.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

/* What this store's user owns (owned.c). */
struct owned {
    struct lock lock;
    bool alone; /* nobody else has the store */
    struct owned_thing *first;
    void (*lost)(void *ctx); /* set at the start; NULL: nobody asks */
    void *ctx;
};
void owned_init(struct owned *all, bool alone);
void owned_fini(struct owned *all);

struct store {
    struct lock lock; /* held through each transaction, which can block */
    struct store_backend *backend;
    bool may_write;   /* in this transaction: it has passed a fence */
    bool is_followed; /* in this transaction: it changed what all nodes follow */
    bool has_lost;    /* in this transaction: it was refused what we owned */
    uint64_t doubts;  /* atomic */
    void (*refused)(const struct err *why); /* store_watch_refusal(); NULL: nobody asks */
    const struct seal *seal; /* borrowed; NULL: passwords are stored in clear text */
    struct owned owned;      /* src/store/owned.h */
};

/* What a write is for: who may write is its topic's owner. */
struct fence {
    enum {
        FENCE_NOBODY,  /* anybody may, as its call says */
        FENCE_TOPIC,   /* "shop" */
        FENCE_INDEX,   /* a version of an index: "orders", 2 */
        FENCE_VERSION, /* the same by its name, "orders_v2" */
        FENCE_TABLE,   /* "shop.orders" */
        FENCE_VALUE,   /* a small value, by its name */
        FENCE_JOB,     /* by its id */
    } kind;
    struct str name;
    uint64_t number;
};
#define OF_NOBODY      ((struct fence){.kind = FENCE_NOBODY})
#define OF_TOPIC(n)    ((struct fence){.kind = FENCE_TOPIC, .name = (n)})
#define OF_INDEX(i, n) ((struct fence){.kind = FENCE_INDEX, .name = (i), .number = (n)})
#define OF_VERSION(n)  ((struct fence){.kind = FENCE_VERSION, .name = (n)})
#define OF_TABLE(n)    ((struct fence){.kind = FENCE_TABLE, .name = (n)})
#define OF_VALUE(n)    ((struct fence){.kind = FENCE_VALUE, .name = (n)})
#define OF_JOB(n)      ((struct fence){.kind = FENCE_JOB, .number = (n)})

/* Lock the store and begin a transaction that only reads.  After success call store_end(). */
bool store_begin(struct store *s, struct err *err) TAKES_IF(true, s->lock) MUST_CHECK;
/* The same for one that writes.  ERR_STOP unless we own what it is for. */
bool store_begin_write(struct store *s, struct fence of, struct err *err)
    TAKES_IF(true, s->lock) MUST_CHECK;
/* The same, for the owner of a topic.  ERR_STOP unless `term` is its latest term. */
bool store_begin_as(struct store *s, struct str topic, uint64_t term, struct err *err)
    TAKES_IF(true, s->lock) MUST_CHECK;
/* Commit if ok, else roll back; then unlock.  Returns true only if ok and committed. */
bool store_end(struct store *s, bool ok, struct err *err) GIVES_BACK(s->lock) MUST_CHECK;

/* Inside a transaction that writes: it is for this as well.  ERR_STOP unless we own it. */
bool store_fence(struct store *s, struct fence of, struct err *err) MUST_CHECK;
/* The same, for the owner of a topic.  ERR_STOP unless `term` is its latest term. */
bool store_fence_as(struct store *s, struct str topic, uint64_t term,
                    struct err *err) MUST_CHECK;

/*
 * The same, for the owner of a topic, or for who fills a part of the version ("orders_v2") of
 * an index of it.  ERR_STOP unless we are one of them.
 */
bool store_fence_filler(struct store *s, struct str topic, struct str version,
                        struct err *err) MUST_CHECK;

/* Call these inside a transaction; those that write, in one that does. */
/* Raise the term of a thing, and own it from then on. */
bool store_raise_term(struct store *s, struct str thing, uint64_t *term,
                      struct err *err) MUST_CHECK;
bool store_run(struct store *s, const char *sql, struct binds binds,
               struct err *err) MUST_CHECK;
bool store_run_rows(struct store *s, const char *sql, struct binds binds, size_t n_rows,
                    struct err *err) MUST_CHECK;
bool store_select(struct store *s, const char *sql, struct binds binds, struct row_sink *sink,
                  struct err *err) MUST_CHECK;
/*
 * Read the single number that sql returns.  Without a row: 0, and *found is false.  found may
 * be NULL.
 */
bool store_select_number(struct store *s, const char *sql, struct binds binds, uint64_t *number,
                         bool *found, struct err *err) MUST_CHECK;
/* ERR_STOP unless `term` is the latest term of `thing`. */
bool store_check_term(struct store *s, struct str thing, uint64_t term,
                      struct err *err) MUST_CHECK;

/* Call these inside a transaction.  Each lives in the file that looks after its table. */
struct definition_effects;
struct stored_fan_out;
struct stored_job;
struct stored_rebuild;
struct stored_stop;
struct version_name;
/*
 * Store parts of a delayed run, of the kind JOB_PART, and number them.  Leaves out those of
 * versions that are not live any more.
 */
bool store_write_parts(struct store *s, struct stored_job *parts, size_t n,
                       struct err *err) MUST_CHECK;
/* As store_put_fan_outs(); whoever began the transaction owns their source. */
bool store_write_fan_outs(struct store *s, const struct stored_fan_out *jobs, size_t n,
                          struct err *err) MUST_CHECK;
/* Whole tables that the run took, and that an index shows as they were, wait again. */
bool store_write_unbuilt(struct store *s, uint64_t run, int64_t now_ms,
                         struct err *err) MUST_CHECK;
bool store_write_effects(struct store *s, const struct definition_effects *e,
                         struct err *err) MUST_CHECK;
bool store_write_value(struct store *s, struct str name, struct str value,
                       struct err *err) MUST_CHECK;
bool store_write_stop(struct store *s, const struct stored_stop *stop,
                      struct err *err) MUST_CHECK;
bool store_write_rebuild(struct store *s, const struct stored_rebuild *r,
                         struct err *err) MUST_CHECK;
bool store_write_drop(struct store *s, const struct version_name *v,
                      struct err *err) MUST_CHECK;
/* The build of a version ends, if the log has one: by a promotion, or, unless it has, a drop.
 */
bool store_write_build_succeeded(struct store *s, const struct version_name *v,
                                 struct err *err) MUST_CHECK;
bool store_write_build_dropped(struct store *s, const struct version_name *v,
                               struct err *err) MUST_CHECK;
/*
 * Nothing is written to the version any more: forget its pending work.  reason: why it is not
 * current, or empty.
 */
bool store_write_history(struct store *s, const struct version_name *v, struct str reason,
                         int64_t at_ms, struct err *err) MUST_CHECK;
/* Is the version in this state? The answer holds until the transaction ends. */
bool store_is_in_state(struct store *s, const struct version_name *v, const char *state,
                       bool *is, struct err *err) MUST_CHECK;
/* Delete the table's stop, and its wish for a rebuild. */
bool store_forget_table(struct store *s, struct str table, struct err *err) MUST_CHECK;
/*
 * Is the version still written to, so that its documents matter? The answer holds until the
 * transaction ends.
 */
bool store_version_is_live(struct store *s, struct str index, uint64_t number, bool *live,
                           struct err *err) MUST_CHECK;

/* Run one statement in a transaction of its own. */
bool store_run_alone(struct store *s, struct fence of, const char *sql, struct binds binds,
                     struct err *err) MUST_CHECK;

/* Collects rows as an array in an arena. */
struct row_list {
    struct row_sink sink;
    struct arena *arena;
    size_t size; /* of one element */
    void (*fill)(struct arena *a, const struct str *cells, void *element);
    char *elements; /* until row_list_finish */
    size_t n, cap;
};

#define ROW_LIST(a, type, fill_fn) \
    ((struct row_list){            \
        .sink = {row_list_take}, .arena = (a), .size = sizeof(type), .fill = (fill_fn)})

void row_list_take(struct row_sink *sink, const struct str *cells);
/* Move the array into the arena and return it. */
void *row_list_finish(struct row_list *list, size_t *n) MUST_CHECK;
/* Run one SELECT in a transaction of its own. */
bool store_load(struct store *s, const char *sql, struct binds binds, struct row_list *list,
                struct err *err) MUST_CHECK;

/* Parse a cell as a number; 0 for NULL. */
uint64_t row_number(struct str cell);
/*
 * Nodes' clocks may differ, so the store's counts between them: what is written is "{now_ms} -
 * ?", with the age of a wall time, and what is read is "{now_ms} - column", whose cell gives a
 * time of our wall clock.  A time to come counts as now.
 */
uint64_t store_age(int64_t wall_ms);
int64_t store_time(struct str age);

size_t store_text_max(struct store *s);

#endif

/*
 * What tests of delivery stand on: a fake search engine, a delivery with one index (orders_v2),
 * a table of rows that a loader thread reads, and notes of every call that delivery makes.
 */
#ifndef TESTS_COMPONENT_DELIVERY_RIG_H
#define TESTS_COMPONENT_DELIVERY_RIG_H

#include "src/base/base.h"
#include "sync/delivery/delivery.h"
#include "tests/component/delivery_rig_calls.h"
#include "tests/component/delivery_rig_reads.h"
#include "tests/fakes/fake_search.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define RIG_MARK_ZERO SIZE_MAX /* a high-water mark of 0 */

/*
 * The rig.  Its parts say in their headers what they are for and who writes them.
 *
 * @thread one test; the lock guards the parts, but a test may use them without it while neither
 * delivery nor the loader thread does anything
 */
struct rig {
    struct fake_search *fake;
    struct search *search;     /* NULL before rig_start() */
    struct delivery *delivery; /* NULL before rig_start() */
    struct target *target;
    struct ticket_counters tickets; /* of all that the rig submits; atomic */

    pthread_mutex_t lock;
    struct rig_table table;
    struct rig_reads reads;
    struct rig_dead dead;
    struct rig_purged purged;
    struct rig_gone gone;
    struct rig_reports reports;
    struct rig_versions versions;
};

struct rig *rig_new(void) RETURNS_NONNULL;
void rig_free(struct rig *r);

/* A test with a rig of its own: struct rig *r = *state. */
#define RIG_TEST(name) cmocka_unit_test_setup_teardown(name, rig_set_up, rig_tear_down)
int rig_set_up(void **state);
int rig_tear_down(void **state);

/*
 * opt may be NULL; its callbacks are the rig's.  A setting of 0 gets its default, the read
 * window apart.  Unless opt says more of fuses they blow late and are tried again soon, as days
 * are bad in most tests; what fails without a reason is given up soon.
 */
void rig_start(struct rig *r, const struct delivery_options *opt);
/* The same, with the way to log in and TLS of access; its addresses do not count. */
struct search_options;
void rig_start_as(struct rig *r, const struct delivery_options *opt,
                  const struct search_options *access);
/* Another address comes first. */
void rig_start_behind(struct rig *r, const struct delivery_options *opt, const char *url);
/* The same, and nobody is there. */
void rig_start_with_dead_address(struct rig *r, const struct delivery_options *opt);

/* Delivery ends as with a daemon that is killed, the engine goes on; then rig_start(). */
void rig_kill(struct rig *r);

/* ---- the rows that delivery reads (delivery_rig_reads.h) ---- */

/* text NULL: the row is gone. */
void rig_set_row(struct rig *r, int id, const char *text);
/* The row's document has this routing from now on. */
void rig_set_place(struct rig *r, int id, const char *routing);
void rig_set_part(struct rig *r, int id, const char *text);
/* Documents have an area from now on, "part", beside "text".  Before anything is submitted. */
void rig_use_area(struct rig *r);
/* Reads that must include more than that are ahead from now on. */
void rig_set_reach(struct rig *r, uint64_t reach);

/* ---- what tests hand to delivery; each write has a ticket, rig_submit()'s apart ---- */

void rig_submit(struct rig *r, const struct doc_write *w);
/* To another index than the rig's. */
void rig_index_to(struct rig *r, struct target *t, int id, uint64_t version, const char *text);
/* What was purged is read and written again, at version; it is forgotten that it was. */
void rig_repair(struct rig *r, uint64_t version);
/* text becomes {"text": ...}. */
void rig_index(struct rig *r, int id, uint64_t version, const char *text);
void rig_fill(struct rig *r, int id, uint64_t version, const char *text);
void rig_delete(struct rig *r, int id, uint64_t version);
void rig_refresh(struct rig *r, int id, uint64_t at_least);
/* As another source asks for it. */
void rig_refresh_fresh(struct rig *r, int id, uint64_t at_least);
/* As a job asks for it, with many others. */
void rig_refresh_gathered(struct rig *r, int id, uint64_t at_least);
void rig_refresh_area(struct rig *r, int id, uint64_t at_least);
/* A refresh, or a strict delete, under a routing. */
void rig_refresh_at(struct rig *r, int id, uint64_t at_least, const char *routing);
void rig_leave(struct rig *r, int id, uint64_t version, const char *routing);
/* n documents from id on, versions from version on, in one call. */
void rig_index_many(struct rig *r, int id, int n, uint64_t version, const char *text);

/* A thread that submits n documents, one by one. */
struct rig_pusher {
    struct rig *rig;
    pthread_t thread;
    const char *text; /* NULL: they are refreshed */
    uint64_t at_least;
    int n, n_pushed; /* atomic */
};
void rig_push(struct rig *r, struct rig_pusher *p, int n, const char *text);
void rig_push_refreshes(struct rig *r, struct rig_pusher *p, int n, uint64_t at_least);
int rig_pushed(struct rig_pusher *p);

/* ---- what delivery has done so far ---- */

uint64_t rig_done(struct rig *r, enum outcome how);
size_t rig_purged(struct rig *r);
size_t rig_events(struct rig *r, enum delivery_event what);
bool rig_is_held(struct rig *r);
bool rig_is_partly(struct rig *r); /* it takes a part of its documents */

/* ---- waiting; each fails after 20 s ---- */

void rig_wait_pushed(struct rig_pusher *p); /* all; it is joined */
void rig_wait_done(struct rig *r);          /* no ticket is open */
void rig_wait_held(struct rig *r, bool held);
void rig_wait_let_go(struct rig *r); /* held no more, without an event */
void rig_wait_events(struct rig *r, enum delivery_event what, size_t n); /* or more */
void rig_wait_partly(struct rig *r);
void rig_wait_requests(struct rig *r, uint64_t n);
void rig_wait_failed(struct rig *r, uint64_t n); /* or more requests */
void rig_wait_burying(struct rig_dead *dead);
void rig_wait_held_bytes(struct rig *r, size_t n);
void rig_wait_cleared(struct rig *r, size_t n);
void rig_wait_gone(struct rig *r, size_t n);
void rig_wait_purged(struct rig *r, size_t n);
void rig_wait_queued(struct rig *r, uint64_t n);
void rig_wait_empty(struct rig *r);                    /* nothing is queued or read */
void rig_wait_read(struct rig_reads *reads, size_t n); /* documents, or more */
void rig_wait_blocked(struct rig *r, size_t n_callers);
void rig_wait_count(struct rig *r, const char *index, size_t n);
void rig_sleep(int64_t ms);

/* ---- what is in the engine, in the metrics and in the log ---- */

/* version 0: any; text NULL: any. */
void rig_check(struct rig *r, int id, uint64_t version, const char *text);
/* The document without what is ours is {"text":text,"part":part}; version 0: any. */
void rig_check_parts(struct rig *r, int id, uint64_t version, const char *text,
                     const char *part);
void rig_check_gone(struct rig *r, int id);
/* A line of /metrics begins so; its value. */
double rig_metric(struct rig *r, const char *series);
/* Lines of the log file after this offset, and events. */
size_t rig_lines(struct rig *r, int log_fd, off_t from);

#endif

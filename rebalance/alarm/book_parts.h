/* What the files of struct alarm_book share. */
#ifndef REBALANCE_ALARM_BOOK_PARTS_H
#define REBALANCE_ALARM_BOOK_PARTS_H

#include "rebalance/alarm/book.h"
#include "rebalance/alarm/budget.h"
#include "src/base/buf.h"

/* One alarm. */
struct alarm_entry {
    char *code, *object;
    struct buf text, fix; /* of the worst finding, as last seen */
    bool is_failure;
    bool is_seen;                       /* in the look in progress */
    bool is_open;                       /* "begins" was said */
    bool was_failure_said;              /* the last message said that it fails */
    size_t n, n_said;                   /* findings: now, and as of the last message */
    int64_t since_ms;                   /* wall: when it was seen first */
    int64_t first_ms, seen_ms, said_ms; /* monotonic: seen first, seen last, said last */
};

/* What was not said one by one. */
struct alarm_rest {
    size_t n[N_ALARM_STATES];
    bool has_failure;
    int64_t since_ms; /* wall */
};

struct alarm_book {
    struct alarm_limits limits;
    struct alarm_budget budget;
    struct alarm_entry **entries; /* in the order in which they were seen first */
    size_t n, cap;
    struct alarm_rest rest;
    uint64_t turn;
};

/* Adds an alarm at the end.  The book owns it. */
struct alarm_entry *alarm_book_add(struct alarm_book *b, struct str code,
                                   struct str object) RETURNS_NONNULL;

#endif

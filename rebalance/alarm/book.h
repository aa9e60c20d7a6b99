/*
 * struct alarm_book: which alarms are open, and what is to be said of them now.
 *
 *                   lasted `after`             seen no more for `after`
 *      seen: waits ----------------> open --------------------------> gone: "over"
 *        |            "begins"      |    ^
 *        | seen no more             +----+ `repeat` has passed, or it has grown worse: "lasts"
 *        v
 *      forgotten
 *
 * There is one alarm for each code and object; findings that have both alike are one, which
 * counts them. A finding of which another node tells (is_others) ends an alarm here without a
 * word.
 *
 * Bounds: `open_max` alarms are kept; one more, ALARM_MORE, stands for the findings beyond. At
 * most `minute_max` messages are said in any minute, failures before warnings; the next one
 * after that, ALARM_SUM, says how many were not.
 *
 * Pure: the caller passes the time. @thread one at a time
 */
#ifndef REBALANCE_ALARM_BOOK_H
#define REBALANCE_ALARM_BOOK_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct alarm_book;

#define ALARM_MORE   "alarms.more"
#define ALARM_SUM    "alarms.sum"
#define ALARM_OBJECT "alarms" /* of these two */

struct alarm_limits {
    int64_t after_ms, after_warning_ms; /* of failures, and their ends; of warnings */
    int64_t repeat_ms;
    size_t open_max;   /* at least 1 */
    size_t minute_max; /* 1 to ALARM_BUDGET_MAX */
};

/* What is not well now. */
struct alarm_finding {
    struct str code, object; /* "table.runs", "table shop.orders" */
    struct str text, fix;
    bool is_failure; /* else a warning */
    bool is_others;
};

enum alarm_state {
    ALARM_BEGINS = 0,
    ALARM_LASTS,
    ALARM_OVER,
    N_ALARM_STATES,
};

/* Borrowed from the book until the callback returns. */
struct alarm_message {
    enum alarm_state state;
    struct str code, object, text, fix;
    bool is_failure;
    size_t n;         /* how many findings it stands for */
    int64_t since_ms; /* wall time */
};

typedef void alarm_say_fn(void *ctx, const struct alarm_message *m);

struct alarm_look {
    const struct alarm_finding *findings; /* all of them; borrowed during the call */
    size_t n;
    int64_t now_ms, wall_ms; /* monotonic, and of people's clock */
    alarm_say_fn *say;
    void *ctx;
};

struct alarm_book *alarm_book_new(const struct alarm_limits *limits) RETURNS_NONNULL MUST_CHECK;
void alarm_book_free(struct alarm_book *b); /* NULL is fine */

/* Compare the book with what is found now, and say what is due. */
void alarm_book_look(struct alarm_book *b, const struct alarm_look *l);

/* How many alarms are open. */
size_t alarm_book_n_open(const struct alarm_book *b);
/* Rises whenever an alarm begins or is over. */
uint64_t alarm_book_turn(const struct alarm_book *b);

#endif

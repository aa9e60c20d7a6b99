/*
 * struct fuse: keeps requests away from an index that fails.
 *
 * Enough failed requests blow it: within a window, or in a row at any pace.  A blown fuse lets
 * nothing through.  Some time later one small request probes the index.  Any answer to it,
 * whatever it says, heals the fuse; another failure restarts the wait.  (The metrics call a
 * failure that counts a melt.)  Elsewhere this is called a circuit breaker.
 *
 *      CLOSED ──enough failures──► BLOWN ──a request goes──► PROBING
 *         ▲                          ▲                          │ │
 *         │                          └────────failure───────────┘ │
 *         └──────────────────────────answered─────────────────────┘
 *
 * The fuse ignores answers to requests sent before its state changed.  If there are several
 * addresses, one alone may be sick: its failures are excused until another address fails, too.
 *
 * Pure: the caller passes the time.
 *
 * @thread one at a time
 */
#ifndef SYNC_DELIVERY_INDEX_FUSE_H
#define SYNC_DELIVERY_INDEX_FUSE_H

#include "src/base/base.h"
#include "src/config/settings.h"

#include <stdbool.h>
#include <stdint.h>

enum fuse_state { FUSE_CLOSED = 0, FUSE_BLOWN, FUSE_PROBING };

/* What a call changed. */
enum fuse_change { FUSE_SAME = 0, FUSE_BLEW, FUSE_HEALED };

/* How a request failed. */
enum failure {
    FAILURE_ANSWER = 0, /* a timeout, a status of 500 or more, an answer that cannot be read */
    /* One node or one shard may cause these: they count in a row only. */
    FAILURE_CONNECTION, /* refused or cut; several in flight together count as one */
    FAILURE_ITEMS,      /* answered, but every document failed */
};

struct fuse_options {
    unsigned failures; /* 1 to DELIVERY_FAILURES_MAX */
    int64_t window_ms, reset_ms;
};

struct fuse {
    struct fuse_options opt;
    enum fuse_state state;
    int64_t since_ms; /* ignores requests sent before */
    int64_t try_ms;   /* BLOWN: a request may go from here on */
    unsigned n_in_row;
    int64_t last_ms;  /* the last failure that counted; -1: none */
    uint64_t excused; /* the first address that failed since the last answer; 0: none */
    bool are_several; /* another one failed, too: none is excused */
    unsigned n_failures;
    int64_t failures_ms[DELIVERY_FAILURES_MAX]; /* a ring of the last failures */
};

/* Returned by fuse_opens_at() while a probe is out. */
#define FUSE_NEVER_MS INT64_MAX

void fuse_init(struct fuse *f, const struct fuse_options *opt);
/* Change the options.  A blown fuse stays blown until the new reset time. */
void fuse_set(struct fuse *f, const struct fuse_options *opt);

/* A request sent at sent_ms has failed. */
enum fuse_change fuse_count_failure(struct fuse *f, enum failure how, int64_t sent_ms,
                                    int64_t now_ms);
/*
 * A request sent at sent_ms to address (any number but 0) failed, while another address could
 * be used.  Returns true if that address alone may be to blame: do not count the failure.
 * Excuses nothing while the fuse is not closed, as a probe always counts.
 */
bool fuse_excuses(struct fuse *f, uint64_t address, int64_t sent_ms);
/* A request sent at sent_ms was answered. */
enum fuse_change fuse_good(struct fuse *f, int64_t sent_ms);
/* Close the fuse: something else keeps requests away now. */
enum fuse_change fuse_close(struct fuse *f, int64_t now_ms);

/* Return the time from which a request may go.  0: the fuse is closed. */
int64_t fuse_opens_at(const struct fuse *f);
/* Call when a request goes. */
void fuse_begin(struct fuse *f, int64_t now_ms);
/* Let a request go now, on an operator's demand. */
void fuse_try(struct fuse *f, int64_t now_ms);

#endif

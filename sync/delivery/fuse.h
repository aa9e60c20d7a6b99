/*
 * struct fuse: what keeps requests away from an index that fails.
 *
 * Enough failed requests (melts) within a window, or in a row however slow, blow it.  While it is
 * blown nothing goes; some time later one small request is tried.  Any answer to that, whatever
 * it says, heals the fuse; another melt begins the wait anew.
 *
 *      CLOSED ──enough melts──► BLOWN ──a request goes──► PROBING
 *         ▲                       ▲                          │ │
 *         │                       └──────────melt────────────┘ │
 *         └────────────────────────answered────────────────────┘
 *
 * An answer to what was sent before the fuse changed says nothing of now.  Of several addresses
 * one alone may be sick: what fails there is excused, until another one has failed as well.
 *
 * Pure: the time is handed in.
 *
 * @thread one at a time
 */
#ifndef SYNC_DELIVERY_FUSE_H
#define SYNC_DELIVERY_FUSE_H

#include "src/base/base.h"

#include <stdbool.h>
#include <stdint.h>

#define FUSE_FAILURES_MAX 100

enum fuse_state { FUSE_CLOSED = 0, FUSE_BLOWN, FUSE_PROBING };

/* What a call has made of it. */
enum fuse_change { FUSE_SAME = 0, FUSE_BLEW, FUSE_HEALED };

/* How a request failed. */
enum melt {
    MELT_ANSWER = 0, /* a timeout, a status of 500 or more, an answer that cannot be read */
    /* These may be one node's trouble, or one shard's: they count in a row only. */
    MELT_CONNECTION, /* refused, or cut; several that were in flight together count as one */
    MELT_ITEMS,      /* answered, but all its documents failed */
};

struct fuse_options {
    unsigned failures; /* 1 to FUSE_FAILURES_MAX */
    int64_t window_ms, reset_ms;
};

struct fuse {
    struct fuse_options opt;
    enum fuse_state state;
    int64_t since_ms; /* what was sent before says nothing */
    int64_t try_ms;   /* BLOWN: a request may go */
    unsigned n_in_row;
    int64_t last_ms; /* the last melt that counted, -1: none */
    uint64_t excused; /* an address that failed since the last answer, 0: none */
    unsigned n_melts;
    int64_t melts_ms[FUSE_FAILURES_MAX]; /* the last of them, by number */
};

/* When it opens while a probe is out. */
#define FUSE_NEVER_MS INT64_MAX

void fuse_init(struct fuse *f, const struct fuse_options *opt);
/* Other options from now on; a fuse that is blown stays so, until what is now the reset time. */
void fuse_set(struct fuse *f, const struct fuse_options *opt);

/* A request that was sent at sent_ms has failed. */
enum fuse_change fuse_melt(struct fuse *f, enum melt how, int64_t sent_ms, int64_t now_ms);
/*
 * A request that was sent at sent_ms failed at an address (any number but 0 that names it) while
 * another one could be used.  True: that address may be to blame alone, and nothing melts.
 * False: melt.  What shows whether a fuse that is not closed heals always says something of the
 * index.
 */
bool fuse_excuses(struct fuse *f, uint64_t address, int64_t sent_ms);
/* One was answered. */
enum fuse_change fuse_good(struct fuse *f, int64_t sent_ms);
/* Something else keeps requests away now. */
enum fuse_change fuse_close(struct fuse *f, int64_t now_ms);

/* From when on may a request go?  0: it is closed. */
int64_t fuse_opens_at(const struct fuse *f);
/* A request goes. */
void fuse_begin(struct fuse *f, int64_t now_ms);
/* One may go now, by hand. */
void fuse_try(struct fuse *f, int64_t now_ms);

#endif

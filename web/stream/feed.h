/*
 * What one stream of server-sent events sends next (the living standard of HTML, "Server-sent
 * events").  Pure: it knows no sockets and no clock.
 *
 * A stream tells of states, never of what happened between them.  It holds the state that it is
 * sending and nothing else, so a slow reader gets the newest state next, and misses those that
 * were newer than the last one for a while.
 *
 * @thread one at a time
 */
#ifndef WEB_STREAM_FEED_H
#define WEB_STREAM_FEED_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FEED_PAUSE_MS 500  /* between the beginnings of two states: two a second at most */
#define FEED_PING_MS  5000 /* after so long without a word, a comment shows that we live */

/* One state, as all streams send it. */
struct feed_state {
    unsigned refs;
    uint64_t number;    /* counts the states, from 1 */
    struct buf message; /* "id: …", "event: status", "data: …", and the empty line */
    size_t json_at;     /* where its JSON begins there */
    size_t json_len;
};

/* json: an object, of which line ends become spaces.  The caller has the first reference. */
struct feed_state *feed_state_new(struct str origin, uint64_t number,
                                  struct str json) RETURNS_NONNULL MUST_CHECK;
void feed_state_unref(struct feed_state *s); /* NULL is fine */
/* The status itself. */
struct str feed_state_json(const struct feed_state *s);
/* Whether this is its id. */
bool feed_state_is(const struct feed_state *s, struct str id) MUST_CHECK;

struct feed {
    struct feed_state *sending; /* NULL: none, or a text that never changes */
    struct str text;            /* what is being sent; empty: nothing */
    size_t sent;
    uint64_t had;     /* the number of the state that its reader has, or gets just now */
    bool greeted;     /* the first line was begun */
    int64_t begun_ms; /* when the last state was begun; INT64_MIN: never */
    int64_t spoke_ms; /* when anything was begun */
};

/* had: the number of the state that the reader has already; 0: none. */
void feed_init(struct feed *f, uint64_t had, int64_t now_ms);
void feed_fini(struct feed *f);
/*
 * Copy the next bytes to out, at most max.  latest: the state of now; NULL: not known yet.
 * Returns how many; 0: the reader has all that it should have now.
 */
size_t feed_take(struct feed *f, struct feed_state *latest, int64_t now_ms, char *out,
                 size_t max) MUST_CHECK;
/* Whether feed_take() would copy anything. */
bool feed_has_more(const struct feed *f, const struct feed_state *latest,
                   int64_t now_ms) MUST_CHECK;

#endif

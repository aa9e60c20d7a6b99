/*
 * Wishes: commands for a topic's owner that another node received from a person.
 *
 *     put ──► new ──take──► taken ──end──► done ──prune──► gone
 *              ├──cancel──► gone   └─────► done with 503: its owner went away
 *              └──prune───► gone: its requester went away
 *
 * The owner takes and ends a wish under its term, so an older owner can do neither.  What an
 * older one took and did not end is handed out again only if the command can be repeated.
 * Whoever put a wish waits for its answer by asking for it.
 *
 * @thread any (locked inside; calls may block)
 */
#ifndef SRC_STORE_WISH_H
#define SRC_STORE_WISH_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct store;

#define WISH_NEW   "new"
#define WISH_TAKEN "taken"
#define WISH_DONE  "done"

/* A topic has at most so many that are not done. */
#define WISHES_MAX 1000
/* The longest body and answer in bytes; a MySQL server may set a lower limit. */
#define WISH_BODY_MAX ((size_t)1 << 20)

struct stored_wish {
    uint64_t id;     /* assigned by the store; rises */
    struct str guid; /* made up by whoever puts it: a wish is one, however often it is put */
    struct str topic;
    struct str node, user; /* requester: the node's id, the person */
    struct str method;     /* "POST" */
    struct str target;     /* path and query of the API */
    struct str body;       /* of the request */
    bool repeatable;       /* it may run twice */
    int64_t at_ms;         /* when, by our wall clock */
    struct str state;
    uint64_t term;     /* under which it was taken; 0: not yet */
    int status;        /* HTTP status; 0: not done */
    struct str answer; /* body of the response */
    struct str error;  /* done, but without an answer: why, for people; else empty */
    int64_t ended_ms;  /* by the store's clock; 0: not done */
};

/*
 * Put a wish and set w->id.  If one with the same guid exists, it stays unchanged and w->id is
 * its id.  ERR_REJECT, HTTP status 413: body and target are too long.  ERR_RETRY: the topic has
 * WISHES_MAX open ones.
 */
bool store_put_wish(struct store *s, struct stored_wish *w, struct err *err) MUST_CHECK;

/*
 * Load what is new or taken, of these topics, in order of id, without bodies and answers.  One
 * cheap SELECT if no topic has any.
 */
bool store_load_open_wishes(struct store *s, struct arena *a, const struct str *topics,
                            size_t n_topics, struct stored_wish **out, size_t *n,
                            struct err *err) MUST_CHECK;

/* Its newest owner, who calls now. */
struct wish_owner {
    struct str topic;
    uint64_t term;
    int64_t now_ms; /* wall time */
};

enum wish_take {
    TAKE_WON,  /* run it, and end it */
    TAKE_RUNS, /* taken under this same term: before, or by a call whose answer was lost */
    TAKE_LOST, /* an older owner took it and it cannot be repeated: it was ended with 503 */
    TAKE_OVER, /* it has ended, its requester gave up, or it is another topic's */
};

/*
 * Take the wish of this id and load it with its body into *w, unless it is gone.  Under one
 * term exactly one call wins.  If a call fails with ERR_RETRY, repeat it; TAKE_RUNS then means
 * that it had won, if nothing else in this process took the wish.  ERR_STOP: the topic has a
 * newer owner.
 */
bool store_take_wish(struct store *s, struct arena *a, const struct wish_owner *owner,
                     uint64_t id, struct stored_wish *w, enum wish_take *how,
                     struct err *err) MUST_CHECK;

struct wish_answer {
    uint64_t taken; /* the term under which the wish was taken */
    int status;
    struct str body; /* if it is too long, 500 and an error are stored instead */
};

/*
 * End the wish that this owner took, now or under an earlier term of its own: a command may
 * start its topic again.  Ended already: nothing changes.  ERR_STOP: the topic has a newer
 * owner, or the wish was taken under another term.
 */
bool store_end_wish(struct store *s, const struct wish_owner *owner, uint64_t id,
                    const struct wish_answer *answer, struct err *err) MUST_CHECK;

/* A wish as its requester knows it; others get nothing. */
struct wish_name {
    uint64_t id;
    struct str node;
};
/* Load it without its body.  *found: false if it was cancelled or pruned, or is another node's.
 */
bool store_load_wish(struct store *s, struct arena *a, const struct wish_name *name,
                     struct stored_wish *out, bool *found, struct err *err) MUST_CHECK;
/*
 * The requester gave up: remove the wish if it is new.  *goes_on: it was taken, and goes on or
 * has ended.
 */
bool store_cancel_wish(struct store *s, const struct wish_name *name, bool *goes_on,
                       struct err *err) MUST_CHECK;
/*
 * Remove the wishes that ended before this time of our wall clock, and those that were put
 * before it and are still new.  It is so long ago that no requester waits any more.
 */
bool store_prune_wishes(struct store *s, int64_t before_ms, struct err *err) MUST_CHECK;

#endif

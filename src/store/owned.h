/*
 * Who owns what: the terms of things ("topic/shop", "job/12"), and the fence before every write
 * that follows from owning one (docs/rules.md, rule 9).
 *
 * Each taking raises the thing's term in the store.  A write for a thing is refused with
 * ERR_STOP, and changes nothing, unless its store's user has taken the newest term.  The store
 * knows what each call writes for (core.h), so callers name no term; those that a thread of one
 * source makes name its own, so that a thread of an older one is refused as well.
 *
 * A thing that nobody has ever taken is free.  A store that one daemon has alone
 * (store_open_sqlite(), store_open_mysql() with a place) needs no taking: the first write for a
 * thing takes over the term that is stored.  From then on it is refused as any other, once
 * somebody takes the thing.
 *
 * @thread any (locked inside; calls may block unless they say otherwise)
 */
#ifndef SRC_STORE_OWNED_H
#define SRC_STORE_OWNED_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct store;

/*
 * Raise and return the term of the thing, and own it.  The first is 1.  ERR_STOP for a job of a
 * topic that we do not own.
 */
bool store_take_term(struct store *s, struct str thing, uint64_t *term,
                     struct err *err) MUST_CHECK;
/*
 * Own it no more: from now on its writes are refused without asking the database, until it is
 * taken again.  What is being committed meanwhile is not.  Never blocks.
 */
void store_lose_term(struct store *s, struct str thing);
/*
 * Whether we own it, as far as we know: we have taken it, or have the store alone, and have not
 * lost it since.  That others took it we learn from the next write that is refused, which calls
 * `lost`: it holds no lock and only wakes somebody.  Never blocks.
 */
bool store_owns(struct store *s, struct str thing) MUST_CHECK;
/* The term under which we own it. False: we never took it, or lost it.  Never blocks. */
bool store_find_term(struct store *s, struct str thing, uint64_t *term) MUST_CHECK;
/* @thread whoever opened s, before others use it */
void store_watch_loss(struct store *s, void (*lost)(void *ctx), void *ctx);
/* ERR_STOP unless we own the thing: asked before something that the store does not see. */
bool store_ask_term(struct store *s, struct str thing, struct err *err) MUST_CHECK;
/* The same for the topic of an index or alias ("orders_v2", "orders"); no topic's is free. */
bool store_ask_index(struct store *s, struct str name, struct err *err) MUST_CHECK;

#endif

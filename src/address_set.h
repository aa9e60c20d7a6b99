/*
 * struct address_set: the addresses of one cluster, and which of them may be used now.
 *
 * Addresses that are up (src/address.h) take turns.  One that failed is away, and has no request
 * until a question to it (address_set_ask()) was answered.  When all are away, the one that is
 * due first is used all the same: the caller's own backoff paces that.
 *
 * Those that it is made with, the seeds, stay for ever.  Others may be found later: they then
 * take the turns, each after a first question that was answered, and a seed that is not among
 * them only helps out while none of them can be used.  Without I/O: the caller says what time
 * it is.
 *
 * @thread any (locked inside)
 */
#ifndef SRC_ADDRESS_SET_H
#define SRC_ADDRESS_SET_H

#include "src/base/base.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct address_set;

/* Copies n >= 1 URLs.  Without a scheme http is meant; a slash at the end goes. */
struct address_set *address_set_new(const char *const *urls,
                                    size_t n) RETURNS_NONNULL MUST_CHECK;
void address_set_free(struct address_set *s); /* NULL is fine */

/* The address for the next request; it ends in address_set_worked() or address_set_failed(). */
size_t address_set_pick(struct address_set *s, int64_t now_ms);
void address_set_worked(struct address_set *s, size_t i, int64_t now_ms);
/* why: for people, copied up to ADDRESS_WHY_MAX. */
void address_set_failed(struct address_set *s, size_t i, int64_t now_ms, const char *why);
/*
 * An address to which a question is due; it ends in address_set_answered() or
 * address_set_failed().  False: none, or there is no other address, so that requests find out.
 */
bool address_set_ask(struct address_set *s, int64_t now_ms, size_t *i);
void address_set_answered(struct address_set *s, size_t i, int64_t now_ms);

/*
 * These n URLs are the cluster's addresses now; 0: the seeds.  One that was known keeps its
 * health.  True when that changes which addresses take turns.
 */
bool address_set_found(struct address_set *s, const char *const *urls, size_t n,
                       int64_t now_ms);

/* How many there are to try: those that take turns, and the seeds. */
size_t address_set_count(struct address_set *s);
/* Of those, how many are up. */
size_t address_set_healthy(struct address_set *s);
/* Is any up besides the one of that name? */
bool address_set_has_other(struct address_set *s, const char *name);
/* How often one that was up has failed. */
uint64_t address_set_failures(struct address_set *s);
#define ADDRESS_WHY_MAX 400

/* How it is with an address. */
struct address_view {
    const char *name;       /* without user and password; lives as long as the set */
    bool is_up;             /* requests go there */
    bool is_known;          /* from what was answered, or not; else it was not tried yet */
    int64_t since_ms;       /* so it is since then */
    int64_t due_ms;         /* not up: it may be asked then */
    bool is_seed, is_found; /* the configuration names it; the cluster tells it */
    char why[ADDRESS_WHY_MAX]; /* not up: what failed last; "": nothing did */
};
/* The next address that is to be tried, from *i on, which it moves on; false: there is none. */
bool address_set_next(struct address_set *s, size_t *i, struct address_view *v);

/* Both live as long as the set. */
const char *address_set_url(struct address_set *s, size_t i);
/* The URL without user and password, for messages. */
const char *address_set_name(struct address_set *s, size_t i);

#endif

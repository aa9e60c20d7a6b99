/*
 * struct address_set: the addresses of one cluster, and which of them we may use now.
 *
 * Addresses that are up (src/net/address.h) take turns. A failed address gets no request until
 * it answers a probe (address_set_ask()). If all addresses are away, requests go to the one
 * whose probe is due first; the caller's own backoff paces them.
 *
 * The seeds, given at creation, stay for ever. Sniffing may find other addresses later: these
 * then take the turns, each after it has answered a first probe, and a seed that is not among
 * them serves only while none of them is usable. No I/O: the caller passes the time.
 *
 * @thread any (locked inside)
 */
#ifndef SRC_NET_ADDRESS_SET_H
#define SRC_NET_ADDRESS_SET_H

#include "src/base/base.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct address_set;

/* Copies n >= 1 URLs. Adds http:// where the scheme is missing and drops a trailing slash. */
struct address_set *address_set_new(const char *const *urls,
                                    size_t n) RETURNS_NONNULL MUST_CHECK;
void address_set_free(struct address_set *s); /* NULL is fine */

/* Picks the address for the next request. The caller reports the end with address_set_worked()
 * or address_set_failed(). */
size_t address_set_pick(struct address_set *s, int64_t now_ms);
void address_set_worked(struct address_set *s, size_t i, int64_t now_ms);
/* why: for people; copied, up to ADDRESS_WHY_MAX. */
void address_set_failed(struct address_set *s, size_t i, int64_t now_ms, const char *why);
/*
 * Picks an address whose probe is due. The caller reports the end with address_set_answered()
 * or address_set_failed(). Returns false if none is due, or if the set has only one address:
 * then requests probe it.
 */
bool address_set_ask(struct address_set *s, int64_t now_ms, size_t *i);
void address_set_answered(struct address_set *s, size_t i, int64_t now_ms);

/*
 * Makes these n URLs the cluster's addresses; n 0: the seeds. Known addresses keep their
 * health. Returns true if this changes which addresses take turns.
 */
bool address_set_found(struct address_set *s, const char *const *urls, size_t n,
                       int64_t now_ms);

/* Returns how many addresses requests can try: those that take turns, and the seeds. */
size_t address_set_count(struct address_set *s);
/* Returns how many of those are up. */
size_t address_set_healthy(struct address_set *s);
/* Returns true if an address other than the named one is up. */
bool address_set_has_other(struct address_set *s, const char *name);
/* Returns how often an address that was up has failed. */
uint64_t address_set_failures(struct address_set *s);
#define ADDRESS_WHY_MAX 400

/* The state of an address. */
struct address_view {
    const char *name;       /* without user and password; lives as long as the set */
    bool is_up;             /* requests go there */
    bool is_known;          /* it has answered or failed; otherwise nobody has tried it yet */
    int64_t since_ms;       /* time of the last change of is_up */
    int64_t due_ms;         /* not up: when its next probe is due */
    bool is_seed, is_found; /* from the configuration; from sniffing */
    char why[ADDRESS_WHY_MAX]; /* not up: the last failure, or "" */
};
/*
 * Describes the next address that requests can try, and advances *i. Returns false at the end.
 */
bool address_set_next(struct address_set *s, size_t *i, struct address_view *v);

/* Returns the URL; lives as long as the set. */
const char *address_set_url(struct address_set *s, size_t i);
/* Returns the URL without user and password, for messages; lives as long as the set. */
const char *address_set_name(struct address_set *s, size_t i);

#endif

/*
 * struct address_set: the addresses of one cluster, and which of them may be used now.
 *
 * Healthy addresses take turns.  One that failed is put aside, longer each time (1 to 30 s,
 * with jitter), and then tried by a single request.  When all are aside, the one that is due
 * first is used all the same: the caller's own backoff paces that.  Pure: the caller says what
 * time it is.
 *
 * @thread one at a time
 */
#ifndef SRC_ADDRESS_SET_H
#define SRC_ADDRESS_SET_H

#include "src/base/base.h"

#include <stddef.h>
#include <stdint.h>

struct address_set;

/* Copies n >= 1 URLs.  Without a scheme http is meant; a slash at the end goes. */
struct address_set *address_set_new(const char *const *urls,
                                    size_t n) RETURNS_NONNULL MUST_CHECK;
void address_set_free(struct address_set *s); /* NULL is fine */

/* The address for the next request. */
size_t address_set_pick(struct address_set *s, int64_t now_ms);
void address_set_worked(struct address_set *s, size_t i);
void address_set_failed(struct address_set *s, size_t i, int64_t now_ms);

size_t address_set_count(const struct address_set *s);
size_t address_set_healthy(const struct address_set *s);
const char *address_set_url(const struct address_set *s, size_t i);
/* The URL without user and password, for messages. */
const char *address_set_name(const struct address_set *s, size_t i);

#endif

/*
 * struct page_wait: waits for a page of keys handed to delivery, until each of its documents is
 * acknowledged, or one is given up and the page must be read again.
 *
 * @thread one; its ticket ends on any
 */
#ifndef REBALANCE_BUILD_PAGE_WAIT_H
#define REBALANCE_BUILD_PAGE_WAIT_H

#include "src/base/base.h"
#include "src/base/err.h"

#include <stdbool.h>

struct page_wait;
struct stop;
struct ticket;

/* *ticket covers all documents of the page and belongs to the caller. */
struct page_wait *page_wait_new(struct ticket **ticket) RETURNS_NONNULL MUST_CHECK;
/*
 * Block until the page is done. ERR_RETRY: a document was given up because its index or topic
 * went away. ERR_STOP: stopping.
 */
bool page_wait_end(struct page_wait *w, struct stop *stop, struct err *err) MUST_CHECK;
/* Allowed before the ticket ends. */
void page_wait_free(struct page_wait *w);

#endif

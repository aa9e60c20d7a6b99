/*
 * struct page_wait: a page of keys that was handed to delivery, until each of its documents is
 * acknowledged, or one was given up and the page is to be read again.
 *
 * @thread one; its ticket ends on any
 */
#ifndef REBALANCE_PAGE_WAIT_H
#define REBALANCE_PAGE_WAIT_H

#include "src/base/base.h"
#include "src/base/err.h"

#include <stdbool.h>

struct page_wait;
struct stop;
struct ticket;

/* *ticket, the caller's, for all documents of the page. */
struct page_wait *page_wait_new(struct ticket **ticket) RETURNS_NONNULL MUST_CHECK;
/* ERR_RETRY: a document was given up, as its index or its topic went; ERR_STOP. */
bool page_wait_end(struct page_wait *w, struct stop *stop, struct err *err) MUST_CHECK;
/* Also while the ticket is out. */
void page_wait_free(struct page_wait *w);

#endif

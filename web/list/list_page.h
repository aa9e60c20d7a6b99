/*
 * One page of a list that the API answers, and the name of the next page.
 *
 * A page begins behind the key of the last item of the page before, not at a number of items.
 * So of what stays in the list while somebody turns the pages, nothing is left out and nothing
 * comes twice, whatever is added and deleted meanwhile.  A list that is asked for by pages is
 * in the order of its keys; list_page.c has the members that make the key of each form.
 *
 * @thread any (pure)
 */
#ifndef WEB_LIST_LIST_PAGE_H
#define WEB_LIST_LIST_PAGE_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;

#define LIST_PAGE_MAX 10000 /* items of an answer */

struct list_want {
    uint64_t limit;   /* items; 0, or beyond: LIST_PAGE_MAX */
    struct str after; /* "next" of the page before; empty: from the beginning */
};

/* Whether the table has the form, such as "millrace/topic/1". */
bool list_has_pages(struct str schema) MUST_CHECK;

/*
 * json: a whole answer with "schema" and "items".  Leave the wanted items in it, and add
 * "next", which is null at the end.  An answer that is a page of the store's gets "next" alone,
 * any other answer is left as it is.  ERR_REJECT with code 400: after names no page.
 */
bool list_page(struct buf *json, const struct list_want *want, struct err *err) MUST_CHECK;

#endif

/*
 * The status page: one read-only HTML page made from the JSON of the status.
 *
 * Holds no script and nothing from elsewhere; its style sheet carries the nonce that the
 * content security policy of the answer names, and it asks the browser to load it again every
 * few seconds.  Every text that comes from a database or a file is escaped.
 *
 * @thread any
 */
#ifndef WEB_PAGE_H
#define WEB_PAGE_H

#include "src/base/buf.h"
#include "src/base/str.h"

/* Append the page of status, a millrace/status/1 object; a page that says so if it is none. */
void page_render(struct buf *out, struct str status, const char *nonce);

#endif

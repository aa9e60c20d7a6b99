/*
 * The status page: one read-only HTML page, made from the JSON of the status.
 *
 * The page has no script and loads nothing from elsewhere.  Its style sheet carries the nonce
 * that the answer's content security policy names.  The page asks the browser to reload it
 * every few seconds.  All text from a database or a file is escaped.
 *
 * @thread any
 */
#ifndef WEB_PAGE_PAGE_H
#define WEB_PAGE_PAGE_H

#include "src/base/buf.h"
#include "src/base/str.h"

/*
 * Append the page for status, a millrace/status/1 object.  If status is none, the page says so.
 */
void page_render(struct buf *out, struct str status, const char *nonce);

#endif

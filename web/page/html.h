/*
 * Writes values as HTML.  All text that is not our own goes through here and is escaped.
 *
 * @thread any (pure)
 */
#ifndef WEB_PAGE_HTML_H
#define WEB_PAGE_HTML_H

#include "src/base/buf.h"
#include "src/base/str.h"

/*
 * Append text for an element's content or a quoted attribute.  Bytes that are not UTF-8 are
 * replaced.
 */
void html_text(struct buf *b, struct str s);

/* Append <tag>text</tag>; tag may have attributes ("p class=small"). */
void html_element(struct buf *b, const char *tag, struct str text);

#endif

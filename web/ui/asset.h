/*
 * The files of the admin page, as the build has put them into the program: compressed, each by
 * its name.
 *
 * The build makes the table from web/ui/src by web/ui/build.mjs; without npm it is empty, and
 * the status page is at / instead.
 *
 * @thread any (immutable)
 */
#ifndef WEB_UI_ASSET_H
#define WEB_UI_ASSET_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>

struct page_asset {
    const char *name; /* "app-J3UD6QVN.js" */
    const char *type; /* of the content, with its charset */
    const char *etag; /* weak, as both codings have it */
    bool lasting;     /* another content has another name: a browser need not ask again */
    const unsigned char *gzip;
    size_t n_gzip;
    size_t n_bytes; /* of the content */
};

/* Ordered by name. */
extern const struct page_asset page_assets[];
extern const size_t n_page_assets;

/* NULL: no file has this name. */
const struct page_asset *page_asset_find(struct str name);
/* Append the content.  Returns false, and appends nothing, if its bytes are damaged. */
bool page_asset_inflate(const struct page_asset *a, struct buf *out) MUST_CHECK;

/* Whether a client with this Accept-Encoding takes gzip.  Empty: it does not. */
bool page_asset_takes_gzip(struct str accept_encoding);
/* Whether a client with this If-None-Match, a list of tags or "*", has the content already. */
bool page_asset_is_known(const struct page_asset *a, struct str if_none_match);

#endif

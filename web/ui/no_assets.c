#include "config.h"

#include "web/ui/asset.h"

/* The table of a program that was built without the page. */
const struct page_asset page_assets[1] = {{.name = NULL}};
const size_t n_page_assets = 0;

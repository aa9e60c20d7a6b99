/*
 * Read a batch of documents for delivery by key.
 *
 * @thread a loader's; blocks
 */
#ifndef SYNC_LOAD_LOAD_RUN_H
#define SYNC_LOAD_LOAD_RUN_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "sync/delivery/delivery.h"

#include <stdbool.h>

struct cascades;
struct known_server;
struct read_links;
struct read_position;
struct server_access;

struct load_run_options { /* all borrowed */
    struct read_position *reader;
    struct server_access *server; /* the server that we follow */
    struct known_server *known;
    struct cascades *cascades; /* decides whether other rows go with rows that are gone */
    uint64_t *rootless;        /* atomic: counts rows with a parent's key but no known root */
};

/*
 * Fill all items of the batch from one read; from several if the server refuses to read some of
 * them, or if they do not fit into memory at once.  Marks what is refused alone as failed with
 * ERR_REJECT.  Marks items as left once the others take LOAD_BYTES.  On failure returns false,
 * never with ERR_REJECT; a missing privilege counts as failure (mysql_err_is_denial()).
 */
bool load_run(const struct load_run_options *opt, struct read_links *l, struct load_batch *b,
              struct err *err) MUST_CHECK;
/*
 * The stream has read up to `read`: fail items that need more, marked as ahead.  Returns how
 * many.  Pure.
 */
size_t load_run_put_off(struct load_batch *b, uint64_t read);
/* Count the items that were not left. */
size_t load_run_count(const struct load_batch *b);
/* Fail all items. */
void load_run_fail(struct load_batch *b, const struct err *why);

#endif

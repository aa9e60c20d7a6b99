/*
 * A batch of documents that delivery wants, read by key.
 *
 * @thread a loader's; blocks
 */
#ifndef SYNC_LOAD_RUN_H
#define SYNC_LOAD_RUN_H

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
    struct server_access *server; /* the one that is followed */
    struct known_server *known;
    struct cascades *cascades; /* knows whether others go with rows that are gone */
    uint64_t *rootless; /* atomic: counts rows that have a parent's key, and no known root */
};

/*
 * Fill the batch's items, all from one read; from several where the server refuses to read some of
 * them, which are marked as failed with ERR_REJECT.  False: never ERR_REJECT; also for a right that
 * is missing (mysql_err_is_denial()).
 */
bool load_run(const struct load_run_options *opt, struct read_links *l, struct load_batch *b,
              struct err *err) MUST_CHECK;
/*
 * The stream has read up to `read`: items that need more fail, as ahead.  Returns how many.
 * Pure.
 */
size_t load_run_put_off(struct load_batch *b, uint64_t read);
/* None of them could be read. */
void load_run_fail(struct load_batch *b, const struct err *why);

#endif

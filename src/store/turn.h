/*
 * How searches turn from one index version to another, and which older versions stay current.
 *
 *     changing ──promote──► available ──replaced──► kept ──its time is over, stopped──► history
 *                               ▲                    │
 *                               └─────take up───── returning
 *
 * A kept version gets every change, as the searched one does, so that searches can return to
 * it.  A return is stored before the alias moves, and taken up afterwards.  Whatever becomes
 * history loses its pending work.
 *
 * @thread any (locked inside; calls may block)
 */
#ifndef SRC_STORE_TURN_H
#define SRC_STORE_TURN_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "src/store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store;

/* What becomes of the versions before. */
struct keeping {
    uint64_t versions; /* so many stay current */
    int64_t for_ms;    /* how long the one that is replaced does */
};

struct promotion {
    struct str index; /* alias: "orders" */
    uint64_t number;
    int64_t finished_ms;
    int64_t at_ms; /* steady time */
    struct keeping keep;
};
/*
 * Make the version available, in one transaction.  The one before is kept unless its table is
 * stopped or to be rebuilt; so are earlier kept ones as far as p->keep.versions goes.  The
 * others become history.  Clears the stops and rebuild requests of the tables of its jobs, and
 * deletes its wait.  ERR_REJECT if the version has failed or does not exist.
 */
bool store_promote_version(struct store *s, const struct promotion *p,
                           struct err *err) MUST_CHECK;
/*
 * Order a return: kept becomes returning.  ERR_REJECT, HTTP status 409: the version is not
 * kept, or another one of its index is being built or returns.
 */
bool store_order_return(struct store *s, const struct version_name *v,
                        struct err *err) MUST_CHECK;
/* Take the order back. */
bool store_cancel_return(struct store *s, const struct version_name *v,
                         struct err *err) MUST_CHECK;

struct version_return {
    struct version_name version;
    struct str tables[2]; /* names of its table: their stops and rebuild requests end */
    int64_t at_ms;        /* steady time */
    int64_t keep_for_ms;  /* how long the one before is kept */
};
/*
 * The alias leads to the returning version: make it available.  The one before is kept unless
 * its table is stopped or to be rebuilt.  ERR_STOP if the version does not return, or was
 * stopped meanwhile.
 */
bool store_take_up_return(struct store *s, const struct version_return *r,
                          struct err *err) MUST_CHECK;
/* A kept or returning version becomes history; one in another state stays as it is. */
bool store_end_kept(struct store *s, const struct version_name *v, struct str reason,
                    int64_t at_ms, struct err *err) MUST_CHECK;
/* At start: history that an older program has left ages from now on. */
bool store_date_history(struct store *s, int64_t at_ms, struct err *err) MUST_CHECK;

#endif

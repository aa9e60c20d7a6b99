/*
 * struct check_live: checks of definitions against their servers, which share what the servers
 * said.
 *
 * Announce all tables before the first check: the facts of all that were announced are read
 * together, on the first check that needs that server, and so is what their checks ask beyond
 * facts (conditions, orders, counts).  They are kept until the end, so a check sees the tables
 * as they were then.
 *
 * @thread one at a time; blocks
 */
#ifndef SYNC_CHECK_CHECK_LIVE_H
#define SYNC_CHECK_CHECK_LIVE_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>

struct definitions;
struct mysql_conn;
struct problems;
struct table_definition;

/*
 * Opens borrowed connections to the servers of topics.  If it returns NULL with err, that
 * server cannot be asked; the check reports this at the table that needs it.
 */
struct check_servers {
    void *ctx;
    struct mysql_conn *(*open)(void *ctx, struct str topic, struct err *err);
};

struct check_live;

/* The definitions are borrowed; the callback is copied. */
struct check_live *check_live_new(const struct check_servers *servers,
                                  const struct definitions *d) RETURNS_NONNULL MUST_CHECK;
void check_live_free(struct check_live *l);

/*
 * Announce a table that is not a pattern, with all that its documents show.  t is borrowed
 * until the next check.
 */
void check_live_expect(struct check_live *l, const struct table_definition *t);
/*
 * Check as definition_check_facts() does; t need not be announced.  Returns false with err if a
 * server went away.
 */
bool check_live_table(struct check_live *l, const struct table_definition *t,
                      struct problems *problems, struct err *err) MUST_CHECK;

#endif

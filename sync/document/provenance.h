/*
 * Where a document comes from: the rows it is made of, and for each table what changes it.
 *
 * Serves `explain` only; replication does not use it.
 *
 * @thread the connection's; blocks on the server
 */
#ifndef SYNC_DOCUMENT_PROVENANCE_H
#define SYNC_DOCUMENT_PROVENANCE_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/document/plan.h"

#include <stdbool.h>

struct buf;
struct mysql_conn;

/*
 * Append a JSON list with an object per table and place of the document, the root first;
 * docs/api.md has the format. key is from plan_root_id().  Reads more than a document needs:
 * for a consistent view, open a snapshot first. of has a connection per topic of the plan.
 */
bool provenance_append(struct mysql_conn *const *of, const struct plan *p, struct str key,
                       struct buf *json, struct err *err) MUST_CHECK;

#endif

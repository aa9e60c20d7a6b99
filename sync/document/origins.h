/*
 * Where a document comes from: the rows that it is made of, and of each table what changes it.
 *
 * For people and programs that ask (`explain`); nothing that follows changes uses it.
 *
 * @thread that of the connection; blocks on the server
 */
#ifndef SYNC_DOCUMENT_ORIGINS_H
#define SYNC_DOCUMENT_ORIGINS_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/document/plan.h"

#include <stdbool.h>

struct buf;
struct mysql_conn;

/*
 * Append a JSON list with an object for each table at each place of the document, the root
 * first; the form is in docs/api.md.  key as made by plan_root_id().  Reads more than a
 * document needs: open a snapshot first where all is to be of one moment.  of: a connection for
 * each topic of the plan.
 */
bool origins_append(struct mysql_conn *const *of, const struct plan *p, struct str key,
                    struct buf *json, struct err *err) MUST_CHECK;

#endif

/* What status and lists show of work for related rows: fan-outs and cascades. */
#ifndef REBALANCE_VIEW_FAN_OUT_H
#define REBALANCE_VIEW_FAN_OUT_H

#include "rebalance/state/parts.h"

/*
 * Append "fan_out": changes of related rows that are not yet in all documents.
 */
void coordinator_append_fan_out(struct coordinator *co, struct json_writer *w,
                                const struct stored_version *v) NEEDS(co->topics->lock);
/*
 * Append "cascades": documents whose rows are gone and that are not deleted yet.
 */
void coordinator_append_cascades(struct coordinator *co, struct json_writer *w,
                                 const struct stored_version *v, struct str index)
    NEEDS(co->topics->lock);
/* List fan-outs as jobs.  name: an id, index or table; empty: all. */
void coordinator_list_fan_outs(struct coordinator *co, const struct store_copy *stored,
                               struct str name, struct json_writer *w, size_t *n_listed);

#endif

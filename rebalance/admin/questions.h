/*
 * The calls that answer questions and change nothing.
 * rebalance/state/coordinator.h has the rules of all calls.
 *
 * @thread any (locked inside; blocks)
 */
#ifndef REBALANCE_ADMIN_QUESTIONS_H
#define REBALANCE_ADMIN_QUESTIONS_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct coordinator;
struct definition_files;

struct list_order {
    struct str noun; /* topic database table relation version index job log user token */
    struct str name; /* empty: all */
    bool sees_rows;  /* the caller may see keys of rows; else their places in jobs are empty */
    bool sees_files; /* the caller may know in which files a server's secrets are */
    uint64_t before_id; /* of the log: only older events; 0: from the newest on */
    size_t limit;       /* of the log: so many events; 0: 200 */
};
/* 404 if the name is unknown.  *revision: of the definitions that it shows; -1: it shows none.
 */
bool coordinator_list(struct coordinator *co, const struct list_order *o, int64_t *revision,
                      struct buf *json, struct err *err) MUST_CHECK;
bool coordinator_status(struct coordinator *co, struct buf *json, struct err *err) MUST_CHECK;

/*
 * draft: files that would be applied, which are stored nowhere; NULL: what is stored.  A
 * refusal of them lists every error as coordinator_apply() does.
 */
bool coordinator_explain(struct coordinator *co, struct str table, struct str key,
                         const struct definition_files *draft, struct buf *json,
                         struct err *err) MUST_CHECK;
bool coordinator_mapping(struct coordinator *co, struct str table,
                         const struct definition_files *draft, struct buf *json,
                         struct err *err) MUST_CHECK;
/* Answers a definition with every column of a table. Only its database must be defined. */
bool coordinator_generate_columns(struct coordinator *co, struct str table, struct buf *json,
                                  struct err *err) MUST_CHECK;
bool coordinator_doctor(struct coordinator *co, struct buf *json, struct err *err) MUST_CHECK;
/* Start a task that does the same: its report is the answer. */
bool coordinator_start_doctor(struct coordinator *co, struct buf *json,
                              struct err *err) MUST_CHECK;

/*
 * Append samples of all metrics, in any order (src/metric/metric.h). The web server renders
 * them.
 */
void coordinator_metrics(struct coordinator *co, struct buf *out);
/*
 * Returns true once the store is open, the definitions are loaded and the coordinator has
 * started. json lists the checks.
 */
bool coordinator_ready(struct coordinator *co, struct buf *json);

#endif

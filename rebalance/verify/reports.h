/*
 * The reports of verifications that the store keeps: the newest REPORTS_KEPT.
 *
 * @thread any; every call blocks on the store
 */
#ifndef REBALANCE_VERIFY_REPORTS_H
#define REBALANCE_VERIFY_REPORTS_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct coordinator;

#define REPORTS_KEPT 20

/* Keep the report of a job, and forget the oldest ones beyond that number. */
bool verify_reports_keep(struct coordinator *co, uint64_t job, struct str report,
                         struct err *err) MUST_CHECK;
/* Tell whether one of this version of the index is kept. */
bool verify_reports_have(struct coordinator *co, struct str index, uint64_t version, bool *have,
                         struct err *err) MUST_CHECK;

#endif

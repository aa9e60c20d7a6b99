/*
 * Alarms: what status finds not well is posted to web hooks when it begins, while it lasts, and
 * when it is over.
 *
 * A thread takes the findings that status, doctor and metrics share (coordinator_judge()), each
 * few seconds, and hands them to the book (rebalance/alarm/book.h). In a cluster each node
 * sends what concerns the topics that it owns, and what it alone sees of the engine, the store
 * and ZooKeeper; what concerns all is sent by the node that lives with the least id.
 *
 * The open alarms are in the file alarms.json of the data folder, so a restart neither forgets
 * nor repeats one.
 */
#ifndef REBALANCE_TELL_ALARMS_H
#define REBALANCE_TELL_ALARMS_H

#include "rebalance/alarm/book.h"
#include "src/base/base.h"
#include "src/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct alarms;
struct buf;
struct coordinator;
struct coordinator_view;
struct doctor_list;

/* The settings alarms.*; all is borrowed during coordinator_open_alarms(). */
struct alarm_options {
    const char *const *urls;
    size_t n_urls;                /* 0: no alarms */
    const char *secret, *ca_file; /* or NULL */
    bool allow_private, allow_http;
    int64_t after_ms, after_warning_ms, repeat_ms;
};

#define ALARMS_OPEN_MAX   500
#define ALARMS_MINUTE_MAX 20

/* ERR_REJECT names the setting that makes no sense. */
bool alarm_options_check(const struct alarm_options *opt, struct err *err) MUST_CHECK;

/* Open the receivers and the file.  ERR_REJECT as above. */
bool coordinator_open_alarms(struct coordinator *co, const struct alarm_options *opt,
                             struct err *err) MUST_CHECK;
void alarms_free(struct alarms *a); /* NULL is fine */

/* Do nothing without a receiver. */
void coordinator_start_alarms(struct coordinator *co);
void coordinator_join_alarms(struct coordinator *co);

/*
 * Sends a test to each receiver and answers what they say.  ERR_REJECT (409) without a
 * receiver.  Blocks for 10 s a receiver at most.  @thread any
 */
bool coordinator_test_alarms(struct coordinator *co, struct buf *json,
                             struct err *err) MUST_CHECK;

/*
 * Which of the findings of a view this node sends.  The texts are the list's, or in the view's
 * arena; *n are found.  Pure.
 */
struct alarm_finding *alarm_findings(const struct coordinator *co, struct coordinator_view *v,
                                     const struct doctor_list *l,
                                     size_t *n) RETURNS_NONNULL MUST_CHECK;

#endif

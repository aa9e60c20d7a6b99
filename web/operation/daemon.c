#include "config.h"

#include "web/operation/operation.h"

const struct input no_input[] = {{0}};
const struct input dry_run_input[] = {
    {"dry_run", INPUT_FLAG, .help = "Change nothing: check, and say what would be changed."},
    {0}};

const struct operation op_page = {.any_params = true,
                                  .answers = {{200, NULL, "text/html; charset=utf-8"},
                                              {304, NULL, "text/html; charset=utf-8"}}};
const struct operation op_page_file = {.any_params = true,
                                       .answers = {{200, NULL, "*/*"}, {304, NULL, "*/*"}}};
const struct operation op_status_page = {.any_params = true,
                                         .answers = {{200, NULL, "text/html; charset=utf-8"}}};
const struct operation op_metrics = {
    .any_params = true, .answers = {{200, NULL, "text/plain; version=0.0.4; charset=utf-8"}}};
const struct operation op_live = {.any_params = true,
                                  .answers = {{200, NULL, "text/plain; charset=utf-8"}}};
const struct operation op_ready = {.any_params = true,
                                   .answers = {{200, "ready/1", NULL}, {503, "ready/1", NULL}}};
const struct operation op_version = {.answers = {{200, "program/1", NULL}}};
const struct operation op_openapi = {.answers = {{200, "openapi", NULL}}};
const struct operation op_config = {.answers = {{200, "config/1", NULL}}};
const struct operation op_status = {.answers = {{200, "status/1", NULL}}};
const struct operation op_events = {.answers = {{200, NULL, "text/event-stream"}}};

static const struct input history[] = {
    {"topic", INPUT_TEXT, .help = "Only this one."},
    {"hours", INPUT_COUNT, .min = 1, .max = 24, .help = "1 to 24; 1 if it is not given."},
    {0}};

const struct operation op_history = {
    .params = history, .problems = "404", .answers = {{200, "history/1", NULL}}};
const struct operation op_doctor = {.answers = {{200, "doctor/1", NULL}}};
const struct operation op_doctor_start = {.members = no_input,
                                          .answers = {{202, "doctor-start/1", NULL}}};

/* ---- delivery ---- */

static const struct input drain[] = {
    {"worker", INPUT_COUNT, .help = "The only worker to drain, counted from 0."},
    {"timeout_ms", INPUT_COUNT,
     .help = "Milliseconds, an hour at most; 0: wait only for requests in flight."},
    {0}};

const struct operation op_delivery = {.answers = {{200, "delivery-settings/1", NULL}}};
const struct operation op_delivery_set = {.params = dry_run_input,
                                          .takes_settings = true,
                                          .problems = "422",
                                          .answers = {{200, "delivery-settings/1", NULL}}};
const struct operation op_delivery_reset = {.params = dry_run_input,
                                            .members = no_input,
                                            .answers = {{200, "delivery-settings/1", NULL}}};
const struct operation op_drain = {
    .params = dry_run_input,
    .members = drain,
    .problems = "422",
    .answers = {{200, "drain-start/1", NULL}, {202, "drain-start/1", NULL}}};
const struct operation op_drain_cancel = {
    .params = dry_run_input, .members = no_input, .answers = {{200, "drain-cancel/1", NULL}}};

const struct operation op_alarm_test = {
    .members = no_input, .problems = "409", .answers = {{200, "alarm-test/1", NULL}}};

static const struct input audit[] = {
    {"object", INPUT_TEXT, .help = "Only what was done to this table, topic or node."},
    {"after", INPUT_COUNT, .help = "Only those older than the entry with this id."},
    {"limit", INPUT_COUNT, .help = "At most so many; 100 if it is not given."},
    {0}};

const struct operation op_audit = {
    .params = audit, .is_list = true, .answers = {{200, "audit/1", NULL}}};

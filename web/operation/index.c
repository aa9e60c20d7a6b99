#include "config.h"

#include "web/operation/operation.h"

#include "rebalance/verify/verify.h"

/* ---- builds ---- */

#define RATE  "rate", INPUT_COUNT, .help = "Rows a second, on all nodes together; 0: no limit."
#define NODES "nodes", INPUT_COUNT, .help = "How many nodes fill the version; 0: all."

static const struct input create[] = {
    {RATE},
    {"chunk", INPUT_COUNT, .help = "Rows of one statement; 0: the default."},
    {NODES},
    {"buckets", INPUT_COUNT,
     .help = "Into how many parts the rows are divided, 1000 at most; 0: eight for each node, "
             "one without a cluster."},
    {"buckets_by", INPUT_CHOICE,
     .help = "What divides the rows: the table's `bucket_column`, its key, or a remainder of "
             "that column.",
     .choices = "column key mod"},
    {"hold", INPUT_FLAG, .help = "A person publishes the version, by a cutover."},
    {"keep", INPUT_COUNT, .max = 10, .help = "How many older versions stay current."},
    {"verify", INPUT_CHOICE, .help = "What is compared before searches use the version.",
     .choices = "sample full none"},
    {"take_index", INPUT_FLAG, .help = "Take the index from another store of Millrace."},
    {"take_alias", INPUT_FLAG,
     .help = "Take the alias from an index that Millrace did not make."},
    {"dry_run", INPUT_FLAG, .help = "Only say what the build would read."},
    {0}};
static const struct input set[] = {{RATE}, {NODES}, {0}};
static const struct input cutover[] = {
    {"accept_dead_letters", INPUT_COUNT, .help = "How many dead letters are accepted."}, {0}};

const struct operation op_index_create = {
    .members = create,
    .problems = "409 422 423",
    .answers = {{200, "index-create/1", NULL}, {202, "index-create/1", NULL}}};
const struct operation op_index_set = {.params = dry_run_input,
                                       .members = set,
                                       .problems = "409 422",
                                       .answers = {{200, "index-set/1", NULL}}};
const struct operation op_index_cutover = {
    .params = dry_run_input,
    .members = cutover,
    .problems = "409 422 423",
    .answers = {{200, "index-cutover/1", NULL}, {202, "index-cutover/1", NULL}}};
const struct operation op_index_reset = {.params = dry_run_input,
                                         .members = no_input,
                                         .problems = "409 422",
                                         .answers = {{200, "index-reset/1", NULL}}};

/* ---- an index that is there ---- */

static const struct input reason[] = {
    {"reason", INPUT_TEXT, .help = "Why, for people; the status shows this."}, {0}};
static const struct input refresh[] = {
    {"where", INPUT_TEXT, .help = "One SQL condition on rows of the table; for admins.",
     .is_for_admins = true},
    {"keys", INPUT_TEXTS, .help = "The `_id` of each document.", .max = VERIFY_KEYS_MAX},
    {"rate", INPUT_COUNT, .help = "Rows a second; 0: no limit."},
    {0}};
static const struct input rollback[] = {
    {"to", INPUT_COUNT, .help = "The version; without it the newest one that is kept."}, {0}};

const struct operation op_index_pause = {.params = dry_run_input,
                                         .members = reason,
                                         .problems = "409 422",
                                         .answers = {{200, "index-pause/1", NULL}}};
const struct operation op_index_resume = {.params = dry_run_input,
                                          .members = no_input,
                                          .problems = "409 422",
                                          .answers = {{200, "index-resume/1", NULL}}};
const struct operation op_index_refresh = {
    .params = dry_run_input,
    .members = refresh,
    .problems = "409 422",
    .answers = {{200, "index-refresh/1", NULL}, {202, "index-refresh/1", NULL}}};
const struct operation op_index_refresh_cancel = {
    .params = dry_run_input,
    .members = no_input,
    .problems = "409 422",
    .answers = {{200, "index-refresh-cancel/1", NULL}}};
const struct operation op_index_rollback = {.params = dry_run_input,
                                            .members = rollback,
                                            .problems = "409 422",
                                            .answers = {{200, "index-rollback/1", NULL}}};
const struct operation op_index_delete = {
    .params = dry_run_input, .problems = "409", .answers = {{200, "index-delete/1", NULL}}};

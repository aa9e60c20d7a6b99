#include "config.h"

#include "web/operation/operation.h"

#include "rebalance/delayed/orders.h"
#include "rebalance/verify/verify.h"

/* ---- verifications and what else looks at rows and documents ---- */

#define REPAIR "repair", INPUT_FLAG, .help = "Have what differs written again."
#define VALUES "values", INPUT_FLAG, .help = "Show the values that differ."

static const struct input verify[] = {
    {REPAIR},
    {VALUES},
    {"yes", INPUT_FLAG, .help = "Repair also if very much differs."},
    {"rate", INPUT_COUNT, .help = "Rows and documents a second; 0: no limit."},
    {"version", INPUT_COUNT, .help = "The version to compare; 0: the one that searches use."},
    {"sample", INPUT_COUNT, .min = 1, .max = 1000000,
     .help = "Compare about so many documents, 1 to 1000000, instead of all."},
    {"where", INPUT_TEXT, .help = "Compare the rows that meet this SQL condition; for admins.",
     .is_for_admins = true},
    {"since", INPUT_TEXT,
     .help =
         "Compare the rows that changed since this time; empty: since the last good check."},
    {0}};
static const struct input verify_keys[] = {
    {"keys", INPUT_TEXTS, true, .help = "The `_id` of each document.", .max = VERIFY_KEYS_MAX},
    {REPAIR},
    {VALUES},
    {0}};
static const struct input replay[] = {
    {"day", INPUT_DAY, .help = "The day, in the topic's `day_zone`; without it, yesterday."},
    {"rate", INPUT_COUNT, .help = "Documents a second; 0: no limit."},
    {0}};
static const struct input trace[] = {
    {"key", INPUT_TEXT, true, .min = 1, .help = "The `_id` of the document."},
    {"log", INPUT_FLAG, .help = "Also read the server's log."},
    {"from", INPUT_TEXT, .help = "FILE:OFFSET where to begin in the log; only with log=true."},
    {0}};

const struct operation op_verify = {
    .params = dry_run_input,
    .members = verify,
    .or_members = verify_keys,
    .problems = "409 422",
    .answers = {{200, "verify/1", NULL}, {202, "verify-start/1", NULL}}};
const struct operation op_replay = {
    .params = dry_run_input,
    .members = replay,
    .problems = "409 422",
    .answers = {{200, "replay-start/1", NULL}, {202, "replay-start/1", NULL}}};
const struct operation op_trace = {
    .params = trace, .problems = "409 422", .answers = {{200, "trace/1", NULL}}};
static const struct input pages[] = {LIST_PAGE, {0}};
const struct operation op_reports = {
    .params = pages, .is_list = true, .answers = {{200, "report/1", NULL}}};
const struct operation op_report = {
    .answers = {{200, "verify/1 replay/1 drain/1 doctor/1 verify-progress/1", NULL}}};

/* ---- dead letters ---- */

#define PAGE                                                                           \
    {"after", INPUT_COUNT, .help = "Only those with a larger id: the next page."},     \
    {                                                                                  \
        "limit", INPUT_COUNT, .help = "How many, 10000 at most; 0 or without it: 100." \
    }

static const struct input letters[] = {
    {"topic", INPUT_TEXT, .help = "Of this topic."},
    {"table", INPUT_TEXT, .help = "Of this table."},
    {"index", INPUT_TEXT, .help = "Of this index."},
    {"reason", INPUT_TEXT, .help = "With these words in the reason."},
    PAGE,
    {"body", INPUT_FLAG, .help = "With the documents."},
    {0}};
static const struct input which_letters[] = {
    {"id", INPUT_COUNT, .help = "One dead letter."},
    {"topic", INPUT_TEXT, .help = "Those of this topic."},
    {"table", INPUT_TEXT, .help = "Those of this table."},
    {"index", INPUT_TEXT, .help = "Those of this index."},
    {"reason", INPUT_TEXT, .help = "Those with these words in the reason."},
    {"all", INPUT_FLAG, .help = "All of them."},
    {0}};

const struct operation op_dead_letters = {
    .params = letters, .is_list = true, .answers = {{200, "dead-letter/1", NULL}}};
const struct operation op_dead_letter = {.is_list = true,
                                         .answers = {{200, "dead-letter/1", NULL}}};
const struct operation op_dead_letter_replay = {
    .params = dry_run_input,
    .members = which_letters,
    .problems = "404 409 422",
    .answers = {{200, "dead-letter-replay/1", NULL}}};
const struct operation op_dead_letter_discard = {
    .params = dry_run_input,
    .members = which_letters,
    .problems = "404 409 422",
    .answers = {{200, "dead-letter-discard/1", NULL}}};

/* ---- delayed tables ---- */

#define SNAPSHOTS "ids", INPUT_NUMBERS, .max = DELAYED_IDS_MAX

static const struct input delayed[] = {
    {"topic", INPUT_TEXT, .help = "Of this topic."},
    {"table", INPUT_TEXT, .help = "Of this table."},
    {"op", INPUT_CHOICE, .help = "What happened.", .choices = "insert update delete table"},
    {"row", INPUT_TEXT, .help = "Of the row with this key."},
    {"day", INPUT_DAY, .help = "Of changes on this day, in UTC."},
    {"status", INPUT_CHOICE, .help = "How far.", .choices = "init running done"},
    PAGE,
    {0}};
static const struct input delayed_runs[] = {
    {"waiting", INPUT_FLAG, .help = "false: only the runs that go on."}, LIST_PAGE, {0}};
static const struct input run[] = {
    {"topic", INPUT_TEXT, .help = "Only of this topic."},
    {"table", INPUT_TEXT, .help = "What waits of this table."},
    {SNAPSHOTS, .help = "One snapshot."},
    {"all", INPUT_FLAG, .help = "Whatever waits."},
    {"dry_run", INPUT_FLAG, .help = "Only say what a run would take."},
    {0}};
static const struct input done[] = {{"topic", INPUT_TEXT, .help = "Only of this topic."},
                                    {SNAPSHOTS, .required = true, .help = "The snapshots."},
                                    {0}};

const struct operation op_delayed = {
    .params = delayed, .is_list = true, .answers = {{200, "delayed/1", NULL}}};
const struct operation op_delayed_runs = {
    .params = delayed_runs, .is_list = true, .answers = {{200, "delayed-runs/1", NULL}}};
const struct operation op_delayed_run = {
    .members = run,
    .problems = "404 409 422 423",
    .answers = {{200, "delayed-cost/1", NULL}, {202, "delayed-run/1", NULL}}};
const struct operation op_delayed_done = {.params = dry_run_input,
                                          .members = done,
                                          .problems = "404 409 422",
                                          .answers = {{200, "delayed-done/1", NULL}}};

#include "config.h"

#include "web/operation/operation.h"

const struct input file_input[] = {
    {"name", INPUT_TEXT, .help = "The file's name, for messages."},
    {"text", INPUT_TEXT, true, .help = "Its content, YAML."},
    {"folder", INPUT_TEXT, .help = "The folder in which paths of the file begin."},
    {0}};

#define FILES                                                                          \
    "files", INPUT_OBJECTS, true, .help = "Definition files.", .max = APPLY_FILES_MAX, \
                                  .item = file_input
#define VARIABLES     "variables", INPUT_MAP, .help = "The values of ${NAME} in the files."
#define STORE_NOTHING "dry_run", INPUT_FLAG, .help = "Store nothing."
#define NEW           "new", INPUT_FLAG, .help = "Refuse (409) to change what is there."
#define TAKE_ALIAS            \
    "take_alias", INPUT_FLAG, \
        .help = "A table's `index` may be the alias of an index that Millrace did not make."
#define ROW_KEY "key", INPUT_TEXT, true, .min = 1, .help = "The `_id` of the document."

/* ---- all of them ---- */

static const struct input apply[] = {
    {FILES},
    {VARIABLES},
    {STORE_NOTHING},
    {"prune", INPUT_FLAG, .help = "Remove what no file names."},
    {NEW},
    {TAKE_ALIAS},
    {0}};
static const struct input put[] = {{STORE_NOTHING}, {NEW}, {TAKE_ALIAS}, {0}};

const struct operation op_apply = {.members = apply,
                                   .tells_revision = true,
                                   .asks_revision = true,
                                   .problems = "409 422",
                                   .answers = {{200, "apply/1", NULL}}};
const struct operation op_put_definition = {.params = put,
                                            .takes_definition = true,
                                            .tells_revision = true,
                                            .asks_revision = true,
                                            .problems = "409 422",
                                            .answers = {{200, "apply/1", NULL}}};
const struct operation op_export = {.tells_revision = true,
                                    .answers = {{200, NULL, "application/yaml"}}};
static const struct input pages[] = {LIST_PAGE, {0}};

const struct operation op_list = {
    .params = pages, .is_list = true, .answers = {{200, NULL, NULL}}};
static const struct input log_pages[] = {
    {"after", INPUT_COUNT, .help = "Only those older than the event with this id."},
    {"limit", INPUT_COUNT, .help = "At most so many, 10000 at most; 200 if it is not given."},
    {0}};

const struct operation op_log = {
    .params = log_pages, .is_list = true, .answers = {{200, NULL, NULL}}};
const struct operation op_list_definitions = {
    .params = pages, .is_list = true, .tells_revision = true, .answers = {{200, NULL, NULL}}};
const struct operation op_delete = {.params = dry_run_input,
                                    .asks_revision = true,
                                    .problems = "409 422",
                                    .answers = {{200, "delete/1", NULL}}};

/* ---- a table ---- */

static const struct input confirm[] = {
    {"confirm", INPUT_TEXT,
     .help = "The table's name, if searches use an index of it or may return to one."},
    {0}};
static const struct input explain[] = {{ROW_KEY}, {0}};
static const struct input explain_draft[] = {{ROW_KEY}, {FILES}, {VARIABLES}, {0}};
static const struct input mapping_draft[] = {{FILES}, {VARIABLES}, {0}};

const struct operation op_table_delete = {.params = dry_run_input,
                                          .members = confirm,
                                          .asks_revision = true,
                                          .problems = "409",
                                          .answers = {{200, "delete/1", NULL}}};
const struct operation op_explain = {
    .params = explain, .problems = "422", .answers = {{200, "explain/2", NULL}}};
const struct operation op_explain_draft = {
    .members = explain_draft, .problems = "422", .answers = {{200, "explain/2", NULL}}};
const struct operation op_mapping = {.problems = "422", .answers = {{200, "mapping/1", NULL}}};
const struct operation op_mapping_draft = {
    .members = mapping_draft, .problems = "422", .answers = {{200, "mapping/1", NULL}}};
const struct operation op_columns = {.problems = "422", .answers = {{200, "columns/1", NULL}}};

/* ---- a topic ---- */

static const struct input reason[] = {
    {"reason", INPUT_TEXT, .help = "Why, for people; the status shows this."}, {0}};

const struct operation op_topic_reset = {.params = dry_run_input,
                                         .members = no_input,
                                         .problems = "409 422",
                                         .answers = {{200, "topic-reset/1", NULL}}};
const struct operation op_topic_pause = {.params = dry_run_input,
                                         .members = reason,
                                         .problems = "409 422",
                                         .answers = {{200, "topic-pause/1", NULL}}};
const struct operation op_topic_resume = {.params = dry_run_input,
                                          .members = no_input,
                                          .problems = "409 422",
                                          .answers = {{200, "topic-resume/1", NULL}}};

/* ---- nodes ---- */

#define DRY_RUN "dry_run", INPUT_FLAG, .help = "Only say what would move."

static const struct input change[] = {{DRY_RUN}, {0}};
static const struct input move[] = {
    {"to", INPUT_TEXT, true, .min = 1, .help = "The name or id of a node, or `any`."},
    {DRY_RUN},
    {0}};

const struct operation op_nodes = {
    .params = pages, .is_list = true, .problems = "409", .answers = {{200, "node/1", NULL}}};
const struct operation op_node_forget = {
    .params = dry_run_input, .problems = "409", .answers = {{200, "node-forget/1", NULL}}};
const struct operation op_node_change = {
    .members = change,
    .problems = "409",
    .answers = {{200, "node-change/1", NULL}, {202, "node-change/1", NULL}}};
const struct operation op_topic_move = {
    .members = move,
    .problems = "409",
    .answers = {{200, "node-change/1", NULL}, {202, "node-change/1", NULL}}};

#include "config.h"

#include "web/operation/operation.h"

#define LIST                                                                         \
    "list", INPUT_CHOICE,                                                            \
        .help = "Words that the analyzer finds (without it: these), or leaves out.", \
        .choices = "ext stop"
#define WORDS   "words", INPUT_TEXTS, .max = WORDS_OF_A_CALL_MAX
#define PUBLISH "publish", INPUT_FLAG, .help = "Publish them at once."
#define STATE   "state", INPUT_CHOICE, .help = "Only these.", .choices = "init published"

static const struct input list[] = {
    {LIST},
    {STATE},
    {"part", INPUT_TEXT, .help = "Only those with this text in them."},
    {"after", INPUT_TEXT, .help = "Only those behind this word: the next page."},
    {"limit", INPUT_COUNT, .help = "How many, 10000 at most; 0 or without it: 100."},
    {0}};
static const struct input export[] = {{LIST}, {STATE}, {0}};
static const struct input add[] = {
    {LIST}, {WORDS, .required = true, .help = "The words."}, {PUBLISH}, {0}};
static const struct input publish[] = {
    {LIST},
    {WORDS, .help = "These words."},
    {"all", INPUT_FLAG, .help = "All words of the list that are not published."},
    {0}};
static const struct input delete[] = {
    {LIST}, {WORDS, .required = true, .help = "The words."}, {0}};
static const struct input import[] = {
    {LIST}, {"text", INPUT_TEXT, true, .help = "A word a line."}, {PUBLISH}, {0}};
static const struct input set[] = {
    {"word", INPUT_TEXT, true, .min = 1, .help = "What the word becomes."}, {0}};
static const struct input try[] = {
    {"text", INPUT_TEXT, true, .min = 1, .help = "What to analyze; 10000 bytes at most."},
    {"analyzer", INPUT_TEXT, .help = "The analyzer; without it ik_smart."},
    {0}};

#define CHANGES .answers = {{200, "word-change/1", NULL}}

const struct operation op_words = {
    .is_list = true, .params = list, .answers = {{200, "word/1", NULL}}};
const struct operation op_word = {.is_list = true, .answers = {{200, "word/1", NULL}}};
const struct operation op_word_add = {
    .params = dry_run_input, .members = add, .problems = "422", CHANGES};
const struct operation op_word_publish = {
    .params = dry_run_input, .members = publish, .problems = "404 422", CHANGES};
const struct operation op_words_delete = {
    .params = dry_run_input, .members = delete, .problems = "404 422", CHANGES};
const struct operation op_word_import = {
    .params = dry_run_input, .members = import, .problems = "422", CHANGES};
const struct operation op_word_set = {
    .params = dry_run_input, .members = set, .problems = "409 422", CHANGES};
const struct operation op_word_delete = {.params = dry_run_input, .problems = "422", CHANGES};
const struct operation op_word_export = {.params = export,
                                         .answers = {{200, NULL, "text/plain; charset=utf-8"}}};
const struct operation op_word_status = {.answers = {{200, "word-status/1", NULL}}};
const struct operation op_word_try = {
    .members = try, .problems = "422", .answers = {{200, "word-try/1", NULL}}};
const struct operation op_words_file = {.any_params = true,
                                        .problems = "403",
                                        .answers = {{200, NULL, "text/plain; charset=utf-8"},
                                                    {304, NULL, "text/plain; charset=utf-8"}}};

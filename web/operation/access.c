#include "config.h"

#include "web/operation/operation.h"

#define ROLE  "role", INPUT_CHOICE
#define ROLES "viewer operator admin"

static const struct input put_user[] = {
    {"new", INPUT_FLAG, .help = "Refuse (409) to change a user that is there."},
    {"dry_run", INPUT_FLAG, .help = "Change nothing: check, and say what would be changed."},
    {0}};
static const struct input user[] = {
    {ROLE, .help = "What the user may do; a new one needs it.", .choices = ROLES},
    {"password", INPUT_TEXT, .min = 12,
     .help = "12 characters to 256 bytes; a new one needs it."},
    {"sees_rows", INPUT_FLAG, .help = "As a viewer the user sees rows and documents, too."},
    {0}};
static const struct input token[] = {
    {ROLE, true, .help = "What the script may do.", .choices = ROLES},
    {"sees_rows", INPUT_FLAG, .help = "As a viewer's it shows rows and documents, too."},
    {"days", INPUT_COUNT, .min = 1, .max = 3650,
     .help = "The token ends after so many, 3650 at most; 90 if absent."},
    {0}};
static const struct input token_change[] = {
    {ROLE, .help = "What the script may do.", .choices = ROLES},
    {"sees_rows", INPUT_FLAG, .help = "As a viewer's it shows rows and documents, too."},
    {"days", INPUT_COUNT, .min = 1, .max = 3650,
     .help = "The token ends after so many, counted from now; 3650 at most."},
    {0}};
static const struct input log_in[] = {
    {"name", INPUT_TEXT, true, .min = 1, .help = "The user."},
    {"password", INPUT_TEXT, true, .min = 1, .help = "Of the user."},
    {0}};
static const struct input passwords[] = {
    {"old", INPUT_TEXT, true, .min = 1, .help = "The password so far."},
    {"new", INPUT_TEXT, true, .min = 12, .help = "12 characters to 256 bytes."},
    {0}};
static const struct input first_admin[] = {
    {"token", INPUT_TEXT, true, .min = 1,
     .help = "Of the file first-admin.token, or of the log."},
    {"name", INPUT_TEXT, true, .min = 1, .help = "The user to add."},
    {"password", INPUT_TEXT, true, .min = 12,
     .help = "Of the user: 12 characters to 256 bytes."},
    {0}};

const struct operation op_me = {.answers = {{200, "me/1", NULL}}};
const struct operation op_log_in = {
    .members = log_in, .problems = "429", .answers = {{200, "login/1", NULL}}};
const struct operation op_log_out = {.members = no_input, .answers = {{200, "me/1", NULL}}};
const struct operation op_put_password = {
    .members = passwords, .problems = "409 422 429", .answers = {{200, "login/1", NULL}}};
const struct operation op_first_admin = {
    .members = first_admin, .problems = "409 422 429", .answers = {{201, "login/1", NULL}}};
const struct operation op_put_user = {
    .params = put_user,
    .members = user,
    .problems = "409 422",
    .answers = {{200, "user-set/1", NULL}, {201, "user-set/1", NULL}}};
const struct operation op_put_token = {
    .params = dry_run_input,
    .members = token,
    .problems = "409 422",
    .answers = {{200, "token-add/1", NULL}, {201, "token-add/1", NULL}}};
const struct operation op_set_token = {.params = dry_run_input,
                                       .members = token_change,
                                       .problems = "409 422",
                                       .answers = {{200, "token-set/1", NULL}}};
const struct operation op_delete_access = {.params = dry_run_input,
                                           .answers = {{200, "delete/1", NULL}}};

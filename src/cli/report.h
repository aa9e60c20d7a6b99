/*
 * How a command says why it failed: as text for people, or with -o json as one JSON object, the
 * last line on standard error:
 *
 *     {"schema":"millrace/error/1","kind":"reject","exit":1,"message":"…","fix":"…",
 *      "errors":[…]}
 *
 * kind is what the caller does next (src/base/err.h); fix is absent if the message says it;
 * errors are those with a place in a file.  Lines before it are notes: progress, warnings.
 *
 * @thread main; the choice of the form and the kept errors are the process's
 */
#ifndef SRC_CLI_REPORT_H
#define SRC_CLI_REPORT_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>

struct report {
    enum err_kind kind;
    int exit; /* enum command_exit */
    struct str message, fix;
};

/* Report as JSON if the command line asks for it with -o json, however wrong it is. */
void report_choose_form(int argc, const char *const *argv);
bool report_is_json(void);
/* Keep a JSON list of problems for the report, which must follow. */
void report_keep(struct str problems);
/* Print, and return the exit code. */
int report_error(const struct report *r);

#endif

/*
 * The files that a command names, as the daemon wants them.
 *
 * @thread the command's
 */
#ifndef SRC_CLI_DEFINITION_FILES_H
#define SRC_CLI_DEFINITION_FILES_H

#include "src/base/base.h"
#include "src/base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct invocation;
struct json_writer;

/*
 * Add the files, which are the arguments from `first` on, and of this command's environment
 * the variables that they name: the daemon has another environment.  Reads them; "-" is the
 * standard input.
 */
bool definition_files_add(struct json_writer *w, const struct invocation *inv, size_t first,
                          struct err *err) MUST_CHECK;

#endif

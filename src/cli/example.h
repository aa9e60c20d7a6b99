/*
 * One example for each command, as --help and the manual page show it.
 *
 * @thread any (constant)
 */
#ifndef SRC_CLI_EXAMPLE_H
#define SRC_CLI_EXAMPLE_H

#include "src/base/base.h"
#include "src/cli/command.h"

/* A command line without the program's name; NULL: the command has none. */
const char *command_example(const struct command *c);

#endif

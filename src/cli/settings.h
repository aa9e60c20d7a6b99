/*
 * The configuration for a command line: --config and --set over environment and file.
 *
 * @thread main
 */
#ifndef SRC_CLI_SETTINGS_H
#define SRC_CLI_SETTINGS_H

#include "src/base/base.h"
#include "src/cli/command.h"

struct configuration;

/*
 * Load and check the configuration.  Prints every problem, warnings too, with its place on
 * standard error.  Returns NULL if there was an error; err sums it up.  as_log: print log lines
 * instead of text for people.  Release with configuration_free().
 */
struct configuration *command_settings(const struct invocation *inv, bool as_log,
                                       struct err *err) MUST_CHECK;

#endif

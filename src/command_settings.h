/*
 * The configuration that a command line asks for: --config and --set over environment and file.
 *
 * @thread main
 */
#ifndef SRC_COMMAND_SETTINGS_H
#define SRC_COMMAND_SETTINGS_H

#include "src/base/base.h"
#include "src/command.h"

struct configuration;

/*
 * NULL: every mistake was said on standard error with its place, and err sums it up.  Warnings
 * are said, too.  as_log: as log lines instead of text for people.  Release with
 * configuration_free().
 */
struct configuration *command_settings(const struct invocation *inv, bool as_log,
                                       struct err *err) MUST_CHECK;

#endif

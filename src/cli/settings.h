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

enum settings_for {
    SETTINGS_FOR_PEOPLE = 0, /* problems are printed as text */
    SETTINGS_FOR_LOG,        /* problems are log lines */
    SETTINGS_TO_CONNECT,     /* as for people; see configuration_source.to_connect */
};

/*
 * Load and check the configuration.  Prints every problem, warnings too, with its place on
 * standard error.  Returns NULL if there was an error; err sums it up.  Release with
 * configuration_free().
 */
struct configuration *command_settings(const struct invocation *inv, enum settings_for use,
                                       struct err *err) MUST_CHECK;

/* From this file and the environment, whatever the command line says; otherwise the same. */
struct configuration *command_settings_of_file(const char *path, struct err *err) MUST_CHECK;

#endif

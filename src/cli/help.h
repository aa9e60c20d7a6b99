/*
 * Formats the command table: --help, the manual page.
 *
 * @thread any (no state)
 */
#ifndef SRC_CLI_HELP_H
#define SRC_CLI_HELP_H

#include "src/base/buf.h"
#include "src/cli/command.h"

/* All commands, by section. */
void help_overview(struct buf *out, const struct command_set *set);
/* One command. */
void help_command(struct buf *out, const struct command_set *set, const struct command *c);
/* The commands of a group ("index").  Returns false if there is no such group. */
bool help_group(struct buf *out, const struct command_set *set, const char *group) MUST_CHECK;

/* docs/man/millrace.1, in the man macros. */
void help_manual(struct buf *out, const struct command_set *set);

#endif

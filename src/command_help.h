/*
 * What the command table says, as text: --help, the manual page, the completion for bash.
 *
 * @thread any (no state)
 */
#ifndef SRC_COMMAND_HELP_H
#define SRC_COMMAND_HELP_H

#include "src/base/buf.h"
#include "src/command.h"

/* All commands, by section. */
void help_overview(struct buf *out);
/* One command. */
void help_command(struct buf *out, const struct command *c);
/* The commands of a group ("index"); false: there is none. */
bool help_group(struct buf *out, const char *group) MUST_CHECK;

/* docs/man/millrace.1, in the man macros. */
void help_manual(struct buf *out);
/* packaging/millrace.bash */
void help_bash(struct buf *out);

#endif

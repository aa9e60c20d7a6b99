/*
 * Completion: what can stand at the end of a command line, from the command table.
 *
 * @thread any (no state)
 */
#ifndef SRC_CLI_COMPLETE_H
#define SRC_CLI_COMPLETE_H

#include "src/base/buf.h"
#include "src/cli/command.h"

/*
 * Append what the last of n words can be, one a line, with a tab and its meaning if it has one;
 * "/" stands for a file.  *line, whose set the caller sets, becomes the invocation that the
 * words before it are; args must have room for n strings.  Returns the noun whose names can
 * stand there as well, or NULL.
 */
const char *complete_words(struct buf *out, struct invocation *line, const char **args,
                           const char *const *words, size_t n);

/* The script that tells a shell to ask "millrace complete".  NULL: not for this shell. */
const char *complete_script(const char *shell);

#endif

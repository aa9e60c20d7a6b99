/*
 * The compiled size of a regular expression: a part repeated up to n times counts n times, also
 * within another repetition.
 *
 * @thread any (pure)
 */
#ifndef SYNC_DEFINITION_PATTERN_SIZE_H
#define SYNC_DEFINITION_PATTERN_SIZE_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stddef.h>

/*
 * Table names need less.  For optional parts, the C library needs memory quadratic in their
 * repetitions: some sixty megabytes at this size.
 */
#define PATTERN_SIZE_MAX 1000

/*
 * Check that an extended expression (POSIX) is safe to compile.  Returns NULL, or what is
 * wrong: it is too large, nested too deep, or has a back-reference (\1), which takes unbounded
 * time.
 */
const char *pattern_size_wrong(struct str pattern);

#endif

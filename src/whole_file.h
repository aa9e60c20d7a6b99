/*
 * A small file, read whole.
 *
 * Blocks on the file.
 */
#ifndef SRC_WHOLE_FILE_H
#define SRC_WHOLE_FILE_H

#include "src/base/base.h"

#include <stdbool.h>

struct buf;

/* Larger files are cut somewhere behind this. */
#define WHOLE_FILE_MAX (1 << 20)

/* Appends to out.  *exposed: others than its owner may read it; NULL: never mind.  False: errno
 * says why; also for what is no regular file. */
bool whole_file_read(const char *path, struct buf *out, bool *exposed) MUST_CHECK;

#endif

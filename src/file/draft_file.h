/*
 * A file that is written under another name beside its own, and gets its name once it is whole
 * and on the disk.
 *
 * Blocks on the file system.
 */
#ifndef SRC_FILE_DRAFT_FILE_H
#define SRC_FILE_DRAFT_FILE_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/err.h"

#include <stdbool.h>

struct draft_file {
    const char *path; /* its name; borrowed */
    struct buf draft; /* its name until then: PATH.new.PID */
    int fd;           /* to read and write */
};

/*
 * Make an empty file.  After success call draft_file_keep() or draft_file_drop().  ERR_REJECT
 * names the draft; nothing is there then.
 */
bool draft_file_open(struct draft_file *d, const char *path, unsigned mode,
                     struct err *err) MUST_CHECK;
/*
 * Give the file its name, in place of a file of that name if `replace`.  Releases d.
 * ERR_REJECT names the path, with the code EEXIST if a file has the name; the draft is gone
 * then.
 */
bool draft_file_keep(struct draft_file *d, bool replace, struct err *err) MUST_CHECK;
/* Remove the draft.  Releases d. */
void draft_file_drop(struct draft_file *d);

#endif

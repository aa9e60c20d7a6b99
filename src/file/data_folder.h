/*
 * The folder for the daemon's state.
 *
 * The state can include rows, keys and passwords. So the folder belongs to the user that runs
 * the daemon, and others have no rights, except that a group may read. Nothing in it may be a
 * symbolic link, so nobody who could once write there can redirect us elsewhere.
 *
 * Blocks on the file system.
 */
#ifndef SRC_FILE_DATA_FOLDER_H
#define SRC_FILE_DATA_FOLDER_H

#include "src/base/base.h"
#include "src/base/err.h"

#include <stdbool.h>

/* Makes the folder and its missing parents (mode 0700). The folder itself may be a link.
 * ERR_REJECT says what is wrong and how to fix it. */
bool data_folder_open(const char *path, struct err *err) MUST_CHECK;

#endif

/*
 * The file `node` of the data folder: which node this is. It is made once, so a node keeps its
 * id as long as its data folder.
 *
 * Blocks on the file. Hold the folder's lock.
 */
#ifndef SRC_FILE_NODE_FILE_H
#define SRC_FILE_NODE_FILE_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>

struct node_id {
    char id[37];    /* a UUID */
    char place[33]; /* this folder on this machine: a copy of the folder has another */
};

void node_uuid_make(char out[37]);
/* Pure. Tells whether the text is such an id: 36 characters, lower case. */
bool node_uuid_is(struct str text);
/* ERR_REJECT names a file that is no node's; ERR_RETRY: it cannot be made. */
bool node_file_load(const char *folder, struct node_id *out, struct err *err) MUST_CHECK;

#endif

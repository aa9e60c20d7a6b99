/*
 * What a build reads with: its connection to the server whose log we read.  Only the files of
 * rebalance/build include this.
 *
 * @thread the build's own
 */
#ifndef REBALANCE_BUILD_READS_H
#define REBALANCE_BUILD_READS_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct index_build;

bool build_connect(struct index_build *b, struct err *err) MUST_CHECK;
void build_disconnect(struct index_build *b);
/* Count the rows of all its tables that become documents, as the open read shows them. */
bool build_count_tables(struct index_build *b, uint64_t *rows, struct err *err) MUST_CHECK;
/*
 * Open a snapshot on the build's connection. End it with read_view_close() (sync/read/view.h).
 */
bool build_open_read(struct index_build *b, uint64_t at_least, struct err *err);

#endif

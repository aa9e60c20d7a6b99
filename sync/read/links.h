/*
 * struct read_links: one thread's connections for reading documents whose tables may be on
 * several servers: one read_link per topic.
 *
 * The stamp is that of the topic of the documents' root.  A read on another topic's server
 * includes what that topic's reader has read when the read opens.
 *
 * @thread one at a time; blocks
 */
#ifndef SYNC_READ_LINKS_H
#define SYNC_READ_LINKS_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "sync/read/link.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct source_registry;
struct reading;

/* Zero except for own.opt and registry: nothing is open. */
struct read_links {
    struct read_link own;
    struct source_registry *registry; /* borrowed */
    struct foreign_link *foreign;
    size_t n_foreign;
    struct mysql_conn **conns; /* of the open read, one per topic of its plan */
    size_t n_conns;
};

/*
 * Open the reads for documents of `from`; *stamp as in read_link_open().  ERR_RETRY names the
 * topic that prevents it.  Never ERR_REJECT: a server that refuses us says nothing about a
 * document.
 */
bool read_links_open(struct read_links *l, const struct reading *from, uint64_t at_least,
                     uint64_t *stamp, struct err *err) MUST_CHECK;
/* End the reads.  Never ERR_REJECT. */
bool read_links_end(struct read_links *l, struct err *err) MUST_CHECK;

/* Drop unusable connections: the next read opens others. */
void read_links_close(struct read_links *l);
void read_links_fini(struct read_links *l);

#endif

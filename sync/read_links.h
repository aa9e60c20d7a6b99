/*
 * struct read_links: one thread's connections for reads of documents whose tables may be on
 * several servers: one read_link for each topic.
 *
 * The stamp is that of the topic of the documents' root.  A read on another topic's server
 * includes what that topic's reader has read when it is opened.
 *
 * @thread one at a time; blocks
 */
#ifndef SYNC_READ_LINKS_H
#define SYNC_READ_LINKS_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "sync/read_link.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct peers;
struct reading;

/* Zero but for own.opt and peers: nothing is open. */
struct read_links {
    struct read_link own;
    struct peers *peers; /* borrowed */
    struct foreign_link *foreign;
    size_t n_foreign;
    struct mysql_conn **conns; /* of the open read, one for each topic of its plan */
    size_t n_conns;
};

/* Open the reads that documents of `from` are made of; *stamp as of read_link_open().  ERR_RETRY
 * names the topic that keeps it from that.  Never ERR_REJECT: that a server does not let us in
 * says nothing of a document. */
bool read_links_open(struct read_links *l, const struct reading *from, uint64_t at_least,
                     uint64_t *stamp, struct err *err) MUST_CHECK;
/* The reads are over.  Never ERR_REJECT. */
bool read_links_end(struct read_links *l, struct err *err) MUST_CHECK;

/* The connections are of no use any more: the next read opens others. */
void read_links_close(struct read_links *l);
void read_links_fini(struct read_links *l);

#endif

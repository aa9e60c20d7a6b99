/*
 * The part of a dump in which the two client libraries differ: requesting and reading it.
 *
 * sync/source/transport/libmariadb.c or sync/source/transport/libmysqlclient.c implements it,
 * depending on the build. sync/source/transport/server.c prepares the session and interprets
 * errors.
 *
 * @thread one at a time
 */
#ifndef SYNC_SOURCE_TRANSPORT_WIRE_H
#define SYNC_SOURCE_TRANSPORT_WIRE_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct mysql_conn;
struct wire;

/* Flags of the dump commands. */
#define WIRE_NON_BLOCK     0x01
#define WIRE_SEND_ANNOTATE 0x02 /* MariaDB only; means something else to MySQL 8.0.26 */

/* Strings are borrowed for the call. */
struct wire_request {
    uint32_t server_id;
    uint16_t flags;
    bool mysql_gtid; /* COM_BINLOG_DUMP_GTID with gtid_encoded, else COM_BINLOG_DUMP */
    struct str gtid_encoded;
    struct str file;
    uint32_t offset;
};

/* Borrows c. */
struct wire *wire_new(struct mysql_conn *c) RETURNS_NONNULL MUST_CHECK;
void wire_free(struct wire *w); /* NULL is allowed */

/* Returns false on failure; c's library error says why. */
bool wire_start(struct wire *w, const struct wire_request *r) MUST_CHECK;
enum wire_result {
    WIRE_END = 0, /* EOF */
    WIRE_PACKET,  /* *packet starts with the event's first byte, borrowed until the next call */
    WIRE_ERROR,   /* c's library error says why */
    WIRE_TOO_LARGE, /* the packet exceeds the connection's limit; the connection is lost */
};
enum wire_result wire_next(struct wire *w, struct str *packet);
/*
 * Take over the memory of the last packet; the caller frees it.  Returns NULL if the library
 * keeps it.
 */
char *wire_take(struct wire *w);

#endif

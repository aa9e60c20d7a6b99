/*
 * The part of a dump that the two client libraries do differently: asking for it and reading
 * it.
 *
 * transport_libmariadb.c or transport_libmysqlclient.c implements it, whichever is built; the
 * session before it and the meaning of errors are transport_server.c's.
 *
 * @thread one at a time
 */
#ifndef SYNC_BINLOG_TRANSPORT_WIRE_H
#define SYNC_BINLOG_TRANSPORT_WIRE_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct mysql_conn;
struct wire;

/* Flags of the dump commands. */
#define WIRE_NON_BLOCK     0x01
#define WIRE_SEND_ANNOTATE 0x02 /* MariaDB; to MySQL 8.0.26 it means something else */

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
void wire_free(struct wire *w); /* NULL is fine */

/* False: the library's error of c tells why. */
bool wire_start(struct wire *w, const struct wire_request *r) MUST_CHECK;
enum wire_result {
    WIRE_END = 0,   /* EOF */
    WIRE_PACKET,    /* *packet, from the event's first byte, is borrowed until the next call */
    WIRE_ERROR,     /* the library's error of c tells why */
    WIRE_TOO_LARGE, /* a packet over the connection's limit; the connection is lost */
};
enum wire_result wire_next(struct wire *w, struct str *packet);

#endif

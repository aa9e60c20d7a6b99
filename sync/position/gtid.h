/*
 * Global transaction ids of MySQL and MariaDB.  Pure.
 *
 * MySQL: a UUID, an optional tag and a number ("3e11fa47-…:11", "3e11fa47-…:tag:7").  MariaDB:
 * a domain, the server that assigned the id, and a number ("0-1-100").
 */
#ifndef SYNC_POSITION_GTID_H
#define SYNC_POSITION_GTID_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/position/gtid_text.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;

enum gtid_family {
    GTID_NONE = 0, /* no id (anonymous, or a server without GTIDs), or an empty set */
    GTID_MYSQL,
    GTID_MARIADB,
};

/* One id, by value. */
struct gtid {
    enum gtid_family family;
    uint8_t uuid[16];           /* MySQL */
    char tag[GTID_TAG_MAX + 1]; /* MySQL: NUL-terminated; "" if the id has no tag */
    uint32_t domain;            /* MariaDB */
    uint32_t server;            /* MariaDB */
    uint64_t number;
};

/* Tell the family of an id or a set from its syntax. */
enum gtid_family gtid_family_of(struct str text);

/* Parse an id of either family. */
bool gtid_parse(struct str text, struct gtid *out, struct err *err) MUST_CHECK;
/* Parse a MariaDB id at the head of t. */
bool gtid_parse_mariadb(struct gtid_text *t, struct gtid *out) MUST_CHECK;
/* Appends nothing for GTID_NONE. */
void gtid_format(struct buf *b, const struct gtid *g);

#endif

/*
 * Global transaction ids of both families.
 *
 * MySQL: a number of a UUID and tag ("3e11fa47-…:11", "3e11fa47-…:tag:7").  MariaDB: a number
 * of a domain, with the server that gave it out ("0-1-100").  Pure.
 */
#ifndef SYNC_BINLOG_GTID_H
#define SYNC_BINLOG_GTID_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/binlog/gtid_text.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;

enum gtid_family {
    GTID_NONE = 0, /* no id (anonymous, or a server without GTIDs); an empty set */
    GTID_MYSQL,
    GTID_MARIADB,
};

/* One id, by value. */
struct gtid {
    enum gtid_family family;
    uint8_t uuid[16];           /* MySQL */
    char tag[GTID_TAG_MAX + 1]; /* MySQL: NUL-terminated, "" without */
    uint32_t domain;            /* MariaDB */
    uint32_t server;            /* MariaDB */
    uint64_t number;
};

/* Told by the look of an id, or of a set. */
enum gtid_family gtid_family_of(struct str text);

/* Of either family, told by its look. */
bool gtid_parse(struct str text, struct gtid *out, struct err *err) MUST_CHECK;
/* One of MariaDB's at the head of t. */
bool gtid_parse_mariadb(struct gtid_text *t, struct gtid *out) MUST_CHECK;
/* Nothing for GTID_NONE. */
void gtid_format(struct buf *b, const struct gtid *g);

#endif

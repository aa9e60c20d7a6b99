/*
 * struct gtid_origin: the ids of one UUID and tag (MySQL), or the last one of a domain
 * (MariaDB); and the set, which is a sorted array of them.
 *
 * Only what makes up gtid_set.h includes this.
 */
#ifndef SYNC_BINLOG_GTID_ORIGIN_H
#define SYNC_BINLOG_GTID_ORIGIN_H

#include "src/base/base.h"
#include "sync/binlog/gtid.h"
#include "sync/binlog/intervals.h"

#include <stddef.h>
#include <stdint.h>

/* More is damage; the sorted array would be slow. */
#define GTID_ORIGINS_MAX 16384

struct gtid_origin {
    uint8_t uuid[16];
    char tag[GTID_TAG_MAX + 1];
    struct intervals intervals;
    uint32_t domain;
    uint32_t server;
    uint64_t number;
};

struct gtid_set {
    enum gtid_family family;
    struct gtid_origin *origins; /* sorted by UUID and tag, or by domain */
    size_t n_origins;
};

/* The key of an id's origin. */
struct gtid_origin gtid_origin_of(const struct gtid *g);
int gtid_origin_compare(enum gtid_family family, const struct gtid_origin *a,
                        const struct gtid_origin *b);
/* NULL: not in the set. */
const struct gtid_origin *gtid_origin_find(const struct gtid_set *s,
                                           const struct gtid_origin *key);
/* Put in, without numbers, where it is not there. */
struct gtid_origin *gtid_origin_need(struct gtid_set *s,
                                     const struct gtid_origin *key) RETURNS_NONNULL;

#endif

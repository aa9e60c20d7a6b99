/*
 * The representation of struct gtid_set: a sorted array of origins.  Only the gtid_set files
 * include this header.
 *
 * For MySQL an origin holds the ids of one UUID and tag; for MariaDB it holds the last id of a
 * domain.
 */
#ifndef SYNC_POSITION_GTID_ORIGIN_H
#define SYNC_POSITION_GTID_ORIGIN_H

#include "src/base/base.h"
#include "sync/position/gtid.h"
#include "sync/position/intervals.h"

#include <stddef.h>
#include <stdint.h>

/* Reject larger sets as damaged: they would make the sorted array slow. */
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

/* Build the origin of g, as a search key. */
struct gtid_origin gtid_origin_of(const struct gtid *g);
int gtid_origin_compare(enum gtid_family family, const struct gtid_origin *a,
                        const struct gtid_origin *b);
/* Returns NULL if the set lacks the origin. */
const struct gtid_origin *gtid_origin_find(const struct gtid_set *s,
                                           const struct gtid_origin *key);
/* Find the origin; insert an empty one if the set lacks it. */
struct gtid_origin *gtid_origin_need(struct gtid_set *s,
                                     const struct gtid_origin *key) RETURNS_NONNULL;

#endif

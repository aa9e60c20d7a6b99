/*
 * Requests to ZooKeeper, each with a limit: as long as the session lasts without a sign of
 * life.
 *
 * The client's own calls that wait have no limit (ZOOKEEPER-2802 reports one that never
 * returned), so these use those that do not wait. ZOPERATIONTIMEOUT: no answer came, and the
 * request may be done yet, but before the next one of this connection. zookeeper_close()
 * forgets requests without an answer (ZOOKEEPER-2894), so zookeeper_calls_drop() follows it.
 *
 * Only files of rebalance/coordination include this, in a build with the client's library.
 *
 * @thread the deciding one
 */
#ifndef REBALANCE_COORDINATION_ZOOKEEPER_CALL_H
#define REBALANCE_COORDINATION_ZOOKEEPER_CALL_H
#ifdef HAVE_ZOOKEEPER

#include "rebalance/coordination/zookeeper_parts.h"

/* How a node is made. */
struct zookeeper_new {
    const char *path;
    struct str data;
    int flags;
    struct buf *made; /* its path is appended; NULL: nobody asks */
};
int zookeeper_call_create(struct zookeeper *z, const struct zookeeper_new *n) MUST_CHECK;
int zookeeper_call_delete(struct zookeeper *z, const char *path) MUST_CHECK;
/* version -1: whatever it has. */
int zookeeper_call_set(struct zookeeper *z, const char *path, struct str data,
                       int32_t version) MUST_CHECK;
/* The next three watch, if told to, by zookeeper_notes_on_change(). */
int zookeeper_call_exists(struct zookeeper *z, const char *path, bool watch,
                          struct Stat *stat) MUST_CHECK;
/* Always watches. *data: until the next call of it, and cut at COORDINATION_DATA_MAX. */
int zookeeper_call_get(struct zookeeper *z, const char *path, struct str *data,
                       struct Stat *stat) MUST_CHECK;
/* The caller frees *names with deallocate_String_vector(). */
int zookeeper_call_children(struct zookeeper *z, const char *path, bool watch,
                            struct String_vector *names) MUST_CHECK;
/* May everybody write it? */
int zookeeper_call_rights(struct zookeeper *z, const char *path, bool *is_open) MUST_CHECK;

/* Frees all that no answer will come for, as the client is closed. */
void zookeeper_calls_drop(struct zookeeper *z);

#endif
#endif

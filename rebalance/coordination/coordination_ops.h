/*
 * What an implementation of the coordination gives, and the values that its calls take.
 * rebalance/coordination/coordination.h has the calls, and says what each does.
 */
#ifndef REBALANCE_COORDINATION_COORDINATION_OPS_H
#define REBALANCE_COORDINATION_COORDINATION_OPS_H

#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COORDINATION_DATA_MAX 65536 /* bytes of a node's data, or of a value */
#define COORDINATION_ABSENT   (-1)  /* the version of a value that is not there */

struct buf;
struct coordination;

enum coordination_status {
    COORDINATION_CONNECTING, /* no session yet */
    COORDINATION_CONNECTED,  /* to a server that has caught up with all others since */
    COORDINATION_SUSPENDED,  /* stop acting at once: the session may be over */
    COORDINATION_LOST,       /* the session is over, and with it our node and our locks */
    COORDINATION_REFUSED,    /* the log-in or its rights will not do; tried every few seconds */
};

struct coordination_state {
    enum coordination_status status;
    int64_t since_ms;    /* of clock_mono_ms() */
    int64_t dead_ms;     /* take the session for dead from then on: the servers heard us
                          * timeout_ms before; 0 if they never did */
    uint64_t session;    /* 0 before the first; another number: what the last one had is gone */
    unsigned timeout_ms; /* of the session, as the server granted it */
    bool is_open_to_all; /* whoever reaches the servers can change what is there; false before
                            we may use the path */
    struct err why; /* if not connected: the last trouble; refused: the place and the fix */
};

/* All but COORDINATION_STATE and COORDINATION_TAKEN are told while connected only. */
enum coordination_change {
    COORDINATION_STATE,   /* another status, or another session: ask coordination_state() */
    COORDINATION_NODES,   /* a node came or went */
    COORDINATION_NODE,    /* the node `name`: its data, or it went */
    COORDINATION_VALUE,   /* the value `name` */
    COORDINATION_GRANTED, /* we hold the lock `name` */
    COORDINATION_TAKEN,   /* the lock `name`, asked for or held, is ours no more */
};

struct coordination_event {
    enum coordination_change change;
    struct str name; /* until the next coordination_next() */
};

struct coordination_node {
    struct str data; /* hostile bytes: anybody with the log-in may have written them */
    int32_t version;
    uint64_t session;  /* that it ends with */
    bool is_too_large; /* above COORDINATION_DATA_MAX; data is empty */
};

/* Write the data of a node or a value, if it still has this version. */
struct coordination_write {
    enum coordination_change what; /* COORDINATION_NODE or COORDINATION_VALUE */
    struct str name, data;
    int32_t version;
};

/* DIFFERS: somebody wrote since that version; read again. GONE: nothing there to write to. */
enum written {
    WRITTEN_DONE,
    WRITTEN_DIFFERS,
    WRITTEN_GONE,
    WRITTEN_FAILED,
};

struct coordination_ops {
    void (*state)(struct coordination *c, struct coordination_state *out);
    bool (*next)(struct coordination *c, struct coordination_event *out);
    bool (*join)(struct coordination *c, struct str id, struct str data, struct err *err);
    bool (*list)(struct coordination *c, const struct str **ids, size_t *n, struct err *err);
    bool (*read_node)(struct coordination *c, struct str id, struct coordination_node *out,
                      bool *found, struct err *err);
    bool (*read_value)(struct coordination *c, struct str name, struct buf *data,
                       int32_t *version, struct err *err);
    enum written (*write)(struct coordination *c, const struct coordination_write *w,
                          struct err *err);
    bool (*lock)(struct coordination *c, struct str name, struct err *err);
    bool (*holds)(struct coordination *c, struct str name);
    bool (*unlock)(struct coordination *c, struct str name, struct err *err);
    void (*close)(struct coordination *c);
};

/* A member of every implementation. */
struct coordination {
    const struct coordination_ops *ops;
};

#endif

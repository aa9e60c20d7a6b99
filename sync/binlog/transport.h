/*
 * Where binlog events come from: a file, or the dump of a server over one of the client
 * libraries.
 *
 * A transport hands out one event at a time, from the first byte of its common header to the
 * last of its checksum, in the order of the log.  It decodes nothing, drops nothing and
 * reorders nothing: artificial events (the ROTATE that opens each file, the FORMAT_DESCRIPTION
 * that is repeated in the middle of one, heartbeats) are handed out as well.  It never connects
 * again by itself: after a failure it is closed, and what comes next depends on the reason.
 *
 * @thread one at a time; transport_interrupt from any
 */
#ifndef SYNC_BINLOG_TRANSPORT_H
#define SYNC_BINLOG_TRANSPORT_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mysql_options;
struct transport;

/*
 * Why a transport failed, for whoever decides what to do.  Every error of this file's functions
 * has origin "binlog" and the reason as its code; the server's own number is in the message.
 */
enum transport_reason {
    TRANSPORT_NONE = 0,     /* the error did not come from a transport */
    TRANSPORT_LOST,         /* unreachable, connection lost, server going down (ERR_RETRY) */
    TRANSPORT_CUT,          /* the server gave up on us as we read too slowly (ERR_RETRY) */
    TRANSPORT_BEHIND,       /* another server, which lacks transactions we read (ERR_RETRY) */
    TRANSPORT_INTERRUPTED,  /* transport_interrupt (ERR_STOP) */
    TRANSPORT_AUTH,         /* user, password, plugin or TLS refused (ERR_REJECT) */
    TRANSPORT_PRIVILEGE,    /* logged in, but may not read the log (ERR_REJECT) */
    TRANSPORT_NO_BINLOG,    /* the server writes none (ERR_REJECT) */
    TRANSPORT_PURGED,       /* the file is not there any more (ERR_FATAL, as all below) */
    TRANSPORT_BEYOND,       /* the position is beyond the log, or between two events of it */
    TRANSPORT_GTID_PURGED,  /* the log does not go back to our GTIDs any more */
    TRANSPORT_DIVERGED,     /* we know GTIDs that the server never had */
    TRANSPORT_DUPLICATE_ID, /* another client with our server id took the dump over */
    TRANSPORT_MAX_PACKET,   /* an event larger than event_max */
    TRANSPORT_DAMAGED,      /* bytes that cannot be an event */
    TRANSPORT_REFUSED, /* the server ended the dump for another reason, told in the message */
};

/* "purged", "duplicate_id", ... for status and metrics. */
const char *transport_reason_name(enum transport_reason reason);

/* TRANSPORT_NONE for errors of other origin. */
enum transport_reason transport_reason_of(const struct err *err);
/* What follows what was read cannot be had from the log any more. */
bool transport_is_gap(enum transport_reason reason);

struct transport_ops {
    int (*next)(struct transport *t, struct str *event, struct err *err);
    void (*interrupt)(struct transport *t);
    void (*close)(struct transport *t);
};

/* What every implementation begins with. */
struct transport {
    const struct transport_ops *ops;
    bool checksum; /* events before the first FORMAT_DESCRIPTION end with a checksum */
};

/* 1: *event is borrowed until the next call; 0: the end (of a file, or non_block); -1: err. */
static inline int transport_next(struct transport *t, struct str *event, struct err *err)
{
    return t->ops->next(t, event, err);
}

/* Wake a thread that waits in transport_next; that and every later call fail with ERR_STOP. */
static inline void transport_interrupt(struct transport *t)
{
    t->ops->interrupt(t);
}

static inline void transport_close(struct transport *t) /* NULL is fine */
{
    if (t != NULL)
        t->ops->close(t);
}

/*
 * Where and how to read.  Strings are borrowed for the call only.
 *
 * A start is a set of GTIDs, or a file (empty: the first there is) and an offset in it (4: its
 * start; below 4 GiB, as the protocol has 32 bits: start at 4 and skip).  The set is text
 * as gtid_set_format writes it: "0-1-100,1-2-5" (MariaDB) or "3e11fa47-...:1-5" (MySQL); empty:
 * from the first there is.
 */
struct transport_options {
    uint32_t server_id; /* ours, unique among the clients of the server, never 0 */
    const char *uuid;   /* ours, 36 characters */
    const char *identity; /* of the server that is meant (server_identity.h), NULL: any */
    bool use_gtid;
    struct str gtid;
    struct str file;
    uint64_t offset;
    unsigned heartbeat_ms;    /* 0: 10000; silence of six periods is a lost connection */
    unsigned write_timeout_s; /* how long the server waits for us to read; 0: 600 */
    size_t event_max;         /* bytes; 0: 64 MiB */
    bool non_block;           /* end at the end of the log instead of waiting for more */
};

/* Connect and start the dump with the client library that Millrace was built with. */
bool transport_open_server(struct transport **out, const struct mysql_options *server,
                           const struct transport_options *opt, struct err *err) MUST_CHECK;

/*
 * Whether the server lets its log be read by a client of such an id: a dump is begun and ended at
 * once, under another id, so that a running one goes on.  Blocks for a log-in and an event.
 */
bool transport_try_server(const struct mysql_options *server, uint32_t server_id,
                          struct err *err) MUST_CHECK;

/*
 * A binlog file, from offset on (4: its start; an offset further on is preceded by the file's
 * FORMAT_DESCRIPTION, and it must be no pipe).  "-" is standard input.  event_max as above.
 */
bool transport_open_file(struct transport **out, const char *path, uint64_t offset,
                         size_t event_max, struct err *err) MUST_CHECK;

/*
 * For implementations: what an error of the server means (number and text as it sent them), and
 * filling err for a reason, with its kind.  transport_fail returns false.
 */
enum transport_reason transport_classify(unsigned number, const char *text);
bool transport_fail(struct err *err, enum transport_reason reason, const char *fmt, ...)
    PRINTF_LIKE(3, 4);

#endif

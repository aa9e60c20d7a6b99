/*
 * Where binlog events come from: a file, or the dump of a server through one of the client
 * libraries.
 *
 * A transport returns one event at a time, from the first byte of its common header to the last
 * of its checksum, in log order.  It neither decodes nor drops nor reorders events.  Of an
 * event above event_max that may be cut (event_may_be_cut()) it returns only the beginning, and
 * from a file holds no more than that.  It also returns artificial events: the ROTATE that
 * opens each file, the FORMAT_DESCRIPTION repeated in the middle of one, heartbeats.  It never
 * reconnects: after a failure the caller closes it, and acts on the reason.
 *
 * @thread one at a time; transport_interrupt() from any
 */
#ifndef SYNC_SOURCE_TRANSPORT_TRANSPORT_H
#define SYNC_SOURCE_TRANSPORT_TRANSPORT_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mysql_options;
struct transport;

/*
 * Why a transport failed, for the caller to act on.  All errors of these functions have origin
 * "binlog" and the reason as code; the message includes the server's own number.
 */
enum transport_reason {
    TRANSPORT_NONE = 0, /* the error is not from a transport */
    TRANSPORT_LOST,     /* unreachable, connection lost, server shutting down (ERR_RETRY) */
    TRANSPORT_CUT,      /* the server disconnected us because we read too slowly (ERR_RETRY) */
    TRANSPORT_BEHIND,   /* another server, which lacks transactions that we read (ERR_RETRY) */
    TRANSPORT_INTERRUPTED,  /* transport_interrupt (ERR_STOP) */
    TRANSPORT_AUTH,         /* user, password, plugin or TLS refused (ERR_REJECT) */
    TRANSPORT_PRIVILEGE,    /* logged in, but not allowed to read the log (ERR_REJECT) */
    TRANSPORT_NO_BINLOG,    /* the server writes no binlog (ERR_REJECT) */
    TRANSPORT_PURGED,       /* the file no longer exists (ERR_FATAL, as all below) */
    TRANSPORT_BEYOND,       /* the position is past the log, or inside an event */
    TRANSPORT_GTID_PURGED,  /* the log no longer goes back to our GTIDs */
    TRANSPORT_DIVERGED,     /* we have GTIDs that the server never had */
    TRANSPORT_DUPLICATE_ID, /* another client with our server id took over the dump */
    TRANSPORT_MAX_PACKET,   /* an event larger than the maximum */
    TRANSPORT_DAMAGED,      /* bytes that cannot be an event */
    TRANSPORT_REFUSED,      /* the server ended the dump for another reason, see the message */
};

/* "purged", "duplicate_id", ... for status and metrics. */
const char *transport_reason_name(enum transport_reason reason);

/* Returns TRANSPORT_NONE for errors of another origin. */
enum transport_reason transport_reason_of(const struct err *err);
/* Tell whether the log can no longer provide what follows what we read. */
bool transport_is_gap(enum transport_reason reason);

struct transport_ops {
    int (*next)(struct transport *t, struct str *event, struct err *err);
    void (*interrupt)(struct transport *t);
    void (*close)(struct transport *t);
    char *(*take)(struct transport *t); /* may be NULL: never gives memory away */
};

/* The common part of all implementations. */
struct transport {
    const struct transport_ops *ops;
    bool checksum; /* events before the first FORMAT_DESCRIPTION have a checksum */
};

/*
 * Returns 1 with *event borrowed until the next call; 0 at the end (of a file, or with
 * non_block); -1 on error.
 */
static inline int transport_next(struct transport *t, struct str *event, struct err *err)
{
    return t->ops->next(t, event, err);
}

/*
 * Take over the memory block of the last event, which stays valid until the caller frees the
 * block.  Returns NULL if the transport keeps it: copy the event.
 */
static inline char *transport_take(struct transport *t)
{
    return t->ops->take == NULL ? NULL : t->ops->take(t);
}

/* Wake the thread in transport_next().  That call and all later ones fail with ERR_STOP. */
static inline void transport_interrupt(struct transport *t)
{
    t->ops->interrupt(t);
}

static inline void transport_close(struct transport *t) /* NULL is allowed */
{
    if (t != NULL)
        t->ops->close(t);
}

/*
 * Where and how to read.  Strings are borrowed for the call.
 *
 * The start is a set of GTIDs, or a file (empty for the first one) and an offset (4 for its
 * beginning; below 4 GiB because the protocol has 32 bits: for more, start at 4 and skip).  The
 * set is text as from gtid_set_format(): "0-1-100,1-2-5" (MariaDB) or "3e11fa47-...:1-5"
 * (MySQL); empty for the start of the log.
 */
struct transport_options {
    uint32_t server_id;   /* ours, unique among the server's clients, not 0 */
    const char *uuid;     /* ours, 36 characters */
    const char *identity; /* the server to expect (server_identity.h); NULL for any */
    bool use_gtid;
    struct str gtid;
    struct str file;
    uint64_t offset;
    unsigned heartbeat_ms;    /* 0 for 15000; two silent periods mean a lost connection */
    unsigned write_timeout_s; /* how long the server waits for us to read; 0 for 600 */
    size_t event_max;         /* bytes; 0 for 64 MiB */
    bool non_block;           /* end at the end of the log instead of waiting */
};

/* Connect and start the dump, through the client library that Millrace was built with. */
bool transport_open_server(struct transport **out, const struct mysql_options *server,
                           const struct transport_options *opt, struct err *err) MUST_CHECK;

/*
 * Find out whether the server lets a client with such an id read its log: starts a dump and
 * ends it at once, under another id, so that a running dump survives.  Blocks for a log-in and
 * an event.
 */
bool transport_try_server(const struct mysql_options *server, uint32_t server_id,
                          struct err *err) MUST_CHECK;

/*
 * Open a binlog file at offset (4 for its beginning).  A later offset returns the file's
 * FORMAT_DESCRIPTION first, and requires a seekable file. "-" is standard input. event_max as
 * above.
 */
bool transport_open_file(struct transport **out, const char *path, uint64_t offset,
                         size_t event_max, struct err *err) MUST_CHECK;

/*
 * For implementations: map a server's error (number and text as sent) to a reason, and set err
 * for a reason with the kind that belongs to it. transport_fail() returns false.
 */
enum transport_reason transport_classify(unsigned number, const char *text);
bool transport_fail(struct err *err, enum transport_reason reason, const char *fmt, ...)
    PRINTF_LIKE(3, 4);

#endif

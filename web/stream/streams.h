/*
 * The streams of this node's status: who reads one, and the state that all of them get.
 *
 * A stream holds no thread: the library's event loop asks for its bytes when the connection
 * takes some (MHD_create_response_from_callback), and it is suspended while there are none.
 * One thread renders the status for all streams, at most once each STREAMS_TICK_MS, and only
 * while somebody reads.  It also looks whether the readers are still there and may still read.
 *
 * @thread locked inside; streams_stop() and streams_free(): the owner's
 */
#ifndef WEB_STREAM_STREAMS_H
#define WEB_STREAM_STREAMS_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stdint.h>

#define STREAMS_MAX        128   /* of all listeners */
#define STREAMS_OF_SENDER  96    /* of one address; this machine's own count as one */
#define STREAMS_TICK_MS    550   /* more than FEED_PAUSE_MS, so that no tick is left out */
#define STREAMS_STUCK_MS   60000 /* a reader that takes nothing for so long is left */
#define STREAMS_LEAVING_MS 2000  /* likewise, once it may not read any more */

struct MHD_Connection;
struct MHD_Response;
struct buf;
struct stream;
struct streams;

struct streams_options {
    unsigned max; /* of all listeners; 0: STREAMS_MAX */
    /* Append the status as JSON.  May block; runs on the streams' own thread. */
    bool (*render)(void *cls, struct buf *json, struct err *err);
    void *cls;
};

/* Whoever wants to read one. */
struct stream_reader {
    struct MHD_Connection *connection;
    int fd;          /* of the same connection; borrowed until stream_leave() */
    uint64_t sender; /* address_sender() */
    struct str has;  /* the id of the state that it has; empty: none */
    /* Whether it may go on.  Must not block, nor call this file. */
    bool (*may_stay)(void *cls);
    void *cls;
};

struct streams *streams_start(const struct streams_options *opt) RETURNS_NONNULL MUST_CHECK;
/* End every stream, and refuse new ones.  Blocks for a rendering that runs.  NULL is fine. */
void streams_stop(struct streams *s);
/* Call this after streams_stop(), once every stream was left.  NULL is fine. */
void streams_free(struct streams *s);

/*
 * Returns a stream to be answered with stream_answer().  NULL with err, of HTTP status 503, if
 * too many are open.
 */
struct stream *streams_join(struct streams *s, const struct stream_reader *r,
                            struct err *err) MUST_CHECK;
/* The body that tells of the states.  The caller destroys it.  NULL: no memory. */
struct MHD_Response *stream_answer(struct stream *st) MUST_CHECK;
/* The library has left the connection.  NULL is fine. */
void stream_leave(struct stream *st);

#endif

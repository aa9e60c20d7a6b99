/*
 * struct fan_out: changed rows that lead to very many documents, worked off beside the stream.
 *
 * What leads to many documents is put into the store as jobs (src/store_fan_out.h); with that
 * the change is done, and the stream goes on.  One thread then works the jobs off, for each
 * index version by itself: it reads the root keys in pages, in key order, by a read that
 * includes the change, and hands them to delivery in slices, to be read again; the next slice
 * only when the one before is acknowledged, and the cursor is stored after that.  So few
 * documents are in flight, the changes of the stream go past them, and a kill costs one slice.
 *
 * While a version has jobs, what foreign keys change waits for them
 * (sync/delivery/turnstile.h): it is found by what documents show.
 *
 * @thread as each function says
 */
#ifndef SYNC_FAN_OUT_H
#define SYNC_FAN_OUT_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct delivery;
struct denied;
struct fan_out;
struct known_server;
struct peers;
struct read_position;
struct routing;
struct server_access;
struct store;
struct target;

struct fan_out_options { /* all borrowed */
    const char *topic;
    uint64_t term;
    struct store *store;
    struct delivery *delivery;
    struct read_position *reader;
    struct server_access *server; /* the one that is followed */
    struct known_server *known;
    struct peers *peers; /* of the node */
    struct denied *denied; /* is told */
    /* The versions are taken as they are wanted.  What another topic told of its tables is in the
     * plans then; what it changed later waits until it is. */
    bool (*is_settled)(void *ctx);
    void *ctx;
    size_t page;         /* root keys of a statement; 0: 10000 */
    size_t slice;        /* documents in flight of one version at most; 0: 1000 */
};

struct fan_out *fan_out_new(const struct fan_out_options *opt) RETURNS_NONNULL MUST_CHECK;
void fan_out_start(struct fan_out *f);
/* Begin nothing more; what is in flight ends.  @thread any */
void fan_out_rest(struct fan_out *f);
void fan_out_stop(struct fan_out *f);
/* When delivery has given up all it had.  NULL is fine. */
void fan_out_free(struct fan_out *f);

/* The versions of now; takes a reference.  @thread builder, before it reads on */
void fan_out_set_routing(struct fan_out *f, struct routing *routing);

/* Changed rows of one place of a version's documents. */
struct fan_out_rows {
    const struct target *target;
    size_t place;
    bool by_row; /* keys of resolver_row_key() */
    const struct str *keys;
    size_t n;
    uint64_t at_least; /* position of the change, as a version */
};
/* Durable when it returns true.  Blocks on the store.  @thread any */
bool fan_out_put(struct fan_out *f, const struct fan_out_rows *rows,
                 struct err *err) MUST_CHECK;

/* Somebody else has put jobs for the topic: look for them now.  @thread any */
void fan_out_wake(struct fan_out *f);

/*
 * When the oldest job of an index ("orders_v2") was put, in wall time: all that was put before
 * is done.  INT64_MAX: there is none; 0: not known yet.  @thread any
 */
int64_t fan_out_oldest_ms(struct fan_out *f, struct str index);

struct fan_out_status {
    uint64_t put;       /* rows that were put */
    uint64_t runs;      /* that came to their end */
    uint64_t documents; /* acknowledged */
    uint64_t waiting;   /* jobs in the store, as they were looked at last */
    uint64_t failures;
    uint64_t statements; /* to find documents */
};
struct fan_out_status fan_out_status(struct fan_out *f);

/* How far an index version is.  @thread any */
struct fan_out_progress {
    uint64_t rows; /* that lead to very many documents and are not done, as looked at last */
    uint64_t run;  /* of the store, that goes on; 0: none */
    uint64_t documents; /* acknowledged */
    uint64_t known;     /* further ones that were found */
    bool all_known;     /* there are no more than these */
};
struct fan_out_progress fan_out_progress(struct fan_out *f, struct str alias, uint64_t number);

#endif

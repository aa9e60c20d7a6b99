/*
 * struct saver: the thread that makes a source's progress durable and watches its lag.
 *
 * A few times a second it stores the safe position with the tombstones that belong before it;
 * now and then it asks the server how much of the log lies beyond.
 *
 * @thread its own; status functions any
 */
#ifndef SYNC_SAVER_H
#define SYNC_SAVER_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gtid_set;
struct mark;
struct known_server;
struct progress;
struct read_position;
struct saver;
struct server_access;
struct store;

struct saver_options {
    const char *topic;
    struct store *store;
    struct progress *progress;
    struct read_position *reader;
    struct server_access *server;
    struct known_server *known;
    uint64_t term;
    uint64_t epoch;
    void *ctx;
    /* The dump gives nothing though the server's log has more, or another log: connect again.
     */
    void (*stuck)(void *ctx, const char *why);
    bool (*connected)(void *ctx); /* the server can be asked */
    bool (*waits)(void *ctx);     /* all that was read is worked off: more is waited for */
    void (*fenced)(void *ctx, const struct err *why); /* another owner has a newer term */
};

struct saver *saver_new(const struct saver_options *opt) RETURNS_NONNULL MUST_CHECK;
void saver_start(struct saver *s);
void saver_stop(struct saver *s); /* joins */
void saver_free(struct saver *s);

/* What file names begin with ("binlog"), and who the server is; known from the first connect
 * on. */
void saver_set_log(struct saver *s, struct str base, const char *identity);
/* What was executed before the start; copied. */
void saver_set_executed(struct saver *s, const struct gtid_set *executed);

/* Store now, whether or not anything moved. */
bool saver_save(struct saver *s, struct err *err) MUST_CHECK;
/* Never store again. */
void saver_freeze(struct saver *s);

struct saver_status {
    char file[256];
    uint64_t offset;
    uint64_t version; /* the safe position */
    char *gtids;      /* free() it */
    double lag_s;
    uint64_t lag_bytes;
    bool lag_known;
    struct err error; /* of the last save */
};
void saver_status(struct saver *s, struct saver_status *out);

#endif

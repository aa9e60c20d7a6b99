/*
 * struct saver: the thread that makes a source's progress durable and watches its lag.
 *
 * While something is read or delivered, it stores a few times a second the safe position, if
 * due (struct save_due), with the tombstones that belong before it.  Now and then it asks the
 * server how much log follows.
 *
 * @thread its own; status functions any
 */
#ifndef SYNC_CHECKPOINT_SAVER_H
#define SYNC_CHECKPOINT_SAVER_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/checkpoint/lag.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gtid_set;
struct commit_position;
struct known_server;
struct midnights;
struct progress;
struct read_position;
struct saver;
struct server_access;
struct store;

struct saver_options {
    const char *topic;
    struct store *store;
    struct progress *progress;
    struct midnights *midnights; /* stored before a position that passes them; may be NULL */
    const char *day_zone;        /* whose midnights they are */
    struct read_position *reader;
    struct server_access *server;
    struct known_server *known;
    uint64_t term;
    uint64_t epoch;
    uint64_t final_version; /* as stored; deletes up to there need no repeating */
    int64_t begins_ms;      /* wall time: ignore what was committed before; 0 for all */
    void *ctx;
    /*
     * The dump yields nothing although the server's log has more, or it is another log:
     * reconnect.
     */
    void (*stuck)(void *ctx, const char *why);
    /* Called by the saver's thread, and by whoever asks for its status. */
    bool (*connected)(void *ctx); /* the server can be asked */
    bool (*waits)(void *ctx);     /* everything read is processed: waiting for more */
    size_t (*repeats)(void *ctx); /* deletes that delivery has yet to repeat */
    void (*saves)(void *ctx);     /* before a position is stored; may be NULL, may block */
    void (*fenced)(void *ctx);    /* another owner has a newer term */
};

struct saver *saver_new(const struct saver_options *opt) RETURNS_NONNULL MUST_CHECK;
void saver_start(struct saver *s);
void saver_stop(struct saver *s); /* joins */
void saver_free(struct saver *s);

/*
 * Set the base of file names ("binlog") and the server's identity, known from the first connect
 * on.
 */
void saver_set_log(struct saver *s, struct str base, const char *identity);
/* Set what was executed before the start; copied. */
void saver_set_executed(struct saver *s, const struct gtid_set *executed);

/* Something was read: end the rest.  @thread any */
void saver_nudge(struct saver *s);
/* Save now, even if nothing moved. */
bool saver_save(struct saver *s, struct err *err) MUST_CHECK;
/*
 * Deletes after saver_final_version() must be repeated once no copy of an earlier daemon's
 * writes can arrive any more. saver_deletes_are_repeated() reports that they were: from then on
 * a delete is final when the position passes it, unless delivery has yet to repeat it.
 */
uint64_t saver_final_version(struct saver *s);
void saver_deletes_are_repeated(struct saver *s);
/* Returns true if all was read that the server had at some time after the start. */
bool saver_has_caught_up(struct saver *s);
/* Never save again. */
void saver_freeze(struct saver *s);

struct saver_status {
    char file[256];
    uint64_t offset;
    uint64_t version; /* the safe position */
    char *gtids;      /* caller frees */
    struct lag lag;
    uint64_t lag_bytes; /* of the server's log after what is done */
    bool bytes_known;
    int64_t asked_ms;  /* wall time of the server's report; 0 for never */
    int64_t asking_ms; /* wall time: since when a question has no answer; 0: none is open */
    struct err error;  /* of the last save */
    int64_t failed_ms; /* wall time: since when none worked; 0: the last one did */
};
void saver_status(struct saver *s, struct saver_status *out);
/* The same, and wakes nobody: of a log at rest, what the last look found. */
void saver_glance(struct saver *s, struct saver_status *out);

#endif

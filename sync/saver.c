#include "config.h"

#include "sync/saver.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/base/thread.h"
#include "src/mysql.h"
#include "src/store.h"
#include "sync/binlog/gtid_set.h"
#include "sync/binlog/position.h"
#include "sync/fingerprint.h"
#include "sync/known_server.h"
#include "sync/progress.h"
#include "sync/read_position.h"
#include "sync/server_access.h"
#include "sync/server_info.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAVE_MS  100
#define WATCH_MS 1000
#define STUCK_MS 15000 /* a dump that is only slow gives something in this time */
#define GONE_MS  3000

struct saver {
    struct saver_options opt;
    struct stop stop;
    pthread_t thread;
    bool started;
    struct mysql_conn *conn; /* the thread's own */
    int64_t watched_ms;
    uint64_t read;    /* what the reader had read when it moved last */
    int64_t moved_ms; /* and when that was */

    pthread_mutex_t saving; /* one save at a time */

    pthread_mutex_t lock;

    /* All guarded by lock. */
    char base[224];
    char identity[IDENTITY_CAP];
    struct mark safe;
    struct gtid_set *executed;
    bool frozen;
    double lag_s;
    uint64_t lag_bytes;
    bool lag_known;
    struct err error;
};

struct saver *saver_new(const struct saver_options *opt)
{
    struct saver *s = mem_alloc(1, sizeof(*s));

    s->opt = *opt;
    s->executed = gtid_set_new();
    stop_init(&s->stop);
    pthread_mutex_init(&s->saving, NULL);
    pthread_mutex_init(&s->lock, NULL);
    progress_safe(opt->progress, &s->safe, s->executed);
    return s;
}

void saver_free(struct saver *s)
{
    if (s == NULL)
        return;
    gtid_set_free(s->executed);
    pthread_mutex_destroy(&s->lock);
    pthread_mutex_destroy(&s->saving);
    stop_fini(&s->stop);
    free(s);
}

void saver_set_log(struct saver *s, struct str base, const char *identity)
{
    pthread_mutex_lock(&s->lock);
    snprintf(s->base, sizeof(s->base), "%" STR_FMT, STR_ARG(base));
    snprintf(s->identity, sizeof(s->identity), "%s", identity);
    pthread_mutex_unlock(&s->lock);
}

void saver_set_executed(struct saver *s, const struct gtid_set *executed)
{
    pthread_mutex_lock(&s->lock);
    gtid_set_free(s->executed);
    s->executed = gtid_set_copy(executed);
    pthread_mutex_unlock(&s->lock);
}

void saver_freeze(struct saver *s)
{
    pthread_mutex_lock(&s->lock);
    s->frozen = true;
    pthread_mutex_unlock(&s->lock);
}

/* The safe mark and its texts, as the store wants them. */
struct snapshot {
    struct buf file, gtids, fingerprint;
    struct stored_checkpoint cp;
    bool moved, known;
};

static void take_snapshot(struct saver *s, struct snapshot *snap)
{
    pthread_mutex_lock(&s->lock);
    snap->moved = progress_safe(s->opt.progress, &s->safe, s->executed);
    snap->known = s->base[0] != '\0' && s->safe.file_number != 0 && !s->frozen;
    buf_printf(&snap->file, "%s.%06u", s->base, s->safe.file_number);
    gtid_set_format(&snap->gtids, s->executed);
    fingerprint_format(&snap->fingerprint, s->identity, &s->safe);
    snap->cp = (struct stored_checkpoint){
        .topic = str_from(s->opt.topic),
        .file = buf_str(&snap->file),
        .offset = s->safe.offset,
        .gtid = buf_str(&snap->gtids),
        .epoch = s->opt.epoch,
        .fingerprint = buf_str(&snap->fingerprint),
        .event_ms = s->safe.event_ms,
        .state = STR("running"),
        .reason = STR(""),
    };
    pthread_mutex_unlock(&s->lock);
}

static void keep_error(struct saver *s, const struct err *err)
{
    pthread_mutex_lock(&s->lock);
    s->error = *err;
    pthread_mutex_unlock(&s->lock);
}

/* A mark that was taken and not stored is stored with the next one: the mark itself stays here.
 */
static bool save(struct saver *s, bool always, struct err *err)
{
    struct arena *a = arena_new();
    struct snapshot snap = {0};
    struct stored_tombstone *graves;
    bool ok = true;

    pthread_mutex_lock(&s->saving);
    take_snapshot(s, &snap);
    if (snap.known) {
        const size_t n = progress_take_tombstones(s->opt.progress, a, &graves);

        if (snap.moved || always || n > 0 || s->error.kind != ERR_NONE) {
            FAILPOINT(position_due);
            ok = store_save_checkpoint(s->opt.store, s->opt.term, &snap.cp, graves, n, err);
            FAILPOINT(position_stored);
            if (!ok)
                progress_return_tombstones(s->opt.progress, graves, n);
            keep_error(s, ok ? &(struct err){0} : err);
        }
    }
    pthread_mutex_unlock(&s->saving);
    buf_free(&snap.file);
    buf_free(&snap.gtids);
    buf_free(&snap.fingerprint);
    arena_free(a);
    return ok;
}

bool saver_save(struct saver *s, struct err *err)
{
    return save(s, true, err);
}

/*
 * When everything read is done, the reader's position counts: rotations are no transactions.  A
 * prepared XA transaction, that holds the safe position, is no lag.
 */
static void lag_from(struct saver *s, struct buf *file, uint64_t *offset, int64_t *event_ms)
{
    const struct position_fields read = position_fields(read_position_version(s->opt.reader));
    const bool idle = progress_idle(s->opt.progress);
    const struct mark done = progress_done(s->opt.progress);

    pthread_mutex_lock(&s->lock);
    buf_printf(file, "%s.%06u", s->base, idle ? (unsigned)read.file : done.file_number);
    *offset = idle ? read.offset : done.offset;
    *event_ms = done.event_ms;
    pthread_mutex_unlock(&s->lock);
}

/* A log that was reset under a running dump leaves the dump waiting at a file that is gone. */
static void watch_dump(struct saver *s, const struct log_backlog *backlog)
{
    const uint64_t read = read_position_version(s->opt.reader);
    const int64_t now = clock_mono_ms();

    if (read != s->read || !s->opt.waits(s->opt.ctx) ||
        (backlog->found && backlog->bytes == 0)) {
        s->read = read;
        s->moved_ms = now;
    } else if (now - s->moved_ms > (backlog->found ? STUCK_MS : GONE_MS)) {
        s->moved_ms = now;
        s->opt.stuck(s->opt.ctx,
                     backlog->found
                         ? "the server's log has grown, but its dump gives nothing"
                         : "the server's log does not hold the position that was read");
    }
}

/*
 * How much the server has beyond what was read.  Where something that was read is not done, the
 * lag counts from there, and says nothing of the dump.
 */
static bool unread_backlog(struct saver *s, struct str file, uint64_t offset,
                           struct log_backlog *backlog, struct err *err)
{
    const struct position_fields read = position_fields(read_position_version(s->opt.reader));
    struct buf name = {0};
    bool ok = true;

    pthread_mutex_lock(&s->lock);
    buf_printf(&name, "%s.%06u", s->base, (unsigned)read.file);
    pthread_mutex_unlock(&s->lock);
    if (!str_equal(buf_str(&name), file) || read.offset != offset)
        ok = server_log_backlog(s->conn, buf_str(&name), read.offset, backlog, err);
    buf_free(&name);
    return ok;
}

static void keep_lag(struct saver *s, const struct log_backlog *backlog, int64_t event_ms)
{
    const double age = (double)(clock_wall_ms() - event_ms) / 1000;

    pthread_mutex_lock(&s->lock);
    s->lag_known = backlog->found;
    s->lag_bytes = backlog->bytes;
    s->lag_s = backlog->bytes == 0 || event_ms == 0 || age < 0 ? 0 : age;
    pthread_mutex_unlock(&s->lock);
}

static void watch_lag(struct saver *s)
{
    struct buf file = {0};
    struct log_backlog backlog;
    uint64_t offset;
    int64_t event_ms;
    struct err err = {0};

    if (position_fields(read_position_version(s->opt.reader)).file == 0)
        return; /* begun at GTIDs: the dump has not told where it is */
    if (!s->opt.connected(s->opt.ctx) || clock_mono_ms() - s->watched_ms < WATCH_MS)
        return;
    s->watched_ms = clock_mono_ms();
    /* Another server's log says nothing of ours. */
    if (s->conn == NULL &&
        !known_server_open(s->opt.known, &s->opt.server->options, &s->conn, &err))
        return;
    lag_from(s, &file, &offset, &event_ms);
    if (server_log_backlog(s->conn, buf_str(&file), offset, &backlog, &err)) {
        keep_lag(s, &backlog, event_ms);
        if (unread_backlog(s, buf_str(&file), offset, &backlog, &err))
            watch_dump(s, &backlog);
    } else {
        mysql_conn_close(s->conn);
        s->conn = NULL;
    }
    buf_free(&file);
}

static void *saver_main(void *arg)
{
    struct saver *s = arg;

    while (!stop_wait(&s->stop, SAVE_MS)) {
        struct err err = {0};

        if (!save(s, false, &err)) {
            if (err.kind == ERR_STOP) {
                s->opt.fenced(s->opt.ctx, &err);
                break;
            }
            log_failure(LOG_ERROR, &err, "the position could not be stored, trying again",
                        KV("topic", s->opt.topic));
            stop_wait(&s->stop, WATCH_MS);
        }
        watch_lag(s);
    }
    mysql_conn_close(s->conn);
    s->conn = NULL;
    return NULL;
}

void saver_start(struct saver *s)
{
    s->started = true;
    s->thread = thread_start("saver", saver_main, s);
}

void saver_stop(struct saver *s)
{
    stop_set(&s->stop);
    if (s->started)
        pthread_join(s->thread, NULL);
    s->started = false;
}

void saver_status(struct saver *s, struct saver_status *out)
{
    struct buf gtids = {0};

    pthread_mutex_lock(&s->lock);
    *out = (struct saver_status){
        .offset = s->safe.offset,
        .version = mark_version(&s->safe, s->opt.epoch),
        .lag_s = s->lag_s,
        .lag_bytes = s->lag_bytes,
        .lag_known = s->lag_known,
        .error = s->error,
    };
    if (s->base[0] != '\0' && s->safe.file_number != 0)
        snprintf(out->file, sizeof(out->file), "%s.%06u", s->base, s->safe.file_number);
    gtid_set_format(&gtids, s->executed);
    pthread_mutex_unlock(&s->lock);
    out->gtids = gtids.ptr != NULL ? gtids.ptr : mem_copy("");
}

#include "config.h"

#include "sync/checkpoint/saver.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/base/lock.h"
#include "src/base/log.h"
#include "src/base/magic.h"
#include "src/base/mem.h"
#include "src/base/thread.h"
#include "src/mysql/mysql.h"
#include "src/store/later/midnight.h"
#include "src/store/store.h"
#include "sync/checkpoint/dump_watch.h"
#include "sync/checkpoint/fingerprint.h"
#include "sync/checkpoint/midnights.h"
#include "sync/checkpoint/progress.h"
#include "sync/checkpoint/read_position.h"
#include "sync/checkpoint/save_due.h"
#include "sync/position/gtid_set.h"
#include "sync/position/position.h"
#include "sync/server/known_server.h"
#include "sync/server/server_access.h"
#include "sync/server/server_info.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAVE_MS  100
#define WATCH_MS 1000        /* how often at most the server is asked for its log's end */
#define REST_MS  LAG_REST_MS /* how often while nothing is read and nobody looks */

struct saver {
    enum magic magic;
    struct saver_options opt;
    struct stop stop;
    pthread_t thread;
    bool started;
    struct mysql_conn *conn; /* the thread's own; set under lock, so that others can end it */
    int64_t watched_ms;
    struct dump_watch dump; /* the thread's own, too */

    struct lock saving;  /* one save at a time */
    struct save_due due; /* guarded by saving */

    struct lock lock;

    /* All guarded by lock. */
    char base[224];
    char identity[IDENTITY_CAP];
    struct commit_position safe;
    struct gtid_set *executed;
    bool frozen;
    bool is_repeated; /* deletes by earlier daemons are repeated */
    bool rests;       /* all that the server had is done, and its dump waits for more */
    uint64_t final_version;
    int64_t asking_ms; /* wall time of the first question that has no answer yet; 0: there is
                          none */
    int64_t asked_ms;  /* wall time at which the server last reported its log's end; 0: never */
    int64_t caught_up_ms; /* wall time at which all of the log was done */
    uint64_t lag_bytes;
    uint64_t end_file, end_offset; /* where the server's log ended when first asked; file 0: not
                                      asked yet */
    struct err error;
    int64_t failed_ms; /* wall time of the first of the saves that failed one after another */
};

struct saver *saver_new(const struct saver_options *opt)
{
    struct saver *s = mem_alloc(1, sizeof(*s));

    s->magic = MAGIC_saver;
    s->opt = *opt;
    s->executed = gtid_set_new();
    s->caught_up_ms = opt->begins_ms;
    s->final_version = opt->final_version;
    stop_init(&s->stop);
    lock_init(&s->saving, LOCK_private);
    lock_init(&s->lock, LOCK_private);
    (void)progress_safe(opt->progress, &s->safe, s->executed);
    s->due.file_number = s->safe.file_number;
    return s;
}

void saver_free(struct saver *s)
{
    if (s == NULL)
        return;
    gtid_set_free(s->executed);
    lock_fini(&s->lock);
    lock_fini(&s->saving);
    stop_fini(&s->stop);
    MAGIC_END(saver, s);
    free(s);
}

void saver_set_log(struct saver *s, struct str base, const char *identity)
{
    lock_acquire(&s->lock);
    snprintf(s->base, sizeof(s->base), "%" STR_FMT, STR_ARG(base));
    snprintf(s->identity, sizeof(s->identity), "%s", identity);
    lock_release(&s->lock);
}

void saver_set_executed(struct saver *s, const struct gtid_set *executed)
{
    lock_acquire(&s->lock);
    gtid_set_free(s->executed);
    s->executed = gtid_set_copy(executed);
    lock_release(&s->lock);
}

uint64_t saver_final_version(struct saver *s)
{
    lock_acquire(&s->lock);

    const uint64_t version = s->final_version;

    lock_release(&s->lock);
    return version;
}

void saver_deletes_are_repeated(struct saver *s)
{
    lock_acquire(&s->lock);
    s->is_repeated = true;
    lock_release(&s->lock);
}

void saver_freeze(struct saver *s)
{
    lock_acquire(&s->lock);
    s->frozen = true;
    lock_release(&s->lock);
}

/* The safe mark and its texts, for the store. */
struct snapshot {
    struct buf file, gtids, fingerprint;
    struct stored_checkpoint cp;
    uint32_t file_number;
    enum progress_move move;
    bool known;
};

static void take_snapshot(struct saver *s, struct snapshot *snap)
{
    lock_acquire(&s->lock);
    snap->move = progress_safe(s->opt.progress, &s->safe, s->executed);
    /* Ask after taking the position, so that the deletes before it are counted. */
    if (s->is_repeated && s->opt.repeats(s->opt.ctx) == 0)
        s->final_version = commit_position_version(&s->safe, s->opt.epoch);
    snap->file_number = s->safe.file_number;
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
        .final_version = s->final_version,
    };
    lock_release(&s->lock);
}

static void keep_error(struct saver *s, const struct err *err)
{
    lock_acquire(&s->lock);
    s->failed_ms = err->kind == ERR_NONE ? 0
                   : s->failed_ms != 0   ? s->failed_ms
                                         : clock_wall_ms();
    s->error = *err;
    lock_release(&s->lock);
}

/* What must be in the store before the position. */
struct ahead {
    struct stored_tombstone *tombstones;
    size_t n_tombstones;
    struct midnight midnights[MIDNIGHTS_MAX];
    size_t n_midnights;
};

static void take_ahead(struct saver *s, struct arena *a, struct ahead *out)
{
    out->n_tombstones = progress_take_tombstones(s->opt.progress, a, &out->tombstones);
    out->n_midnights =
        s->opt.midnights == NULL ? 0 : midnights_take(s->opt.midnights, out->midnights);
}

static bool store_midnights(struct saver *s, struct arena *a, const struct snapshot *snap,
                            const struct ahead *ahead, struct err *err)
{
    const struct midnight_owner owner = {.topic = str_from(s->opt.topic),
                                         .zone = str_from(s->opt.day_zone),
                                         .term = s->opt.term};
    struct stored_midnight rows[MIDNIGHTS_MAX];
    const struct str base = position_file_base(snap->cp.file);

    for (size_t i = 0; i < ahead->n_midnights; i++) {
        const struct midnight *m = &ahead->midnights[i];
        struct buf file = {0};

        buf_printf(&file, "%" STR_FMT ".%06u", STR_ARG(base), m->file_number);
        rows[i] = (struct stored_midnight){m->day, s->opt.epoch, arena_copy(a, buf_str(&file)),
                                           m->offset};
        buf_free(&file);
    }
    if (!store_put_midnights(s->opt.store, &owner, rows, ahead->n_midnights, err))
        return false;
    if (ahead->n_midnights > 0)
        midnights_forget(s->opt.midnights, rows[ahead->n_midnights - 1].day);
    return true;
}

static bool is_due(const struct saver *s, const struct snapshot *snap,
                   const struct ahead *ahead) NEEDS(s->saving)
{
    return ahead->n_tombstones > 0 || ahead->n_midnights > 0 || s->error.kind != ERR_NONE ||
           save_due_is(&s->due, snap->file_number, clock_mono_ms());
}

static bool store_all(struct saver *s, struct arena *a, const struct snapshot *snap,
                      const struct ahead *ahead, struct err *err) NEEDS(s->saving)
{
    FAILPOINT(position_due);
    if (s->opt.saves != NULL)
        s->opt.saves(s->opt.ctx);

    const bool ok = store_midnights(s, a, snap, ahead, err) &&
                    store_save_checkpoint(s->opt.store, s->opt.term, &snap->cp,
                                          ahead->tombstones, ahead->n_tombstones, err);

    FAILPOINT(position_stored);
    if (ok)
        save_due_saved(&s->due, snap->file_number);
    else
        progress_return_tombstones(s->opt.progress, ahead->tombstones, ahead->n_tombstones);
    return ok;
}

/* If a save fails, the mark is kept and the next save writes it. */
static bool save(struct saver *s, bool always, struct err *err)
{
    struct arena *a = arena_new();
    struct snapshot snap = {0};
    bool ok = true;

    lock_acquire(&s->saving);

    const bool all_done = progress_idle(s->opt.progress); /* ask before the position */

    take_snapshot(s, &snap);
    save_due_note(&s->due, snap.move, all_done, clock_mono_ms());
    if (snap.known) {
        struct ahead ahead;

        take_ahead(s, a, &ahead); /* after the position, so that all before it are there */
        if (always || is_due(s, &snap, &ahead)) {
            ok = store_all(s, a, &snap, &ahead, err);
            keep_error(s, ok ? &(struct err){0} : err);
        }
    }
    lock_release(&s->saving);
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
 * Get the place from which lag counts.  If everything read is done, it is the reader's
 * position, as rotations are no transactions.  A prepared XA transaction that holds the safe
 * position is no lag.
 */
static void lag_from(struct saver *s, struct buf *file, uint64_t *offset)
{
    const struct position_fields read = position_fields(read_position_version(s->opt.reader));
    const bool idle = progress_idle(s->opt.progress);
    const struct commit_position done = progress_done(s->opt.progress);

    lock_acquire(&s->lock);
    buf_printf(file, "%s.%06u", s->base, idle ? (unsigned)read.file : done.file_number);
    *offset = idle ? read.offset : done.offset;
    lock_release(&s->lock);
}

static void watch_dump(struct saver *s, const struct log_backlog *backlog)
{
    const char *why = dump_watch_look(&s->dump, backlog, read_position_version(s->opt.reader),
                                      s->opt.waits(s->opt.ctx), clock_mono_ms());

    if (why != NULL)
        s->opt.stuck(s->opt.ctx, why);
}

/*
 * Make backlog say how much log the server has beyond what was read.  If something read is not
 * done, backlog so far counts from there, and says nothing about the dump.
 */
static bool unread_backlog(struct saver *s, struct str file, uint64_t offset,
                           struct log_backlog *backlog, struct err *err)
{
    const struct position_fields read = position_fields(read_position_version(s->opt.reader));
    struct buf name = {0};
    bool ok = true;

    lock_acquire(&s->lock);
    buf_printf(&name, "%s.%06u", s->base, (unsigned)read.file);
    lock_release(&s->lock);
    if (!str_equal(buf_str(&name), file) || read.offset != offset)
        ok = server_log_backlog(s->conn, buf_str(&name), read.offset, backlog, err);
    buf_free(&name);
    return ok;
}

static void keep_lag(struct saver *s, const struct log_backlog *backlog, int64_t asked_ms)
{
    if (!backlog->found)
        return;
    lock_acquire(&s->lock);
    s->asked_ms = asked_ms;
    s->lag_bytes = backlog->bytes;
    if (backlog->bytes == 0)
        s->caught_up_ms = asked_ms;
    if (s->end_file == 0) {
        s->end_file = backlog->end_file;
        s->end_offset = backlog->end_offset;
    }
    lock_release(&s->lock);
}

static void note_asking(struct saver *s, int64_t now_ms)
{
    lock_acquire(&s->lock);
    if (s->asking_ms == 0)
        s->asking_ms = now_ms;
    lock_release(&s->lock);
}

/* A refusal is an answer, too; an error of the client alone is none. */
static void note_answer(struct saver *s, const struct err *err)
{
    const bool is_of_client = err->origin != NULL && strcmp(err->origin, "mysql") == 0 &&
                              !mysql_err_is_of_server(err);

    lock_acquire(&s->lock);
    if (!is_of_client)
        s->asking_ms = 0;
    lock_release(&s->lock);
}

static void set_conn(struct saver *s, struct mysql_conn *conn)
{
    lock_acquire(&s->lock);
    s->conn = conn;
    if (conn != NULL && stop_is_set(&s->stop))
        mysql_conn_interrupt(conn);
    lock_release(&s->lock);
}

static bool open_conn(struct saver *s, struct err *err)
{
    struct mysql_conn *conn;

    if (s->conn != NULL)
        return true;
    if (!known_server_open(s->opt.known, &s->opt.server->options, &conn, err))
        return false;
    set_conn(s, conn);
    return true;
}

static void close_conn(struct saver *s)
{
    struct mysql_conn *conn = s->conn;

    set_conn(s, NULL);
    mysql_conn_close(conn);
}

static void watch_lag(struct saver *s)
{
    struct buf file = {0};
    struct log_backlog backlog;
    uint64_t offset;
    int64_t asked_ms;
    struct err err = {0};

    if (position_fields(read_position_version(s->opt.reader)).file == 0)
        return; /* begun at GTIDs: the dump has not yet told where it is */
    if (!s->opt.connected(s->opt.ctx)) {
        s->dump = (struct dump_watch){0}; /* another dump follows */
        note_answer(s, &err);             /* whoever connects says what it meets */
        return;
    }
    if (clock_mono_ms() - s->watched_ms < WATCH_MS)
        return;
    s->watched_ms = clock_mono_ms();
    asked_ms = clock_wall_ms();
    note_asking(s, asked_ms);
    if (!open_conn(s, &err)) { /* another server's log says nothing about ours */
        note_answer(s, &err);
        return;
    }
    lag_from(s, &file, &offset);
    if (server_log_backlog(s->conn, buf_str(&file), offset, &backlog, &err)) {
        keep_lag(s, &backlog, asked_ms);
        if (unread_backlog(s, buf_str(&file), offset, &backlog, &err))
            watch_dump(s, &backlog);
    } else {
        close_conn(s);
    }
    note_answer(s, &err);
    buf_free(&file);
}

/* ---- the thread ---- */

/*
 * For how many ms nothing is to be saved, unless something is read; 0: look again soon.  The
 * builder nudges after whatever it worked off.
 */
static int64_t rest_ms(struct saver *s)
{
    const bool is_still = s->conn != NULL && /* the last question was answered */
                          s->opt.connected(s->opt.ctx) && s->opt.waits(s->opt.ctx) &&
                          progress_idle(s->opt.progress) &&
                          progress_tombstones(s->opt.progress) == 0 && !s->dump.is_doubted;

    lock_acquire(&s->saving);

    const int64_t save_ms = save_due_in_ms(&s->due, clock_mono_ms());

    lock_release(&s->saving);
    lock_acquire(&s->lock);
    s->rests = is_still && s->asked_ms != 0 && s->lag_bytes == 0 && s->error.kind == ERR_NONE &&
               save_ms > SAVE_MS;

    const bool rests = s->rests;

    lock_release(&s->lock);
    return !rests ? 0 : save_ms < REST_MS ? save_ms : REST_MS;
}

static bool wait_for_turn(struct saver *s, uint64_t *seen)
{
    const int64_t ms = rest_ms(s);

    return ms == 0 ? stop_wait(&s->stop, SAVE_MS) : stop_rest(&s->stop, ms, seen);
}

static void *saver_main(void *arg)
{
    struct saver *s = MAGIC_CAST(saver, arg);
    uint64_t seen = 0;

    while (!wait_for_turn(s, &seen)) {
        struct err err = {0};

        if (!save(s, false, &err)) {
            if (err.kind == ERR_STOP) {
                s->opt.fenced(s->opt.ctx);
                break;
            }
            log_failure(LOG_ERROR, &err, "could not store the position, trying again",
                        KV("topic", s->opt.topic));
            stop_wait(&s->stop, WATCH_MS);
        }
        watch_lag(s);
    }
    close_conn(s);
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
    lock_acquire(&s->lock);
    if (s->conn != NULL)
        mysql_conn_interrupt(s->conn); /* its server may be away */
    lock_release(&s->lock);
    if (s->started)
        pthread_join(s->thread, NULL);
    s->started = false;
}

void saver_nudge(struct saver *s)
{
    stop_nudge(&s->stop);
}

bool saver_has_caught_up(struct saver *s)
{
    const struct position_fields read = position_fields(read_position_version(s->opt.reader));

    lock_acquire(&s->lock);

    const bool has =
        s->end_file != 0 &&
        (read.file > s->end_file || (read.file == s->end_file && read.offset >= s->end_offset));

    lock_release(&s->lock);
    return has;
}

static void look(struct saver *s, bool by_itself, struct saver_status *out)
{
    /* The thread sleeps while it rests, and does not see what the dump meets meanwhile. */
    const bool waits = s->opt.connected(s->opt.ctx) && s->opt.waits(s->opt.ctx);
    struct lag_facts facts = {.now_ms = clock_wall_ms(),
                              .undone_ms = progress_undone_ms(s->opt.progress),
                              .done_ms = progress_done(s->opt.progress).event_ms};
    struct buf gtids = {0};

    lock_acquire(&s->lock);
    facts.asked_ms = s->asked_ms;
    facts.asking_ms = s->asking_ms;
    facts.waits = waits && s->rests;
    facts.bytes = s->lag_bytes;
    if (by_itself && facts.waits)
        facts.now_ms = s->asked_ms;

    const bool ask = s->rests && facts.now_ms - s->asked_ms > WATCH_MS;

    if (s->caught_up_ms > facts.done_ms)
        facts.done_ms = s->caught_up_ms;
    *out = (struct saver_status){
        .offset = s->safe.offset,
        .version = commit_position_version(&s->safe, s->opt.epoch),
        .lag = lag_of(&facts),
        .lag_bytes = s->lag_bytes,
        .bytes_known = lag_is_fresh(&facts),
        .asked_ms = s->asked_ms,
        .asking_ms = s->asking_ms,
        .error = s->error,
        .failed_ms = s->failed_ms,
    };
    if (s->base[0] != '\0' && s->safe.file_number != 0)
        snprintf(out->file, sizeof(out->file), "%s.%06u", s->base, s->safe.file_number);
    gtid_set_format(&gtids, s->executed);
    lock_release(&s->lock);
    if (ask)
        saver_nudge(s);
    out->gtids = gtids.ptr != NULL ? gtids.ptr : mem_copy("");
}

void saver_status(struct saver *s, struct saver_status *out)
{
    look(s, false, out);
}

void saver_glance(struct saver *s, struct saver_status *out)
{
    look(s, true, out);
}

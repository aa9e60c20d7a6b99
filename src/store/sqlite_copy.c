#include "config.h"

#include "src/store/sqlite_copy.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/fix.h"
#include "src/store/sqlite_file.h"
#include "src/store/sqlite_sum.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <unistd.h>

#define PAGES_A_STEP 256

/*
 * Many pages that reach the disk at once hold up everybody else's fsync, the daemon's commits
 * too.
 */
#define STEPS_A_SYNC 16

/* How many of SQLite's instructions lie between two looks at is_interrupted. */
#define CHECK_EACH 100000

/* ---- connections ---- */

static bool exec(sqlite3 *db, const char *sql, struct err *err)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK || sqlite_file_fail(db, err);
}

static bool open_file(const char *path, sqlite3 **db, struct err *err)
{
    if (sqlite3_open_v2(path, db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) !=
        SQLITE_OK)
        return sqlite_file_fail(*db, err);
    sqlite3_extended_result_codes(*db, 1);
    sqlite3_busy_timeout(*db, SQLITE_FILE_BUSY_MS);
    return true;
}

/* SQLite says of all of these that it is unable to open the file. */
static bool may_be_read(const char *path, struct err *err)
{
    if (access(path, R_OK | W_OK) == 0)
        return true;
    if (errno == ENOENT)
        return err_set(
            err, ERR_REJECT,
            "there is no store at %s; fix: name the configuration of its daemon with "
            "--config",
            path);
    return err_set_code(err, ERR_REJECT, "errno", errno,
                        "%s: %s; fix: run this as the user that runs the daemon", path,
                        strerror(errno));
}

static int take_number(void *ctx, int n, char **cells, char **names)
{
    (void)names;
    if (n > 0 && cells[0] != NULL)
        *(uint64_t *)ctx = strtoull(cells[0], NULL, 10);
    return 0;
}

/* *out stays as it is if there is none. */
static bool get_number(sqlite3 *db, const char *sql, uint64_t *out, struct err *err)
{
    return sqlite3_exec(db, sql, take_number, out, NULL) == SQLITE_OK ||
           sqlite_file_fail(db, err);
}

/*
 * From here to the end of the transaction the connection sees one state, whoever writes.  A
 * file that is no store is not opened again elsewhere, so look at it first.
 */
static bool begin_to_read(sqlite3 *db, const char *path, struct err *err)
{
    uint64_t id = 0;

    if (!exec(db, "PRAGMA query_only = ON; BEGIN", err) ||
        !get_number(db, "SELECT application_id FROM pragma_application_id", &id, err))
        return false;
    return id == SQLITE_FILE_ID ||
           err_set(err, ERR_FATAL, "%s is not the store of a Millrace that has been started",
                   path);
}

/* ---- copying ---- */

static bool interrupted(const struct sqlite_copy *c, struct err *err)
{
    return c->is_interrupted(c->ctx) && !err_set(err, ERR_STOP, "interrupted");
}

/* Errors of the disk come back with the final sync of the whole file. */
static int copy_pages(const struct sqlite_copy *c, sqlite3_backup *backup, bool *stopped,
                      struct err *err)
{
    for (unsigned n = 1;; n++) {
        const int code = sqlite3_backup_step(backup, PAGES_A_STEP);

        if (code != SQLITE_OK)
            return code;
        *stopped = interrupted(c, err);
        if (*stopped)
            return SQLITE_INTERRUPT;
        if (n % STEPS_A_SYNC == 0)
            (void)fdatasync(c->to_fd);
    }
}

/* The file has no name yet under which anybody would use it: no journal, one sync at the end.
 */
static bool copy_into(const struct sqlite_copy *c, sqlite3 *from, sqlite3 *to, struct err *err)
{
    bool stopped = false;

    if (!exec(to, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF", err))
        return false;

    sqlite3_backup *backup = sqlite3_backup_init(to, "main", from, "main");

    if (backup == NULL)
        return sqlite_file_fail(to, err);

    const int code = copy_pages(c, backup, &stopped, err);
    const int end = sqlite3_backup_finish(backup); /* and `to` has the error */

    if (stopped)
        return false;
    return (code == SQLITE_DONE && end == SQLITE_OK) || sqlite_file_fail(to, err);
}

static bool copy(const struct sqlite_copy *c, struct err *err)
{
    sqlite3 *from = NULL, *to = NULL;
    const bool ok = open_file(c->from, &from, err) && begin_to_read(from, c->from, err) &&
                    open_file(c->to, &to, err) && copy_into(c, from, to, err);

    sqlite3_close(to);
    sqlite3_close(from);
    return ok;
}

/* ---- looking at the copy ---- */

static int ends_check(void *ctx)
{
    const struct sqlite_copy *c = ctx;

    return c->is_interrupted(c->ctx);
}

/* The copy has the pages of the store: what it lacks, the store lacks. */
static bool is_whole(struct sqlite_copy *c, sqlite3 *db, struct err *err)
{
    struct err why = {0};

    sqlite3_progress_handler(db, CHECK_EACH, ends_check, c);
    if (sqlite_file_is_whole(db, &why))
        return true;
    if ((why.code & 0xff) == SQLITE_INTERRUPT)
        return err_set(err, ERR_STOP, "interrupted");
    if (why.kind != ERR_FATAL) {
        *err = why;
        return false;
    }

    struct str what = str_from(why.msg);

    (void)fix_split(&what);
    return err_set_code(err, ERR_FATAL, "sqlite", why.code,
                        "%" STR_FMT ", a copy of %s; fix: keep the backups that you have, and "
                        "start the daemon again: it checks its store and says what to do",
                        STR_ARG(what), c->from);
}

static void take_topic(struct sqlite_copy *c, sqlite3_stmt *st, size_t i)
{
    struct str cells[4];

    for (int k = 0; k < 4; k++)
        cells[k] = (struct str){(const char *)sqlite3_column_text(st, k),
                                (size_t)sqlite3_column_bytes(st, k)};
    c->topics[i] = (struct copied_topic){.name = arena_copy(c->arena, cells[0]),
                                         .file = arena_copy(c->arena, cells[1]),
                                         .gtid = arena_copy(c->arena, cells[3]),
                                         .offset = (uint64_t)sqlite3_column_int64(st, 2)};
}

static bool list_topics(struct sqlite_copy *c, sqlite3 *db, struct err *err)
{
    uint64_t n = 0;
    sqlite3_stmt *st = NULL;
    size_t i = 0;

    if (!get_number(db, "SELECT COUNT(*) FROM checkpoint", &n, err))
        return false;
    c->topics = arena_alloc(c->arena, (size_t)n, sizeof(*c->topics));
    c->n_topics = (size_t)n;

    bool ok = sqlite3_prepare_v2(db,
                                 "SELECT topic, log_file, log_offset, gtid FROM checkpoint"
                                 " ORDER BY topic",
                                 -1, &st, NULL) == SQLITE_OK;

    while (ok && i < c->n_topics && (ok = sqlite3_step(st) == SQLITE_ROW))
        take_topic(c, st, i++);
    if (!ok)
        sqlite_file_fail(db, err);
    sqlite3_finalize(st);
    return ok;
}

/*
 * The pages say that the file has a log beside it, as the store's.  Without one the copy is one
 * file also for whoever only looks into it.
 */
static bool look(struct sqlite_copy *c, struct err *err)
{
    sqlite3 *db = NULL;
    bool ok = open_file(c->to, &db, err) &&
              exec(db,
                   "PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;"
                   "PRAGMA journal_mode = DELETE; PRAGMA trusted_schema = OFF",
                   err) &&
              (sqlite_sum_register(db) == SQLITE_OK || sqlite_file_fail(db, err)) &&
              is_whole(c, db, err) &&
              get_number(db, "SELECT MAX(number) FROM millrace_migration", &c->version, err) &&
              list_topics(c, db, err);

    sqlite3_close(db);
    return ok;
}

/* ---- the whole ---- */

/* What a connection leaves that could not end well. */
static void remove_side_files(const char *path)
{
    static const char *const ends[] = {"-journal", "-wal", "-shm"};
    struct buf name = {0};

    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        buf_clear(&name);
        buf_printf(&name, "%s%s", path, ends[i]);
        unlink(name.ptr);
    }
    buf_free(&name);
}

bool sqlite_copy_make(struct sqlite_copy *c, struct err *err)
{
    const bool ok = may_be_read(c->from, err) && copy(c, err) && look(c, err);

    remove_side_files(c->to);
    return ok;
}

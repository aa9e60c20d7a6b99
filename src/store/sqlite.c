#include "config.h"

#include "src/store/store.h"

#include "src/base/buf.h"
#include "src/base/map.h"
#include "src/base/mem.h"
#include "src/file/file_lock.h"
#include "src/store/backend.h"
#include "src/store/sqlite_file.h"
#include "src/store/sqlite_sum.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <unistd.h>

#define TEXT_MAX ((size_t)900 << 20) /* SQLite's own limit is 1,000,000,000 bytes */

struct sqlite_backend {
    struct store_backend base;
    sqlite3 *db;
    struct file_lock *lock;
    struct map *statements; /* prepared ones, by the address of their text */
    struct str *cells;      /* of the row being handed out */
    size_t cells_cap;
};

static const struct store_token tokens[] = {
    {"{key}", "TEXT"},
    {"{word}", "TEXT"},
    {"{id}", "TEXT"},
    {"{text}", "TEXT"},
    {"{number}", "INTEGER"},
    {"{now_ms}", "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"},
    {"{serial}", "INTEGER PRIMARY KEY AUTOINCREMENT"},
    {"{keyed}", "WITHOUT ROWID"},
    {"{rows}", ""},
    {"{lock}", ""},
    {NULL, NULL},
};

static struct sqlite_backend *sqlite_of(struct store_backend *b)
{
    return CONTAINER_OF(b, struct sqlite_backend, base);
}

static bool fail(const struct sqlite_backend *b, struct err *err)
{
    return sqlite_file_fail(b->db, err);
}

static bool exec(struct sqlite_backend *b, const char *sql, struct err *err)
{
    return sqlite3_exec(b->db, sql, NULL, NULL, NULL) == SQLITE_OK || fail(b, err);
}

/* Statement texts are constants, so the address identifies the text. */
static sqlite3_stmt *prepare(struct sqlite_backend *b, const char *sql, struct err *err)
{
    struct str key = {(const char *)&sql, sizeof(sql)};
    sqlite3_stmt *st = map_find(b->statements, key);
    struct buf rendered = {0};

    if (st != NULL)
        return st;
    store_backend_render(&b->base, str_from(sql), &rendered);
    if (sqlite3_prepare_v3(b->db, rendered.ptr, (int)rendered.len, SQLITE_PREPARE_PERSISTENT,
                           &st, NULL) == SQLITE_OK)
        map_put(b->statements, key, st);
    else
        fail(b, err);
    buf_free(&rendered);
    return st;
}

static void bind_values(sqlite3_stmt *st, const struct bind *binds, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int at = (int)i + 1;
        int code;

        if (!binds[i].is_text)
            code = sqlite3_bind_int64(st, at, (sqlite3_int64)binds[i].number);
        else
            code =
                sqlite3_bind_text64(st, at, binds[i].text.ptr != NULL ? binds[i].text.ptr : "",
                                    binds[i].text.len, SQLITE_STATIC, SQLITE_UTF8);
        assert(code == SQLITE_OK || code == SQLITE_TOOBIG || code == SQLITE_NOMEM);
    }
}

static bool begin(struct store_backend *base, struct err *err)
{
    return exec(sqlite_of(base), "BEGIN IMMEDIATE", err);
}

static void rollback(struct store_backend *base)
{
    struct sqlite_backend *b = sqlite_of(base);

    /* Some errors, such as a full disk, have already rolled back. */
    if (!sqlite3_get_autocommit(b->db))
        sqlite3_exec(b->db, "ROLLBACK", NULL, NULL, NULL);
}

static bool commit(struct store_backend *base, struct err *err)
{
    if (exec(sqlite_of(base), "COMMIT", err))
        return true;
    rollback(base);
    return false;
}

static bool run(struct store_backend *base, const char *sql, struct binds binds, size_t n_rows,
                struct err *err)
{
    struct sqlite_backend *b = sqlite_of(base);
    sqlite3_stmt *st = prepare(b, sql, err);
    size_t width = binds.n / n_rows;
    bool ok = st != NULL;

    for (size_t i = 0; ok && i < n_rows; i++) {
        bind_values(st, binds.items + i * width, width);
        ok = sqlite3_step(st) == SQLITE_DONE || fail(b, err);
        sqlite3_reset(st);
    }
    if (st != NULL)
        sqlite3_clear_bindings(st);
    return ok;
}

static void hand_out(struct sqlite_backend *b, sqlite3_stmt *st, struct row_sink *sink)
{
    size_t n = (size_t)sqlite3_column_count(st);

    if (n > b->cells_cap) {
        b->cells = mem_resize(b->cells, n, sizeof(*b->cells));
        b->cells_cap = n;
    }
    for (size_t i = 0; i < n; i++) {
        const unsigned char *text = sqlite3_column_text(st, (int)i);

        b->cells[i] =
            (struct str){(const char *)text, (size_t)sqlite3_column_bytes(st, (int)i)};
    }
    sink->take(sink, b->cells);
}

static bool select_rows(struct store_backend *base, const char *sql, struct binds binds,
                        struct row_sink *sink, struct err *err)
{
    struct sqlite_backend *b = sqlite_of(base);
    sqlite3_stmt *st = prepare(b, sql, err);
    int code;

    if (st == NULL)
        return false;
    bind_values(st, binds.items, binds.n);
    while ((code = sqlite3_step(st)) == SQLITE_ROW)
        hand_out(b, st, sink);
    bool ok = code == SQLITE_DONE || fail(b, err);

    sqlite3_reset(st);
    sqlite3_clear_bindings(st);
    return ok;
}

/* Nothing to lock: only this process has the file. */
static bool lock_schema(struct store_backend *base, struct err *err)
{
    (void)base;
    (void)err;
    return true;
}

static void unlock_schema(struct store_backend *base)
{
    (void)base;
}

struct header_sink {
    struct row_sink sink;
    long id, version, tables;
};

static void take_header(struct row_sink *sink, const struct str *cells)
{
    struct header_sink *h = CONTAINER_OF(sink, struct header_sink, sink);

    h->id = strtol(cells[0].ptr, NULL, 10);
    h->version = strtol(cells[1].ptr, NULL, 10);
    h->tables = strtol(cells[2].ptr, NULL, 10);
}

/* Another program's file is not ours even if it has a table with the name we look for. */
static bool is_empty(struct store_backend *base, bool *empty, struct err *err)
{
    static const char sql[] = "SELECT a.application_id, u.user_version,"
                              " (SELECT COUNT(*) FROM sqlite_master)"
                              " FROM pragma_application_id a, pragma_user_version u";
    struct header_sink h = {.sink = {take_header}};

    if (!select_rows(base, sql, NO_BINDS, &h.sink, err))
        return false;
    *empty = h.tables == 0;
    if (*empty && h.id == 0 && h.version == 0) {
        char pragma[64];

        sqlite3_snprintf(sizeof(pragma), pragma, "PRAGMA application_id = %d", SQLITE_FILE_ID);
        return exec(sqlite_of(base), pragma, err);
    }
    if (h.id == SQLITE_FILE_ID && h.version == 0)
        return true;
    return err_set(err, ERR_FATAL,
                   "%s is the database of another program (application id %ld, user"
                   " version %ld)",
                   sqlite3_db_filename(sqlite_of(base)->db, "main"), h.id, h.version);
}

static bool define(struct store_backend *base, struct str sql, struct err *err)
{
    struct sqlite_backend *b = sqlite_of(base);
    sqlite3_stmt *st = NULL;
    bool ok = sqlite3_prepare_v2(b->db, sql.ptr, (int)sql.len, &st, NULL) == SQLITE_OK &&
              sqlite3_step(st) == SQLITE_DONE;

    if (!ok)
        fail(b, err);
    sqlite3_finalize(st);
    return ok;
}

static size_t text_max(struct store_backend *base)
{
    (void)base;
    return TEXT_MAX;
}

static void drop_statement(void *st)
{
    sqlite3_finalize(st);
}

static void close_backend(struct store_backend *base)
{
    struct sqlite_backend *b = sqlite_of(base);

    map_free(b->statements, drop_statement);
    sqlite3_close(b->db);
    file_lock_release(b->lock);
    free(b->cells);
    free(b);
}

static const struct store_backend_ops ops = {
    .kind = "sqlite",
    .tokens = tokens,
    .begin = begin,
    .commit = commit,
    .rollback = rollback,
    .run = run,
    .select = select_rows,
    .lock_schema = lock_schema,
    .unlock_schema = unlock_schema,
    .is_empty = is_empty,
    .define = define,
    .text_max = text_max,
    .close = close_backend,
};

/*
 * Select the missing indexes of row sums (src/store/sqlite_sum.h), each with the name of an old
 * one that covers other columns (NULL: none).  They begin with the table's primary key, because
 * an index over sums alone would read and write another page for each row.  The names are our
 * own, so they need no quotes.  Leaves out the body of a dead letter: it may be large and is
 * only shown to people.
 */
static const char sums_wanted[] =
    "SELECT wanted.name, wanted.sql, old.name FROM"
    " (SELECT t.name || '_sum' AS name, 'CREATE INDEX ' || t.name || '_sum ON ' || t.name ||"
    "  ' (' || (SELECT group_concat(k.name, ', ') FROM"
    "   (SELECT name FROM pragma_table_info(t.name) WHERE pk > 0 ORDER BY pk) k) ||"
    "  ', row_sum(' ||"
    "  (SELECT group_concat(c.name, ', ') FROM pragma_table_info(t.name) c"
    "   WHERE NOT (t.name = 'dead_letter' AND c.name = 'body')) || '))' AS sql"
    "  FROM sqlite_master t WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite%') wanted"
    " LEFT JOIN sqlite_master old ON old.name = wanted.name"
    " WHERE old.sql IS NULL OR old.sql <> wanted.sql";

struct sums_sink {
    struct row_sink sink;
    struct buf *sql;
};

static void take_sum(struct row_sink *sink, const struct str *cells)
{
    struct buf *sql = CONTAINER_OF(sink, struct sums_sink, sink)->sql;

    if (cells[2].ptr != NULL)
        buf_printf(sql, "DROP INDEX %" STR_FMT ";", STR_ARG(cells[2]));
    buf_printf(sql, "%" STR_FMT ";", STR_ARG(cells[1]));
}

/* Runs in one transaction: if it is interrupted, the old indexes remain. */
static bool add_sums(struct sqlite_backend *b, struct err *err)
{
    struct buf sql = {0};
    struct sums_sink sink = {{take_sum}, &sql};

    buf_append(&sql, STR("BEGIN IMMEDIATE;"));

    const size_t empty = sql.len;
    bool ok = select_rows(&b->base, sums_wanted, NO_BINDS, &sink.sink, err);

    if (ok && sql.len > empty) {
        buf_append(&sql, STR("COMMIT"));
        ok = exec(b, sql.ptr, err);
        if (!ok)
            rollback(&b->base);
    }
    buf_free(&sql);
    return ok;
}

static bool take_lock(struct sqlite_backend *b, const char *path, struct err *err)
{
    struct buf lock = {0};

    buf_printf(&lock, "%s.lock", path);
    bool ok = file_lock_take(&b->lock, lock.ptr, err);

    buf_free(&lock);
    return ok;
}

/*
 * The file can hold rows and passwords, so only its owner may read it; SQLite gives its side
 * files the same mode.
 */
static bool create_file(const char *path, struct err *err)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    if (fd < 0)
        return err_set_code(err, ERR_FATAL, "errno", errno, "%s: %s", path, strerror(errno));
    close(fd);
    return true;
}

#define LOG_PAGES_MAX 1000

/*
 * Once the write-ahead log has LOG_PAGES_MAX pages, write it back and truncate it at once.  If
 * a bit flipped in a log left lying there, the next start would silently replay only the part
 * before that bit, and mix old pages with newer ones in the file.
 *
 * Wait for nobody: a backup (sqlite_copy.h) reads for as long as copying takes, the log cannot
 * be truncated before its end, and whoever commits would wait each time.  The next commit tries
 * again.
 */
static int write_back(void *ctx, sqlite3 *db, const char *name, int n_pages)
{
    (void)ctx;
    if (n_pages < LOG_PAGES_MAX)
        return SQLITE_OK;
    sqlite3_busy_timeout(db, 0);
    (void)sqlite3_wal_checkpoint_v2(db, name, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    sqlite3_busy_timeout(db, SQLITE_FILE_BUSY_MS);
    return SQLITE_OK;
}

/*
 * synchronous = FULL: version numbers and marks are used outside as soon as they are
 * acknowledged, so they must be on the disk.
 */
static bool set_up(struct sqlite_backend *b, struct err *err)
{
    sqlite3_extended_result_codes(b->db, 1);
    sqlite3_busy_timeout(b->db, SQLITE_FILE_BUSY_MS);
    (void)sqlite3_wal_hook(b->db, write_back, NULL);
    if (sqlite_sum_register(b->db) != SQLITE_OK)
        return fail(b, err);
    return exec(
        b,
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA temp_store = MEMORY;"
        "PRAGMA journal_size_limit = 67108864; PRAGMA trusted_schema = OFF",
        err);
}

bool store_open_sqlite(struct store **out, const char *path, struct err *err)
{
    struct sqlite_backend *b = mem_alloc(1, sizeof(*b));

    b->base.ops = &ops;
    b->statements = map_new();
    if (!take_lock(b, path, err) || !create_file(path, err))
        goto close;
    if (sqlite3_open_v2(path, &b->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) !=
        SQLITE_OK) {
        fail(b, err);
        goto close;
    }
    /* Otherwise a broken structure shows only when it is read, and a changed value never. */
    if (!set_up(b, err) || !sqlite_file_is_whole(b->db, err))
        goto close;
    if (!store_open_backend(out, &b->base, true, err))
        return false;
    if (add_sums(b, err))
        return true;
    store_close(*out);
    *out = NULL;
    return err_wrap(err, "store");

close:
    close_backend(&b->base);
    return err_wrap(err, "store");
}

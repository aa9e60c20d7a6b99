#include "config.h"

#include "rebalance/replay/keys.h"

#include "src/base/arena.h"
#include "src/base/mem.h"

#include <dirent.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX ".keys"

enum statement { ADD, NEXT, ADD_ROW, NEXT_ROWS, COUNT, GET, PUT, N_STATEMENTS };

static const char *const texts[N_STATEMENTS] = {
    [ADD] = "INSERT OR IGNORE INTO document (member, doc_id, routing, key)"
            " VALUES (?1, ?2, ?3, ?4)",
    [NEXT] = "SELECT id, member, doc_id, routing, key FROM document WHERE id > ?1"
             " ORDER BY id LIMIT ?2",
    [ADD_ROW] =
        "INSERT OR IGNORE INTO related (member, place, how, key) VALUES (?1, ?2, ?3, ?4)",
    [NEXT_ROWS] = "SELECT id, member, place, how, key FROM related WHERE id > ?1"
                  " ORDER BY id LIMIT ?2",
    /* Ids have no gaps: none goes, and one that is there already takes none. */
    [COUNT] = "SELECT IFNULL(MAX(id), 0) FROM document WHERE id <= ?1",
    [GET] = "SELECT content FROM note WHERE name = ?1",
    [PUT] = "INSERT OR REPLACE INTO note (name, content) VALUES (?1, ?2)",
};

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS document (id INTEGER PRIMARY KEY, member BLOB, doc_id BLOB,"
    " routing BLOB, key BLOB, UNIQUE (member, doc_id, routing));"
    "CREATE TABLE IF NOT EXISTS related (id INTEGER PRIMARY KEY, member BLOB, place INTEGER,"
    " how INTEGER, key BLOB, UNIQUE (member, place, how, key));"
    "CREATE TABLE IF NOT EXISTS note (name BLOB PRIMARY KEY, content BLOB) WITHOUT ROWID;";

struct replay_keys {
    sqlite3 *db;
    sqlite3_stmt *statements[N_STATEMENTS];
    bool is_open; /* a transaction is */
};

static bool fail(const struct replay_keys *k, struct err *err)
{
    const int code = sqlite3_extended_errcode(k->db);

    return err_set_code(err, ERR_RETRY, "sqlite", code,
                        "the keys of a replay cannot be kept in the data folder: %s%s",
                        sqlite3_errmsg(k->db),
                        (code & 0xff) == SQLITE_FULL ? "; fix: make room on the disk" : "");
}

static bool run(struct replay_keys *k, const char *sql, struct err *err)
{
    return sqlite3_exec(k->db, sql, NULL, NULL, NULL) == SQLITE_OK || fail(k, err);
}

/* ---- the file ---- */

static bool prepare(struct replay_keys *k, struct err *err)
{
    /* 8 MB of pages at most in memory; what a loss of power takes is read again. */
    if (!run(k,
             "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
             " PRAGMA cache_size = -8192; PRAGMA temp_store = FILE;",
             err) ||
        !run(k, schema, err))
        return false;
    for (size_t i = 0; i < N_STATEMENTS; i++)
        if (sqlite3_prepare_v3(k->db, texts[i], -1, SQLITE_PREPARE_PERSISTENT,
                               &k->statements[i], NULL) != SQLITE_OK)
            return fail(k, err);
    return true;
}

static void remove_file(const char *path)
{
    static const char *const ends[] = {"", "-wal", "-shm"};

    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        struct buf name = {0};

        buf_printf(&name, "%s%s", path, ends[i]);
        (void)!unlink(name.ptr);
        buf_free(&name);
    }
}

static struct replay_keys *open_file(const char *path, struct err *err)
{
    struct replay_keys *k = mem_alloc(1, sizeof(*k));

    if ((sqlite3_open_v2(path, &k->db,
                         SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                         NULL) == SQLITE_OK ||
         fail(k, err)) &&
        prepare(k, err))
        return k;
    replay_keys_close(k);
    return NULL;
}

bool replay_keys_open(const char *folder, uint64_t job, struct replay_keys **out,
                      struct err *err)
{
    struct buf path = {0};

    buf_printf(&path, "%s/%" PRIu64 SUFFIX, folder, job);
    (void)!mkdir(folder, 0700);
    *out = open_file(path.ptr, err);
    if (*out == NULL && err->origin != NULL && (err->code & 0xff) != SQLITE_FULL &&
        (err->code & 0xff) != SQLITE_CANTOPEN) {
        remove_file(path.ptr);
        *err = (struct err){0};
        *out = open_file(path.ptr, err);
    }
    buf_free(&path);
    return *out != NULL;
}

void replay_keys_close(struct replay_keys *k)
{
    if (k == NULL)
        return;
    for (size_t i = 0; i < N_STATEMENTS; i++)
        sqlite3_finalize(k->statements[i]);
    sqlite3_close(k->db);
    free(k);
}

static bool is_kept(const char *name, const uint64_t *jobs, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char mine[40];

        snprintf(mine, sizeof(mine), "%" PRIu64 SUFFIX, jobs[i]);
        if (strncmp(name, mine, strlen(mine)) == 0)
            return true;
    }
    return strstr(name, SUFFIX) == NULL;
}

void replay_keys_sweep(const char *folder, const uint64_t *jobs, size_t n)
{
    DIR *d = opendir(folder);

    for (const struct dirent *e; d != NULL && (e = readdir(d)) != NULL;)
        if (!is_kept(e->d_name, jobs, n))
            (void)!unlinkat(dirfd(d), e->d_name, 0);
    if (d != NULL)
        closedir(d);
}

/* ---- statements ---- */

static sqlite3_stmt *begin(struct replay_keys *k, enum statement s)
{
    sqlite3_reset(k->statements[s]);
    return k->statements[s];
}

static void bind_bytes(sqlite3_stmt *st, int at, struct str s)
{
    sqlite3_bind_blob64(st, at, s.len == 0 ? "" : s.ptr, s.len, SQLITE_STATIC);
}

static struct str cell(sqlite3_stmt *st, int at)
{
    const char *bytes = sqlite3_column_blob(st, at); /* before its length */

    return (struct str){bytes, (size_t)sqlite3_column_bytes(st, at)};
}

static bool change(struct replay_keys *k, sqlite3_stmt *st, struct err *err)
{
    if (!k->is_open && !run(k, "BEGIN", err))
        return false;
    k->is_open = true;

    const bool ok = sqlite3_step(st) == SQLITE_DONE;

    if (!ok)
        fail(k, err);
    sqlite3_reset(st);
    return ok;
}

bool replay_keys_save(struct replay_keys *k, struct err *err)
{
    if (k->is_open && !run(k, "COMMIT", err))
        return false;
    k->is_open = false;
    return true;
}

void replay_keys_undo(struct replay_keys *k)
{
    struct err ignored;

    if (k->is_open)
        (void)!run(k, "ROLLBACK", &ignored);
    k->is_open = false;
}

/* ---- documents and rows ---- */

bool replay_keys_add(struct replay_keys *k, const struct replay_document *d, struct err *err)
{
    sqlite3_stmt *st = begin(k, ADD);

    bind_bytes(st, 1, d->member);
    bind_bytes(st, 2, d->doc_id);
    bind_bytes(st, 3, d->routing);
    bind_bytes(st, 4, d->key);
    return change(k, st, err);
}

bool replay_keys_add_row(struct replay_keys *k, const struct replay_row *r, struct err *err)
{
    sqlite3_stmt *st = begin(k, ADD_ROW);

    bind_bytes(st, 1, r->member);
    sqlite3_bind_int64(st, 2, r->place);
    sqlite3_bind_int64(st, 3, r->by);
    bind_bytes(st, 4, r->key);
    return change(k, st, err);
}

/* Returns false at the end, with err if that is a failure. */
static bool step(struct replay_keys *k, sqlite3_stmt *st, struct err *err)
{
    const int got = sqlite3_step(st);

    if (got == SQLITE_ROW)
        return true;
    if (got != SQLITE_DONE)
        fail(k, err);
    sqlite3_reset(st);
    return false;
}

static sqlite3_stmt *begin_page(struct replay_keys *k, enum statement s, int64_t after,
                                size_t limit)
{
    sqlite3_stmt *st = begin(k, s);

    sqlite3_bind_int64(st, 1, after);
    sqlite3_bind_int64(st, 2, (int64_t)limit);
    return st;
}

bool replay_keys_next(struct replay_keys *k, int64_t after, size_t limit, struct arena *a,
                      struct replay_document **out, size_t *n, struct err *err)
{
    sqlite3_stmt *st = begin_page(k, NEXT, after, limit);

    *n = 0;
    *out = arena_alloc(a, limit, sizeof(**out));
    err->kind = ERR_NONE;
    while (step(k, st, err))
        (*out)[(*n)++] = (struct replay_document){
            sqlite3_column_int64(st, 0), arena_copy(a, cell(st, 1)), arena_copy(a, cell(st, 2)),
            arena_copy(a, cell(st, 3)), arena_copy(a, cell(st, 4))};
    return err->kind == ERR_NONE;
}

bool replay_keys_next_rows(struct replay_keys *k, int64_t after, size_t limit, struct arena *a,
                           struct replay_row **out, size_t *n, struct err *err)
{
    sqlite3_stmt *st = begin_page(k, NEXT_ROWS, after, limit);

    *n = 0;
    *out = arena_alloc(a, limit, sizeof(**out));
    err->kind = ERR_NONE;
    while (step(k, st, err))
        (*out)[(*n)++] = (struct replay_row){
            sqlite3_column_int64(st, 0), arena_copy(a, cell(st, 1)),
            (uint32_t)sqlite3_column_int64(st, 2), (unsigned)sqlite3_column_int64(st, 3),
            arena_copy(a, cell(st, 4))};
    return err->kind == ERR_NONE;
}

bool replay_keys_count(struct replay_keys *k, int64_t up_to, uint64_t *n, struct err *err)
{
    sqlite3_stmt *st = begin(k, COUNT);

    sqlite3_bind_int64(st, 1, up_to);
    if (sqlite3_step(st) != SQLITE_ROW)
        return fail(k, err);
    *n = (uint64_t)sqlite3_column_int64(st, 0);
    sqlite3_reset(st);
    return true;
}

/* ---- small values ---- */

bool replay_keys_get(struct replay_keys *k, const char *name, struct buf *out, struct err *err)
{
    sqlite3_stmt *st = begin(k, GET);

    buf_clear(out);
    bind_bytes(st, 1, str_from(name));
    err->kind = ERR_NONE;
    if (step(k, st, err))
        buf_append(out, cell(st, 0));
    sqlite3_reset(st);
    return err->kind == ERR_NONE;
}

bool replay_keys_put(struct replay_keys *k, const char *name, struct str value, struct err *err)
{
    sqlite3_stmt *st = begin(k, PUT);

    bind_bytes(st, 1, str_from(name));
    bind_bytes(st, 2, value);
    return change(k, st, err);
}

bool replay_keys_get_number(struct replay_keys *k, const char *name, int64_t *out,
                            struct err *err)
{
    struct buf text = {0};
    const bool ok = replay_keys_get(k, name, &text, err);

    *out = ok && text.len > 0 ? strtoll(text.ptr, NULL, 10) : 0;
    buf_free(&text);
    return ok;
}

bool replay_keys_put_number(struct replay_keys *k, const char *name, int64_t value,
                            struct err *err)
{
    char text[24];
    const int len = snprintf(text, sizeof(text), "%" PRId64, value);

    return replay_keys_put(k, name, (struct str){text, (size_t)len}, err);
}

#include "config.h"

#include "src/store/sqlite_file.h"

#include "src/base/str.h"

#define DAMAGE_FIX                                                                       \
    "; fix: restore it from a backup; without one move it away with its -wal and -shm, " \
    "start Millrace, apply the definitions and build every index anew"

static enum err_kind classify(int code)
{
    switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_NOMEM:
    case SQLITE_READONLY:
    case SQLITE_INTERRUPT:
    case SQLITE_IOERR:
    case SQLITE_FULL:
    case SQLITE_CANTOPEN:
    case SQLITE_PROTOCOL: return ERR_RETRY;
    case SQLITE_TOOBIG:
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH: return ERR_REJECT;
    default: return ERR_FATAL;
    }
}

static const char *advice(int code)
{
    switch (code & 0xff) {
    case SQLITE_FULL: return "; make room on the disk, nothing was lost";
    case SQLITE_BUSY: return "; another program has this file open and locked";
    case SQLITE_READONLY: return "; check the owner and the mode of the file and its folder";
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return DAMAGE_FIX;
    default: return "";
    }
}

static const char *name_of(sqlite3 *db)
{
    const char *file = db == NULL ? NULL : sqlite3_db_filename(db, "main");

    return file != NULL ? file : "";
}

bool sqlite_file_fail(sqlite3 *db, struct err *err)
{
    const int code = sqlite3_extended_errcode(db);

    return err_set_code(err, classify(code), "sqlite", code, "%s: %s (%s)%s", name_of(db),
                        sqlite3_errmsg(db), sqlite3_errstr(code), advice(code));
}

/* The first row is "ok", or the first damage. */
static bool judge(sqlite3 *db, sqlite3_stmt *st, struct err *err)
{
    if (sqlite3_step(st) != SQLITE_ROW)
        return sqlite_file_fail(db, err);

    const struct str said = {(const char *)sqlite3_column_text(st, 0),
                             (size_t)sqlite3_column_bytes(st, 0)};

    return str_equal(said, STR("ok")) ||
           err_set_code(err, ERR_FATAL, "sqlite", SQLITE_CORRUPT,
                        "%s is damaged: %" STR_FMT DAMAGE_FIX, name_of(db), STR_ARG(said));
}

bool sqlite_file_is_whole(sqlite3 *db, struct err *err)
{
    sqlite3_stmt *st = NULL;

    if (sqlite3_prepare_v2(db, "PRAGMA integrity_check(1)", -1, &st, NULL) != SQLITE_OK)
        return sqlite_file_fail(db, err);

    const bool ok = judge(db, st, err);

    sqlite3_finalize(st);
    return ok;
}

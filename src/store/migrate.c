#include "config.h"

#include "src/store/migrate.h"

#include "src/base/buf.h"
#include "src/base/clock.h"
#include "src/store/backend.h"

#include <stdlib.h>
#include <string.h>

/* The value with the number of the last migration that is alone. */
#define LEAST "migration/least"

static const char create_record[] =
    "CREATE TABLE IF NOT EXISTS millrace_migration ("
    " number {number} NOT NULL PRIMARY KEY, name {key} NOT NULL, applied_ms {number} NOT NULL"
    ") {keyed}";

struct version_sink {
    struct row_sink sink;
    unsigned long number;
};

static void take_number(struct row_sink *sink, const struct str *cells)
{
    struct version_sink *s = CONTAINER_OF(sink, struct version_sink, sink);

    s->number = cells[0].ptr != NULL ? strtoul(cells[0].ptr, NULL, 10) : 0;
}

static bool define(struct store_backend *b, struct str sql, struct err *err)
{
    struct buf rendered = {0};

    store_backend_render(b, sql, &rendered);
    bool ok = b->ops->define(b, buf_str(&rendered), err);

    buf_free(&rendered);
    return ok;
}

/* Apply in one transaction, as far as the database allows that for schema changes. */
static bool apply(struct store_backend *b, const struct migration *m, struct err *err)
{
    const char *sql = m->sql;
    const char *end;
    bool ok = b->ops->begin(b, err);

    if (!ok)
        return false;
    /* First: MySQL commits with each schema change, and we may die between two of them. */
    if (m->alone)
        ok = b->ops->run(b,
                         "INSERT INTO setting (name, content) VALUES (?, ?)"
                         " ON CONFLICT (name) DO UPDATE SET content = excluded.content",
                         BINDS(TEXT(STR(LEAST)), NUMBER(m->number)), 1, err);
    while (ok && (end = strstr(sql, ";\n")) != NULL) {
        ok = define(b, (struct str){sql, (size_t)(end - sql)}, err);
        sql = end + 2;
    }
    ok =
        ok &&
        b->ops->run(
            b, "INSERT INTO millrace_migration (number, name, applied_ms) VALUES (?, ?, ?)",
            BINDS(NUMBER(m->number), TEXT(str_from(m->name)), NUMBER(clock_wall_ms())), 1, err);
    if (ok)
        return b->ops->commit(b, err);
    b->ops->rollback(b);
    return err_wrap(err, "migration %u (%s)", m->number, m->name);
}

/*
 * Create the record of migrations if the database is empty; refuse a database that is not ours.
 */
static bool prepare(struct store_backend *b, struct err *err)
{
    bool empty;

    if (!b->ops->is_empty(b, &empty, err))
        return false;
    struct version_sink ignored = {.sink = {take_number}};
    struct err why;

    if (!empty && !b->ops->select(b, "SELECT MAX(number) FROM millrace_migration", NO_BINDS,
                                  &ignored.sink, &why))
        return err_set(err, why.kind == ERR_RETRY ? ERR_RETRY : ERR_FATAL,
                       "this database is not a Millrace store, and it is not empty (%s); fix: "
                       "give the store a database of its own",
                       why.msg);
    return !empty || define(b, str_from(create_record), err);
}

/* May we, who know only our migrations, use the store? */
static bool is_ours(struct store_backend *b, struct err *err)
{
    struct version_sink least = {.sink = {take_number}};

    if (!b->ops->select(b, "SELECT content FROM setting WHERE name = '" LEAST "'", NO_BINDS,
                        &least.sink, err))
        return false;
    b->is_newer = least.number > n_migrations;
    return !b->is_newer ||
           err_set(err, ERR_FATAL,
                   "a newer Millrace has changed the store to version %lu, and this one "
                   "(%s) works only on versions up to %zu; fix: install the newer one here, or "
                   "restore a backup",
                   least.number, PACKAGE_VERSION, n_migrations);
}

/* No older program may use the store if one of our migrations from `first` on is alone. */
static bool may_apply(struct store_backend *b, size_t first, struct err *err)
{
    const struct migration *m = NULL;
    struct buf names = {0};

    for (size_t i = first; i < n_migrations && m == NULL; i++)
        if (migrations[i].alone)
            m = &migrations[i];
    if (m == NULL || b->ops->find_older == NULL)
        return true;

    bool ok = b->ops->find_older(b, n_migrations, &names, err);

    if (ok && names.len > 0)
        ok = err_set(err, ERR_RETRY,
                     "no older Millrace can work beside this one, as migration %u (%s) changes "
                     "what it reads, and these use the store: %s; fix: stop them first; of a "
                     "machine that is gone, run KILL with its connection's number in the "
                     "store's server",
                     m->number, m->name, names.ptr);
    buf_free(&names);
    return ok;
}

static bool enter(struct store_backend *b, struct err *err)
{
    return b->ops->enter == NULL || b->ops->enter(b, n_migrations, err);
}

static bool migrate_locked(struct store_backend *b, struct err *err)
{
    struct version_sink found = {.sink = {take_number}};

    if (!prepare(b, err) || !b->ops->select(b, "SELECT MAX(number) FROM millrace_migration",
                                            NO_BINDS, &found.sink, err))
        return false;
    if (found.number > 0 && (!is_ours(b, err) || !may_apply(b, found.number, err)))
        return false;
    for (size_t i = found.number; i < n_migrations; i++)
        if (!apply(b, &migrations[i], err))
            return false;
    return enter(b, err);
}

bool migrate(struct store_backend *b, struct err *err)
{
    if (!b->ops->lock_schema(b, err))
        return false;
    bool ok = migrate_locked(b, err);

    b->ops->unlock_schema(b);
    return ok;
}

bool migrate_return(struct store_backend *b, struct err *err)
{
    if (!b->ops->lock_schema(b, err))
        return false;
    bool ok = is_ours(b, err) && enter(b, err);

    b->ops->unlock_schema(b);
    return ok;
}

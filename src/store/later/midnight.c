#include "config.h"

#include "src/store/later/midnight.h"

#include "src/base/arena.h"
#include "src/store/core.h"

static bool put(struct store *s, const struct midnight_owner *o,
                const struct stored_midnight *m, struct err *err)
{
    static const char sql[] =
        "INSERT INTO midnight (topic, zone, day, epoch, log_file, log_offset)"
        " VALUES (?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (topic, zone, day) DO UPDATE SET epoch = excluded.epoch,"
        " log_file = excluded.log_file, log_offset = excluded.log_offset";

    return store_run(s, sql,
                     BINDS(TEXT(o->topic), TEXT(o->zone), NUMBER(m->day), NUMBER(m->epoch),
                           TEXT(m->file), NUMBER(m->offset)),
                     err);
}

static bool prune(struct store *s, const struct midnight_owner *o, int64_t newest,
                  struct err *err)
{
    return newest < MIDNIGHT_DAYS_MAX ||
           store_run(s, "DELETE FROM midnight WHERE topic = ? AND zone = ? AND day <= ?",
                     BINDS(TEXT(o->topic), TEXT(o->zone), NUMBER(newest - MIDNIGHT_DAYS_MAX)),
                     err);
}

bool store_put_midnights(struct store *s, const struct midnight_owner *owner,
                         const struct stored_midnight *m, size_t n, struct err *err)
{
    bool ok = true;

    if (n == 0)
        return true;
    if (!store_begin_as(s, owner->topic, owner->term, err))
        return false;
    for (size_t i = 0; ok && i < n; i++)
        ok = put(s, owner, &m[i], err);
    ok = ok && prune(s, owner, m[n - 1].day, err);
    return store_end(s, ok, err);
}

static void fill(struct arena *a, const struct str *cells, void *element)
{
    *(struct stored_midnight *)element = (struct stored_midnight){
        .day = (int64_t)row_number(cells[0]),
        .epoch = row_number(cells[1]),
        .file = arena_copy(a, cells[2]),
        .offset = row_number(cells[3]),
    };
}

bool store_load_midnights(struct store *s, struct arena *a, struct str topic, struct str zone,
                          struct stored_midnight **out, size_t *n, struct err *err)
{
    static const char sql[] = "SELECT day, epoch, log_file, log_offset FROM midnight"
                              " WHERE topic = ? AND zone = ? ORDER BY day";
    struct row_list list = ROW_LIST(a, struct stored_midnight, fill);

    if (!store_load(s, sql, BINDS(TEXT(topic), TEXT(zone)), &list, err))
        return false;
    *out = row_list_finish(&list, n);
    return true;
}

#include "config.h"

#include "src/store/later/fan_out.h"

#include "src/base/arena.h"
#include "src/store/core.h"
#include "src/store/store.h"

#include <xxhash.h>

static uint64_t hash_of(struct str key)
{
    return XXH64(key.ptr, key.len, 0) >> 1; /* bound numbers are below 2^63 */
}

static void fill_job(struct arena *a, const struct str *cells, void *element)
{
    struct stored_fan_out *job = element;

    *job = (struct stored_fan_out){
        .id = row_number(cells[0]),
        .topic = arena_copy(a, cells[1]),
        .index = arena_copy(a, cells[2]),
        .version = row_number(cells[3]),
        .place = (uint32_t)row_number(cells[4]),
        .by = (unsigned)row_number(cells[5]),
        .table = arena_copy(a, cells[6]),
        .key = arena_copy(a, cells[7]),
        .source = arena_copy(a, cells[8]),
        .at_least = row_number(cells[9]),
        .again = row_number(cells[10]),
        .run = row_number(cells[11]),
        .cursor = arena_copy(a, cells[12]),
        .documents = row_number(cells[13]),
        .created_ms = (int64_t)row_number(cells[14]),
        .updated_ms = (int64_t)row_number(cells[15]),
        .member = arena_copy(a, cells[16]),
        .is_repeat = row_number(cells[17]) != 0,
    };
}

#define SELECT_JOB                                                                         \
    "SELECT id, topic, index_name, version, place, by_row, table_name, key_bytes, source," \
    " at_least, again, run, cursor_bytes, documents, created_ms, updated_ms,"              \
    " member, mark FROM "                                                                  \
    "fan_out"

/* Find the job with the same key; *n is 0 or 1. */
static bool find_equal(struct store *s, struct arena *a, const struct stored_fan_out *job,
                       struct stored_fan_out **found, size_t *n, struct err *err)
{
    static const char sql[] =
        SELECT_JOB " WHERE index_name = ? AND version = ? AND key_hash = ? AND key_bytes = ?"
                   " AND place = ? AND by_row = ? AND source = ? AND member = ? LIMIT 1{lock}";
    struct row_list list = ROW_LIST(a, struct stored_fan_out, fill_job);
    const bool ok = store_select(
        s, sql,
        BINDS(TEXT(job->index), NUMBER(job->version), NUMBER(hash_of(job->key)), TEXT(job->key),
              NUMBER(job->place), NUMBER(job->by), TEXT(job->source), TEXT(job->member)),
        &list.sink, err);

    *found = row_list_finish(&list, n);
    return ok;
}

/* The column `mark` is is_repeat. */
static bool insert(struct store *s, const struct stored_fan_out *job, struct err *err)
{
    static const char sql[] =
        "INSERT INTO fan_out (topic, index_name, version, place, by_row, table_name, key_hash,"
        " key_bytes, source, at_least, again, run, mark, cursor_bytes, documents, created_ms,"
        " updated_ms, member) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0, '', 0, ?, ?, ?)";

    return store_run(s, sql,
                     BINDS(TEXT(job->topic), TEXT(job->index), NUMBER(job->version),
                           NUMBER(job->place), NUMBER(job->by), TEXT(job->table),
                           NUMBER(hash_of(job->key)), TEXT(job->key), TEXT(job->source),
                           NUMBER(job->at_least), NUMBER(job->created_ms),
                           NUMBER(job->created_ms), TEXT(job->member)),
                     err);
}

/* A waiting job's reads all lie ahead, so raising its position is enough. */
static bool raise(struct store *s, const struct stored_fan_out *there,
                  const struct stored_fan_out *job, struct err *err)
{
    static const char waits[] =
        "UPDATE fan_out SET at_least = ?, created_ms = ?, mark = 0 WHERE id = ?";
    static const char runs[] = "UPDATE fan_out SET again = ? WHERE id = ?";
    const uint64_t covered = there->again > there->at_least ? there->again : there->at_least;
    const int64_t since_ms =
        there->created_ms < job->created_ms ? there->created_ms : job->created_ms;

    if (job->at_least <= covered)
        return true;
    if (there->run != 0)
        return store_run(s, runs, BINDS(NUMBER(job->at_least), NUMBER(there->id)), err);
    return store_run(s, waits,
                     BINDS(NUMBER(job->at_least), NUMBER(since_ms), NUMBER(there->id)), err);
}

static bool put_one(struct store *s, struct arena *a, const struct stored_fan_out *job,
                    struct err *err)
{
    struct stored_fan_out *there;
    size_t n;
    bool live;

    if (!store_version_is_live(s, job->index, job->version, &live, err))
        return false;
    if (!live)
        return true;
    if (!find_equal(s, a, job, &there, &n, err))
        return false;
    return n > 0 ? raise(s, there, job, err) : insert(s, job, err);
}

bool store_write_fan_outs(struct store *s, const struct stored_fan_out *jobs, size_t n,
                          struct err *err)
{
    struct arena *a = arena_new();
    bool ok = true;

    for (size_t i = 0; ok && i < n; i++)
        ok = put_one(s, a, &jobs[i], err);
    arena_free(a);
    return ok;
}

bool store_put_fan_outs(struct store *s, uint64_t term, const struct stored_fan_out *jobs,
                        size_t n, struct err *err)
{
    return n == 0 || (store_begin_as(s, jobs[0].source, term, err) &&
                      store_end(s, store_write_fan_outs(s, jobs, n, err), err));
}

bool store_load_fan_outs(struct store *s, struct arena *a, struct str index, uint64_t version,
                         struct str member, int64_t now_ms, size_t limit,
                         struct stored_fan_out **out, size_t *n, struct err *err)
{
    static const char sql[] =
        SELECT_JOB " WHERE index_name = ? AND version = ? AND member = ?"
                   " ORDER BY mark > 0 AND created_ms > ?, run = 0, run, id LIMIT ?";
    struct row_list list = ROW_LIST(a, struct stored_fan_out, fill_job);

    if (!store_load(
            s, sql,
            BINDS(TEXT(index), NUMBER(version), TEXT(member), NUMBER(now_ms), NUMBER(limit)),
            &list, err))
        return false;
    *out = row_list_finish(&list, n);
    return true;
}

bool store_begin_fan_outs(struct store *s, const struct fan_out_owner *owner,
                          const struct stored_fan_out *first, uint64_t last, uint64_t at_least,
                          int64_t now_ms, struct err *err)
{
    static const char sql[] =
        "UPDATE fan_out SET run = ?, mark = 0, cursor_bytes = '', documents = 0, updated_ms = ?"
        " WHERE index_name = ? AND version = ? AND topic = ? AND place = ? AND by_row = ?"
        " AND source = ? AND member = ? AND run = 0 AND id <= ? AND at_least <= ?"
        " AND (mark = 0 OR created_ms <= ?)";

    if (!store_begin_as(s, owner->topic, owner->term, err))
        return false;

    const bool ok = store_run(
        s, sql,
        BINDS(NUMBER(first->id), NUMBER(now_ms), TEXT(first->index), NUMBER(first->version),
              TEXT(owner->topic), NUMBER(first->place), NUMBER(first->by), TEXT(first->source),
              TEXT(first->member), NUMBER(last), NUMBER(at_least), NUMBER(now_ms)),
        err);

    return store_end(s, ok, err);
}

bool store_save_fan_outs(struct store *s, const struct fan_out_owner *owner, uint64_t run,
                         struct str cursor, uint64_t documents, int64_t now_ms, struct err *err)
{
    static const char sql[] = "UPDATE fan_out SET cursor_bytes = ?, documents = ?,"
                              " updated_ms = ? WHERE topic = ? AND run = ?";

    if (!store_begin_as(s, owner->topic, owner->term, err))
        return false;

    const bool ok = store_run(
        s, sql,
        BINDS(TEXT(cursor), NUMBER(documents), NUMBER(now_ms), TEXT(owner->topic), NUMBER(run)),
        err);

    return store_end(s, ok, err);
}

bool store_end_fan_outs(struct store *s, const struct fan_out_owner *owner, uint64_t run,
                        int64_t once_more_ms, int64_t now_ms, struct err *err)
{
    static const char done[] = "DELETE FROM fan_out WHERE topic = ? AND run = ? AND again = 0";
    static const char kept[] =
        "UPDATE fan_out SET run = 0, mark = 1, cursor_bytes = '', documents = 0,"
        " created_ms = ?, updated_ms = ? WHERE topic = ? AND run = ? AND again = 0";
    static const char again[] =
        "UPDATE fan_out SET at_least = again, again = 0, run = 0, cursor_bytes = '',"
        " documents = 0, created_ms = ?, updated_ms = ? WHERE topic = ? AND run = ?";

    if (!store_begin_as(s, owner->topic, owner->term, err))
        return false;

    const bool ended = once_more_ms == 0
                           ? store_run(s, done, BINDS(TEXT(owner->topic), NUMBER(run)), err)
                           : store_run(s, kept,
                                       BINDS(NUMBER(once_more_ms), NUMBER(now_ms),
                                             TEXT(owner->topic), NUMBER(run)),
                                       err);
    const bool ok =
        ended &&
        store_run(s, again,
                  BINDS(NUMBER(now_ms), NUMBER(now_ms), TEXT(owner->topic), NUMBER(run)), err);

    return store_end(s, ok, err);
}

static void fill_sum(struct arena *a, const struct str *cells, void *element)
{
    *(struct fan_out_sum *)element = (struct fan_out_sum){
        .topic = arena_copy(a, cells[0]),
        .index = arena_copy(a, cells[1]),
        .table = arena_copy(a, cells[2]),
        .source = arena_copy(a, cells[3]),
        .version = row_number(cells[4]),
        .run = row_number(cells[5]),
        .jobs = row_number(cells[6]),
        .documents = row_number(cells[7]),
        .cursor = arena_copy(a, cells[8]),
        .created_ms = (int64_t)row_number(cells[9]),
        .updated_ms = (int64_t)row_number(cells[10]),
        .first_id = row_number(cells[11]),
    };
}

bool store_sum_fan_outs(struct store *s, struct arena *a, int64_t now_ms,
                        struct fan_out_sum **out, size_t *n, struct err *err)
{
    static const char sql[] =
        "SELECT topic, index_name, table_name, source, version, run, COUNT(*), MAX(documents),"
        " MAX(cursor_bytes), MIN(created_ms), MAX(updated_ms), MIN(id) FROM fan_out"
        " WHERE mark = 0 OR created_ms <= ?"
        " GROUP BY topic, index_name, version, place, table_name, source, run"
        " ORDER BY topic, index_name, version, place, run = 0, run";
    struct row_list list = ROW_LIST(a, struct fan_out_sum, fill_sum);

    if (!store_load(s, sql, BINDS(NUMBER(now_ms)), &list, err))
        return false;
    *out = row_list_finish(&list, n);
    return true;
}

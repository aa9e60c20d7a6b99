#include "config.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/store/core.h"
#include "src/store/store.h"

#include <inttypes.h>

/* Index versions and jobs. */

static void fill_version(struct arena *a, const struct str *cells, void *element)
{
    struct stored_version *v = element;

    v->index = arena_copy(a, cells[0]);
    v->number = row_number(cells[1]);
    v->state = arena_copy(a, cells[2]);
    v->topic = arena_copy(a, cells[3]);
    v->epoch = row_number(cells[4]);
    v->start = row_number(cells[5]);
    v->definition = arena_copy(a, cells[6]);
    v->created_ms = (int64_t)row_number(cells[7]);
    v->finished_ms = (int64_t)row_number(cells[8]);
    v->error = arena_copy(a, cells[9]);
    v->retired_ms = (int64_t)row_number(cells[10]);
    v->kept_until_ms = (int64_t)row_number(cells[11]);
}

bool store_load_versions(struct store *s, struct arena *a, struct str index,
                         struct stored_version **out, size_t *n, struct err *err)
{
    static const char sql[] =
        "SELECT index_name, number, state, topic, epoch, start_version, definition, created_ms,"
        " finished_ms, error, retired_ms, kept_until_ms FROM index_version"
        " WHERE ? = '' OR index_name = ?"
        " ORDER BY index_name, number";
    struct row_list list = ROW_LIST(a, struct stored_version, fill_version);

    if (!store_load(s, sql, BINDS(TEXT(index), TEXT(index)), &list, err))
        return false;
    *out = row_list_finish(&list, n);
    return true;
}

/*
 * Get the next number, at least *number.  Incrementing the counter first also locks out other
 * nodes until this transaction ends.
 */
static bool next_number(struct store *s, struct str index, uint64_t *number, struct err *err)
{
    static const char count[] = "INSERT INTO index_counter (index_name, number) VALUES (?, 1)"
                                " ON CONFLICT (index_name) DO UPDATE SET number = number + 1";
    static const char raise[] = "UPDATE index_counter SET number = ? WHERE index_name = ?";
    const uint64_t at_least = *number;

    if (!store_run(s, count, BINDS(TEXT(index)), err) ||
        !store_select_number(s, "SELECT number FROM index_counter WHERE index_name = ?",
                             BINDS(TEXT(index)), number, NULL, err))
        return false;
    if (*number >= at_least)
        return true;
    *number = at_least;
    return store_run(s, raise, BINDS(NUMBER(at_least), TEXT(index)), err);
}

static bool none_is_coming(struct store *s, struct str index, struct err *err)
{
    uint64_t number;
    bool found;

    if (!store_select_number(s,
                             "SELECT number FROM index_version WHERE index_name = ?"
                             " AND state IN ('changing', 'waiting', 'returning') LIMIT 1{lock}",
                             BINDS(TEXT(index)), &number, &found, err))
        return false;
    return !found || err_set(err, ERR_REJECT,
                             "version %llu of index %" STR_FMT
                             " is being built already, or waits to be published, or searches "
                             "are about to return to it",
                             (unsigned long long)number, STR_ARG(index));
}

bool store_new_version(struct store *s, struct stored_version *v, struct err *err)
{
    static const char insert[] =
        "INSERT INTO index_version (index_name, number, state, topic, epoch, start_version,"
        " definition, created_ms, finished_ms, error) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    uint64_t number = v->number;

    if (!store_begin_write(s, OF_TOPIC(v->topic), err))
        return false;
    bool ok =
        next_number(s, v->index, &number, err) && none_is_coming(s, v->index, err) &&
        store_run(s, insert,
                  BINDS(TEXT(v->index), NUMBER(number), TEXT(STR("changing")), TEXT(v->topic),
                        NUMBER(v->epoch), NUMBER(v->start), TEXT(v->definition),
                        NUMBER(v->created_ms), NUMBER(v->finished_ms), TEXT(v->error)),
                  err);

    if (!store_end(s, ok, err))
        return false;
    v->number = number;
    v->state = STR("changing");
    return true;
}

static bool version_exists(struct store *s, struct str index, uint64_t number, struct err *err)
{
    uint64_t ignored;
    bool found;

    if (!store_select_number(
            s,
            "SELECT number FROM index_version WHERE index_name = ? AND number ="
            " ?{lock}",
            BINDS(TEXT(index), NUMBER(number)), &ignored, &found, err))
        return false;
    return found ||
           err_set_code(err, ERR_REJECT, "http", 404, "index %" STR_FMT " has no version %llu",
                        STR_ARG(index), (unsigned long long)number);
}

/* Update one column of a version; others may change its other columns meanwhile. */
static bool set_column(struct store *s, const struct version_name *v, const char *sql,
                       struct bind value, struct err *err)
{
    if (!store_begin_write(s, OF_INDEX(v->index, v->number), err))
        return false;

    const bool ok = version_exists(s, v->index, v->number, err) &&
                    store_run(s, sql, BINDS(value, TEXT(v->index), NUMBER(v->number)), err);

    return store_end(s, ok, err);
}

bool store_set_version_start(struct store *s, const struct version_name *v, uint64_t start,
                             struct err *err)
{
    return set_column(
        s, v, "UPDATE index_version SET start_version = ? WHERE index_name = ? AND number = ?",
        NUMBER(start), err);
}

bool store_set_version_definition(struct store *s, const struct version_name *v,
                                  struct str definition, struct err *err)
{
    return set_column(
        s, v, "UPDATE index_version SET definition = ? WHERE index_name = ? AND number = ?",
        TEXT(definition), err);
}

#define LIVE "('changing', 'waiting', 'available', 'kept', 'returning')"

bool store_version_is_live(struct store *s, struct str index, uint64_t number, bool *live,
                           struct err *err)
{
    static const char sql[] =
        "SELECT number FROM index_version WHERE index_name = ? AND number = ?"
        " AND state IN " LIVE "{lock}";
    uint64_t ignored;

    return store_select_number(s, sql, BINDS(TEXT(index), NUMBER(number)), &ignored, live, err);
}

/* Jobs. */

/* Inside a transaction that writes. */
static bool insert_job(struct store *s, struct stored_job *job, struct err *err)
{
    /* If the job exists, this insert changes nothing. */
    static const char insert[] =
        "INSERT INTO job (kind, index_name, version, table_name, bucket, buckets, state,"
        " cursor_text, rows_done, rows_total, parameters, part_keys, error, created_ms,"
        " updated_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (index_name, version, table_name, kind, bucket) DO UPDATE SET"
        " bucket = excluded.bucket";
    static const char find[] = "SELECT id FROM job WHERE index_name = ? AND version = ? AND "
                               "table_name = ? AND kind = ?"
                               " AND bucket = ?";

    return store_run(s, insert,
                     BINDS(TEXT(job->kind), TEXT(job->index), NUMBER(job->version),
                           TEXT(job->table), NUMBER(job->bucket), NUMBER(job->buckets),
                           TEXT(job->state), TEXT(job->cursor), NUMBER(job->rows_done),
                           NUMBER(job->rows_total), TEXT(job->parameters), TEXT(job->keys),
                           TEXT(job->error), NUMBER(job->created_ms), NUMBER(job->updated_ms)),
                     err) &&
           store_select_number(s, find,
                               BINDS(TEXT(job->index), NUMBER(job->version), TEXT(job->table),
                                     TEXT(job->kind), NUMBER(job->bucket)),
                               &job->id, NULL, err);
}

bool store_new_job(struct store *s, struct stored_job *job, struct err *err)
{
    return store_begin_write(s, OF_INDEX(job->index, job->version), err) &&
           store_end(s, insert_job(s, job, err), err);
}

static bool job_is_there(struct store *s, uint64_t id, struct err *err)
{
    uint64_t ignored;
    bool found;

    if (!store_select_number(s, "SELECT id FROM job WHERE id = ?{lock}", BINDS(NUMBER(id)),
                             &ignored, &found, err))
        return false;
    return found || err_set(err, ERR_STOP, "job %llu was deleted", (unsigned long long)id);
}

static bool update_job(struct store *s, const struct stored_job *job, struct err *err)
{
    static const char sql[] = "UPDATE job SET buckets = ?, state = ?, cursor_text = ?,"
                              " rows_done = ?, rows_total = ?, parameters = ?, error = ?,"
                              " updated_ms = ? WHERE id = ?";

    return store_run(s, sql,
                     BINDS(NUMBER(job->buckets), TEXT(job->state), TEXT(job->cursor),
                           NUMBER(job->rows_done), NUMBER(job->rows_total),
                           TEXT(job->parameters), TEXT(job->error), NUMBER(job->updated_ms),
                           NUMBER(job->id)),
                     err);
}

bool store_save_job(struct store *s, uint64_t term, const struct stored_job *job,
                    struct err *err)
{
    struct buf thing = {0};

    buf_printf(&thing, "job/%llu", (unsigned long long)job->id);
    bool ok = store_begin_write(s, OF_JOB(job->id), err);

    if (ok) {
        ok = store_check_term(s, buf_str(&thing), term, err) && job_is_there(s, job->id, err) &&
             update_job(s, job, err);
        ok = store_end(s, ok, err);
    }
    buf_free(&thing);
    return ok;
}

static bool has_buckets(struct store *s, const struct stored_job *build, bool *has,
                        struct err *err)
{
    static const char sql[] = "SELECT id FROM job WHERE index_name = ? AND version = ?"
                              " AND kind = '" JOB_BUCKET "' LIMIT 1";
    uint64_t ignored;

    return store_select_number(s, sql, BINDS(TEXT(build->index), NUMBER(build->version)),
                               &ignored, has, err);
}

static bool insert_buckets(struct store *s, const struct stored_job *build,
                           struct stored_job *buckets, size_t n, struct err *err)
{
    bool has, ok = has_buckets(s, build, &has, err);

    for (size_t i = 0; ok && i < n; i++) {
        buckets[i].id = 0;
        ok = has || insert_job(s, &buckets[i], err);
    }
    return ok && (has || update_job(s, build, err));
}

bool store_new_buckets(struct store *s, uint64_t term, const struct stored_job *build,
                       struct stored_job *buckets, size_t n, struct err *err)
{
    struct buf thing = {0};

    buf_printf(&thing, "job/%llu", (unsigned long long)build->id);

    bool ok = store_begin_write(s, OF_JOB(build->id), err);

    if (ok) {
        ok = store_check_term(s, buf_str(&thing), term, err) &&
             job_is_there(s, build->id, err) && insert_buckets(s, build, buckets, n, err);
        ok = store_end(s, ok, err);
    }
    buf_free(&thing);
    return ok;
}

/* Numbered behind those that there are. */
static bool write_part(struct store *s, struct stored_job *part, struct err *err)
{
    static const char sql[] = "SELECT COALESCE(MAX(bucket), 0) FROM job"
                              " WHERE index_name = ? AND version = ? AND kind = '" JOB_PART "'";
    uint64_t last = 0;
    bool live;

    if (!store_version_is_live(s, part->index, part->version, &live, err))
        return false;
    if (!live)
        return true;
    if (!store_select_number(s, sql, BINDS(TEXT(part->index), NUMBER(part->version)), &last,
                             NULL, err))
        return false;
    part->bucket = (uint32_t)last + 1;
    return insert_job(s, part, err);
}

bool store_write_parts(struct store *s, struct stored_job *parts, size_t n, struct err *err)
{
    bool ok = true;

    for (size_t i = 0; ok && i < n; i++)
        ok = write_part(s, &parts[i], err);
    return ok;
}

/* Inside a transaction: whether the bucket is as it was seen, and still of use. */
static bool is_as_seen(struct store *s, const struct stored_job *seen, bool *is,
                       struct err *err)
{
    static const char sql[] =
        "SELECT j.id FROM job j JOIN index_version v"
        " ON v.index_name = j.index_name AND v.number = j.version WHERE j.id = ?"
        " AND j.state = ? AND j.parameters = ? AND ((j.kind = '" JOB_BUCKET "'"
        " AND v.state = 'changing') OR (j.kind = '" JOB_PART "' AND v.state IN " LIVE
        ")){lock}";
    uint64_t ignored;

    return store_select_number(
        s, sql, BINDS(NUMBER(seen->id), TEXT(seen->state), TEXT(seen->parameters)), &ignored,
        is, err);
}

static bool take_bucket(struct store *s, const struct stored_job *seen, struct str parameters,
                        uint64_t *term, struct err *err)
{
    static const char sql[] = "UPDATE job SET state = 'running', parameters = ? WHERE id = ?";
    struct buf thing = {0};

    buf_printf(&thing, "job/%llu", (unsigned long long)seen->id);

    const bool ok = store_run(s, sql, BINDS(TEXT(parameters), NUMBER(seen->id)), err) &&
                    store_raise_term(s, buf_str(&thing), term, err);

    buf_free(&thing);
    return ok;
}

bool store_take_bucket(struct store *s, const struct stored_job *seen, struct str parameters,
                       uint64_t *term, bool *taken, struct err *err)
{
    if (!store_begin_write(s, OF_NOBODY, err))
        return false;

    const bool ok = is_as_seen(s, seen, taken, err) &&
                    (!*taken || take_bucket(s, seen, parameters, term, err));

    return store_end(s, ok, err);
}

bool store_delete_jobs(struct store *s, struct str index, uint64_t version, struct err *err)
{
    const struct binds of = BINDS(TEXT(index), NUMBER(version));
    bool ok;

    if (!store_begin_write(s, OF_INDEX(index, version), err))
        return false;
    ok = store_run(s,
                   "DELETE FROM job WHERE index_name = ? AND version = ?"
                   " AND kind IN ('" JOB_INDEX "', '" JOB_BUCKET "')",
                   of, err) &&
         store_run(s, "DELETE FROM kept_search WHERE index_name = ? AND version = ?", of, err);
    return store_end(s, ok, err);
}

bool store_delete_job(struct store *s, uint64_t id, struct err *err)
{
    return store_run_alone(s, OF_JOB(id), "DELETE FROM job WHERE id = ?", BINDS(NUMBER(id)),
                           err);
}

static void fill_job(struct arena *a, const struct str *cells, void *element)
{
    struct stored_job *job = element;

    job->id = row_number(cells[0]);
    job->kind = arena_copy(a, cells[1]);
    job->index = arena_copy(a, cells[2]);
    job->version = row_number(cells[3]);
    job->table = arena_copy(a, cells[4]);
    job->bucket = (uint32_t)row_number(cells[5]);
    job->buckets = (uint32_t)row_number(cells[6]);
    job->state = arena_copy(a, cells[7]);
    job->cursor = arena_copy(a, cells[8]);
    job->rows_done = row_number(cells[9]);
    job->rows_total = row_number(cells[10]);
    job->parameters = arena_copy(a, cells[11]);
    job->error = arena_copy(a, cells[12]);
    job->created_ms = (int64_t)row_number(cells[13]);
    job->updated_ms = (int64_t)row_number(cells[14]);
}

bool store_load_jobs(struct store *s, struct arena *a, struct stored_job **out, size_t *n,
                     struct err *err)
{
    static const char sql[] =
        "SELECT id, kind, index_name, version, table_name, bucket, buckets, state, cursor_text,"
        " rows_done, rows_total, parameters, error, created_ms, updated_ms FROM job ORDER BY "
        "id";
    struct row_list list = ROW_LIST(a, struct stored_job, fill_job);

    if (!store_load(s, sql, NO_BINDS, &list, err))
        return false;
    *out = row_list_finish(&list, n);
    return true;
}

struct keys_sink {
    struct row_sink sink;
    struct buf *out;
    bool found;
};

static void take_keys(struct row_sink *sink, const struct str *cells)
{
    struct keys_sink *k = CONTAINER_OF(sink, struct keys_sink, sink);

    k->found = cells[0].ptr != NULL;
    buf_append(k->out, cells[0]);
}

bool store_load_part_keys(struct store *s, uint64_t id, struct buf *out, struct err *err)
{
    static const char sql[] =
        "SELECT part_keys FROM job WHERE id = ? AND kind = '" JOB_PART "'";
    struct keys_sink k = {.sink = {take_keys}, .out = out};

    if (!store_begin(s, err))
        return false;

    const bool ok = store_select(s, sql, BINDS(NUMBER(id)), &k.sink, err);

    return store_end(s, ok, err) &&
           (k.found || err_set(err, ERR_STOP, "job %llu was deleted", (unsigned long long)id));
}

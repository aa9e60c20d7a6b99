#include "config.h"

#include "src/store/waiting.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/store/core.h"
#include "src/store/store.h"

#include <inttypes.h>

/* Inside a transaction. */
static bool has_failed(struct store *s, const struct stored_wait *w, bool *failed,
                       struct err *err)
{
    static const char sql[] = "SELECT number FROM index_version WHERE index_name = ?"
                              " AND number = ? AND error <> ''{lock}";
    uint64_t ignored;

    return store_select_number(s, sql, BINDS(TEXT(w->index), NUMBER(w->number)), &ignored,
                               failed, err);
}

/*
 * Inside a transaction.  A version that waits already was parked by this same owner, which
 * never got the answer.
 */
static bool can_be_parked(struct store *s, const struct stored_wait *w, struct err *err)
{
    const struct version_name name = {w->index, w->number};
    bool changing, waiting, failed;

    if (!store_is_in_state(s, &name, "changing", &changing, err) ||
        !store_is_in_state(s, &name, "waiting", &waiting, err) ||
        !has_failed(s, w, &failed, err))
        return false;
    if (!changing && !waiting)
        return err_set(err, ERR_STOP,
                       "version %" PRIu64 " of index %" STR_FMT " is not being built",
                       w->number, STR_ARG(w->index));
    return !failed ||
           err_set(err, ERR_REJECT,
                   "version %" PRIu64 " of index %" STR_FMT " was stopped while it was built",
                   w->number, STR_ARG(w->index));
}

static bool set_states(struct store *s, const struct stored_wait *w, const char *version,
                       const char *job, struct err *err)
{
    static const char versions[] =
        "UPDATE index_version SET state = ? WHERE index_name = ? AND number = ?";
    static const char jobs[] = "UPDATE job SET state = ? WHERE index_name = ? AND version = ?"
                               " AND kind = '" JOB_INDEX "'";

    return store_run(s, versions,
                     BINDS(TEXT(str_from(version)), TEXT(w->index), NUMBER(w->number)), err) &&
           store_run(s, jobs, BINDS(TEXT(str_from(job)), TEXT(w->index), NUMBER(w->number)),
                     err);
}

static bool put_wait(struct store *s, const struct stored_wait *w, struct err *err)
{
    static const char sql[] =
        "INSERT INTO version_wait (index_name, number, reason, detail, letters, n_rows, "
        "accepted,"
        " since_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (index_name, number) DO UPDATE SET reason = excluded.reason,"
        " detail = excluded.detail, letters = excluded.letters, n_rows = excluded.n_rows";

    return store_run(s, sql,
                     BINDS(TEXT(w->index), NUMBER(w->number), TEXT(w->reason), TEXT(w->detail),
                           NUMBER(w->letters), NUMBER(w->rows), NUMBER(w->accepted),
                           NUMBER(w->since_ms)),
                     err);
}

static bool save_counts(struct store *s, const struct stored_job *job, struct err *err)
{
    static const char sql[] =
        "UPDATE job SET rows_done = ?, rows_total = ?, updated_ms = ? WHERE id = ?";

    return store_run(s, sql,
                     BINDS(NUMBER(job->rows_done), NUMBER(job->rows_total),
                           NUMBER(job->updated_ms), NUMBER(job->id)),
                     err);
}

bool store_park_version(struct store *s, uint64_t term, const struct stored_job *job,
                        const struct stored_wait *w, struct err *err)
{
    struct buf thing = {0};

    buf_printf(&thing, "job/%" PRIu64, job->id);

    bool ok = store_begin_write(s, OF_INDEX(w->index, w->number), err);

    if (ok) {
        ok = store_check_term(s, buf_str(&thing), term, err) && can_be_parked(s, w, err) &&
             set_states(s, w, "waiting", JOB_WAITING, err) && save_counts(s, job, err) &&
             put_wait(s, w, err);
        ok = store_end(s, ok, err);
    }
    buf_free(&thing);
    return ok;
}

bool store_save_wait(struct store *s, const struct stored_wait *w, struct err *err)
{
    static const char sql[] = "UPDATE version_wait SET detail = ?, letters = ?"
                              " WHERE index_name = ? AND number = ?";

    return store_run_alone(
        s, OF_INDEX(w->index, w->number), sql,
        BINDS(TEXT(w->detail), NUMBER(w->letters), TEXT(w->index), NUMBER(w->number)), err);
}

static bool resume(struct store *s, const struct stored_wait *w, struct err *err)
{
    static const char accept[] =
        "UPDATE version_wait SET accepted = ? WHERE index_name = ? AND number = ?";
    const struct version_name name = {w->index, w->number};
    bool waiting;

    if (!store_is_in_state(s, &name, "waiting", &waiting, err))
        return false;
    if (!waiting)
        return err_set_code(err, ERR_REJECT, "http", 409,
                            "version %" PRIu64 " of index %" STR_FMT " does not wait",
                            w->number, STR_ARG(w->index));
    return set_states(s, w, "changing", JOB_COMPLETE, err) &&
           store_run(s, accept, BINDS(NUMBER(w->accepted), TEXT(w->index), NUMBER(w->number)),
                     err);
}

bool store_resume_version(struct store *s, const struct stored_wait *w, struct err *err)
{
    return store_begin_write(s, OF_INDEX(w->index, w->number), err) &&
           store_end(s, resume(s, w, err), err);
}

static void fill_wait(struct arena *a, const struct str *cells, void *element)
{
    *(struct stored_wait *)element = (struct stored_wait){
        .index = arena_copy(a, cells[0]),
        .number = row_number(cells[1]),
        .reason = arena_copy(a, cells[2]),
        .detail = arena_copy(a, cells[3]),
        .letters = row_number(cells[4]),
        .rows = row_number(cells[5]),
        .accepted = row_number(cells[6]),
        .since_ms = (int64_t)row_number(cells[7]),
    };
}

bool store_load_waits(struct store *s, struct arena *a, struct stored_wait **out, size_t *n,
                      struct err *err)
{
    static const char sql[] =
        "SELECT index_name, number, reason, detail, letters, n_rows, accepted,"
        " since_ms FROM version_wait ORDER BY index_name, number";
    struct row_list list = ROW_LIST(a, struct stored_wait, fill_wait);

    if (!store_load(s, sql, NO_BINDS, &list, err))
        return false;
    *out = row_list_finish(&list, n);
    return true;
}

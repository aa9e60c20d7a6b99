#include "config.h"

#include "src/store/turn.h"

#include "src/base/arena.h"
#include "src/store/core.h"
#include "src/store/retired.h"

#include <inttypes.h>

/* Everything but the calls at the end runs inside a transaction. */

static bool has_row(struct store *s, const char *sql, struct binds binds, bool *has,
                    struct err *err)
{
    uint64_t ignored;

    return store_select_number(s, sql, binds, &ignored, has, err);
}

static bool set_state(struct store *s, const struct version_name *v, const char *state,
                      struct err *err)
{
    static const char sql[] =
        "UPDATE index_version SET state = ? WHERE index_name = ? AND number = ?";

    return store_run(s, sql, BINDS(TEXT(str_from(state)), TEXT(v->index), NUMBER(v->number)),
                     err);
}

static bool keep(struct store *s, const struct version_name *v, int64_t until_ms,
                 struct err *err)
{
    static const char sql[] =
        "UPDATE index_version SET kept_until_ms = ? WHERE index_name = ? AND number = ?";

    return set_state(s, v, "kept", err) &&
           store_run(s, sql, BINDS(NUMBER(until_ms), TEXT(v->index), NUMBER(v->number)), err);
}

/* ---- the versions that another one follows ---- */

struct follower {
    int64_t at_ms;
    struct keeping keep;
    bool is_current; /* the available version is */
};

/* Available comes first, then those that were replaced last. */
static const char older[] =
    "SELECT index_name, number FROM index_version WHERE index_name = ? AND number <> ?"
    " AND state IN ('available', 'kept', 'returning')"
    " ORDER BY CASE state WHEN 'available' THEN 0 ELSE 1 END, kept_until_ms DESC, number DESC";

static void fill_name(struct arena *a, const struct str *cells, void *element)
{
    *(struct version_name *)element =
        (struct version_name){arena_copy(a, cells[0]), row_number(cells[1])};
}

/* A build is to come for a delayed table that was changed as a whole. */
static bool shows_old_tables(struct store *s, const struct version_name *v, bool *does,
                             struct err *err)
{
    static const char sql[] = "SELECT 1 FROM snapshot_lead WHERE place = 0 AND index_name = ?"
                              " AND version = ? LIMIT 1";

    return has_row(s, sql, BINDS(TEXT(v->index), NUMBER(v->number)), does, err);
}

static bool leave(struct store *s, const struct version_name *v, const struct follower *f,
                  uint64_t *n_kept, struct err *err)
{
    bool is_available, is_outdated;

    if (!store_is_in_state(s, v, "available", &is_available, err) ||
        !shows_old_tables(s, v, &is_outdated, err))
        return false;
    if (*n_kept >= f->keep.versions)
        return store_write_history(s, v, STR(""), f->at_ms, err);
    if (is_outdated || (is_available && !f->is_current))
        return store_write_history(s, v, STR("its table was stopped, or to be built again"),
                                   f->at_ms, err);
    ++*n_kept;
    return is_available ? keep(s, v, f->at_ms + f->keep.for_ms, err)
                        : set_state(s, v, "kept", err);
}

/* The other versions of the index make room for v. */
static bool make_room(struct store *s, const struct version_name *v, const struct follower *f,
                      struct err *err)
{
    struct arena *a = arena_new();
    struct row_list list = ROW_LIST(a, struct version_name, fill_name);
    bool ok = store_select(s, older, BINDS(TEXT(v->index), NUMBER(v->number)), &list.sink, err);
    const struct version_name *names;
    uint64_t n_kept = 0;
    size_t n = 0;

    names = row_list_finish(&list, &n);
    for (size_t i = 0; ok && i < n; i++)
        ok = leave(s, &names[i], f, &n_kept, err);
    arena_free(a);
    return ok;
}

/*
 * The versions of an index may be of two topics, whose owners wait for each other here: what is
 * read from now on has all that either has stored.
 */
static bool lock_versions(struct store *s, const struct version_name *v, struct err *err)
{
    static const char sql[] = "SELECT number FROM index_version WHERE index_name = ?{lock}";
    bool ignored;

    return has_row(s, sql, BINDS(TEXT(v->index)), &ignored, err);
}

/* ---- promotion ---- */

static bool can_be_promoted(struct store *s, const struct version_name *v, struct err *err)
{
    static const char failed[] = "SELECT number FROM index_version WHERE index_name = ?"
                                 " AND number = ? AND error <> ''{lock}";
    static const char there[] =
        "SELECT number FROM index_version WHERE index_name = ? AND number = ?{lock}";
    bool has_failed, is_there;

    if (!has_row(s, there, BINDS(TEXT(v->index), NUMBER(v->number)), &is_there, err) ||
        !has_row(s, failed, BINDS(TEXT(v->index), NUMBER(v->number)), &has_failed, err))
        return false;
    if (!is_there)
        return err_set_code(err, ERR_REJECT, "http", 404,
                            "index %" STR_FMT " has no version %" PRIu64, STR_ARG(v->index),
                            v->number);
    return !has_failed ||
           err_set(err, ERR_REJECT,
                   "version %" PRIu64 " of index %" STR_FMT " was stopped while it was built",
                   v->number, STR_ARG(v->index));
}

/* Whether the documents that searches use now are as their rows. */
static bool is_current(struct store *s, const struct version_name *v, bool *is, struct err *err)
{
    static const char stops[] =
        "SELECT 1 FROM table_stop WHERE table_name IN"
        " (SELECT table_name FROM job WHERE index_name = ? AND version = ?) LIMIT 1";
    static const char rebuilds[] =
        "SELECT 1 FROM rebuild WHERE table_name IN"
        " (SELECT table_name FROM job WHERE index_name = ? AND version = ?) LIMIT 1";
    const struct binds binds = BINDS(TEXT(v->index), NUMBER(v->number));
    bool stopped, outdated;

    if (!has_row(s, stops, binds, &stopped, err) ||
        !has_row(s, rebuilds, binds, &outdated, err))
        return false;
    *is = !stopped && !outdated;
    return true;
}

static bool promote(struct store *s, const struct promotion *p, struct err *err)
{
    static const char available[] =
        "UPDATE index_version SET state = 'available', finished_ms = ?"
        " WHERE index_name = ? AND number = ?";
    static const char waited[] = "DELETE FROM version_wait WHERE index_name = ? AND number = ?";
    static const char go_on[] =
        "DELETE FROM table_stop WHERE table_name IN"
        " (SELECT table_name FROM job WHERE index_name = ? AND version = ?)";
    static const char built[] =
        "DELETE FROM rebuild WHERE table_name IN"
        " (SELECT table_name FROM job WHERE index_name = ? AND version = ?)";
    const struct version_name v = {p->index, p->number};
    const struct binds name = BINDS(TEXT(p->index), NUMBER(p->number));
    struct follower f = {p->at_ms, p->keep, false};

    return lock_versions(s, &v, err) && can_be_promoted(s, &v, err) &&
           is_current(s, &v, &f.is_current, err) && make_room(s, &v, &f, err) &&
           store_run(s, available,
                     BINDS(NUMBER(p->finished_ms), TEXT(p->index), NUMBER(p->number)), err) &&
           store_run(s, waited, name, err) && store_run(s, go_on, name, err) &&
           store_run(s, built, name, err) && store_write_build_succeeded(s, &v, err);
}

/* ---- return ---- */

static bool order(struct store *s, const struct version_name *v, struct err *err)
{
    static const char sql[] = "SELECT number FROM index_version WHERE index_name = ?"
                              " AND state IN ('changing', 'returning') LIMIT 1{lock}";
    bool kept, busy;

    if (!store_is_in_state(s, v, "kept", &kept, err) ||
        !has_row(s, sql, BINDS(TEXT(v->index)), &busy, err))
        return false;
    if (!kept || busy)
        return err_set_code(err, ERR_REJECT, "http", 409,
                            "version %" PRIu64 " of index %" STR_FMT
                            " is not kept any more, or another one is on its way",
                            v->number, STR_ARG(v->index));
    return set_state(s, v, "returning", err);
}

static bool is_table_current(struct store *s, struct str table, bool *is, struct err *err)
{
    bool stopped, outdated;

    if (!has_row(s, "SELECT 1 FROM table_stop WHERE table_name = ?", BINDS(TEXT(table)),
                 &stopped, err) ||
        !has_row(s, "SELECT 1 FROM rebuild WHERE table_name = ?", BINDS(TEXT(table)), &outdated,
                 err))
        return false;
    *is = *is && !stopped && !outdated;
    return true;
}

static bool take_up(struct store *s, const struct version_return *r, struct err *err)
{
    static const char failed[] = "SELECT number FROM index_version WHERE index_name = ?"
                                 " AND number = ? AND error <> ''{lock}";
    const struct version_name *v = &r->version;
    struct follower f = {r->at_ms, {UINT64_MAX, r->keep_for_ms}, true};
    bool returns, has_failed;
    bool ok = lock_versions(s, v, err) && store_is_in_state(s, v, "returning", &returns, err) &&
              has_row(s, failed, BINDS(TEXT(v->index), NUMBER(v->number)), &has_failed, err);

    if (ok && (!returns || has_failed))
        ok = err_set(err, ERR_STOP, "version %" PRIu64 " of index %" STR_FMT " does not return",
                     v->number, STR_ARG(v->index));
    for (size_t i = 0; ok && i < ARRAY_LEN(r->tables); i++)
        ok = is_table_current(s, r->tables[i], &f.is_current, err);
    ok = ok && make_room(s, v, &f, err) && set_state(s, v, "available", err);
    for (size_t i = 0; ok && i < ARRAY_LEN(r->tables); i++)
        ok = store_forget_table(s, r->tables[i], err);
    return ok;
}

static bool end_kept(struct store *s, const struct version_name *v, struct str reason,
                     int64_t at_ms, struct err *err)
{
    bool kept, returning;

    if (!store_is_in_state(s, v, "kept", &kept, err) ||
        !store_is_in_state(s, v, "returning", &returning, err))
        return false;
    return (!kept && !returning) || store_write_history(s, v, reason, at_ms, err);
}

/* ---- the calls ---- */

bool store_promote_version(struct store *s, const struct promotion *p, struct err *err)
{
    return store_begin_write(s, OF_INDEX(p->index, p->number), err) &&
           store_end(s, promote(s, p, err), err);
}

bool store_order_return(struct store *s, const struct version_name *v, struct err *err)
{
    return store_begin_write(s, OF_INDEX(v->index, v->number), err) &&
           store_end(s, order(s, v, err), err);
}

bool store_cancel_return(struct store *s, const struct version_name *v, struct err *err)
{
    return store_run_alone(s, OF_INDEX(v->index, v->number),
                           "UPDATE index_version SET state = 'kept' WHERE index_name = ?"
                           " AND number = ? AND state = 'returning'",
                           BINDS(TEXT(v->index), NUMBER(v->number)), err);
}

bool store_take_up_return(struct store *s, const struct version_return *r, struct err *err)
{
    return store_begin_write(s, OF_INDEX(r->version.index, r->version.number), err) &&
           store_end(s, take_up(s, r, err), err);
}

bool store_end_kept(struct store *s, const struct version_name *v, struct str reason,
                    int64_t at_ms, struct err *err)
{
    return store_begin_write(s, OF_INDEX(v->index, v->number), err) &&
           store_end(s, end_kept(s, v, reason, at_ms, err), err);
}

bool store_date_history(struct store *s, int64_t at_ms, struct err *err)
{
    return store_run_alone(s, OF_NOBODY,
                           "UPDATE index_version SET retired_ms = ? WHERE state = 'history'"
                           " AND (retired_ms IS NULL OR retired_ms = 0)",
                           BINDS(NUMBER(at_ms)), err);
}

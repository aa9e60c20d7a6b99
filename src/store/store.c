#include "config.h"

#include "src/store/store.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/failpoint.h"
#include "src/base/mem.h"
#include "src/store/core.h"
#include "src/store/migrate.h"

#include <stdlib.h>

/* Rows per statement, few enough for the smallest packet limit MySQL allows. */
#define ROWS_AT_ONCE 256

/* No engine accepts a longer id, so no index holds such a document. */
#define DOC_ID_MAX 512

bool store_open_backend(struct store **out, struct store_backend *b, bool alone,
                        struct err *err)
{
    if (!migrate(b, err)) {
        b->ops->close(b);
        return err_wrap(err, "store");
    }
    struct store *s = mem_alloc(1, sizeof(*s));

    lock_init(&s->lock, LOCK_private);
    s->backend = b;
    owned_init(&s->owned, alone);
    *out = s;
    return true;
}

void store_close(struct store *s)
{
    if (s == NULL)
        return;
    s->backend->ops->close(s->backend);
    owned_fini(&s->owned);
    lock_fini(&s->lock);
    free(s);
}

void store_watch_refusal(struct store *s, void (*refused)(const struct err *why))
{
    s->refused = refused;
}

const char *store_kind(const struct store *s)
{
    return s->backend->ops->kind;
}

/* Values. */

uint64_t store_doubts(struct store *s)
{
    return __atomic_load_n(&s->doubts, __ATOMIC_ACQUIRE);
}

struct value_sink {
    struct row_sink sink;
    struct buf *out;
    bool found;
};

static void take_value(struct row_sink *sink, const struct str *cells)
{
    struct value_sink *v = CONTAINER_OF(sink, struct value_sink, sink);

    buf_append(v->out, cells[0]);
    v->found = true;
}

bool store_get_value(struct store *s, struct str name, struct buf *out, bool *found,
                     struct err *err)
{
    struct value_sink v = {.sink = {take_value}, .out = out};

    if (!store_begin(s, err))
        return false;
    bool ok = store_select(s, "SELECT content FROM setting WHERE name = ?", BINDS(TEXT(name)),
                           &v.sink, err);

    *found = v.found;
    return store_end(s, ok, err);
}

static void fill_value(struct arena *a, const struct str *cells, void *element)
{
    struct stored_value *v = element;

    v->name = arena_copy(a, cells[0]);
    v->content = arena_copy(a, cells[1]);
}

bool store_load_values(struct store *s, struct arena *a, struct str prefix,
                       struct stored_value **out, size_t *n, struct err *err)
{
    struct row_list list = ROW_LIST(a, struct stored_value, fill_value);
    struct buf end = {0};

    buf_append(&end, (struct str){prefix.ptr, prefix.len - 1});
    buf_append_char(&end, '/' + 1);

    const bool ok = store_load(
        s, "SELECT name, content FROM setting WHERE name > ? AND name < ? ORDER BY name",
        BINDS(TEXT(prefix), TEXT(buf_str(&end))), &list, err);

    buf_free(&end);
    if (ok)
        *out = row_list_finish(&list, n);
    return ok;
}

bool store_write_value(struct store *s, struct str name, struct str value, struct err *err)
{
    static const char sql[] = "INSERT INTO setting (name, content) VALUES (?, ?)"
                              " ON CONFLICT (name) DO UPDATE SET content = excluded.content";

    return store_run(s, sql, BINDS(TEXT(name), TEXT(value)), err);
}

bool store_put_value(struct store *s, struct str name, struct str value, struct err *err)
{
    return store_begin_write(s, OF_VALUE(name), err) &&
           store_end(s, store_write_value(s, name, value, err), err);
}

bool store_delete_value(struct store *s, struct str name, const struct str *content,
                        struct err *err)
{
    if (content == NULL)
        return store_run_alone(s, OF_VALUE(name), "DELETE FROM setting WHERE name = ?",
                               BINDS(TEXT(name)), err);
    return store_run_alone(s, OF_VALUE(name),
                           "DELETE FROM setting WHERE name = ? AND content = ?",
                           BINDS(TEXT(name), TEXT(*content)), err);
}

bool store_keep_value(struct store *s, struct str name, struct str value, struct buf *out,
                      struct err *err)
{
    struct value_sink v = {.sink = {take_value}, .out = out};

    if (!store_begin_write(s, OF_VALUE(name), err))
        return false;

    const bool ok = store_run(s,
                              "INSERT INTO setting (name, content) VALUES (?, ?)"
                              " ON CONFLICT (name) DO UPDATE SET content = content",
                              BINDS(TEXT(name), TEXT(value)), err) &&
                    store_select(s, "SELECT content FROM setting WHERE name = ?",
                                 BINDS(TEXT(name)), &v.sink, err);

    return store_end(s, ok, err);
}

bool store_exchange_value(struct store *s, struct str name, struct str before, struct str value,
                          bool *is_done, struct err *err)
{
    struct buf found = {0};
    struct value_sink v = {.sink = {take_value}, .out = &found};
    bool ok = false;

    if (store_begin_write(s, OF_VALUE(name), err))
        ok = store_end(
            s,
            (before.ptr == NULL
                 ? store_run(s,
                             "INSERT INTO setting (name, content) VALUES (?, ?)"
                             " ON CONFLICT (name) DO UPDATE SET content = content",
                             BINDS(TEXT(name), TEXT(value)), err)
                 : store_run(s, "UPDATE setting SET content = ? WHERE name = ? AND content = ?",
                             BINDS(TEXT(value), TEXT(name), TEXT(before)), err)) &&
                store_select(s, "SELECT content FROM setting WHERE name = ?", BINDS(TEXT(name)),
                             &v.sink, err),
            err);
    *is_done = ok && str_equal(buf_str(&found), value);
    buf_free(&found);
    return ok;
}

/*
 * Others who do the same wait at the row of the claim, whose name is the prefix alone.  It is
 * gone when the transaction ends.
 */
static bool put_first(struct store *s, struct str claim, struct str end, struct str name,
                      struct str value, struct err *err)
{
    return store_run(s,
                     "INSERT INTO setting (name, content) VALUES (?, ?)"
                     " ON CONFLICT (name) DO UPDATE SET content = content",
                     BINDS(TEXT(claim), TEXT(STR("claim"))), err) &&
           store_run(s,
                     "INSERT INTO setting (name, content) SELECT ?, ? FROM setting"
                     " WHERE name = ? AND NOT EXISTS"
                     " (SELECT 1 FROM setting WHERE name > ? AND name < ?)",
                     BINDS(TEXT(name), TEXT(value), TEXT(claim), TEXT(claim), TEXT(end)),
                     err) &&
           store_run(s, "DELETE FROM setting WHERE name = ?", BINDS(TEXT(claim)), err);
}

bool store_put_first_value(struct store *s, struct str prefix, struct str name,
                           struct str value, bool *is_first, struct err *err)
{
    struct buf end = {0}, found = {0};
    struct value_sink v = {.sink = {take_value}, .out = &found};
    bool ok = false;

    buf_append(&end, (struct str){prefix.ptr, prefix.len - 1});
    buf_append_char(&end, '/' + 1);
    if (store_begin_write(s, OF_VALUE(name), err))
        ok = store_end(s,
                       put_first(s, prefix, buf_str(&end), name, value, err) &&
                           store_select(s, "SELECT content FROM setting WHERE name = ?",
                                        BINDS(TEXT(name)), &v.sink, err),
                       err);
    *is_first = ok && str_equal(buf_str(&found), value);
    buf_free(&end);
    buf_free(&found);
    return ok;
}

/* Checkpoints and tombstones. */

static void fill_checkpoint(struct arena *a, const struct str *cells, void *element)
{
    struct stored_checkpoint *cp = element;

    cp->topic = arena_copy(a, cells[0]);
    cp->file = arena_copy(a, cells[1]);
    cp->offset = row_number(cells[2]);
    cp->gtid = arena_copy(a, cells[3]);
    cp->epoch = row_number(cells[4]);
    cp->fingerprint = arena_copy(a, cells[5]);
    cp->event_ms = (int64_t)row_number(cells[6]);
    cp->state = arena_copy(a, cells[7]);
    cp->reason = arena_copy(a, cells[8]);
    cp->final_version = row_number(cells[9]);
}

bool store_load_checkpoint(struct store *s, struct arena *a, struct str topic,
                           struct stored_checkpoint *out, bool *found, struct err *err)
{
    static const char sql[] = "SELECT topic, log_file, log_offset, gtid, epoch, fingerprint,"
                              " event_ms, state, reason, final_version FROM checkpoint"
                              " WHERE topic = ?";
    struct row_list list = ROW_LIST(a, struct stored_checkpoint, fill_checkpoint);
    size_t n;

    if (!store_load(s, sql, BINDS(TEXT(topic)), &list, err))
        return false;
    const struct stored_checkpoint *cp = row_list_finish(&list, &n);

    *found = n > 0;
    if (n > 0)
        *out = *cp;
    return true;
}

bool store_load_checkpoints(struct store *s, struct arena *a, struct stored_checkpoint **out,
                            size_t *n, struct err *err)
{
    static const char sql[] = "SELECT topic, log_file, log_offset, gtid, epoch, fingerprint,"
                              " event_ms, state, reason, final_version FROM checkpoint"
                              " ORDER BY topic";
    struct row_list list = ROW_LIST(a, struct stored_checkpoint, fill_checkpoint);

    if (!store_load(s, sql, NO_BINDS, &list, err))
        return false;
    *out = row_list_finish(&list, n);
    return true;
}

static bool put_checkpoint(struct store *s, const struct stored_checkpoint *cp, struct err *err)
{
    static const char sql[] =
        "INSERT INTO checkpoint (topic, log_file, log_offset, gtid, epoch, fingerprint, "
        "event_ms,"
        " state, reason, final_version) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (topic) DO UPDATE SET log_file = excluded.log_file,"
        " log_offset = excluded.log_offset, gtid = excluded.gtid, epoch = excluded.epoch,"
        " fingerprint = excluded.fingerprint, event_ms = excluded.event_ms,"
        " state = excluded.state, reason = excluded.reason,"
        " final_version = excluded.final_version";

    return store_run(s, sql,
                     BINDS(TEXT(cp->topic), TEXT(cp->file), NUMBER(cp->offset), TEXT(cp->gtid),
                           NUMBER(cp->epoch), TEXT(cp->fingerprint), NUMBER(cp->event_ms),
                           TEXT(cp->state), TEXT(cp->reason), NUMBER(cp->final_version)),
                     err);
}

/* Keep the tombstone with the highest version. `version` is compared, so it is updated last. */
static const char put_tombstones[] =
    "INSERT INTO tombstone (index_name, doc_id, routing, version, at_ms) VALUES (?, ?, ?, ?, ?)"
    " ON CONFLICT (index_name, doc_id, routing) DO UPDATE SET"
    " at_ms = CASE WHEN excluded.version >= version THEN excluded.at_ms ELSE at_ms END,"
    " version = CASE WHEN excluded.version > version THEN excluded.version ELSE version END";

static bool insert_tombstones(struct store *s, const struct stored_tombstone *t, size_t n,
                              struct err *err)
{
    struct bind *binds = mem_alloc(ROWS_AT_ONCE * 5, sizeof(*binds));
    bool ok = true;

    for (size_t i = 0; ok && i < n;) {
        size_t rows = 0;

        for (; i < n && rows < ROWS_AT_ONCE; i++) {
            if (t[i].id.len > DOC_ID_MAX || t[i].routing.len > DOC_ID_MAX)
                continue;
            struct bind *b = binds + rows++ * 5;

            b[0] = TEXT(t[i].index);
            b[1] = TEXT(t[i].id);
            b[2] = TEXT(t[i].routing);
            b[3] = NUMBER(t[i].version);
            b[4] = NUMBER(t[i].at_ms);
        }
        if (rows > 0)
            ok = store_run_rows(s, put_tombstones, (struct binds){binds, rows * 5}, rows, err);
    }
    free(binds);
    return ok;
}

bool store_save_checkpoint(struct store *s, uint64_t term, const struct stored_checkpoint *cp,
                           const struct stored_tombstone *tombstones, size_t n, struct err *err)
{
    if (!store_begin_as(s, cp->topic, term, err))
        return false;
    FAILPOINT(position_fenced);

    bool ok = insert_tombstones(s, tombstones, n, err);

    FAILPOINT(position_buried);
    ok = ok && put_checkpoint(s, cp, err);
    return store_end(s, ok, err);
}

static void fill_tombstone(struct arena *a, const struct str *cells, void *element)
{
    struct stored_tombstone *t = element;

    t->index = arena_copy(a, cells[0]);
    t->id = arena_copy(a, cells[1]);
    t->routing = arena_copy(a, cells[2]);
    t->version = row_number(cells[3]);
    t->at_ms = (int64_t)row_number(cells[4]);
}

#define SELECT_TOMBSTONE "SELECT index_name, doc_id, routing, version, at_ms FROM tombstone"

/* Load the other routings of the last id, which the limit may have cut off. */
static bool complete_last(struct store *s, uint64_t version_min, struct row_list *list,
                          struct err *err)
{
    static const char sql[] =
        SELECT_TOMBSTONE " WHERE index_name = ? AND doc_id = ? AND routing > ? AND version >= ?"
                         " ORDER BY routing";
    const struct stored_tombstone *last =
        (const struct stored_tombstone *)(void *)list->elements + (list->n - 1);

    return store_select(
        s, sql,
        BINDS(TEXT(last->index), TEXT(last->id), TEXT(last->routing), NUMBER(version_min)),
        &list->sink, err);
}

/* Load those of one id, under any routing. */
static bool load_tombstones_of(struct store *s, const struct tombstone_filter *which,
                               struct row_list *list, struct err *err)
{
    static const char sql[] =
        SELECT_TOMBSTONE " WHERE index_name = ? AND doc_id = ? AND version >= ?"
                         " ORDER BY routing";

    return store_select(s, sql,
                        BINDS(TEXT(which->index), TEXT(which->id), NUMBER(which->version_min)),
                        &list->sink, err);
}

bool store_load_tombstones(struct store *s, struct arena *a, struct tombstone_filter which,
                           size_t limit, struct stored_tombstone **out, size_t *n,
                           struct err *err)
{
    static const char sql[] =
        SELECT_TOMBSTONE " WHERE index_name = ? AND doc_id > ? AND version >= ?"
                         " ORDER BY doc_id, routing LIMIT ?";
    struct row_list list = ROW_LIST(a, struct stored_tombstone, fill_tombstone);

    if (!store_begin(s, err))
        return false;
    bool ok = which.id.len > 0 ? load_tombstones_of(s, &which, &list, err)
                               : store_select(s, sql,
                                              BINDS(TEXT(which.index), TEXT(which.after_id),
                                                    NUMBER(which.version_min), NUMBER(limit)),
                                              &list.sink, err);

    if (ok && which.id.len == 0 && list.n > 0 && list.n == limit)
        ok = complete_last(s, which.version_min, &list, err);
    *out = row_list_finish(&list, n);
    return store_end(s, ok, err);
}

bool store_drop_tombstones(struct store *s, int64_t before_ms, struct err *err)
{
    return store_run_alone(s, OF_NOBODY, "DELETE FROM tombstone WHERE at_ms < ?",
                           BINDS(NUMBER(before_ms)), err);
}

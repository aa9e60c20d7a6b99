#include "config.h"

#include "src/store.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/failpoint.h"
#include "src/base/mem.h"
#include "src/store_core.h"

#include <stdlib.h>

/* Rows in one statement; small enough for the packets of a MySQL with the smallest limit. */
#define ROWS_AT_ONCE 256

/* No engine takes a longer id, so a document with one cannot be in an index. */
#define DOC_ID_MAX 512

void store_close(struct store *s)
{
    if (s == NULL)
        return;
    s->backend->ops->close(s->backend);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

const char *store_kind(const struct store *s)
{
    return s->backend->ops->kind;
}

/* Terms and values. */

bool store_take_term(struct store *s, struct str thing, uint64_t *term, struct err *err)
{
    static const char raise[] = "INSERT INTO term (thing, term) VALUES (?, 1)"
                                " ON CONFLICT (thing) DO UPDATE SET term = term + 1";

    if (!store_begin(s, err))
        return false;
    bool ok = store_run(s, raise, BINDS(TEXT(thing)), err) &&
              store_select_number(s, "SELECT term FROM term WHERE thing = ?",
                                  BINDS(TEXT(thing)), term, NULL, err);

    return store_end(s, ok, err);
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

static const char put_value[] = "INSERT INTO setting (name, content) VALUES (?, ?)"
                                " ON CONFLICT (name) DO UPDATE SET content = excluded.content";

bool store_put_value(struct store *s, struct str name, struct str value, struct err *err)
{
    return store_run_alone(s, put_value, BINDS(TEXT(name), TEXT(value)), err);
}

/* Definitions. */

#define REVISION STR("definitions/revision")

static void fill_definition(struct arena *a, const struct str *cells, void *element)
{
    struct stored_definition *d = element;

    d->kind = arena_copy(a, cells[0]);
    d->name = arena_copy(a, cells[1]);
    d->body = arena_copy(a, cells[2]);
}

static bool select_revision(struct store *s, uint64_t *revision, struct err *err)
{
    return store_select_number(s, "SELECT content FROM setting WHERE name = ?{lock}",
                               BINDS(TEXT(REVISION)), revision, NULL, err);
}

bool store_load_definitions(struct store *s, struct arena *a, struct stored_definition **out,
                            size_t *n, uint64_t *revision, struct err *err)
{
    struct row_list list = ROW_LIST(a, struct stored_definition, fill_definition);

    if (!store_begin(s, err))
        return false;
    bool ok = select_revision(s, revision, err) &&
              store_select(s, "SELECT kind, name, body FROM definition ORDER BY kind, name",
                           NO_BINDS, &list.sink, err);

    *out = row_list_finish(&list, n);
    return store_end(s, ok, err);
}

static bool replace_definitions(struct store *s, const struct stored_definition *defs, size_t n,
                                struct err *err)
{
    static const char insert[] = "INSERT INTO definition (kind, name, body) VALUES (?, ?, ?)";

    if (!store_run(s, "DELETE FROM definition", NO_BINDS, err))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!store_run(s, insert,
                       BINDS(TEXT(defs[i].kind), TEXT(defs[i].name), TEXT(defs[i].body)), err))
            return err_wrap(err, "%" STR_FMT " %" STR_FMT, STR_ARG(defs[i].kind),
                            STR_ARG(defs[i].name));
    return true;
}

static bool raise_revision(struct store *s, uint64_t revision, struct err *err)
{
    struct buf text = {0};

    buf_printf(&text, "%llu", (unsigned long long)revision + 1);
    bool ok = store_run(s, put_value, BINDS(TEXT(REVISION), TEXT(buf_str(&text))), err);

    buf_free(&text);
    return ok;
}

bool store_save_definitions(struct store *s, uint64_t revision,
                            const struct stored_definition *defs, size_t n, struct err *err)
{
    uint64_t now;

    if (!store_begin(s, err))
        return false;
    bool ok = select_revision(s, &now, err);

    if (ok && now != revision)
        ok = err_set(err, ERR_RETRY, "the definitions were changed by somebody else meanwhile");
    ok = ok && replace_definitions(s, defs, n, err) && raise_revision(s, revision, err);
    return store_end(s, ok, err);
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
}

bool store_load_checkpoint(struct store *s, struct arena *a, struct str topic,
                           struct stored_checkpoint *out, bool *found, struct err *err)
{
    static const char sql[] = "SELECT topic, log_file, log_offset, gtid, epoch, fingerprint,"
                              " event_ms, state, reason FROM checkpoint WHERE topic = ?";
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

static bool put_checkpoint(struct store *s, const struct stored_checkpoint *cp, struct err *err)
{
    static const char sql[] =
        "INSERT INTO checkpoint (topic, log_file, log_offset, gtid, epoch, fingerprint, "
        "event_ms,"
        " state, reason) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (topic) DO UPDATE SET log_file = excluded.log_file,"
        " log_offset = excluded.log_offset, gtid = excluded.gtid, epoch = excluded.epoch,"
        " fingerprint = excluded.fingerprint, event_ms = excluded.event_ms,"
        " state = excluded.state, reason = excluded.reason";

    return store_run(s, sql,
                     BINDS(TEXT(cp->topic), TEXT(cp->file), NUMBER(cp->offset), TEXT(cp->gtid),
                           NUMBER(cp->epoch), TEXT(cp->fingerprint), NUMBER(cp->event_ms),
                           TEXT(cp->state), TEXT(cp->reason)),
                     err);
}

/* The one of the highest version stays; `version` is compared, so it changes last. */
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
    struct buf thing = {0};

    buf_append(&thing, STR("topic/"));
    buf_append(&thing, cp->topic);
    bool ok = store_begin(s, err);

    if (ok) {
        ok = store_check_term(s, buf_str(&thing), term, err);
        FAILPOINT(position_fenced);
        ok = ok && insert_tombstones(s, tombstones, n, err);
        FAILPOINT(position_buried);
        ok = ok && put_checkpoint(s, cp, err);
        ok = store_end(s, ok, err);
    }
    buf_free(&thing);
    return ok;
}

bool store_delete_checkpoint(struct store *s, struct str topic, struct err *err)
{
    return store_run_alone(s, "DELETE FROM checkpoint WHERE topic = ?", BINDS(TEXT(topic)),
                           err);
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

/* The last id may have more routings than fitted. */
static bool complete_last(struct store *s, struct row_list *list, struct err *err)
{
    static const char sql[] = SELECT_TOMBSTONE
        " WHERE index_name = ? AND doc_id = ? AND routing > ? ORDER BY routing";
    const struct stored_tombstone *last =
        (const struct stored_tombstone *)(void *)list->elements + (list->n - 1);

    return store_select(s, sql, BINDS(TEXT(last->index), TEXT(last->id), TEXT(last->routing)),
                        &list->sink, err);
}

bool store_load_tombstones(struct store *s, struct arena *a, struct str index,
                           struct str after_id, size_t limit, struct stored_tombstone **out,
                           size_t *n, struct err *err)
{
    static const char sql[] = SELECT_TOMBSTONE
        " WHERE index_name = ? AND doc_id > ? ORDER BY doc_id, routing LIMIT ?";
    struct row_list list = ROW_LIST(a, struct stored_tombstone, fill_tombstone);

    if (!store_begin(s, err))
        return false;
    bool ok = store_select(s, sql, BINDS(TEXT(index), TEXT(after_id), NUMBER(limit)),
                           &list.sink, err);

    if (ok && list.n > 0 && list.n == limit)
        ok = complete_last(s, &list, err);
    *out = row_list_finish(&list, n);
    return store_end(s, ok, err);
}

bool store_drop_tombstones(struct store *s, int64_t before_ms, struct err *err)
{
    return store_run_alone(s, "DELETE FROM tombstone WHERE at_ms < ?", BINDS(NUMBER(before_ms)),
                           err);
}

#include "config.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/failpoint.h"
#include "src/store/core.h"
#include "src/store/store.h"

#include <xxhash.h>

/* Dead letters and the sync log. */

/* The longest id and routing stored uncut; no engine accepts longer ones. */
#define DOC_ID_MAX 512
/* The sync log keeps this many entries. */
#define LOG_MAX 100000

/*
 * A document whose id is too long for every engine becomes a dead letter for that reason.  Cut
 * such an id, and add a hash to keep it apart from others.  b holds the text.
 */
static struct str shorten(struct str id, struct buf *b)
{
    if (id.len <= DOC_ID_MAX)
        return id;
    buf_append(b, (struct str){id.ptr, DOC_ID_MAX - 20});
    buf_printf(b, "...%016llx", (unsigned long long)XXH64(id.ptr, id.len, 0));
    return buf_str(b);
}

static const char put_letter[] =
    "INSERT INTO dead_letter (topic, table_name, index_name, doc_id, routing, key_text, op,"
    " reason, body, version, status, attempts, first_ms, last_ms, gtid)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    " ON CONFLICT (index_name, doc_id, routing) DO UPDATE SET topic = excluded.topic,"
    " table_name = excluded.table_name, key_text = excluded.key_text, op = excluded.op,"
    " reason = excluded.reason, body = excluded.body, version = excluded.version,"
    " status = excluded.status, attempts = attempts + excluded.attempts,"
    " last_ms = excluded.last_ms, gtid = excluded.gtid";

/* Inside a transaction. */
static bool put_one(struct store *s, const struct stored_dead_letter *d, struct err *err)
{
    struct buf id = {0}, routing = {0}, reason = {0};
    struct str body = d->body;

    buf_append(&reason, d->reason);
    if (body.len > store_text_max(s)) {
        buf_printf(&reason, " (the document of %zu bytes is too large for the store)",
                   body.len);
        body = STR("");
    }
    bool ok = store_run(
        s, put_letter,
        BINDS(TEXT(d->topic), TEXT(d->table), TEXT(d->index), TEXT(shorten(d->doc_id, &id)),
              TEXT(shorten(d->routing, &routing)), TEXT(d->key), TEXT(d->op),
              TEXT(buf_str(&reason)), TEXT(body), NUMBER(d->version), NUMBER(d->status),
              NUMBER(d->attempts), NUMBER(d->first_ms), NUMBER(d->last_ms), TEXT(d->gtid)),
        err);

    buf_free(&id);
    buf_free(&routing);
    buf_free(&reason);
    return ok;
}

bool store_put_dead_letters(struct store *s, const struct stored_dead_letter *d, size_t n,
                            struct err *err)
{
    bool ok = true;

    if (!store_begin_write(s, OF_NOBODY, err))
        return false;
    for (size_t i = 0; ok && i < n; i++)
        ok = store_fence_filler(s, d[i].topic, d[i].index, err) && put_one(s, &d[i], err);
    return store_end(s, ok, err);
}

static void fill_letter(struct arena *a, const struct str *cells, void *element)
{
    struct stored_dead_letter *d = element;

    d->id = row_number(cells[0]);
    d->topic = arena_copy(a, cells[1]);
    d->table = arena_copy(a, cells[2]);
    d->index = arena_copy(a, cells[3]);
    d->doc_id = arena_copy(a, cells[4]);
    d->routing = arena_copy(a, cells[5]);
    d->key = arena_copy(a, cells[6]);
    d->op = arena_copy(a, cells[7]);
    d->reason = arena_copy(a, cells[8]);
    d->body = arena_copy(a, cells[9]);
    d->version = row_number(cells[10]);
    d->status = (int)row_number(cells[11]);
    d->attempts = (uint32_t)row_number(cells[12]);
    d->first_ms = (int64_t)row_number(cells[13]);
    d->last_ms = (int64_t)row_number(cells[14]);
    d->gtid = arena_copy(a, cells[15]);
}

/* One SQL text serves every filter: an unset condition matches everything. */
#define MATCHING                                                     \
    " WHERE (? = 0 OR id = ?) AND id > ? AND (? = 0 OR id <= ?)"     \
    " AND (? = '' OR topic = ?)"                                     \
    " AND (? = '' OR table_name = ?) AND (? = '' OR index_name = ?)" \
    " AND (? = '' OR instr(reason, ?) > 0) AND (? = '' OR doc_id = ?)"

#define FILTER(f)                                                                     \
    NUMBER((f)->id), NUMBER((f)->id), NUMBER((f)->after_id), NUMBER((f)->until_id),   \
        NUMBER((f)->until_id), TEXT((f)->topic), TEXT((f)->topic), TEXT((f)->table),  \
        TEXT((f)->table), TEXT((f)->index), TEXT((f)->index), TEXT((f)->reason_like), \
        TEXT((f)->reason_like), TEXT((f)->doc_id), TEXT((f)->doc_id)

bool store_load_dead_letters(struct store *s, struct arena *a,
                             const struct dead_letter_filter *f,
                             struct stored_dead_letter **out, size_t *n, struct err *err)
{
    static const char sql[] =
        "SELECT id, topic, table_name, index_name, doc_id, routing, key_text, op, reason,"
        " CASE WHEN ? = 0 THEN '' ELSE body END, version, status, attempts, first_ms, "
        "last_ms, gtid FROM dead_letter" MATCHING " ORDER BY id LIMIT ?";
    struct row_list list = ROW_LIST(a, struct stored_dead_letter, fill_letter);

    if (!store_load(s, sql,
                    BINDS(NUMBER(f->bodies), FILTER(f), NUMBER(f->limit != 0 ? f->limit : 100)),
                    &list, err))
        return false;
    *out = row_list_finish(&list, n);
    return true;
}

/* A filter that names none of them is a person's, for all topics. */
static struct fence fence_of(const struct dead_letter_filter *f)
{
    return f->index.len > 0   ? OF_VERSION(f->index)
           : f->table.len > 0 ? OF_TABLE(f->table)
           : f->topic.len > 0 ? OF_TOPIC(f->topic)
                              : OF_NOBODY;
}

bool store_delete_dead_letters(struct store *s, const struct dead_letter_filter *f, uint64_t *n,
                               struct err *err)
{
    if (!store_begin_write(s, fence_of(f), err))
        return false;
    bool ok = store_select_number(s, "SELECT COUNT(*) FROM dead_letter" MATCHING,
                                  BINDS(FILTER(f)), n, NULL, err) &&
              store_run(s, "DELETE FROM dead_letter" MATCHING, BINDS(FILTER(f)), err);

    FAILPOINT(letters_discarded);
    return store_end(s, ok, err);
}

bool store_delete_dead_letter_of(struct store *s, struct str index, struct str routing,
                                 struct str doc_id, uint64_t version, struct err *err)
{
    static const char sql[] = "DELETE FROM dead_letter WHERE index_name = ? AND doc_id = ?"
                              " AND routing = ? AND version <= ?";
    struct buf id = {0}, route = {0};
    bool ok = store_run_alone(s, OF_VERSION(index), sql,
                              BINDS(TEXT(index), TEXT(shorten(doc_id, &id)),
                                    TEXT(shorten(routing, &route)), NUMBER(version)),
                              err);

    buf_free(&id);
    buf_free(&route);
    return ok;
}

static void fill_count(struct arena *a, const struct str *cells, void *element)
{
    struct dead_letter_count *c = element;

    c->table = arena_copy(a, cells[0]);
    c->count = row_number(cells[1]);
}

bool store_n_dead_letters(struct store *s, struct str index, uint64_t *n, struct err *err)
{
    if (!store_begin(s, err))
        return false;
    return store_end(s,
                     store_select_number(
                         s, "SELECT COUNT(*) FROM dead_letter WHERE ? = '' OR index_name = ?",
                         BINDS(TEXT(index), TEXT(index)), n, NULL, err),
                     err);
}

bool store_dead_letter_level(struct store *s, uint64_t *n, int64_t *oldest_ms, struct err *err)
{
    uint64_t oldest = 0;

    if (!store_begin(s, err))
        return false;

    const bool ok =
        store_select_number(s, "SELECT COUNT(*) FROM dead_letter", NO_BINDS, n, NULL, err) &&
        store_select_number(s, "SELECT COALESCE(MIN(first_ms), 0) FROM dead_letter", NO_BINDS,
                            &oldest, NULL, err);

    *oldest_ms = (int64_t)oldest;
    return store_end(s, ok, err);
}

bool store_count_dead_letters(struct store *s, struct arena *a, struct dead_letter_count **out,
                              size_t *n, struct err *err)
{
    static const char sql[] =
        "SELECT table_name, COUNT(*) FROM dead_letter GROUP BY table_name ORDER BY table_name";
    struct row_list list = ROW_LIST(a, struct dead_letter_count, fill_count);

    if (!store_load(s, sql, NO_BINDS, &list, err))
        return false;
    *out = row_list_finish(&list, n);
    return true;
}

/* The sync log. */

static bool trim_log(struct store *s, struct err *err)
{
    uint64_t newest;

    if (!store_select_number(s, "SELECT MAX(id) FROM sync_log", NO_BINDS, &newest, NULL, err))
        return false;
    return newest <= LOG_MAX || store_run(s, "DELETE FROM sync_log WHERE id <= ?",
                                          BINDS(NUMBER(newest - LOG_MAX)), err);
}

bool store_add_log(struct store *s, const struct stored_log *l, struct err *err)
{
    static const char sql[] =
        "INSERT INTO sync_log (at_ms, table_name, index_name, event, detail, version)"
        " VALUES (?, ?, ?, ?, ?, ?)";

    if (!store_begin_write(s, OF_NOBODY, err))
        return false;
    bool ok = store_run(s, sql,
                        BINDS(NUMBER(l->at_ms), TEXT(l->table), TEXT(l->index), TEXT(l->event),
                              TEXT(l->detail), NUMBER(l->version)),
                        err) &&
              trim_log(s, err);

    return store_end(s, ok, err);
}

static void fill_log(struct arena *a, const struct str *cells, void *element)
{
    struct stored_log *l = element;

    l->id = row_number(cells[0]);
    l->at_ms = (int64_t)row_number(cells[1]);
    l->table = arena_copy(a, cells[2]);
    l->index = arena_copy(a, cells[3]);
    l->event = arena_copy(a, cells[4]);
    l->detail = arena_copy(a, cells[5]);
    l->version = row_number(cells[6]);
}

#define SELECT_LOG \
    "SELECT id, at_ms, table_name, index_name, event, detail, version FROM sync_log"

bool store_load_log(struct store *s, struct arena *a, const struct stored_log_filter *f,
                    struct stored_log **out, size_t *n, struct err *err)
{
    static const char sql[] =
        SELECT_LOG " WHERE (? = 0 OR id < ?) AND (? = '' OR table_name = ?)"
                   " ORDER BY id DESC LIMIT ?";
    struct row_list list = ROW_LIST(a, struct stored_log, fill_log);

    if (!store_load(s, sql,
                    BINDS(NUMBER(f->before_id), NUMBER(f->before_id), TEXT(f->table),
                          TEXT(f->table), NUMBER(f->limit)),
                    &list, err))
        return false;
    *out = row_list_finish(&list, n);
    return true;
}

bool store_load_log_entry(struct store *s, struct arena *a, uint64_t id,
                          struct stored_log **out, size_t *n, struct err *err)
{
    struct row_list list = ROW_LIST(a, struct stored_log, fill_log);

    if (!store_load(s, SELECT_LOG " WHERE id = ?", BINDS(NUMBER(id)), &list, err))
        return false;
    *out = row_list_finish(&list, n);
    return true;
}

#include "config.h"

#include "src/store/later/gone.h"

#include "src/base/arena.h"
#include "src/base/mem.h"
#include "src/store/core.h"
#include "src/store/store.h"

#include <stdlib.h>

#define COLUMNS      7
#define ROWS_AT_ONCE 100

static void bind_row(struct str topic, const struct stored_gone *g, struct bind *b)
{
    const struct bind row[COLUMNS] = {
        TEXT(topic),     TEXT(g->index),   NUMBER(g->version), TEXT(g->member),
        TEXT(g->doc_id), TEXT(g->routing), TEXT(g->key),
    };

    for (size_t i = 0; i < COLUMNS; i++)
        b[i] = row[i];
}

/* Cache of the last version looked up: documents of one version come one after another. */
struct looked_at {
    struct str index;
    uint64_t version;
    bool is_live;
};

static bool is_live(struct store *s, const struct stored_gone *g, struct looked_at *last,
                    bool *live, struct err *err)
{
    if ((last->version != g->version || !str_equal(last->index, g->index)) &&
        !store_version_is_live(s, g->index, g->version, &last->is_live, err))
        return false;
    last->index = g->index;
    last->version = g->version;
    *live = last->is_live;
    return true;
}

/*
 * Nobody would ever end the documents of a version that is no longer written to, so leave them
 * out.
 */
bool store_put_gone(struct store *s, const struct gone_owner *owner,
                    const struct stored_gone *docs, size_t n, struct err *err)
{
    static const char put[] =
        "INSERT INTO gone (topic, index_name, version, member, doc_id, routing, key_bytes)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (index_name, version, doc_id, routing) DO UPDATE SET topic ="
        " excluded.topic, member = excluded.member, key_bytes = excluded.key_bytes";
    struct looked_at last = {0};
    struct bind *binds;
    bool ok = true, live;

    if (!store_begin_as(s, owner->topic, owner->term, err))
        return false;
    binds = mem_alloc(ROWS_AT_ONCE * COLUMNS, sizeof(*binds));
    for (size_t i = 0; ok && i < n;) {
        size_t rows = 0;

        for (; ok && i < n && rows < ROWS_AT_ONCE; i++) {
            ok = is_live(s, &docs[i], &last, &live, err);
            if (ok && live)
                bind_row(owner->topic, &docs[i], binds + rows++ * COLUMNS);
        }
        ok = ok && (rows == 0 ||
                    store_run_rows(s, put, (struct binds){binds, rows * COLUMNS}, rows, err));
    }
    free(binds);
    return store_end(s, ok, err);
}

static void fill(struct arena *a, const struct str *cells, void *element)
{
    *(struct stored_gone *)element = (struct stored_gone){
        .id = row_number(cells[0]),
        .index = arena_copy(a, cells[1]),
        .version = row_number(cells[2]),
        .member = arena_copy(a, cells[3]),
        .doc_id = arena_copy(a, cells[4]),
        .routing = arena_copy(a, cells[5]),
        .key = arena_copy(a, cells[6]),
    };
}

bool store_load_gone(struct store *s, struct arena *a, struct str topic, uint64_t after_id,
                     size_t limit, struct stored_gone **out, size_t *n, struct err *err)
{
    static const char sql[] =
        "SELECT id, index_name, version, member, doc_id, routing, key_bytes FROM gone"
        " WHERE topic = ? AND id > ? ORDER BY id LIMIT ?";
    struct row_list list = ROW_LIST(a, struct stored_gone, fill);

    if (!store_load(s, sql, BINDS(TEXT(topic), NUMBER(after_id), NUMBER(limit)), &list, err))
        return false;
    *out = row_list_finish(&list, n);
    return true;
}

bool store_end_gone(struct store *s, const struct gone_owner *owner,
                    const struct stored_gone *docs, size_t n, struct err *err)
{
    static const char sql[] = "DELETE FROM gone WHERE index_name = ? AND version = ?"
                              " AND doc_id = ? AND routing = ?";
    bool ok = true;

    if (!store_begin_as(s, owner->topic, owner->term, err))
        return false;
    for (size_t i = 0; ok && i < n; i++)
        ok = store_run(s, sql,
                       BINDS(TEXT(docs[i].index), NUMBER(docs[i].version), TEXT(docs[i].doc_id),
                             TEXT(docs[i].routing)),
                       err);
    return store_end(s, ok, err);
}

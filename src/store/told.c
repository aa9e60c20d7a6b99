#include "config.h"

#include "src/store/told.h"

#include "src/base/arena.h"
#include "src/store/core.h"

/* Inside a transaction: MySQL tells its limit with the connection. */
static bool fits(struct store *s, struct str body, struct err *err)
{
    const size_t text_max = store_text_max(s);
    const size_t len_max = text_max < TOLD_BODY_MAX ? text_max : TOLD_BODY_MAX;

    return body.len <= len_max ||
           err_set(err, ERR_REJECT,
                   "what is told has %zu bytes, and the store keeps at most %zu", body.len,
                   len_max);
}

/* ---- of topics ---- */

static bool put_told(struct store *s, const struct stored_told *t, struct err *err)
{
    static const char sql[] =
        "INSERT INTO told_topic (topic, node, node_name, term, at_ms, body)"
        " VALUES (?, ?, ?, ?, {now_ms} - ?, ?)"
        " ON CONFLICT (topic) DO UPDATE SET node = excluded.node,"
        " node_name = excluded.node_name, term = excluded.term, at_ms = excluded.at_ms,"
        " body = excluded.body";

    return fits(s, t->body, err) &&
           store_run(s, sql,
                     BINDS(TEXT(t->topic), TEXT(t->node), TEXT(t->node_name), NUMBER(t->term),
                           NUMBER(store_age(t->at_ms)), TEXT(t->body)),
                     err);
}

bool store_put_told(struct store *s, const struct stored_told *t, struct err *err)
{
    return store_begin_as(s, t->topic, t->term, err) && store_end(s, put_told(s, t, err), err);
}

static void fill_told(struct arena *a, const struct str *cells, void *element)
{
    *(struct stored_told *)element = (struct stored_told){
        .topic = arena_copy(a, cells[0]),
        .node = arena_copy(a, cells[1]),
        .node_name = arena_copy(a, cells[2]),
        .term = row_number(cells[3]),
        .at_ms = store_time(cells[4]),
        .body = arena_copy(a, cells[5]),
    };
}

bool store_load_told(struct store *s, struct arena *a, struct str topic,
                     struct stored_told **out, size_t *n, struct err *err)
{
    static const char sql[] =
        "SELECT topic, node, node_name, term, {now_ms} - at_ms, body FROM told_topic"
        " WHERE ? = '' OR topic = ? ORDER BY topic";
    struct row_list list = ROW_LIST(a, struct stored_told, fill_told);

    if (!store_load(s, sql, BINDS(TEXT(topic), TEXT(topic)), &list, err))
        return false;
    *out = row_list_finish(&list, n);
    return true;
}

bool store_delete_told(struct store *s, struct str topic, struct err *err)
{
    return store_run_alone(s, OF_NOBODY, "DELETE FROM told_topic WHERE topic = ?",
                           BINDS(TEXT(topic)), err);
}

/* ---- of nodes ---- */

static bool put_told_node(struct store *s, const struct stored_told_node *t, struct err *err)
{
    static const char sql[] =
        "INSERT INTO told_node (node, node_name, program, at_ms, body)"
        " VALUES (?, ?, ?, {now_ms} - ?, ?)"
        " ON CONFLICT (node) DO UPDATE SET node_name = excluded.node_name,"
        " program = excluded.program, at_ms = excluded.at_ms, body = excluded.body";

    return fits(s, t->body, err) &&
           store_run(s, sql,
                     BINDS(TEXT(t->node), TEXT(t->node_name), TEXT(t->program),
                           NUMBER(store_age(t->at_ms)), TEXT(t->body)),
                     err);
}

bool store_put_told_node(struct store *s, const struct stored_told_node *t, struct err *err)
{
    return store_begin_write(s, OF_NOBODY, err) && store_end(s, put_told_node(s, t, err), err);
}

static void fill_told_node(struct arena *a, const struct str *cells, void *element)
{
    *(struct stored_told_node *)element = (struct stored_told_node){
        .node = arena_copy(a, cells[0]),
        .node_name = arena_copy(a, cells[1]),
        .program = arena_copy(a, cells[2]),
        .at_ms = store_time(cells[3]),
        .body = arena_copy(a, cells[4]),
    };
}

bool store_load_told_nodes(struct store *s, struct arena *a, struct stored_told_node **out,
                           size_t *n, struct err *err)
{
    static const char sql[] =
        "SELECT node, node_name, program, {now_ms} - at_ms, body FROM told_node ORDER BY node";
    struct row_list list = ROW_LIST(a, struct stored_told_node, fill_told_node);

    if (!store_load(s, sql, NO_BINDS, &list, err))
        return false;
    *out = row_list_finish(&list, n);
    return true;
}

bool store_delete_told_node(struct store *s, struct str node, struct err *err)
{
    return store_run_alone(s, OF_NOBODY, "DELETE FROM told_node WHERE node = ?",
                           BINDS(TEXT(node)), err);
}

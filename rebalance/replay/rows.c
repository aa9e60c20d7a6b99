#include "config.h"

#include "rebalance/replay/rows.h"

#include "rebalance/replay/parts.h"

#include "src/base/mem.h"
#include "sync/decode/row.h"
#include "sync/decode/row_fill.h"
#include "sync/decode/transaction.h"
#include "sync/document/resolver.h"
#include "sync/routing/routing.h"
#include "sync/value/schema.h"

#include <stdlib.h>
#include <strings.h>

/* A place where documents of the index show a table of the topic. */
struct watched_place {
    struct target *target;
    size_t number;
    struct str database, table;
    struct schema *schema; /* the plan's; borrowed */
    bool is_told;          /* that its rows cannot be read */
};

struct replay_rows {
    struct replay *replay;
    const struct routing *routing;
    struct watched_place *places;
    size_t n_places;
    struct row_reader *reader;
    struct row_fill fill;
    struct buf id, key, routing_of;
};

/* ---- which tables ---- */

static void add_places(struct replay_rows *rows, struct target *t, struct str topic)
{
    const struct plan *plan = replay_plan(t);

    for (size_t i = 0; i < plan_n_places(plan); i++) {
        struct watched_place p = {.target = t, .number = i};
        bool refresh;

        plan_place(plan, i, &p.database, &p.table, &refresh);
        if (!refresh || !str_equal(plan_topic(plan, plan_place_topic(plan, i)), topic))
            continue;
        p.schema = plan_place_schema(plan, i);
        rows->places = mem_resize(rows->places, rows->n_places + 1, sizeof(*rows->places));
        rows->places[rows->n_places++] = p;
    }
}

struct replay_rows *replay_rows_new(struct replay *r, struct str topic,
                                    const struct routing *routing)
{
    struct replay_rows *rows = mem_alloc(1, sizeof(*rows));

    rows->replay = r;
    rows->routing = routing;
    rows->reader = row_reader_new();
    for (size_t i = 0; i < r->run.n_targets; i++)
        add_places(rows, r->run.targets[i], topic);
    return rows;
}

void replay_rows_free(struct replay_rows *rows)
{
    row_reader_free(rows->reader);
    row_fill_fini(&rows->fill);
    buf_free(&rows->id);
    buf_free(&rows->key);
    buf_free(&rows->routing_of);
    free(rows->places);
    free(rows);
}

static bool is_name(struct str a, struct str b, bool any_case)
{
    return any_case ? str_equal_any_case(a, b) : str_equal(a, b);
}

static bool is_of(const struct watched_place *p, struct str database, struct str table)
{
    return is_name(database, p->database, p->schema->any_case) &&
           is_name(table, p->table, p->schema->any_case);
}

bool replay_rows_want(void *ctx, struct str database, struct str table, struct schema **schema)
{
    const struct replay_rows *rows = ctx;

    for (size_t i = 0; i < rows->n_places; i++)
        if (is_of(&rows->places[i], database, table)) {
            *schema = schema_ref(rows->places[i].schema);
            return true;
        }
    return false;
}

/* ---- what cannot be read ---- */

static void tell(struct replay_rows *rows, struct watched_place *p, const char *why)
{
    if (!p->is_told)
        replay_note(rows->replay,
                    "changes of %" STR_FMT ".%" STR_FMT " were left out, as %s; fix: millrace "
                    "verify %s --repair",
                    STR_ARG(p->database), STR_ARG(p->table), why, p->target->table);
    p->is_told = true;
}

/* Without names in the log, the rows' columns are those that the table had there. */
static bool is_shape_known(const struct replay_rows *rows, const struct table_map *map,
                           uint64_t version)
{
    const struct watched *w =
        rows->routing == NULL ? NULL : routing_find(rows->routing, map->database, map->table);

    return map->full_metadata || (w != NULL && w->shape != NULL && version >= w->shape->from);
}

void replay_rows_statement(struct replay_rows *rows, const struct step *step)
{
    const struct ddl *ddl = &step->ddl;
    const bool changes = ddl->kind == DDL_DML || ddl->kind == DDL_TRUNCATE_TABLE ||
                         ddl->kind == DDL_DROP_TABLE || ddl->changes_rows ||
                         ddl->changes_values;

    for (size_t k = 0; changes && !ddl->temporary && k < ddl->n_tables; k++)
        for (size_t i = 0; i < rows->n_places; i++)
            if (is_of(&rows->places[i], ddl->tables[k].database, ddl->tables[k].table))
                tell(rows, &rows->places[i],
                     "a statement changed rows that the log does not "
                     "list");
}

/* ---- a row ---- */

static bool add_document(struct replay_rows *rows, const struct watched_place *p,
                         struct str routing, struct err *err)
{
    const struct replay_document d = {.member = str_from(p->target->table),
                                      .doc_id = buf_str(&rows->id),
                                      .routing = routing,
                                      .key = buf_str(&rows->key)};

    return replay_keys_add(rows->replay->keys, &d, err);
}

/* Below the second level of a join only a read tells where a document is, and where it was
 * nobody tells: it is asked for in every shard. */
static bool add_everywhere(struct replay_rows *rows, const struct watched_place *p,
                           struct err *err)
{
    const struct target *t = p->target;
    bool ok = true;

    for (size_t i = 0; ok && i < t->n_shards; i++)
        ok = add_document(rows, p, t->shards[i], err);
    return ok && add_document(rows, p,
                              rows->routing_of.len > 0 ? buf_str(&rows->routing_of)
                                                       : buf_str(&rows->id),
                              err);
}

static bool take_root(struct replay_rows *rows, struct watched_place *p,
                      const struct binding *b, const struct value *row, struct err *err)
{
    const struct plan *plan = replay_plan(p->target);
    struct err unfit = {0};

    if (row == NULL)
        return true;
    if (plan_find_absent(plan, 0, b, row, PLAN_KEY) != NULL) {
        tell(rows, p, "binlog_row_image leaves its key out");
        return true;
    }
    buf_clear(&rows->id);
    buf_clear(&rows->key);
    buf_clear(&rows->routing_of);
    /* A row without an `_id` has no document, but may have a dead letter, which stays. */
    if (!plan_is_rooted(plan, b, row) ||
        !plan_root_id(plan, b, row, &rows->id, &rows->key, &rows->routing_of, &unfit))
        return true;
    return plan_is_routed_by_path(plan)
               ? add_everywhere(rows, p, err)
               : add_document(rows, p, buf_str(&rows->routing_of), err);
}

static bool add_row(struct replay_rows *rows, const struct watched_place *p, unsigned by,
                    struct err *err)
{
    const struct replay_row row = {.member = str_from(p->target->table),
                                   .place = (uint32_t)p->number,
                                   .by = by,
                                   .key = buf_str(&rows->key)};

    return replay_keys_add_row(rows->replay->keys, &row, err);
}

static bool take_related(struct replay_rows *rows, struct watched_place *p,
                         const struct binding *b, const struct value *row, struct err *err)
{
    const struct plan *plan = replay_plan(p->target);

    if (row == NULL)
        return true;
    buf_clear(&rows->key);
    if (plan_find_absent(plan, p->number, b, row, PLAN_KEY) == NULL)
        return !resolver_join_key(plan, p->number, b, row, &rows->key) ||
               add_row(rows, p, RESOLVER_BY_JOIN, err);
    if (resolver_row_key(plan, p->number, b, row, &rows->key))
        return add_row(rows, p, RESOLVER_BY_ROW, err);
    tell(rows, p, "binlog_row_image leaves out what joins them");
    return true;
}

static bool take_change(struct replay_rows *rows, struct watched_place *p,
                        const struct binding *b, const struct row_change *c, struct err *err)
{
    if (p->number == 0)
        return take_root(rows, p, b, c->before, err) && take_root(rows, p, b, c->after, err);
    if (c->before != NULL && c->after != NULL && !c->unsolved &&
        !plan_update_matters(replay_plan(p->target), p->number, b, c->before, c->after))
        return true;
    return take_related(rows, p, b, c->before, err) && take_related(rows, p, b, c->after, err);
}

/* ---- an event ---- */

static bool read_rows(struct replay_rows *rows, struct watched_place *p,
                      const struct binding *b, const struct step *step, struct err *err)
{
    struct str *generated = mem_alloc(step->map->n_columns + 1, sizeof(*generated));
    struct row_change change;
    struct err why = {0};
    bool ok = true;
    int got = -1;

    binding_mark_generated(b, generated);
    if (row_reader_open(rows->reader, &step->rows, step->map, &why))
        while (ok && (got = row_reader_next(rows->reader, NULL, &change, &why)) == 1) {
            row_fill(&rows->fill, &change, step->map->schema, generated);
            ok = take_change(rows, p, b, &change, err);
        }
    if (ok && got < 0)
        tell(rows, p, why.msg);
    free(generated);
    return ok;
}

static bool take_place(struct replay_rows *rows, struct watched_place *p,
                       const struct step *step, uint64_t version, struct err *err)
{
    struct err why = step->map->broken;
    struct binding *b = NULL;
    bool ok = true;

    if (!is_shape_known(rows, step->map, version))
        tell(rows, p,
             "its columns were others then, or unknown (binlog_row_metadata=FULL "
             "would name them)");
    else if (why.kind == ERR_NONE)
        b = plan_bind(replay_plan(p->target), p->number, step->map->schema, &why);
    if (b != NULL)
        ok = read_rows(rows, p, b, step, err);
    else if (why.kind != ERR_NONE)
        tell(rows, p, why.msg);
    binding_free(b);
    return ok;
}

bool replay_rows_take(struct replay_rows *rows, const struct step *step, uint64_t version,
                      struct err *err)
{
    for (size_t i = 0; i < rows->n_places; i++)
        if (is_of(&rows->places[i], step->map->database, step->map->table) &&
            !take_place(rows, &rows->places[i], step, version, err))
            return false;
    return true;
}

#include "config.h"

#include "sync/routing/cascade_review.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/mem.h"
#include "src/format/json.h"
#include "src/mysql/mysql.h"
#include "sync/definition/definition.h"
#include "sync/document/lookup.h"
#include "sync/document/plan.h"
#include "sync/mapping/mapping.h"
#include "sync/routing/cascade_plan.h"
#include "sync/server/schemas.h"

#include <stdlib.h>
#include <string.h>

#define LOGGED_FROM 90600 /* MySQL 9.6.0 */

static const char loose_texts[] =
    "Millrace does not find rows whose keys differ in accents or trailing spaces though the "
    "server treats them as equal; fix: write these keys in one way everywhere, or give the "
    "columns a binary collation";

struct reviewed {
    const struct table_definition *table;
    struct plan *plan;
    struct str mapping;
};

struct reviewer {
    const struct cascade_review *r;
    struct arena *arena;
    struct reviewed *tables;
    size_t n_tables;
    struct cascade_note *notes;
    size_t n_notes, cap;
};

static struct str map(struct reviewer *v, const struct table_definition *t)
{
    const struct mapping_request request = {.definitions = v->r->definitions,
                                            .table = t,
                                            .find = schemas_find,
                                            .ctx = v->r->schemas,
                                            .engine = v->r->engine};
    struct buf json = {0};
    struct err ignored = {0};
    struct str copy = STR("{}");

    if (mapping_body(&request, &json, &ignored))
        copy = arena_copy(v->arena, buf_str(&json));
    buf_free(&json);
    return copy;
}

static void take_tables(struct reviewer *v)
{
    const struct definitions *d = v->r->definitions;

    v->tables = arena_alloc(v->arena, d->n_tables + 1, sizeof(*v->tables));
    for (size_t i = 0; i < d->n_tables; i++) {
        const struct table_definition *t = &d->tables[i];
        const struct topic_definition *topic = definitions_topic_of(d, t->table);
        struct err ignored = {0};
        struct plan *plan = topic == NULL || !str_equal(topic->name, v->r->topic)
                                ? NULL
                                : plan_compile(d, t, schemas_find, v->r->schemas, &ignored);

        if (plan != NULL)
            v->tables[v->n_tables++] = (struct reviewed){t, plan, map(v, t)};
    }
}

/* Split a reason of the form "...; fix: ...". */
static void split(struct reviewer *v, const char *reason, struct cascade_note *note)
{
    static const char mark[] = "; fix: ";
    const char *fix = strstr(reason, mark);
    const size_t len = fix != NULL ? (size_t)(fix - reason) : strlen(reason);

    note->why = arena_copy(v->arena, (struct str){reason, len});
    if (fix != NULL)
        note->fix = arena_copy(v->arena, str_from(fix + sizeof(mark) - 1));
}

/* Merge two notes on one table and key. "Not followed" outweighs "partly followed". */
static void merge(struct cascade_note *old, const struct cascade_note *note)
{
    const bool on_update = old->on_update && note->on_update;

    if (old->why.len == 0 || (old->partly && !note->partly && note->why.len > 0))
        *old = *note;
    else if (note->why.len > 0 && note->partly == old->partly)
        old->on_update = on_update;
}

static void add_note(struct reviewer *v, size_t target, const struct cascade_key *key,
                     const char *reason, struct cascade_note note)
{
    struct buf child = {0};

    note.table = v->tables[target].table->table;
    note.key = arena_copy(v->arena, key->name);
    buf_printf(&child, "%" STR_FMT ".%" STR_FMT, STR_ARG(key->child->schema),
               STR_ARG(key->child->table));
    note.child = arena_copy(v->arena, buf_str(&child));
    buf_free(&child);
    split(v, reason, &note);
    for (size_t i = 0; i < v->n_notes; i++) {
        struct cascade_note *old = &v->notes[i];

        if (str_equal(old->table, note.table) && str_equal(old->key, note.key) &&
            str_equal(old->child, note.child)) {
            merge(old, &note);
            return;
        }
    }
    if (v->n_notes == v->cap) {
        struct cascade_note *more = arena_alloc(v->arena, v->cap * 2 + 16, sizeof(*more));

        if (v->n_notes > 0)
            memcpy(more, v->notes, v->n_notes * sizeof(*more));
        v->notes = more;
        v->cap = v->cap * 2 + 16;
    }
    v->notes[v->n_notes++] = note;
}

static void review_look(struct reviewer *v, size_t target, const struct cascade_key *key,
                        size_t place, bool on_update)
{
    struct cascade_note note = {.on_update = on_update};
    struct err why = {0};
    struct lookup_term term;
    bool loose = false;

    for (size_t i = 0; i < key->n_columns && why.kind == ERR_NONE; i++) {
        note.column = key->columns[i];
        (void)!lookup_find(v->tables[target].plan, place, key->columns[i],
                           v->tables[target].mapping, v->arena, &term, &why);
        loose = loose || (why.kind == ERR_NONE && term.fold_case);
    }
    if (why.kind != ERR_NONE) {
        note.column = arena_copy(v->arena, note.column);
        add_note(v, target, key, why.msg, note);
        return;
    }
    note.column.len = 0;
    note.partly = loose;
    add_note(v, target, key, loose ? loose_texts : "", note);
}

static void review_effect(struct reviewer *v, const struct cascade_effect *f, bool on_update)
{
    for (size_t s = 0; s < f->n_steps; s++)
        for (size_t l = 0; l < f->steps[s].n_looks; l++)
            review_look(v, f->steps[s].target, &f->keys[f->steps[s].looks[l].key],
                        f->steps[s].looks[l].place, on_update);
    for (size_t i = 0; i < f->n_blind; i++)
        add_note(v, f->blind[i].target, f->blind[i].key, f->blind[i].reason.ptr,
                 (struct cascade_note){.on_update = on_update});
}

static bool review(struct reviewer *v, struct err *err)
{
    struct plan **plans = mem_alloc(v->n_tables + 1, sizeof(struct plan *));

    for (size_t i = 0; i < v->n_tables; i++)
        plans[i] = v->tables[i].plan;

    struct cascade_plan *p =
        cascade_plan_compile(plans, v->n_tables, schemas_foreign_keys, v->r->schemas, err);

    for (size_t i = 0; p != NULL && i < p->n_tables; i++)
        for (int cause = 0; cause < N_CASCADE_CAUSES; cause++)
            review_effect(v, &p->tables[i]->on[cause], cause == CASCADE_UPDATE);
    for (size_t i = 0; i < v->n_tables; i++)
        plan_free(plans[i]);
    free(plans);

    const bool ok = p != NULL;

    cascade_plan_free(p);
    return ok;
}

bool cascade_review(const struct cascade_review *r, struct arena *a, struct cascade_note **out,
                    size_t *n, struct err *err)
{
    struct reviewer v = {.r = r, .arena = a};

    *n = 0;
    *out = NULL;
    if (mysql_conn_flavor(r->conn) == FLAVOR_MYSQL &&
        mysql_conn_version(r->conn) >= LOGGED_FROM)
        return true;
    take_tables(&v);

    const bool ok = review(&v, err);

    *out = v.notes;
    *n = v.n_notes;
    return ok;
}

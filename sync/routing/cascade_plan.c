#include "config.h"

#include "sync/routing/cascade_plan.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/mem.h"
#include "sync/catalog/foreign_keys.h"
#include "sync/document/lookup.h"
#include "sync/document/plan.h"
#include "sync/document/resolver.h"

#include <stdlib.h>
#include <string.h>

#define KEYS_MAX 1000 /* paths from one table; bounds the composed ones */

struct cascade_place {
    size_t target, place;
};

struct compiler {
    struct cascade_plan *plan;
    struct arena *arena;
    struct plan *const *plans;
    cascade_keys_fn find;
    void *ctx;
    struct err *err;
    size_t visit;
};

static void *grow(struct arena *a, void *list, size_t n, size_t size)
{
    if (n > 0 && (n & (n - 1)) != 0)
        return list;

    void *more = arena_alloc(a, n == 0 ? 1 : n * 2, size);

    if (n > 0)
        memcpy(more, list, n * size);
    return more;
}

static size_t find_name(const struct str *names, size_t n, struct str name)
{
    for (size_t i = 0; i < n; i++)
        if (str_equal_any_case(names[i], name))
            return i;
    return n;
}

static size_t count_common(const struct cascade_key *x, const struct cascade_key *e)
{
    size_t n = 0;

    for (size_t i = 0; i < x->n_columns; i++)
        n += find_name(e->columns, e->n_columns, x->parent_columns[i]) < e->n_columns;
    return n;
}

/* ---- tables, from those of the documents upwards ---- */

static struct cascade_table *find_table(const struct cascade_plan *p, struct str schema,
                                        struct str table)
{
    for (size_t i = 0; i < p->n_tables; i++)
        if (str_equal(p->tables[i]->table, table) && str_equal(p->tables[i]->schema, schema))
            return p->tables[i];
    return NULL;
}

static struct cascade_table *add_table(struct compiler *co, struct str schema, struct str table)
{
    struct cascade_plan *p = co->plan;
    struct cascade_table *t = find_table(p, schema, table);

    if (t != NULL)
        return t;
    t = arena_alloc(co->arena, 1, sizeof(*t));
    t->schema = arena_copy(co->arena, schema);
    t->table = arena_copy(co->arena, table);
    p->tables = grow(co->arena, p->tables, p->n_tables, sizeof(*p->tables));
    p->tables[p->n_tables++] = t;
    return t;
}

static void add_places(struct compiler *co, size_t target)
{
    const struct plan *plan = co->plans[target];

    for (size_t place = 0; place < plan_n_places(plan); place++) {
        struct str schema, table;
        bool refresh;

        if (plan_place_topic(plan, place) != 0)
            continue; /* its keys are on another server */
        plan_place(plan, place, &schema, &table, &refresh);

        struct cascade_table *t = add_table(co, schema, table);

        if (place > 0 && (!refresh || plan_place_leads(plan, place)))
            continue;
        t->places = grow(co->arena, t->places, t->n_places, sizeof(*t->places));
        t->places[t->n_places++] = (struct cascade_place){target, place};
    }
}

static bool acts(const struct foreign_key *k)
{
    return foreign_key_acts(k->on_delete) || foreign_key_acts(k->on_update);
}

/* Load the foreign keys of the tables from `first` on, and add their parents. */
static bool load_keys_from(struct compiler *co, size_t first)
{
    struct cascade_plan *p = co->plan;
    const size_t n = p->n_tables - first;
    struct catalog_name *names = arena_alloc(co->arena, n, sizeof(*names));
    struct foreign_keys *found = arena_alloc(co->arena, n, sizeof(*found));

    for (size_t i = 0; i < n; i++)
        names[i] =
            (struct catalog_name){p->tables[first + i]->schema, p->tables[first + i]->table};
    if (!co->find(co->ctx, names, n, co->arena, found, co->err))
        return false;
    for (size_t i = 0; i < n; i++) {
        p->tables[first + i]->own = found[i];
        for (size_t k = 0; k < found[i].n; k++)
            if (acts(&found[i].keys[k]))
                (void)add_table(co, found[i].keys[k].parent_schema,
                                found[i].keys[k].parent_table);
    }
    return true;
}

/* Load the foreign keys of all tables, including those added meanwhile. */
static bool load_keys(struct compiler *co)
{
    size_t first, next = 0;

    do {
        first = next;
        next = co->plan->n_tables;
        if (first < next && !load_keys_from(co, first))
            return false;
    } while (next < co->plan->n_tables);
    return true;
}

/* ---- keys ---- */

static struct str action_of(const struct foreign_key *k, enum cascade_cause cause)
{
    return cause == CASCADE_DELETE ? k->on_delete : k->on_update;
}

static bool has_key(const struct cascade_effect *f, const struct cascade_key *k)
{
    for (size_t i = 0; i < f->n_keys; i++) {
        const struct cascade_key *x = &f->keys[i];
        bool same = x->child == k->child && x->deletes == k->deletes && x->moves == k->moves &&
                    x->n_columns == k->n_columns;

        for (size_t c = 0; same && c < k->n_columns; c++)
            same = str_equal_any_case(x->columns[c], k->columns[c]) &&
                   str_equal_any_case(x->parent_columns[c], k->parent_columns[c]);
        if (same)
            return true;
    }
    return false;
}

static void add_key(struct compiler *co, struct cascade_effect *f, const struct cascade_key *k)
{
    if (has_key(f, k) || f->n_keys == KEYS_MAX)
        return;
    f->keys = grow(co->arena, f->keys, f->n_keys, sizeof(*f->keys));
    f->keys[f->n_keys++] = *k;
}

static void add_own_keys(struct compiler *co, struct cascade_table *child)
{
    for (size_t i = 0; i < child->own.n; i++) {
        const struct foreign_key *k = &child->own.keys[i];
        struct cascade_table *parent = find_table(co->plan, k->parent_schema, k->parent_table);

        for (int cause = 0; cause < N_CASCADE_CAUSES; cause++) {
            const struct str action = action_of(k, (enum cascade_cause)cause);
            const bool deletes = cause == CASCADE_DELETE && str_equal(action, STR("CASCADE"));
            const bool moves = !deletes && str_equal(action, STR("CASCADE"));

            if (!foreign_key_acts(action))
                continue;
            add_key(co, &parent->on[cause],
                    &(struct cascade_key){.child = child,
                                          .name = k->name,
                                          .deletes = deletes,
                                          .moves = moves,
                                          .columns = k->columns,
                                          .parent_columns = k->parent_columns,
                                          .n_columns = k->n_columns,
                                          .last = k});
            child->goes = child->goes || deletes;
        }
    }
}

/* Tell whether what key e does to its children sets off x, a key that refers to them. */
static bool concerns(const struct cascade_key *x, const struct cascade_key *e)
{
    return e->deletes || count_common(x, e) > 0;
}

static const struct cascade_effect *next_effect(const struct cascade_key *e)
{
    return &e->child->on[e->deletes ? CASCADE_DELETE : CASCADE_UPDATE];
}

/* Tell whether some index shows all of the child's rows by the columns that x refers to. */
static bool is_shown(const struct compiler *co, const struct cascade_table *child,
                     const struct cascade_key *x)
{
    for (size_t i = 0; i < child->n_places; i++) {
        const struct cascade_place *at = &child->places[i];
        size_t shown = 0, part;

        if (at->place > 0 || plan_is_filtered(co->plans[at->target]))
            continue;
        for (size_t c = 0; c < x->n_columns; c++)
            shown += lookup_root_column(co->plans[at->target], x->parent_columns[c], &part);
        if (shown == x->n_columns)
            return true;
    }
    return false;
}

/*
 * Tell whether the values of e can find the rows that x changes: exactly, or, if no index
 * between shows the keys of those rows, by the columns that e fills.
 */
static bool goes_through(const struct compiler *co, const struct cascade_key *x,
                         const struct cascade_key *e)
{
    const size_t common = count_common(x, e);

    return common == x->n_columns || (common > 0 && !(e->deletes && is_shown(co, e->child, x)));
}

static void compose(struct compiler *co, struct cascade_effect *f, size_t e, size_t x)
{
    const struct cascade_key *first = &f->keys[e];
    const struct cascade_key *second = &next_effect(first)->keys[x];
    struct cascade_key k = *second;

    k.columns = arena_alloc(co->arena, second->n_columns, sizeof(struct str));
    k.parent_columns = arena_alloc(co->arena, second->n_columns, sizeof(struct str));
    k.moves = first->moves && second->moves;
    k.n_columns = 0;
    for (size_t i = 0; i < second->n_columns; i++) {
        const size_t at =
            find_name(first->columns, first->n_columns, second->parent_columns[i]);

        if (at == first->n_columns)
            continue;
        k.columns[k.n_columns] = second->columns[i];
        k.parent_columns[k.n_columns++] = first->parent_columns[at];
    }
    add_key(co, f, &k);
}

static void add_composed_keys(struct compiler *co, struct cascade_effect *f)
{
    for (size_t e = 0; e < f->n_keys; e++)
        for (size_t x = 0; x < next_effect(&f->keys[e])->n_keys; x++) {
            const struct cascade_key *second = &next_effect(&f->keys[e])->keys[x];

            if (concerns(second, &f->keys[e]) && goes_through(co, second, &f->keys[e]))
                compose(co, f, e, x);
        }
}

/* ---- steps ---- */

static struct cascade_step *step_for(struct compiler *co, struct cascade_effect *f,
                                     size_t target)
{
    for (size_t i = 0; i < f->n_steps; i++)
        if (f->steps[i].target == target)
            return &f->steps[i];
    f->steps = grow(co->arena, f->steps, f->n_steps, sizeof(*f->steps));
    f->steps[f->n_steps] = (struct cascade_step){.target = target};
    return &f->steps[f->n_steps++];
}

/* Tell whether documents change at the place along with the key's children. */
static bool shows(const struct compiler *co, const struct cascade_key *k,
                  const struct cascade_place *at)
{
    bool reads = k->deletes;

    for (size_t i = 0; !reads && i < k->last->n_columns; i++)
        reads = plan_reads(co->plans[at->target], at->place, k->last->columns[i]);
    return reads;
}

static struct cascade_look make_look(struct compiler *co, const struct cascade_effect *f,
                                     size_t key, const struct cascade_place *at)
{
    const struct cascade_key *k = &f->keys[key];
    struct cascade_look look = {.key = key, .place = at->place};
    size_t parts[RESOLVER_COLUMNS_MAX];

    if (!k->moves)
        return look;
    look.by = resolver_by_columns(co->plans[at->target], at->place, k->columns, k->n_columns,
                                  parts, &look.n_parts);
    look.parts = arena_alloc(co->arena, look.n_parts + 1, sizeof(*parts));
    memcpy(look.parts, parts, look.n_parts * sizeof(*parts));
    return look;
}

static void add_steps(struct compiler *co, struct cascade_effect *f)
{
    for (size_t k = 0; k < f->n_keys; k++) {
        const struct cascade_table *child = f->keys[k].child;

        for (size_t i = 0; i < child->n_places; i++) {
            if (!shows(co, &f->keys[k], &child->places[i]))
                continue;

            struct cascade_step *s = step_for(co, f, child->places[i].target);

            s->looks = grow(co->arena, s->looks, s->n_looks, sizeof(*s->looks));
            s->looks[s->n_looks++] = make_look(co, f, k, &child->places[i]);
        }
    }
}

/* ---- documents that cannot be found ---- */

static void add_blind(struct compiler *co, struct cascade_effect *f, size_t target,
                      const struct cascade_key *key, const struct buf *reason)
{
    for (size_t i = 0; i < f->n_blind; i++)
        if (f->blind[i].target == target)
            return;
    f->blind = grow(co->arena, f->blind, f->n_blind, sizeof(*f->blind));
    f->blind[f->n_blind++] =
        (struct cascade_blind){target, key, arena_copy(co->arena, buf_str(reason))};
}

static void add_hidden(struct compiler *co, struct cascade_effect *f, size_t target,
                       const struct cascade_key *e, const struct cascade_key *x)
{
    struct buf reason = {0};

    buf_printf(&reason,
               "the foreign key `%" STR_FMT "` changes rows of %" STR_FMT ".%" STR_FMT " "
               "along with rows of %" STR_FMT ".%" STR_FMT ", whose referenced columns no "
               "index without a filter shows; fix: define such a table for %" STR_FMT
               ".%" STR_FMT ", or make the key's changes with statements",
               STR_ARG(x->name), STR_ARG(x->child->schema), STR_ARG(x->child->table),
               STR_ARG(e->child->schema), STR_ARG(e->child->table), STR_ARG(e->child->schema),
               STR_ARG(e->child->table));
    add_blind(co, f, target, x, &reason);
    buf_free(&reason);
}

/* Add the documents of the children of x, and of whatever changes with them. */
static void add_blind_below(struct compiler *co, struct cascade_effect *f,
                            const struct cascade_key *e, const struct cascade_key *x)
{
    const struct cascade_effect *next = next_effect(x);
    struct cascade_table *child = find_table(co->plan, x->child->schema, x->child->table);

    if (child->visit == co->visit)
        return;
    child->visit = co->visit;
    for (size_t i = 0; i < child->n_places; i++)
        if (shows(co, x, &child->places[i]))
            add_hidden(co, f, child->places[i].target, e, x);
    for (size_t k = 0; k < next->n_keys; k++)
        add_blind_below(co, f, e, &next->keys[k]);
}

static void find_blind(struct compiler *co, struct cascade_effect *f)
{
    for (size_t k = 0; k < f->n_keys; k++) {
        const struct cascade_key *e = &f->keys[k];
        const struct cascade_effect *next = next_effect(e);

        for (size_t i = 0; i < next->n_keys; i++) {
            const struct cascade_key *x = &next->keys[i];

            if (concerns(x, e) && !goes_through(co, x, e) &&
                !(e->deletes && is_shown(co, e->child, x))) {
                co->visit++;
                add_blind_below(co, f, e, x);
            }
        }
    }
}

/* ---- the plan ---- */

static void each_effect(struct compiler *co,
                        void (*fn)(struct compiler *co, struct cascade_effect *f))
{
    for (size_t i = 0; i < co->plan->n_tables; i++)
        for (int cause = 0; cause < N_CASCADE_CAUSES; cause++)
            fn(co, &co->plan->tables[i]->on[cause]);
}

struct cascade_plan *cascade_plan_compile(struct plan *const *plans, size_t n,
                                          cascade_keys_fn find, void *ctx, struct err *err)
{
    struct cascade_plan *p = mem_alloc(1, sizeof(*p));

    p->arena = arena_new();

    struct compiler co = {p, p->arena, plans, find, ctx, err, 0};

    for (size_t i = 0; i < n; i++)
        add_places(&co, i);
    if (!load_keys(&co)) {
        cascade_plan_free(p);
        return NULL;
    }
    for (size_t i = 0; i < p->n_tables; i++)
        add_own_keys(&co, p->tables[i]);
    each_effect(&co, add_composed_keys);
    each_effect(&co, add_steps);
    each_effect(&co, find_blind);
    return p;
}

void cascade_plan_free(struct cascade_plan *p)
{
    if (p == NULL)
        return;
    arena_free(p->arena);
    free(p);
}

bool cascade_table_matters(const struct cascade_table *t)
{
    for (int cause = 0; cause < N_CASCADE_CAUSES; cause++)
        if (t->on[cause].n_steps > 0 || t->on[cause].n_blind > 0)
            return true;
    return false;
}

const struct cascade_table *cascade_plan_find(const struct cascade_plan *p, struct str schema,
                                              struct str table)
{
    const struct cascade_table *t = find_table(p, schema, table);

    return t != NULL && cascade_table_matters(t) ? t : NULL;
}

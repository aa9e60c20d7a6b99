#include "config.h"

#include "rebalance/version/shape.h"

#include "rebalance/state/parts.h"
#include "rebalance/state/put_off.h"

#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/base/log.h"
#include "src/base/magic.h"
#include "sync/decode/ddl.h"
#include "sync/mapping/added.h"
#include "sync/mapping/mapping.h"
#include "sync/mapping/shape_diff.h"
#include "sync/value/schema.h"
#include "sync/value/schema_json.h"

#include <stdio.h>
#include <string.h>

#define FORMAT 1

/* The shapes of a version's tables when its documents were made. */
struct kept {
    bool known;
    bool behind; /* tables have new columns that the index lacks, and rows may have values in
                    them */
    struct schema_list tables;
};

bool coordinator_follows(struct coordinator *co, struct str table)
{
    struct definitions *d = coordinator_definitions(co);
    const struct table_definition *t = definitions_table(d, table);
    const bool follows = t != NULL && t->schema_changes == SCHEMA_CHANGES_FOLLOW;

    definitions_unref(d);
    return follows;
}

/* ---- in the store ---- */

static bool load(struct coordinator *co, struct str alias, uint64_t number, struct kept *k,
                 struct err *err)
{
    struct buf json = {0};
    struct str tables;
    uint64_t format;

    bool ok = store_load_shapes(co->opt.store, alias, number, &json, &k->known, err);

    if (ok && k->known &&
        (!json_find_u64(buf_str(&json), "/format", &format) || format != FORMAT ||
         !json_find(buf_str(&json), "/tables", &tables) ||
         !schema_list_parse(&k->tables, tables)))
        ok = err_set(err, ERR_REJECT,
                     "the store has the table shapes of index %" STR_FMT " in an unknown form",
                     STR_ARG(alias));
    k->behind = ok && json_find_u64(buf_str(&json), "/behind", &format) && format != 0;
    buf_free(&json);
    return ok;
}

static bool save(struct coordinator *co, struct str alias, uint64_t number,
                 const struct kept *k, const struct stored_rebuild *rebuild, struct err *err)
{
    struct buf json = {0}, tables = {0};
    struct json_writer w = {.out = &json};

    schema_list_format(&k->tables, &tables);
    json_open_object(&w);
    json_put_u64(&w, STR("format"), FORMAT);
    json_put_u64(&w, STR("behind"), k->behind);
    json_put_raw(&w, STR("tables"), buf_str(&tables));
    json_close_object(&w);

    const bool ok =
        store_put_shapes(co->opt.store, alias, number, buf_str(&json), rebuild, err);

    FAILPOINT(shape_stored);
    buf_free(&json);
    buf_free(&tables);
    return ok;
}

/* ---- the present tables ---- */

struct shape_gathering {
    const struct definitions *d;
    plan_schema_fn find;
    void *ctx;
    struct schema_list *out;
    bool missing;
};

static void gather_one(void *ctx, struct str table)
{
    struct shape_gathering *g = ctx;
    struct table_location at;
    struct schema *s = definitions_locate(g->d, table, &at)
                           ? g->find(g->ctx, at.topic, at.schema, at.name)
                           : NULL;

    if (s == NULL)
        g->missing = true;
    else if (schema_list_find(g->out, at.topic, s->database, s->table) == NULL)
        schema_list_add(g->out, at.topic, s);
}

/* Returns false if one of them does not exist. */
static bool gather(const struct definitions *d, const struct table_definition *lead,
                   plan_schema_fn find, list_tables_fn list, void *ctx, struct schema_list *out)
{
    struct shape_gathering g = {.d = d, .find = find, .ctx = ctx, .out = out};
    const struct table_definition **members;
    struct arena *a = arena_new();
    size_t n;

    if (!definition_members(d, lead, list, ctx, a, &members, &n) || n == 0)
        g.missing = true;
    else
        for (size_t i = 0; i < n; i++)
            table_visit(members[i], gather_one, &g);
    arena_free(a);
    return !g.missing;
}

bool coordinator_keep_shapes(struct coordinator *co, const struct stored_version *v,
                             const struct definitions *d, const struct table_definition *lead,
                             plan_schema_fn find, list_tables_fn list, void *ctx,
                             struct err *err)
{
    struct kept k = {0};
    const bool ok = gather(d, lead, find, list, ctx, &k.tables)
                        ? save(co, v->index, v->number, &k, NULL, err)
                        : err_set(err, ERR_RETRY, "a table of %" STR_FMT " was just dropped",
                                  STR_ARG(v->index));

    schema_list_fini(&k.tables);
    return ok;
}

/* ---- the columns in effect ---- */

static bool freeze(struct coordinator *co, const struct kept *k, struct definitions **d,
                   const struct table_definition **t, struct err *err)
{
    struct definitions *now = coordinator_definitions(co), *frozen = NULL;
    const struct table_definition *lead = NULL;
    struct buf json = {0};

    if (coordinator_expand_tables(*d, *t, schema_list_find, schema_list_tables,
                                  (void *)(uintptr_t)&k->tables, &json, err))
        frozen = coordinator_with_tables(now, buf_str(&json), &lead, err);
    definitions_unref(now);
    buf_free(&json);
    if (frozen == NULL)
        return false;
    definitions_unref(*d);
    *d = frozen;
    *t = lead;
    return true;
}

bool coordinator_version_in_effect(struct coordinator *co, const struct stored_version *v,
                                   struct definitions **d, const struct table_definition **t,
                                   struct err *err)
{
    struct kept k = {0};

    if (!coordinator_version_definitions(co, v, d, t, err))
        return false;
    if (coordinator_follows(co, table_name(*t)))
        return true;

    const bool ok =
        load(co, v->index, v->number, &k, err) && (!k.known || freeze(co, &k, d, t, err));

    schema_list_fini(&k.tables);
    if (!ok) {
        definitions_unref(*d);
        *d = NULL;
    }
    return ok;
}

/* ---- fitting a version ---- */

/* Takes a version from the shapes that it was made with to the present ones. */
struct fitting {
    struct coordinator *co;
    const struct version_spec *spec;
    struct str alias;
    uint64_t number;
    struct shape_event event; /* its topic is the one whose tables were read now */
    struct kept kept, now;
};

static bool append_mapping(struct fitting *f, struct schema_list *tables, struct buf *json,
                           struct err *err)
{
    return mapping_body(&(struct mapping_request){.definitions = f->spec->definitions,
                                                  .table = f->spec->table,
                                                  .find = schema_list_find,
                                                  .list = schema_list_tables,
                                                  .ctx = tables,
                                                  .engine = search_engine(f->co->opt.search)},
                        json, err);
}

static bool put_new_fields(struct fitting *f, struct err *err)
{
    struct buf before = {0}, after = {0}, body = {0};
    struct err ignored = {0};
    bool ok = search_detect(f->co->opt.search, err);

    if (ok && !append_mapping(f, &f->kept.tables, &before, &ignored))
        buf_clear(&before);
    ok = ok && append_mapping(f, &f->now.tables, &after, err);
    if (ok && mapping_added(buf_str(&before), buf_str(&after), &body)) {
        ok = search_put_mapping(f->co->opt.search, str_from(f->spec->index), buf_str(&body),
                                err) ||
             err_wrap(err, "index %s refuses the fields of new columns", f->spec->index);
    }
    buf_free(&before);
    buf_free(&after);
    buf_free(&body);
    return ok;
}

/* What shows these delayed tables is built by their next run. */
static bool put_off(const struct fitting *f, const struct shape_diff *diff, struct err *err)
{
    bool ok = true;

    for (size_t i = 0; ok && i < diff->n_later; i++)
        ok = coordinator_put_off(
            f->co,
            &(struct whole_change){.topic = f->event.topic,
                                   .table = str_from(diff->later[i].table),
                                   .reason = str_from(diff->later[i].reason),
                                   .owner = str_from(f->spec->topic),
                                   .index = f->alias,
                                   .number = f->number},
            err);
    return ok;
}

static bool go_along(struct fitting *f, const struct shape_diff *diff, struct err *err)
{
    const struct str table = table_name(f->spec->table);
    const bool rebuild = diff->change == SHAPE_CHANGED || f->kept.behind;
    const bool later = diff->change < SHAPE_CHANGED && !rebuild && diff->n_later > 0;
    const char *reason = later ? diff->later[0].reason : diff->reason;
    const struct stored_rebuild wish = {
        .table = table, .reason = str_from(diff->reason), .at_ms = clock_wall_ms()};

    if (diff->change == SHAPE_KEY || ((rebuild || later) && f->spec->aside))
        return err_set(err, ERR_REJECT, "%s", reason);
    if (!put_new_fields(f, err) || (later && !put_off(f, diff, err)) ||
        !save(f->co, f->alias, f->number, &f->now, rebuild ? &wish : NULL, err))
        return false;
    coordinator_log(f->co, table, f->alias, f->number, rebuild || later ? "outdated" : "fields",
                    reason);
    log_info("the index follows its tables' new shapes", KV("index", f->spec->index),
             KV("reason", reason), KV("rebuild", rebuild));
    return !rebuild || coordinator_refresh(f->co, err);
}

static bool same_shapes(const struct schema_list *a, const struct schema_list *b)
{
    struct buf x = {0}, y = {0};

    schema_list_format(a, &x);
    schema_list_format(b, &y);

    const bool same = str_equal(buf_str(&x), buf_str(&y));

    buf_free(&x);
    buf_free(&y);
    return same;
}

/* The present table without its new columns.  Borrows the texts of `is`. */
static struct schema *without_new(const struct schema *was, const struct schema *is)
{
    struct schema *s = schema_new(is->database, is->table);

    s->engine = is->engine;
    s->columns = arena_alloc(s->arena, is->n_columns + 1, sizeof(*s->columns));
    s->key = arena_alloc(s->arena, is->n_key + 1, sizeof(*s->key));
    for (size_t i = 0; i < is->n_columns; i++)
        if (schema_find(was, is->columns[i].name) != SIZE_MAX)
            s->columns[s->n_columns++] = is->columns[i];
    for (size_t i = 0; i < is->n_key; i++) {
        const size_t at = schema_find(s, is->columns[is->key[i]].name);

        if (at != SIZE_MAX)
            s->key[s->n_key++] = at;
    }
    return s;
}

static bool is_created(const struct ddl *ddl, const struct schema *s)
{
    return ddl != NULL && ddl->kind == DDL_CREATE_TABLE && !ddl->changes_rows &&
           ddl_concerns(ddl, s->database, s->table);
}

static void raise_diff(struct shape_diff *diff, enum shape_change change,
                       const struct schema *s, const char *what)
{
    if (diff->change >= change)
        return;
    diff->change = change;
    snprintf(diff->reason, sizeof(diff->reason), "table %" STR_FMT ".%" STR_FMT " %s",
             STR_ARG(s->database), STR_ARG(s->table), what);
}

/*
 * Tables enter and leave a pattern.  The log has all rows of a table only if we just saw it
 * being created; any other may have older rows without events.  If documents show tables of
 * other topics, those topics do not know the new table yet: a build waits until they do.
 */
static void compare_members(const struct fitting *f, const struct table_definition *lead,
                            struct shape_diff *diff)
{
    const struct schema_list *was = &f->kept.tables, *is = &f->now.tables;

    for (size_t i = 0; i < was->n; i++)
        if (definition_pattern_has(f->spec->definitions, lead, was->list[i]->database,
                                   was->list[i]->table) &&
            schema_list_find((void *)(uintptr_t)is, was->topics[i], was->list[i]->database,
                             was->list[i]->table) == NULL)
            raise_diff(diff, SHAPE_CHANGED, was->list[i], "is gone");
    for (size_t i = 0; i < is->n; i++)
        if (definition_pattern_has(f->spec->definitions, lead, is->list[i]->database,
                                   is->list[i]->table) &&
            schema_list_find((void *)(uintptr_t)was, is->topics[i], is->list[i]->database,
                             is->list[i]->table) == NULL) {
            if (is_created(f->event.ddl, is->list[i]) &&
                !table_is_cross_topic(f->spec->definitions, lead, str_from(f->spec->topic)))
                raise_diff(diff, SHAPE_ADDED, is->list[i], "is new");
            else
                raise_diff(diff, SHAPE_CHANGED, is->list[i], "came into the index");
        }
}

static void add_later(struct shape_diff *most, const struct shape_diff *diff)
{
    for (size_t i = 0; i < diff->n_later; i++)
        if (!shape_diff_is_later(most, str_from(diff->later[i].table))) {
            if (most->n_later < SHAPE_LATER_MAX)
                most->later[most->n_later++] = diff->later[i];
            else
                most->change = most->change > SHAPE_CHANGED ? most->change : SHAPE_CHANGED;
        }
}

/* The largest change among all tables of the index. */
static struct shape_diff diff_all(const struct fitting *f, const struct definitions *d,
                                  const struct table_definition *lead,
                                  const struct shape_event *event)
{
    const struct shape_find was = {schema_list_find, (void *)(uintptr_t)&f->kept.tables},
                            is = {schema_list_find, (void *)(uintptr_t)&f->now.tables};
    struct shape_diff most = {0};
    const struct table_definition **members;
    struct arena *a = arena_new();
    size_t n;

    if (definition_members(d, lead, schema_list_tables, is.ctx, a, &members, &n))
        for (size_t i = 0; i < n; i++) {
            const struct shape_diff diff = shape_diff_make(d, members[i], &was, &is, event);

            if (diff.change > most.change) {
                most.change = diff.change;
                memcpy(most.reason, diff.reason, sizeof(most.reason));
            }
            add_later(&most, &diff);
        }
    arena_free(a);
    if (lead->pattern.len > 0 && f->kept.known)
        compare_members(f, lead, &most);
    return most;
}

/* Whether the index would have to change if it followed its tables. */
static bool is_behind(struct fitting *f, bool *behind, struct err *err)
{
    struct catalogue *c = coordinator_catalogue(f->co);
    const struct stored_version *v = catalogue_number(c, f->alias, f->number);
    struct definitions *d = NULL;
    const struct table_definition *t;
    const bool ok = v == NULL || coordinator_version_definitions(f->co, v, &d, &t, err);

    *behind =
        f->kept.behind || (ok && d != NULL && diff_all(f, d, t, NULL).change != SHAPE_SAME);
    definitions_unref(d);
    catalogue_unref(c);
    return ok;
}

/* Keep the columns of the index as they are. */
static bool stay(struct fitting *f, struct err *err)
{
    struct kept next = {0};
    bool ok = is_behind(f, &next.behind, err);

    for (size_t i = 0; i < f->now.tables.n; i++) {
        struct schema *is = f->now.tables.list[i],
                      *was = schema_list_find(&f->kept.tables, f->now.tables.topics[i],
                                              is->database, is->table),
                      *s = was == NULL ? schema_ref(is) : without_new(was, is);

        schema_list_add(&next.tables, f->now.tables.topics[i], s);
        schema_unref(s);
    }
    if (ok && (next.behind != f->kept.behind || !same_shapes(&next.tables, &f->kept.tables)))
        ok = save(f->co, f->alias, f->number, &next, NULL, err);
    schema_list_fini(&next.tables);
    return ok;
}

static bool fit(struct fitting *f, struct err *err)
{
    const bool follows = coordinator_follows(f->co, table_name(f->spec->table));

    f->event.now = follows ? f->spec->now : NULL;

    const struct shape_diff diff = diff_all(f, f->spec->definitions, f->spec->table, &f->event);

    if (follows && f->kept.known && (diff.change != SHAPE_SAME || diff.n_later > 0))
        return go_along(f, &diff, err);
    if (!follows && diff.change > SHAPE_ADDED)
        return err_set(err, ERR_REJECT, "%s", diff.reason);
    if (!follows && f->kept.known)
        return stay(f, err);
    /* Also save changes that do not affect documents: the next diff starts from there. */
    return (f->kept.known && same_shapes(&f->kept.tables, &f->now.tables)) ||
           save(f->co, f->alias, f->number, &f->now, NULL, err);
}

/* The present tables of one topic, and the kept ones of the others. */
struct partly {
    const struct tables_now *now;
    struct schema_list *kept;
};

static struct schema *find_partly(void *ctx, struct str topic, struct str database,
                                  struct str table)
{
    const struct partly *p = ctx;

    return str_equal(topic, p->now->topic) ? p->now->find(p->now->ctx, topic, database, table)
                                           : schema_list_find(p->kept, topic, database, table);
}

static bool list_partly(void *ctx, struct str topic, struct str database, struct arena *a,
                        struct str **out, size_t *n)
{
    const struct partly *p = ctx;

    return str_equal(topic, p->now->topic)
               ? p->now->list(p->now->ctx, topic, database, a, out, n)
               : schema_list_tables(p->kept, topic, database, a, out, n);
}

/*
 * The documents' topic reads the kept shapes of the other topics' tables.  Make it read them
 * again, before it meets changes that were made later.
 */
static bool note_moved(struct fitting *f)
{
    struct coordinator *co = f->co;

    if (str_equal(str_from(f->spec->topic), f->event.topic) ||
        same_shapes(&f->kept.tables, &f->now.tables))
        return true;
    lock_acquire(&co->topics->lock);

    const struct topic *t = topics_find(co->topics, str_from(f->spec->topic));

    if (t != NULL && t->pipeline != NULL)
        pipeline_renew(t->pipeline);
    lock_release(&co->topics->lock);
    return true;
}

/*
 * Forget tables that the log dropped: the next build must not take them for tables that we may
 * no longer read.
 */
static bool forget_gone(struct fitting *f, struct err *err)
{
    struct schema_list *was = &f->kept.tables;

    for (size_t i = 0; i < was->n; i++)
        if (!str_equal(was->topics[i], f->event.topic) ||
            !ddl_takes_away(f->event.ddl, was->list[i]->database, was->list[i]->table))
            schema_list_add(&f->now.tables, was->topics[i], was->list[i]);
    if (f->now.tables.n == was->n)
        return true;

    const struct kept left = {.behind = f->kept.behind, .tables = f->now.tables};

    return save(f->co, f->alias, f->number, &left, NULL, err);
}

bool coordinator_fit_version(void *ctx, const struct version_spec *spec,
                             const struct tables_now *now, struct err *err)
{
    struct coordinator *co = MAGIC_CAST(coordinator, ctx);
    struct fitting f = {.co = co,
                        .spec = spec,
                        .event = {.topic = now->topic,
                                  .ddl = now->ddl,
                                  .hidden = now->hidden,
                                  .filling = spec->filling}};
    struct partly partly = {now, &f.kept.tables};
    bool ok = true;

    if (!coordinator_split_index_name(spec->index, &f.alias, &f.number))
        return true;
    lock_acquire(&co->shape_lock);
    ok = load(co, f.alias, f.number, &f.kept, err);
    if (ok && spec->stopped)
        ok = !f.kept.known || forget_gone(&f, err);
    /*
     * If a table does not exist, it has no plan either; whoever compiles the plan reports that.
     */
    else if (ok && gather(spec->definitions, spec->table, find_partly, list_partly, &partly,
                          &f.now.tables))
        ok = fit(&f, err) && note_moved(&f);
    lock_release(&co->shape_lock);
    /* Only the owner of the documents' topic may bring them in line: another topic waits. */
    if (!ok && err->kind == ERR_STOP && !str_equal(str_from(spec->topic), now->topic))
        err->kind = ERR_RETRY;
    schema_list_fini(&f.kept.tables);
    schema_list_fini(&f.now.tables);
    return ok;
}

bool coordinator_available_tables(struct coordinator *co, struct str alias,
                                  struct schema_list *tables, struct err *err)
{
    struct catalogue *c = coordinator_catalogue(co);
    const struct stored_version *v = catalogue_version(c, alias, STR("available"));
    struct kept k = {0};
    bool ok = v == NULL || load(co, alias, v->number, &k, err);

    /* Unreadable shapes must not prevent a build: a build is the way out. */
    if (!ok && err->kind == ERR_REJECT) {
        schema_list_fini(&k.tables);
        k.tables = (struct schema_list){0};
        *err = (struct err){0};
        ok = true;
    }
    *tables = k.tables;
    catalogue_unref(c);
    return ok;
}

bool coordinator_kept_tables(void *ctx, const struct version_spec *spec,
                             struct schema_list *tables, struct err *err)
{
    struct coordinator *co = MAGIC_CAST(coordinator, ctx);
    struct kept k = {0};
    struct str alias;
    uint64_t number;

    if (!coordinator_split_index_name(spec->index, &alias, &number) ||
        !load(co, alias, number, &k, err)) {
        schema_list_fini(&k.tables);
        return false;
    }
    *tables = k.tables;
    return k.known || err_set(err, ERR_RETRY,
                              "the store does not have the table shapes of %s "
                              "yet",
                              spec->index);
}

#include "config.h"

#include "rebalance/verify/job.h"

#include "src/search/documents.h"
#include "sync/document/loader.h"
#include "sync/routing/routing.h"

/*
 * Children whose parent's document is absent, and whose parent's row is, too: the index is as
 * the tables are, so nothing differs and nothing can be repaired, but searches by the parent do
 * not find them.
 */

/* Rows of a child's table, and the `_id`s of their parents. */
struct children {
    const struct loaded **rows;
    struct str *parents;
    size_t n;
};

static const struct join_definition *join_of(const struct verify_run *run,
                                             const struct target *t)
{
    const struct table_definition *d = definitions_table(run->definitions, str_from(t->table));

    return d != NULL && d->join.given && d->join.parent.len > 0 ? &d->join : NULL;
}

/* Returns the `_id` of the row's parent, as its document names it; empty if it names none. */
static struct str parent_of(const struct join_definition *join, struct str body,
                            struct arena *a)
{
    const struct str field = join->field.len > 0 ? join->field : STR("join");
    struct buf pointer = {0}, parent = {0};

    buf_printf(&pointer, "/%" STR_FMT "/parent", STR_ARG(field));
    (void)json_find_text(body, pointer.ptr, &parent);

    const struct str copy = arena_copy(a, buf_str(&parent));

    buf_free(&pointer);
    buf_free(&parent);
    return copy;
}

static struct children find_children(const struct verify_run *run, const struct verify_rows *r,
                                     const struct join_definition *join)
{
    struct children c = {.rows = arena_alloc(run->arena, r->n, sizeof(*c.rows)),
                         .parents = arena_alloc(run->arena, r->n, sizeof(*c.parents))};

    for (size_t i = 0; i < r->n; i++)
        if (r->rows[i].body.ptr != NULL && r->rows[i].err == NULL) {
            c.parents[c.n] = parent_of(join, r->rows[i].body, run->arena);
            c.rows[c.n] = &r->rows[i];
            c.n += c.parents[c.n].len > 0;
        }
    return c;
}

/* Keep those for which `gone` is set. */
static void keep(struct children *c, const bool *gone)
{
    size_t n = 0;

    for (size_t i = 0; i < c->n; i++)
        if (gone[i]) {
            c->rows[n] = c->rows[i];
            c->parents[n++] = c->parents[i];
        }
    c->n = n;
}

static bool keep_without_document(const struct verify_run *run, struct children *c,
                                  struct err *err)
{
    struct search_wish *wishes = arena_alloc(run->arena, c->n, sizeof(*wishes));
    struct search_document *found = arena_alloc(run->arena, c->n, sizeof(*found));
    bool *gone = arena_alloc(run->arena, c->n, sizeof(*gone));

    if (c->n == 0)
        return true;
    for (size_t i = 0; i < c->n; i++)
        wishes[i] = (struct search_wish){c->parents[i], c->rows[i]->routing, false};
    if (!search_get_documents(run->co->opt.search, run->index, wishes, c->n, run->arena, found,
                              err)) {
        err->kind = err->kind == ERR_REJECT ? ERR_RETRY : err->kind;
        return false;
    }
    for (size_t i = 0; i < c->n; i++)
        gone[i] = !found[i].found;
    keep(c, gone);
    return true;
}

/* Load rows by their keys, in a snapshot of now. */
static bool load(struct verify_run *run, const struct target *t, const struct str *keys,
                 size_t n, struct loaded *rows, struct err *err)
{
    struct err ignored = {0};
    uint64_t stamp;

    if (!read_links_open(&run->links, t->plan, 0, &stamp, err))
        return false;

    struct loader_keys all = {.keys = keys, .n = n};
    const bool ok = loader_load(run->links.conns, ((struct reading *)t->plan)->plan, &all,
                                run->arena, rows, err);

    if (read_links_end(&run->links, ok ? err : &ignored) && ok)
        return true;
    read_links_close(&run->links);
    err->kind = err->kind == ERR_REJECT ? ERR_RETRY : err->kind;
    return false;
}

/* Set gone for those whose parent this table would have, and has not. */
static bool mark_without_row(struct verify_run *run, const struct target *t,
                             const struct children *c, bool *gone, struct err *err)
{
    struct str *keys = arena_alloc(run->arena, c->n, sizeof(*keys));
    struct loaded *rows = arena_alloc(run->arena, c->n, sizeof(*rows));
    size_t *of = arena_alloc(run->arena, c->n, sizeof(*of));
    size_t n = 0;

    for (size_t i = 0; i < c->n; i++) {
        struct verify_key k;

        verify_run_name_document(run, c->parents[i], &k);
        if (k.target == t && k.key.len > 0) {
            keys[n] = k.key;
            of[n++] = i;
        }
    }
    if (n > 0 && !load(run, t, keys, n, rows, err))
        return false;
    for (size_t i = 0; i < n; i++)
        gone[of[i]] = !rows[i].placed;
    return true;
}

static bool keep_without_row(struct verify_run *run, struct children *c, struct err *err)
{
    bool *gone = arena_alloc(run->arena, c->n, sizeof(*gone));

    for (size_t i = 0; i < run->n_targets; i++)
        if (!mark_without_row(run, run->targets[i], c, gone, err))
            return false;
    keep(c, gone);
    return true;
}

/* A child that went with its parent, or to another one, has outlived nobody. */
static bool keep_present(struct verify_run *run, const struct target *t,
                         const struct join_definition *join, struct children *c,
                         struct err *err)
{
    struct str *keys = arena_alloc(run->arena, c->n, sizeof(*keys));
    struct loaded *now = arena_alloc(run->arena, c->n, sizeof(*now));
    bool *same = arena_alloc(run->arena, c->n, sizeof(*same));

    for (size_t i = 0; i < c->n; i++)
        keys[i] = c->rows[i]->key;
    if (c->n > 0 && !load(run, t, keys, c->n, now, err))
        return false;
    for (size_t i = 0; i < c->n; i++)
        same[i] = now[i].body.ptr != NULL &&
                  str_equal(parent_of(join, now[i].body, run->arena), c->parents[i]);
    keep(c, same);
    return true;
}

bool verify_find_orphans(struct verify_job *j, struct verify_run *run,
                         const struct verify_rows *r, struct err *err)
{
    const struct join_definition *join = join_of(run, r->target);

    if (join == NULL || r->n == 0)
        return true;

    struct children c = find_children(run, r, join);

    if (!keep_without_document(run, &c, err))
        return false;
    if (c.n > 0 &&
        (!keep_without_row(run, &c, err) || !keep_present(run, r->target, join, &c, err)))
        return false;
    for (size_t i = 0; i < c.n; i++)
        verify_result_add_orphan(&j->result, c.rows[i]->id, c.rows[i]->routing);
    return true;
}

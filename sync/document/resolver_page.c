#include "config.h"

#include "sync/document/resolver.h"

#include "src/base/buf.h"
#include "src/base/mem.h"
#include "sync/document/found_roots.h"
#include "sync/document/key.h"
#include "sync/document/plan_node.h"

#include <assert.h>
#include <stdlib.h>

/*
 * A cursor has, for each server on the way but the last, two parts: the key after which the
 * current rows there begin, and the last of them (empty if not known yet).  The root's key
 * follows, after which their roots continue.
 *
 * So rows that come or go meanwhile do not shift the others; a new row has an event of its own.
 */
static struct str take_part(struct str *cursor)
{
    struct str part = STR("");

    if (cursor->len > 0)
        (void)key_next(cursor, &part);
    return part;
}

/* What a page was asked for, and its results. */
struct root_page {
    struct mysql_conn *const *of;
    const struct resolver_sink *sink;
    size_t limit;      /* of roots */
    struct buf next;   /* the cursor of the next page */
    struct buf behind; /* the cursor after one of its roots, without the root's key */
    bool end;
};

static bool page_from(struct root_page *p, const struct plan_node *node, const struct str *keys,
                      size_t n, struct str cursor, struct err *err);

/* Rows without a key have changed shape: the plan is about to be replaced. */
static bool has_keys(const struct found_roots *f, struct err *err)
{
    return f->n_pairs > 0 || !found_roots_is_full(f) ||
           err_set(err, ERR_RETRY, "%" STR_FMT " has %zu rows without a usable key",
                   STR_ARG(f->top->from), f->n_rows);
}

/* Read the page's rows, and record in next how far it got. */
static bool page_of_roots(struct root_page *p, struct found_roots *f, struct err *err)
{
    bool ok = true;

    for (size_t i = 0; ok && i < f->n_pairs; i++)
        ok = found_roots_tell(f, i, NULL, err);
    p->end = !found_roots_is_full(f);
    buf_append(&p->next, f->n_pairs > 0 ? found_roots_key(f, f->n_pairs - 1) : f->query.after);
    return ok;
}

/* Read the page of the rows that lead to another server, from (after, last] here. */
static bool page_behind(struct root_page *p, struct found_roots *f, const struct str *keys,
                        size_t n, struct str cursor, struct err *err)
{
    struct buf next = p->next;

    key_append_part(&p->behind, f->query.after);
    key_append_part(&p->behind, keys[n - 1]);
    p->next = (struct buf){0};

    const bool ok = page_from(p, f->top, keys, n, cursor, err);
    struct buf below = p->next;

    p->next = next;
    key_append_part(&p->next, p->end ? keys[n - 1] : f->query.after);
    key_append_part(&p->next, p->end ? STR("") : keys[n - 1]);
    if (!p->end)
        buf_append(&p->next, buf_str(&below));
    buf_free(&below);
    return ok;
}

/* Take the next rows that lead to another server until all their documents are reported. */
static bool page_over(struct root_page *p, struct found_roots *f, struct str cursor,
                      struct err *err)
{
    struct str *keys = mem_alloc(f->n_pairs + 1, sizeof(*keys));
    const bool known = f->query.until.len > 0;
    bool ok = true;

    for (size_t i = 0; i < f->n_pairs; i++)
        keys[i] = found_roots_key(f, i);

    const size_t n = f->n_pairs == 0 ? 0 : resolver_keys_max(keys, f->n_pairs);

    if (n > 0) {
        ok = page_behind(p, f, keys, n, cursor, err);
    } else { /* all are gone by now, or there never were any */
        key_append_part(&p->next, known ? f->query.until : f->query.after);
        key_append_part(&p->next, STR(""));
        p->end = true;
    }
    p->end = p->end && n == f->n_pairs && !found_roots_is_full(f) && !known;
    free(keys);
    return ok;
}

static bool page_from(struct root_page *p, const struct plan_node *node, const struct str *keys,
                      size_t n, struct str cursor, struct err *err)
{
    const bool over = query_roots_top(node)->parent != NULL;
    struct found_roots f;

    found_roots_init(&f, p->of, node, p->sink, over ? RESOLVER_KEYS_MAX : p->limit);
    f.query.in_order = true;
    f.query.keys = keys;
    f.query.n = n;
    f.query.after = over ? take_part(&cursor) : cursor;
    if (over)
        f.query.until = take_part(&cursor);

    const bool ok = found_roots_ask(&f, err) && has_keys(&f, err) &&
                    (over ? page_over(p, &f, cursor, err) : page_of_roots(p, &f, err));

    found_roots_fini(&f);
    return ok;
}

static void set(struct buf *to, const struct buf *from)
{
    buf_clear(to);
    buf_append(to, buf_str(from));
}

bool resolver_page(struct mysql_conn *const *of, const struct resolver_rows *rows, size_t limit,
                   struct resolver_cursor *cursor, const struct resolver_sink *sink,
                   struct err *err)
{
    struct root_page p = {.of = of, .sink = sink, .limit = limit};
    struct found_roots_below below;

    assert(rows->n == resolver_keys_max(rows->keys, rows->n));

    const bool ok = page_from(&p, found_roots_node(rows, &below), rows->keys, rows->n,
                              buf_str(&cursor->after), err);

    if (ok) {
        set(&cursor->after, &p.next);
        set(&cursor->behind, &p.behind);
        cursor->end = p.end;
    }
    buf_free(&p.next);
    buf_free(&p.behind);
    return ok;
}

void resolver_after(const struct resolver_cursor *cursor, struct str root_key,
                    struct buf *after)
{
    buf_append(after, buf_str(&cursor->behind));
    buf_append(after, root_key);
}

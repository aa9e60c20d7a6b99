#include "config.h"

#include "sync/document/resolver.h"

#include "src/base/buf.h"
#include "src/base/mem.h"
#include "sync/document/branch.h"
#include "sync/document/found_roots.h"
#include "sync/document/key.h"

#include <assert.h>
#include <stdlib.h>

/*
 * A cursor has two parts for each server on the way but the last, each behind the next: the key
 * behind which the rows that are worked on there begin, and the last of them (empty: it is not
 * known yet).  Then comes the root's key, behind which their roots are worked on.
 *
 * So rows that go or come there meanwhile do not move the others: what comes has an event of
 * its own.
 */
static struct str take_part(struct str *cursor)
{
    struct str part = STR("");

    if (cursor->len > 0)
        (void)key_next(cursor, &part);
    return part;
}

/* What a page was asked for with, and what it found out. */
struct page {
    struct mysql_conn *const *of;
    const struct resolver_sink *sink;
    size_t limit;      /* of roots */
    struct buf next;   /* the cursor of the next page */
    struct buf behind; /* the cursor behind one of its roots, but for the root's key */
    bool end;
};

static bool page_from(struct page *p, const struct branch *branch, const struct str *keys,
                      size_t n, struct str cursor, struct err *err);

/* Rows without a key have changed their shape: the plan is made anew soon. */
static bool has_keys(const struct found_roots *f, struct err *err)
{
    return f->n_pairs > 0 || !found_roots_is_full(f) ||
           err_set(err, ERR_RETRY, "%" STR_FMT " has %zu rows without a usable key",
                   STR_ARG(f->top->from), f->n_rows);
}

/* The rows of the page, and how far that goes in next. */
static bool page_of_roots(struct page *p, struct found_roots *f, struct err *err)
{
    bool ok = true;

    for (size_t i = 0; ok && i < f->n_pairs; i++)
        ok = found_roots_tell(f, i, NULL, err);
    p->end = !found_roots_is_full(f);
    buf_append(&p->next, f->n_pairs > 0 ? found_roots_key(f, f->n_pairs - 1) : f->query.after);
    return ok;
}

/* The page of the rows that lead on to another server, from (after, last] here. */
static bool page_behind(struct page *p, struct found_roots *f, const struct str *keys, size_t n,
                        struct str cursor, struct err *err)
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

/* The next rows that lead on to another server, until all that they lead to was told. */
static bool page_over(struct page *p, struct found_roots *f, struct str cursor, struct err *err)
{
    struct str *keys = mem_alloc(f->n_pairs + 1, sizeof(*keys));
    const bool known = f->query.until.len > 0;
    bool ok = true;

    for (size_t i = 0; i < f->n_pairs; i++)
        keys[i] = found_roots_key(f, i);

    const size_t n = f->n_pairs == 0 ? 0 : resolver_keys_max(keys, f->n_pairs);

    if (n > 0) {
        ok = page_behind(p, f, keys, n, cursor, err);
    } else { /* all have gone meanwhile, or there never were any */
        key_append_part(&p->next, known ? f->query.until : f->query.after);
        key_append_part(&p->next, STR(""));
        p->end = true;
    }
    p->end = p->end && n == f->n_pairs && !found_roots_is_full(f) && !known;
    free(keys);
    return ok;
}

static bool page_from(struct page *p, const struct branch *branch, const struct str *keys,
                      size_t n, struct str cursor, struct err *err)
{
    const bool over = query_roots_top(branch)->parent != NULL;
    struct found_roots f;

    found_roots_init(&f, p->of, branch, p->sink, over ? RESOLVER_KEYS_MAX : p->limit);
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
    struct page p = {.of = of, .sink = sink, .limit = limit};

    assert(rows->n == resolver_keys_max(rows->keys, rows->n));

    const bool ok = page_from(&p, found_roots_branch(rows), rows->keys, rows->n,
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

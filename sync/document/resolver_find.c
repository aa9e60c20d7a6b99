#include "config.h"

#include "sync/document/resolver.h"

#include "src/base/mem.h"
#include "sync/document/found_roots.h"
#include "sync/document/key_set.h"

#include <assert.h>
#include <stdlib.h>

static_assert(RESOLVER_FEW < RESOLVER_SOME, "a key that fills a statement's answer is crowded");

/* Keys to ask for together; answered ones are removed. */
struct root_request {
    struct str keys[RESOLVER_KEYS_MAX];
    size_t numbers[RESOLVER_KEYS_MAX]; /* their numbers at the caller */
    size_t n_roots[RESOLVER_KEYS_MAX];
    size_t n;
};

static void count_roots(const struct found_roots *f, struct root_request *a)
{
    for (size_t i = 0; i < a->n; i++)
        a->n_roots[i] = 0;
    for (size_t i = 0; i < f->n_pairs; i++)
        a->n_roots[f->pairs[i].row]++;
}

/* If no key stands out in a full answer, all are crowded. */
static bool any_stands_out(const struct root_request *a)
{
    for (size_t i = 0; i < a->n; i++)
        if (a->n_roots[i] > RESOLVER_FEW)
            return true;
    return false;
}

static bool tell_crowded(struct found_roots *f, struct root_request *a, bool all,
                         struct err *err)
{
    size_t n = 0;

    for (size_t i = 0; i < a->n; i++) {
        if (!all && a->n_roots[i] <= RESOLVER_FEW) {
            a->keys[n] = a->keys[i];
            a->numbers[n++] = a->numbers[i];
        } else if (!f->sink->crowded(f->sink->ctx, a->numbers[i])) {
            return found_roots_stopped(err);
        }
    }
    a->n = n;
    return true;
}

/* Process a complete answer: its pairs, except those of crowded keys. */
static bool take_answer(struct found_roots *f, struct root_request *a, struct err *err)
{
    for (size_t i = 0; i < f->n_pairs; i++)
        if (a->n_roots[f->pairs[i].row] <= RESOLVER_FEW &&
            !found_roots_tell(f, i, a->numbers, err))
            return false;
    if (!tell_crowded(f, a, false, err))
        return false;
    a->n = 0;
    return true;
}

static bool find_together(struct found_roots *f, struct root_request *a, struct err *err)
{
    while (a->n > 0) {
        f->query.keys = a->keys;
        f->query.n = a->n;
        if (!found_roots_ask(f, err))
            return false;
        count_roots(f, a);
        if (found_roots_is_full(f) ? !tell_crowded(f, a, !any_stands_out(a), err)
                                   : !take_answer(f, a, err))
            return false;
    }
    return true;
}

static bool find_from(struct mysql_conn *const *of, const struct plan_node *node,
                      const struct str *keys, size_t n, const struct resolver_sink *sink,
                      struct err *err);

/* ---- from one server to the next ---- */

/* The keys to follow on the next server, each with the keys that led to it. */
struct way_on {
    const struct found_roots *find;
    const struct root_request *asking;
    struct key_set set;
    struct str *keys;
    uint32_t *first;              /* start of each key in order, then the end */
    uint32_t *order;              /* pairs sorted by key */
    bool told[RESOLVER_KEYS_MAX]; /* the statement's keys that are crowded */
};

static void way_on_init(struct way_on *w, const struct found_roots *f,
                        const struct root_request *a)
{
    uint32_t *numbers = mem_alloc(f->n_pairs + 1, sizeof(*numbers));

    *w = (struct way_on){.find = f, .asking = a};
    for (size_t i = 0; i < f->n_pairs; i++)
        numbers[i] = key_set_add(&w->set, found_roots_key(f, i));
    w->keys = mem_alloc(w->set.n + 1, sizeof(*w->keys));
    w->first = mem_alloc(w->set.n + 1, sizeof(*w->first));
    w->order = mem_alloc(f->n_pairs + 1, sizeof(*w->order));
    for (uint32_t key = 0; key < w->set.n; key++)
        w->keys[key] = key_set_get(&w->set, key);
    for (size_t i = 0; i < f->n_pairs; i++)
        w->first[numbers[i]]++;
    for (uint32_t key = 1; key <= w->set.n; key++)
        w->first[key] += w->first[key - 1];
    for (size_t i = f->n_pairs; i-- > 0;)
        w->order[--w->first[numbers[i]]] = (uint32_t)i;
    free(numbers);
}

static void way_on_fini(struct way_on *w)
{
    key_set_fini(&w->set);
    free(w->keys);
    free(w->first);
    free(w->order);
}

static bool on_found(void *ctx, size_t key, struct str id, struct str root, struct str routing)
{
    const struct way_on *w = ctx;
    const struct resolver_sink *sink = w->find->sink;

    for (uint32_t i = w->first[key]; i < w->first[key + 1]; i++)
        if (!sink->found(sink->ctx, w->asking->numbers[w->find->pairs[w->order[i]].row], id,
                         root, routing))
            return false;
    return true;
}

static bool tell_once(struct way_on *w, size_t row)
{
    const struct resolver_sink *sink = w->find->sink;

    if (w->told[row])
        return true;
    w->told[row] = true;
    return sink->crowded(sink->ctx, w->asking->numbers[row]);
}

static bool on_crowded(void *ctx, size_t key)
{
    struct way_on *w = ctx;

    for (uint32_t i = w->first[key]; i < w->first[key + 1]; i++)
        if (!tell_once(w, w->find->pairs[w->order[i]].row))
            return false;
    return true;
}

/* Follow the keys to rows of a table joined on another server. */
static bool find_over(struct found_roots *f, struct root_request *a, struct err *err)
{
    struct way_on *w;
    bool ok;

    f->query.keys = a->keys;
    f->query.n = a->n;
    if (!found_roots_ask(f, err))
        return false;
    if (found_roots_is_full(f)) {
        count_roots(f, a);
        return tell_crowded(f, a, true, err);
    }
    w = mem_alloc(1, sizeof(*w));
    way_on_init(w, f, a);

    const struct resolver_sink sink = {on_found, on_crowded, w};

    ok = find_from(f->of, f->top, w->keys, w->set.n, &sink, err);
    way_on_fini(w);
    free(w);
    return ok;
}

static bool find_from(struct mysql_conn *const *of, const struct plan_node *node,
                      const struct str *keys, size_t n_keys, const struct resolver_sink *sink,
                      struct err *err)
{
    struct root_request *a = mem_alloc(1, sizeof(*a));
    struct found_roots f;
    bool ok = true;

    found_roots_init(&f, of, node, sink, RESOLVER_SOME);
    for (size_t from = 0; ok && from < n_keys;) {
        const size_t n = resolver_keys_max(keys + from, n_keys - from);

        for (a->n = 0; a->n < n; a->n++) {
            a->keys[a->n] = keys[from + a->n];
            a->numbers[a->n] = from + a->n;
        }
        ok = found_roots_lead_on(&f) ? find_over(&f, a, err) : find_together(&f, a, err);
        from += n;
    }
    found_roots_fini(&f);
    free(a);
    return ok;
}

bool resolver_find(struct mysql_conn *const *of, const struct resolver_rows *rows,
                   const struct resolver_sink *sink, struct err *err)
{
    struct found_roots_below below;

    return find_from(of, found_roots_node(rows, &below), rows->keys, rows->n, sink, err);
}

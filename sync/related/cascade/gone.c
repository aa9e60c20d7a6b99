#include "config.h"

#include "sync/related/cascade/gone.h"

#include "src/base/buf.h"
#include "src/base/map.h"
#include "src/base/mem.h"
#include "sync/routing/routing.h"

#include <stdlib.h>
#include <string.h>

void gone_set_init(struct gone_set *s)
{
    s->docs = map_new();
    s->indexes = map_new();
}

static void append_name(struct buf *out, const struct target *t, struct str routing,
                        struct str id)
{
    buf_append(out, str_from(t->index));
    buf_append_char(out, '\0');
    buf_append(out, routing);
    buf_append_char(out, '\0');
    buf_append(out, id);
}

struct gone_document *gone_set_find(const struct gone_set *s, const struct target *t,
                                    struct str routing, struct str id)
{
    struct buf name = {0};

    append_name(&name, t, routing, id);

    struct gone_document *d = map_find(s->docs, buf_str(&name));

    buf_free(&name);
    return d;
}

static struct gone_index *index_of(struct gone_set *s, const struct target *t)
{
    struct gone_index *x = map_find(s->indexes, str_from(t->index));

    if (x == NULL) {
        x = mem_alloc(1, sizeof(*x));
        x->alias = mem_copy(((const struct reading *)t->plan)->alias);
        x->since_ms = INT64_MAX;
        (void)map_put(s->indexes, str_from(t->index), x);
    }
    return x;
}

static void free_index(void *value)
{
    struct gone_index *x = value;

    free(x->alias);
    free(x);
}

static void drop(void *value)
{
    gone_document_free(value);
}

void gone_set_fini(struct gone_set *s)
{
    map_free(s->docs, drop);
    map_free(s->indexes, free_index);
}

static struct str put(char **to, struct str s)
{
    const struct str copy = {*to, s.len};

    if (s.len > 0)
        memcpy(*to, s.ptr, s.len);
    *to += s.len;
    return copy;
}

struct gone_document *gone_set_add(struct gone_set *s, const struct gone_row *row,
                                   int64_t since_ms)
{
    struct gone_document *d =
        mem_alloc(1, sizeof(*d) + row->id.len + row->routing.len + row->key.len);
    struct buf name = {0};
    char *to = d->bytes;

    d->target = target_ref(row->target);
    d->id = put(&to, row->id);
    d->routing = put(&to, row->routing);
    d->key = put(&to, row->key);
    append_name(&name, d->target, d->routing, d->id);

    struct gone_index *x = index_of(s, d->target);

    d->since_ms = since_ms;
    if (since_ms < x->since_ms)
        x->since_ms = since_ms;
    x->n += map_put(s->docs, buf_str(&name), d) == NULL;
    buf_free(&name);
    return d;
}

void gone_set_remove(struct gone_set *s, const struct gone_document *d)
{
    struct buf name = {0};

    append_name(&name, d->target, d->routing, d->id);
    if (map_find(s->docs, buf_str(&name)) == d) {
        (void)map_remove(s->docs, buf_str(&name));
        index_of(s, d->target)->n--;
    }
    buf_free(&name);
}

size_t gone_set_count(const struct gone_set *s)
{
    return map_count(s->docs);
}

size_t gone_set_count_of(const struct gone_set *s, struct str index)
{
    const struct gone_index *x = map_find(s->indexes, index);

    return x == NULL ? 0 : x->n;
}

int64_t gone_set_oldest_ms(const struct gone_set *s, struct str alias)
{
    int64_t oldest_ms = INT64_MAX;
    struct str key;
    void *value;

    for (size_t i = 0; map_next(s->indexes, &i, &key, &value);) {
        const struct gone_index *x = value;

        if (x->n > 0 && x->since_ms < oldest_ms && str_equal(str_from(x->alias), alias))
            oldest_ms = x->since_ms;
    }
    return oldest_ms;
}

void gone_set_look(struct gone_set *s)
{
    struct gone_document *d;
    struct str key;
    void *value;

    for (size_t i = 0; map_next(s->indexes, &i, &key, &value);)
        ((struct gone_index *)value)->since_ms = INT64_MAX;
    for (size_t i = 0; (d = gone_set_next(s, &i)) != NULL;) {
        struct gone_index *x = index_of(s, d->target);

        if (d->since_ms < x->since_ms)
            x->since_ms = d->since_ms;
    }
}

struct gone_document *gone_set_next(const struct gone_set *s, size_t *i)
{
    struct str key;
    void *value;

    return map_next(s->docs, i, &key, &value) ? value : NULL;
}

void gone_document_note(struct gone_document *d, const struct gone_row *row)
{
    d->state = GONE_NEW;
    if (row->stamp > d->stamp)
        d->stamp = row->stamp;
    if (row->log_end > d->log_end)
        d->log_end = row->log_end;
}

void gone_document_wait(struct gone_document *d, struct ticket *const *tickets, size_t n)
{
    if (n == 0)
        return;
    d->tickets = mem_resize(d->tickets, d->n_tickets + n, sizeof(struct ticket *));
    memcpy(d->tickets + d->n_tickets, tickets, n * sizeof(struct ticket *));
    d->n_tickets += n;
}

void gone_document_free(struct gone_document *d)
{
    for (size_t i = 0; i < d->n_tickets; i++)
        ticket_release_abandoned(d->tickets[i]);
    free(d->tickets);
    target_unref(d->target);
    free(d);
}

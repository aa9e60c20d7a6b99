#include "config.h"

#include "rebalance/watch/engine_facts.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/mem.h"
#include "src/format/json.h"
#include "src/search/search.h"

#include <stdlib.h>
#include <string.h>

/* Engines accept a request line of 4096 bytes. */
#define NAMES_MAX 3000
/*
 * Also asks for the uuid: without it, the engine would leave out indexes whose other parts are
 * empty.
 */
#define QUERY                                                             \
    "?ignore_unavailable=true&allow_no_indices=true&expand_wildcards=all" \
    "&filter_path=*.aliases,*.mappings._meta,*.settings.index.uuid"

/* ---- looking up ---- */

static int compare_indexes(const void *a, const void *b)
{
    return str_order(((const struct engine_index *)a)->name,
                     ((const struct engine_index *)b)->name);
}

static int compare_holders(const void *a, const void *b)
{
    const struct engine_holder *x = a, *y = b;
    const int c = str_order(x->alias, y->alias);

    return c != 0 ? c : str_order(x->index, y->index);
}

size_t engine_facts_from(const struct engine_facts *f, struct str name)
{
    size_t low = 0, high = f->n_indexes;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (str_order(f->indexes[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct engine_index *engine_facts_find(const struct engine_facts *f, struct str name)
{
    const size_t i = engine_facts_from(f, name);

    return i < f->n_indexes && str_equal(f->indexes[i].name, name) ? &f->indexes[i] : NULL;
}

const struct engine_holder *engine_facts_holders(const struct engine_facts *f, struct str alias,
                                                 size_t *n)
{
    size_t low = 0, high = f->n_holders;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (str_order(f->holders[middle].alias, alias) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (*n = 0; low + *n < f->n_holders && str_equal(f->holders[low + *n].alias, alias);)
        (*n)++;
    return f->holders + low;
}

/* ---- reading ---- */

struct reading_facts {
    struct arena *arena;
    struct engine_facts facts;
    size_t cap_indexes, cap_holders;
};

static struct str copy_text(struct arena *a, struct str json, const char *pointer)
{
    struct buf text = {0};
    const struct str copy =
        json_find_text(json, pointer, &text) ? arena_copy(a, buf_str(&text)) : STR("");

    buf_free(&text);
    return copy;
}

static bool read_mark(struct arena *a, struct str meta, struct engine_mark *mark)
{
    struct str json;

    if (!json_find(meta, "/_millrace", &json) || json.ptr[0] != '{')
        return false;
    mark->owner = copy_text(a, json, "/owner");
    mark->topic = copy_text(a, json, "/topic");
    mark->log = copy_text(a, json, "/log");
    (void)json_find_u64(json, "/epoch", &mark->epoch);
    (void)json_find_u64(json, "/version", &mark->version);
    return true;
}

static struct str copy_name(struct arena *a, struct str raw)
{
    struct buf name = {0};

    json_unescape(&name, raw);

    const struct str copy = arena_copy(a, buf_str(&name));

    buf_free(&name);
    return copy;
}

static void add_holder(struct reading_facts *r, struct str alias, struct str index)
{
    struct engine_facts *f = &r->facts;

    if (f->n_holders == r->cap_holders) {
        r->cap_holders = r->cap_holders == 0 ? 64 : r->cap_holders * 2;
        f->holders = mem_resize(f->holders, r->cap_holders, sizeof(*f->holders));
    }
    f->holders[f->n_holders++] = (struct engine_holder){alias, index};
}

static void read_aliases(struct reading_facts *r, struct str aliases, struct str index)
{
    struct json_reader j;
    struct str alias;

    json_reader_init(&j, aliases);
    if (json_enter_object(&j))
        while (json_next_member(&j, &alias) && json_skip(&j))
            add_holder(r, copy_name(r->arena, alias), index);
}

/* {"aliases":{...},"mappings":{"_meta":{...}},"settings":{...}} */
static void read_index(struct reading_facts *r, struct str name, struct str json)
{
    struct engine_facts *f = &r->facts;
    struct engine_index index = {.name = copy_name(r->arena, name)};
    struct str part;

    if (json_find(json, "/mappings/_meta", &part)) {
        index.meta = arena_copy(r->arena, part);
        index.is_marked = read_mark(r->arena, part, &index.mark);
    }
    if (json_find(json, "/aliases", &part))
        read_aliases(r, part, index.name);
    if (f->n_indexes == r->cap_indexes) {
        r->cap_indexes = r->cap_indexes == 0 ? 64 : r->cap_indexes * 2;
        f->indexes = mem_resize(f->indexes, r->cap_indexes, sizeof(*f->indexes));
    }
    f->indexes[f->n_indexes++] = index;
}

static bool read_text(struct reading_facts *r, struct str text, struct err *err)
{
    struct json_reader j;
    struct str name, json;

    json_reader_init(&j, text);
    if (json_enter_object(&j))
        while (json_next_member(&j, &name) && json_read_raw(&j, &json))
            read_index(r, name, json);
    if (json_reader_finish(&j, err))
        return true;
    err->kind = ERR_RETRY;
    return err_wrap(err, "cannot read the search engine's answer about its indexes");
}

/* Sort and drop duplicates: several names can lead to one index. */
static size_t sort_once(void *list, size_t n, size_t size,
                        int (*compare)(const void *, const void *))
{
    char *at = list;
    size_t kept = 0;

    if (n > 0)
        qsort(list, n, size, compare);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || compare(at + (kept - 1) * size, at + i * size) != 0)
            memmove(at + kept++ * size, at + i * size, size);
    return kept;
}

static void *move_in(struct arena *a, void *list, size_t n, size_t size)
{
    void *own = arena_alloc(a, n + 1, size);

    if (n > 0)
        memcpy(own, list, n * size);
    free(list);
    return own;
}

bool engine_facts_read(struct engine_facts *out, struct arena *a, const struct str *texts,
                       size_t n, struct err *err)
{
    struct reading_facts r = {.arena = a};
    struct engine_facts *f = &r.facts;
    bool ok = true;

    for (size_t i = 0; ok && i < n; i++)
        ok = read_text(&r, texts[i], err);
    f->n_indexes = sort_once(f->indexes, f->n_indexes, sizeof(*f->indexes), compare_indexes);
    f->n_holders = sort_once(f->holders, f->n_holders, sizeof(*f->holders), compare_holders);
    f->indexes = move_in(a, f->indexes, f->n_indexes, sizeof(*f->indexes));
    f->holders = move_in(a, f->holders, f->n_holders, sizeof(*f->holders));
    *out = *f;
    return ok;
}

/* ---- asking ---- */

/* Append as many names from *i on as fit into one request, and advance *i. */
static void append_names(struct buf *path, const struct str *names, size_t n, size_t *i)
{
    buf_append_char(path, '/');
    for (bool first = true; *i < n && (first || path->len + 3 * names[*i].len < NAMES_MAX);
         first = false) {
        const bool is_pattern = names[*i].len > 0 && names[*i].ptr[names[*i].len - 1] == '*';

        if (!first)
            buf_append_char(path, ',');
        search_append_path(path, (struct str){names[*i].ptr, names[*i].len - is_pattern});
        if (is_pattern)
            buf_append_char(path, '*');
        (*i)++;
    }
    buf_append(path, STR(QUERY));
}

bool engine_facts_ask(struct engine_facts *out, struct arena *a, struct search *search,
                      const struct str *names, size_t n, struct err *err)
{
    struct str *texts = arena_alloc(a, n + 1, sizeof(*texts));
    size_t n_texts = 0;
    bool ok = true;

    for (size_t i = 0; ok && i < n;) {
        struct buf path = {0}, answer = {0};

        append_names(&path, names, n, &i);
        ok = search_get(search, buf_str(&path), ENGINE_ASK_MS, &answer, err);
        texts[n_texts++] = arena_copy(a, buf_str(&answer));
        buf_free(&path);
        buf_free(&answer);
    }
    *out = (struct engine_facts){0};
    return ok && engine_facts_read(out, a, texts, n_texts, err);
}

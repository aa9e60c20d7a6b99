/* Documents whose relations were each read alone. */
#include "config.h"

#include "tests/golden/golden.h"

#include "src/base/buf.h"
#include "src/format/json.h"
#include "sync/definition/definition.h"
#include "sync/document/plan_node.h"

#include <stdlib.h>

static void want(struct relation_definition *relations, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        relations[i].refresh = REFRESH_AREA;
        want(relations[i].relations, relations[i].n_relations);
    }
}

void want_areas(struct dump *d)
{
    for (size_t i = 0; i < d->defs->n_tables; i++)
        want(d->defs->tables[i].relations, d->defs->tables[i].n_relations);
}

/* l with its member `name` replaced by value. */
static struct str replace(struct dump *d, struct str document, struct str name,
                          struct str value)
{
    struct buf out = {0};
    struct json_reader j;
    struct str key, raw;

    json_reader_init(&j, document);
    if (json_enter_object(&j))
        while (json_next_member(&j, &key) && json_read_raw(&j, &raw)) {
            buf_printf(&out, "%c\"%.*s\":", out.len == 0 ? '{' : ',', (int)key.len, key.ptr);
            buf_append(&out, json_string_equal(key, name) ? value : raw);
        }
    buf_append_char(&out, '}');

    const struct str copy = arena_copy(d->arena, buf_str(&out));

    buf_free(&out);
    return copy;
}

static void read_area(struct dump *d, uint8_t area, const struct str *keys, size_t n,
                      struct loaded *all)
{
    struct loaded *out = arena_alloc(d->arena, n, sizeof(*out));
    struct err err = {0};

    if (!loader_load(&d->conn, d->plan,
                     &(struct loader_keys){.keys = keys, .n = n, .area = area}, d->arena, out,
                     &err))
        die("area", &err);
    for (size_t i = 0; i < n; i++) {
        if (all[i].body.ptr == NULL)
            continue;
        if (out[i].body.ptr == NULL)
            all[i] = (struct loaded){.id = all[i].id, .err = out[i].err};
        else
            all[i].body = replace(d, all[i].body, d->plan->area_names[area - 1], out[i].body);
    }
}

void dump_areas(struct dump *d)
{
    size_t n;
    struct loaded *all = load_all(d, &n);
    struct str *keys = arena_alloc(d->arena, n + 1, sizeof(*keys));

    for (size_t i = 0; i < n; i++)
        keys[i] = all[i].key;
    for (size_t area = 1; area <= d->plan->n_areas; area++)
        read_area(d, (uint8_t)area, keys, n, all);
    for (size_t i = 0; i < n; i++)
        print_loaded(&all[i]);
    free(all);
}

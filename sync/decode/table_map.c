#include "config.h"

#include "sync/decode/table_map.h"

#include "src/base/arena.h"
#include "src/base/cursor.h"
#include "src/base/hash.h"
#include "src/base/map.h"
#include "src/base/mem.h"
#include "sync/decode/cell.h"
#include "sync/decode/event.h"
#include "sync/decode/table_metadata.h"
#include "sync/decode/wire.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>

/* Limits the tables of one statement; real ones have a handful. */
#define OPEN_MAX 4096

/* Limits the cached plans.  Above it all are dropped, which only costs making them again. */
#define PLANS_MAX 4096

/* Places for tables that nobody wants, however many the server has.  A power of two. */
#define UNWANTED_PLACES 1024

/* The servers' limit is 4096. */
#define COLUMNS_MAX 4096

struct open_map {
    uint64_t id;
    struct table_map *map; /* a reference */
};

struct table_maps {
    table_map_want_fn want;
    void *ctx;
    struct open_map *open;
    size_t n_open;
    size_t open_cap;
    struct map *plans; /* of wanted tables: body behind the table id -> struct table_map */
    uint64_t seed;
    struct table_map *unwanted[UNWANTED_PLACES]; /* each at the hash of its names, or NULL */
};

struct table_map *table_map_ref(struct table_map *m)
{
    __atomic_add_fetch(&m->refs, 1, __ATOMIC_RELAXED);
    return m;
}

void table_map_unref(struct table_map *m)
{
    if (m == NULL)
        return;

    const unsigned left = __atomic_sub_fetch(&m->refs, 1, __ATOMIC_ACQ_REL);

    assert(left != UINT_MAX);
    if (left > 0)
        return;
    schema_unref(m->schema);
    if (m->arena != NULL)
        arena_free(m->arena);
    else
        free(m);
}

static void drop_plan(void *plan)
{
    table_map_unref(plan);
}

struct table_maps *table_maps_new(table_map_want_fn want, void *ctx)
{
    struct table_maps *t = mem_alloc(1, sizeof(*t));

    t->want = want;
    t->ctx = ctx;
    t->plans = map_new();
    t->seed = hash_seed();
    return t;
}

static void clear_unwanted(struct table_maps *t)
{
    for (size_t i = 0; i < UNWANTED_PLACES; i++) {
        table_map_unref(t->unwanted[i]);
        t->unwanted[i] = NULL;
    }
}

static void clear_plans(struct table_maps *t)
{
    map_free(t->plans, drop_plan);
    t->plans = map_new();
}

void table_maps_free(struct table_maps *t)
{
    if (t == NULL)
        return;
    table_maps_end_statement(t);
    clear_unwanted(t);
    map_free(t->plans, drop_plan);
    free(t->open);
    free(t);
}

void table_maps_clear(struct table_maps *t)
{
    clear_plans(t);
    clear_unwanted(t);
}

void table_maps_end_statement(struct table_maps *t)
{
    while (t->n_open > 0)
        table_map_unref(t->open[--t->n_open].map);
}

struct table_map *table_maps_find(const struct table_maps *t, uint64_t id)
{
    for (size_t i = 0; i < t->n_open; i++)
        if (t->open[i].id == id)
            return t->open[i].map;
    return NULL;
}

static bool open_map(struct table_maps *t, uint64_t id, struct table_map *m, struct err *err)
{
    for (size_t i = 0; i < t->n_open; i++)
        if (t->open[i].id == id) {
            table_map_ref(m);
            table_map_unref(t->open[i].map);
            t->open[i].map = m;
            return true;
        }
    if (t->n_open == OPEN_MAX)
        return err_set(err, ERR_FATAL, "more than %d tables in one statement", OPEN_MAX);
    if (t->n_open == t->open_cap) {
        t->open_cap = t->open_cap > 0 ? t->open_cap * 2 : 8;
        t->open = mem_resize(t->open, t->open_cap, sizeof(*t->open));
    }
    t->open[t->n_open++] = (struct open_map){id, table_map_ref(m)};
    return true;
}

/* The table map under construction. */
struct making {
    struct table_map *map;
    struct cursor c;
    bool mariadb;
    struct schema *known; /* the caller's, or NULL */
    struct wire_column *wire;
    struct table_metadata metadata;
};

static bool damaged(struct err *err)
{
    return err_set(err, ERR_REJECT, "damaged Table_map event");
}

/* Read types, metadata and the bitmap of nullable columns. */
static bool read_columns(struct making *m, struct err *err)
{
    struct cursor *c = &m->c;
    const uint64_t n = cursor_lenenc(c);
    const uint8_t *types = n <= COLUMNS_MAX ? cursor_take(c, n) : NULL;
    struct cursor meta = cursor_of(cursor_str(c, cursor_lenenc(c)));
    const uint8_t *nullable = cursor_take(c, (n + 7) / 8);

    if (n == 0 || types == NULL || c->failed)
        return damaged(err);
    m->map->n_columns = n;
    m->wire = mem_alloc(n, sizeof(*m->wire));
    m->metadata.columns = mem_alloc(n, sizeof(*m->metadata.columns));
    m->metadata.n_columns = n;
    for (size_t i = 0; i < n; i++) {
        m->metadata.columns[i].nullable = (nullable[i / 8] >> i % 8 & 1) != 0;
        if (!wire_column_parse(types[i], &meta, &m->wire[i]))
            return err_set(err, ERR_REJECT, "column %zu has the unknown type %u", i + 1,
                           types[i]);
    }
    if (meta.failed)
        return damaged(err);
    m->metadata.wire = m->wire;
    return table_metadata_parse(&m->metadata, cursor_rest(c), m->mariadb, err);
}

/* The name "@3" for a column without one. */
static struct str number_name(struct arena *a, size_t i)
{
    struct buf b = {0};

    buf_append_char(&b, '@');
    buf_append_u64(&b, i + 1);

    const struct str name = arena_copy(a, buf_str(&b));

    buf_free(&b);
    return name;
}

/* Fill in what the log leaves open from the known column of the same name or place. */
static void apply_hint(struct column *c, const struct wire_column *w,
                       const struct column *known)
{
    const bool text_hint = known->type == COLUMN_UUID || known->type == COLUMN_INET4 ||
                           known->type == COLUMN_INET6 || known->type == COLUMN_JSON ||
                           known->type == COLUMN_VECTOR;

    if (!wire_column_fits(w, known))
        return;
    if (text_hint || c->type == COLUMN_TIME || c->type == COLUMN_DATETIME ||
        c->type == COLUMN_TIMESTAMP) {
        c->type = known->type;
        c->fsp = known->fsp;
        c->old_temporal = known->old_temporal;
        c->length = known->length;
        c->type_text = known->type_text;
    }
    c->generated = known->generated;
    c->row_end = known->row_end;
    c->compressed = c->compressed || known->compressed;
}

/* Recognise the column left behind when a table loses its versioning. */
static bool is_row_end(const struct column *c)
{
    return c->type == COLUMN_TIMESTAMP && c->fsp == 6 && str_equal(c->name, STR("row_end"));
}

/* Build the schema from the log, with hints from the known one. */
static struct schema *schema_from_log(struct making *m)
{
    struct schema *s = schema_new(m->map->database, m->map->table);
    struct table_metadata *metadata = &m->metadata;

    s->n_columns = metadata->n_columns;
    s->columns = arena_alloc(s->arena, s->n_columns, sizeof(*s->columns));
    for (size_t i = 0; i < s->n_columns; i++) {
        struct column *c = &s->columns[i];

        table_metadata_column(metadata, i, s->arena, c);
        if (c->name.ptr == NULL)
            c->name = number_name(s->arena, i);
        if (m->known == NULL)
            continue;

        const size_t k = schema_find(m->known, c->name);

        if (k != SIZE_MAX)
            apply_hint(c, &m->wire[i], &m->known->columns[k]);
        else
            c->row_end = is_row_end(c);
    }
    table_metadata_key(metadata, s);
    return s;
}

/* Check that the known schema can have written this map, or say why not. */
static bool check_known(const struct making *m, struct err *err)
{
    const struct schema *known = m->known;

    if (known->n_columns != m->map->n_columns)
        return err_set(err, ERR_REJECT, "the log has %zu columns, the known table has %zu",
                       m->map->n_columns, known->n_columns);
    for (size_t i = 0; i < known->n_columns; i++)
        if (!wire_column_fits(&m->wire[i], &known->columns[i]))
            return err_set(err, ERR_REJECT,
                           "column %zu is %s in the log, but '%" STR_FMT "' is %" STR_FMT
                           " in the known table",
                           i + 1, wire_type_name(m->wire[i].type),
                           STR_ARG(known->columns[i].name),
                           STR_ARG(known->columns[i].type_text));
    return true;
}

/* Names from the log outrank the known schema; without names the known schema must fit. */
static bool choose_schema(struct making *m, struct err *err)
{
    struct table_map *map = m->map;

    map->full_metadata = m->metadata.has_names;
    map->has_names = map->full_metadata || m->known != NULL;
    if (map->full_metadata || m->known == NULL)
        map->schema = schema_from_log(m);
    else if (check_known(m, err))
        map->schema = schema_ref(m->known);
    else
        return false;
    map->keeps_history = schema_keeps_history(map->schema);
    return true;
}

static void make_plans(struct making *m)
{
    struct table_map *map = m->map;

    map->columns = arena_alloc(map->arena, map->n_columns, sizeof(*map->columns));
    map->readable = true;
    for (size_t i = 0; i < map->n_columns; i++) {
        if (!cell_plan(&m->wire[i], &map->schema->columns[i], &map->columns[i])) {
            map->columns[i] = (struct column_plan){.code = CELL_UNKNOWN};
            map->readable = false;
        }
        map->text_max += map->columns[i].text_max;
    }
}

static struct table_map *make_plan(struct making *m, struct str database, struct str table)
{
    struct arena *a = arena_new();
    struct table_map *map = arena_alloc(a, 1, sizeof(*map));

    *map = (struct table_map){.database = arena_copy(a, database),
                              .table = arena_copy(a, table),
                              .wanted = true,
                              .arena = a,
                              .refs = 1};
    m->map = map;
    if (read_columns(m, &map->broken) && choose_schema(m, &map->broken))
        make_plans(m);
    else
        err_wrap(&map->broken, "table %" STR_FMT ".%" STR_FMT, STR_ARG(database),
                 STR_ARG(table));
    free(m->wire);
    table_metadata_fini(&m->metadata);
    schema_unref(m->known);
    return map;
}

static struct table_map *keep_plan(struct table_maps *t, struct str body, struct table_map *map)
{
    if (map_count(t->plans) >= PLANS_MAX)
        clear_plans(t);
    map_put(t->plans, body, map);
    return map;
}

/* One piece of memory: the names stand behind the map. */
static struct table_map *make_unwanted(struct str database, struct str table)
{
    struct table_map *map = mem_alloc(1, sizeof(*map) + database.len + table.len);
    char *names = (char *)(map + 1);

    memcpy(names, database.ptr, database.len);
    memcpy(names + database.len, table.ptr, table.len);
    *map = (struct table_map){.database = {names, database.len},
                              .table = {names + database.len, table.len},
                              .refs = 1};
    return map;
}

static bool is_of(const struct table_map *map, struct str database, struct str table)
{
    return map != NULL && str_equal(map->database, database) && str_equal(map->table, table);
}

/* Read what stands before the columns.  The names are borrowed. */
static bool read_names(struct cursor *c, struct str *database, struct str *table)
{
    cursor_take(c, 2); /* flags */
    *database = cursor_str(c, cursor_u8(c));
    cursor_u8(c);
    *table = cursor_str(c, cursor_u8(c));
    cursor_u8(c);
    return !c->failed;
}

/* Get the map of a table that has no plan: make one, unless the table is unwanted. */
static struct table_map *get_map(struct table_maps *t, const struct event_format *f,
                                 struct str body, struct err *err)
{
    struct making m = {.c = cursor_of(body), .mariadb = f->mariadb};

    struct str database, table;

    if (!read_names(&m.c, &database, &table)) {
        damaged(err);
        return NULL;
    }

    const uint64_t hash = hash_bytes(table, hash_bytes(database, t->seed));
    struct table_map **place = &t->unwanted[hash % UNWANTED_PLACES];

    if (is_of(*place, database, table))
        return *place;
    if (t->want == NULL || t->want(t->ctx, database, table, &m.known))
        return keep_plan(t, body, make_plan(&m, database, table));
    table_map_unref(*place);
    *place = make_unwanted(database, table);
    return *place;
}

bool table_maps_add(struct table_maps *t, const struct event_format *f, struct str body,
                    struct table_map **out, struct err *err)
{
    struct cursor c = cursor_of(body);
    const uint64_t id = cursor_le(&c, event_table_id_size(f, EVENT_TABLE_MAP));
    const struct str key = cursor_rest(&c);

    if (c.failed)
        return damaged(err);
    *out = map_find(t->plans, key);
    if (*out == NULL)
        *out = get_map(t, f, key, err);
    return *out != NULL && open_map(t, id, *out, err);
}

#include "config.h"

#include "sync/shapes.h"

#include "src/base/buf.h"
#include "src/base/mem.h"
#include "src/json.h"
#include "sync/binlog/schema.h"

#include <stdlib.h>
#include <string.h>

#define FORMAT       1
#define A_TABLE_MAX  8 /* shapes of one table; older ones are of use to no restart */
#define EPOCH(v)     ((v) >> 53)
#define IS_GENERATED 1
#define IS_INVISIBLE 2
#define IS_PACKED    4
#define IS_OLD_TIME  8
#define IS_UNSIGNED  16
#define IS_NULLABLE  32

struct shapes {
    struct shape **list; /* in the order in which they were learned */
    size_t n;
    size_t n_new; /* at its end: learned, not settled */
};

struct shape *shape_ref(struct shape *s)
{
    __atomic_add_fetch(&s->refs, 1, __ATOMIC_RELAXED);
    return s;
}

void shape_unref(struct shape *s)
{
    if (s == NULL || __atomic_sub_fetch(&s->refs, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    schema_unref(s->schema);
    free(s);
}

struct shapes *shapes_new(void)
{
    return mem_alloc(1, sizeof(struct shapes));
}

void shapes_free(struct shapes *s)
{
    if (s == NULL)
        return;
    for (size_t i = 0; i < s->n; i++)
        shape_unref(s->list[i]);
    free(s->list);
    free(s);
}

static bool is_of(const struct shape *s, struct str database, struct str table)
{
    return str_equal(s->schema->database, database) && str_equal(s->schema->table, table);
}

struct shape *shapes_find(const struct shapes *s, struct str database, struct str table,
                          uint64_t at)
{
    struct shape *found = NULL;

    for (size_t i = 0; i < s->n; i++)
        if (is_of(s->list[i], database, table) && s->list[i]->from <= at &&
            (found == NULL || s->list[i]->from >= found->from))
            found = s->list[i];
    return found;
}

static void drop(struct shapes *s, size_t i)
{
    shape_unref(s->list[i]);
    s->n--;
    memmove(s->list + i, s->list + i + 1, (s->n - i) * sizeof(*s->list));
}

static void drop_oldest(struct shapes *s, const struct schema *of)
{
    size_t first = s->n, count = 0;

    for (size_t i = s->n; i-- > 0;)
        if (is_of(s->list[i], of->database, of->table)) {
            first = i;
            count++;
        }
    if (count >= A_TABLE_MAX)
        drop(s, first);
}

static struct shape *add(struct shapes *s, struct schema *schema, uint64_t from)
{
    struct shape *shape = mem_alloc(1, sizeof(*shape));

    *shape = (struct shape){
        .schema = schema_ref(schema), .from = from, .doubt_to = UINT64_MAX, .refs = 1};
    s->list = mem_resize(s->list, s->n + 1, sizeof(struct shape *));
    s->list[s->n++] = shape;
    return shape;
}

struct shape *shapes_learn(struct shapes *s, struct schema *schema, uint64_t at)
{
    drop_oldest(s, schema);
    s->n_new++;
    return add(s, schema, at);
}

bool shapes_are_new(const struct shapes *s)
{
    return s->n_new > 0;
}

void shapes_settle(struct shapes *s, uint64_t log_end)
{
    for (; s->n_new > 0; s->n_new--)
        s->list[s->n - s->n_new]->doubt_to = log_end;
}

void shapes_abandon(struct shapes *s)
{
    for (; s->n_new > 0; s->n_new--)
        drop(s, s->n - 1);
}

bool shapes_retain(struct shapes *s, bool (*is_wanted)(void *ctx, const struct schema *schema),
                   void *ctx)
{
    const size_t before = s->n;

    for (size_t i = s->n - s->n_new; i-- > 0;)
        if (!is_wanted(ctx, s->list[i]->schema))
            drop(s, i);
    return s->n < before;
}

/* ---- as text ---- */

static unsigned flags_of(const struct column *c)
{
    return (c->generated ? IS_GENERATED : 0u) | (c->invisible ? IS_INVISIBLE : 0u) |
           (c->compressed ? IS_PACKED : 0u) | (c->old_temporal ? IS_OLD_TIME : 0u) |
           (c->is_unsigned ? IS_UNSIGNED : 0u) | (c->nullable ? IS_NULLABLE : 0u);
}

/* ["name","type",number,flags,fsp,precision,scale,length,"charset","collation",[labels]] */
static void format_column(struct json_writer *w, const struct column *c)
{
    const uint64_t numbers[] = {(uint64_t)c->type, flags_of(c), c->fsp,
                                c->precision,      c->scale,    c->length};

    json_open_array(w);
    json_write_string(w, c->name);
    json_write_string(w, c->type_text);
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
        json_write_u64(w, numbers[i]);
    json_write_string(w, c->charset);
    json_write_string(w, c->collation);
    json_open_array(w);
    for (size_t i = 0; i < c->n_labels; i++)
        json_write_string(w, c->labels[i]);
    json_close_array(w);
    json_close_array(w);
}

static void format_shape(struct json_writer *w, const struct shape *s)
{
    json_open_object(w);
    json_put_u64(w, STR("from"), s->from);
    json_put_u64(w, STR("doubt_to"), s->doubt_to);
    json_put_string(w, STR("database"), s->schema->database);
    json_put_string(w, STR("table"), s->schema->table);
    json_put_string(w, STR("engine"), s->schema->engine);
    json_write_key(w, STR("columns"));
    json_open_array(w);
    for (size_t i = 0; i < s->schema->n_columns; i++)
        format_column(w, &s->schema->columns[i]);
    json_close_array(w);
    json_write_key(w, STR("key"));
    json_open_array(w);
    for (size_t i = 0; i < s->schema->n_key; i++)
        json_write_u64(w, s->schema->key[i]);
    json_close_array(w);
    json_close_object(w);
}

void shapes_format(const struct shapes *s, struct buf *json)
{
    struct json_writer w = {.out = json};

    json_open_object(&w);
    json_put_u64(&w, STR("format"), FORMAT);
    json_write_key(&w, STR("shapes"));
    json_open_array(&w);
    for (size_t i = 0; i < s->n; i++)
        format_shape(&w, s->list[i]);
    json_close_array(&w);
    json_close_object(&w);
}

static struct str read_text(struct json_reader *r, struct arena *a)
{
    struct buf text = {0};

    if (json_next_element(r))
        (void)json_read_text(r, &text);

    const struct str copy = arena_copy(a, buf_str(&text));

    buf_free(&text);
    return copy;
}

static uint64_t read_number(struct json_reader *r)
{
    uint64_t n = 0;

    return json_next_element(r) && json_read_u64(r, &n) ? n : 0;
}

static void read_labels(struct json_reader *r, struct arena *a, struct column *c)
{
    struct json_reader count = *r;

    if (!json_next_element(&count) || !json_enter_array(&count))
        return;
    while (json_next_element(&count) && json_skip(&count))
        c->n_labels++;
    c->labels = arena_alloc(a, c->n_labels + 1, sizeof(*c->labels));
    if (!json_next_element(r) || !json_enter_array(r))
        return;
    for (size_t i = 0; i < c->n_labels; i++)
        c->labels[i] = read_text(r, a);
    (void)json_leave(r);
}

static void read_column(struct json_reader *r, struct arena *a, struct column *c)
{
    if (!json_next_element(r) || !json_enter_array(r))
        return;
    *c = (struct column){.name = read_text(r, a), .type_text = read_text(r, a)};
    c->type = (enum column_type)read_number(r);

    const uint64_t flags = read_number(r);

    c->generated = (flags & IS_GENERATED) != 0;
    c->invisible = (flags & IS_INVISIBLE) != 0;
    c->compressed = (flags & IS_PACKED) != 0;
    c->old_temporal = (flags & IS_OLD_TIME) != 0;
    c->is_unsigned = (flags & IS_UNSIGNED) != 0;
    c->nullable = (flags & IS_NULLABLE) != 0;
    c->fsp = (uint8_t)read_number(r);
    c->precision = (uint8_t)read_number(r);
    c->scale = (uint8_t)read_number(r);
    c->length = (uint32_t)read_number(r);
    c->charset = read_text(r, a);
    c->collation = read_text(r, a);
    read_labels(r, a, c);
    (void)json_leave(r);
}

static size_t count_elements(struct str array)
{
    struct json_reader r;
    size_t n = 0;

    json_reader_init(&r, array);
    if (json_enter_array(&r))
        while (json_next_element(&r) && json_skip(&r))
            n++;
    return n;
}

static bool read_columns(struct schema *s, struct str json)
{
    struct json_reader r;

    s->n_columns = count_elements(json);
    s->columns = arena_alloc(s->arena, s->n_columns + 1, sizeof(*s->columns));
    json_reader_init(&r, json);
    if (json_enter_array(&r))
        for (size_t i = 0; i < s->n_columns; i++)
            read_column(&r, s->arena, &s->columns[i]);
    return json_reader_ok(&r) && s->n_columns > 0;
}

static bool read_key(struct schema *s, struct str json)
{
    struct json_reader r;
    const size_t n = count_elements(json);

    s->key = arena_alloc(s->arena, n + 1, sizeof(*s->key));
    json_reader_init(&r, json);
    if (json_enter_array(&r))
        for (size_t i = 0; i < n; i++) {
            const uint64_t at = read_number(&r);

            if (at >= s->n_columns)
                return false;
            s->key[s->n_key++] = at;
        }
    return json_reader_ok(&r);
}

static bool read_shape(struct shapes *s, struct str json, uint64_t at)
{
    struct buf database = {0}, table = {0}, engine = {0};
    struct str columns, key;
    uint64_t from, doubt_to;
    bool ok = json_find_u64(json, "/from", &from) &&
              json_find_u64(json, "/doubt_to", &doubt_to) &&
              json_find_text(json, "/database", &database) &&
              json_find_text(json, "/table", &table) && json_find(json, "/columns", &columns) &&
              json_find(json, "/key", &key);

    if (ok && from <= at && EPOCH(from) == EPOCH(at)) {
        struct schema *schema = schema_new(buf_str(&database), buf_str(&table));

        (void)json_find_text(json, "/engine", &engine);
        schema->engine = arena_copy(schema->arena, buf_str(&engine));
        ok = read_columns(schema, columns) && read_key(schema, key);
        if (ok) {
            struct shape *shape = add(s, schema, from);

            shape->doubt_to = doubt_to;
            shape->used = true; /* who can tell */
        }
        schema_unref(schema);
    }
    buf_free(&database);
    buf_free(&table);
    buf_free(&engine);
    return ok;
}

bool shapes_parse(struct shapes *s, struct str json, uint64_t at, struct err *err)
{
    struct json_reader r;
    struct str list, one;
    uint64_t format;

    if (!json_find_u64(json, "/format", &format) || format != FORMAT ||
        !json_find(json, "/shapes", &list))
        return err_set(err, ERR_REJECT, "the stored shapes of tables have an unknown form");
    json_reader_init(&r, list);
    if (json_enter_array(&r))
        while (json_next_element(&r) && json_read_raw(&r, &one))
            if (!read_shape(s, one, at))
                return err_set(err, ERR_REJECT, "the stored shapes of tables are damaged");
    return json_reader_finish(&r, err);
}

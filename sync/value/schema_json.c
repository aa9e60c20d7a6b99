#include "config.h"

#include "sync/value/schema_json.h"

#include "src/base/buf.h"
#include "src/base/mem.h"
#include "src/format/json.h"
#include "sync/value/schema.h"

#include <stdlib.h>
#include <string.h>

#define IS_GENERATED 1
#define IS_INVISIBLE 2
#define IS_PACKED    4
#define IS_OLD_TIME  8
#define IS_UNSIGNED  16
#define IS_NULLABLE  32
#define IS_DEFAULTED 64
#define IS_ROW_END   128

static unsigned flags_of(const struct column *c)
{
    return (c->generated ? IS_GENERATED : 0u) | (c->invisible ? IS_INVISIBLE : 0u) |
           (c->compressed ? IS_PACKED : 0u) | (c->old_temporal ? IS_OLD_TIME : 0u) |
           (c->is_unsigned ? IS_UNSIGNED : 0u) | (c->nullable ? IS_NULLABLE : 0u) |
           (c->has_default ? IS_DEFAULTED : 0u) | (c->row_end ? IS_ROW_END : 0u);
}

/* ["name","type",number,flags,fsp,precision,scale,length,"charset","collation",[labels],
 * "expression"] */
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
    json_write_string(w, c->expression);
    json_close_array(w);
}

void schema_format(struct json_writer *w, const struct schema *s)
{
    json_put_string(w, STR("database"), s->database);
    json_put_string(w, STR("table"), s->table);
    json_put_string(w, STR("engine"), s->engine);
    json_write_key(w, STR("columns"));
    json_open_array(w);
    for (size_t i = 0; i < s->n_columns; i++)
        format_column(w, &s->columns[i]);
    json_close_array(w);
    json_write_key(w, STR("key"));
    json_open_array(w);
    for (size_t i = 0; i < s->n_key; i++)
        json_write_u64(w, s->key[i]);
    json_close_array(w);
}

/* ---- reading ---- */

static struct str read_this_text(struct json_reader *r, struct arena *a)
{
    struct buf text = {0};

    (void)json_read_text(r, &text);

    const struct str copy = arena_copy(a, buf_str(&text));

    buf_free(&text);
    return copy;
}

static struct str read_text(struct json_reader *r, struct arena *a)
{
    return json_next_element(r) ? read_this_text(r, a) : STR("");
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
    c->has_default = (flags & IS_DEFAULTED) != 0;
    c->row_end = (flags & IS_ROW_END) != 0;
    c->fsp = (uint8_t)read_number(r);
    c->precision = (uint8_t)read_number(r);
    c->scale = (uint8_t)read_number(r);
    c->length = (uint32_t)read_number(r);
    c->charset = read_text(r, a);
    c->collation = read_text(r, a);
    read_labels(r, a, c);
    if (!json_next_element(r))
        return; /* recorded before schemas had expressions */
    c->expression = read_this_text(r, a);
    (void)json_leave(r);
}

static bool read_columns(struct schema *s, struct str json)
{
    struct json_reader r;

    s->n_columns = json_count_elements(json);
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
    const size_t n = json_count_elements(json);

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

struct schema *schema_parse(struct str json)
{
    struct buf database = {0}, table = {0}, engine = {0};
    struct str columns, key;
    struct schema *s = NULL;

    if (json_find_text(json, "/database", &database) &&
        json_find_text(json, "/table", &table) && json_find(json, "/columns", &columns) &&
        json_find(json, "/key", &key)) {
        s = schema_new(buf_str(&database), buf_str(&table));
        (void)json_find_text(json, "/engine", &engine);
        s->engine = arena_copy(s->arena, buf_str(&engine));
        if (!read_columns(s, columns) || !read_key(s, key)) {
            schema_unref(s);
            s = NULL;
        }
    }
    buf_free(&database);
    buf_free(&table);
    buf_free(&engine);
    return s;
}

/* ---- several ---- */

void schema_list_add(struct schema_list *l, struct str topic, struct schema *s)
{
    l->list = mem_resize(l->list, l->n + 1, sizeof(struct schema *));
    l->topics = mem_resize(l->topics, l->n + 1, sizeof(*l->topics));
    l->topics[l->n] =
        (struct str){strndup(topic.len == 0 ? "" : topic.ptr, topic.len), topic.len};
    l->list[l->n++] = schema_ref(s);
}

void schema_list_fini(struct schema_list *l)
{
    for (size_t i = 0; i < l->n; i++) {
        schema_unref(l->list[i]);
        mem_free_const(l->topics[i].ptr);
    }
    free(l->list);
    free(l->topics);
    *l = (struct schema_list){0};
}

struct schema *schema_list_find(void *ctx, struct str topic, struct str database,
                                struct str table)
{
    const struct schema_list *l = ctx;

    for (size_t i = 0; i < l->n; i++)
        if ((l->topics[i].len == 0 || str_equal(l->topics[i], topic)) &&
            str_equal(l->list[i]->database, database) && str_equal(l->list[i]->table, table))
            return l->list[i];
    return NULL;
}

bool schema_list_tables(void *ctx, struct str topic, struct str database, struct arena *a,
                        struct str **out, size_t *n)
{
    const struct schema_list *l = ctx;

    *out = arena_alloc(a, l->n + 1, sizeof(**out));
    *n = 0;
    for (size_t i = 0; i < l->n; i++)
        if (str_equal(l->list[i]->database, database) &&
            (l->topics[i].len == 0 || str_equal(l->topics[i], topic)))
            (*out)[(*n)++] = l->list[i]->table;
    return true;
}

void schema_list_format(const struct schema_list *l, struct buf *json)
{
    struct json_writer w = {.out = json};

    json_open_array(&w);
    for (size_t i = 0; i < l->n; i++) {
        json_open_object(&w);
        json_put_string(&w, STR("topic"), l->topics[i]);
        schema_format(&w, l->list[i]);
        json_close_object(&w);
    }
    json_close_array(&w);
}

bool schema_list_parse(struct schema_list *l, struct str json)
{
    struct json_reader r;
    struct str one;
    bool ok = true;

    json_reader_init(&r, json);
    if (json_enter_array(&r))
        while (ok && json_next_element(&r) && json_read_raw(&r, &one)) {
            struct schema *s = schema_parse(one);
            struct buf topic = {0};

            ok = s != NULL;
            (void)json_find_text(one, "/topic", &topic);
            if (ok)
                schema_list_add(l, buf_str(&topic), s);
            schema_unref(s);
            buf_free(&topic);
        }
    return ok && json_reader_ok(&r);
}

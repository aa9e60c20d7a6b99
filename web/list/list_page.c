#include "config.h"

#include "web/list/list_page.h"

#include "src/base/buf.h"
#include "src/base/hex.h"
#include "src/base/mem.h"
#include "src/format/json.h"

#include <stdlib.h>
#include <string.h>

#define KEYS_MAX   4
#define NUMBER_LEN 20 /* digits of the largest number */

/* What makes one item another one. */
static const struct list_form {
    const char *schema;
    const char
        *keys[KEYS_MAX]; /* JSON pointers into an item; none: the store makes the pages */
} forms[] = {
    {"millrace/topic/1", {"/name"}},
    {"millrace/database/1", {"/name"}},
    {"millrace/table/1", {"/table", "/pattern"}},
    {"millrace/relation/1", {"/in", "/as", "/table"}},
    {"millrace/version/1", {"/index", "/version"}},
    {"millrace/index/1", {"/index", "/version"}},
    {"millrace/job/1", {"/kind", "/id"}},
    {"millrace/log/1", {NULL}},
    {"millrace/user/1", {"/name"}},
    {"millrace/token/1", {"/name"}},
    {"millrace/node/1", {"/id"}},
    {"millrace/report/1", {"/index", "/version", "/began", "/job"}},
    {"millrace/delayed-runs/1", {"/run", "/table"}},
    {"millrace/audit/1", {NULL}},
    {"millrace/word/1", {NULL}},
    {"millrace/dead-letter/1", {NULL}},
    {"millrace/delayed/1", {NULL}},
};

struct list_item {
    struct str json;
    struct buf key;
    size_t place; /* in the answer */
};

struct list_items {
    const struct list_form *form;
    struct list_item *all;
    size_t n, cap;
};

static const struct list_form *find_form(struct str schema)
{
    for (size_t i = 0; i < ARRAY_LEN(forms); i++)
        if (str_equal(str_from(forms[i].schema), schema))
            return &forms[i];
    return NULL;
}

/* ---- keys ---- */

static bool is_number(struct str s)
{
    bool is = s.len > 0 && s.len <= NUMBER_LEN;

    for (size_t i = 0; i < s.len && is; i++)
        is = s.ptr[i] >= '0' && s.ptr[i] <= '9';
    return is;
}

/* Numbers stand before texts, in their order.  No text has a NUL. */
static void append_part(struct buf *key, struct str part)
{
    if (is_number(part))
        for (size_t i = part.len; i < NUMBER_LEN; i++)
            buf_append_char(key, '0');
    buf_append(key, part);
    buf_append_char(key, '\0');
}

static void make_key(struct list_item *item, const struct list_form *form)
{
    struct buf part = {0};
    struct str raw;

    for (size_t i = 0; i < KEYS_MAX && form->keys[i] != NULL; i++) {
        buf_clear(&part);
        if (json_find(item->json, form->keys[i], &raw) &&
            !json_find_text(item->json, form->keys[i], &part))
            buf_append(&part, raw);
        append_part(&item->key, buf_str(&part));
    }
    buf_free(&part);
}

static int compare(const void *a, const void *b)
{
    const struct list_item *x = a, *y = b;
    const int order = str_order(buf_str(&x->key), buf_str(&y->key));

    return order != 0 ? order : (x->place > y->place) - (x->place < y->place);
}

/* Items that nothing tells apart are counted, so that a page can end between them. */
static void count_alike(struct list_items *l)
{
    struct buf last = {0};
    size_t n = 0;

    for (size_t i = 0; i < l->n; i++) {
        n = i > 0 && str_equal(buf_str(&last), buf_str(&l->all[i].key)) ? n + 1 : 0;
        buf_clear(&last);
        buf_append(&last, buf_str(&l->all[i].key));
        buf_printf(&l->all[i].key, "%08zx", n);
    }
    buf_free(&last);
}

static void sort(struct list_items *l)
{
    if (l->n > 0)
        qsort(l->all, l->n, sizeof(*l->all), compare);
    count_alike(l);
}

/* ---- reading ---- */

static void add(struct list_items *l, struct str json)
{
    if (l->n == l->cap) {
        l->cap = l->cap == 0 ? 64 : 2 * l->cap;
        l->all = mem_resize(l->all, l->cap, sizeof(*l->all));
    }
    l->all[l->n] = (struct list_item){.json = json, .place = l->n};
    make_key(&l->all[l->n], l->form);
    l->n++;
}

static bool read_items(struct list_items *l, struct str array, struct err *err)
{
    struct json_reader r;
    struct str raw;

    json_reader_init(&r, array);
    if (json_enter_array(&r))
        while (json_next_element(&r))
            if (json_read_raw(&r, &raw))
                add(l, raw);
    return json_reader_finish(&r, err);
}

static void free_items(struct list_items *l)
{
    for (size_t i = 0; i < l->n; i++)
        buf_free(&l->all[i].key);
    free(l->all);
}

/* ---- the page ---- */

/* A key may have any bytes. */
static bool read_cursor(struct buf *key, struct str after, struct err *err)
{
    bool ok = after.len % 2 == 0;

    for (size_t i = 0; ok && i < after.len; i += 2) {
        const int byte = hex_byte(after, i);

        ok = byte >= 0;
        buf_append_char(key, (char)byte);
    }
    return ok || err_set_code(err, ERR_REJECT, "http", 400,
                              "\"after\" names no page; fix: send the \"next\" of the page "
                              "before, or leave it out");
}

static size_t find_begin(const struct list_items *l, struct str after)
{
    size_t i = 0;

    while (after.len > 0 && i < l->n && str_order(buf_str(&l->all[i].key), after) <= 0)
        i++;
    return i;
}

static void put_next(struct json_writer *w, struct str key)
{
    struct buf text = {0};
    char digits[2];

    for (size_t i = 0; i < key.len; i++) {
        hex_put(digits, (unsigned char)key.ptr[i]);
        buf_append(&text, (struct str){digits, sizeof(digits)});
    }
    json_put_string(w, STR("next"), buf_str(&text));
    buf_free(&text);
}

/* Write the members of the answer, with these items. */
static bool write_page(struct buf *out, struct str json, const struct list_items *l,
                       size_t begin, size_t end, struct err *err)
{
    struct json_writer w = {.out = out};
    struct json_reader r;
    struct str key, raw;

    json_open_object(&w);
    json_reader_init(&r, json);
    if (json_enter_object(&r))
        while (json_next_member(&r, &key) && json_read_raw(&r, &raw)) {
            json_write_key(&w, key);
            if (!str_equal(key, STR("items"))) {
                json_write_raw(&w, raw);
                continue;
            }
            json_open_array(&w);
            for (size_t i = begin; i < end; i++)
                json_write_raw(&w, l->all[i].json);
            json_close_array(&w);
        }
    if (end > begin && end < l->n)
        put_next(&w, buf_str(&l->all[end - 1].key));
    else
        json_put_null(&w, STR("next"));
    json_close_object(&w);
    return json_reader_finish(&r, err);
}

static bool cut(struct buf *json, struct list_items *l, const struct list_want *want,
                struct err *err)
{
    const size_t limit =
        want->limit > 0 && want->limit < LIST_PAGE_MAX ? (size_t)want->limit : LIST_PAGE_MAX;
    struct buf after = {0}, page = {0};
    bool ok = read_cursor(&after, want->after, err);

    if (ok) {
        if (want->after.len > 0 || l->n > limit)
            sort(l);

        const size_t begin = find_begin(l, buf_str(&after));
        const size_t end = l->n - begin > limit ? begin + limit : l->n;

        ok = write_page(&page, buf_str(json), l, begin, end, err);
    }
    if (ok) {
        buf_clear(json);
        buf_append(json, buf_str(&page));
    }
    buf_free(&after);
    buf_free(&page);
    return ok;
}

/* The store has made the page, and "more_after" is there if another one follows. */
static void add_next(struct buf *json)
{
    struct json_writer w = {.out = json, .comma = true};
    struct buf last = {0};
    struct str raw;

    if (json_find(buf_str(json), "/more_after", &raw) &&
        !json_find_text(buf_str(json), "/more_after", &last))
        buf_append(&last, raw);
    while (json->len > 0 && json->ptr[json->len - 1] != '}')
        json->len--;
    json->len--;
    if (last.len > 0)
        json_put_string(&w, STR("next"), buf_str(&last));
    else
        json_put_null(&w, STR("next"));
    buf_append_char(json, '}');
    buf_free(&last);
}

bool list_has_pages(struct str schema)
{
    return find_form(schema) != NULL;
}

bool list_page(struct buf *json, const struct list_want *want, struct err *err)
{
    struct buf schema = {0};
    struct str array;
    struct list_items l = {0};
    bool ok = json_find(buf_str(json), "/items", &array) &&
              json_find_text(buf_str(json), "/schema", &schema);

    l.form = ok ? find_form(buf_str(&schema)) : NULL;
    buf_free(&schema);
    if (l.form == NULL || l.form->keys[0] == NULL) {
        if (l.form != NULL)
            add_next(json);
        return true;
    }
    ok = read_items(&l, array, err) && cut(json, &l, want, err);
    free_items(&l);
    return ok;
}

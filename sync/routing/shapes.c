#include "config.h"

#include "sync/routing/shapes.h"

#include "src/base/buf.h"
#include "src/base/mem.h"
#include "src/format/json.h"
#include "sync/decode/ddl.h"
#include "sync/value/schema.h"
#include "sync/value/schema_json.h"

#include <stdlib.h>
#include <string.h>

#define FORMAT      1
#define A_TABLE_MAX 8 /* shapes per table; older ones help no restart */
#define EPOCH(v)    ((v) >> 53)

struct altered {
    char *name;
    bool is_new; /* added, not changed */
};

struct shapes {
    struct shape **list; /* in the order of learning */
    size_t n;
    size_t n_new; /* at the list's end: learned, not settled */
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
    for (size_t i = 0; i < s->n_altered; i++)
        free(s->altered[i].name);
    free(s->altered);
    free(s);
}

/* ---- origins ---- */

static bool is_altered(const struct altered *a, struct str name)
{
    return str_equal_any_case(str_from(a->name), name);
}

static void note_column(struct shape *s, struct str name, bool is_new)
{
    if (name.ptr == NULL)
        return;
    s->altered = mem_resize(s->altered, s->n_altered + 1, sizeof(*s->altered));
    s->altered[s->n_altered++] =
        (struct altered){.name = strndup(name.ptr, name.len), .is_new = is_new};
}

void shape_note_ddl(struct shape *s, const struct shape *before, const struct ddl *ddl,
                    uint64_t at)
{
    for (size_t i = 0; i < ddl->n_columns; i++) {
        note_column(s, ddl->columns[i].name, ddl->columns[i].op == DDL_COLUMN_ADD);
        note_column(s, ddl->columns[i].new_name, false);
    }
    s->altered_unclear = ddl->columns_unclear;
    if (before == NULL || at > before->doubt_to)
        return;
    s->altered_unclear = s->altered_unclear || before->altered_unclear;
    for (size_t i = 0; i < before->n_altered; i++)
        note_column(s, str_from(before->altered[i].name), before->altered[i].is_new);
}

static bool is_again(const struct shape *s, struct str name, bool is_new)
{
    for (size_t i = 0; i < s->n_altered && name.ptr != NULL; i++)
        if (is_altered(&s->altered[i], name) && !(is_new && s->altered[i].is_new))
            return true;
    return false;
}

bool shape_hides(const struct shape *s, const struct ddl *ddl, uint64_t at)
{
    if (s == NULL || at > s->doubt_to || ddl->kind != DDL_ALTER_TABLE)
        return false;
    if ((s->altered_unclear && (ddl->n_columns > 0 || ddl->columns_unclear)) ||
        (ddl->columns_unclear && s->n_altered > 0))
        return true;
    for (size_t i = 0; i < ddl->n_columns; i++)
        if (is_again(s, ddl->columns[i].name, ddl->columns[i].op == DDL_COLUMN_ADD) ||
            is_again(s, ddl->columns[i].new_name, false))
            return true;
    return false;
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

/* ---- text ---- */

static void format_shape(struct json_writer *w, const struct shape *s)
{
    json_open_object(w);
    json_put_u64(w, STR("from"), s->from);
    json_put_u64(w, STR("doubt_to"), s->doubt_to);
    schema_format(w, s->schema);
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

static bool is_known(uint64_t from, uint64_t at)
{
    return from <= at && EPOCH(from) == EPOCH(at);
}

static void forget(struct shapes *s, const struct schema *of)
{
    for (size_t i = s->n; i-- > 0;)
        if (is_of(s->list[i], of->database, of->table))
            drop(s, i);
}

/*
 * The store does not say which rows were met: after the place where the shape was learned,
 * there may have been any.
 */
static bool add_known(struct shapes *s, struct str json, uint64_t from, uint64_t doubt_to,
                      uint64_t at)
{
    struct schema *schema = schema_parse(json);

    if (schema == NULL)
        return false;

    struct shape *shape = add(s, schema, from);

    shape->doubt_to = doubt_to;
    shape->used = from < at;
    shape->altered_unclear = true; /* nobody can tell */
    schema_unref(schema);
    return true;
}

/*
 * The log moved: at the new place, a table's last shape replaces its earlier ones.  A doubtful
 * shape does not hold in the new log.
 */
static bool add_moved(struct shapes *s, struct str json, uint64_t at, bool certain)
{
    struct schema *schema = schema_parse(json);

    if (schema == NULL)
        return false;
    forget(s, schema);
    schema_unref(schema);
    return !certain || add_known(s, json, at, 0, at);
}

static bool read_shape(struct shapes *s, struct str json, uint64_t at, uint64_t before)
{
    uint64_t from, doubt_to;

    if (!json_find_u64(json, "/from", &from) || !json_find_u64(json, "/doubt_to", &doubt_to))
        return false;
    if (before != 0 && is_known(from, before))
        return add_moved(s, json, at, doubt_to <= before);
    return !is_known(from, at) || add_known(s, json, from, doubt_to, at);
}

bool shapes_parse(struct shapes *s, struct str json, uint64_t at, uint64_t before,
                  struct err *err)
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
            if (!read_shape(s, one, at, before))
                return err_set(err, ERR_REJECT, "the stored shapes of tables are damaged");
    return json_reader_finish(&r, err);
}

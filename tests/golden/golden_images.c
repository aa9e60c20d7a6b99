#include "config.h"

#include "tests/golden/golden.h"

#include "src/base/buf.h"
#include "src/base/map.h"
#include "sync/decode/row.h"
#include "sync/decode/transaction.h"
#include "sync/document/resolver.h"
#include "sync/source/transport/transport.h"

#include <stdlib.h>

/* What the binlog says of the documents so far. */
struct images {
    struct dump *dump;
    struct map *documents; /* _id to struct loaded, in the dump's arena */
    struct row_reader *rows;
    struct buf id, key, routing, body;
};

static bool is_root(const struct dump *d, struct str database, struct str table)
{
    struct str root_database, root_table;
    bool refresh;

    plan_place(d->plan, 0, &root_database, &root_table, &refresh);
    return str_equal(database, root_database) && str_equal(table, root_table);
}

static bool want_table(void *ctx, struct str database, struct str table, struct schema **schema)
{
    struct dump *d = ctx;

    if (!is_root(d, database, table))
        return false;
    *schema = schema_ref(find_schema(d, STR(""), database, table));
    return true;
}

/* False: a row without a key, or whose key makes no _id, which the image cannot tell apart. */
static bool name_row(struct images *im, const struct binding *b, const struct value *row,
                     struct err *err)
{
    buf_clear(&im->id);
    buf_clear(&im->key);
    buf_clear(&im->routing);
    return plan_root_id(im->dump->plan, b, row, &im->id, &im->key, &im->routing, err);
}

static struct err *copy_error(struct images *im, const struct err *err)
{
    struct err *copy = arena_alloc(im->dump->arena, 1, sizeof(*copy));

    *copy = *err;
    return copy;
}

static void put_row(struct images *im, const struct binding *b, const struct value *row)
{
    struct arena *a = im->dump->arena;
    struct loaded *l = arena_alloc(a, 1, sizeof(*l));
    struct err err = {0};

    if (!name_row(im, b, row, &err) && im->key.len == 0)
        return; /* NULL in the key */
    if (err.kind != ERR_NONE)
        l->err = copy_error(im, &err);
    l->id = arena_copy(a, buf_str(&im->id));
    l->key = arena_copy(a, buf_str(&im->key));
    buf_clear(&im->body);
    if (plan_is_flat(im->dump->plan) && l->err == NULL &&
        !plan_flat_document(im->dump->plan, b, row, &im->body, &err))
        l->err = copy_error(im, &err);
    l->body = arena_copy(a, buf_str(&im->body));
    map_put(im->documents, l->id, l);
}

static void remove_row(struct images *im, const struct binding *b, const struct value *row)
{
    struct err err = {0};

    (void)!name_row(im, b, row, &err);
    map_remove(im->documents, buf_str(&im->id));
}

static void take_rows(struct images *im, const struct step *step)
{
    struct row_change change;
    struct err err = {0};
    struct arena *a = arena_new();
    struct binding *b = plan_bind(im->dump->plan, 0, step->map->schema, &err);
    int got;

    if (b == NULL || !row_reader_open(im->rows, &step->rows, step->map, &err))
        die("rows", &err);
    while ((got = row_reader_next(im->rows, a, &change, &err)) > 0) {
        if (change.before != NULL)
            remove_row(im, b, change.before);
        if (change.after != NULL)
            put_row(im, b, change.after);
    }
    if (got < 0)
        die("row", &err);
    binding_free(b);
    arena_free(a);
}

static void take_steps(struct images *im, struct log_reader *reader)
{
    struct step step;
    struct err err = {0};
    int got;

    while ((got = log_reader_next(reader, &step, &err)) > 0)
        if (step.kind == STEP_ROWS)
            take_rows(im, &step);
    if (got < 0)
        die("step", &err);
}

static void read_binlog(struct images *im)
{
    const struct transport_options opt = {.server_id = 4711,
                                          .uuid = "6ccd780c-baba-1026-9564-5b8c656024db",
                                          .file = STR(""),
                                          .offset = 4,
                                          .non_block = true};
    const struct log_reader_options reader_opt = {
        .want = want_table, .want_ctx = im->dump, .lenient = true};
    struct log_reader *reader = log_reader_new(&reader_opt);
    struct transport *t;
    struct err err = {0};
    struct str event;
    int got;

    if (!transport_open_server(&t, &im->dump->server, &opt, &err))
        die("binlog", &err);
    while ((got = transport_next(t, &event, &err)) > 0) {
        if (!log_reader_feed(reader, event, &err))
            die("event", &err);
        take_steps(im, reader);
    }
    if (got < 0)
        die("binlog", &err);
    transport_close(t);
    log_reader_free(reader);
}

/* The documents of the rows that are left, nested ones loaded by the keys of their images. */
static void print_all(struct images *im)
{
    const bool flat = plan_is_flat(im->dump->plan);
    struct err err = {0};
    struct str id;
    void *value;

    for (size_t i = 0; map_next(im->documents, &i, &id, &value);) {
        struct loaded *l = value, loaded;

        if (!flat && l->err == NULL) {
            if (!loader_load(&im->dump->conn, im->dump->plan,
                             &(struct loader_keys){.keys = &l->key, .n = 1}, im->dump->arena,
                             &loaded, &err))
                die("load", &err);
            l = &loaded;
        }
        if (l->body.ptr != NULL || l->err != NULL) /* else the row does not count */
            print_loaded(l);
    }
}

void dump_images(struct dump *d)
{
    struct images im = {.dump = d, .documents = map_new(), .rows = row_reader_new()};

    read_binlog(&im);
    print_all(&im);
    map_free(im.documents, NULL);
    row_reader_free(im.rows);
    buf_free(&im.id);
    buf_free(&im.key);
    buf_free(&im.body);
}

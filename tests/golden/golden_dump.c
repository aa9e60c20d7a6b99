/*
 * What the loader and the resolver make of a live database, as lines of JSON for golden/run.
 *
 *   GOLDEN_PASSWORD=… golden_dump MODE DEFINITION TABLE PORT
 *
 *   range    every document, in small pages in key order
 *   keys     every document by its key, shuffled, in batches, with keys that are gone between
 *   images   every document, made of the row images in the server's binlog
 *   areas    every document, with each of its relations read alone
 *   roots    every related row, and the documents that its change leads to
 *   trace    what the other modes print, and the statements that they run
 */
#include "config.h"

#include "tests/golden/golden.h"

#include "src/base/buf.h"
#include "src/base/mem.h"
#include "src/mysql/mysql.h"
#include "src/mysql/trace.h"
#include "sync/catalog/catalog.h"
#include "sync/definition/definition.h"
#include "sync/definition/parse.h"
#include "sync/document/cell.h"
#include "sync/document/key.h"
#include "sync/document/loader.h"
#include "sync/document/plan.h"
#include "sync/document/resolver.h"
#include "sync/value/schema.h"

#include <stdio.h>
#include <stdlib.h>

/* Small, so that there are many. */
#define PAGE  7
#define BATCH 11

void die(const char *what, const struct err *err)
{
    fprintf(stderr, "golden_dump: %s: %s\n", what, err->msg);
    exit(1);
}

struct schema *find_schema(void *ctx, struct str topic, struct str database, struct str table)
{
    struct dump *d = ctx;

    (void)topic;

    for (size_t i = 0; i < d->n_schemas; i++)
        if (str_equal(d->schemas[i]->database, database) &&
            str_equal(d->schemas[i]->table, table))
            return d->schemas[i];
    struct schema **s = &d->schemas[d->n_schemas];
    struct err err = {0};

    if (d->n_schemas == ARRAY_LEN(d->schemas) ||
        !catalog_load(d->conn, &(struct catalog_name){database, table}, 1, s, &err))
        die("catalog", &err);
    d->n_schemas += *s != NULL;
    return *s;
}

static struct str read_file(struct arena *a, const char *path)
{
    FILE *file = fopen(path, "re");
    struct buf text = {0};
    char part[4096];
    size_t n;

    if (file == NULL) {
        perror(path);
        exit(1);
    }
    while ((n = fread(part, 1, sizeof(part), file)) > 0)
        buf_append(&text, (struct str){part, n});
    fclose(file);
    struct str copy = arena_copy(a, buf_str(&text));

    buf_free(&text);
    return copy;
}

static void load_definition(struct dump *d, const char *path)
{
    const struct definition_file file = {str_from(path), read_file(d->arena, path), STR(""),
                                         NULL};
    struct problems *problems = problems_new();
    struct buf text = {0};

    d->defs = definition_apply(NULL, &file, 1, false, problems);
    if (d->defs == NULL) {
        problems_append_text(problems, &text);
        fprintf(stderr, "%s", text.ptr);
        exit(1);
    }
    problems_free(problems);
}

static void compile(struct dump *d, const char *table)
{
    const struct table_definition *t = definitions_table(d->defs, str_from(table));
    struct err err = {0};

    if (t == NULL) {
        fprintf(stderr, "golden_dump: no table %s\n", table);
        exit(1);
    }
    d->plan = plan_compile(d->defs, t, find_schema, d, &err);
    if (d->plan == NULL)
        die("plan", &err);
}

void print_loaded(const struct loaded *l)
{
    struct buf line = {0};

    buf_append(&line, STR("{\"_id\":"));
    buf_append_json(&line, l->id);
    if (l->routing.len > 0) {
        buf_append(&line, STR(",\"_routing\":"));
        buf_append_json(&line, l->routing);
    }
    if (l->err != NULL) {
        buf_append(&line, STR(",\"_error\":"));
        buf_append_json(&line, str_from(l->err->msg));
    } else {
        buf_append(&line, STR(",\"_source\":"));
        buf_append(&line, l->body);
    }
    printf("%.*s}\n", (int)line.len, line.ptr);
    buf_free(&line);
}

struct loaded *load_all(struct dump *d, size_t *n)
{
    struct loaded *all = NULL;
    struct loader_page page = {.after = STR(""), .rows_max = PAGE};
    struct err err = {0};
    uint64_t count;

    *n = 0;
    while (!page.is_end) {
        if (!loader_load_range(&d->conn, d->plan, &page, d->arena, &err))
            die("range", &err);
        all = mem_resize(all, *n + page.n, sizeof(*all));
        for (size_t i = 0; i < page.n; i++)
            all[(*n)++] = page.docs[i];
        page.after = page.n > 0 ? page.docs[page.n - 1].key : page.after;
    }
    if (!loader_count(d->conn, d->plan, &count, &err))
        die("count", &err);
    if (count != *n) {
        fprintf(stderr, "golden_dump: %zu documents of %zu rows\n", *n, (size_t)count);
        exit(1);
    }
    return all;
}

static void dump_range(struct dump *d)
{
    size_t n;
    struct loaded *all = load_all(d, &n);

    for (size_t i = 0; i < n; i++)
        print_loaded(&all[i]);
    free(all);
}

/* Whether an _id leads back to the key that it was made of. */
static void check_key_of_id(struct dump *d, const struct loaded *l)
{
    struct buf key = {0};
    struct err err = {0};

    if (l->id.len > 0 &&
        (!plan_key_of_id(d->plan, l->id, &key, &err) || !str_equal(buf_str(&key), l->key)))
        die("key of id", &err);
    buf_free(&key);
}

static void dump_keys(struct dump *d)
{
    size_t n;
    struct loaded *all = load_all(d, &n);
    struct str keys[BATCH];
    struct loaded out[BATCH];
    struct err err = {0};

    for (size_t i = n; i-- > 1;) {
        size_t other = (i * 2654435761u) % (i + 1);
        struct loaded swap = all[i];

        all[i] = all[other];
        all[other] = swap;
    }
    for (size_t from = 0; from < n; from += BATCH - 2) {
        size_t m = n - from < BATCH - 2 ? n - from : BATCH - 2;

        for (size_t i = 0; i < m; i++)
            keys[i] = all[from + i].key;
        keys[m] = keys[0]; /* asked for twice, answered twice */
        if (!loader_load(&d->conn, d->plan, &(struct loader_keys){.keys = keys, .n = m + 1},
                         d->arena, out, &err))
            die("load", &err);
        for (size_t i = 0; i < m; i++) {
            check_key_of_id(d, &out[i]);
            if (out[i].body.ptr == NULL && out[i].err == NULL)
                printf("{\"_id\":\"gone\"}\n");
            else
                print_loaded(&out[i]);
        }
        if (!str_equal(out[m].body, out[0].body))
            printf("{\"_id\":\"the second answer differs\"}\n");
    }
    free(all);
}

static bool print_root(void *ctx, size_t join_key, struct str id, struct str key,
                       struct str routing)
{
    struct str *const *rows = ctx;
    struct buf line = {0};

    (void)key;
    (void)routing;
    buf_append_char(&line, '[');
    buf_append(&line, (*rows)[join_key]);
    buf_append_char(&line, ',');
    buf_append_json(&line, id);
    printf("%.*s]\n", (int)line.len, line.ptr);
    buf_free(&line);
    return true;
}

/* The rows of one place: which they are (place and key, as JSON) and their join keys. */
struct related {
    struct str *rows, *join_keys;
    size_t n;
};

/* Its key's parts as they would stand in an _id. */
static void name_row(struct buf *name, size_t place, const struct schema *s,
                     const struct value *values)
{
    struct buf key = {0}, id = {0};
    struct err err = {0};

    buf_printf(name, "%zu", place);
    for (size_t i = 0; i < s->n_key; i++) {
        const struct column *c = &s->columns[s->key[i]];

        buf_clear(&key);
        buf_clear(&id);
        if (!key_append(&key, c, &values[s->key[i]], &err))
            die("key of a related row", &err);
        (void)!key_append_id(&id, &c, 1, buf_str(&key), &err); /* an empty text is fine here */
        buf_append_char(name, ',');
        buf_append_json(name, buf_str(&id));
    }
    buf_free(&key);
    buf_free(&id);
}

static void take_related(struct dump *d, struct related *r, size_t place,
                         const struct binding *b, const struct schema *s,
                         const struct str *cells)
{
    struct value *values = mem_alloc(s->n_columns, sizeof(*values));
    struct buf join_key = {0}, name = {0}, id = {0}, key = {0}, routing = {0};

    for (size_t i = 0; i < s->n_columns; i++)
        values[i] = cell_value(&s->columns[i], cells[i]);
    if (resolver_join_key(d->plan, place, b, values, &join_key)) {
        name_row(&name, place, s, values);
        r->rows = mem_resize(r->rows, r->n + 1, sizeof(*r->rows));
        r->join_keys = mem_resize(r->join_keys, r->n + 1, sizeof(*r->join_keys));
        r->rows[r->n] = arena_copy(d->arena, buf_str(&name));
        r->join_keys[r->n++] = arena_copy(d->arena, buf_str(&join_key));
        if (resolver_direct(d->plan, place, buf_str(&join_key), &id, &key, &routing)) {
            struct str *row = &r->rows[r->n - 1];

            print_root(&row, 0, buf_str(&id), buf_str(&key), STR(""));
        }
    }
    free(values);
    buf_free(&join_key);
    buf_free(&name);
    buf_free(&id);
    buf_free(&key);
}

static struct related read_related(struct dump *d, size_t place, const struct schema *s)
{
    struct related r = {0};
    struct buf sql = {0};
    struct err err = {0};
    struct mysql_result *result;
    struct mysql_row row;
    struct binding *b = plan_bind(d->plan, place, s, &err);

    buf_append(&sql, STR("SELECT "));
    for (size_t i = 0; i < s->n_columns; i++) {
        if (i > 0)
            buf_append_char(&sql, ',');
        cell_append_select(&sql, s->table, &s->columns[i]);
    }
    buf_append(&sql, STR(" FROM "));
    mysql_quote_name(&sql, s->database);
    buf_append_char(&sql, '.');
    mysql_quote_name(&sql, s->table);
    if (b == NULL || !mysql_conn_query(d->conn, buf_str(&sql), &result, &err))
        die("related rows", &err);
    while (mysql_result_next(result, &row, &err) > 0)
        take_related(d, &r, place, b, s, row.cells);
    mysql_result_close(result);
    binding_free(b);
    buf_free(&sql);
    return r;
}

static bool refuse_crowd(void *ctx, size_t key)
{
    const struct err err = {.msg = "a case has too many rows"};

    (void)ctx;
    (void)key;
    die("roots", &err);
    return false;
}

static void dump_roots(struct dump *d)
{
    for (size_t place = 1; place < plan_n_places(d->plan); place++) {
        struct str database, table;
        struct err err = {0};
        bool refresh;

        plan_place(d->plan, place, &database, &table, &refresh);
        struct related r = read_related(d, place, find_schema(d, STR(""), database, table));

        if (!resolver_find(&d->conn,
                           &(struct resolver_rows){
                               .plan = d->plan, .place = place, .keys = r.join_keys, .n = r.n},
                           &(struct resolver_sink){print_root, refuse_crowd, &r.rows}, &err))
            die("roots", &err);
        free(r.rows);
        free(r.join_keys);
    }
}

/* All that the other modes print, an empty line, and the statements as JSON strings. */
static void dump_trace(struct dump *d)
{
    struct mysql_trace trace = {0};
    struct buf line = {0};

    mysql_conn_trace(d->conn, &trace);
    dump_keys(d);
    dump_roots(d);
    mysql_conn_trace(d->conn, NULL);
    printf("\n");
    for (char *at = trace.text.ptr, *end; at != NULL && (end = strstr(at, ";\n")) != NULL;
         at = end + 2) {
        buf_clear(&line);
        buf_append_json(&line, (struct str){at, (size_t)(end - at)});
        printf("%s\n", line.ptr);
    }
    mysql_trace_fini(&trace);
    buf_free(&line);
}

static const struct {
    const char *name;
    void (*run)(struct dump *d);
} modes[] = {
    {"range", dump_range}, {"keys", dump_keys},   {"images", dump_images},
    {"areas", dump_areas}, {"roots", dump_roots}, {"trace", dump_trace},
};

int main(int argc, char **argv)
{
    struct dump d = {.arena = arena_new()};
    struct err err = {0};

    if (argc != 5) {
        fprintf(stderr, "usage: golden_dump MODE DEFINITION TABLE PORT\n");
        return 2;
    }
    d.server = (struct mysql_options){.host = "127.0.0.1",
                                      .port = (uint16_t)strtoul(argv[4], NULL, 10),
                                      .user = "root",
                                      .password = getenv("GOLDEN_PASSWORD")};
    if (!mysql_conn_open(&d.conn, &d.server, &err))
        die("connect", &err);
    load_definition(&d, argv[2]);
    if (strcmp(argv[1], "areas") == 0)
        want_areas(&d);
    compile(&d, argv[3]);
    for (size_t i = 0; i < ARRAY_LEN(modes); i++)
        if (strcmp(modes[i].name, argv[1]) == 0)
            modes[i].run(&d);
    plan_free(d.plan);
    for (size_t i = 0; i < d.n_schemas; i++)
        schema_unref(d.schemas[i]);
    definitions_unref(d.defs);
    mysql_conn_close(d.conn);
    arena_free(d.arena);
    return 0;
}

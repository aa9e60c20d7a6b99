#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/store.h"
#include "sync/model/definition_export.h"
#include "sync/model/definition_parse.h"

#include <stdio.h>
#include <stdlib.h>

#define HEAD                                                \
    "topics: [{name: shop, address: 'db:3306', user: m}]\n" \
    "databases: [{name: shop, topic: shop}]\n"              \
    "tables:\n"

static struct problems *problems;

static int set_up(void **state)
{
    (void)state;
    problems = problems_new();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    problems_free(problems);
    return 0;
}

static struct definitions *apply(const struct definitions *stored, const char *text)
{
    const struct definition_file file = {STR("f.yaml"), str_from(text), STR("/etc/shop")};

    return definition_apply(stored, &file, 1, false, problems);
}

static struct definitions *apply_fine(const struct definitions *stored, const char *text)
{
    struct definitions *d = apply(stored, text);
    struct buf b = {0};

    problems_append_text(problems, &b);
    if (d == NULL)
        fail_msg("%s", b.ptr);
    buf_free(&b);
    return d;
}

static void assert_refused(const char *text, unsigned line, unsigned column,
                           const char *message)
{
    struct problems *p = problems_new();
    const struct definition_file file = {STR("f.yaml"), str_from(text), STR("")};
    struct definitions *d = definition_apply(NULL, &file, 1, false, p);

    if (d != NULL)
        fail_msg("not refused: %s", text);

    const struct problem *first = problems_get(p, 0);

    if (problems_n(p) != 1 || strstr(first->message.ptr, message) == NULL ||
        first->place.line != line || first->place.column != column) {
        struct buf b = {0};

        problems_append_text(p, &b);
        fail_msg("%s", b.ptr);
    }
    problems_free(p);
}

static void assert_text(struct str s, const char *text)
{
    assert_true(str_equal(s, str_from(text)));
}

static const char shop[] =
    "topics:\n"
    "  - {name: shop, address: '127.0.0.1:3306', user: millrace, password_file: "
    "shop.password,\n"
    "     tls: {ca_file: /ca.pem}, server_id: 7, start: now, zero_date: null, on_gap: stop, time_zone: UTC}\n"
    "databases:\n"
    "  - {name: shop, topic: shop, schema: shop}\n"
    "tables:\n"
    "  - table: shop.orders\n"
    "    index: orders\n"
    "    key: [id]\n"
    "    settings: {number_of_shards: 1, analysis: {b: 1, a: [x]}}\n"
    "    delayed: false\n"
    "    columns:\n"
    "      - id\n"
    "      - {name: created_at, as: created}\n"
    "      - {name: title, type: text, analyzer: ik_max_word, keyword: true, copy_to: [all]}\n"
    "    relations:\n"
    "      - from: customer_id\n"
    "        table: shop.customer\n"
    "        to: id\n"
    "        as: customer\n"
    "        refresh: parent\n"
    "      - from: [id, region]\n"
    "        table: shop.order_item\n"
    "        to: [order_id, region]\n"
    "        as: items\n"
    "        many: true\n"
    "        where: \"deleted = 0\"\n"
    "        columns: [id, qty]\n"
    "        relations:\n"
    "          - {from: product_id, table: shop.product, to: id, columns: ['*'], refresh: "
    "none}\n";

static void the_contract_becomes_structs(void **state)
{
    struct definitions *d = apply_fine(NULL, shop);
    const struct topic_definition *topic = &d->topics[0];
    const struct table_definition *t = definitions_table(d, STR("shop.orders"));

    (void)state;
    assert_text(topic->server.password_file, "/etc/shop/shop.password");
    assert_text(topic->server.tls.ca_file, "/ca.pem");
    assert_true(topic->server.tls.given && topic->server.tls.verify);
    assert_int_equal(topic->server_id, 7);
    assert_int_equal(topic->start.len, 0);
    assert_false(d->databases[0].own_server);
    assert_text(database_schema(&d->databases[0]), "shop");
    assert_text(table_index(t), "orders");
    assert_text(t->settings_json,
                "{\"analysis\":{\"a\":[\"x\"],\"b\":1},\"number_of_shards\":1}");
    assert_false(t->all_columns);
    assert_int_equal(t->n_columns, 3);
    assert_text(column_as(&t->columns[1]), "created");
    assert_true(t->columns[2].keyword);
    assert_int_equal(t->columns[2].n_copy_to, 1);
    assert_int_equal(t->n_relations, 2);
    assert_true(t->relations[0].all_columns);
    assert_text(relation_as(&t->relations[0]), "customer");
    assert_int_equal(t->relations[1].n_from, 2);
    assert_text(t->relations[1].to[1], "region");
    assert_true(t->relations[1].many);
    assert_text(t->relations[1].where, "deleted = 0");
    assert_text(relation_as(&t->relations[1].relations[0]), "product");
    assert_int_equal(t->relations[1].relations[0].refresh, REFRESH_NONE);
    assert_int_equal(definitions_place(d, t->relations[1].to[1], t->place).line, 24);
    assert_int_equal(definitions_place(d, t->relations[1].to[1], t->place).column, 24);
    assert_ptr_equal(definitions_topic_of(d, STR("shop.orders")), topic);
    definitions_unref(d);
}

static void what_equals_its_default_is_not_kept(void **state)
{
    struct definitions *d = apply_fine(NULL, shop);
    struct buf b = {0};

    (void)state;
    topic_append_json(&d->topics[0], &b);
    assert_string_equal(
        b.ptr, "{\"name\":\"shop\",\"address\":\"127.0.0.1:3306\",\"user\":\"millrace\","
               "\"password_file\":\"/etc/shop/shop.password\",\"tls\":{\"ca_file\":"
               "\"/ca.pem\"},\"server_id\":7,\"time_zone\":\"UTC\"}");
    buf_clear(&b);
    table_append_json(&d->tables[0], &b);
    assert_null(strstr(b.ptr, "\"index\""));
    assert_null(strstr(b.ptr, "delayed"));
    assert_null(strstr(b.ptr, "refresh\":\"parent"));
    assert_non_null(strstr(b.ptr, "\"columns\":[\"id\",{\"name\":\"created_at\",\"as\":"));
    buf_free(&b);
    definitions_unref(d);
}

static void a_wrong_field_is_refused_at_its_place(void **state)
{
    (void)state;
    assert_refused("topics: [{name: a, adress: b, address: c}]", 1, 20,
                   "did you mean `address`");
    assert_refused("topics: [{name: a}]", 1, 10, "`topic` needs `address`");
    assert_refused("topics: [{name: a, address: b, server_id: -1}]", 1, 43,
                   "from 1 to 4294967295");
    assert_refused("topics: [{name: a, address: b, server_id: 4294967296}]", 1, 43,
                   "from 1 to");
    assert_refused("topics: [{name: a, address: b, tls: yes}]", 1, 37, "is a map of fields");
    assert_refused("topics: [{name: a, address: b, tls: {verify: yes}}]", 1, 46,
                   "true or false");
    assert_refused("topics: [{name: a, address: b, zero_date: nul}]", 1, 43,
                   "did you mean `null`");
    assert_refused("topics: [{name: a, address: b, user: [x]}]", 1, 38, "must be a text");
    assert_refused("topics: [{name: a, address: b, user: }]", 1, 32, "`user` has no value");
    assert_refused("topics: {name: a}", 1, 9, "`topics` must be a list");
    assert_refused("topic: []", 1, 1, "did you mean `topics`");
    assert_refused("- a", 1, 1, "a definition file has");
    assert_refused("databases: [{name: a, topic: b}]", 1, 30, "there is no topic `b`");
    assert_refused(HEAD "  - {table: shap.orders}", 4, 13, "did you mean `shop`");
    assert_refused(HEAD "  - {table: orders}", 4, 13, "is not DATABASE.TABLE");
    assert_refused(HEAD "  - {index: orders}", 4, 5, "a `table` needs `table`");
    assert_refused(HEAD "  - {table: shop.Orders}", 4, 13, "lower case");
    assert_refused(HEAD "  - {table: shop.a, index: a_v1}", 4, 28, "mark the versions");
    assert_refused(HEAD "  - {table: shop.a, settings: [x]}", 4, 31, "must be a map");
    assert_refused(HEAD "  - {table: shop.a, key: [a, a]}", 4, 30, "listed twice");
    assert_refused(HEAD "  - {table: shop.a, columns: [a, {name: b, as: a}]}", 4, 48,
                   "two fields of one document are called `a`");
    assert_refused(HEAD "  - {table: shop.a, columns: [_id]}", 4, 31, "keep for themselves");
    assert_refused(HEAD "  - {table: shop.a, columns: [{name: '*', type: text}]}", 4, 31,
                   "it has no fields of its own");
    assert_refused(HEAD "  - {table: shop.a}\n  - {table: shop.a}", 5, 13, "defined twice");
    assert_refused(HEAD "  - {table: shop.a, index: x}\n  - {table: shop.b, index: x}", 5, 28,
                   "several tables in one index");
}

static void an_index_that_a_stored_table_has_is_refused_where_it_is_asked_for_again(void **state)
{
    static const char now[] = HEAD "  - {table: shop.b, index: x}";
    static const char then[] = "tables:\n  - {table: shop.a, index: x}";
    const struct definition_file files[] = {{STR("then.yaml"), str_from(now), STR("")},
                                            {STR("now.yaml"), str_from(then), STR("")}};
    struct problems *p = problems_new();
    struct definitions *stored = definition_apply(NULL, &files[0], 1, false, p);
    struct definitions *again;
    const struct problem *first;

    (void)state;
    assert_non_null(stored);
    again = definition_apply(stored, &files[1], 1, false, p);
    assert_null(again);
    assert_int_equal(problems_n(p), 1);
    first = problems_get(p, 0);
    assert_string_equal(first->place.file, "now.yaml");
    assert_int_equal(first->place.line, 2);
    assert_non_null(strstr(first->message.ptr, "belongs to table `shop.b`"));
    problems_free(p);
    definitions_unref(stored);
}

static void a_wrong_relation_is_refused_at_its_place(void **state)
{
    static const char table[] =
        HEAD "  - table: shop.a\n    columns: [id]\n    relations:\n      - ";
    static const struct {
        const char *relation;
        unsigned column;
        const char *message;
    } cases[] = {
        {"{from: id, to: a}", 9, "needs `table`"},
        {"{table: shop.b, to: a}", 9, "needs `from`"},
        {"{from: [a, b], table: shop.b, to: c}", 43, "`to` has 1 column and `from` has 2"},
        {"{from: [], table: shop.b, to: c}", 16, "`from` is empty"},
        {"{from: a, table: shop.b, to: c, where: 'x; y'}", 48, "ends a statement"},
        {"{from: a, table: shop.b, to: c, as: id}", 45, "two fields"},
        {"{from: a, table: shop.b, to: c, refresh: parents}", 50, "did you mean `parent`"},
        {"{from: a, table: sho.b, to: c}", 26, "did you mean `shop`"},
        {"{from: a, table: shop.b, to: c, relations: [{from: d, table: x.c, to: e}]}", 70,
         "there is no database `x`"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf b = {0};

        buf_printf(&b, "%s%s", table, cases[i].relation);
        assert_refused(b.ptr, 7, cases[i].column, cases[i].message);
        buf_free(&b);
    }
}

static void what_is_not_available_yet_is_refused_and_checked(void **state)
{
    static const struct {
        const char *field; /* of a relation, or of a table after the first blank line */
        const char *message;
    } relation[] =
        {
            {"refresh: area", "`refresh: area` is not"},
            {"distinct: true", "`distinct: true` is not"},
            {"flattened: true", "`flattened: true` is"},
            {"order_by: a", "`order_by` is not"},
            {"limit: 3", "`limit` is not"},
            {"max_depth: 3", "`max_depth` is not"},
            {"values: a", "`values` is not"},
            {"through: {table: shop.l, from: id, to: x}", "`through` is not"},
        },
      table[] = {
          {"pattern: 'shop.a[0-9]'", "`pattern` is not"},
          {"source_field: a", "`source_field` is not"},
          {"unique_keys: [[a, b]]", "`unique_keys` is not"},
          {"filter: a = 1", "`filter` is not"},
          {"soft_delete: {column: a, deleted: 1}", "`soft_delete` is not"},
          {"sync_every: 60s", "`sync_every` is not"},
          {"root_column: a", "`root_column` is not"},
          {"delayed: true", "`delayed: true` is not"},
          {"join: {name: a}", "`join` is not"},
          {"columns: [{name: a, value: 1}]", "`value` is not"},
          {"columns: [{name: a, default: 1}]", "`default` is not"},
          {"columns: [{name: a, transform: [{kind: mask}]}]", "`transform` is not"},
          {"top_relations: [{table: shop.b, column: c, level_sql: select 1, business_id: a, "
           "target_key: b}]",
           "`top_relations` is not"},
      };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(relation) + ARRAY_LEN(table); i++) {
        bool related = i < ARRAY_LEN(relation);
        struct buf b = {0};
        struct problems *p = problems_new();

        if (related)
            buf_printf(&b,
                       HEAD
                       "  - {table: shop.a, relations: [{from: x, table: shop.b, to: y, %s}]}",
                       relation[i].field);
        else
            buf_printf(&b, HEAD "  - {table: shop.a, %s}",
                       table[i - ARRAY_LEN(relation)].field);

        const struct definition_file file = {STR("f"), buf_str(&b), STR("")};
        const char *message =
            related ? relation[i].message : table[i - ARRAY_LEN(relation)].message;

        assert_null(definition_apply(NULL, &file, 1, false, p));
        if (problems_n(p) != 1 || strstr(problems_get(p, 0)->message.ptr, message) == NULL)
            fail_msg("%s: %s", b.ptr, problems_get(p, 0)->message.ptr);
        problems_free(p);
        buf_free(&b);
    }
    problems_free(problems);
    problems = problems_new();
    assert_null(apply(NULL, HEAD
                      "  - {table: shop.a, sync_every: often, top_relations: [{tabel: x}]}"));
    assert_int_equal(problems_count(problems, SEVERITY_ERROR), 9);
}

static void a_relation_to_another_topic_is_refused(void **state)
{
    (void)state;
    assert_refused("topics: [{name: s, address: a}, {name: t, address: b}]\n"
                   "databases: [{name: s, topic: s}, {name: t, topic: t}]\n"
                   "tables: [{table: s.a, relations: [{from: x, table: t.b, to: y}]}]",
                   3, 52, "of another topic");
}

static void every_mistake_is_reported_at_once(void **state)
{
    (void)state;
    assert_null(apply(
        NULL, "topics: [{nam: a, server_id: x}]\ndatabases: [{name: 'a b'}]\ntables: 5\n"));
    assert_int_equal(problems_count(problems, SEVERITY_ERROR), 7);
}

static void a_file_changes_what_it_names_and_nothing_else(void **state)
{
    struct definitions *stored = apply_fine(NULL, shop);
    struct definitions *d = apply_fine(
        stored, "tables: [{table: shop.product}, {table: shop.orders, index: other}]");

    (void)state;
    assert_int_equal(d->n_topics, 1);
    assert_int_equal(d->n_databases, 1);
    assert_int_equal(d->n_tables, 2);
    assert_text(d->tables[0].table, "shop.orders");
    assert_text(table_index(&d->tables[0]), "other");
    assert_int_equal(d->tables[0].n_relations, 0);
    assert_string_equal(d->topics[0].place.file, "stored topic shop");
    assert_int_equal(d->topics[0].place.line, 0);
    definitions_unref(d);

    const struct definition_file file = {STR("f"), STR(HEAD "  - {table: shop.product}"),
                                         STR("")};

    d = definition_apply(stored, &file, 1, true, problems);
    assert_non_null(d);
    assert_int_equal(d->n_tables, 1);
    definitions_unref(d);
    definitions_unref(stored);
}

static void a_password_stays_until_it_is_changed(void **state)
{
    struct definitions *a =
        apply_fine(NULL, "topics: [{name: t, address: a, password: secret}]");
    struct definitions *b = apply_fine(a, "topics: [{name: t, address: b}]");
    struct definitions *c = apply_fine(b, "topics: [{name: t, address: c, password: '***'}]");
    struct definitions *e = apply_fine(c, "topics: [{name: t, address: c, password: ''}]");
    struct definitions *f = apply_fine(c, "topics: [{name: t, address: c, password_env: PW}]");

    (void)state;
    assert_int_equal(problems_count(problems, SEVERITY_WARNING), 1);
    assert_text(b->topics[0].server.password, "secret");
    assert_text(c->topics[0].server.password, "secret");
    assert_text(c->topics[0].server.address, "c");
    assert_int_equal(e->topics[0].server.password.len, 0);
    assert_int_equal(f->topics[0].server.password.len, 0);
    assert_refused("topics: [{name: t, address: c, password: '***'}]", 1, 42, "none is stored");
    assert_refused("topics: [{name: t, address: c, password: '***', password_file: x}]", 1, 42,
                   "give one of");
    definitions_unref(a);
    definitions_unref(b);
    definitions_unref(c);
    definitions_unref(e);
    definitions_unref(f);
}

static void a_secret_is_in_no_export(void **state)
{
    struct definitions *d =
        apply_fine(NULL, "topics: [{name: t, address: a, password: hunter2}]\n"
                         "databases: [{name: d, topic: t, address: b, password: hunter2}]");
    struct buf b = {0};

    (void)state;
    definitions_append_yaml(d, &b);
    topic_append_json(&d->topics[0], &b);
    database_append_json(&d->databases[0], &b);
    problems_append_text(problems, &b);
    problems_append_json(problems, &b);
    assert_null(strstr(b.ptr, "hunter2"));
    assert_non_null(strstr(b.ptr, "\"***\""));
    buf_free(&b);
    definitions_unref(d);
}

static void removing_minds_what_is_in_use(void **state)
{
    struct definitions *d = apply_fine(NULL, shop);
    struct err err = {0};
    struct definitions *rest = definition_remove(d, STR("table"), STR("shop.orders"), &err);

    (void)state;
    assert_non_null(rest);
    assert_int_equal(rest->n_tables, 0);
    assert_int_equal(rest->n_topics, 1);
    definitions_unref(rest);
    assert_null(definition_remove(d, STR("topic"), STR("shop"), &err));
    assert_int_equal(err.code, 409);
    assert_null(definition_remove(d, STR("database"), STR("shop"), &err));
    assert_non_null(strstr(err.msg, "used by table `shop.orders`"));
    assert_null(definition_remove(d, STR("table"), STR("shop.order"), &err));
    assert_int_equal(err.code, 404);
    assert_null(definition_remove(d, STR("shelf"), STR("shop"), &err));
    assert_int_equal(err.code, 404);
    definitions_unref(d);
}

/* ---- property: an export says everything ---- */

struct maker {
    unsigned seed;
    struct buf b;
    unsigned names;
};

static bool chance(struct maker *m, int percent)
{
    return rand_r(&m->seed) % 100 < percent;
}

static const char *pick(struct maker *m, const char *const *words, size_t n)
{
    return words[(size_t)rand_r(&m->seed) % n];
}

static void make_columns(struct maker *m)
{
    static const char *const types[] = {"keyword", "text", "long", "date", "flat_object"};
    int n = rand_r(&m->seed) % 5;

    buf_append(&m->b, STR("columns: ["));
    for (int i = 0; i < n; i++) {
        buf_printf(&m->b, "%s{name: %sc%u", i > 0 ? ", " : "", chance(m, 20) ? "yes " : "",
                   m->names++);
        if (chance(m, 30))
            buf_printf(&m->b, ", as: \"a%u \\u00e9:\"", m->names++);
        if (chance(m, 30))
            buf_printf(&m->b, ", type: %s", pick(m, types, ARRAY_LEN(types)));
        if (chance(m, 20))
            buf_append(&m->b, STR(", analyzer: ik_max_word, search_analyzer: 'ik: smart'"));
        if (chance(m, 20))
            buf_append(&m->b, STR(", copy_to: [all, '12'], keyword: true"));
        if (chance(m, 20))
            buf_append(&m->b, STR(", skip: false, format: \"yyyy-MM-dd'T'HH\""));
        buf_append_char(&m->b, '}');
    }
    buf_append(&m->b, STR("], "));
}

static void make_relations(struct maker *m, unsigned depth)
{
    static const char *const wheres[] = {"\"deleted = 0\"", "\"a = 'x\\\\n' or b in (1,2)\"",
                                         "true"};
    static const char *const refreshes[] = {"parent", "none"};
    int n = depth > 3 ? 0 : rand_r(&m->seed) % 3;

    buf_append(&m->b, STR("relations: ["));
    for (int i = 0; i < n; i++) {
        buf_printf(&m->b, "%s{table: d%d.t%d, as: r%u, ", i > 0 ? ", " : "", 0,
                   rand_r(&m->seed) % 9, m->names++);
        buf_append(&m->b, chance(m, 50) ? STR("from: a, to: [b], ")
                                        : STR("from: [a, b], to: [c, d], "));
        if (chance(m, 50))
            make_columns(m);
        buf_printf(&m->b, "many: %s, nested: %s, ", chance(m, 50) ? "true" : "false",
                   chance(m, 50) ? "true" : "false");
        if (chance(m, 40))
            buf_printf(&m->b, "where: %s, ", pick(m, wheres, ARRAY_LEN(wheres)));
        if (chance(m, 40))
            buf_printf(&m->b, "refresh: %s, ", pick(m, refreshes, ARRAY_LEN(refreshes)));
        make_relations(m, depth + 1);
        buf_append_char(&m->b, '}');
    }
    buf_append(&m->b, STR("]"));
}

static void make_file(struct maker *m)
{
    static const char *const raws[] = {"{}", "{a: {c: 1, b: [1.50, x, null]}, 'z y': \"1\"}",
                                       "{properties: {x: {type: keyword, boost: 1e400}}}"};
    static const char *const starts[] = {"now", "binlog.000003:4", "0-1-2"};

    buf_printf(&m->b,
               "topics: [{name: t, address: 'h:%d', user: \"%s\", start: %s, %s: 'x #y', ",
               1 + rand_r(&m->seed) % 9, chance(m, 50) ? "no" : "m\\u0020\\\"",
               pick(m, starts, 3), chance(m, 50) ? "password" : "password_file");
    buf_printf(&m->b, "description: \"%s\", tls: {verify: %s}}]\n",
               chance(m, 50) ? " two\\nlines\\t" : "", chance(m, 50) ? "true" : "false");
    buf_append(&m->b, STR("databases: [{name: d0, topic: t, schema: \"Sch ema\"}]\ntables:\n"));
    for (int i = rand_r(&m->seed) % 4; i >= 0; i--) {
        buf_printf(&m->b, "  - {table: d0.t%d, index: i%u, settings: %s, mapping: %s, ", i,
                   m->names++, pick(m, raws, ARRAY_LEN(raws)), pick(m, raws, ARRAY_LEN(raws)));
        if (chance(m, 40))
            buf_append(&m->b, STR("key: [a, b], bucket_column: c, "));
        if (chance(m, 60))
            make_columns(m);
        make_relations(m, 0);
        buf_append(&m->b, STR("}\n"));
    }
}

static void assert_same_store(const struct definitions *x, const struct definitions *y)
{
    struct arena *a = arena_new();
    struct stored_definition *p, *q;
    size_t n, m;

    definitions_to_store(x, a, &p, &n);
    definitions_to_store(y, a, &q, &m);
    assert_int_equal(n, m);
    for (size_t i = 0; i < n; i++) {
        assert_true(str_equal(p[i].kind, q[i].kind));
        assert_true(str_equal(p[i].name, q[i].name));
        assert_string_equal(p[i].body.ptr, q[i].body.ptr);
    }
    arena_free(a);
}

/* Through the store and back, as a restart does it. */
static struct definitions *stored_and_loaded(const struct definitions *d)
{
    struct arena *a = arena_new();
    struct stored_definition *p;
    size_t n;

    definitions_to_store(d, a, &p, &n);

    struct definitions *loaded = definition_from_store(p, n, problems);

    assert_non_null(loaded);
    assert_int_equal(loaded->n_topics, d->n_topics);
    arena_free(a);
    return loaded;
}

static void applying_an_export_changes_nothing_and_exports_the_same(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 300; seed++) {
        struct maker m = {.seed = seed};
        struct buf first = {0}, second = {0};

        make_file(&m);

        struct definitions *d = apply_fine(NULL, m.b.ptr);
        struct definitions *loaded = stored_and_loaded(d);

        definitions_append_yaml(d, &first);

        struct definitions *again = apply_fine(loaded, first.ptr);

        definitions_append_yaml(again, &second);
        assert_string_equal(first.ptr, second.ptr);
        assert_same_store(d, again);
        assert_same_store(d, loaded);
        definitions_unref(d);
        definitions_unref(loaded);
        definitions_unref(again);
        buf_free(&first);
        buf_free(&second);
        buf_free(&m.b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_contract_becomes_structs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_equals_its_default_is_not_kept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_wrong_field_is_refused_at_its_place, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            an_index_that_a_stored_table_has_is_refused_where_it_is_asked_for_again, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(a_wrong_relation_is_refused_at_its_place, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_is_not_available_yet_is_refused_and_checked,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_relation_to_another_topic_is_refused, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(every_mistake_is_reported_at_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_file_changes_what_it_names_and_nothing_else, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_password_stays_until_it_is_changed, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_secret_is_in_no_export, set_up, tear_down),
        cmocka_unit_test_setup_teardown(removing_minds_what_is_in_use, set_up, tear_down),
        cmocka_unit_test_setup_teardown(applying_an_export_changes_nothing_and_exports_the_same,
                                        set_up, tear_down),
    };
    return cmocka_run_group_tests_name("definition_parse", tests, NULL, NULL);
}

#include "config.h"

#include "tests/unit/definition_text.h"

#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/format/variable.h"
#include "sync/definition/export.h"

static const char shop[] =
    "topics:\n"
    "  - {name: shop, address: '127.0.0.1:3306', user: millrace, password_file: "
    "shop.password,\n"
    "     tls: {ca_file: /ca.pem}, server_id: 7, start: now, zero_date: null, on_gap: stop, "
    "time_zone: UTC}\n"
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
                                         STR(""), NULL};

    d = definition_apply(stored, &file, 1, true, problems);
    assert_non_null(d);
    assert_int_equal(d->n_tables, 1);
    definitions_unref(d);
    definitions_unref(stored);
}

static void a_password_stays_until_it_is_changed(void **state)
{
    struct definitions *a =
        apply_fine(NULL, "topics: [{name: t, address: 127.0.0.1, password: secret}]");
    struct definitions *b = apply_fine(a, "topics: [{name: t, address: 127.0.0.2}]");
    struct definitions *c =
        apply_fine(b, "topics: [{name: t, address: 127.0.0.3, password: '***'}]");
    struct definitions *e =
        apply_fine(c, "topics: [{name: t, address: 127.0.0.3, password: ''}]");
    struct definitions *f =
        apply_fine(c, "topics: [{name: t, address: 127.0.0.3, password_env: PW}]");

    (void)state;
    assert_int_equal(problems_count(problems, SEVERITY_WARNING), 1);
    assert_text(b->topics[0].server.password, "secret");
    assert_text(c->topics[0].server.password, "secret");
    assert_text(c->topics[0].server.address, "127.0.0.3");
    assert_int_equal(e->topics[0].server.password.len, 0);
    assert_int_equal(f->topics[0].server.password.len, 0);
    assert_refused("topics: [{name: t, address: /, password: '***'}]", 1, 42, "none is stored");
    assert_refused("topics: [{name: t, address: /, password: '***', password_file: x}]", 1, 42,
                   "give one of");
    definitions_unref(a);
    definitions_unref(b);
    definitions_unref(c);
    definitions_unref(e);
    definitions_unref(f);
}

static void
rows_from_another_machine_without_tls_are_warned_of_once_for_each_server(void **state)
{
    static const struct {
        const char *text;
        size_t warnings;
    } cases[] = {
        {"topics: [{name: t, address: 127.0.0.1}]", 0},
        {"topics: [{name: t, address: /run/mysqld.sock}]", 0},
        {"topics: [{name: t, address: db.example.org}]", 1},
        {"topics: [{name: t, address: db.example.org, tls: {}}]", 0},
        {"topics: [{name: t, address: 127.0.0.1}]\n"
         "databases: [{name: d, topic: t, address: replica.example.org}]",
         1},
        {"topics: [{name: t, address: db.example.org, tls: {}}]\n"
         "databases: [{name: d, topic: t, address: replica.example.org}]",
         0},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const size_t before = problems_count(problems, SEVERITY_WARNING);
        struct definitions *d = apply_fine(NULL, cases[i].text);

        assert_int_equal(problems_count(problems, SEVERITY_WARNING) - before,
                         cases[i].warnings);
        definitions_unref(d);
    }
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

static const char with_variables[] =
    "topics: [{name: '${NAME}', address: '${HOST}:3306', user: m, server_id: '${ID}',\n"
    "          password_file: '${NAME}.password'}]\n"
    "databases: [{name: shop, topic: '${NAME}'}]\n"
    "tables: [{table: shop.a, filter: 'a REGEXP \"^x$\" AND b = ''$${HOST}''',\n"
    "          columns: ['${COLUMN:-id}', {name: b, value: '${ID}'}]}]\n";

static struct definitions *apply_in(char *const *environment, struct buf *said)
{
    const struct variables v = variables_of_environment(environment);
    const struct definition_file file = {STR("f.yaml"), str_from(with_variables),
                                         STR("/etc/shop"), &v};
    struct definitions *d = definition_apply(NULL, &file, 1, false, problems);

    problems_append_text(problems, said);
    return d;
}

static void values_take_variables_and_are_stored_as_they_are(void **state)
{
    char name[] = "NAME=a shop\n: [1]", shop_name[] = "NAME=shop", host[] = "HOST=127.0.0.1",
         id[] = "ID=7";
    char *const environment[] = {name, host, id, NULL};
    struct buf said = {0}, yaml = {0};
    struct definitions *d = apply_in(environment, &said);

    (void)state;
    assert_null(d); /* the rules see the value: a name is one line */
    assert_non_null(strstr(said.ptr, "f.yaml:1:17: error: `a shop"));
    problems_free(problems);
    problems = problems_new();
    d = apply_in((char *const[]){shop_name, host, id, NULL}, &said);
    assert_non_null(d);
    assert_text(d->topics[0].server.address, "127.0.0.1:3306");
    assert_int_equal(d->topics[0].server_id, 7);
    assert_text(d->topics[0].server.password_file, "/etc/shop/shop.password");
    assert_text(d->tables[0].filter, "a REGEXP \"^x$\" AND b = '${HOST}'");
    assert_text(d->tables[0].columns[1].value_json, "\"7\"");
    definitions_append_yaml(d, &yaml);
    assert_non_null(strstr(yaml.ptr, "$${HOST}"));

    const struct variables v = variables_of_environment(environment);
    const struct definition_file again = {STR("f.yaml"), buf_str(&yaml), STR("/etc/shop"), &v};
    struct definitions *same = definition_apply(d, &again, 1, true, problems);

    assert_text(same->tables[0].filter, "a REGEXP \"^x$\" AND b = '${HOST}'");
    definitions_unref(same);
    definitions_unref(d);
    buf_free(&said);
    buf_free(&yaml);
}

static void missing_variables_are_all_that_is_said_of_what_needs_them(void **state)
{
    struct buf said = {0};

    (void)state;
    assert_null(apply_in(NULL, &said));
    assert_int_equal(problems_count(problems, SEVERITY_ERROR), 6);
    for (const char *line = said.ptr; (line = strstr(line, "error: ")) != NULL; line++)
        assert_non_null(strstr(line, "is not set in the environment"));
    assert_non_null(strstr(said.ptr, "f.yaml:1:37: error: `${HOST}`"));
    buf_free(&said);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DEFINITION_TEST(the_contract_becomes_structs),
        DEFINITION_TEST(what_equals_its_default_is_not_kept),
        DEFINITION_TEST(a_file_changes_what_it_names_and_nothing_else),
        DEFINITION_TEST(a_password_stays_until_it_is_changed),
        DEFINITION_TEST(
            rows_from_another_machine_without_tls_are_warned_of_once_for_each_server),
        DEFINITION_TEST(removing_minds_what_is_in_use),
        DEFINITION_TEST(values_take_variables_and_are_stored_as_they_are),
        DEFINITION_TEST(missing_variables_are_all_that_is_said_of_what_needs_them),
    };
    return cmocka_run_group_tests_name("definition_parse", tests, NULL, NULL);
}

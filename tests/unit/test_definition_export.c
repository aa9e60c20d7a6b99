#include "config.h"

#include "tests/unit/definition_text.h"

#include "src/store/store.h"
#include "sync/definition/export.h"

#include <stdio.h>
#include <stdlib.h>

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

/* What a column's value is made of. */
static void make_value(struct maker *m)
{
    static const char *const values[] = {
        "1.50", "'1.50'", "[true, 'x: y']", "{a: {b: \"\\n\"}}", "false", "1e400"};
    static const char *const steps[] = {
        "[{kind: split, by: ','}, {kind: trim}]", "[{by: \"\\t\", kind: split}]",
        "[{kind: join, columns: [a, 'b c'], by: ' '}, {kind: mask, salt: '#1'}]",
        "[{kind: date, format: '%d.%m.%Y %H:%M'}]"};

    if (chance(m, 15)) {
        buf_printf(&m->b, ", value: %s", pick(m, values, ARRAY_LEN(values)));
        return;
    }
    if (chance(m, 20))
        buf_printf(&m->b, ", default: %s", pick(m, values, ARRAY_LEN(values)));
    if (chance(m, 20))
        buf_printf(&m->b, ", transform: %s", pick(m, steps, ARRAY_LEN(steps)));
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
        make_value(m);
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
        buf_printf(&m->b, "%s{table: d%d.t%u, as: r%u, ", i > 0 ? ", " : "", 0,
                   10 * (depth + 1) + rand_r(&m->seed) % 9, m->names++);
        buf_append(&m->b, chance(m, 40) ? STR("from: a, to: [b], ")
                          : chance(m, 60)
                              ? STR("from: [a, b], to: [c, d], ")
                              : STR("from: a, through: {table: d0.l, from: [x], to: [y, z]}, "
                                    "to: [c, d], "));
        const bool many = chance(m, 50);

        if (many && chance(m, 30))
            buf_append(&m->b, STR("distinct: true, limit: 12, order_by: \"a DESC, 'b'\", "));
        buf_printf(&m->b, "many: %s, ", many ? "true" : "false");
        if (chance(m, 15)) {
            buf_append(&m->b, STR("values: v}"));
            continue;
        }
        if (chance(m, 50))
            make_columns(m);
        buf_append(&m->b, chance(m, 50)   ? STR("nested: true, ")
                          : chance(m, 20) ? STR("flattened: true, ")
                                          : STR("nested: false, "));
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
            buf_append(&m->b, STR("key: [a, b], bucket_column: c, copy_to: [all, more], "));
        if (chance(m, 30))
            buf_append(&m->b, STR("filter: \"a <> 'x'\", "));
        if (chance(m, 30))
            buf_append(&m->b, chance(m, 50) ? STR("soft_delete: {column: s, deleted: 1}, ")
                                            : STR("soft_delete: {column: s, deleted: null}, "));
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

/* As it was before it could be a list, also where it is stored. */
static void one_root_column_is_written_as_a_text_and_several_as_a_list(void **state)
{
    static const char above[] =
        "topics: [{name: t, address: a}]\ndatabases: [{name: d, topic: t}]\ntables:\n"
        "  - {table: d.a, index: x, join: {name: a}}\n"
        "  - {table: d.b, index: x, join: {name: b, parent: d.a, parent_column: %s}}\n"
        "  - {table: d.c, index: x, root_column: %s, join: {name: c, parent: d.b, "
        "parent_column: p}}\n";
    static const char *const cases[][4] = {
        {"p", "r", "\"root_column\":\"r\"", "root_column: r,"},
        {"[p]", "[r]", "\"root_column\":\"r\"", "root_column: r,"},
        {"[p, q]", "[r, s]", "\"root_column\":[\"r\",\"s\"]", "root_column: [r, s]\n"}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char text[600];
        struct buf json = {0}, yaml = {0};
        struct definitions *d, *loaded;

        snprintf(text, sizeof(text), above, cases[i][0], cases[i][1]);
        d = apply_fine(NULL, text);
        loaded = stored_and_loaded(d);
        table_append_json(definitions_table(loaded, STR("d.c")), &json);
        definitions_append_yaml(loaded, &yaml);
        if (strstr(json.ptr, cases[i][2]) == NULL || strstr(yaml.ptr, cases[i][3]) == NULL)
            fail_msg("%s: %s\n%s", cases[i][1], json.ptr, yaml.ptr);
        definitions_unref(d);
        definitions_unref(loaded);
        buf_free(&json);
        buf_free(&yaml);
    }
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
        DEFINITION_TEST(a_secret_is_in_no_export),
        DEFINITION_TEST(one_root_column_is_written_as_a_text_and_several_as_a_list),
        DEFINITION_TEST(applying_an_export_changes_nothing_and_exports_the_same),
    };
    return cmocka_run_group_tests_name("definition_export", tests, NULL, NULL);
}

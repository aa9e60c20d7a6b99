#include "config.h"

#include "tests/unit/events.h"

#include "sync/decode/row.h"
#include "sync/decode/table_map.h"
#include "sync/value/value_json.h"

struct fixture {
    struct event_format format;
    struct table_maps *maps;
    struct schema *known; /* given for every table, if any */
    bool unwanted;
    unsigned asked;
};

static bool want(void *ctx, struct str database, struct str table, struct schema **schema)
{
    struct fixture *f = ctx;

    (void)database;
    (void)table;
    f->asked++;
    if (f->unwanted)
        return false;
    if (f->known != NULL)
        *schema = schema_ref(f->known);
    return true;
}

static void start(struct fixture *f, const char *server)
{
    struct buf body = {0};
    struct err err;

    *f = (struct fixture){0};
    format_body(&body, server, false);
    put_le(&body, 0, 4);
    assert_true(event_format_parse(buf_str(&body), &f->format, &err));
    f->maps = table_maps_new(want, f);
    buf_free(&body);
}

static void finish(struct fixture *f)
{
    table_maps_free(f->maps);
    schema_unref(f->known);
}

/* The map of a table with these types, metadata, and optional metadata, in hex. */
static struct table_map *add_named(struct fixture *f, uint64_t id, const char *name,
                                   const char *types, const char *meta, const char *optional)
{
    struct buf body = {0}, bytes = {0};
    struct table_map *map = NULL;
    struct err err = {0};
    const size_t n = strlen(types) / 2;

    put_le(&body, id, 6);
    put_le(&body, 1, 2);
    buf_append(&body, STR("\x01"
                          "d\0"));
    put_le(&body, strlen(name), 1);
    buf_append(&body, (struct str){name, strlen(name) + 1});
    put_le(&body, n, 1);
    buf_append(&body, unhex(&bytes, types));
    put_le(&body, strlen(meta) / 2, 1);
    buf_append(&body, unhex(&bytes, meta));
    for (size_t i = 0; i < (n + 7) / 8; i++)
        put_le(&body, 0xff, 1);
    buf_append(&body, unhex(&bytes, optional));
    if (!table_maps_add(f->maps, &f->format, buf_str(&body), &map, &err))
        fail_msg("%s", err.msg);
    buf_free(&body);
    buf_free(&bytes);
    return map;
}

static struct table_map *add(struct fixture *f, uint64_t id, const char *types,
                             const char *meta, const char *optional)
{
    return add_named(f, id, "t", types, meta, optional);
}

/* One of many tables, with its number as its id. */
static struct table_map *add_numbered(struct fixture *f, unsigned number)
{
    char name[16];

    snprintf(name, sizeof(name), "t%u", number);
    return add_named(f, number, name, "03", "", "");
}

static void full_metadata_makes_a_schema(void **state)
{
    struct fixture f;
    struct table_map *m;

    (void)state;
    start(&f, "8.0.40");
    m = add(&f, 5, "030f", "1400",
            "0101"
            "80"
            "0201"
            "2d"
            "0405"
            "02"
            "6964"
            "01"
            "76"
            "0801"
            "00");
    assert_int_equal(m->broken.kind, ERR_NONE);
    assert_true(m->full_metadata && m->has_names);
    assert_true(str_equal(m->schema->columns[0].name, STR("id")));
    assert_true(m->schema->columns[0].is_unsigned);
    assert_int_equal(m->schema->columns[0].type, COLUMN_INT);
    assert_true(str_equal(m->schema->columns[1].name, STR("v")));
    assert_true(str_equal(m->schema->columns[1].charset, STR("utf8mb4")));
    assert_int_equal(m->schema->columns[1].length, 5);
    assert_true(m->schema->columns[1].nullable);
    assert_int_equal(m->schema->n_key, 1);
    assert_int_equal(m->schema->key[0], 0);
    finish(&f);
}

static void labels_are_read_in_their_character_set(void **state)
{
    struct fixture f;
    struct table_map *m;

    (void)state;
    start(&f, "8.0.40");
    /* ENUM('é','b') latin1, SET('x','y') utf8mb4 */
    m = add(&f, 5, "fefe", "f701f801",
            "0605"
            "02"
            "01e9"
            "0162"
            "0505"
            "02"
            "0178"
            "0179"
            "0b02"
            "082d"
            "0405"
            "0165"
            "02"
            "7365");
    assert_int_equal(m->broken.kind, ERR_NONE);
    assert_int_equal(m->schema->columns[0].n_labels, 2);
    assert_true(str_equal(m->schema->columns[0].labels[0], STR("é")));
    assert_true(str_equal(m->schema->columns[1].labels[1], STR("y")));
    assert_int_equal(m->schema->columns[1].type, COLUMN_SET);
    finish(&f);
}

/* After a VECTOR, the first CHAR is number 1 for MySQL; after a GEOMETRY it is for MariaDB. */
static void the_vendors_count_character_columns_differently(void **state)
{
    struct fixture f;
    struct table_map *m;

    (void)state;
    start(&f, "9.1.0");
    m = add(&f, 5, "f20f", "041400",
            "0203"
            "2d"
            "01"
            "08");
    assert_true(str_equal(m->schema->columns[1].charset, STR("latin1")));
    finish(&f);
    start(&f, "11.8.6-MariaDB");
    m = add(&f, 5, "ff0f", "041400",
            "0203"
            "2d"
            "01"
            "08");
    assert_true(str_equal(m->schema->columns[1].charset, STR("latin1")));
    finish(&f);
    start(&f, "9.1.0");
    m = add(&f, 5, "ff0f", "041400",
            "0203"
            "2d"
            "00"
            "08");
    assert_true(str_equal(m->schema->columns[1].charset, STR("latin1")));
    finish(&f);
}

static void year_has_a_bit_among_the_signs(void **state)
{
    struct fixture f;
    struct table_map *m;

    (void)state;
    start(&f, "8.0.40");
    m = add(&f, 5, "030d03", "",
            "0101"
            "20");
    assert_false(m->schema->columns[0].is_unsigned);
    assert_true(m->schema->columns[2].is_unsigned);
    finish(&f);
}

static void an_equal_map_is_made_once_under_any_id(void **state)
{
    struct fixture f;
    struct table_map *m, *again;

    (void)state;
    start(&f, "8.0.40");
    m = add(&f, 5, "030f", "1400", "");
    assert_ptr_equal(table_maps_find(f.maps, 5), m);
    assert_null(table_maps_find(f.maps, 6));
    table_maps_end_statement(f.maps);
    assert_null(table_maps_find(f.maps, 5));
    again = add(&f, 6, "030f", "1400", "");
    assert_ptr_equal(again, m);
    assert_ptr_equal(table_maps_find(f.maps, 6), m);
    assert_int_equal(f.asked, 1);
    add(&f, 6, "030f", "1500", "");
    assert_ptr_not_equal(table_maps_find(f.maps, 6), m);
    table_maps_clear(f.maps);
    add(&f, 7, "030f", "1400", "");
    assert_int_equal(f.asked, 3);
    finish(&f);
}

static void a_table_that_is_not_wanted_has_no_plan(void **state)
{
    struct fixture f;
    struct table_map *m;

    (void)state;
    start(&f, "8.0.40");
    f.unwanted = true;
    m = add(&f, 5, "99", "", "");
    assert_false(m->wanted);
    assert_null(m->columns);
    assert_true(str_equal(m->table, STR("t")));
    finish(&f);
}

static void a_table_that_is_not_wanted_is_asked_for_once_whatever_its_columns(void **state)
{
    struct fixture f;

    (void)state;
    start(&f, "8.0.40");
    f.unwanted = true;
    add(&f, 5, "03", "", "");
    assert_false(add(&f, 6, "0303", "", "")->wanted);
    assert_int_equal(f.asked, 1);
    finish(&f);
}

static void a_table_that_comes_to_be_wanted_has_a_plan_when_the_maps_are_cleared(void **state)
{
    struct fixture f;

    (void)state;
    start(&f, "8.0.40");
    f.unwanted = true;
    add(&f, 5, "03", "", "");
    f.unwanted = false;
    table_maps_clear(f.maps);
    assert_true(add(&f, 5, "03", "", "")->wanted);
    finish(&f);
}

static void tables_that_are_not_wanted_displace_no_plan(void **state)
{
    struct fixture f;
    struct table_map *wanted;

    (void)state;
    start(&f, "8.0.40");
    wanted = add(&f, 5, "03", "", "");
    f.unwanted = true;
    for (unsigned i = 0; i < 10000; i++) {
        assert_false(add_numbered(&f, i)->wanted);
        table_maps_end_statement(f.maps);
    }
    assert_ptr_equal(add(&f, 5, "03", "", ""), wanted);
    finish(&f);
}

/* Some share a place in the cache. */
static void each_table_of_a_statement_keeps_its_name_until_it_ends(void **state)
{
    const unsigned n = 4000;
    struct fixture f;
    char name[16];

    (void)state;
    start(&f, "8.0.40");
    f.unwanted = true;
    for (unsigned i = 0; i < n; i++)
        add_numbered(&f, i);
    for (unsigned i = 0; i < n; i++) {
        snprintf(name, sizeof(name), "t%u", i);
        assert_true(str_equal(table_maps_find(f.maps, i)->table, str_from(name)));
    }
    finish(&f);
}

static struct schema *known_table(size_t n, const struct column *columns)
{
    struct schema *s = schema_new(STR("d"), STR("t"));

    s->columns = arena_alloc(s->arena, n, sizeof(*s->columns));
    memcpy(s->columns, columns, n * sizeof(*columns));
    s->n_columns = n;
    return s;
}

static void without_names_the_known_schema_is_taken_if_it_fits(void **state)
{
    const struct column columns[] = {
        {.name = STR("id"), .type = COLUMN_INT, .is_unsigned = true},
        {.name = STR("u"), .type = COLUMN_UUID},
    };
    struct fixture f;
    struct table_map *m;

    (void)state;
    start(&f, "10.11.6-MariaDB");
    f.known = known_table(2, columns);
    m = add(&f, 5, "03fe", "fe10", "");
    assert_int_equal(m->broken.kind, ERR_NONE);
    assert_true(m->has_names && !m->full_metadata);
    assert_ptr_equal(m->schema, f.known);
    finish(&f);
}

static void a_known_schema_that_does_not_fit_breaks_the_table_alone(void **state)
{
    static const struct {
        const char *types, *meta;
    } cases[] = {
        {"03", ""}, {"0303", ""}, {"030f03", "1400"}, {"08fe", "fe10"}, {"03fe", "fe08"}};
    const struct column columns[] = {
        {.name = STR("id"), .type = COLUMN_INT},
        {.name = STR("u"), .type = COLUMN_UUID},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fixture f;
        struct table_map *m;

        start(&f, "10.11.6-MariaDB");
        f.known = known_table(2, columns);
        m = add(&f, 5, cases[i].types, cases[i].meta, "");
        assert_int_equal(m->broken.kind, ERR_REJECT);
        assert_non_null(strstr(m->broken.msg, "d.t"));
        finish(&f);
    }
}

static void the_known_schema_says_what_names_in_the_log_do_not(void **state)
{
    const struct column columns[] = {
        {.name = STR("renamed"), .type = COLUMN_INT},
        {.name = STR("V"), .type = COLUMN_JSON},
    };
    struct fixture f;
    struct table_map *m;

    (void)state;
    start(&f, "10.11.6-MariaDB");
    f.known = known_table(2, columns);
    m = add(&f, 5, "03fc", "04",
            "0101"
            "00"
            "0201"
            "2d"
            "0405"
            "02"
            "6964"
            "01"
            "76");
    assert_int_equal(m->broken.kind, ERR_NONE);
    assert_true(str_equal(m->schema->columns[0].name, STR("id")));
    assert_int_equal(m->schema->columns[1].type, COLUMN_JSON);
    finish(&f);
}

static void an_unknown_type_breaks_the_table_alone(void **state)
{
    struct fixture f;

    (void)state;
    start(&f, "8.0.40");
    assert_int_equal(add(&f, 5, "0399", "", "")->broken.kind, ERR_REJECT);
    assert_int_equal(add(&f, 6, "0303", "", "0201")->broken.kind, ERR_REJECT);
    assert_int_equal(add(&f, 7, "030f", "14", "")->broken.kind, ERR_REJECT);
    assert_int_equal(add(&f, 8, "030f", "1400", "c803000000")->broken.kind, ERR_NONE);
    finish(&f);
}

static void a_cut_map_is_refused(void **state)
{
    static const char hex[] = "050000000000"
                              "0100"
                              "016400"
                              "017400"
                              "02"
                              "030f"
                              "02"
                              "1400"
                              "02";
    struct fixture f;
    struct buf bytes = {0};
    const struct str whole = unhex(&bytes, hex);

    (void)state;
    start(&f, "8.0.40");
    for (size_t n = 0; n < whole.len; n++) {
        char *exact = malloc(n + 1);
        struct table_map *m = NULL;
        struct err err;

        memcpy(exact, whole.ptr, n);
        if (table_maps_add(f.maps, &f.format, (struct str){exact, n}, &m, &err))
            assert_int_equal(m->broken.kind, ERR_REJECT);
        free(exact);
    }
    finish(&f);
    buf_free(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(full_metadata_makes_a_schema),
        cmocka_unit_test(labels_are_read_in_their_character_set),
        cmocka_unit_test(the_vendors_count_character_columns_differently),
        cmocka_unit_test(year_has_a_bit_among_the_signs),
        cmocka_unit_test(an_equal_map_is_made_once_under_any_id),
        cmocka_unit_test(a_table_that_is_not_wanted_has_no_plan),
        cmocka_unit_test(a_table_that_is_not_wanted_is_asked_for_once_whatever_its_columns),
        cmocka_unit_test(a_table_that_comes_to_be_wanted_has_a_plan_when_the_maps_are_cleared),
        cmocka_unit_test(tables_that_are_not_wanted_displace_no_plan),
        cmocka_unit_test(each_table_of_a_statement_keeps_its_name_until_it_ends),
        cmocka_unit_test(without_names_the_known_schema_is_taken_if_it_fits),
        cmocka_unit_test(a_known_schema_that_does_not_fit_breaks_the_table_alone),
        cmocka_unit_test(the_known_schema_says_what_names_in_the_log_do_not),
        cmocka_unit_test(an_unknown_type_breaks_the_table_alone),
        cmocka_unit_test(a_cut_map_is_refused),
    };
    return cmocka_run_group_tests_name("table_map", tests, NULL, NULL);
}

#include "config.h"

#include "tests/unit/fake_catalog.h"

#include "src/base/buf.h"
#include "src/format/yaml.h"
#include "sync/definition/field_type.h"

static struct arena *arena;

static int set_up(void **state)
{
    (void)state;
    arena = arena_new();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_free(arena);
    return 0;
}

static const struct engine opensearch = {SEARCH_OPENSEARCH, 21905, false};
static const struct engine elasticsearch = {SEARCH_ELASTICSEARCH, 81900, false};

static struct column column(const char *type)
{
    struct buf text = {0};
    struct column c;

    buf_printf(&text, "c %s", type);
    fake_column(arena, arena_copy(arena, buf_str(&text)), &c);
    buf_free(&text);
    return c;
}

static void assert_mapping(const char *type, const struct column_definition *d,
                           const struct engine *e, const char *json)
{
    struct column c = column(type);
    struct yaml_node *field;
    struct buf b = {0};
    struct err err = {0};

    if (!field_mapping(arena, &c, d, e, false, &field, &err))
        fail_msg("%s: %s", type, err.msg);
    yaml_append_json(&b, field, false);
    assert_string_equal(b.ptr, json);
    buf_free(&b);
}

static void assert_refused(const char *type, const struct column_definition *d, const char *why)
{
    struct column c = column(type);
    struct yaml_node *field;
    struct err err = {0};

    assert_false(field_mapping(arena, &c, d, &opensearch, false, &field, &err));
    assert_int_equal(err.kind, ERR_REJECT);
    if (strstr(err.msg, why) == NULL)
        fail_msg("%s", err.msg);
}

static void every_type_has_the_field_of_the_contract(void **state)
{
    static const struct {
        const char *type, *opensearch, *elasticsearch;
    } cases[] = {
        {"tinyint(4)", "{\"type\":\"byte\"}", NULL},
        {"tinyint(3) unsigned", "{\"type\":\"short\"}", NULL},
        {"smallint(6)", "{\"type\":\"short\"}", NULL},
        {"smallint(5) unsigned", "{\"type\":\"integer\"}", NULL},
        {"mediumint(9)", "{\"type\":\"integer\"}", NULL},
        {"mediumint(8) unsigned", "{\"type\":\"integer\"}", NULL},
        {"int(11)", "{\"type\":\"integer\"}", NULL},
        {"int(10) unsigned", "{\"type\":\"long\"}", NULL},
        {"bigint(20)", "{\"type\":\"long\"}", NULL},
        {"bigint(20) unsigned", "{\"type\":\"unsigned_long\"}", NULL},
        {"decimal(10,2)", "{\"type\":\"scaled_float\",\"scaling_factor\":100}", NULL},
        {"decimal(18,18)", "{\"type\":\"scaled_float\",\"scaling_factor\":1000000000000000000}",
         NULL},
        {"decimal(18,0)", "{\"type\":\"scaled_float\",\"scaling_factor\":1}", NULL},
        {"decimal(19,2)", "{\"type\":\"keyword\"}", NULL},
        {"float", "{\"type\":\"float\"}", NULL},
        {"double", "{\"type\":\"double\"}", NULL},
        {"bit(1)", "{\"type\":\"long\"}", NULL},
        {"bit(64)", "{\"type\":\"unsigned_long\"}", NULL},
        {"year(4)", "{\"type\":\"short\"}", NULL},
        {"date", "{\"type\":\"date\"}", NULL},
        {"datetime(6)", "{\"type\":\"date\"}", NULL},
        {"timestamp", "{\"type\":\"date\"}", NULL},
        {"time", "{\"type\":\"keyword\"}", NULL},
        {"char(10)", "{\"type\":\"keyword\"}", NULL},
        {"varchar(200)", "{\"type\":\"keyword\"}", NULL},
        {"varchar(9000)", "{\"type\":\"keyword\",\"ignore_above\":8191}", NULL},
        {"text", "{\"type\":\"text\"}", NULL},
        {"longtext", "{\"type\":\"text\"}", NULL},
        {"binary(16)", "{\"type\":\"binary\"}", NULL},
        {"varbinary(16)", "{\"type\":\"binary\"}", NULL},
        {"blob", "{\"type\":\"binary\"}", NULL},
        {"enum('a','b')", "{\"type\":\"keyword\"}", NULL},
        {"set('a','b')", "{\"type\":\"keyword\"}", NULL},
        {"json", "{\"type\":\"flat_object\"}",
         "{\"type\":\"flattened\",\"ignore_above\":8191}"},
        {"point", "{\"type\":\"geo_point\"}", NULL},
        {"polygon", "{\"type\":\"geo_shape\"}", NULL},
        {"uuid", "{\"type\":\"keyword\"}", NULL},
        {"inet4", "{\"type\":\"ip\"}", NULL},
        {"inet6", "{\"type\":\"ip\"}", NULL},
        {"vector(3)", "{\"type\":\"knn_vector\",\"dimension\":3}",
         "{\"type\":\"dense_vector\",\"dims\":3}"},
        {"something_new", "{\"type\":\"keyword\"}", NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *other = cases[i].elasticsearch;

        assert_mapping(cases[i].type, NULL, &opensearch, cases[i].opensearch);
        assert_mapping(cases[i].type, NULL, &elasticsearch,
                       other != NULL ? other : cases[i].opensearch);
    }
}

static void old_engines_get_what_they_have(void **state)
{
    const struct engine old = {.flavor = SEARCH_OPENSEARCH, .version = 20600};
    const struct engine newest = {.flavor = SEARCH_OPENSEARCH};
    const struct engine older = {.flavor = SEARCH_OPENSEARCH, .version = 10000};
    const struct engine plain = {SEARCH_ELASTICSEARCH, 71002, true};

    (void)state;
    assert_mapping("bigint(20) unsigned", NULL, &plain, "{\"type\":\"keyword\"}");
    assert_mapping("json", NULL, &plain, "{\"type\":\"object\",\"dynamic\":true}");
    assert_mapping("bigint(20) unsigned", NULL, &old, "{\"type\":\"keyword\"}");
    assert_mapping("json", NULL, &old, "{\"type\":\"object\",\"dynamic\":true}");
    assert_mapping("bigint(20) unsigned", NULL, &newest, "{\"type\":\"unsigned_long\"}");
    assert_mapping("bit(64)", NULL, &older, "{\"type\":\"keyword\"}");
    assert_mapping("json", NULL, &older, "{\"type\":\"object\",\"dynamic\":true}");
}

static void a_definition_adds_to_the_field(void **state)
{
    struct str targets[] = {STR("all"), STR("names")};
    const struct column_definition text = {.type = STR("text"),
                                           .analyzer = STR("ik_max_word"),
                                           .search_analyzer = STR("ik_smart"),
                                           .keyword = true,
                                           .copy_to = targets,
                                           .n_copy_to = 2};
    const struct column_definition day = {.format = STR("yyyyMMdd")};
    const struct column_definition epoch = {.type = STR("date"), .format = STR("epoch_second")};
    const struct column_definition flat = {.type = STR("flattened")};
    const struct column_definition number = {.type = STR("scaled_float")};
    const struct column_definition word = {.type = STR("keyword")};
    const struct column_definition flag = {.type = STR("boolean")};
    const struct column_definition point = {.type = STR("geo_point")};

    (void)state;
    assert_mapping("enum('true','','false')", &flag, &opensearch, "{\"type\":\"boolean\"}");
    assert_mapping("geometry", &point, &opensearch, "{\"type\":\"geo_point\"}");
    assert_mapping(
        "varchar(50)", &text, &opensearch,
        "{\"type\":\"text\",\"analyzer\":\"ik_max_word\",\"search_analyzer\":\"ik_smart\","
        "\"fields\":{\"keyword\":{\"type\":\"keyword\",\"ignore_above\":8191}},"
        "\"copy_to\":[\"all\",\"names\"]}");
    assert_mapping("date", &day, &opensearch,
                   "{\"type\":\"date\",\"format\":\"yyyyMMdd||strict_date_optional_time\"}");
    assert_mapping("int", &epoch, &opensearch,
                   "{\"type\":\"date\",\"format\":\"epoch_second\"}");
    assert_mapping("json", &flat, &opensearch, "{\"type\":\"flat_object\"}");
    assert_mapping("decimal(30,3)", &number, &opensearch,
                   "{\"type\":\"scaled_float\",\"scaling_factor\":1000}");
    assert_mapping("longtext", &word, &opensearch,
                   "{\"type\":\"keyword\",\"ignore_above\":8191}");
}

static void zero_dates_as_text_are_borne(void **state)
{
    struct column c = column("datetime");
    struct yaml_node *field;
    struct buf b = {0};
    struct err err = {0};

    (void)state;
    assert_true(field_mapping(arena, &c, NULL, &opensearch, true, &field, &err));
    yaml_append_json(&b, field, false);
    assert_string_equal(b.ptr, "{\"type\":\"date\",\"ignore_malformed\":true}");
    buf_free(&b);
}

static void what_does_not_go_together_is_refused(void **state)
{
    struct str target = STR("all");

    (void)state;
    assert_refused("int", &(struct column_definition){.type = STR("txet")},
                   "did you mean `text`");
    assert_refused("int", &(struct column_definition){.type = STR("geo_point")}, "cannot take");
    assert_refused("polygon", &(struct column_definition){.type = STR("geo_point")},
                   "cannot take");
    assert_refused("double", &(struct column_definition){.type = STR("boolean")},
                   "cannot take");
    assert_refused("enum('true','false','F')",
                   &(struct column_definition){.type = STR("boolean")},
                   "may hold `F`: add `transform: [{kind: boolean}]`");
    assert_refused("polygon", &(struct column_definition){.type = STR("keyword")},
                   "cannot take");
    assert_refused("date", &(struct column_definition){.type = STR("long")}, "cannot take");
    assert_refused("varchar(9)", &(struct column_definition){.analyzer = STR("a")},
                   "add `type: text`");
    assert_refused("varchar(9)", &(struct column_definition){.format = STR("a")},
                   "add `type: date`");
    assert_refused("json", &(struct column_definition){.keyword = true}, "no sub-field");
    assert_refused("blob", &(struct column_definition){.copy_to = &target, .n_copy_to = 1},
                   "no `copy_to`");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(every_type_has_the_field_of_the_contract), TEST(old_engines_get_what_they_have),
        TEST(a_definition_adds_to_the_field),           TEST(zero_dates_as_text_are_borne),
        TEST(what_does_not_go_together_is_refused),
    };
    return cmocka_run_group_tests_name("field_type", tests, NULL, NULL);
}

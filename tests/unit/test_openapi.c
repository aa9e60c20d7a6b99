/* The description of the API has each route of the table and nothing else, and is whole. */
#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/buf.h"
#include "web/openapi.h"
#include "web/operation/operation.h"
#include "web/routes.h"

#include <cJSON.h>
#include <string.h>
#include <strings.h>

static struct route table[256];
static size_t n_routes;
static cJSON *document;

static int make_document(void **state)
{
    struct buf text = {0};
    size_t n_all;
    const struct route *all = routes_table(&n_all);

    (void)state;

    /* All but the words, which are of a port of their own. */
    for (size_t i = 0; i < n_all && n_routes < ARRAY_LEN(table); i++)
        if (all[i].role != ROLE_WORDS)
            table[n_routes++] = all[i];
    openapi_append(all, n_all,
                   &(struct openapi_facts){.version = STR("1.2.3"), .prefix = STR("/mill")},
                   &text);
    document = cJSON_ParseWithLength(text.ptr, text.len);
    buf_free(&text);
    return document == NULL;
}

static int free_document(void **state)
{
    (void)state;
    cJSON_Delete(document);
    return 0;
}

static const cJSON *member(const cJSON *object, const char *name)
{
    const cJSON *found = cJSON_GetObjectItemCaseSensitive(object, name);

    if (found == NULL)
        fail_msg("no member \"%s\" in \"%s\"", name,
                 object->string != NULL ? object->string : "a list's item");
    return found;
}

static const char *text_of(const cJSON *object, const char *name)
{
    return cJSON_GetStringValue(member(object, name));
}

static bool is_operation(const cJSON *in_path)
{
    return strcmp(in_path->string, "parameters") != 0;
}

static const cJSON *operation_of(const struct route *r)
{
    const cJSON *path = member(member(document, "paths"), r->pattern), *found = NULL, *o;

    cJSON_ArrayForEach (o, path)
        if (strcasecmp(o->string, request_method_name(r->method)) == 0)
            found = o;
    if (found == NULL)
        fail_msg("%s %s is not described", request_method_name(r->method), r->pattern);
    return found;
}

/* ---- routes ---- */

static void each_route_is_described_and_nothing_else(void **state)
{
    const cJSON *path, *o;
    size_t n = 0;

    (void)state;
    for (size_t i = 0; i < n_routes; i++)
        (void)operation_of(&table[i]);
    cJSON_ArrayForEach (path, member(document, "paths"))
        cJSON_ArrayForEach (o, path)
            n += is_operation(o);
    assert_int_equal(n, n_routes);
}

static void what_the_table_knows_is_as_in_the_table(void **state)
{
    static const char *const roles[] = {"", "probe", "page", "viewer", "operator", "admin"};

    (void)state;
    for (size_t i = 0; i < n_routes; i++) {
        const struct route *r = &table[i];
        const cJSON *o = operation_of(r);
        const bool repeats = r->method == METHOD_GET || (r->traits & MAY_REPEAT) != 0;
        const cJSON *max = cJSON_GetObjectItemCaseSensitive(o, "x-millrace-body-max");

        assert_string_equal(text_of(o, "summary"), r->summary);
        assert_string_equal(text_of(o, "x-millrace-role"), roles[r->role]);
        assert_int_equal(cJSON_IsTrue(member(o, "x-millrace-may-repeat")), repeats);
        assert_string_equal(text_of(o, "x-millrace-answered-by"),
                            r->concern == CONCERNS_NODE ? "node" : "owner");
        assert_int_equal(max == NULL ? 0 : (size_t)max->valuedouble, r->body_max);
        assert_int_equal(cJSON_HasObjectItem(o, "requestBody"), r->body_max > 0);
    }
}

static void each_operation_has_a_name_of_its_own(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_routes; i++)
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(text_of(operation_of(&table[i]), "operationId"),
                                    text_of(operation_of(&table[k]), "operationId"));
}

static void each_name_in_a_path_is_described_and_nothing_else(void **state)
{
    const cJSON *path, *p;

    (void)state;
    cJSON_ArrayForEach (path, member(document, "paths")) {
        size_t n = 0;

        for (const char *c = path->string; *c != '\0'; c++)
            n += *c == '{';
        assert_int_equal(
            cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(path, "parameters")), n);
        if (n == 0)
            continue;
        cJSON_ArrayForEach (p, member(path, "parameters")) {
            struct buf braced = {0};

            buf_printf(&braced, "{%s}", text_of(p, "name"));
            assert_non_null(strstr(path->string, braced.ptr));
            buf_free(&braced);
        }
    }
}

/* ---- what operations take and answer ---- */

static void a_body_has_members_where_the_route_has_room_for_one(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_routes; i++) {
        const struct operation *op = table[i].op;

        if ((op->members != NULL || op->takes_settings || op->takes_definition) !=
            (table[i].body_max > 0))
            fail_msg("%s %s", request_method_name(table[i].method), table[i].pattern);
    }
}

/* Lists have a largest number of items; texts and counts may have limits. */
static bool has_limits(const struct input *in)
{
    const bool is_list = in->type >= INPUT_TEXTS && in->type <= INPUT_OBJECTS;
    const bool is_count = in->type == INPUT_COUNT;

    return (in->max > 0 ? is_list || is_count : !is_list) &&
           (in->min == 0 || is_count || in->type == INPUT_TEXT) &&
           (!is_count || in->max == 0 || in->min <= in->max);
}

static void each_input_says_what_it_is(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_routes; i++) {
        const struct input *const lists[] = {table[i].op->params, table[i].op->members,
                                             table[i].op->or_members};

        for (size_t k = 0; k < ARRAY_LEN(lists); k++)
            for (const struct input *in = lists[k]; in != NULL && in->name != NULL; in++)
                if (in->help == NULL || (in->type == INPUT_CHOICE) != (in->choices != NULL) ||
                    (in->type == INPUT_OBJECTS) != (in->item != NULL) || !has_limits(in))
                    fail_msg("%s of %s", in->name, table[i].pattern);
    }
}

static bool has_form(const cJSON *answer)
{
    const cJSON *media;
    bool has = true;

    cJSON_ArrayForEach (media, member(answer, "content"))
        has = has && member(media, "schema")->child != NULL;
    return has;
}

static void each_operation_succeeds_with_a_form_and_fails_with_a_problem(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_routes; i++) {
        const cJSON *answers = member(operation_of(&table[i]), "responses"), *a;
        size_t n_good = 0;

        cJSON_ArrayForEach (a, answers)
            if (a->string[0] == '2') {
                n_good++;
                assert_true(has_form(a));
            }
        assert_true(n_good > 0);
        assert_string_equal(text_of(member(answers, "400"), "$ref"),
                            "#/components/responses/400");
        assert_string_equal(text_of(member(answers, "default"), "$ref"),
                            "#/components/responses/problem");
    }
}

/* ---- references ---- */

/* What "#/components/KIND/NAME" leads to. */
static const cJSON *lead(const char *reference)
{
    const cJSON *at = document;
    char part[64];

    assert_memory_equal(reference, "#/", 2);
    for (const char *c = reference + 1; *c == '/';) {
        const size_t n = strcspn(++c, "/");

        assert_true(n < sizeof(part));
        memcpy(part, c, n);
        part[n] = '\0';
        at = member(at, part);
        c += n;
    }
    return at;
}

#define COMPONENTS_MAX 500

struct reached {
    const cJSON *list[COMPONENTS_MAX];
    size_t n;
};

/* Put what node refers to into r, and what that refers to. */
static void reach(struct reached *r, const cJSON *node)
{
    const cJSON *child;

    if (node->string != NULL && strcmp(node->string, "$ref") == 0 && cJSON_IsString(node)) {
        const cJSON *to = lead(node->valuestring);

        for (size_t i = 0; i < r->n; i++)
            if (r->list[i] == to)
                return;
        assert_true(r->n < COMPONENTS_MAX);
        r->list[r->n++] = to;
        reach(r, to);
    }
    cJSON_ArrayForEach (child, node)
        reach(r, child);
}

static void each_reference_leads_somewhere_and_each_component_is_used(void **state)
{
    struct reached r = {.n = 0};
    const cJSON *kind, *component;

    (void)state;
    reach(&r, member(document, "paths"));
    cJSON_ArrayForEach (kind, member(document, "components"))
        cJSON_ArrayForEach (component, kind) {
            bool used = strcmp(component->string, "405") == 0; /* of no method that there is */

            used =
                used || strcmp(kind->string, "securitySchemes") == 0; /* named, not referred */

            for (size_t i = 0; i < r.n; i++)
                used = used || r.list[i] == component;
            if (!used)
                fail_msg("nothing uses the component %s", component->string);
        }
}

/* A form's first member says which it is. */
static void each_form_names_itself(void **state)
{
    const cJSON *form;
    size_t n = 0;

    (void)state;
    cJSON_ArrayForEach (form, member(member(document, "components"), "schemas")) {
        const cJSON *schema = cJSON_GetObjectItemCaseSensitive(
            cJSON_GetObjectItemCaseSensitive(form, "properties"), "schema");
        const char *dot = strchr(form->string, '.');
        struct buf name = {0};

        if (dot == NULL || dot[1] < '0' || dot[1] > '9')
            continue;
        buf_printf(&name, "millrace/%.*s/%s", (int)(dot - form->string), form->string, dot + 1);
        if (schema == NULL)
            fail_msg("%s has no member \"schema\"", form->string);
        assert_string_equal(text_of(schema, "const"), name.ptr);
        buf_free(&name);
        n++;
    }
    assert_true(n > 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_route_is_described_and_nothing_else),
        cmocka_unit_test(what_the_table_knows_is_as_in_the_table),
        cmocka_unit_test(each_operation_has_a_name_of_its_own),
        cmocka_unit_test(each_name_in_a_path_is_described_and_nothing_else),
        cmocka_unit_test(a_body_has_members_where_the_route_has_room_for_one),
        cmocka_unit_test(each_input_says_what_it_is),
        cmocka_unit_test(each_operation_succeeds_with_a_form_and_fails_with_a_problem),
        cmocka_unit_test(each_reference_leads_somewhere_and_each_component_is_used),
        cmocka_unit_test(each_form_names_itself),
    };
    return cmocka_run_group_tests_name("openapi", tests, make_document, free_document);
}

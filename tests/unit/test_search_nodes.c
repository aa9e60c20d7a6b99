#include "config.h"

#include "tests/unit/unit.h"

#include "src/search/nodes.h"

#include <stdbool.h>
#include <stdio.h>

/* A node of a list, with its roles and the address that it tells. */
#define NODE(id, roles, address) \
    "\"" id "\":{\"roles\":[" roles "],\"http\":{\"publish_address\":\"" address "\"}}"
#define LIST(nodes) "{\"nodes\":{" nodes "}}"
#define DATA        "\"data\",\"ingest\""

static void assert_nodes(const char *answer, const char *like, const char *const *urls,
                         size_t n)
{
    struct search_nodes nodes = {0};
    struct err err = {0};
    const bool ok = search_nodes_read(&nodes, str_from(answer), like, &err);

    assert_int_equal(ok, n > 0);
    assert_int_equal(err.kind, ok ? ERR_NONE : ERR_REJECT);
    assert_int_equal(nodes.n, n);
    for (size_t i = 0; i < n; i++)
        assert_string_equal(nodes.urls[i], urls[i]);
    search_nodes_free(&nodes);
}

static void every_form_of_an_address_is_understood(void **state)
{
    static const struct {
        const char *address, *url; /* NULL: left out */
    } cases[] = {
        {"127.0.0.1:9200", "http://127.0.0.1:9200"},
        {"[::1]:9200", "http://[::1]:9200"},
        {"[fe80::1%eth0]:9200", "http://[fe80::1%eth0]:9200"},
        {"es-1.example/10.0.0.5:9201", "http://es-1.example:9201"},
        {"es-1.example/[2001:db8::5]:9201", "http://es-1.example:9201"},
        {"/10.0.0.5:9200", "http://10.0.0.5:9200"},
        {"", NULL},
        {"10.0.0.5", NULL},
        {"10.0.0.5:", NULL},
        {"10.0.0.5:0", NULL},
        {"10.0.0.5:65536", NULL},
        {"10.0.0.5:99999999999999999999", NULL},
        {"10.0.0.5:92x", NULL},
        {":9200", NULL},
        {"::1:9200", NULL},
        {"[::1:9200", NULL},
        {"user@elsewhere:9200", NULL},
        {"elsewhere?x=:9200", NULL},
        {"else where:9200", NULL},
        {"a\\u0000b:9200", NULL},
        {"a\\r\\nHost- b:9200", NULL},
        {"10.0.0.5:9200/path", NULL},
    };
    char answer[300];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        snprintf(answer, sizeof(answer), LIST(NODE("n", DATA, "%s")), cases[i].address);
        assert_nodes(answer, "http://seed:9200", &cases[i].url, cases[i].url != NULL);
    }
}

static void only_nodes_that_take_documents_are_used(void **state)
{
    static const struct {
        const char *roles;
        bool used;
    } cases[] = {
        {"\"cluster_manager\"", false},
        {"\"master\"", false},
        {"\"master\",\"voting_only\"", false},
        {"\"ml\",\"remote_cluster_client\"", false},
        {"\"search\"", false},
        {"\"cluster_manager\",\"data\"", true},
        {"\"data_hot\"", true},
        {"\"data_content\",\"master\"", true},
        {"\"ingest\"", true},
        {"", true}, /* it passes requests on */
    };
    static const char *const url = "http://10.0.0.5:9200";
    char answer[300];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        snprintf(answer, sizeof(answer), LIST(NODE("n", "%s", "10.0.0.5:9200")),
                 cases[i].roles);
        assert_nodes(answer, "http://seed:9200", &url, cases[i].used);
    }
    /* The engine leaves an empty list of roles out. */
    assert_nodes(LIST("\"n\":{\"http\":{\"publish_address\":\"10.0.0.5:9200\"}}"), "http://s",
                 &url, 1);
    /* A node that takes no HTTP. */
    assert_nodes(LIST("\"n\":{\"roles\":[\"data\"]}"), "http://s", NULL, 0);
}

static void scheme_and_rights_are_those_of_the_seed(void **state)
{
    static const struct {
        const char *like, *url;
    } cases[] = {
        {"https://seed:9200", "https://a:1"},
        {"https://seed/prefix/", "https://a:1"},
        {"https://user:p@ss@seed:9200", "https://user:p@ss@a:1"},
        {"https://seed/x@y", "https://a:1"},
        {"seed:9200", "http://a:1"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_nodes(LIST(NODE("n", DATA, "a:1")), cases[i].like, &cases[i].url, 1);
}

static void many_nodes_are_read_and_the_list_is_bounded(void **state)
{
    static const char *const two[] = {"http://a:1", "http://c:3"};
    static char answer[SEARCH_NODES_MAX * 200];
    struct search_nodes nodes = {0};
    struct err err = {0};
    size_t len = 0;

    (void)state;
    assert_nodes(LIST(NODE("x", DATA, "a:1") "," NODE("y", "\"master\"",
                                                      "b:2") "," NODE("z", DATA, "c:3")),
                 "http://s", two, 2);
    len += (size_t)snprintf(answer, sizeof(answer), "{\"nodes\":{");
    for (unsigned i = 1; i <= SEARCH_NODES_MAX + 10; i++)
        len += (size_t)snprintf(answer + len, sizeof(answer) - len,
                                "%s" NODE("%u", DATA, "a:%u"), i > 1 ? "," : "", i, i);
    snprintf(answer + len, sizeof(answer) - len, "}}");
    assert_true(search_nodes_read(&nodes, str_from(answer), "http://s", &err));
    assert_int_equal(nodes.n, SEARCH_NODES_MAX);
    search_nodes_free(&nodes);
}

static void what_is_no_list_is_refused(void **state)
{
    static const char *const cases[] = {
        "",
        "{}",
        "[]",
        "<html>",
        "{\"nodes\":[]}",
        "{\"nodes\":{\"n\":1}}",
        "{\"nodes\":{}}",
        LIST(NODE("n", DATA, "a:1")) "x",
        "{\"nodes\":{" NODE("n", DATA, "a:1"),
        "{\"nodes\":{\"n\":{\"roles\":\"data\",\"http\":{\"publish_address\":\"a:1\"}}}}",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_nodes(cases[i], "http://s", NULL, 0);
}

static void only_hosts_that_a_pattern_names_are_kept(void **state)
{
    /* clang-format off */
    static const char answer[] = LIST(
        NODE("a", DATA, "s1.example.org/10.0.0.1:9200") ","
        NODE("b", DATA, "10.0.0.2:9200") ","
        NODE("c", DATA, "[::1]:9200") ","
        NODE("d", DATA, "s1.example.org.evil.net/10.0.0.4:9200"));
    /* clang-format on */
    static const struct {
        const char *patterns[2];
        size_t n;
        const char *left[4];
    } cases[] = {
        {{"S?.example.org", NULL}, 1, {"https://u:p@s1.example.org:9200"}},
        {{"10.0.0.*", "[::1]"}, 2, {"https://u:p@10.0.0.2:9200", "https://u:p@[::1]:9200"}},
        {{"example.org", "10.0.0.2:9200"}, 2, {NULL}},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct search_nodes nodes = {0};
        struct err err = {0};
        size_t n = 0;

        assert_true(search_nodes_read(&nodes, str_from(answer), "https://u:p@s", &err));
        while (cases[i].left[n] != NULL)
            n++;
        assert_int_equal(search_nodes_keep(&nodes, cases[i].patterns, cases[i].n), 4 - n);
        assert_int_equal(nodes.n, n);
        for (size_t k = 0; k < n; k++)
            assert_string_equal(nodes.urls[k], cases[i].left[k]);
        search_nodes_free(&nodes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_of_an_address_is_understood),
        cmocka_unit_test(only_nodes_that_take_documents_are_used),
        cmocka_unit_test(scheme_and_rights_are_those_of_the_seed),
        cmocka_unit_test(many_nodes_are_read_and_the_list_is_bounded),
        cmocka_unit_test(what_is_no_list_is_refused),
        cmocka_unit_test(only_hosts_that_a_pattern_names_are_kept),
    };
    return cmocka_run_group_tests_name("search_nodes", tests, NULL, NULL);
}

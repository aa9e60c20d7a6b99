#include "config.h"

#include "tests/unit/unit.h"

#include "tests/fakes/fake_coordinator.h"
#include "web/page/page.h"

#include <string.h>

static void assert_page(const char *status, const char *has, const char *has_not)
{
    struct buf b = {0};

    page_render(&b, str_from(status), "0123");
    if (has != NULL && strstr(b.ptr, has) == NULL)
        fail_msg("\"%s\" is missing", has);
    if (has_not != NULL && strstr(b.ptr, has_not) != NULL)
        fail_msg("\"%s\" is there", has_not);
    buf_free(&b);
}

static void the_page_tells_the_state_of_each_topic_and_table(void **state)
{
    (void)state;
    assert_page(fake_status, "binlog.000412:88213441", NULL);
    assert_page(fake_status, "15 min 32 s", NULL);
    assert_page(fake_status, "1.0 GiB", NULL);
    assert_page(fake_status, "v4 41.6 %", NULL);
    assert_page(fake_status, "1,250,000", NULL);
    assert_page(fake_status, "Way out: millrace index create shop.customer", NULL);
    assert_page(fake_status, "Way out: millrace topic reset billing", NULL);
    assert_page(fake_status, "2 things need attention", "All is well");
}

static void the_page_shows_the_settings_of_delivery_that_are_not_the_defaults(void **state)
{
    static const char status[] =
        "{\"delivery\":{\"settings\":[{\"name\":\"workers\",\"value\":\"20\",\"origin\":\"set "
        "at run time\"},{\"name\":\"helpers\",\"value\":\"10\",\"origin\":\"default\"}]}}";

    (void)state;
    assert_page(status, "<dt>workers</dt><dd>20", "<dt>helpers</dt>");
    assert_page(status, "set at run time", NULL);
    assert_page(status, "The others have their defaults", NULL);
    assert_page("{\"delivery\":{\"settings\":[{\"name\":\"workers\",\"value\":\"20\","
                "\"origin\":\"default\"}]}}",
                "All have their defaults", "<dt>workers</dt>");
}

static void text_from_a_database_is_escaped(void **state)
{
    (void)state;
    assert_page(fake_status, "disk is full &lt;95%&gt;", "<95%>");
    assert_page("{\"tables\":[{\"table\":\"<script>\",\"state\":\"\\\"><b>\"}]}",
                "&lt;script&gt;", "<script>");
    assert_page("{\"version\":\"<script>\"}", "&lt;script&gt;", "<script>");
}

static void a_page_without_anything_says_how_to_begin(void **state)
{
    (void)state;
    assert_page("{\"topics\":[],\"tables\":[]}", "millrace apply FILE", NULL);
    assert_page("{\"ok\":true}", "All is well", NULL);
    assert_page("{\"ok\":null}", "Not known yet", "All is well");
}

static void what_the_doctor_says_is_said_in_its_words(void **state)
{
    static const char *const status =
        "{\"ok\":true,\"checks\":[{\"id\":\"topic.runs\",\"group\":\"topic shop\",\"status\":"
        "\"ok\",\"message\":\"running\"},{\"id\":\"search.address\",\"group\":\"search "
        "engine\",\"status\":\"warn\",\"message\":\"http://b has not answered\",\"why\":"
        "\"others work\",\"fix\":\"start it\"},7]}";

    (void)state;
    assert_page(status,
                "<strong>search engine</strong> http://b has not answered<p>Why it "
                "matters: others work</p><p>Way out: start it</p>",
                "topic shop</strong>");
    assert_page(status, "▲ 1 thing needs attention", "All is well");
}

static void a_lag_that_is_a_bound_or_not_known_looks_so(void **state)
{
    (void)state;
    assert_page("{\"topics\":[{\"name\":\"shop\",\"lag_seconds\":7,\"lag_at_most\":true}]}",
                "≤ 7.0 s", "unknown</td>");
    assert_page("{\"topics\":[{\"name\":\"shop\",\"lag_seconds\":null}]}", "unknown</td>",
                "0.0 s");
    assert_page("{\"tables\":[{\"table\":\"shop.a\",\"lag_seconds\":7,\"lag_at_most\":false}]}",
                "Lag>7.0 s", "≤");
}

static void who_owns_a_topic_is_shown_if_nodes_share_the_store(void **state)
{
    static const char shared[] =
        "{\"topics\":[{\"name\":\"near\",\"owner\":\"anna\",\"told_ms\":0},"
        "{\"name\":\"far\",\"owner\":\"<b>\",\"told_ms\":3000}]}";

    (void)state;
    assert_page(shared, "<th scope=col>Owner", "anna <span");
    assert_page(shared, "&lt;b&gt; <span class=soft>3.0 s ago</span>", "<b> ");
    assert_page(fake_status, "<th scope=col>Server", "Owner");
}

static void a_build_that_waits_says_why_and_shows_no_rows_that_nobody_knows(void **state)
{
    static const char status[] =
        "{\"tables\":[{\"table\":\"shop.a\",\"build\":{\"version\":2,\"phase\":\"waiting\","
        "\"waits_for\":\"topic shop is not running\",\"remaining_seconds\":null}}]}";

    (void)state;
    assert_page(status, "v2<span class=soft> · waits: topic shop is not running", "rows ·");
}

static void an_odd_status_still_gives_a_page(void **state)
{
    static const char *const odd[] = {
        "",
        "[]",
        "{",
        "{}",
        "{\"topics\":7,\"tables\":{\"a\":1},\"search\":[],\"delivery\":null}",
        "{\"topics\":[null,1,\"x\",{\"rate\":-1e308,\"lag_seconds\":1e308,\"lag_bytes\":1e308,"
        "\"position\":-5,\"warnings\":[null,{}]}]}",
        "{\"tables\":[{\"documents\":\"many\",\"build\":{\"rows_done\":9,\"rows_total\":3}}]}",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(odd); i++)
        assert_page(odd[i], "</html>", "nan");
    assert_page(odd[6], "100.0 %", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_page_tells_the_state_of_each_topic_and_table),
        cmocka_unit_test(the_page_shows_the_settings_of_delivery_that_are_not_the_defaults),
        cmocka_unit_test(text_from_a_database_is_escaped),
        cmocka_unit_test(a_page_without_anything_says_how_to_begin),
        cmocka_unit_test(what_the_doctor_says_is_said_in_its_words),
        cmocka_unit_test(a_lag_that_is_a_bound_or_not_known_looks_so),
        cmocka_unit_test(who_owns_a_topic_is_shown_if_nodes_share_the_store),
        cmocka_unit_test(a_build_that_waits_says_why_and_shows_no_rows_that_nobody_knows),
        cmocka_unit_test(an_odd_status_still_gives_a_page),
    };
    return cmocka_run_group_tests_name("page", tests, NULL, NULL);
}

#include "config.h"

#include "tests/unit/unit.h"

#include "src/cli/view/screen.h"
#include "src/cli/view/status_view.h"

#include <string.h>

#define LONG "shop_of_the_northern_branch.orders_of_returning_customers_archive"
#define GTID                                                                         \
    "3e11fa47-71ca-11e1-9e33-c80aa9429562:1-5,4e11fa47-71ca-11e1-9e33-c80aa9429562:" \
    "1-77,5e11fa47-71ca-11e1-9e33-c80aa9429562:1-48213"

static const char status[] =
    "{\"version\":\"0.2.0\",\"started\":\"2026-11-21T10:02:11Z\",\"ok\":false,"
    "\"checks\":[{\"id\":\"topic.runs\",\"group\":\"topic shop\",\"status\":\"ok\","
    "\"message\":\"running, lag 0.4 s\"},"
    "{\"id\":\"table.runs\",\"group\":\"table " LONG "\",\"status\":\"fail\","
    "\"message\":\"the engine takes nothing: cluster_block_exception, index read-only / allow "
    "delete\",\"why\":\"changes wait\",\"fix\":\"free space\"}],"
    "\"topics\":[{\"name\":\"shop\",\"state\":\"connecting\",\"lag_seconds\":932,"
    "\"lag_at_most\":true,\"lag_bytes\":92274688,\"rate\":1210,"
    "\"server\":\"MariaDB 10.11.6-MariaDB-0+deb12u1-log at database-1.shop.example:3306\","
    "\"file\":\"binlog.000412\",\"position\":88213441,\"gtid\":\"" GTID "\",\"lag_of\":\"\"}],"
    "\"tables\":[{\"table\":\"" LONG "\",\"state\":\"unavailable\",\"index\":\"" LONG "\","
    "\"version\":12,\"lag_seconds\":932,\"lag_at_most\":true,\"documents\":1234567890,"
    "\"rate\":41200,\"dropped\":1234567,\"dead_letters\":1234,\"pending\":true},"
    "{\"table\":\"shop.a\",\"state\":\"available\",\"index\":\"a\",\"version\":1,"
    "\"lag_seconds\":0,\"documents\":1,\"rate\":0,\"dropped\":0,\"dead_letters\":0,"
    "\"pending\":false,\"build\":{\"version\":8,\"phase\":\"finishing\",\"rows_done\":7100,"
    "\"rows_total\":10000,\"rate\":2000,\"remaining_seconds\":2,"
    "\"waits_for\":\"counting rows and documents\"}}],"
    "\"search\":{\"health\":\"green\",\"flavor\":\"OpenSearch\",\"version\":\"2.19.5\","
    "\"url\":\"http://search-1.shop.example:9200\",\"reason\":\"\"},"
    "\"delivery\":{\"queued\":31100,\"loading\":2000,\"in_flight\":50000,"
    "\"bytes_held\":1931744,\"requests\":4821300,\"retries\":2},"
    "\"changes\":{\"read\":1,\"delivered\":1,\"superseded\":0,\"filtered\":0,\"deferred\":0,"
    "\"purged\":0,\"dead\":0,\"in_flight\":0}}";

static void view(struct buf *out, size_t width, bool marks)
{
    buf_clear(out);
    status_view(out, (struct render_style){.width = width, .marks = marks}, str_from(status));
}

static void assert_lines_within(struct buf *text, size_t width)
{
    char *rest = NULL;

    for (char *line = strtok_r(text->ptr, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest))
        if (screen_width(str_from(line)) > width)
            fail_msg("more than %zu columns: %s", width, line);
}

static void no_line_is_wider_than_the_window(void **state)
{
    static const size_t widths[] = {99, 80, 60, 40};
    struct buf out = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(widths); i++) {
        view(&out, widths[i], i % 2 == 0);
        assert_lines_within(&out, widths[i]);
    }
    buf_free(&out);
}

static void a_long_name_keeps_its_start_and_its_end(void **state)
{
    struct buf out = {0};

    (void)state;
    view(&out, 99, true);
    assert_non_null(strstr(out.ptr, "\nshop_of_the_"));
    assert_non_null(strstr(out.ptr, "…"));
    assert_non_null(strstr(out.ptr, "_archive  "));
    view(&out, 99, false);
    assert_null(strstr(out.ptr, "…"));
    assert_non_null(strstr(out.ptr, "~"));
    buf_free(&out);
}

static void a_pipe_gets_every_name_whole(void **state)
{
    struct buf out = {0};

    (void)state;
    view(&out, 0, false);
    assert_non_null(strstr(out.ptr, "\n" LONG "  unavailable  " LONG "  "));
    assert_non_null(strstr(out.ptr, "binlog.000412:88213441, GTID " GTID "\n"));
    buf_free(&out);
}

static void what_failed_is_said_with_its_fix_and_what_is_well_is_not(void **state)
{
    struct buf out = {0};

    (void)state;
    view(&out, 0, false);
    assert_non_null(strstr(out.ptr, "\nSomething needs fixing.\n"));
    assert_non_null(strstr(out.ptr, "fail  table " LONG ": the engine takes nothing"));
    assert_non_null(strstr(out.ptr, "      fix: free space\n"));
    assert_null(strstr(out.ptr, "topic shop: running"));
    buf_free(&out);
}

static void documents_that_a_pipeline_dropped_are_counted_where_any_are(void **state)
{
    struct buf out = {0};

    (void)state;
    view(&out, 0, false);
    assert_non_null(strstr(out.ptr, "\n" LONG ": since the start its ingest pipeline has "
                                    "dropped documents: 1,234,567\n"));
    assert_null(strstr(out.ptr, "shop.a: since the start"));
    buf_free(&out);
}

static void assert_cluster(const char *cluster, const char *line)
{
    struct buf json = {0}, out = {0};

    buf_printf(&json, "{\"cluster\":%s}", cluster);
    status_view(&out, (struct render_style){0}, buf_str(&json));
    if (line == NULL)
        assert_null(strstr(out.ptr, "Cluster"));
    else
        assert_non_null(strstr(out.ptr, line));
    buf_free(&json);
    buf_free(&out);
}

static void a_cluster_has_a_line_that_says_for_whom_it_waits(void **state)
{
    (void)state;
    assert_cluster("null", NULL);
    assert_cluster("{\"normal\":true,\"nodes\":3,\"waits_for\":\"\"}",
                   "\nCluster: 3 nodes, normal\n");
    assert_cluster("{\"normal\":false,\"nodes\":3,\"waits_for\":\"waits for node b\"}",
                   "\nCluster: 3 nodes, waits for node b\n");
    assert_cluster("{\"normal\":false,\"nodes\":1,\"waits_for\":\"\"}",
                   "\nCluster: 1 node, not normal yet\n");
}

static void a_build_that_has_written_its_rows_shows_its_step_and_no_estimate(void **state)
{
    struct buf out = {0};

    (void)state;
    view(&out, 0, false);
    assert_non_null(strstr(out.ptr, "\nshop.a: builds version 8: all rows are written, 7,100\n"
                                    "  waits: counting rows and documents\n"));
    assert_null(strstr(out.ptr, "71.0 %"));
    buf_free(&out);
}

static void assert_wrapped(const char *text, size_t columns, const char *expected)
{
    struct buf out = {0};

    screen_wrap(&out, str_from(text), columns);
    assert_string_equal(out.ptr, expected);
    buf_free(&out);
}

static void who_owns_a_topic_is_shown_if_nodes_share_the_store(void **state)
{
    static const char shared[] =
        "{\"nodes\":[{\"name\":\"bert\",\"state\":\"gone\",\"version\":\"0.2.0\","
        "\"told_ms\":2000}],\"topics\":["
        "{\"name\":\"near\",\"state\":\"running\",\"owner\":\"anna\",\"told_ms\":0},"
        "{\"name\":\"far\",\"state\":\"running\",\"owner\":\"bert\",\"told_ms\":3000},"
        "{\"name\":\"none\",\"state\":\"unknown\",\"owner\":\"\",\"told_ms\":null}]}";
    static const char *const parts[] = {"OWNER  TOLD", "anna   now", "bert   3.0 s ago",
                                        "       never", "bert  gone   0.2.0"};
    struct buf out = {0};

    (void)state;
    status_view(&out, (struct render_style){0}, str_from(shared));
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        if (strstr(out.ptr, parts[i]) == NULL)
            fail_msg("\"%s\" is missing from:\n%s", parts[i], out.ptr);
    view(&out, 0, false);
    assert_null(strstr(out.ptr, "OWNER"));
    buf_free(&out);
}

static void a_line_is_broken_at_a_space_or_where_it_must(void **state)
{
    (void)state;
    assert_wrapped("short\n", 10, "short\n");
    assert_wrapped("one two three four\n", 12, "one two\n    three\n    four\n");
    assert_wrapped("abcdefghijklmnop", 10, "abcdefghij\n    klmnop");
    assert_wrapped("  abcdefghijkl", 10, "  abcdefgh\n    ijkl");
    assert_wrapped("表格表格", 5, "表格\n表格");
    assert_wrapped("表", 1, "表");
}

static void a_text_is_cut_in_the_middle(void **state)
{
    static const struct {
        const char *text;
        size_t columns;
        const char *cut;
    } cases[] = {
        {"abcdef", 6, "abcdef"},  {"abcdefg", 6, "abc…fg"}, {"abcdefg", 5, "ab…fg"},
        {"表格表格", 5, "表…格"}, {"abc", 1, "…"},          {"abc", 0, ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf out = {0};

        screen_cut(&out, str_from(cases[i].text), cases[i].columns, true);
        if (!str_equal(buf_str(&out), str_from(cases[i].cut)))
            fail_msg("%s: %.*s", cases[i].text, (int)out.len, out.ptr);
        buf_free(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cluster_has_a_line_that_says_for_whom_it_waits),
        cmocka_unit_test(no_line_is_wider_than_the_window),
        cmocka_unit_test(a_long_name_keeps_its_start_and_its_end),
        cmocka_unit_test(a_pipe_gets_every_name_whole),
        cmocka_unit_test(what_failed_is_said_with_its_fix_and_what_is_well_is_not),
        cmocka_unit_test(documents_that_a_pipeline_dropped_are_counted_where_any_are),
        cmocka_unit_test(a_build_that_has_written_its_rows_shows_its_step_and_no_estimate),
        cmocka_unit_test(who_owns_a_topic_is_shown_if_nodes_share_the_store),
        cmocka_unit_test(a_line_is_broken_at_a_space_or_where_it_must),
        cmocka_unit_test(a_text_is_cut_in_the_middle),
    };

    return cmocka_run_group_tests_name("status_view", tests, NULL, NULL);
}

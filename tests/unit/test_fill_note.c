/* What the owner of a topic tells those who fill its version. */
#include "config.h"

#include "tests/unit/unit.h"

#include "rebalance/fill/source.h"
#include "src/base/mem.h"

static struct fill_point a_point(const char *topic, uint64_t version)
{
    struct fill_point p = {.gtid = true, .version = version};

    buf_append(&p.topic, str_from(topic));
    buf_append(&p.identity, STR("\"server\""));
    buf_append(&p.gtids, STR("0-1-7"));
    return p;
}

static void check_point(const struct fill_point *p, const char *topic, uint64_t version)
{
    assert_true(str_equal(buf_str(&p->topic), str_from(topic)));
    assert_true(str_equal(buf_str(&p->identity), STR("\"server\"")));
    assert_true(str_equal(buf_str(&p->gtids), STR("0-1-7")));
    assert_true(p->gtid);
    assert_true(p->version == version);
}

static void what_is_told_of_several_topics_is_read_again(void **state)
{
    struct fill_note n = {.anywhere = true, .own = a_point("shop", UINT64_MAX)}, read;
    struct buf json = {0};

    (void)state;
    n.others = mem_alloc(2, sizeof(*n.others));
    n.others[n.n_others++] = a_point("crm", 12);
    n.others[n.n_others++] = a_point("stock", 13);
    fill_note_append(&json, &n);
    assert_true(fill_note_read(buf_str(&json), &read));
    assert_true(read.anywhere);
    assert_int_equal(read.n_others, 2);
    check_point(&read.own, "shop", UINT64_MAX);
    check_point(&read.others[0], "crm", 12);
    check_point(&read.others[1], "stock", 13);
    fill_note_fini(&n);
    fill_note_fini(&read);
    buf_free(&json);
}

static void what_an_older_release_told_is_read(void **state)
{
    struct fill_note n;

    (void)state;
    assert_true(fill_note_read(STR("{\"anywhere\":false,\"why\":\"because\",\"identity\":\"s\","
                                   "\"gtids\":\"0-1-7\",\"gtid\":true}"),
                               &n));
    assert_false(n.anywhere);
    assert_int_equal(n.n_others, 0);
    assert_true(str_equal(buf_str(&n.why), STR("because")));
    fill_note_fini(&n);
}

static void half_a_note_is_none(void **state)
{
    static const char *const texts[] = {
        "",
        "{\"anywhere\":true}",
        "{\"anywhere\":true,\"identity\":\"\",\"gtids\":\"\",\"gtid\":true,\"others\":[{}]}",
    };
    struct fill_note n;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        if (fill_note_read(str_from(texts[i]), &n))
            fail_msg("%s was read", texts[i]);
        fill_note_fini(&n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_told_of_several_topics_is_read_again),
        cmocka_unit_test(what_an_older_release_told_is_read),
        cmocka_unit_test(half_a_note_is_none),
    };

    return cmocka_run_group_tests_name("fill_note", tests, NULL, NULL);
}

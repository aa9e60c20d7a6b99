/*
 * The texts that nodes share: what is formatted is parsed as it was, whatever it holds, and
 * what is no such text is refused.
 */
#include "config.h"

#include "tests/unit/unit.h"

#include "rebalance/cluster/cluster_state.h"
#include "rebalance/cluster/node_data.h"
#include "rebalance/cluster/shared_text.h"
#include "src/base/random.h"

#include <string.h>

#define ROUNDS 3000

static void put(struct buf *to, const char *text)
{
    buf_clear(to);
    buf_append(to, str_from(text));
}

/* Text of pieces that are hard on parsers. */
static void put_any(struct buf *to, struct random *r)
{
    static const char *const pieces[] = {"a", "topic/shop", "\"", "\\", "\n",
                                         "é", "😀",          "{",  " "};
    const size_t n = random_below(r, 6);

    buf_clear(to);
    for (size_t i = 0; i < n; i++)
        buf_append(to, str_from(pieces[random_below(r, ARRAY_LEN(pieces))]));
}

static void add_any(struct name_set *to, struct random *r)
{
    struct buf name = {0};

    for (size_t n = random_below(r, 5); n > 0; n--) {
        put_any(&name, r);
        (void)name_set_add(to, buf_str(&name));
    }
    buf_free(&name);
}

static void make_any(struct node_data *d, struct random *r)
{
    put_any(&d->id, r);
    buf_append_char(&d->id, 'x');
    put_any(&d->name, r);
    put_any(&d->version, r);
    d->started_ms = random_below(r, 1000);
    d->cloud = (enum cloud_status)random_below(r, CLOUD_REBALANCING + 1);
    d->status = (enum node_status)random_below(r, NODE_NORMAL + 1);
    d->session = random_below(r, 2) == 0 ? SHARED_NUMBER_MAX : random_below(r, 100);
    put_any(&d->job_type, r);
    add_any(&d->jobs, r);
    put_any(&d->parameters, r);
    d->n_threads = random_below(r, 9);
    d->is_evacuated = random_below(r, 2) == 0;
    if (random_below(r, 2) == 0)
        put(&d->unknown, "\"later\":{\"a\":[1,null,\"\\n\"]},\"x\\\"y\":-1.5e3");
}

static void what_is_formatted_is_parsed_as_it_was(void **state)
{
    struct random r;

    (void)state;
    random_init(&r, 50);
    for (int i = 0; i < ROUNDS; i++) {
        struct node_data d = {0}, back = {0};
        struct buf text = {0};
        struct err err;

        make_any(&d, &r);
        node_data_format(&text, &d);
        if (!node_data_parse(&back, buf_str(&text), &err))
            fail_msg("%s: %s", err.msg, text.ptr);
        assert_true(node_data_equal(&d, &back));
        node_data_free(&d);
        node_data_copy(&d, &back);
        assert_true(node_data_equal(&d, &back));
        node_data_free(&d);
        node_data_free(&back);
        buf_free(&text);
    }
}

static void equal_means_every_member(void **state)
{
    struct node_data a = {0}, b = {0};

    (void)state;
    assert_true(node_data_equal(&a, &b));
    b.status = NODE_INIT;
    assert_false(node_data_equal(&a, &b));
    b.status = a.status;
    (void)name_set_add(&b.jobs, STR("topic/a"));
    assert_false(node_data_equal(&a, &b));
    (void)name_set_add(&a.jobs, STR("topic/b"));
    assert_false(node_data_equal(&a, &b));
    node_data_free(&a);
    node_data_free(&b);
}

static void an_older_program_keeps_what_a_newer_one_wrote(void **state)
{
    const struct str text = STR("{ \"id\": \"a\", \"weight\" : [1, {\"x\": null}], "
                                "\"node_status\": \"INIT\", \"st\\u0061te\": true }");
    struct node_data d = {0};
    struct buf out = {0};
    struct err err;

    (void)state;
    assert_true(node_data_parse(&d, text, &err));
    assert_int_equal(d.status, NODE_INIT);
    assert_true(str_equal(node_status_name(d.status), STR("INIT")));
    d.session = 7;
    node_data_format(&out, &d);
    assert_non_null(strstr(out.ptr, "\"session\":7"));
    assert_non_null(strstr(out.ptr, "\"weight\":[1,{\"x\":null}],\"st\\u0061te\":true"));
    node_data_free(&d);
    buf_free(&out);
}

static void of_members_with_one_name_the_last_counts(void **state)
{
    struct node_data d = {0};
    struct err err;

    (void)state;
    assert_true(node_data_parse(
        &d, STR("{\"id\":\"a\",\"jobs\":[\"x\",\"y\"],\"id\":\"b\",\"jobs\":[\"z\",\"z\"]}"),
        &err));
    assert_true(str_equal(buf_str(&d.id), STR("b")));
    assert_int_equal(d.jobs.n, 1);
    assert_true(name_set_has(&d.jobs, STR("z")));
    node_data_free(&d);
}

static void what_is_no_data_of_a_node_is_refused(void **state)
{
    static const char *const texts[] = {
        "",
        "null",
        "[]",
        "{",
        "{\"id\":\"a\"",
        "{\"id\":\"a\"}}",
        "{\"name\":\"without id\"}",
        "{\"id\":\"\"}",
        "{\"id\":7}",
        "{\"id\":\"a\",\"session\":-1}",
        "{\"id\":\"a\",\"session\":\"1\"}",
        "{\"id\":\"a\",\"session\":18446744073709551616}",
        "{\"id\":\"a\",\"session\":9007199254740993}",
        "{\"id\":\"a\",\"node_status\":\"CLEANED\"}",
        "{\"id\":\"a\",\"node_status\":1}",
        "{\"id\":\"a\",\"cloud_status\":\"CLEAN\"}",
        "{\"id\":\"a\",\"jobs\":{}}",
        "{\"id\":\"a\",\"jobs\":[1]}",
        "{\"id\":\"a\",\"evacuated\":1}",
        "{\"id\":\"a\",\"unknown\":[}",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct node_data d = {0};
        struct err err = {0};

        if (node_data_parse(&d, str_from(texts[i]), &err))
            fail_msg("taken: %s", texts[i]);
        assert_int_equal(err.kind, ERR_REJECT);
        assert_int_equal(d.id.len + d.jobs.n + d.unknown.len, 0);
    }
}

static void too_long_a_text_or_name_is_refused(void **state)
{
    struct node_data d = {0};
    struct buf text = {0};
    struct err err;

    (void)state;
    buf_append(&text, STR("{\"id\":\"a\""));
    while (text.len < SHARED_TEXT_MAX - 1)
        buf_append_char(&text, ' ');
    buf_append_char(&text, '}');
    assert_true(node_data_parse(&d, buf_str(&text), &err));
    buf_append_char(&text, ' ');
    assert_false(node_data_parse(&d, buf_str(&text), &err));
    buf_clear(&text);
    buf_append(&text, STR("{\"id\":\""));
    for (int i = 0; i < SHARED_NAME_MAX + 1; i++)
        buf_append_char(&text, 'a');
    buf_append(&text, STR("\"}"));
    assert_false(node_data_parse(&d, buf_str(&text), &err));
    node_data_free(&d);
    buf_free(&text);
}

/* Keys and values of a state that has everything. */
static void the_state_is_parsed_as_it_was(void **state)
{
    struct cluster_state s = {0}, back = {0};
    struct buf text = {0}, again = {0};
    struct err err;

    (void)state;
    s.session = 9;
    s.is_running = true;
    put(&s.leader, "n1");
    s.revision = 4;
    s.asked = 3;
    s.planned = 2;
    (void)name_set_add(&s.members, STR("n1"));
    (void)name_set_add(&s.left_out, STR("n2"));
    (void)name_set_add(&s.evacuated, STR("n1"));
    cluster_state_set_wish(&s, STR("topic/a b"), STR("n1"));
    cluster_state_set_wish(&s, STR("topic/c"), STR("n2"));
    put(&s.unknown, "\"later\":1");
    cluster_state_format(&text, &s);
    if (!cluster_state_parse(&back, buf_str(&text), &err))
        fail_msg("%s", err.msg);
    cluster_state_format(&again, &back);
    assert_string_equal(text.ptr, again.ptr);
    assert_true(str_equal(cluster_state_wish(&back, STR("topic/a b")), STR("n1")));
    assert_int_equal(cluster_state_wish(&back, STR("topic/a")).len, 0);
    cluster_state_set_wish(&back, STR("topic/c"), STR("n1"));
    assert_int_equal(back.moves.n, 2);
    cluster_state_set_wish(&back, STR("topic/c"), STR(""));
    assert_int_equal(back.moves.n, 1);
    cluster_state_free(&s);
    cluster_state_free(&back);
    buf_free(&text);
    buf_free(&again);
}

static void a_state_that_is_none_is_refused_and_no_text_is_the_first(void **state)
{
    struct cluster_state s = {0};
    struct err err;

    (void)state;
    assert_true(cluster_state_parse(&s, STR(""), &err));
    assert_int_equal(s.session, 0);
    assert_false(cluster_state_parse(&s, STR("{\"moves\":[]}"), &err));
    assert_false(cluster_state_parse(&s, STR("{\"session\":null}"), &err));
    assert_false(cluster_state_parse(&s, STR("{\"members\":[\"a\""), &err));
    assert_int_equal(s.members.n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_formatted_is_parsed_as_it_was),
        cmocka_unit_test(equal_means_every_member),
        cmocka_unit_test(an_older_program_keeps_what_a_newer_one_wrote),
        cmocka_unit_test(of_members_with_one_name_the_last_counts),
        cmocka_unit_test(what_is_no_data_of_a_node_is_refused),
        cmocka_unit_test(too_long_a_text_or_name_is_refused),
        cmocka_unit_test(the_state_is_parsed_as_it_was),
        cmocka_unit_test(a_state_that_is_none_is_refused_and_no_text_is_the_first),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

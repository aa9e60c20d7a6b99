/* Who sends a request to the port; the fake coordinator knows mrt_viewer, mrt_operator ... */
#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/arena.h"
#include "tests/fakes/fake_coordinator.h"
#include "web/access/identity.h"

static struct port_caller who; /* of the last request that was looked at */

static enum identity_verdict look(const struct credentials *c)
{
    struct arena *a = arena_new();
    const enum identity_verdict verdict = identity_find(&who, fake_coordinator_get(), a, c);

    arena_free(a);
    return verdict;
}

static void assert_cookie(const char *header, const char *value)
{
    const struct str found = cookie_find(str_from(header), STR("a"));

    if (value == NULL)
        assert_null(found.ptr);
    else if (found.ptr == NULL || !str_equal(found, str_from(value)))
        fail_msg("\"%s\" has no a=%s", header, value);
}

static void a_cookie_is_found_by_its_whole_name(void **state)
{
    (void)state;
    assert_cookie("a=1", "1");
    assert_cookie("b=2; a=1", "1");
    assert_cookie("b=2;a=1;c=3", "1");
    assert_cookie("a=", "");
    assert_cookie("a=1=2", "1=2");
    assert_cookie("  a=1  ", "1");
    assert_cookie("ba=1", NULL);
    assert_cookie("ab=1", NULL);
    assert_cookie("a", NULL);
    assert_cookie("b=a=1", NULL);
    assert_cookie(";;;", NULL);
    assert_cookie("", NULL);
}

static void an_origin_is_of_this_host_or_of_another(void **state)
{
    (void)state;
    assert_true(origin_is_of(STR("http://localhost:7700"), STR("localhost:7700"), false));
    assert_true(origin_is_of(STR("https://LOCALHOST:7700"), STR("localhost:7700"), false));
    assert_false(origin_is_of(STR("http://localhost:7701"), STR("localhost:7700"), false));
    assert_false(origin_is_of(STR("http://localhost:7700.evil"), STR("localhost:7700"), false));
    assert_false(origin_is_of(STR("http://evil/localhost:7700"), STR("localhost:7700"), false));
    assert_false(origin_is_of(STR("null"), STR("localhost:7700"), false));
    assert_false(origin_is_of(STR("http://"), STR(""), false));
    assert_false(origin_is_of(STR(""), STR(""), false));
    assert_false(origin_is_of(STR("ftp://localhost"), STR("localhost"), false));
    assert_true(origin_is_of(STR("https://localhost"), STR("localhost"), true));
    assert_false(origin_is_of(STR("http://localhost"), STR("localhost"), true));
}

static void whoever_shows_nothing_is_nobody(void **state)
{
    (void)state;
    assert_int_equal(look(&(struct credentials){.host = STR("localhost")}), IDENTITY_FINE);
    assert_int_equal(who.role, ROLE_PAGE);
    assert_int_equal(who.who.len, 0);
    assert_int_equal(look(&(struct credentials){.host = STR("localhost"), .changes = true}),
                     IDENTITY_FINE);
    assert_int_equal(who.role, ROLE_PAGE);
}

static void a_token_proves_and_a_wrong_one_is_refused(void **state)
{
    static const char *const wrong[] = {"Bearer mrt_nobody", "Bearer", "Bearer ",
                                        "Bearer mrt_viewer x", "Bearermrt_nobody"};
    static const char *const others[] = {"Basic YTpi", "mrt_viewer", "", "Digest x"};

    (void)state;
    assert_int_equal(look(&(struct credentials){.authorization = STR("Bearer mrt_operator")}),
                     IDENTITY_FINE);
    assert_int_equal(who.role, ROLE_OPERATOR);
    assert_true(str_equal(who.who, STR("user test")));
    assert_null(who.session.ptr);
    assert_int_equal(look(&(struct credentials){.authorization = STR("bearer  mrt_viewer")}),
                     IDENTITY_FINE);
    assert_int_equal(who.role, ROLE_VIEWER);
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        assert_int_equal(look(&(struct credentials){.authorization = str_from(wrong[i])}),
                         IDENTITY_UNKNOWN);
        assert_int_equal(who.role, ROLE_PAGE);
    }
    for (size_t i = 0; i < ARRAY_LEN(others); i++) { /* that of a proxy, which asks for more */
        assert_int_equal(look(&(struct credentials){.authorization = str_from(others[i])}),
                         IDENTITY_FINE);
        assert_int_equal(who.role, ROLE_PAGE);
    }
}

/* Whoever sends a header cannot be a browser that another site misuses. */
static void a_token_changes_things_without_an_origin(void **state)
{
    (void)state;
    assert_int_equal(look(&(struct credentials){.authorization = STR("Bearer mrt_admin"),
                                                .origin = STR("http://elsewhere"),
                                                .host = STR("localhost"),
                                                .changes = true}),
                     IDENTITY_FINE);
    assert_int_equal(who.role, ROLE_ADMIN);
}

static void a_log_in_that_has_ended_is_none(void **state)
{
    (void)state;
    assert_int_equal(look(&(struct credentials){.cookie = STR("millrace_session=mrt_nobody"),
                                                .host = STR("localhost")}),
                     IDENTITY_FINE);
    assert_int_equal(who.role, ROLE_PAGE);
    assert_null(who.session.ptr);
}

static void a_log_in_changes_things_only_from_a_page_of_this_address(void **state)
{
    const struct {
        struct str origin;
        bool changes;
        enum identity_verdict verdict;
    } cases[] = {
        {{NULL, 0}, false, IDENTITY_FINE},
        {STR("http://elsewhere"), false, IDENTITY_FINE},
        {STR("http://localhost:7700"), true, IDENTITY_FINE},
        {{NULL, 0}, true, IDENTITY_CROSS_SITE},
        {STR("http://elsewhere"), true, IDENTITY_CROSS_SITE},
        {STR("null"), true, IDENTITY_CROSS_SITE},
        {STR(""), true, IDENTITY_CROSS_SITE},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct credentials c = {.cookie = STR("x=1; millrace_session=mrt_operator"),
                                      .origin = cases[i].origin,
                                      .host = STR("localhost:7700"),
                                      .changes = cases[i].changes};

        assert_int_equal(look(&c), cases[i].verdict);
        if (cases[i].verdict != IDENTITY_FINE)
            continue;
        assert_int_equal(who.role, ROLE_OPERATOR);
        assert_true(str_equal(who.session, STR("mrt_operator")));
    }
}

static void nobody_logs_in_from_another_site_s_page(void **state)
{
    (void)state;
    assert_int_equal(look(&(struct credentials){.origin = STR("http://elsewhere"),
                                                .host = STR("localhost:7700"),
                                                .changes = true}),
                     IDENTITY_CROSS_SITE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cookie_is_found_by_its_whole_name),
        cmocka_unit_test(an_origin_is_of_this_host_or_of_another),
        cmocka_unit_test(whoever_shows_nothing_is_nobody),
        cmocka_unit_test(a_token_proves_and_a_wrong_one_is_refused),
        cmocka_unit_test(a_token_changes_things_without_an_origin),
        cmocka_unit_test(a_log_in_that_has_ended_is_none),
        cmocka_unit_test(a_log_in_changes_things_only_from_a_page_of_this_address),
        cmocka_unit_test(nobody_logs_in_from_another_site_s_page),
    };

    return cmocka_run_group_tests_name("identity", tests, NULL, NULL);
}

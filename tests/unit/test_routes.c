#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "web/routes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct route *find(enum request_method method, enum access_role role,
                                const char *target, struct str args[2], int *status)
{
    struct arena *a = arena_new();
    struct request req = {.method = method, .role = role};
    struct response res = {0};
    struct err err;

    assert_true(request_target_parse(&req.target, a, str_from(target), &err));

    const struct route *r = routes_find(&req, args, &res);

    *status = res.status;
    buf_free(&res.body);
    arena_free(a);
    return r;
}

/* The words are served on a port of their own, which has nothing else. */
static enum access_role highest_of(const struct route *r)
{
    return r->role == ROLE_WORDS ? ROLE_WORDS : ROLE_ADMIN;
}

static bool is_for(const struct route *r, enum access_role role)
{
    return r->role == ROLE_WORDS || role == ROLE_WORDS ? r->role == role : role >= r->role;
}

static void each_route_is_found_by_its_own_pattern(void **state)
{
    size_t n;
    const struct route *table = routes_table(&n);

    (void)state;
    for (size_t i = 0; i < n; i++) {
        struct str args[2];
        int status;

        assert_ptr_equal(
            find(table[i].method, highest_of(&table[i]), table[i].pattern, args, &status),
            &table[i]);
    }
}

static void each_route_is_for_its_role_and_those_above(void **state)
{
    size_t n;
    const struct route *table = routes_table(&n);

    (void)state;
    for (size_t i = 0; i < n; i++)
        for (int role = ROLE_WORDS; role <= ROLE_ADMIN; role++) {
            struct str args[2];
            int status;
            const struct route *r =
                find(table[i].method, (enum access_role)role, table[i].pattern, args, &status);

            if (is_for(&table[i], (enum access_role)role))
                assert_ptr_equal(r, &table[i]);
            else
                assert_int_equal(status, role <= ROLE_PROBE || table[i].role == ROLE_WORDS ? 404
                                         : role == ROLE_PAGE                               ? 401
                                                             : 403);
        }
}

static const struct route *find_for(const struct route *r, enum access_role role,
                                    bool sees_rows)
{
    struct arena *a = arena_new();
    struct request req = {.method = r->method, .role = role, .sees_rows = sees_rows};
    struct response res = {0};
    struct str args[2];
    struct err err;

    assert_true(request_target_parse(&req.target, a, str_from(r->pattern), &err));

    const struct route *found = routes_find(&req, args, &res);

    buf_free(&res.body);
    arena_free(a);
    return found;
}

/* Nobody else gains anything by it, and nothing can be changed. */
static void who_may_see_rows_finds_the_routes_that_show_them_and_only_as_a_viewer(void **state)
{
    size_t n, n_shown = 0;
    const struct route *table = routes_table(&n);

    (void)state;
    for (size_t i = 0; i < n; i++) {
        const bool shows = (table[i].traits & SHOWS_ROWS) != 0;

        n_shown += shows;
        assert_true(!shows ||
                    (table[i].method == METHOD_GET && table[i].role == ROLE_OPERATOR));
        for (int role = ROLE_WORDS; role <= ROLE_ADMIN; role++) {
            const bool may = is_for(&table[i], (enum access_role)role);

            assert_true((find_for(&table[i], (enum access_role)role, false) != NULL) == may);
            assert_true((find_for(&table[i], (enum access_role)role, true) != NULL) ==
                        (may || (shows && role == ROLE_VIEWER)));
        }
    }
    assert_int_equal(n_shown, 6);
}

/* Also of paths that fit the patterns of several routes, such as /api/v1/nodes/rebalance. */
static void each_method_of_a_path_is_allowed(void **state)
{
    size_t n;
    const struct route *table = routes_table(&n);

    (void)state;
    for (size_t i = 0; i < n; i++) {
        struct arena *a = arena_new();
        struct request req = {.method = N_METHODS, .role = highest_of(&table[i])};
        struct response res = {0};
        struct str args[2];
        struct err err;

        assert_true(request_target_parse(&req.target, a, str_from(table[i].pattern), &err));
        assert_null(routes_find(&req, args, &res));
        assert_int_equal(res.status, 405);
        assert_non_null(strstr(res.headers[0].value, request_method_name(table[i].method)));
        buf_free(&res.body);
        arena_free(a);
    }
}

/* Clients send {} where there is nothing to say. */
static void each_post_takes_a_body(void **state)
{
    size_t n;
    const struct route *table = routes_table(&n);

    (void)state;
    for (size_t i = 0; i < n; i++)
        if (table[i].method == METHOD_POST && table[i].body_max == 0)
            fail_msg("POST %s takes no body", table[i].pattern);
}

static void only_whole_segments_match(void **state)
{
    static const char *const near[] = {"/api/v1/statuses", "/api/v1/statu", "/api/v1/status/x",
                                       "/metricsx",        "/api/v1",       "/api/v1/Status"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(near); i++) {
        struct str args[2];
        int status;

        assert_null(find(METHOD_GET, ROLE_ADMIN, near[i], args, &status));
        assert_int_equal(status, 404);
    }
}

static void read_all(const char *path, struct buf *b)
{
    char piece[4096];
    size_t n;
    FILE *f = fopen(path, "re");

    if (f == NULL)
        fail_msg("%s is missing", path);
    while ((n = fread(piece, 1, sizeof(piece), f)) > 0)
        buf_append(b, (struct str){piece, n});
    fclose(f);
}

static void the_document_has_a_section_for_each_route_and_no_other(void **state)
{
    const char *top = getenv("top_srcdir");
    struct buf path = {0}, text = {0}, heading = {0};
    size_t n, n_headings = 0;
    const struct route *table = routes_table(&n);

    (void)state;
    buf_printf(&path, "%s/docs/api.md", top != NULL ? top : ".");
    read_all(path.ptr, &text);
    for (size_t i = 0; i < n; i++) {
        buf_clear(&heading);
        buf_printf(&heading, "\n### %s %s\n", request_method_name(table[i].method),
                   table[i].pattern);
        if (strstr(text.ptr, heading.ptr) == NULL)
            fail_msg("docs/api.md has no section \"%s\"", heading.ptr);
    }
    for (const char *p = text.ptr; (p = strstr(p, "\n### ")) != NULL; p++)
        n_headings++;
    assert_int_equal(n_headings, n);
    buf_free(&path);
    buf_free(&text);
    buf_free(&heading);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_route_is_found_by_its_own_pattern),
        cmocka_unit_test(each_route_is_for_its_role_and_those_above),
        cmocka_unit_test(who_may_see_rows_finds_the_routes_that_show_them_and_only_as_a_viewer),
        cmocka_unit_test(each_method_of_a_path_is_allowed),
        cmocka_unit_test(each_post_takes_a_body),
        cmocka_unit_test(only_whole_segments_match),
        cmocka_unit_test(the_document_has_a_section_for_each_route_and_no_other),
    };
    return cmocka_run_group_tests_name("routes", tests, NULL, NULL);
}

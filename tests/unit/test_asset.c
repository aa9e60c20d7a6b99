#include "config.h"

#include "tests/unit/unit.h"

#include "web/api.h"
#include "web/request.h"
#include "web/ui/asset.h"

#include <stdio.h>
#include <string.h>

/* "hello, hello, hello\n" as gzip -9n makes it. */
static const unsigned char hello[] = {
    0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xcb, 0x48, 0xcd, 0xc9, 0xc9,
    0xd7, 0x51, 0xc8, 0x40, 0xa2, 0xb8, 0x00, 0xe7, 0x42, 0x6e, 0x52, 0x14, 0x00, 0x00, 0x00};

const struct page_asset page_assets[] = {
    {.name = "app-1.js",
     .type = "text/javascript",
     .etag = "W/\"a1\"",
     .lasting = true,
     .gzip = hello,
     .n_gzip = sizeof(hello),
     .n_bytes = 20},
    {.name = "app-12.js",
     .type = "text/javascript",
     .etag = "W/\"a2\"",
     .lasting = true,
     .gzip = hello,
     .n_gzip = sizeof(hello) - 9, /* damaged */
     .n_bytes = 20},
    {.name = "index.html",
     .type = "text/html",
     .etag = "W/\"i\"",
     .lasting = false,
     .gzip = hello,
     .n_gzip = sizeof(hello),
     .n_bytes = 20},
};
const size_t n_page_assets = 3;

static void a_file_is_found_by_its_whole_name_only(void **state)
{
    static const char *const no[] = {"",          "app-1", "app-1.js2", "app-1.jr",
                                     "index.htm", "zzz",   "a"};

    (void)state;
    for (size_t i = 0; i < n_page_assets; i++)
        assert_ptr_equal(page_asset_find(str_from(page_assets[i].name)), &page_assets[i]);
    for (size_t i = 0; i < ARRAY_LEN(no); i++)
        assert_null(page_asset_find(str_from(no[i])));
}

static void the_content_is_what_was_compressed(void **state)
{
    struct buf b = {0};

    (void)state;
    buf_append(&b, STR("> "));
    assert_true(page_asset_inflate(&page_assets[0], &b));
    assert_string_equal(b.ptr, "> hello, hello, hello\n");
    assert_false(page_asset_inflate(&page_assets[1], &b));
    assert_string_equal(b.ptr, "> hello, hello, hello\n");
    buf_free(&b);
}

static void content_that_is_longer_than_announced_is_damaged(void **state)
{
    struct page_asset a = page_assets[0];
    struct buf b = {0};

    (void)state;
    a.n_bytes = 19;
    assert_false(page_asset_inflate(&a, &b));
    a.n_bytes = 21;
    assert_false(page_asset_inflate(&a, &b));
    assert_int_equal(b.len, 0);
    buf_free(&b);
}

static void a_client_takes_gzip_if_it_says_so(void **state)
{
    static const char *const yes[] = {"gzip",
                                      "gzip, deflate, br",
                                      "br ,\tGZIP",
                                      "gzip;q=0.001",
                                      "*",
                                      "gzip ; q=1.0, *;q=0",
                                      "x-gzip",
                                      ",, gzip",
                                      "deflate, *;q=0.1"};
    static const char *const no[] = {"",          "identity",  "gzip;q=0",     "gzip; Q=0.000",
                                     "gzipped",   "br;q=gzip", "*, gzip;q=0",  "*;q=0",
                                     "deflate,,", "gz ip",     "identity;gzip"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(yes); i++)
        if (!page_asset_takes_gzip(str_from(yes[i])))
            fail_msg("\"%s\" takes gzip", yes[i]);
    for (size_t i = 0; i < ARRAY_LEN(no); i++)
        if (page_asset_takes_gzip(str_from(no[i])))
            fail_msg("\"%s\" does not take gzip", no[i]);
    assert_false(page_asset_takes_gzip((struct str){NULL, 0}));
}

static void a_client_has_the_content_whose_tag_it_names(void **state)
{
    static const char *const yes[] = {"W/\"a1\"", "\"a1\"", "\"x\", W/\"a1\"", "*",
                                      "\"a1\",\"x\""};
    static const char *const no[] = {"",        "W/\"a2\"", "a1",          "\"a1",
                                     "\"a11\"", "W/",       "\"x\", \"y\""};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(yes); i++)
        if (!page_asset_is_known(&page_assets[0], str_from(yes[i])))
            fail_msg("%s names it", yes[i]);
    for (size_t i = 0; i < ARRAY_LEN(no); i++)
        if (page_asset_is_known(&page_assets[0], str_from(no[i])))
            fail_msg("%s does not name it", no[i]);
    assert_false(page_asset_is_known(&page_assets[0], (struct str){NULL, 0}));
}

/* ---- answers ---- */

struct asked {
    int status;
    char head[2000];
    struct buf body;
};

static void note_header(void *cls, const char *name, const char *value)
{
    struct asked *a = cls;
    const size_t n = strlen(a->head);

    snprintf(a->head + n, sizeof(a->head) - n, "%s: %s\n", name, value);
}

/* name NULL: the page itself. */
static struct asked ask(const char *name, const char *takes, const char *has)
{
    const struct request req = {.accept_encoding = str_from(takes),
                                .if_none_match = str_from(has)};
    struct response res = {.status = 200, .type = "application/json"};
    struct api_call call = {
        .req = &req, .res = &res, .args = {str_from(name != NULL ? name : "")}};
    struct asked a = {0};

    if (name != NULL)
        api_page_file(&call);
    else
        api_page(&call);
    response_each_header(&res, note_header, &a);
    a.status = res.status;
    a.body = res.body;
    return a;
}

static void assert_asked(struct asked a, int status, size_t body_len, const char *const *has,
                         const char *has_not)
{
    assert_int_equal(a.status, status);
    assert_int_equal(a.body.len, body_len);
    for (; *has != NULL; has++)
        if (strstr(a.head, *has) == NULL)
            fail_msg("\"%s\" is missing in\n%s", *has, a.head);
    if (strstr(a.head, has_not) != NULL)
        fail_msg("\"%s\" is in\n%s", has_not, a.head);
    buf_free(&a.body);
}

static void a_file_is_sent_as_the_client_takes_it(void **state)
{
    static const char *const lasts[] = {"Cache-Control: public, max-age=31536000, immutable\n",
                                        "ETag: W/\"a1\"\n",
                                        "Vary: Accept-Encoding\n",
                                        "Content-Type: text/javascript\n",
                                        "X-Content-Type-Options: nosniff\n",
                                        "Referrer-Policy: no-referrer\n",
                                        NULL};
    static const char *const packed[] = {"Content-Encoding: gzip\n", NULL};

    (void)state;
    assert_asked(ask("app-1.js", "gzip", ""), 200, sizeof(hello), lasts, "no-store");
    assert_asked(ask("app-1.js", "gzip", ""), 200, sizeof(hello), packed, "no-store");
    assert_asked(ask("app-1.js", "", ""), 200, 20, lasts, "Content-Encoding");
    assert_asked(ask("app-1.js", "gzip", "\"a1\""), 304, 0, lasts, "Content-Encoding");
}

static void the_index_is_asked_for_again_and_may_load_the_daemon_s_own_files_only(void **state)
{
    static const char *const index[] = {
        "Cache-Control: no-cache\n",
        "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; "
        "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'self'; "
        "frame-ancestors 'none'\n",
        NULL};

    (void)state;
    assert_asked(ask(NULL, "", ""), 200, 20, index, "unsafe");
    assert_asked(ask(NULL, "", "W/\"i\""), 304, 0, index, "unsafe");
}

static void a_file_that_is_none_or_damaged_is_a_problem_that_nobody_keeps(void **state)
{
    static const char *const problem[] = {"Content-Type: application/problem+json\n",
                                          "Cache-Control: no-store\n", NULL};
    static const struct {
        const char *name;
        int status;
    } bad[] = {{"app-2.js", 404}, {"index.html", 404}, {"", 404}, {"app-12.js", 500}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct asked a = ask(bad[i].name, "", "");

        assert_asked(a, bad[i].status, a.body.len, problem, "immutable");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_found_by_its_whole_name_only),
        cmocka_unit_test(the_content_is_what_was_compressed),
        cmocka_unit_test(content_that_is_longer_than_announced_is_damaged),
        cmocka_unit_test(a_client_takes_gzip_if_it_says_so),
        cmocka_unit_test(a_client_has_the_content_whose_tag_it_names),
        cmocka_unit_test(a_file_is_sent_as_the_client_takes_it),
        cmocka_unit_test(the_index_is_asked_for_again_and_may_load_the_daemon_s_own_files_only),
        cmocka_unit_test(a_file_that_is_none_or_damaged_is_a_problem_that_nobody_keeps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

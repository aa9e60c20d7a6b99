#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/buf.h"
#include "src/search/engine_error.h"

#include <string.h>

#define BLOCK(text)                                                                        \
    "{\"error\":{\"type\":\"cluster_block_exception\",\"reason\":\"index [o] blocked by: " \
    "[" text "];\"}}"

static void a_refusal_says_its_reason_its_kind_and_what_to_do(void **state)
{
    static const struct {
        int status;
        const char *body, *reason;
        enum err_kind kind;
        const char *fix; /* NULL: nothing is known */
    } cases[] = {
        {429,
         BLOCK("TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark, index has "
               "read-only-allow-delete block"),
         "cluster_block_exception: index [o] blocked", ERR_RETRY, "make room"},
        {403, BLOCK("FORBIDDEN/12/index read-only / allow delete (api)"),
         "cluster_block_exception: index [o] blocked", ERR_RETRY, "make room"},
        {403, BLOCK("FORBIDDEN/8/index write (api)"),
         "cluster_block_exception: index [o] blocked", ERR_REJECT, "no right"},
        {400,
         "{\"error\":{\"type\":\"media_type_header_exception\",\"reason\":\"Invalid media-type "
         "value on headers [Accept, Content-Type]\"},\"status\":400}",
         "media_type_header_exception: Invalid", ERR_RETRY, "upgrade all nodes"},
        {403, "{\"message\":\"Signature expired: 20150830T120000Z is now earlier\"}",
         "Signature expired: 2015", ERR_RETRY, "clock"},
        {403, "{\"message\":\"The security token included in the request is expired\"}",
         "The security token included in the request is expired", ERR_REJECT,
         "the session of the key has ended"},
        {403, "{\"message\":\"The security token included in the request is invalid.\"}",
         "The security token", ERR_REJECT, "search.aws_key_id"},
        {403, "{\"message\":\"Credential should be scoped to a valid region. \"}", "Credential",
         ERR_REJECT, "search.aws_region"},
        {403,
         "{\"Message\":\"User: arn:aws:iam::1:user/a is not authorized to perform: "
         "es:ESHttpPost\"}",
         "User: arn", ERR_REJECT, "access policy"},
        {403, "{\"message\":\"Missing Authentication Token\"}", "Missing Authentication Token",
         ERR_REJECT, "set search.aws_region"},
        {401, "", "", ERR_REJECT, "search.password_file"},
        {413, "<html>413 Request Entity Too Large</html>", "<html>413", ERR_REJECT, NULL},
        {503, "no leader", "no leader", ERR_RETRY, "no leader"},
        {500, "", "", ERR_RETRY, NULL},
        {404, "{\"error\":\"alias [x] missing\"}", "alias [x] missing", ERR_REJECT, NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct str body = str_from(cases[i].body);
        struct buf reason = {0};

        engine_error_append_reason(&reason, body);
        assert_int_equal(strncmp(reason.ptr, cases[i].reason, strlen(cases[i].reason)), 0);
        assert_int_equal(engine_error_kind(cases[i].status, body), cases[i].kind);
        if (cases[i].fix == NULL)
            assert_string_equal(engine_error_fix(cases[i].status, body), "");
        else
            assert_non_null(strstr(engine_error_fix(cases[i].status, body), cases[i].fix));
        buf_free(&reason);
    }
}

static void the_innermost_reason_is_the_cause(void **state)
{
    static const struct {
        const char *body, *cause;
    } cases[] = {
        {"{\"error\":{\"root_cause\":[{\"type\":\"a\",\"reason\":\"b\"}],\"caused_by\":{"
         "\"type\":\"c\",\"reason\":\"d\",\"caused_by\":{\"type\":\"e\",\"reason\":"
         "\"f\\ng;\"}}}}",
         "f g"},
        {"{\"error\":{\"root_cause\":[{\"type\":\"a\",\"reason\":\"b\"}]}}", "a: b"},
        {"<html>", "<html>"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf cause = {0};

        engine_error_append_cause(&cause, str_from(cases[i].body));
        assert_string_equal(cause.ptr, cases[i].cause);
        buf_free(&cause);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_refusal_says_its_reason_its_kind_and_what_to_do),
        cmocka_unit_test(the_innermost_reason_is_the_cause),
    };

    return cmocka_run_group_tests_name("engine_error", tests, NULL, NULL);
}

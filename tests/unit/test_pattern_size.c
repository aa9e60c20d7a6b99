#include "config.h"

#include "tests/unit/unit.h"

#include "sync/definition/pattern_size.h"

#include "src/base/buf.h"
#include "src/base/random.h"

#include <malloc.h>
#include <regex.h>
#include <string.h>

static void an_expression_that_grows_without_bound_is_refused_and_why(void **state)
{
    static const struct {
        const char *pattern, *wrong; /* NULL: fine */
    } cases[] = {
        {"shop_[0-9]+\\.orders_[0-9]+", NULL},
        {"", NULL},
        {"a{1,255}", NULL},
        {"(a{1,20}){1,20}", NULL},
        {"[]{9,9}]{1,255}", NULL},
        {"[[:alpha:]{}]{10}", NULL},
        {"[](a{1,255}){1,255}]", NULL}, /* a bracket that comes first is one of the set */
        {"\\(a{1,255}\\){1,10}", NULL}, /* no group: brackets that stand for themselves */
        {"a{1,255", NULL},              /* no repetition: its end is missing */
        {"((((a))))b)", NULL},
        {"((a{1,255}){1,255}){1,255}", "too large"},
        {"(a{1,255}){1,255}", "too large"},
        {"((a{255}){4}|b)", "too large"},
        {"(a{1,255}){99,}", "too large"},
        {"(((((((((((((((a+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+", "too large"},
        {"(a{1,255}){3,}", "too large"},
        {"a{99999999999999999999}", "too large"},
        {"a{18446744073709551617}", "too large"}, /* 1, where it wraps */
        {"(a|b)\\1", "refers back"},
        {"((((((((((((((((((((((((((((((((a))))))))))))))))))))))))))))))))",
         "nested too deep"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *wrong = pattern_size_wrong(str_from(cases[i].pattern));

        if ((wrong == NULL) != (cases[i].wrong == NULL) ||
            (wrong != NULL && strstr(wrong, cases[i].wrong) == NULL))
            fail_msg("%s: %s", cases[i].pattern, wrong == NULL ? "fine" : wrong);
    }
}

/* Whatever is passed takes little to compile; a refusal of what is small would only be a
 * nuisance. */
static void what_is_passed_compiles_in_some_megabytes(void **state)
{
    static const char *const parts[] = {"a",    "(", ")", "[a-z]", "{1,255}", "{3}",
                                        "{2,}", "*", "+", "|",     "\\.",     "[^]x]",
                                        "{",    "b", "?", "{0,40}"};
    struct random r;
    size_t most = 0;

    (void)state;
    random_init(&r, 20261123);
    for (size_t round = 0; round < 3000; round++) {
        struct buf pattern = {0};
        regex_t re;

        for (size_t n = 1 + random_below(&r, 14); n > 0; n--)
            buf_append(&pattern, str_from(parts[random_below(&r, ARRAY_LEN(parts))]));
        if (pattern_size_wrong(buf_str(&pattern)) == NULL) {
            const size_t before = mallinfo2().uordblks;

            if (regcomp(&re, pattern.ptr, REG_EXTENDED | REG_NOSUB) == 0) {
                const size_t used = mallinfo2().uordblks - before;

                if (used > (size_t)128 << 20)
                    fail_msg("%s takes %zu bytes", pattern.ptr, used);
                most = used > most ? used : most;
                regfree(&re);
            }
        }
        buf_free(&pattern);
    }
    /* The limit is reached, where the memory is the C library's own: a sanitizer counts
     * nothing. */
    assert_true(most > 1 << 20 || mallinfo2().uordblks == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_expression_that_grows_without_bound_is_refused_and_why),
        cmocka_unit_test(what_is_passed_compiles_in_some_megabytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

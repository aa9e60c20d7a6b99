/*
 * Definition files in tests: applied from text, refused at a place.
 */
#ifndef TESTS_UNIT_DEFINITION_TEXT_H
#define TESTS_UNIT_DEFINITION_TEXT_H

#include "tests/unit/unit.h"

#include "src/base/buf.h"
#include "sync/definition/parse.h"

#define HEAD                                                  \
    "topics: [{name: shop, address: '/r/m.sock', user: m}]\n" \
    "databases: [{name: shop, topic: shop}]\n"                \
    "tables:\n"

static struct problems *problems; /* of the test that runs */

static inline int set_up(void **state)
{
    (void)state;
    problems = problems_new();
    return 0;
}

static inline int tear_down(void **state)
{
    (void)state;
    problems_free(problems);
    return 0;
}

static inline struct definitions *apply(const struct definitions *stored, const char *text)
{
    const struct definition_file file = {STR("f.yaml"), str_from(text), STR("/etc/shop"), NULL};

    return definition_apply(stored, &file, 1, false, problems);
}

static inline struct definitions *apply_fine(const struct definitions *stored, const char *text)
{
    struct definitions *d = apply(stored, text);
    struct buf b = {0};

    problems_append_text(problems, &b);
    if (d == NULL)
        fail_msg("%s", b.ptr);
    buf_free(&b);
    return d;
}

static inline void assert_refused(const char *text, unsigned line, unsigned column,
                                  const char *message)
{
    struct problems *p = problems_new();
    const struct definition_file file = {STR("f.yaml"), str_from(text), STR(""), NULL};
    struct definitions *d = definition_apply(NULL, &file, 1, false, p);

    if (d != NULL)
        fail_msg("not refused: %s", text);

    const struct problem *first = problems_get(p, 0);

    if (problems_n(p) != 1 || strstr(first->message.ptr, message) == NULL ||
        first->place.line != line || first->place.column != column) {
        struct buf b = {0};

        problems_append_text(p, &b);
        fail_msg("%s", b.ptr);
    }
    problems_free(p);
}

static inline void assert_text(struct str s, const char *text)
{
    assert_true(str_equal(s, str_from(text)));
}

#define DEFINITION_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif

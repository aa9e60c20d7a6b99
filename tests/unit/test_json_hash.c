#include "config.h"

#include "tests/unit/unit.h"

#include "tests/unit/json_value.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/hash.h"
#include "src/base/random.h"
#include "src/format/json.h"
#include "src/format/json_difference.h"
#include "src/format/json_hash.h"

#include <stdlib.h>

static const struct str ours = STR("_millrace");

static uint64_t hash_with(struct str text, uint64_t seed)
{
    const struct json_hashing how = {.ignored = &ours, .n_ignored = 1, .seed = seed};
    struct err err = {0};
    uint64_t hash = 0;

    if (!json_hash(&how, text, &hash, &err))
        fail_msg("%" STR_FMT ": %s", STR_ARG(text), err.msg);
    return hash;
}

static uint64_t hash(const char *text)
{
    return hash_with(str_from(text), 7);
}

static bool compares_equal(struct str a, struct str b)
{
    struct json_comparison c = {.arena = arena_new(), .ignored = &ours, .n_ignored = 1};
    struct err err = {0};

    if (!json_compare(&c, a, b, &err))
        fail_msg("%s", err.msg);
    arena_free(c.arena);
    return c.n_all == 0;
}

/* The hashes are equal, or not; json_compare() says the same. */
static void expect(bool equal, const char *a, const char *b)
{
    if (compares_equal(str_from(a), str_from(b)) != equal)
        fail_msg("json_compare() finds %s and %s %s", a, b, equal ? "different" : "equal");
    if ((hash(a) == hash(b)) != equal)
        fail_msg("the hashes of %s and %s are %s", a, b, equal ? "different" : "equal");
}

/* ---- numbers ---- */

static void numbers_have_the_hash_of_their_value(void **state)
{
    static const char *const equal[][2] = {
        {"1", "1.0"},
        {"1", "10e-1"},
        {"1e2", "100"},
        {"1E+2", "100.00"},
        {"0.001", "1e-3"},
        {"0.001", "1000e-6"},
        {"-0", "0"},
        {"-0.00", "0e5"},
        {"0", "0.000000000000000000000000000"},
        {"0e99999999999999999999", "0"},
        {"12.50", "125e-1"},
        {"-100.5", "-1.005e2"},
        {"10.01", "1001e-2"},
        {"0.10", "1e-01"},
        {"123456789012345678", "123456789012345678.0"},     /* one group, and beside it */
        {"123456789012345678", "12345678901234567800e-2"},  /* ... */
        {"1234567890123456789", "1.234567890123456789e18"}, /* two groups */
        {"12345678901234567805", "1234567890123456780.50e1"},
        {"1000000000000000000000000", "1e24"},
        {"123456789012345678901234567890.10", "12345678901234567890123456789010e-2"},
        {"1e99999999999999999999", "1e99999999999999999999"},
        {"1e999999999999999999", "10e999999999999999998"},
    };
    static const char *const different[][2] = {
        {"1", "-1"},
        {"1", "1.0000000000000000000000000000001"},
        {"9007199254740993", "9007199254740992"},
        {"1e2", "1e3"},
        {"0.1", "0.01"},
        {"0.1", "-0.1"},
        {"101", "11"},
        {"1", "10"},
        {"1.5", "15"},
        {"0", "1"},
        {"1234567890123456785", "12345678901234567805"}, /* 5 and 05 in the second group */
        {"123456789012345678", "1234567890123456780"},
        {"1e99999999999999999999", "1e99999999999999999998"},
        {"1e99999999999999999999", "10e99999999999999999998"},
        {"1e18446744073709551617", "10"},
        {"1", "\"1\""},
        {"0", "null"},
        {"0", "false"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(equal); i++)
        expect(true, equal[i][0], equal[i][1]);
    for (size_t i = 0; i < ARRAY_LEN(different); i++)
        expect(false, different[i][0], different[i][1]);
}

/* ---- strings, arrays, objects ---- */

static void strings_have_the_hash_of_what_they_mean(void **state)
{
    (void)state;
    expect(true, "\"caf\\u00e9\\/\"", "\"caf\xc3\xa9/\"");
    expect(true, "\"\\ud83d\\ude00\"", "\"\xf0\x9f\x98\x80\"");
    expect(true, "\"\\u000a\\u0022\"", "\"\\n\\\"\"");
    expect(true, "\"\\ud800\"", "\"\xef\xbf\xbd\"");
    expect(true, "[\"\\u0061\",\"b\",\"\\u0062\"]", "[\"a\",\"\\u0062\",\"b\"]");
    expect(false, "\"a\"", "\"b\"");
    expect(false, "\"\"", "\"\\u0000\"");
    expect(false, "\"\\\\n\"", "\"\\n\"");
    expect(false, "\"true\"", "true");
    expect(false, "\"\"", "null");
}

static void elements_count_in_their_order(void **state)
{
    (void)state;
    expect(true, "[1,[],{}]", " [ 1.0 , [ ] , { } ] ");
    expect(false, "[1,2]", "[2,1]");
    expect(false, "[1,2,3]", "[[1,2],3]");
    expect(false, "[[1],2]", "[1,[2]]");
    expect(false, "[1,1]", "[1]");
    expect(false, "[null]", "[]");
    expect(false, "[]", "[[]]");
    expect(false, "[[]]", "[[],[]]");
    expect(false, "[]", "{}");
    expect(false, "[1]", "1");
}

static void members_count_in_any_order_and_the_last_of_a_name(void **state)
{
    (void)state;
    expect(true, "{\"a\":1,\"b\":[true,null]}", " { \"b\" : [ true , null ] , \"a\" : 1.0 } ");
    expect(true, "{\"\\u0061\":1}", "{\"a\":1}");
    expect(true, "{\"a\":1,\"a\":2}", "{\"a\":2}");
    expect(true, "{\"a\":1,\"b\":0,\"\\u0061\":2}", "{\"b\":0,\"a\":2}");
    expect(true, "{\"a\":{\"b\":1,\"b\":2},\"c\":3}", "{\"c\":3,\"a\":{\"b\":2}}");
    expect(true, "{\"\":1}", "{\"\":1.0}");
    expect(false, "{\"a\":1,\"a\":2}", "{\"a\":1}");
    expect(false, "{\"a\":1,\"a\":1}", "{\"a\":1,\"b\":1}");
    expect(false, "{\"a\":null}", "{}");
    expect(false, "{\"a\":\"b\"}", "{\"b\":\"a\"}");
    expect(false, "{\"a\":1,\"b\":2}", "{\"a\":2,\"b\":1}");
    expect(false, "{\"a\":{\"b\":1}}", "{\"a\":{},\"b\":1}");
    expect(false, "{\"a\":1}", "[\"a\",1]");
}

static void members_at_the_top_can_be_left_out(void **state)
{
    (void)state;
    expect(true, "{\"a\":1}", "{\"_millrace\":{\"version\":7},\"a\":1}");
    expect(true, "{\"a\":1}", "{\"a\":1,\"_millrac\\u0065\":[]}");
    expect(false, "{\"a\":{}}", "{\"a\":{\"_millrace\":1}}");
    expect(false, "[{}]", "[{\"_millrace\":1}]");
}

/* ---- large objects ---- */

/* n members from first to last or back, behind n_twice that have a name of one of them. */
static void print_members(struct buf *out, size_t n, bool is_reversed, size_t n_twice)
{
    buf_clear(out);
    buf_append_char(out, '{');
    for (size_t i = 0; i < n_twice; i++)
        buf_printf(out, "\"name %zu\":\"earlier\",", i * 7 % n);
    for (size_t i = 0; i < n; i++) {
        const size_t k = is_reversed ? n - 1 - i : i;

        buf_printf(out, "%s\"name %zu\":{\"at\":[%zu],\"b\":0}", i == 0 ? "" : ",", k, k);
    }
    buf_append_char(out, '}');
}

static void objects_of_any_size_keep_the_last_of_each_name(void **state)
{
    static const size_t sizes[] = {1, 2, 7, 63, 64, 65, 66, 255, 256, 257, 1000, 100000};
    struct buf a = {0}, b = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
        for (size_t n_twice = 0; n_twice <= 70; n_twice += 35) {
            print_members(&a, sizes[i], false, 0);
            print_members(&b, sizes[i], true, n_twice);
            assert_true(hash(a.ptr) == hash(b.ptr));
            b.ptr[b.len - 1] = ',';
            buf_append(&b, STR("\"name 0\":\"later\"}"));
            assert_true(hash(a.ptr) != hash(b.ptr));
            b.ptr[b.len - 1] = ',';
            buf_append(&b, STR("\"name 0\":{\"b\":0,\"at\":[0]}}"));
            assert_true(hash(a.ptr) == hash(b.ptr));
        }
    buf_free(&a);
    buf_free(&b);
}

/* ---- the seed ---- */

static void another_seed_makes_another_hash(void **state)
{
    static const char *const texts[] = {"1", "\"a\"", "null", "[]", "{}", "{\"a\":[1,\"b\"]}"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        const struct str text = str_from(texts[i]);

        assert_true(hash_with(text, 1) != hash_with(text, 2));
        assert_true(hash_with(text, hash_bytes(STR("north"), 1)) !=
                    hash_with(text, hash_bytes(STR("south"), 1)));
    }
}

/* Stored hashes are compared with those of later releases: see JSON_HASH_VERSION. */
static void hashes_of_version_1_stay_what_they_are(void **state)
{
    (void)state;
    assert_int_equal(JSON_HASH_VERSION, 1);
    assert_true(hash("{\"id\":12,\"price\":1.50,\"name\":\"caf\\u00e9 au lait, a large one\","
                     "\"tags\":[true,false,null,-12345678901234567890123e-5],\"o\":{}}") ==
                UINT64_C(0x3e0887fb373e937b));
}

/* ---- what is not JSON ---- */

static void a_text_that_is_not_json_is_refused(void **state)
{
    static const char *const texts[] = {
        "",
        " ",
        "{",
        "{\"a\":}",
        "{\"a\"}",
        "{\"a\":1,}",
        "[1,]",
        "[1",
        "01",
        "nul",
        "truex",
        "1 2",
        "\"\\x\"",
        "\"\xff\"",
        "{\"_millrace\":}",
        "{\"_millrace\":01}",
        "{a:1}",
    };
    const struct json_hashing how = {.ignored = &ours, .n_ignored = 1};
    struct buf deep = {0};
    uint64_t ignored;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct err err = {0};

        if (json_hash(&how, str_from(texts[i]), &ignored, &err))
            fail_msg("%s is hashed", texts[i]);
        assert_int_equal(err.kind, ERR_REJECT);
        assert_non_null(strstr(err.msg, "not JSON at byte"));
    }
    for (size_t n = JSON_DEPTH_MAX; n <= JSON_DEPTH_MAX + 1; n++) {
        struct err err = {0};

        buf_clear(&deep);
        for (size_t i = 0; i < n; i++)
            buf_append(&deep, i % 2 == 0 ? STR("[") : STR("{\"a\":"));
        buf_append(&deep, n % 2 == 0 ? STR("1") : STR(""));
        for (size_t i = n; i-- > 0;)
            buf_append(&deep, i % 2 == 0 ? STR("]") : STR("}"));
        assert_int_equal(json_hash(&how, buf_str(&deep), &ignored, &err), n == JSON_DEPTH_MAX);
    }
    buf_free(&deep);
}

/* ---- random values ---- */

#define PAIRS 30000

static void random_pairs_have_one_hash_exactly_if_they_compare_equal(void **state)
{
    uint64_t seed;
    struct random r;
    struct buf a = {0}, b = {0};
    size_t n_equal = 0;

    (void)state;
    random_bytes(&seed, sizeof(seed));
    random_init(&r, seed);
    for (size_t i = 0; i < PAIRS; i++) {
        struct arena *arena = arena_new();
        struct json_value *v = json_value_random(arena, &r, 4);
        const bool is_changed = random_below(&r, 2) == 0;

        buf_clear(&a);
        buf_clear(&b);
        json_value_print(v, &r, &a);
        if (is_changed)
            json_value_change(arena, &r, v);
        json_value_print(v, &r, &b);

        const bool equal = compares_equal(buf_str(&a), buf_str(&b));

        if ((!is_changed && !equal) ||
            equal != (hash_with(buf_str(&a), seed) == hash_with(buf_str(&b), seed)))
            fail_msg("seed %llu: %s, %s: %s", (unsigned long long)seed, a.ptr, b.ptr,
                     equal ? "equal" : "different");
        n_equal += equal;
        arena_free(arena);
    }
    assert_in_range(n_equal, PAIRS / 3, PAIRS * 2 / 3);
    buf_free(&a);
    buf_free(&b);
}

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Documents that differ little, as rows do. */
static void similar_documents_have_hashes_of_their_own(void **state)
{
    enum { N = 100, FORMS = 4 };
    static uint64_t hashes[N * N * FORMS];
    struct buf text = {0};
    size_t n = 0;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(hashes); i++) {
        const unsigned a = i / FORMS % N, b = (unsigned)(i / FORMS / N);

        buf_clear(&text);
        switch (i % FORMS) {
        case 0: buf_printf(&text, "{\"a\":%u,\"b\":%u}", a, b); break;
        case 1: buf_printf(&text, "{\"a\":[%u,%u]}", a, b); break;
        case 2: buf_printf(&text, "{\"a\":{\"c\":%u},\"b\":%u}", a, b); break;
        case 3: buf_printf(&text, "{\"a\":\"%u\",\"b\":%u}", a, b); break;
        }
        hashes[n++] = hash(text.ptr);
    }
    buf_free(&text);
    qsort(hashes, n, sizeof(*hashes), by_value);
    for (size_t i = 1; i < n; i++)
        assert_true(hashes[i] != hashes[i - 1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_have_the_hash_of_their_value),
        cmocka_unit_test(strings_have_the_hash_of_what_they_mean),
        cmocka_unit_test(elements_count_in_their_order),
        cmocka_unit_test(members_count_in_any_order_and_the_last_of_a_name),
        cmocka_unit_test(members_at_the_top_can_be_left_out),
        cmocka_unit_test(objects_of_any_size_keep_the_last_of_each_name),
        cmocka_unit_test(another_seed_makes_another_hash),
        cmocka_unit_test(hashes_of_version_1_stay_what_they_are),
        cmocka_unit_test(a_text_that_is_not_json_is_refused),
        cmocka_unit_test(random_pairs_have_one_hash_exactly_if_they_compare_equal),
        cmocka_unit_test(similar_documents_have_hashes_of_their_own),
    };
    return cmocka_run_group_tests_name("json_hash", tests, NULL, NULL);
}

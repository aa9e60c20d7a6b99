#include "config.h"

#include "tests/unit/vectors.h"

#include "src/format/json.h"
#include "sync/value/jsonb.h"

/* What the vectors say in words, as the server prints it. */
static void server_form(const char *expected, struct buf *out)
{
    static const struct {
        const char *prefix, *text;
    } words[] = {
        {"opaque string 0xCAFE", "\"base64:type15:yv4=\""},
        {"opaque blob 0xCAFE", "\"base64:type252:yv4=\""},
        {"bit 0xCAFE", "\"base64:type16:yv4=\""},
    };
    static const char *const kinds[] = {"datetime ", "time ", "date "};

    buf_clear(out);
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (strcmp(expected, words[i].prefix) == 0) {
            buf_append(out, str_from(words[i].text));
            return;
        }
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (strncmp(expected, kinds[i], strlen(kinds[i])) == 0) {
            buf_append_json(out, str_from(expected + strlen(kinds[i])));
            return;
        }
    if (strncmp(expected, "decimal ", 8) == 0)
        buf_append(out, str_from(expected + 8));
    else if (!json_compact(out, str_from(expected)))
        fail_msg("what is %s?", expected);
}

static void check_vector(char **fields)
{
    struct buf bytes = {0}, text = {0}, expected = {0};
    const bool ok = jsonb_append(&text, unhex(&bytes, fields[0]));
    char *comment = strstr(fields[1], "  #");

    if (comment != NULL)
        *comment = '\0';
    if (strncmp(fields[1], "ERROR", 5) == 0) {
        assert_false(ok);
        assert_int_equal(text.len, 0);
    } else {
        server_form(fields[1], &expected);
        if (!ok || !str_equal(buf_str(&text), buf_str(&expected)))
            fail_msg("%s is %s, not %s", fields[0], ok ? text.ptr : "refused", expected.ptr);
    }
    buf_free(&bytes);
    buf_free(&text);
    buf_free(&expected);
}

static void the_vectors_of_others_are_understood(void **state)
{
    (void)state;
    assert_true(for_each_vector("jsonb.tsv", check_vector) > 40);
}

static void doubles_are_printed_as_the_server_does(void **state)
{
    static const struct {
        double v;
        const char *text;
    } cases[] = {
        {1, "1.0"},
        {-0.0, "-0.0"},
        {100000000000000.0, "100000000000000.0"},
        {1e15, "1e15"},
        {0.00001, "0.00001"},
        {1e-15, "0.000000000000001"},
        {1e-16, "1e-16"},
        {1.2345678901234567e-14, "0.000000000000012345678901234567"},
        {9007199254740992.0, "9.007199254740992e15"},
        {1.5e300, "1.5e300"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char bytes[9] = {0x0b};
        struct buf text = {0};

        memcpy(bytes + 1, &cases[i].v, 8);
        assert_true(jsonb_append(&text, (struct str){bytes, sizeof(bytes)}));
        assert_string_equal(text.ptr, cases[i].text);
        buf_free(&text);
    }
}

/* Every element of every level is the same array again: small bytes, endless text. */
static void a_value_made_to_explode_is_refused(void **state)
{
    enum { LEVELS = 60, N = 100, SIZE = 4 + N * 3 };
    static char bytes[1 + LEVELS * SIZE + 8];
    struct buf text = {0};

    (void)state;
    bytes[0] = 2;
    for (int level = 0; level < LEVELS; level++) {
        char *p = bytes + 1 + level * SIZE;

        p[0] = N;
        for (int i = 0; i < N; i++) {
            p[4 + i * 3] = 2;
            p[4 + i * 3 + 1] = (char)(SIZE & 0xff);
            p[4 + i * 3 + 2] = (char)(SIZE >> 8);
        }
    }
    assert_false(jsonb_append(&text, (struct str){bytes, sizeof(bytes)}));
    assert_true(text.cap < 4u << 20);
    buf_free(&text);
}

static void what_is_cut_off_is_refused(void **state)
{
    static const char hex[] =
        "0004003c00200001002100010022000200240002000c26000c28000c2a00022e006161636162"
        "63016201640361626302000e000c0a000c0c0001780179";
    struct buf bytes = {0}, text = {0};
    const struct str whole = unhex(&bytes, hex);

    (void)state;
    for (size_t n = 1; n < whole.len; n++) {
        char *exact = malloc(n);

        memcpy(exact, whole.ptr, n);
        if (jsonb_append(&text, (struct str){exact, n}))
            fail_msg("%zu of %zu bytes give %s", n, whole.len, text.ptr);
        free(exact);
    }
    buf_free(&bytes);
    buf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_vectors_of_others_are_understood),
        cmocka_unit_test(doubles_are_printed_as_the_server_does),
        cmocka_unit_test(a_value_made_to_explode_is_refused),
        cmocka_unit_test(what_is_cut_off_is_refused),
    };
    return cmocka_run_group_tests_name("jsonb", tests, NULL, NULL);
}

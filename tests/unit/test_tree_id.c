#include "config.h"

#include "tests/unit/unit.h"

#include "rebalance/trees/tree_id.h"
#include "src/base/buf.h"
#include "src/base/random.h"

#include <stdio.h>

/* Ids that can be read again from their packed form, of every form and beside each. */
static const char *const named[] = {
    "",
    "0",
    "-",
    "sixteen bytes so",
    "0123456789012345",
    "01234567-89ab-cdef-0123-456789abcdef",
    "01234567-89AB-CDEF-0123-456789ABCDEF",
    "01234567-8901-2345-6789-012345678901",
    "0123456789abcdef0123456789abcdef",
    "0123456789ABCDEF0123456789ABCDEF",
    "01234567890123456789012345678901",
    "12345678901234567",
    "18446744073709551615",
    "-1234567890123456",
    "-9223372036854775808",
    "-18446744073709551615",
};

/* Ids that are nearly of a form. */
static const char *const hashed[] = {
    "seventeen bytes !",
    "01234567890123456",
    "-0123456789012345",
    "18446744073709551616",
    "+1234567890123456",
    "1234567890123456.",
    "01234567-89ab-cdef-0123-456789abcdeF",
    "01234567-89ab-cdef-0123-456789abcdeg",
    "01234567_89ab-cdef-0123-456789abcdef",
    "0123456789ab-cdef-0123-4567-89abcdef",
    "0123456789abcdef0123456789abcdeF",
    "0123456789abcdef0123456789abcde",
    "0123456789abcdef0123456789abcdef0",
    "0123456789abcdef0123456789abcde/",
    "0123456789abcdef0123456789abcde:",
    "@123456789ABCDEF0123456789ABCDEF",
};

static void an_id_of_a_form_is_read_from_its_packed_form(void **state)
{
    struct buf text = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(named); i++) {
        struct tree_id id;

        tree_id_pack(&id, str_from(named[i]));
        buf_clear(&text);
        buf_append(&text, STR("id "));
        assert_true(tree_id_unpack(&id, &text));
        assert_string_equal(text.ptr + 3, named[i]);
        assert_true(tree_id_has_a_kind(id.bytes));
    }
    buf_free(&text);
}

static void any_other_id_is_a_hash_that_only_it_has(void **state)
{
    struct buf text = {0};
    char long_id[512];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(hashed); i++) {
        struct tree_id id;

        tree_id_pack(&id, str_from(hashed[i]));
        assert_false(tree_id_unpack(&id, &text));
        assert_true(tree_id_has_a_kind(id.bytes));
        for (size_t j = 0; j < ARRAY_LEN(hashed); j++)
            assert_int_equal(tree_id_is_of(&id, str_from(hashed[j])), i == j);
    }
    memset(long_id, 'x', sizeof(long_id));

    struct tree_id id;

    tree_id_pack(&id, (struct str){long_id, 512});
    assert_true(tree_id_is_of(&id, (struct str){long_id, 512}));
    assert_false(tree_id_is_of(&id, (struct str){long_id, 511}));
    assert_int_equal(text.len, 0);
    buf_free(&text);
}

static void no_two_ids_have_one_packed_form(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(named); i++) {
        struct tree_id id;

        tree_id_pack(&id, str_from(named[i]));
        for (size_t j = 0; j < ARRAY_LEN(named); j++)
            assert_int_equal(tree_id_is_of(&id, str_from(named[j])), i == j);
        for (size_t j = 0; j < ARRAY_LEN(hashed); j++)
            assert_false(tree_id_is_of(&id, str_from(hashed[j])));
    }
}

/* Bytes that are often nearly of a form: what is read from a packed id is the id. */
static void random_ids_are_read_as_they_were(void **state)
{
    static const char *const alphabets[] = {"0123456789", "0123456789abcdef",
                                            "0123456789ABCDEF", "-01289aAfFgG"};
    const uint64_t seed = 7;
    struct buf text = {0};
    struct random r;

    (void)state;
    print_message("seed %d\n", (int)seed);
    random_init(&r, seed);
    for (int i = 0; i < 200000; i++) {
        const char *alphabet = alphabets[random_below(&r, ARRAY_LEN(alphabets))];
        char id[40];
        const size_t len = random_below(&r, sizeof(id));
        struct tree_id packed;

        for (size_t j = 0; j < len; j++)
            id[j] = alphabet[random_below(&r, strlen(alphabet))];
        if (len == 36 && random_below(&r, 8) != 0)
            id[8] = id[13] = id[18] = id[23] = '-';
        tree_id_pack(&packed, (struct str){id, len});
        buf_clear(&text);
        if (tree_id_unpack(&packed, &text))
            assert_true(str_equal(buf_str(&text), (struct str){id, len}));
        assert_true(tree_id_is_of(&packed, (struct str){id, len}));
    }
    buf_free(&text);
}

static void other_kinds_are_none(void **state)
{
    const uint8_t first[TREE_ID_SIZE] = {24}, last[TREE_ID_SIZE] = {255};

    (void)state;
    assert_false(tree_id_has_a_kind(first));
    assert_false(tree_id_has_a_kind(last));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_id_of_a_form_is_read_from_its_packed_form),
        cmocka_unit_test(any_other_id_is_a_hash_that_only_it_has),
        cmocka_unit_test(no_two_ids_have_one_packed_form),
        cmocka_unit_test(random_ids_are_read_as_they_were),
        cmocka_unit_test(other_kinds_are_none),
    };

    return cmocka_run_group_tests_name("tree_id", tests, NULL, NULL);
}

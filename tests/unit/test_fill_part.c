/* What a part of a delayed run says of itself, as the store keeps it. */
#include "config.h"

#include "tests/unit/unit.h"

#include "rebalance/fill/bucket.h"
#include "rebalance/fill/part.h"
#include "src/store/store.h"
#include "sync/document/key.h"

static struct fill_part a_part(uint64_t version)
{
    struct fill_part p = {.place = 3, .by = 4, .mod = 5, .rest = 4};

    buf_append(&p.table, STR("shop.label"));
    buf_append(&p.member, STR("shop.goods"));
    key_append_part(&p.keys, STR("7"));
    key_append_part(&p.keys, (struct str){"\0\xff\"", 3});
    p.by_level = true;
    p.level = 2;
    buf_append(&p.bucket_column, STR("made"));
    p.note = (struct fill_note){.anywhere = true, .own = {.gtid = true, .version = version}};
    buf_append(&p.note.own.topic, STR("shop"));
    return p;
}

static void same(const struct buf *is, const struct buf *was)
{
    assert_true(str_equal(buf_str(is), buf_str(was)));
}

/* As a bucket carries it: the node that works on it changes what is around it. */
static void a_part_comes_back_from_its_bucket_whole(void **state)
{
    struct fill_part p = a_part(UINT64_MAX - 1), read;
    struct fill_bucket b = {.rate = 7}, again;
    struct buf json = {0};

    (void)state;
    part_append(&b.part, &p);
    bucket_append(&json, &b);
    assert_true(bucket_read(buf_str(&json), &again));
    buf_append(&again.node, STR("node"));
    buf_clear(&json);
    bucket_append(&json, &again);
    assert_int_equal(part_start(&(struct stored_job){.parameters = buf_str(&json)}),
                     UINT64_MAX - 1);
    bucket_fini(&again);
    assert_true(bucket_read(buf_str(&json), &again));
    same(&again.part, &b.part);
    assert_true(part_read(buf_str(&again.part), &read));
    same(&read.table, &p.table);
    same(&read.member, &p.member);
    assert_true(read.by_level);
    assert_int_equal(read.level, 2);
    same(&read.bucket_column, &p.bucket_column);
    same(&read.note.own.topic, &p.note.own.topic);
    assert_int_equal(read.place, 3);
    assert_int_equal(read.by, 4);
    assert_int_equal(read.mod, 5);
    assert_int_equal(read.rest, 4);
    bucket_fini(&b);
    bucket_fini(&again);
    part_fini(&p);
    part_fini(&read);
    buf_free(&json);
}

/* Every list of jobs reads that text, and each save of its cursor writes it. */
static void the_text_of_a_part_does_not_grow_with_its_keys(void **state)
{
    struct fill_part p = a_part(1);
    struct buf few = {0}, many = {0};

    (void)state;
    part_append(&few, &p);
    for (size_t i = 0; i < 250; i++)
        key_append_part(&p.keys, STR("a key of a row"));
    part_append(&many, &p);
    same(&many, &few);
    part_fini(&p);
    buf_free(&few);
    buf_free(&many);
}

static void half_a_part_is_none(void **state)
{
    struct fill_part p = a_part(1), read;
    struct buf whole = {0};

    (void)state;
    part_append(&whole, &p);
    for (size_t n = 0; n + 1 < whole.len; n++) { /* the last brace says nothing */
        if (part_read((struct str){whole.ptr, n}, &read))
            fail_msg("%.*s was read", (int)n, whole.ptr);
        part_fini(&read);
    }
    part_fini(&p);
    p = a_part(1);
    p.mod = 0;
    buf_clear(&whole);
    part_append(&whole, &p);
    assert_false(part_read(buf_str(&whole), &read));
    part_fini(&read);
    part_fini(&p);
    buf_free(&whole);
}

static struct stored_job a_job(const char *state, uint64_t version, struct buf *json)
{
    struct fill_part p = a_part(version);
    struct fill_bucket b = {.mod = 0};

    part_append(&b.part, &p);
    bucket_append(json, &b);
    bucket_fini(&b);
    part_fini(&p);
    return (struct stored_job){.kind = STR(JOB_PART),
                               .index = STR("goods"),
                               .version = 2,
                               .state = str_from(state),
                               .parameters = buf_str(json)};
}

static void reads_include_what_the_newest_open_part_says(void **state)
{
    struct buf json[3] = {{0}, {0}, {0}};
    const struct stored_job jobs[] = {a_job(BUCKET_INIT, 5, &json[0]),
                                      a_job(BUCKET_RUNNING, 9, &json[1]),
                                      a_job(BUCKET_DONE, 12, &json[2])};
    struct version_name v = {STR("goods"), 2};
    struct fill_note note;
    uint64_t start;

    (void)state;
    assert_true(part_newest_note(jobs, 3, &v, &note, &start));
    assert_int_equal(start, 9);
    assert_true(note.anywhere);
    fill_note_fini(&note);
    v.number = 1;
    assert_false(part_newest_note(jobs, 3, &v, &note, &start));
    for (size_t i = 0; i < ARRAY_LEN(json); i++)
        buf_free(&json[i]);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_comes_back_from_its_bucket_whole),
        cmocka_unit_test(the_text_of_a_part_does_not_grow_with_its_keys),
        cmocka_unit_test(half_a_part_is_none),
        cmocka_unit_test(reads_include_what_the_newest_open_part_says),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What a stream of events sends next. */
#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/random.h"
#include "web/stream/feed.h"

#include <stdio.h>
#include <string.h>

#define HELLO "retry: 2000\n\n"

static struct feed_state *make(uint64_t number)
{
    char json[32];

    snprintf(json, sizeof(json), "{\"n\":%u}", (unsigned)number);
    return feed_state_new(STR("abc"), number, str_from(json));
}

static void append_message(struct buf *out, uint64_t number)
{
    buf_printf(out, "id: abc-%u\nevent: status\ndata: {\"n\":%u}\n\n", (unsigned)number,
               (unsigned)number);
}

/* Take all that is to be had, in pieces of at most max bytes. */
static void take(struct feed *f, struct feed_state *s, int64_t now_ms, size_t max,
                 struct buf *out)
{
    char piece[64];
    size_t n;

    do {
        const bool has_more = feed_has_more(f, s, now_ms);

        n = feed_take(f, s, now_ms, piece, max);
        assert_int_equal(has_more, n > 0);
        buf_append(out, (struct str){piece, n});
    } while (n > 0);
}

static void assert_took(struct feed *f, struct feed_state *s, int64_t now_ms, const char *text)
{
    struct buf out = {0};

    take(f, s, now_ms, 7, &out);
    assert_string_equal(out.len > 0 ? out.ptr : "", text);
    buf_free(&out);
}

static void the_state_comes_at_once_and_each_once(void **state)
{
    struct feed_state *one = make(1);
    struct buf hello = {0};
    struct feed f;

    (void)state;
    buf_append(&hello, STR(HELLO));
    append_message(&hello, 1);
    feed_init(&f, 0, 1000);
    assert_took(&f, NULL, 1000, HELLO);
    assert_took(&f, one, 1000, hello.ptr + strlen(HELLO));
    assert_took(&f, one, 1000 + FEED_PING_MS - 1, "");
    assert_took(&f, one, 1000 + FEED_PING_MS, "event: ping\ndata: {}\n\n");
    assert_took(&f, one, 1000 + 2 * FEED_PING_MS - 1, "");
    feed_fini(&f);
    feed_state_unref(one);
    buf_free(&hello);
}

static void who_has_the_state_waits_for_another(void **state)
{
    struct feed_state *one = make(1), *two = make(2);
    struct buf message = {0};
    struct feed f;

    (void)state;
    append_message(&message, 2);
    feed_init(&f, 1, 0);
    assert_took(&f, one, 0, HELLO);
    assert_took(&f, two, 1, message.ptr);
    feed_fini(&f);
    feed_state_unref(one);
    feed_state_unref(two);
    buf_free(&message);
}

static void an_id_is_that_of_one_state_only(void **state)
{
    struct feed_state *s = make(12);

    (void)state;
    assert_true(feed_state_is(s, STR("abc-12")));
    assert_false(feed_state_is(s, STR("abc-1")));
    assert_false(feed_state_is(s, STR("abc-123")));
    assert_false(feed_state_is(s, STR("abd-12")));
    assert_false(feed_state_is(s, STR("")));
    feed_state_unref(s);
}

/* ---- against a naive one ---- */

/* The complete messages that a reader has got, as numbers; a ping is 0. */
static size_t read_numbers(const struct buf *got, uint64_t *out, size_t max)
{
    size_t n = 0;

    for (const char *at = got->ptr; *at != '\0';) {
        const char *end = strstr(at, "\n\n");
        unsigned number = 0;

        if (end == NULL)
            break;
        if (strncmp(at, "retry", 5) != 0) {
            assert_true(n < max);
            assert_true(*at == ':' || sscanf(at, "id: abc-%u\n", &number) == 1);
            out[n++] = number;
        }
        at = end + 2;
    }
    return n;
}

/*
 * Whatever the order of new states, of time and of a reader that takes a little now and then:
 * the bytes are whole messages, numbers rise, two begin at least FEED_PAUSE_MS apart, and a
 * reader that takes everything in the end has the newest.
 */
static void any_reader_gets_whole_and_rising_states_and_the_newest_in_the_end(void **state)
{
    struct random r;

    (void)state;
    random_init(&r, 63);
    for (int round = 0; round < 300; round++) {
        struct feed_state *latest = make(1);
        struct buf got = {0};
        uint64_t numbers[512], number = 1, begun = 0;
        int64_t now_ms = 5, begun_ms = INT64_MIN;
        struct feed f;

        feed_init(&f, 0, now_ms);
        for (int step = 0; step < 200; step++) {
            char piece[40];

            now_ms += (int64_t)random_below(&r, 400);
            if (random_below(&r, 3) == 0) {
                feed_state_unref(latest);
                latest = make(++number);
            }
            if (random_below(&r, 2) == 0)
                continue;

            const size_t n = feed_take(&f, random_below(&r, 9) == 0 ? NULL : latest, now_ms,
                                       piece, 1 + random_below(&r, sizeof(piece) - 1));

            buf_append(&got, (struct str){piece, n});
            if (f.had != begun) {
                assert_true(f.had == number && f.had > begun);
                assert_true(begun_ms == INT64_MIN || now_ms - begun_ms >= FEED_PAUSE_MS);
                begun = f.had;
                begun_ms = now_ms;
            }
        }
        take(&f, latest, now_ms, 40, &got);
        take(&f, latest, now_ms + FEED_PAUSE_MS, 40, &got);

        const size_t n = read_numbers(&got, numbers, ARRAY_LEN(numbers));
        uint64_t last = 0;

        for (size_t i = 0; i < n; i++) {
            assert_true(numbers[i] == 0 || numbers[i] > last);
            last = numbers[i] > 0 ? numbers[i] : last;
        }
        assert_int_equal(last, number);
        assert_string_equal(got.ptr + got.len - 2, "\n\n");
        feed_fini(&f);
        assert_int_equal(latest->refs, 1);
        feed_state_unref(latest);
        buf_free(&got);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_state_comes_at_once_and_each_once),
        cmocka_unit_test(who_has_the_state_waits_for_another),
        cmocka_unit_test(an_id_is_that_of_one_state_only),
        cmocka_unit_test(any_reader_gets_whole_and_rising_states_and_the_newest_in_the_end),
    };

    return cmocka_run_group_tests_name("feed", tests, NULL, NULL);
}

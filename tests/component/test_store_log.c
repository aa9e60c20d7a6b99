/*
 * The log of a store in SQLite (-wal) of which bits flip: F58.
 *
 * Each step is two commits: a value, and then a position with a delete.  So whatever an earlier
 * commit left behind shows: where the position is of step n, the deletes are of n, and the
 * value of n, or of the step behind it.
 */
#include "config.h"

#include "tests/component/store_rig.h"

#include "src/base/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STEPS_MAX 2000

/* A store as a kill left it. */
struct image {
    char *file, *log;
    size_t file_len, log_len;
};

static const char *log_path(void)
{
    static char path[sizeof(store_path) + 8];

    snprintf(path, sizeof(path), "%s-wal", store_path);
    return path;
}

static char *read_whole(const char *path, size_t *len)
{
    FILE *file = fopen(path, "rb");
    struct stat info;
    char *bytes;

    assert_non_null(file);
    assert_int_equal(fstat(fileno(file), &info), 0);
    *len = (size_t)info.st_size;
    bytes = malloc(*len + 1);
    assert_int_equal(fread(bytes, 1, *len, file), *len);
    fclose(file);
    return bytes;
}

static void write_whole(const char *path, const char *bytes, size_t len)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

static struct image take_image(void)
{
    struct image i;

    i.file = read_whole(store_path, &i.file_len);
    i.log = read_whole(log_path(), &i.log_len);
    return i;
}

static void free_image(struct image *i)
{
    free(i->file);
    free(i->log);
}

/* A bit of the log has flipped. */
static void put_back(const struct image *i, size_t at)
{
    remove_store();
    i->log[at] ^= 0x10;
    write_whole(store_path, i->file, i->file_len);
    write_whole(log_path(), i->log, i->log_len);
    i->log[at] ^= 0x10;
}

/* Each is another than the one before, so that its row and the row's checksum are both
 * written. */
static void put_value(uint64_t n)
{
    static uint64_t serial;
    const uint64_t value[2] = {n, serial++};

    ok(store_put_value(f.s, STR("step"), (struct str){(const char *)value, sizeof(value)},
                       &f.err));
}

static void put_position(uint64_t n, uint64_t term)
{
    const struct stored_checkpoint cp = some_checkpoint(n);
    const struct stored_tombstone t = {STR("orders_v1"), STR("1"), STR(""), n, 1};

    ok(store_save_checkpoint(f.s, term, &cp, &t, 1, &f.err));
}

/* The step that the store is at; fails where it is at several. */
static uint64_t step_of_store(void)
{
    struct stored_checkpoint cp;
    struct stored_tombstone *deletes;
    struct buf value = {0};
    uint64_t step = 0;
    size_t n_deletes;
    bool found;

    ok(store_load_checkpoint(f.s, f.a, STR("shop"), &cp, &found, &f.err));
    if (!found)
        cp.offset = 0;
    ok(store_load_tombstones(f.s, f.a, all_of(STR("orders_v1")), 10, &deletes, &n_deletes,
                             &f.err));
    assert_int_equal(n_deletes, cp.offset > 0);
    if (n_deletes > 0)
        assert_int_equal(deletes[0].version, cp.offset);
    ok(store_get_value(f.s, STR("step"), &value, &found, &f.err));
    if (found)
        memcpy(&step, value.ptr, sizeof(step));
    assert_in_range(step, cp.offset, cp.offset + 1);
    buf_free(&value);
    return cp.offset;
}

#define HEAD  32          /* bytes of a log before its first frame, */
#define FRAME (24 + 4096) /* and of a frame */

/* A bit flips in one frame after the other, 130 at most; how many there were, and how often the
 * store was at a step before the last. */
static size_t flip_frames(const struct image *i, uint64_t last, size_t *n_earlier)
{
    const size_t n_frames = (i->log_len - HEAD) / FRAME * (i->log_len > HEAD);
    size_t n = 0;

    *n_earlier = 0;
    for (size_t k = 0; k < n_frames; k += 1 + (k >= 30) * n_frames / 100, n++) {
        uint64_t at;

        put_back(i, HEAD + k * FRAME + k * 97 % FRAME);
        if (!open_store(&f.s, &f.err)) {
            refused(false, ERR_FATAL);
            continue;
        }
        at = step_of_store();
        assert_in_range(at, 0, last);
        *n_earlier += at < last;
        close_store();
    }
    return n;
}

/* What was acknowledged last is gone with the position that it belongs to. */
static void f58_a_flipped_bit_of_the_log_gives_an_earlier_commit(void **state)
{
    enum { N = 20 };
    struct image image;
    size_t n, n_earlier;
    uint64_t term;

    (void)state;
    ok(store_take_term(f.s, STR("topic/shop"), &term, &f.err));
    for (uint64_t i = 1; i <= N; i++) {
        put_value(i);
        put_position(i, term);
    }
    image = take_image();
    close_store();
    n = flip_frames(&image, N, &n_earlier);
    assert_in_range(n, 50, 130);
    assert_int_equal(n_earlier, n);
    free_image(&image);
}

static bool is_file(const char *bytes, size_t len)
{
    size_t now_len;
    char *now = read_whole(store_path, &now_len);
    const bool is = now_len == len && memcmp(now, bytes, len) == 0;

    free(now);
    return is;
}

/* Values and positions until the log is written back into the file; it is at this step, or has
 * its value already. */
static uint64_t until_written_back(uint64_t n, uint64_t term)
{
    size_t len;
    char *before = read_whole(store_path, &len);
    const uint64_t end = n + STEPS_MAX;

    for (; n < end; n++) {
        put_value(n + 1);
        if (!is_file(before, len))
            break;
        put_position(n + 1, term);
        if (!is_file(before, len))
            break;
    }
    free(before);
    assert_in_range(n, 1, end - 1);
    return n;
}

/* The part of it before the bit would bring pages that are older than others of the file. */
static void f58_a_flipped_bit_of_a_log_that_was_written_back_mixes_nothing(void **state)
{
    struct image image;
    size_t n_earlier;
    uint64_t term, n;

    (void)state;
    ok(store_take_term(f.s, STR("topic/shop"), &term, &f.err));
    n = until_written_back(0, term);
    for (size_t i = 0; i < 3; i++)
        put_value(n + 1); /* a log that begins with pages of values only */
    n = until_written_back(n, term);
    image = take_image();
    close_store();
    (void)flip_frames(&image, n + 1, &n_earlier);
    assert_int_equal(n_earlier, 0);
    free_image(&image);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest sqlite[] = {
        STORE_TEST(f58_a_flipped_bit_of_the_log_gives_an_earlier_commit),
        STORE_TEST(f58_a_flipped_bit_of_a_log_that_was_written_back_mixes_nothing),
    };

    return store_rig_run(argc, argv, sqlite, ARRAY_LEN(sqlite), NULL, 0);
}

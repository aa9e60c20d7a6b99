/*
 * A tree's file, opened, changed, compared, resized and closed.  The first byte says which
 * checks are made right again, so that what they protect is met by damage, too; without any of
 * its bits the other bytes are the file.  Else they are patches of a whole file of six buckets,
 * one of them with three pages: page (1), offset (2), what is xored (1).
 */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "rebalance/trees/tree_compare.h"
#include "rebalance/trees/tree_header.h"
#include "src/base/buf.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

enum { IDENTITY = 1, STATE = 2, PAGES = 8, SUMS = 16, CLOSED = 32, PATCHED = 64 };

#define KEYS    400
#define BUCKETS 6

static const struct tree_identity source = {TREE_SOURCE, STR("i"), 1, 2};
static const struct tree_identity indexed = {TREE_INDEX, STR("i"), 1, 2};

static char folder[64];
static char path[128], other_path[128];
static struct buf whole;
static struct tree *other;

static struct str text_of(uint64_t k)
{
    static char text[40];

    return (struct str){text,
                        (size_t)snprintf(text, sizeof(text), "%llu", (unsigned long long)k)};
}

static bool put(struct tree *t, uint64_t k, uint64_t hash, struct err *err)
{
    return tree_change(t, &(struct tree_entry){text_of(k), hash, false}, 1, err);
}

/* Mostly entries of bucket 1 of BUCKETS: it has three pages, and the tree does not grow. */
static void fill(struct tree *t)
{
    struct err err;

    for (uint64_t k = 0, n = 0; n < KEYS; k++) {
        struct tree_id id;

        tree_id_pack(&id, text_of(k));
        if (tree_bucket_of(id.bytes, BUCKETS) != 1 && k % 50 != 0)
            continue;
        assert(put(t, k, k % 9, &err));
        n++;
    }
}

static void clean_up(void)
{
    struct err err;

    (void)!tree_close(other, false, &err);
    buf_free(&whole);
    unlink(path);
    unlink(other_path);
    rmdir(folder);
}

static void read_whole(void)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;

    assert(fd >= 0 && fstat(fd, &st) == 0);
    buf_reserve(&whole, (size_t)st.st_size);
    whole.len = (size_t)st.st_size;
    assert(pread(fd, whole.ptr, whole.len, 0) == st.st_size);
    close(fd);
}

static void make_once(void)
{
    struct tree *t;
    struct err err;

    snprintf(folder, sizeof(folder), "%s/fuzz_tree_XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    assert(mkdtemp(folder) != NULL);
    snprintf(path, sizeof(path), "%s/t", folder);
    snprintf(other_path, sizeof(other_path), "%s/other", folder);
    assert(tree_create(&other, other_path, &indexed, 200, &err));
    fill(other);
    assert(tree_create(&t, path, &source, 130 * BUCKETS, &err));
    fill(t);
    assert(tree_close(t, false, &err));
    read_whole();
    atexit(clean_up);
}

static uint8_t *page_of(struct buf *file, uint64_t number)
{
    return (uint8_t *)file->ptr + number * TREE_PAGE_SIZE;
}

/* Makes the check of a page right for the bucket; returns its entries' sum. */
static uint64_t seal_page(uint8_t *page, uint32_t number, uint32_t bucket)
{
    const struct tree_page_head head = {
        .page = number,
        .bucket = bucket,
        .next = tree_page_next(page),
        .n = tree_page_n(page) > TREE_PAGE_ENTRIES ? TREE_PAGE_ENTRIES : tree_page_n(page)};
    uint64_t sum = 0;

    for (unsigned i = 0; i < head.n; i++)
        sum += tree_entry_sum(page + tree_entry_at(i), TREE_SOURCE);
    tree_page_format_head(page, &head, sum);
    return sum;
}

/* Each bucket's pages as far as they lead, at most as many as the file has. */
static void seal_buckets(struct buf *file, const struct tree_shape *shape, uint8_t mode)
{
    const uint32_t n_pages = (uint32_t)(file->len / TREE_PAGE_SIZE);

    for (uint32_t b = 0; b < shape->n_buckets; b++) {
        uint32_t number = shape->first_bucket + b;
        uint64_t sum = 0;

        for (uint32_t i = 0; i < n_pages && number < n_pages && (i == 0 || number != 0); i++) {
            if ((mode & PAGES) != 0)
                sum += seal_page(page_of(file, number), number, b);
            number = tree_page_next(page_of(file, number));
        }
        if ((mode & SUMS) != 0)
            store_le64(file->ptr + tree_sum_at(b), sum);
    }
}

static void seal(struct buf *file, uint8_t mode)
{
    const struct tree_shape shape = tree_shape_of(load_le32(whole.ptr + 8));
    uint8_t *head = (uint8_t *)file->ptr, *state = head + TREE_STATE_AT;

    if ((mode & (PAGES | SUMS)) != 0)
        seal_buckets(file, &shape, mode);
    if ((mode & CLOSED) != 0) {
        store_le32(state + 32, 1);
        store_le64(state + 40,
                   XXH3_64bits(file->ptr + tree_sum_at(0), (size_t)8 * shape.n_buckets));
    }
    if ((mode & IDENTITY) != 0)
        store_le64(head + TREE_STATE_AT - 8, XXH3_64bits(head, TREE_STATE_AT - 8));
    if ((mode & STATE) != 0)
        store_le64(state + TREE_STATE_SIZE - 8, XXH3_64bits(state, TREE_STATE_SIZE - 8));
}

static void write_file(struct str bytes)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert(fd >= 0 && pwrite(fd, bytes.ptr, bytes.len, 0) == (ssize_t)bytes.len);
    close(fd);
}

static bool count_difference(void *ctx, enum tree_difference what, const struct tree_id *id,
                             struct err *err)
{
    struct buf text = {0};

    (void)err;
    assert(what <= TREE_UNREAD);
    if (tree_id_unpack(id, &text))
        assert(text.len <= 36);
    buf_free(&text);
    ++*(uint64_t *)ctx;
    return true;
}

static void compare(struct tree *t)
{
    struct tree_snapshot *s, *i;
    struct err err = {0};
    uint64_t n = 0;

    assert(tree_snapshot_take(t, &s, &err) && tree_snapshot_take(other, &i, &err));
    for (uint64_t k = 0; k < 40; k++) {
        struct err why;

        (void)!put(t, k, 77, &why);
        (void)!tree_change(t, &(struct tree_entry){text_of(k + 100), 0, true}, 1, &why);
    }
    assert(tree_compare(s, i, count_difference, &n, &err) || err.kind == ERR_REJECT);
    tree_snapshot_close(t, s);
    tree_snapshot_close(other, i);
}

static void use(struct tree *t)
{
    struct err err = {0};
    uint64_t hash = 0;
    bool found;

    for (uint64_t k = 0; k < 60; k++)
        (void)!tree_find(t, text_of(k), &found, &hash, &err);
    compare(t);
    assert(tree_set_note(t, (struct tree_note){1, 2}, &err));
    assert(tree_resize(t, 5, &err) || err.kind == ERR_REJECT);
    assert(tree_close(t, true, &err));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    const uint8_t mode = len > 0 ? bytes[0] : 0;
    struct tree *t = NULL;
    struct err err = {0};

    if (folder[0] == '\0')
        make_once();
    if ((mode & PATCHED) == 0) {
        write_file((struct str){(const char *)bytes + (len > 0), len - (len > 0)});
    } else {
        struct buf file = {0};

        buf_append(&file, buf_str(&whole));
        for (size_t i = 1; i + 4 <= len; i += 4) {
            const size_t page = bytes[i] % (file.len / TREE_PAGE_SIZE);

            page_of(&file, page)[load_le16(bytes + i + 1) % TREE_PAGE_SIZE] ^= bytes[i + 3];
        }
        seal(&file, mode);
        write_file(buf_str(&file));
        buf_free(&file);
    }
    if (tree_open(&t, path, &source, &err))
        use(t);
    else
        assert(err.kind == ERR_REJECT);
    return 0;
}

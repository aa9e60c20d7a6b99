#include "config.h"

#include "rebalance/trees/tree_file.h"

#include "src/base/mem.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#define BOOT_ID "/proc/sys/kernel/random/boot_id"

static bool refused(const char *what, struct err *err)
{
    return err_set_code(err, ERR_RETRY, "errno", errno, "%s: %s", what, strerror(errno));
}

static bool no_room(struct err *err)
{
    return err_set_code(err, ERR_RETRY, "errno", errno,
                        "no room on the disk: %s; fix: make room in the data folder",
                        strerror(errno));
}

/* ---- its parts ---- */

/* Without a boot id, no file that was not closed is believed. */
static bool read_boot(char out[TREE_BOOT_SIZE])
{
    const int fd = open(BOOT_ID, O_RDONLY | O_CLOEXEC);
    const bool ok = fd >= 0 && read(fd, out, TREE_BOOT_SIZE) == TREE_BOOT_SIZE;

    if (fd >= 0)
        close(fd);
    if (!ok)
        memset(out, 0, TREE_BOOT_SIZE);
    return ok;
}

static uint64_t size_of(uint32_t n_pages)
{
    return (uint64_t)n_pages * TREE_PAGE_SIZE;
}

/* How many pages to allocate at a time behind those in use. */
static uint32_t spare_pages(uint32_t n_buckets)
{
    return n_buckets / 128 + 1;
}

static struct tree_file *file_new(int fd, const struct tree_identity *identity,
                                  uint32_t n_buckets)
{
    struct tree_file *f = mem_alloc(1, sizeof(*f));

    f->refs = 1;
    f->view = (struct tree_view){.fd = fd,
                                 .side = identity->side,
                                 .version_mark = tree_identity_mark(identity),
                                 .shape = tree_shape_of(n_buckets)};
    f->is_checked = mem_alloc(n_buckets / 8 + 1, 1);
    return f;
}

static bool lock_file(int fd, struct err *err)
{
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        return true;
    return err_set_code(err, ERR_RETRY, "errno", errno, "another one uses it");
}

/* Allocates state.n_pages pages and maps them. */
static bool map_file(struct tree_file *f, struct err *err)
{
    const uint64_t size = size_of(f->state.n_pages);
    void *map;

    errno = posix_fallocate(f->view.fd, 0, (off_t)size);
    if (errno != 0)
        return no_room(err);
    map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, f->view.fd, 0);
    if (map == MAP_FAILED)
        return refused("cannot map it", err);
    f->map = map;
    (void)madvise(map, size, MADV_RANDOM);
    f->view.n_used = f->state.n_used;
    return true;
}

void tree_file_unref(struct tree_file *f)
{
    if (f == NULL || --f->refs > 0)
        return;
    assert(f->snapshot == NULL);
    if (f->map != NULL)
        munmap(f->map, size_of(f->state.n_pages));
    close(f->view.fd);
    free(f->is_checked);
    buf_free(&f->scratch);
    free(f);
}

void tree_file_commit_state(struct tree_file *f, struct tree_change *c,
                            const struct tree_state *state)
{
    uint8_t bytes[TREE_STATE_SIZE];

    tree_state_format(bytes, state);
    tree_change_add(c, TREE_STATE_AT, bytes, sizeof(bytes));
    tree_change_commit(c, f->map);
    f->state = *state;
    f->view.n_used = state->n_used;
}

void tree_file_set_note(struct tree_file *f, struct tree_note note)
{
    struct tree_change change = {.len = 0};
    struct tree_state state = f->state;

    state.note = note;
    tree_file_commit_state(f, &change, &state);
}

/* ---- create ---- */

bool tree_file_create(struct tree_file **out, const char *path,
                      const struct tree_identity *identity, uint32_t n_buckets, struct err *err)
{
    const int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    struct tree_file *f;

    if (fd < 0)
        return refused("cannot make it", err);
    f = file_new(fd, identity, n_buckets);
    f->state.n_used = f->view.shape.first_more;
    f->state.n_pages = f->state.n_used + spare_pages(n_buckets);
    read_boot(f->state.boot);
    if (!lock_file(fd, err) || !map_file(f, err)) {
        unlink(path);
        tree_file_unref(f);
        return false;
    }
    tree_identity_format(f->map, identity, n_buckets);
    tree_state_format(f->map + TREE_STATE_AT, &f->state);
    *out = f;
    return true;
}

/* ---- open ---- */

/* Reads the first page; finds whose file it is and repeats its last change. */
static bool read_header(int fd, uint64_t size, const struct tree_identity *identity,
                        uint8_t *page, uint32_t *n_buckets, struct err *err)
{
    return tree_read_at(fd, page, TREE_PAGE_SIZE, 0, err) &&
           tree_identity_check(page, identity, n_buckets, err) &&
           (size >= size_of(tree_shape_of(*n_buckets).first_more) ||
            err_set(err, ERR_REJECT, "it is too short")) &&
           tree_change_repeat(page, fd, size, err) &&
           tree_read_at(fd, page, TREE_PAGE_SIZE, 0, err);
}

/* A kill while the file is extended leaves it longer than its header says. */
static bool fit_size(const struct tree_file *f, uint64_t size, struct err *err)
{
    const uint64_t expected = size_of(f->state.n_pages);

    if (size < expected)
        return err_set(err, ERR_REJECT, "it is too short");
    if (size > expected && f->state.is_closed)
        return err_set(err, ERR_REJECT, "it is too long");
    if (size > expected && ftruncate(f->view.fd, (off_t)expected) != 0)
        return refused("cannot cut it", err);
    return true;
}

static bool is_of_this_boot(const struct tree_state *state)
{
    char boot[TREE_BOOT_SIZE];

    return read_boot(boot) && memcmp(boot, state->boot, TREE_BOOT_SIZE) == 0;
}

static bool check_all_buckets(struct tree_file *f, const uint8_t *sums, struct err *err)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < f->view.shape.n_buckets; i++) {
        const struct tree_bucket bucket = {.number = i, .sum = load_le64(sums + (size_t)8 * i)};

        if (!tree_bucket_read(&f->view, &bucket, &f->scratch, err))
            return false;
        for (size_t at = 0; at < f->scratch.len; at += TREE_PAGE_SIZE)
            count += tree_page_n((const uint8_t *)f->scratch.ptr + at);
        f->is_checked[i / 8] |= (uint8_t)(1u << i % 8);
    }
    if (count != f->state.count)
        return err_set(err, ERR_REJECT, "it has %llu entries, its header says %llu",
                       (unsigned long long)count, (unsigned long long)f->state.count);
    return true;
}

static bool check_content(struct tree_file *f, struct err *err)
{
    const size_t len = (size_t)8 * f->view.shape.n_buckets;
    uint8_t *sums = mem_alloc(len, 1);
    bool ok = tree_read_at(f->view.fd, sums, len, tree_sum_at(0), err);

    if (ok && !f->state.is_closed)
        ok = check_all_buckets(f, sums, err);
    else if (ok && XXH3_64bits(sums, len) != f->state.sums_check)
        ok = err_set(err, ERR_REJECT, "its sums are damaged");
    free(sums);
    return ok;
}

/* On disk before any change, as a power cut must not leave a changed file that says "closed".
 */
static bool mark_open(struct tree_file *f, struct err *err)
{
    struct tree_change change = {.len = 0};
    struct tree_state state = f->state;

    state.is_closed = false;
    read_boot(state.boot);
    tree_file_commit_state(f, &change, &state);
    return msync(f->map, TREE_PAGE_SIZE, MS_SYNC) == 0 || refused("cannot write it", err);
}

static bool open_fd(struct tree_file **out, int fd, const struct tree_identity *identity,
                    struct err *err)
{
    uint8_t page[TREE_PAGE_SIZE];
    struct tree_file *f;
    uint32_t n_buckets;
    struct stat st;

    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return err_set(err, ERR_REJECT, "it is no regular file");
    if (!lock_file(fd, err) ||
        !read_header(fd, (uint64_t)st.st_size, identity, page, &n_buckets, err))
        return false;
    f = file_new(fd, identity, n_buckets);
    *out = f;
    if (!tree_state_parse(page + TREE_STATE_AT, &f->view.shape, &f->state, err) ||
        !fit_size(f, (uint64_t)st.st_size, err))
        return false;
    if (!f->state.is_closed && !is_of_this_boot(&f->state))
        return err_set(err, ERR_REJECT, "the machine stopped while it was open");
    return map_file(f, err) && check_content(f, err) && mark_open(f, err);
}

bool tree_file_open(struct tree_file **out, const char *path,
                    const struct tree_identity *identity, struct err *err)
{
    const int fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    struct tree_file *f = NULL;

    if (fd < 0 && errno == ENOENT)
        return err_set(err, ERR_REJECT, "it does not exist");
    if (fd < 0)
        return refused("cannot open it", err);
    if (open_fd(&f, fd, identity, err)) {
        *out = f;
        return true;
    }
    if (f != NULL)
        tree_file_unref(f);
    else
        close(fd);
    return false;
}

bool tree_file_settle(struct tree_file *f, struct err *err)
{
    struct tree_change change = {.len = 0};
    struct tree_state state = f->state;

    if (msync(f->map, size_of(state.n_pages), MS_SYNC) != 0)
        return refused("cannot write it", err);
    state.is_closed = true;
    state.sums_check =
        XXH3_64bits(f->map + tree_sum_at(0), (size_t)8 * f->view.shape.n_buckets);
    tree_file_commit_state(f, &change, &state);
    return msync(f->map, TREE_PAGE_SIZE, MS_SYNC) == 0 || refused("cannot write it", err);
}

/* ---- in use ---- */

bool tree_file_check(struct tree_file *f, uint32_t bucket, struct err *err)
{
    const uint8_t bit = (uint8_t)(1u << bucket % 8);

    if ((f->is_checked[bucket / 8] & bit) != 0)
        return true;

    const struct tree_bucket b = {.number = bucket, .sum = tree_file_sum(f, bucket)};

    if (!tree_bucket_read(&f->view, &b, &f->scratch, err))
        return false;
    f->is_checked[bucket / 8] |= bit;
    return true;
}

bool tree_file_make_room(struct tree_file *f, struct err *err)
{
    const uint32_t more = spare_pages(f->view.shape.n_buckets);
    const uint64_t old = size_of(f->state.n_pages), new = old + size_of(more);
    struct tree_change change = {.len = 0};
    struct tree_state state = f->state;
    void *map;

    if (state.n_used < state.n_pages)
        return true;
    if (state.n_pages > UINT32_MAX - more)
        return err_set(err, ERR_RETRY, "it has the most pages that a tree may have");
    errno = posix_fallocate(f->view.fd, (off_t)old, (off_t)(new - old));
    if (errno != 0) {
        no_room(err);
        (void)!ftruncate(f->view.fd, (off_t)old);
        return false;
    }
    map = mremap(f->map, old, new, MREMAP_MAYMOVE);
    if (map == MAP_FAILED) {
        refused("cannot map it", err);
        (void)!ftruncate(f->view.fd, (off_t)old);
        return false;
    }
    f->map = map;
    state.n_pages += more;
    tree_file_commit_state(f, &change, &state);
    return true;
}

#include "config.h"

#include "rebalance/trees/tree_file.h"

#include "src/base/mem.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
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
    f->sums = mem_alloc(n_buckets, sizeof(*f->sums));
    return f;
}

void tree_file_unref(struct tree_file *f)
{
    if (f == NULL || --f->refs > 0)
        return;
    assert(f->snapshot == NULL);
    close(f->view.fd);
    free(f->sums);
    buf_free(&f->pages);
    buf_free(&f->dirty);
    free(f);
}

static bool lock_file(int fd, struct err *err)
{
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        return true;
    return err_set_code(err, ERR_RETRY, "errno", errno, "another one uses it");
}

static bool write_at(int fd, const void *bytes, size_t len, uint64_t at, struct err *err)
{
    while (len > 0) {
        const ssize_t n = pwrite(fd, bytes, len, (off_t)at);

        if (n < 0 && errno != EINTR)
            return refused("cannot write it", err);
        if (n > 0) {
            bytes = (const uint8_t *)bytes + n;
            at += (uint64_t)n;
            len -= (size_t)n;
        }
    }
    return true;
}

bool tree_file_write_page(struct tree_file *f, uint32_t number, const uint8_t *page,
                          struct err *err)
{
    return write_at(f->view.fd, page, TREE_PAGE_SIZE, size_of(number), err);
}

/* Keeps the state, once it is written. */
static bool write_state(struct tree_file *f, const struct tree_state *state, struct err *err)
{
    uint8_t bytes[TREE_STATE_SIZE];

    tree_state_format(bytes, state);
    if (!write_at(f->view.fd, bytes, sizeof(bytes), TREE_STATE_AT, err))
        return false;
    f->state = *state;
    return true;
}

static bool sync_file(const struct tree_file *f, struct err *err)
{
    return fdatasync(f->view.fd) == 0 || refused("cannot write it", err);
}

/* Bytes that all sums take in the file. */
static size_t sums_len(const struct tree_file *f)
{
    return (size_t)8 * f->view.shape.n_buckets;
}

/* ---- create ---- */

/* Every bucket has a first page with its head. */
static bool write_empty_pages(struct tree_file *f, struct err *err)
{
    const struct tree_shape *shape = &f->view.shape;
    uint8_t page[TREE_PAGE_SIZE] = {0};
    bool ok = true;

    for (uint32_t b = 0; ok && b < shape->n_buckets; b++) {
        const struct tree_page_head head = {.page = shape->first_bucket + b, .bucket = b};

        tree_page_format_head(page, &head, 0);
        ok = tree_file_write_page(f, head.page, page, err);
    }
    return ok;
}

static bool write_empty(struct tree_file *f, const struct tree_identity *identity,
                        struct err *err)
{
    uint8_t bytes[TREE_STATE_AT] = {0};

    errno = posix_fallocate(f->view.fd, 0, (off_t)size_of(f->state.n_pages));
    if (errno != 0)
        return no_room(err);
    tree_identity_format(bytes, identity, f->view.shape.n_buckets);
    return write_at(f->view.fd, bytes, sizeof(bytes), 0, err) &&
           write_state(f, &f->state, err) && write_empty_pages(f, err);
}

bool tree_file_create(struct tree_file **out, const char *path,
                      const struct tree_identity *identity, uint32_t n_buckets, struct err *err)
{
    const int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    struct tree_file *f;

    if (fd < 0)
        return refused("cannot make it", err);
    f = file_new(fd, identity, n_buckets);
    f->view.n_used = f->state.n_used = f->view.shape.first_more;
    f->state.n_pages = f->state.n_used + spare_pages(n_buckets);
    read_boot(f->state.boot);
    if (!lock_file(fd, err) || !write_empty(f, identity, err)) {
        unlink(path);
        tree_file_unref(f);
        return false;
    }
    *out = f;
    return true;
}

/* ---- open ---- */

/* Reads the first page, and finds whose file it is. */
static bool read_header(int fd, uint64_t size, const struct tree_identity *identity,
                        uint8_t *page, uint32_t *n_buckets, struct err *err)
{
    return tree_read_at(fd, page, TREE_PAGE_SIZE, 0, err) &&
           tree_identity_check(page, identity, n_buckets, err) &&
           (size >= size_of(tree_shape_of(*n_buckets).first_more) ||
            err_set(err, ERR_REJECT, "it is too short"));
}

static bool is_of_this_boot(const struct tree_state *state)
{
    char boot[TREE_BOOT_SIZE];

    return read_boot(boot) && memcmp(boot, state->boot, TREE_BOOT_SIZE) == 0;
}

static bool read_closed(struct tree_file *f, uint64_t size, struct err *err)
{
    const size_t len = sums_len(f);
    uint8_t *sums = mem_alloc(len, 1);
    bool ok = true;

    if (size != size_of(f->state.n_pages))
        ok = err_set(err, ERR_REJECT,
                     size < size_of(f->state.n_pages) ? "it is too short" : "it is too long");
    ok = ok && tree_read_at(f->view.fd, sums, len, tree_sum_at(0), err);
    if (ok && XXH3_64bits(sums, len) != f->state.sums_check)
        ok = err_set(err, ERR_REJECT, "its sums are damaged");
    for (uint32_t i = 0; ok && i < f->view.shape.n_buckets; i++)
        f->sums[i] = load_le64(sums + (size_t)8 * i);
    f->view.n_used = f->state.n_used;
    free(sums);
    return ok;
}

/* Counts the entries of a bucket that was read, and finds the last page that it uses. */
static void take_in(struct tree_file *f)
{
    for (size_t at = 0; at < f->pages.len; at += TREE_PAGE_SIZE) {
        const uint8_t *page = (const uint8_t *)f->pages.ptr + at;

        f->state.count += tree_page_n(page);
        if (tree_page_next(page) >= f->state.n_used)
            f->state.n_used = tree_page_next(page) + 1;
    }
}

/* Learns from the pages what the header of a file has that was not closed. */
static bool read_all(struct tree_file *f, uint64_t size, struct err *err)
{
    if (!is_of_this_boot(&f->state))
        return err_set(err, ERR_REJECT, "the machine stopped while it was open");
    if (size < size_of(f->state.n_pages))
        return err_set(err, ERR_REJECT, "it is too short");
    if (size / TREE_PAGE_SIZE > UINT32_MAX)
        return err_set(err, ERR_REJECT, "it is too long");
    f->state.count = 0;
    f->state.n_used = f->view.shape.first_more;
    f->state.n_pages = f->view.n_used = (uint32_t)(size / TREE_PAGE_SIZE);
    for (uint32_t i = 0; i < f->view.shape.n_buckets; i++) {
        if (!tree_bucket_sum(&f->view, &(struct tree_bucket){.number = i}, &f->pages,
                             &f->sums[i], err))
            return false;
        take_in(f);
    }
    f->view.n_used = f->state.n_used;
    /* A kill while the file was extended may leave a part of a page. */
    return ftruncate(f->view.fd, (off_t)size_of(f->state.n_pages)) == 0 ||
           refused("cannot cut it", err);
}

/* On disk before any change, as a power cut must not leave a changed file that says "closed".
 */
static bool mark_open(struct tree_file *f, struct err *err)
{
    struct tree_state state = f->state;

    state.is_closed = false;
    read_boot(state.boot);
    return write_state(f, &state, err) && sync_file(f, err);
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
    if (!tree_state_parse(page + TREE_STATE_AT, &f->view.shape, &f->state, err))
        return false;
    return (f->state.is_closed ? read_closed(f, (uint64_t)st.st_size, err)
                               : read_all(f, (uint64_t)st.st_size, err)) &&
           mark_open(f, err);
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
    const size_t len = sums_len(f);
    uint8_t *sums = mem_alloc(len, 1);
    struct tree_state state = f->state;
    bool ok;

    for (uint32_t i = 0; i < f->view.shape.n_buckets; i++)
        store_le64(sums + (size_t)8 * i, f->sums[i]);
    state.is_closed = true;
    state.sums_check = XXH3_64bits(sums, len);
    ok = write_at(f->view.fd, sums, len, tree_sum_at(0), err) && sync_file(f, err) &&
         write_state(f, &state, err) && sync_file(f, err);
    free(sums);
    return ok;
}

/* ---- in use ---- */

bool tree_file_read(struct tree_file *f, uint32_t bucket, struct err *err)
{
    const struct tree_bucket b = {.number = bucket, .sum = f->sums[bucket]};

    return tree_bucket_read(&f->view, &b, &f->pages, err);
}

bool tree_file_make_room(struct tree_file *f, uint32_t n_used, struct err *err)
{
    const uint32_t more = spare_pages(f->view.shape.n_buckets);
    const uint64_t old = size_of(f->state.n_pages);

    if (n_used < f->state.n_pages)
        return true;
    if (f->state.n_pages > UINT32_MAX - more)
        return err_set(err, ERR_RETRY, "it has the most pages that a tree may have");
    errno = posix_fallocate(f->view.fd, (off_t)old, (off_t)size_of(more));
    if (errno != 0) {
        no_room(err);
        (void)!ftruncate(f->view.fd, (off_t)old);
        return false;
    }
    f->state.n_pages += more;
    return true;
}

bool tree_file_set_note(struct tree_file *f, struct tree_note note, struct err *err)
{
    struct tree_state state = f->state;

    state.note = note;
    return write_state(f, &state, err);
}

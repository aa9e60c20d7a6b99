/*
 * Trees for tests: a folder in memory, ids of every form, and the bytes of a file.
 */
#ifndef TESTS_UNIT_TREE_FIXTURE_H
#define TESTS_UNIT_TREE_FIXTURE_H

#include "tests/unit/unit.h"

#include "rebalance/trees/tree.h"
#include "src/base/buf.h"
#include "src/base/err.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char tree_folder[64];

static const struct tree_identity tree_source = {TREE_SOURCE, STR("shop_orders"), 3, 77};
static const struct tree_identity tree_index = {TREE_INDEX, STR("shop_orders"), 3, 77};

/* In memory where there is such a file system, as each open waits for the disk. */
static inline int tree_folder_make(void **state)
{
    (void)state;
    snprintf(tree_folder, sizeof(tree_folder), "%s/test_tree_XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    return mkdtemp(tree_folder) == NULL;
}

static inline size_t tree_folder_files(void)
{
    DIR *dir = opendir(tree_folder);
    size_t n = 0;

    assert_non_null(dir);
    for (struct dirent *e; (e = readdir(dir)) != NULL;)
        n += e->d_name[0] != '.';
    closedir(dir);
    return n;
}

static inline int tree_folder_remove(void **state)
{
    DIR *dir = opendir(tree_folder);

    (void)state;
    for (struct dirent *e; dir != NULL && (e = readdir(dir)) != NULL;)
        (void)unlinkat(dirfd(dir), e->d_name, 0);
    if (dir != NULL)
        closedir(dir);
    return rmdir(tree_folder);
}

/* Valid until its second next call. */
static inline const char *tree_path(const char *name)
{
    static char paths[2][128];
    static unsigned turn;
    char *path = paths[turn++ % 2];

    snprintf(path, sizeof(paths[0]), "%s/%s", tree_folder, name);
    return path;
}

/* The id number k, of a form that k chooses; no two are equal. */
static inline struct str tree_text(uint64_t k)
{
    static char text[64];
    const unsigned long long n = k;
    int len = 0;

    switch (k % 7) {
    case 0: len = snprintf(text, sizeof(text), "%llu", n); break;
    case 1: len = snprintf(text, sizeof(text), "order:%llu", n); break;
    case 2: len = snprintf(text, sizeof(text), "%08llx-0000-4000-8000-00000000abcd", n); break;
    case 3: len = snprintf(text, sizeof(text), "%032llX", n | 0xA000000000); break;
    case 4: len = snprintf(text, sizeof(text), "%llu", 10000000000000000000ull + n); break;
    case 5: len = snprintf(text, sizeof(text), "a longer name of the number %llu", n); break;
    case 6: len = snprintf(text, sizeof(text), "-%llu", 1000000000000000000ull + n); break;
    }
    return (struct str){text, (size_t)len};
}

static inline uint64_t tree_value(uint64_t k)
{
    return 1 + k * 0x9e3779b97f4a7c15;
}

static inline struct tree *tree_make(const char *name, const struct tree_identity *identity,
                                     uint64_t n_expected)
{
    struct tree *t = NULL;
    struct err err = {0};

    if (!tree_create(&t, tree_path(name), identity, n_expected, &err))
        fail_msg("%s", err.msg);
    return t;
}

static inline struct tree *tree_reopen(const char *name, const struct tree_identity *identity)
{
    struct tree *t = NULL;
    struct err err = {0};

    if (!tree_open(&t, tree_path(name), identity, &err))
        fail_msg("%s", err.msg);
    return t;
}

/* Closes it as a kill would, or durably. */
static inline void tree_end(struct tree *t, bool durable)
{
    struct err err = {0};

    if (!tree_close(t, durable, &err))
        fail_msg("%s", err.msg);
}

static inline bool tree_put(struct tree *t, struct str id, uint64_t hash, struct err *err)
{
    return tree_change(t, &(struct tree_entry){.id = id, .hash = hash}, 1, err);
}

static inline bool tree_remove(struct tree *t, struct str id, struct err *err)
{
    return tree_change(t, &(struct tree_entry){.id = id, .is_gone = true}, 1, err);
}

static inline void tree_must_put(struct tree *t, uint64_t k, uint64_t hash)
{
    struct err err = {0};

    if (!tree_put(t, tree_text(k), hash, &err))
        fail_msg("%s", err.msg);
}

static inline void tree_must_note(struct tree *t, uint64_t position, int64_t built_ms)
{
    struct err err = {0};

    assert_true(tree_set_note(t, (struct tree_note){position, built_ms}, &err));
}

static inline void tree_must_remove(struct tree *t, uint64_t k)
{
    struct err err = {0};

    if (!tree_remove(t, tree_text(k), &err))
        fail_msg("%s", err.msg);
}

/* Returns its hash; 0 if it is not there. */
static inline uint64_t tree_must_find(struct tree *t, uint64_t k)
{
    struct err err = {0};
    uint64_t hash = 0;
    bool found;

    if (!tree_find(t, tree_text(k), &found, &hash, &err))
        fail_msg("%s", err.msg);
    return found ? hash : 0;
}

/* Reads a file whole, of any size. */
static inline void tree_file_bytes(const char *name, struct buf *out)
{
    const int fd = open(tree_path(name), O_RDONLY | O_CLOEXEC);
    struct stat st;

    assert_true(fd >= 0 && fstat(fd, &st) == 0);
    buf_clear(out);
    buf_reserve(out, (size_t)st.st_size);
    out->len = (size_t)st.st_size;
    assert_int_equal(pread(fd, out->ptr, out->len, 0), out->len);
    close(fd);
}

static inline void tree_file_write(const char *name, struct str bytes)
{
    const int fd = open(tree_path(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, bytes.ptr, bytes.len, 0), bytes.len);
    close(fd);
}

#endif

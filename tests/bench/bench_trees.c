/*
 * Two anti-entropy trees, built as files, closed, dropped from memory and compared cold: equal,
 * and with some entries that differ; and the puts a second of random ids that are there. Beside
 * them stand limits of the same machine: reading both files, and reading and writing pages at
 * random places of one.
 *
 *     bench_trees [--entries N] [--differing N] [--ids numbers|uuids|names] FOLDER
 *
 * FOLDER needs room for 64 bytes an entry, and half as much again while a tree grows.
 */
#include "config.h"

#include "rebalance/trees/tree.h"
#include "rebalance/trees/tree_compare.h"
#include "src/base/buf.h"
#include "src/base/clock.h"
#include "src/base/mem.h"
#include "src/base/random.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static uint64_t n_entries = 10000000, n_differing = 1000;
static const char *ids = "numbers", *folder;
static char paths[2][512];
static const struct tree_identity identities[2] = {{TREE_SOURCE, STR("bench"), 1, 1},
                                                   {TREE_INDEX, STR("bench"), 1, 1}};

NORETURN static void die(const char *why)
{
    fprintf(stderr, "%s\n", why);
    exit(1);
}

static double seconds_since(int64_t start)
{
    return (double)(clock_mono_ns() - start) / 1e9;
}

/* This process's own processor time: others may keep the machine busy. */
static double processor_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static uint64_t mixed(uint64_t k)
{
    k = (k ^ k >> 31) * UINT64_C(0x9e3779b97f4a7c15);
    return (k ^ k >> 29) * UINT64_C(0xd6e8feb86659fd93) | 1; /* never TREE_READ_AGAIN */
}

static struct str id_of(uint64_t k)
{
    static char text[64];
    int len;

    if (strcmp(ids, "uuids") == 0)
        len = snprintf(text, sizeof(text), "%08" PRIx64 "-0000-4000-8000-%012" PRIx64,
                       mixed(k) >> 32, k);
    else if (strcmp(ids, "names") == 0)
        len = snprintf(text, sizeof(text), "customer/%" PRIu64 "/order", k);
    else
        len = snprintf(text, sizeof(text), "%" PRIu64, k);
    return (struct str){text, (size_t)len};
}

static struct tree *open_side(int side)
{
    struct tree *t = NULL;
    struct err err = {0};

    if (!tree_open(&t, paths[side], &identities[side], &err))
        die(err.msg);
    return t;
}

static void close_side(struct tree *t)
{
    struct err err = {0};

    if (!tree_close(t, true, &err))
        die(err.msg);
}

/* Entries that wait for many more, as delivery's do (rebalance/trees/trees.c). */
#define GATHERED 10000
static struct tree_entry gathered[GATHERED];
static char texts[GATHERED][64];
static size_t n_gathered;

static void put_gathered(struct tree *t)
{
    struct err err = {0};

    if (!tree_change(t, gathered, n_gathered, &err))
        die(err.msg);
    n_gathered = 0;
}

static void put(struct tree *t, uint64_t k, uint64_t hash)
{
    const struct str id = id_of(k);

    memcpy(texts[n_gathered], id.ptr, id.len);
    gathered[n_gathered] = (struct tree_entry){{texts[n_gathered], id.len}, hash, false};
    if (++n_gathered == GATHERED)
        put_gathered(t);
}

static void build(int side)
{
    struct tree *t = NULL;
    struct err err = {0};
    struct stat st;
    const int64_t start = clock_mono_ns();

    if (!tree_create(&t, paths[side], &identities[side], n_entries, &err))
        die(err.msg);
    for (uint64_t k = 0; k < n_entries; k++)
        put(t, k, mixed(k));
    put_gathered(t);

    const double built = seconds_since(start);

    close_side(t);
    if (stat(paths[side], &st) != 0)
        die("stat");
    printf("built in %.1f s, %.1f s with the disk; %.2f bytes a document (goal: 32)\n", built,
           seconds_since(start), (double)st.st_blocks * 512 / (double)n_entries);
}

/* Drops both files from the page cache; they are on disk. */
static void drop(void)
{
    for (int side = 0; side < 2; side++) {
        const int fd = open(paths[side], O_RDONLY | O_CLOEXEC);

        if (fd < 0 || fdatasync(fd) != 0 || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) != 0)
            die("cannot drop a file");
        close(fd);
    }
}

/* Seconds to read both files through, cold. */
static double read_both(void)
{
    static char part[1 << 20];
    int64_t start;

    drop();
    start = clock_mono_ns();
    for (int side = 0; side < 2; side++) {
        const int fd = open(paths[side], O_RDONLY | O_CLOEXEC);

        while (fd >= 0 && read(fd, part, sizeof(part)) > 0)
            ;
        close(fd);
    }
    return seconds_since(start);
}

struct found {
    struct tree_id *expected; /* sorted */
    uint64_t n, n_wrong;
};

static int order_of_ids(const void *a, const void *b)
{
    return tree_id_order(a, b);
}

static bool on_difference(void *ctx, enum tree_difference what, const struct tree_id *id,
                          struct err *err)
{
    struct found *found = ctx;

    (void)what;
    (void)err;
    found->n++;
    found->n_wrong +=
        bsearch(id, found->expected, n_differing, sizeof(*id), order_of_ids) == NULL;
    return true;
}

/* Opens both sides cold, compares them and prints the time; n: how many differ. */
static void compare(const char *what, struct found *found, uint64_t n, double limit)
{
    struct tree *trees[2];
    struct tree_snapshot *snapshots[2];
    struct err err = {0};
    double opened, taken, compared;
    int64_t start;

    found->n = found->n_wrong = 0;
    drop();
    start = clock_mono_ns();
    for (int side = 0; side < 2; side++)
        trees[side] = open_side(side);
    opened = seconds_since(start);
    for (int side = 0; side < 2; side++)
        if (!tree_snapshot_take(trees[side], &snapshots[side], &err))
            die(err.msg);
    taken = seconds_since(start);
    if (!tree_compare(snapshots[0], snapshots[1], on_difference, found, &err))
        die(err.msg);
    compared = seconds_since(start);
    printf("%s: %.3f s cold, %.1f %% of reading both files (open %.3f, snapshots %.3f, compare "
           "%.3f); %" PRIu64 " named\n",
           what, compared, 100 * compared / limit, opened, taken - opened, compared - taken,
           found->n);
    if (found->n != n || found->n_wrong != 0)
        die("not exactly the documents that differ were named");
    for (int side = 0; side < 2; side++) {
        tree_snapshot_close(trees[side], snapshots[side]);
        close_side(trees[side]);
    }
}

/* Replaces, removes and adds in turn. */
static void differ(struct found *found)
{
    struct tree *t = open_side(1);
    struct err err = {0};
    struct random r;

    random_init(&r, 1);
    found->expected = mem_alloc(n_differing, sizeof(*found->expected));
    for (uint64_t i = 0; i < n_differing; i++) {
        /* One of each stretch, so that no document is chosen twice. */
        const uint64_t stretch = n_entries / n_differing;
        const uint64_t k = i * stretch + random_below(&r, stretch);

        if (i % 3 == 0)
            put(t, k, mixed(k) + 1);
        else if (i % 3 == 1 &&
                 !tree_change(t, &(struct tree_entry){id_of(k), 0, true}, 1, &err))
            die(err.msg);
        else if (i % 3 == 2)
            put(t, n_entries + k, 1);
        tree_id_pack(&found->expected[i], id_of(i % 3 == 2 ? n_entries + k : k));
    }
    put_gathered(t);
    close_side(t);
    qsort(found->expected, n_differing, sizeof(*found->expected), order_of_ids);
}

/* How many pages a second are read and written, each with one call, at random places. */
static double pages_a_second(void)
{
    const int fd = open(paths[1], O_RDWR | O_CLOEXEC);
    const uint64_t n = 300000;
    static char page[4096];
    struct stat st;
    struct random r;
    int64_t start;

    if (fd < 0 || fstat(fd, &st) != 0)
        die("cannot open a file");
    random_init(&r, 2);
    start = clock_mono_ns();
    for (uint64_t i = 0; i < n; i++) {
        const off_t at = (off_t)random_below(&r, (uint64_t)st.st_size / 4096) * 4096;

        if (pread(fd, page, sizeof(page), at) != sizeof(page) ||
            pwrite(fd, page, sizeof(page), at) != sizeof(page))
            die("cannot read or write a page");
    }
    close(fd);
    return (double)n / seconds_since(start);
}

/* Seconds that n calls took: of the clock, and of the processor. */
struct taken {
    double wall, processor;
};

static struct taken put_random(struct tree *t, uint64_t n, uint64_t seed)
{
    const double processor = processor_seconds();
    const int64_t start = clock_mono_ns();
    struct random r;

    random_init(&r, seed);
    for (uint64_t i = 0; i < n; i++)
        put(t, random_below(&r, n_entries), i + 1);
    put_gathered(t);
    return (struct taken){seconds_since(start), processor_seconds() - processor};
}

/* What of it is the making of the ids' text. */
static struct taken make_random_ids(uint64_t n, uint64_t seed)
{
    const double processor = processor_seconds();
    const int64_t start = clock_mono_ns();
    struct random r;
    size_t len = 0;

    random_init(&r, seed);
    for (uint64_t i = 0; i < n; i++)
        len += id_of(random_below(&r, n_entries)).len;
    if (len == 0)
        die("no ids");
    return (struct taken){seconds_since(start), processor_seconds() - processor};
}

static void measure_put(const char *when, struct tree *t, uint64_t n, uint64_t seed)
{
    const struct taken puts = put_random(t, n, seed), made = make_random_ids(n, seed);

    printf("puts of random ids, %s: %.0f a second, %.0f a second of its own processor "
           "time\n",
           when, (double)n / (puts.wall - made.wall),
           (double)n / (puts.processor - made.processor));
}

static void measure_puts(void)
{
    const uint64_t n = n_entries < 3000000 ? n_entries : 3000000;
    struct tree *t = open_side(1);
    struct tree_snapshot *s;
    struct err err = {0};

    measure_put("at first", t, n, 4);
    for (uint64_t i = 0; i < 3; i++)
        measure_put("later", t, n, 5 + i);
    if (!tree_snapshot_take(t, &s, &err))
        die(err.msg);
    measure_put("while a snapshot is open", t, n, 9);
    tree_snapshot_close(t, s);
    close_side(t);
    printf("limit: %.0f pages a second read and written at random places of the file\n",
           pages_a_second());
}

/* As if one side had grown and the other not yet. */
static void grow_source(void)
{
    struct tree *t = open_side(0);
    struct err err = {0};
    const double processor = processor_seconds();
    const int64_t start = clock_mono_ns();

    if (!tree_resize(t, tree_n_buckets(t) / 4 * 5, &err))
        die(err.msg);
    printf("one written into a file with 1.25 times the buckets in %.1f s, %.1f s of its own "
           "processor time\n",
           seconds_since(start), processor_seconds() - processor);
    close_side(t);
}

/* After a kill: all is read. */
static void measure_kill(void)
{
    struct tree *t = open_side(1);
    struct err err = {0};
    int64_t start;

    put(t, 1, 1);
    put(t, 1, mixed(1));
    if (!tree_close(t, false, &err))
        die(err.msg);
    drop();
    start = clock_mono_ns();
    t = open_side(1);
    printf("opened after a kill in %.2f s, cold\n", seconds_since(start));
    close_side(t);
}

static void parse_args(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--entries") == 0 && i + 1 < argc)
            n_entries = strtoull(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--differing") == 0 && i + 1 < argc)
            n_differing = strtoull(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--ids") == 0 && i + 1 < argc)
            ids = argv[++i];
        else
            folder = argv[i];
    }
    if (folder == NULL || n_differing == 0 || n_entries < n_differing)
        die("usage: bench_trees [--entries N] [--differing N] [--ids KIND] FOLDER");
    for (int side = 0; side < 2; side++)
        snprintf(paths[side], sizeof(paths[side]), "%s/bench_trees.%d", folder, side);
}

int main(int argc, char **argv)
{
    struct found found = {0};
    double limit;

    parse_args(argc, argv);
    printf("%" PRIu64 " entries, %s\n", n_entries, ids);
    build(0);
    build(1);
    limit = read_both();
    printf("limit: %.3f s to read both files\n", limit);
    found.expected = mem_alloc(n_differing, sizeof(*found.expected));
    compare("two equal trees", &found, 0, limit);
    free(found.expected);
    differ(&found);
    compare("some differ", &found, n_differing, limit);
    measure_kill();
    grow_source();
    compare("with other numbers of buckets", &found, n_differing, limit);
    measure_puts();
    free(found.expected);
    for (int side = 0; side < 2; side++)
        unlink(paths[side]);
    return 0;
}

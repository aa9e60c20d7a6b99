/*
 * How fast a binlog file is decoded, every cell into a value; beside it the
 * limit, which is reading and checksumming the same bytes.
 *
 *     bench_decode [--repeat N] [--json] [--table DATABASE.TABLE] FILE...
 *
 * --json prints the rows instead, as `millrace binlog decode` does.  --table leaves out every
 * other table; one that is not in the log shows what passing over rows costs.
 */
#include "config.h"

#include "src/base/bytes.h"
#include "src/base/clock.h"
#include "sync/decode/checksum.h"
#include "sync/inspect/decode.h"
#include "sync/source/transport/transport.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EVENT_MAX ((size_t)1 << 30)

/* --table */
static struct str only_table;

static bool print(void *ctx, struct str bytes, struct err *err)
{
    (void)ctx;
    (void)err;
    return fwrite(bytes.ptr, 1, bytes.len, stdout) == bytes.len;
}

static struct transport *open_file(const char *path)
{
    struct transport *t = NULL;
    struct err err = {0};

    if (!transport_open_file(&t, path, 4, EVENT_MAX, &err)) {
        fprintf(stderr, "%s\n", err.msg);
        exit(1);
    }
    return t;
}

/* Seconds for reading and checksumming. */
static double limit(const char *path)
{
    struct transport *t = open_file(path);
    struct err err = {0};
    struct str event;
    uint64_t wrong = 0;
    const int64_t start = clock_mono_ns();

    while (transport_next(t, &event, &err) == 1) {
        const uint8_t *p = (const uint8_t *)event.ptr;

        wrong += checksum_crc32(0, p, event.len - 4) != load_le32(p + event.len - 4);
    }
    transport_close(t);

    const double seconds = (double)(clock_mono_ns() - start) / 1e9;

    if (wrong > 1) /* the first event may be marked as in use */
        fprintf(stderr, "%s: %llu events without a right checksum\n", path,
                (unsigned long long)wrong);
    return seconds;
}

static double decode(const char *path, bool json, struct decode_counts *counts)
{
    const char *slash = strrchr(path, '/');
    const struct decode_options opt = {
        .no_output = !json,
        .excerpt = {.file = str_from(slash != NULL ? slash + 1 : path),
                    .filter = {.tables = &only_table, .n_tables = only_table.len > 0}},
        .write = print,
    };
    struct transport *t = open_file(path);
    struct err err = {0};
    const int64_t start = clock_mono_ns();
    const bool ok = decode_run(t, &opt, counts, &err);
    const double seconds = (double)(clock_mono_ns() - start) / 1e9;

    transport_close(t);
    if (!ok) {
        fflush(stdout);
        fprintf(stderr, "%s\n", err.msg);
        exit(1);
    }
    return seconds;
}

static void measure(const char *path, int repeat)
{
    struct decode_counts counts = {0};
    double best = 1e9, best_limit = 1e9;
    char text[160];

    for (int i = 0; i < repeat; i++) {
        const double l = limit(path), s = decode(path, false, &counts);

        best_limit = l < best_limit ? l : best_limit;
        best = s < best ? s : best;
    }
    decode_counts_format(&counts, text);
    fputs(text, stdout);

    const double rows = (double)(counts.inserts + counts.updates + counts.deletes);
    const double mb = (double)counts.bytes / 1e6;

    printf("%s: %.3f s, %.0f row changes/s, %.0f cells/s, %.0f MB/s; limit %.0f MB/s, share "
           "%.0f %%\n",
           path, best, rows / best, (double)counts.rows.cells / best, mb / best,
           mb / best_limit, 100 * best_limit / best);
}

int main(int argc, char **argv)
{
    bool json = false;
    int repeat = 3;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            json = true;
        } else if (strcmp(argv[i], "--table") == 0 && i + 1 < argc) {
            only_table = str_from(argv[++i]);
        } else if (strcmp(argv[i], "--repeat") == 0 && i + 1 < argc) {
            repeat = (int)strtol(argv[++i], NULL, 10);
        } else if (json) {
            struct decode_counts counts;

            decode(argv[i], true, &counts);
        } else {
            measure(argv[i], repeat);
        }
    }
    return 0;
}

/*
 * A binlog file as it lies on disk, through both commands.  The first byte chooses what is
 * asked of it; checksums are as the file has them, so its mutants mostly carry none.
 */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "src/base/buf.h"
#include "src/format/json.h"
#include "sync/inspect/decode.h"
#include "sync/inspect/inspect.h"
#include "sync/source/transport/transport.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { EVENTS = 1, FILTERED = 2, MIDDLE = 4 };

#define EVENT_MAX (1 << 20)

/* Each line is valid JSON. */
static bool check_lines(void *ctx, struct str bytes, struct err *err)
{
    (void)ctx;
    while (bytes.len > 0) {
        const char *end = memchr(bytes.ptr, '\n', bytes.len);
        struct str line = {bytes.ptr, (size_t)(end - bytes.ptr)};

        assert(end != NULL);
        if (line.len < 4096)
            assert(json_valid(line, err));
        bytes.ptr += line.len + 1;
        bytes.len -= line.len + 1;
    }
    return true;
}

static void decode(const char *path, uint8_t mode, const struct log_excerpt *excerpt)
{
    const struct decode_options opt = {
        .events = (mode & EVENTS) != 0, .excerpt = *excerpt, .write = check_lines};
    struct decode_counts counts;
    struct transport *t;
    struct err err = {0};

    if (!transport_open_file(&t, path, (mode & MIDDLE) != 0 ? 200 : 4, EVENT_MAX, &err))
        return;
    assert(decode_run(t, &opt, &counts, &err) || err.kind != ERR_NONE);
    transport_close(t);
}

static void inspect(const char *path, const struct log_excerpt *excerpt)
{
    struct buf text = {0};
    struct json_writer w = {.out = &text};
    struct transport *t;
    struct err err = {0};

    if (!transport_open_file(&t, path, 4, EVENT_MAX, &err))
        return;
    json_open_array(&w);
    assert(inspect_run(t, excerpt, &w, &err) || err.kind != ERR_NONE);
    json_close_array(&w);
    assert(json_valid(buf_str(&text), &err));
    buf_free(&text);
    transport_close(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    static const struct str tables[] = {STR("test.t")};
    const uint8_t mode = len > 0 ? bytes[0] : 0;
    const int fd = memfd_create("log", MFD_CLOEXEC);
    struct log_excerpt excerpt = {.file = STR("bin.000001"), .event_max = EVENT_MAX};
    char path[64];

    assert(fd >= 0 && (len < 2 || write(fd, bytes + 1, len - 1) == (ssize_t)len - 1));
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    if ((mode & FILTERED) != 0) {
        excerpt.filter.tables = tables;
        excerpt.filter.n_tables = 1;
        excerpt.filter.to_time = 2000000000;
    }
    if ((mode & MIDDLE) != 0)
        excerpt.start.offset = 200;
    decode(path, mode, &excerpt);
    excerpt.start.offset = 0;
    inspect(path, &excerpt);
    close(fd);
    return 0;
}

#include "config.h"

#include "sync/decode/unpack.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/cursor.h"
#include "src/base/mem.h"

#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

/* zlib's windowBits: a zlib header, or raw deflate. */
enum { WINDOW_ZLIB = MAX_WBITS, WINDOW_RAW = -MAX_WBITS };

/* Deflate cannot compress better: a larger length is damage and not worth an allocation. */
#define RATIO_MAX 1032u

/* Release memory above this. */
#define KEEP_MAX ((size_t)4 << 20)

struct unpacker {
    z_stream stream;
    bool ready;
    struct buf event;
};

struct unpacker *unpacker_new(void)
{
    return mem_alloc(1, sizeof(struct unpacker));
}

void unpacker_free(struct unpacker *u)
{
    if (u == NULL)
        return;
    if (u->ready)
        inflateEnd(&u->stream);
    buf_free(&u->event);
    free(u);
}

static bool is_plausible(size_t packed, size_t len, size_t max)
{
    return len <= max && len <= UINT_MAX && packed <= UINT_MAX &&
           len / RATIO_MAX <= packed + 64;
}

/* Decompress exactly len bytes of in into out. */
static bool inflate_exactly(struct unpacker *u, int window, struct str in, char *out,
                            size_t len)
{
    z_stream *z = &u->stream;

    if (!u->ready)
        u->ready = inflateInit2(z, window) == Z_OK;
    else if (inflateReset2(z, window) != Z_OK)
        return false;
    if (!u->ready)
        return false;
    z->next_in = (z_const Bytef *)(uintptr_t)in.ptr;
    z->avail_in = (uInt)in.len;
    z->next_out = (Bytef *)out;
    z->avail_out = (uInt)len;

    const int rc = inflate(z, Z_FINISH);

    return rc == Z_STREAM_END && z->avail_out == 0;
}

/* sql/log_event.cc, binlog_buf_uncompress(): 0x80 | algorithm << 4 | bytes of the length. */
bool unpack_event(struct unpacker *u, struct str packed, size_t max, struct str *out,
                  struct err *err)
{
    struct cursor c = cursor_of(packed);
    const uint8_t head = cursor_u8(&c);
    const size_t len_len = head & 7u;
    const uint8_t *len_bytes = cursor_take(&c, len_len);

    if (c.failed || (head & 0x80u) == 0 || len_len == 0 || len_len > 4)
        return err_set(err, ERR_REJECT, "damaged compression header");
    if ((head & 0x70u) != 0)
        return err_set(err, ERR_REJECT, "unknown compression algorithm %u",
                       (head & 0x70u) >> 4);

    const size_t len = load_be(len_bytes, (unsigned)len_len);
    const struct str stream = cursor_rest(&c);

    if (!is_plausible(stream.len, len, max))
        return err_set(err, ERR_REJECT,
                       "%zu compressed bytes claim to unpack to %zu, but at "
                       "most %zu are allowed",
                       stream.len, len, max);
    if (u->event.cap > KEEP_MAX && len < KEEP_MAX)
        buf_free(&u->event);
    buf_clear(&u->event);
    buf_reserve(&u->event, len);
    if (!inflate_exactly(u, WINDOW_ZLIB, stream, u->event.ptr, len))
        return err_set(err, ERR_REJECT, "damaged compressed data");
    u->event.len = len;
    *out = buf_str(&u->event);
    return true;
}

/* sql/field_comp.cc: 0 and plain bytes, or 0x80 | 8 if raw deflate | bytes of the length. */
bool unpack_column(struct unpacker *u, struct str cell, size_t max, struct arena *a,
                   struct str *out)
{
    struct cursor c = cursor_of(cell);

    if (cell.len == 0) {
        *out = cell;
        return true;
    }

    const uint8_t head = cursor_u8(&c);

    if (head == 0) {
        *out = cursor_rest(&c);
        return true;
    }

    const size_t len_len = head & 7u;
    const uint8_t *len_bytes = cursor_take(&c, len_len);

    if (c.failed || (head & 0xf0u) != 0x80u || len_len == 0 || len_len > 4)
        return false;

    const size_t len = load_be(len_bytes, (unsigned)len_len);
    const struct str stream = cursor_rest(&c);

    if (!is_plausible(stream.len, len, max))
        return false;

    char *text = arena_bytes(a, len);

    if (!inflate_exactly(u, (head & 8u) != 0 ? WINDOW_RAW : WINDOW_ZLIB, stream, text, len))
        return false;
    *out = (struct str){text, len};
    return true;
}

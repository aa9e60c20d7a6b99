#include "config.h"

#include "sync/decode/payload.h"

#include "src/base/buf.h"
#include "src/base/cursor.h"
#include "src/base/mem.h"
#include "sync/decode/event.h"

#include <stdlib.h>
#include <zstd.h>

enum field { FIELD_END = 0, FIELD_SIZE, FIELD_COMPRESSION, FIELD_UNCOMPRESSED_SIZE };

enum compression { COMPRESSION_ZSTD = 0, COMPRESSION_NONE = 255 };

/* Bytes to decompress at a time. */
#define STEP ((size_t)256 * 1024)

/* Release a larger buffer after a payload. */
#define KEEP_MAX ((size_t)4 << 20)

/* The largest window that servers can be configured to use: 128 MiB. */
#define WINDOW_LOG_MAX 27

struct payload {
    size_t event_max;
    ZSTD_DStream *zstd; /* made on demand */
    bool packed;
    bool between_frames; /* so the data may end here */
    struct str in;       /* compressed bytes left, or plain ones */
    struct buf out;      /* decompressed; consumed up to `used` */
    size_t used;
    size_t rest; /* bytes of the last event still to be skipped */
};

struct payload *payload_new(size_t event_max)
{
    struct payload *p = mem_alloc(1, sizeof(*p));

    p->event_max = event_max;
    return p;
}

void payload_free(struct payload *p)
{
    if (p == NULL)
        return;
    ZSTD_freeDStream(p->zstd);
    buf_free(&p->out);
    free(p);
}

static bool damaged(struct err *err)
{
    return err_set(err, ERR_FATAL, "damaged Transaction_payload event");
}

/* Read type, length and value until type 0.  The sizes are only claims. */
static bool read_fields(struct cursor *c, uint64_t *compression)
{
    *compression = COMPRESSION_NONE;
    for (;;) {
        const uint64_t type = cursor_lenenc(c);

        if (type == FIELD_END || c->failed)
            return !c->failed;

        struct cursor value = cursor_of(cursor_str(c, cursor_lenenc(c)));

        if (type == FIELD_COMPRESSION)
            *compression = cursor_lenenc(&value);
        if (value.failed)
            return false;
    }
}

bool payload_open(struct payload *p, struct str body, struct err *err)
{
    struct cursor c = cursor_of(body);
    uint64_t compression;

    if (!read_fields(&c, &compression))
        return damaged(err);
    if (compression != COMPRESSION_ZSTD && compression != COMPRESSION_NONE)
        return err_set(err, ERR_FATAL, "Transaction_payload event: unknown compression %u",
                       (unsigned)compression);
    p->in = cursor_rest(&c);
    p->packed = compression == COMPRESSION_ZSTD;
    p->between_frames = true;
    p->used = p->rest = 0;
    if (p->out.cap > KEEP_MAX)
        buf_free(&p->out);
    buf_clear(&p->out);
    if (!p->packed)
        return true;
    if (p->zstd == NULL) {
        p->zstd = ZSTD_createDStream();
        if (p->zstd == NULL)
            return err_set(err, ERR_FATAL, "zstd: out of memory");
        ZSTD_DCtx_setParameter(p->zstd, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
    }
    ZSTD_DCtx_reset(p->zstd, ZSTD_reset_session_only);
    return true;
}

/* Decompress up to STEP more bytes. */
static bool inflate_more(struct payload *p, struct err *err)
{
    buf_drop(&p->out, p->used);
    p->used = 0;
    buf_reserve(&p->out, STEP);

    ZSTD_inBuffer in = {p->in.ptr, p->in.len, 0};
    ZSTD_outBuffer out = {p->out.ptr + p->out.len, STEP, 0};
    const size_t left = ZSTD_decompressStream(p->zstd, &out, &in);

    if (ZSTD_isError(left))
        return err_set(err, ERR_FATAL, "Transaction_payload event: zstd: %s",
                       ZSTD_getErrorName(left));
    /* No progress: the data ends inside a frame. */
    if (in.pos == 0 && out.pos == 0)
        return damaged(err);
    p->between_frames = left == 0;
    p->in = (struct str){p->in.ptr + in.pos, p->in.len - in.pos};
    p->out.len += out.pos;
    return true;
}

/* Make n bytes available.  Returns 1, 0 if nothing is left at all, -1 on error. */
static int need(struct payload *p, size_t n, struct err *err)
{
    while (p->packed && p->out.len - p->used < n && (p->in.len > 0 || !p->between_frames))
        if (!inflate_more(p, err))
            return -1;

    const size_t have = p->packed ? p->out.len - p->used : p->in.len;

    if (have >= n)
        return 1;
    if (have == 0)
        return 0;
    damaged(err);
    return -1;
}

static const char *here(const struct payload *p)
{
    return p->packed ? p->out.ptr + p->used : p->in.ptr;
}

static void use(struct payload *p, size_t n)
{
    if (p->packed)
        p->used += n;
    else
        p->in = (struct str){p->in.ptr + n, p->in.len - n};
}

static bool pass_rest(struct payload *p, struct err *err)
{
    while (p->rest > 0) {
        const size_t n = p->rest < STEP ? p->rest : STEP;
        const int got = need(p, n, err);

        if (got != 1)
            return got == 0 && damaged(err);
        use(p, n);
        p->rest -= n;
    }
    return true;
}

int payload_next(struct payload *p, struct str *event, struct err *err)
{
    const int got = pass_rest(p, err) ? need(p, EVENT_HEADER_LEN, err) : -1;

    if (got != 1)
        return got;

    const uint32_t len = load_le32(here(p) + 9);
    const bool cut = len > p->event_max && event_may_be_cut((uint8_t)here(p)[4]);
    const size_t n = cut && len > EVENT_CUT_LEN ? EVENT_CUT_LEN : len;

    if (len < EVENT_HEADER_LEN || (len > p->event_max && !cut)) {
        err_set(err, ERR_FATAL, "Transaction_payload event: an event of %u bytes inside", len);
        return -1;
    }
    if (need(p, n, err) != 1)
        return -1;
    *event = (struct str){here(p), n};
    use(p, n);
    p->rest = len - n;
    return 1;
}

#include "config.h"

#include "sync/decode/framer.h"

#include "src/base/bytes.h"
#include "sync/decode/checksum.h"

#include <inttypes.h>

#define CHECKSUM_LEN 4

/* The offset of a file's first event. */
#define FILE_START 4

void framer_init(struct framer *f, struct position start, bool is_file, uint64_t event_max)
{
    *f = (struct framer){.is_file = is_file, .event_max = event_max, .offset = start.offset};
    buf_append(&f->name, start.file);
}

void framer_fini(struct framer *f)
{
    buf_free(&f->name);
    buf_free(&f->next_name);
}

static bool fail(const struct framer *f, struct err *err, const char *reason)
{
    return err_set(err, ERR_FATAL, "%" STR_FMT ":%" PRIu64 ": %s", STR_ARG(buf_str(&f->name)),
                   f->offset, reason);
}

/* The common header. */
struct header {
    uint32_t len;
    uint32_t log_pos;
};

static bool read_header(struct framer *f, struct str raw, struct header *h, struct event *out,
                        struct err *err)
{
    const uint8_t *p = (const uint8_t *)raw.ptr;

    if (raw.len < EVENT_HEADER_LEN)
        return fail(f, err, "an event of fewer than 19 bytes");
    *out = (struct event){
        .time = load_le32(p),
        .type = f->has_format ? event_format_type(&f->format, p[4]) : p[4],
        .server_id = load_le32(p + 5),
        .flags = load_le16(p + 17),
        .file = buf_str(&f->name),
        .body = {raw.ptr + EVENT_HEADER_LEN, raw.len - EVENT_HEADER_LEN},
    };
    *h = (struct header){.len = load_le32(p + 9), .log_pos = load_le32(p + 13)};
    if (h->len > f->event_max && event_may_be_cut(out->type))
        out->cut = h->len;
    if (h->len != raw.len && (out->cut == 0 || raw.len > h->len))
        return fail(f, err, "the event's length differs from that in its header");
    return true;
}

/* Verify the checksum at the end of raw.  The server sets IN_USE later, in place. */
static bool is_checked(struct str raw, uint16_t flags)
{
    const uint8_t *p = (const uint8_t *)raw.ptr;
    const size_t n = raw.len - CHECKSUM_LEN;
    uint32_t crc;

    if (LIKELY((flags & EVENT_FLAG_IN_USE) == 0)) {
        crc = checksum_crc32(0, p, n);
    } else {
        const uint8_t low = (uint8_t)(p[17] & ~EVENT_FLAG_IN_USE);

        crc = checksum_crc32(0, p, 17);
        crc = checksum_crc32(crc, &low, 1);
        crc = checksum_crc32(crc, p + 18, n - 18);
    }
    return crc == load_le32(p + n);
}

/*
 * Events that the server makes up follow the client's declaration, not the file: look at the
 * bytes.
 */
static bool is_made_up(const struct framer *f, const struct event *e)
{
    if (!f->has_format || e->type == EVENT_HEARTBEAT || e->type == EVENT_HEARTBEAT_V2)
        return true;
    return e->type == EVENT_ROTATE && (e->flags & EVENT_FLAG_ARTIFICIAL) != 0;
}

static bool strip_checksum(struct framer *f, struct str raw, struct event *e, struct err *err)
{
    const bool room = raw.len >= EVENT_HEADER_LEN + CHECKSUM_LEN;

    e->skipped = e->cut != 0;
    if (e->skipped)
        return true;
    if (is_made_up(f, e)) {
        if (room && is_checked(raw, e->flags))
            e->body.len -= CHECKSUM_LEN;
        return true;
    }
    if (!f->format.checksums)
        return true;
    if (!room)
        return fail(f, err, "an event without room for its checksum");
    e->body.len -= CHECKSUM_LEN;
    e->skipped =
        f->unwanted != NULL && event_has_rows(e->type) && f->unwanted(f->ctx, e->type, e->body);
    if (!e->skipped && !is_checked(raw, e->flags))
        return fail(f, err, "wrong checksum: the event is damaged");
    return true;
}

static bool read_format(struct framer *f, struct str raw, struct event *e, struct err *err)
{
    struct event_format format;

    if (!event_format_parse(e->body, &format, err))
        return err_wrap(err, "%" STR_FMT ":%" PRIu64, STR_ARG(buf_str(&f->name)), f->offset);
    if (format.checksums && !is_checked(raw, e->flags))
        return fail(f, err, "wrong checksum: the event is damaged");
    if (format.checksums)
        e->body.len -= CHECKSUM_LEN;
    f->format = format;
    f->has_format = true;
    return true;
}

static void start_file(struct framer *f, struct str name, uint64_t offset)
{
    buf_clear(&f->name);
    buf_append(&f->name, name);
    f->offset = offset;
    f->rotating = false;
}

/* Move to log_pos, which may be ahead but not behind. */
static bool catch_up(struct framer *f, uint32_t log_pos, uint64_t counted, uint64_t *end,
                     struct err *err)
{
    const uint32_t ahead = log_pos - (uint32_t)counted;

    if (ahead > INT32_MAX)
        return err_set(err, ERR_FATAL,
                       "%" STR_FMT ":%" PRIu64 ": the server's position is %" PRIu32 ", but "
                       "Millrace counted %" PRIu64,
                       STR_ARG(buf_str(&f->name)), f->offset, log_pos, counted);
    *end = counted + ahead;
    return true;
}

/* An event outside the file takes no room in it, but may say where reading stands. */
static bool place_made_up(struct framer *f, struct event *e, uint32_t log_pos, struct err *err)
{
    struct event_rotate rotate;

    if (e->type == EVENT_ROTATE) {
        if (!event_rotate_parse(e->body, &rotate, err))
            return false;
        start_file(f, rotate.file, rotate.offset);
    } else if (log_pos != 0 && f->offset != 0 && e->type != EVENT_FORMAT_DESCRIPTION &&
               !catch_up(f, log_pos, f->offset, &f->offset, err)) {
        return false;
    }
    e->file = buf_str(&f->name);
    e->start = e->end = f->offset;
    return true;
}

static bool is_in_file(const struct framer *f, const struct event *e, const struct header *h)
{
    /* A dump from a later offset still starts with the first events of the file. */
    if (e->type == EVENT_FORMAT_DESCRIPTION)
        return f->offset == FILE_START || (f->is_file && f->has_format);
    if (f->is_file)
        return true;
    if (e->type == EVENT_START_ENCRYPTION && h->log_pos == 0)
        return false;
    return (e->flags & EVENT_FLAG_ARTIFICIAL) == 0 && e->type != EVENT_HEARTBEAT &&
           e->type != EVENT_HEARTBEAT_V2;
}

static bool place(struct framer *f, struct event *e, const struct header *h, struct err *err)
{
    struct event_rotate rotate;
    uint64_t end = f->offset + h->len;

    if (h->log_pos != 0 && !f->is_file && !catch_up(f, h->log_pos, end, &end, err))
        return false;
    e->start = end - h->len;
    e->end = end;
    f->offset = end;
    if (e->type != EVENT_ROTATE || f->is_file)
        return true;
    if (!event_rotate_parse(e->body, &rotate, err))
        return false;
    buf_clear(&f->next_name);
    buf_append(&f->next_name, rotate.file);
    f->next_offset = rotate.offset;
    f->rotating = true;
    return true;
}

bool framer_read(struct framer *f, struct str raw, struct event *out, struct err *err)
{
    struct header h;

    if (f->rotating)
        start_file(f, buf_str(&f->next_name), f->next_offset);
    if (!read_header(f, raw, &h, out, err))
        return false;

    const bool in_file = is_in_file(f, out, &h);

    if (out->type == EVENT_FORMAT_DESCRIPTION) {
        if (!read_format(f, raw, out, err))
            return false;
    } else if (!strip_checksum(f, raw, out, err)) {
        return false;
    }
    return in_file ? place(f, out, &h, err) : place_made_up(f, out, h.log_pos, err);
}

bool framer_read_inner(struct framer *f, struct str raw, const struct event *outer,
                       struct event *out, struct err *err)
{
    struct header h;

    if (!read_header(f, raw, &h, out, err))
        return false;
    out->start = outer->start;
    out->end = outer->end;
    out->in_payload = true;
    return true;
}

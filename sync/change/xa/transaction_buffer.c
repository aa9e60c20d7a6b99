#include "config.h"

#include "sync/change/xa/transaction_buffer.h"

#include "sync/change/xa/spill.h"
#include "sync/decode/checksum.h"

#include <string.h>

#define LENGTH 4 /* bytes before each event */

/* The header on disk.  The checksum covers the length and the event. */
struct record {
    uint32_t n, checksum;
};

static uint32_t checksum_of(uint32_t n, struct str raw)
{
    return checksum_crc32(checksum_crc32(0, (const uint8_t *)&n, sizeof(n)),
                          (const uint8_t *)raw.ptr, raw.len);
}

static void forget(struct transaction_buffer *h)
{
    if (h->spilled > 0)
        spill_release(h->spill, h->spilled_at, h->spilled);
    h->spilled = 0;
    buf_clear(&h->memory);
}

void transaction_buffer_begin(struct transaction_buffer *h, struct spill *spill)
{
    forget(h);
    h->spill = spill;
    h->any = h->cut = false;
}

void transaction_buffer_fini(struct transaction_buffer *h)
{
    forget(h);
    buf_free(&h->memory);
    buf_free(&h->file);
}

static void cut(struct transaction_buffer *h)
{
    forget(h);
    h->cut = true;
}

static bool to_disk(struct transaction_buffer *h, struct str raw, struct err *err)
{
    const uint32_t n = (uint32_t)raw.len;
    const struct record record = {n, checksum_of(n, raw)};
    struct buf both = {0};

    buf_append(&both, (struct str){(const char *)&record, sizeof(record)});
    buf_append(&both, raw);
    if (h->spilled == 0)
        h->spilled_at = spill_end(h->spill);

    const bool ok = spill_append(h->spill, buf_str(&both), err);

    if (ok)
        h->spilled += both.len;
    buf_free(&both);
    return ok;
}

bool transaction_buffer_keep(struct transaction_buffer *h, const struct event_format *format,
                             const struct event *at, struct str raw, size_t memory_max,
                             struct err *err)
{
    const uint32_t n = (uint32_t)raw.len;
    uint8_t length[LENGTH];

    if (h->cut)
        return true;
    if (!h->any) {
        h->format = *format;
        h->start = at->start;
        buf_clear(&h->file);
        buf_append(&h->file, at->file);
        h->any = true;
    }
    memcpy(length, &n, sizeof(n));
    if (h->spilled == 0 && h->memory.len + LENGTH + raw.len <= memory_max) {
        buf_append(&h->memory, (struct str){(const char *)length, LENGTH});
        buf_append(&h->memory, raw);
        return true;
    }
    if (h->spill != NULL && spill_has_room(h->spill, sizeof(struct record) + raw.len))
        return to_disk(h, raw, err);
    cut(h);
    return true;
}

static int damaged(const struct transaction_buffer *h, struct err *err)
{
    (void)spill_damaged(h->spill, err);
    return -1;
}

static int next_on_disk(const struct transaction_buffer *h, struct transaction_cursor *c,
                        struct str *raw, struct err *err)
{
    const uint64_t at = h->spilled_at + c->spilled_at;
    struct record record;

    if (c->spilled_at == h->spilled)
        return 0;
    if (!spill_read(h->spill, at, &record, sizeof(record), err))
        return -1;
    if (record.n > h->spilled - c->spilled_at - sizeof(record))
        return damaged(h, err);
    buf_clear(&c->raw);
    buf_reserve(&c->raw, record.n);
    if (!spill_read(h->spill, at + sizeof(record), c->raw.ptr, record.n, err))
        return -1;
    c->raw.len = record.n;
    if (checksum_of(record.n, buf_str(&c->raw)) != record.checksum)
        return damaged(h, err);
    c->spilled_at += sizeof(record) + record.n;
    *raw = buf_str(&c->raw);
    return 1;
}

int transaction_buffer_next(const struct transaction_buffer *h, struct transaction_cursor *c,
                            struct str *raw, struct err *err)
{
    uint32_t n;

    if (c->at == h->memory.len)
        return next_on_disk(h, c, raw, err);
    memcpy(&n, h->memory.ptr + c->at, sizeof(n));
    *raw = (struct str){h->memory.ptr + c->at + LENGTH, n};
    c->at += LENGTH + n;
    return 1;
}

void transaction_cursor_fini(struct transaction_cursor *c)
{
    buf_free(&c->raw);
}

static bool feed(struct log_reader *r, struct str raw, const struct replay_options *opt,
                 struct err *err)
{
    struct step step;
    int got;

    if (!log_reader_feed(r, raw, err))
        return false;
    while ((got = log_reader_next(r, &step, err)) == 1)
        if (step.kind == STEP_ROWS && !opt->on_rows(opt->ctx, &step, err))
            return false;
    return got == 0;
}

bool replay_rows(const struct transaction_buffer *h, const struct replay_options *opt,
                 struct err *err)
{
    const struct log_reader_options reader = {
        .want = opt->want,
        .want_ctx = opt->ctx,
        .event_max = opt->event_max,
        .start = {buf_str(&h->file), h->start},
        .format = &h->format,
    };
    struct log_reader *r = log_reader_new(&reader);
    struct transaction_cursor cursor = {0};
    struct str raw;
    int got;

    while ((got = transaction_buffer_next(h, &cursor, &raw, err)) == 1)
        if (!feed(r, raw, opt, err)) {
            got = -1;
            break;
        }
    transaction_cursor_fini(&cursor);
    log_reader_free(r);
    return got == 0;
}

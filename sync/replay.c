#include "config.h"

#include "sync/replay.h"

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

bool replay_rows(const struct held *h, const struct replay_options *opt, struct err *err)
{
    const struct log_reader_options reader = {
        .want = opt->want,
        .want_ctx = opt->ctx,
        .event_max = opt->event_max,
        .start = {buf_str(&h->file), h->start},
        .format = &h->format,
    };
    struct log_reader *r = log_reader_new(&reader);
    struct held_cursor cursor = {0};
    struct str raw;
    int got;

    while ((got = held_next(h, &cursor, &raw, err)) == 1)
        if (!feed(r, raw, opt, err)) {
            got = -1;
            break;
        }
    held_cursor_fini(&cursor);
    log_reader_free(r);
    return got == 0;
}

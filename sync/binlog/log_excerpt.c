#include "config.h"

#include "sync/binlog/log_excerpt.h"

#include "sync/binlog/transaction.h"

#define EVENT_MAX_DEFAULT ((uint64_t)1 << 30)

/* The first event of a file, behind its magic number. */
#define FIRST_EVENT 4

struct log_reader *log_excerpt_reader(const struct log_excerpt *e)
{
    struct log_reader_options opt = {
        .want = log_filter_wants_table,
        .want_ctx = (void *)(uintptr_t)&e->filter,
        .file = e->file.len > 0,
        .lenient = true,
        .event_max = e->event_max != 0 ? e->event_max : EVENT_MAX_DEFAULT,
        .start = e->start,
    };

    if (opt.file)
        opt.start =
            (struct position){e->file, e->start.offset != 0 ? e->start.offset : FIRST_EVENT};
    return log_reader_new(&opt);
}

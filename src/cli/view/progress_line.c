#include "config.h"

#include "src/cli/view/progress_line.h"

#include "src/base/human.h"

#include <errno.h>
#include <unistd.h>

#define PLAIN_INTERVAL_MS 5000
#define NEARLY            99.9 /* per cent: the most that unfinished work shows */

/* Leave out the count if the build was too short for any row to be seen. */
static void add_end(struct buf *out, uint64_t done)
{
    buf_append(out, STR("  100.0 %"));
    if (done == 0)
        return;
    buf_append(out, STR("  "));
    human_count(out, done);
    buf_append(out, STR(" rows"));
}

void progress_line_format(struct buf *out, const struct progress_facts *f)
{
    uint64_t total = f->total > f->done ? f->total : f->done;

    buf_append(out, f->what);
    if (f->finished) {
        add_end(out, f->done);
        return;
    }
    /* All rows are written, so the estimate says nothing any more. */
    if (f->step.len > 0) {
        buf_printf(out, "  %5.1f %%  %" STR_FMT, NEARLY, STR_ARG(f->step));
        return;
    }
    if (f->done == 0 && f->total == 0 && f->waits.len == 0) {
        buf_append(out, STR("  begins"));
        return;
    }
    /* If the total is reached before the end, the estimate was too low. */
    double percent = human_percent(f->done, f->total);

    buf_printf(out, "  %5.1f %%  ", percent < NEARLY ? percent : NEARLY);
    if (f->waits.len > 0) {
        buf_append(out, f->waits);
        return;
    }
    human_count(out, f->done);
    buf_append(out, STR(" of about "));
    human_count(out, total);
    buf_append(out, STR(" rows  "));
    human_count(out, f->rate > 0 && f->rate < 1e15 ? (uint64_t)(f->rate + 0.5) : 0);
    buf_append(out, STR("/s"));
    if (f->remaining_seconds >= 0) {
        buf_append(out, STR("  "));
        human_seconds(out, f->remaining_seconds);
        buf_append(out, STR(" left"));
    }
}

void progress_line_init(struct progress_line *m, int fd)
{
    *m = (struct progress_line){.fd = fd, .terminal = isatty(fd) == 1};
}

/* Ignore failures: a closed standard error must not stop the work. */
static void put(int fd, struct str text)
{
    while (text.len > 0) {
        ssize_t n = write(fd, text.ptr, text.len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return;
        text = (struct str){text.ptr + n, text.len - (size_t)n};
    }
}

void progress_line_show(struct progress_line *m, const struct progress_facts *f, int64_t now_ms)
{
    struct buf line = {0};

    if (!m->terminal && !f->finished && now_ms < m->next_ms)
        return;
    m->next_ms = now_ms + PLAIN_INTERVAL_MS;
    if (m->terminal)
        buf_append(&line, STR("\r\033[K"));
    progress_line_format(&line, f);
    if (!m->terminal)
        buf_append_char(&line, '\n');
    put(m->fd, buf_str(&line));
    m->drawn = m->terminal;
    buf_free(&line);
}

void progress_line_end(struct progress_line *m)
{
    if (m->drawn)
        put(m->fd, STR("\n"));
    m->drawn = false;
}

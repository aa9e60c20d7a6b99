#include "config.h"

#include "web/stream/feed.h"

#include "src/base/mem.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A browser whose stream has ended comes back after two seconds. */
#define GREETING STR("retry: 2000\n\n")
#define PING     STR("event: ping\ndata: {}\n\n")
#define ID       "id: "

/* ---- states ---- */

static void append_line(struct buf *out, struct str json)
{
    while (json.len > 0 && (json.ptr[json.len - 1] == '\n' || json.ptr[json.len - 1] == '\r'))
        json.len--;

    const size_t from = out->len;

    buf_append(out, json);
    for (size_t i = from; i < out->len; i++)
        if (out->ptr[i] == '\n' || out->ptr[i] == '\r')
            out->ptr[i] = ' ';
}

struct feed_state *feed_state_new(struct str origin, uint64_t number, struct str json)
{
    struct feed_state *s = mem_alloc(1, sizeof(*s));

    *s = (struct feed_state){.refs = 1, .number = number};
    buf_printf(&s->message,
               ID "%" STR_FMT "-%" PRIu64 "\nevent: status\ndata: ", STR_ARG(origin), number);
    s->json_at = s->message.len;
    append_line(&s->message, json);
    s->json_len = s->message.len - s->json_at;
    buf_append(&s->message, STR("\n\n"));
    return s;
}

static struct feed_state *feed_state_ref(struct feed_state *s)
{
    s->refs++;
    return s;
}

void feed_state_unref(struct feed_state *s)
{
    if (s == NULL || --s->refs > 0)
        return;
    buf_free(&s->message);
    free(s);
}

struct str feed_state_json(const struct feed_state *s)
{
    return (struct str){s->message.ptr + s->json_at, s->json_len};
}

bool feed_state_is(const struct feed_state *s, struct str id)
{
    const char *start = s->message.ptr + strlen(ID), *end = strchr(start, '\n');

    return str_equal((struct str){start, (size_t)(end - start)}, id);
}

/* ---- what is next ---- */

enum feed_next {
    NEXT_NOTHING = 0,
    NEXT_REST, /* of what was begun */
    NEXT_GREETING,
    NEXT_STATE,
    NEXT_PING,
};

static bool is_news(const struct feed *f, const struct feed_state *latest)
{
    return latest != NULL && latest->number != f->had;
}

static enum feed_next next(const struct feed *f, const struct feed_state *latest,
                           int64_t now_ms)
{
    if (f->sent < f->text.len)
        return NEXT_REST;
    if (!f->greeted)
        return NEXT_GREETING;
    if (is_news(f, latest) &&
        (f->begun_ms == INT64_MIN || now_ms - f->begun_ms >= FEED_PAUSE_MS))
        return NEXT_STATE;
    return now_ms - f->spoke_ms >= FEED_PING_MS ? NEXT_PING : NEXT_NOTHING;
}

bool feed_has_more(const struct feed *f, const struct feed_state *latest, int64_t now_ms)
{
    return next(f, latest, now_ms) != NEXT_NOTHING;
}

static void begin(struct feed *f, struct str text, int64_t now_ms)
{
    f->text = text;
    f->sent = 0;
    f->spoke_ms = now_ms;
}

static void begin_state(struct feed *f, struct feed_state *latest, int64_t now_ms)
{
    f->sending = feed_state_ref(latest);
    f->had = latest->number;
    f->begun_ms = now_ms;
    begin(f, buf_str(&latest->message), now_ms);
}

static size_t take_rest(struct feed *f, char *out, size_t max)
{
    const size_t left = f->text.len - f->sent, n = left < max ? left : max;

    memcpy(out, f->text.ptr + f->sent, n);
    f->sent += n;
    if (f->sent < f->text.len)
        return n;
    feed_state_unref(f->sending);
    f->sending = NULL;
    f->text = (struct str){NULL, 0};
    f->sent = 0;
    return n;
}

size_t feed_take(struct feed *f, struct feed_state *latest, int64_t now_ms, char *out,
                 size_t max)
{
    switch (next(f, latest, now_ms)) {
    case NEXT_NOTHING: return 0;
    case NEXT_REST: break;
    case NEXT_GREETING:
        f->greeted = true;
        begin(f, GREETING, now_ms);
        break;
    case NEXT_STATE: begin_state(f, latest, now_ms); break;
    case NEXT_PING: begin(f, PING, now_ms); break;
    }
    return take_rest(f, out, max);
}

void feed_init(struct feed *f, uint64_t had, int64_t now_ms)
{
    *f = (struct feed){.had = had, .begun_ms = INT64_MIN, .spoke_ms = now_ms};
}

void feed_fini(struct feed *f)
{
    feed_state_unref(f->sending);
    *f = (struct feed){0};
}

#include "config.h"

#include "src/format/problem.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/mem.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define SOURCE_LINE_MAX 200 /* bytes of a source line that we show */
#define SOURCE_BEHIND_MIN                                              \
    60 /* the least of them behind the place, if the line is that long \
        */
#define LEFT_OUT    "... "
#define MESSAGE_MAX 1024

struct problem_source {
    struct problem_source *next;
    const char *file;
    struct str text;
};

struct problems {
    struct arena *arena;
    struct problem_source *sources;
    struct problem kept[PROBLEMS_MAX];
    size_t n;
    size_t count[3]; /* by severity */
    bool last_kept;  /* the problem added last is kept[n - 1] */
};

struct problems *problems_new(void)
{
    struct problems *p = mem_alloc(1, sizeof(*p));

    p->arena = arena_new();
    return p;
}

void problems_free(struct problems *p)
{
    if (p == NULL)
        return;
    arena_free(p->arena);
    free(p);
}

void problems_add_source(struct problems *p, const char *file, struct str text)
{
    struct problem_source *s = arena_alloc(p->arena, 1, sizeof(*s));

    s->file = arena_copy(p->arena, str_from(file)).ptr;
    s->text = arena_copy(p->arena, text);
    s->next = p->sources;
    p->sources = s;
}

static PRINTF_LIKE(2, 0) struct str format(struct arena *a, const char *fmt, va_list args)
{
    char text[MESSAGE_MAX];
    int n = vsnprintf(text, sizeof(text), fmt, args);
    size_t len = n < 0 ? 0 : (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1;

    /* Do not leave half a character behind. */
    if ((size_t)n > len)
        while (len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80)
            len--;
    return arena_copy(a, (struct str){text, len});
}

void problems_add(struct problems *p, enum severity severity, struct place place,
                  const char *fmt, ...)
{
    p->count[severity]++;
    p->last_kept = p->n < PROBLEMS_MAX;
    if (!p->last_kept)
        return;

    struct problem *added = &p->kept[p->n++];
    va_list args;

    added->severity = severity;
    added->place = place;
    if (place.file != NULL)
        added->place.file = arena_copy(p->arena, str_from(place.file)).ptr;
    va_start(args, fmt);
    added->message = format(p->arena, fmt, args);
    va_end(args);
}

void problems_fix(struct problems *p, const char *fmt, ...)
{
    va_list args;

    if (!p->last_kept)
        return;
    va_start(args, fmt);
    p->kept[p->n - 1].fix = format(p->arena, fmt, args);
    va_end(args);
}

size_t problems_count(const struct problems *p, enum severity severity)
{
    return p->count[severity];
}

size_t problems_n(const struct problems *p)
{
    return p->n;
}

const struct problem *problems_get(const struct problems *p, size_t i)
{
    return &p->kept[i];
}

static const char *severity_name(enum severity s)
{
    static const char *const names[] = {"error", "warning", "note"};

    return names[s];
}

static struct str source_line(const struct problems *p, struct place place)
{
    const struct problem_source *s = p->sources;

    while (s != NULL && (place.file == NULL || strcmp(s->file, place.file) != 0))
        s = s->next;
    if (s == NULL || place.line == 0)
        return (struct str){NULL, 0};

    const char *at = s->text.ptr, *end = at + s->text.len;

    for (unsigned line = 1; line < place.line; line++) {
        const char *nl = memchr(at, '\n', (size_t)(end - at));

        if (nl == NULL)
            return (struct str){NULL, 0};
        at = nl + 1;
    }

    const char *nl = memchr(at, '\n', (size_t)(end - at));
    size_t len = (size_t)((nl != NULL ? nl : end) - at);

    if (len > 0 && at[len - 1] == '\r')
        len--;
    return (struct str){at, len};
}

/* Returns the length before the password of an address, user:password@host; or the whole
 * length. */
static size_t length_before_login(struct str line)
{
    const char *start = memmem(line.ptr, line.len, "://", 3);
    const char *end = line.ptr + line.len;

    while (start != NULL) {
        const char *colon = NULL;

        start += 3;
        for (const char *p = start; p < end && strchr(" \t/,]}\"'", *p) == NULL; p++) {
            if (*p == ':' && colon == NULL)
                colon = p;
            if (*p == '@' && colon != NULL)
                return (size_t)(colon - line.ptr) + 1;
        }
        start = memmem(start, (size_t)(end - start), "://", 3);
    }
    return line.len;
}

/* Returns the length of line through the colon after a secret's name, or the whole length. */
static size_t length_before_secret(struct str line)
{
    static const char *const secrets[] = {"pass",   "pasw",   "api_key",
                                          "apikey", "secret", "token"};

    for (size_t i = 0; i < line.len; i++)
        for (size_t k = 0; k < ARRAY_LEN(secrets); k++) {
            size_t n = strlen(secrets[k]);

            if (line.len - i < n || strncasecmp(line.ptr + i, secrets[k], n) != 0)
                continue;

            const char *colon = memchr(line.ptr + i, ':', line.len - i);
            size_t name_len = colon == NULL ? 0 : (size_t)(colon - (line.ptr + i));
            bool is_reference = name_len > 4 && (memcmp(colon - 4, "file", 4) == 0 ||
                                                 memcmp(colon - 4, "_env", 4) == 0);

            if (colon != NULL && !is_reference)
                return (size_t)(colon - line.ptr) + 1;
        }
    return line.len;
}

static bool is_inside_char(struct str line, size_t i)
{
    return i < line.len && ((unsigned char)line.ptr[i] & 0xc0) == 0x80;
}

/* Returns the byte offset of the character at column. */
static size_t byte_of_column(struct str line, unsigned column)
{
    size_t i = 0;

    for (unsigned at = 1; i < line.len && at < column; at++)
        do
            i++;
        while (is_inside_char(line, i));
    return i;
}

/* The shown part of a line, in bytes. */
struct window {
    size_t from, end;
};

/* Hides secrets; cuts a long line to the part around byte `at`. */
static struct window window_of(struct str line, size_t at)
{
    struct window w = {0,
                       length_before_secret((struct str){line.ptr, length_before_login(line)})};

    if (at > SOURCE_LINE_MAX - SOURCE_BEHIND_MIN && at <= w.end && w.end > SOURCE_LINE_MAX) {
        w.from = at + SOURCE_BEHIND_MIN - SOURCE_LINE_MAX;
        while (is_inside_char(line, w.from))
            w.from++;
    }
    if (w.end > w.from + SOURCE_LINE_MAX) {
        w.end = w.from + SOURCE_LINE_MAX;
        while (w.end > w.from && is_inside_char(line, w.end))
            w.end--;
    }
    return w;
}

static void append_visible(struct buf *b, struct str line, struct window w)
{
    if (w.from > 0)
        buf_append(b, STR(LEFT_OUT));
    buf_append(b, (struct str){line.ptr + w.from, w.end - w.from});
    if (w.end < line.len)
        buf_append(b, STR(" ..."));
}

/* Appends blanks up to byte `at`. Keeps tabs, so the caret stands under its character. */
static void append_caret(struct buf *b, struct str line, struct window w, size_t at)
{
    if (w.from > 0)
        buf_printf(b, "%*s", (int)strlen(LEFT_OUT), "");
    for (size_t i = w.from; i < at && i < w.end; i++)
        if (!is_inside_char(line, i))
            buf_append_char(b, line.ptr[i] == '\t' ? '\t' : ' ');
    buf_append_char(b, '^');
}

static void append_problem(const struct problems *p, const struct problem *one, struct buf *b)
{
    struct str line = source_line(p, one->place);

    if (one->place.file != NULL)
        buf_printf(b, "%s:", one->place.file);
    if (one->place.line > 0)
        buf_printf(b, "%u:%u:", one->place.line, one->place.column);
    buf_printf(b, "%s%s: %" STR_FMT "\n", one->place.file != NULL ? " " : "",
               severity_name(one->severity), STR_ARG(one->message));
    if (line.ptr != NULL) {
        const size_t at = byte_of_column(line, one->place.column);
        const struct window w = window_of(line, at);

        buf_append(b, STR("    "));
        append_visible(b, line, w);
        buf_append(b, STR("\n    "));
        append_caret(b, line, w, at);
        buf_append_char(b, '\n');
    }
    if (one->fix.len > 0)
        buf_printf(b, "    fix: %" STR_FMT "\n", STR_ARG(one->fix));
}

void problems_append_text(const struct problems *p, struct buf *b)
{
    size_t all = p->count[0] + p->count[1] + p->count[2];

    for (size_t i = 0; i < p->n; i++)
        append_problem(p, &p->kept[i], b);
    if (all > p->n)
        buf_printf(b, "%zu more are not shown\n", all - p->n);
}

static void append_member(struct buf *b, const char *name, struct str text)
{
    buf_printf(b, ",\"%s\":", name);
    buf_append_json(b, text);
}

static void append_json(const struct problems *p, const struct problem *one, struct buf *b)
{
    struct str line = source_line(p, one->place);
    struct buf shown = {0};

    buf_printf(b, "{\"severity\":\"%s\"", severity_name(one->severity));
    if (one->place.file != NULL)
        append_member(b, "file", str_from(one->place.file));
    if (one->place.line > 0)
        buf_printf(b, ",\"line\":%u,\"column\":%u", one->place.line, one->place.column);
    append_member(b, "message", one->message);
    if (one->fix.len > 0)
        append_member(b, "fix", one->fix);
    if (line.ptr != NULL) {
        append_visible(&shown, line, window_of(line, byte_of_column(line, one->place.column)));
        append_member(b, "source", buf_str(&shown));
    }
    buf_append_char(b, '}');
    buf_free(&shown);
}

void problems_append_json(const struct problems *p, struct buf *b)
{
    buf_append_char(b, '[');
    for (size_t i = 0; i < p->n; i++) {
        if (i > 0)
            buf_append_char(b, ',');
        append_json(p, &p->kept[i], b);
    }
    buf_append_char(b, ']');
}

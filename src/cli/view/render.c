#include "config.h"

#include "src/cli/view/render.h"

#include "src/base/human.h"
#include "src/base/mem.h"
#include "src/cli/view/screen.h"
#include "src/format/json.h"

#include <langinfo.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GAP       2  /* columns between two cells */
#define CUT_WELL  16 /* columns that leave a text readable */
#define CUT_LEAST 5

/* ---- the terminal ---- */

bool render_redraws(int fd)
{
    const char *term = getenv("TERM");

    return isatty(fd) == 1 && term != NULL && strcmp(term, "dumb") != 0;
}

bool render_colours(int fd)
{
    const char *no_colour = getenv("NO_COLOR");

    return render_redraws(fd) && (no_colour == NULL || no_colour[0] == '\0');
}

struct render_style render_style_stdout(void)
{
    return (struct render_style){
        .colour = render_colours(STDOUT_FILENO),
        .marks = strcmp(nl_langinfo(CODESET), "UTF-8") == 0,
    };
}

/* ---- one value ---- */

#define START_MAX 60 /* characters of a RENDER_START */
#define SHORT_MAX 8  /* bytes of a RENDER_SHORT */

static const struct look {
    const char *word, *mark, *colour;
} looks[] = {
    {"running", "●", "32"},   {"available", "●", "32"}, {"ok", "●", "32"},
    {"green", "●", "32"},     {"done", "●", "32"},      {"connecting", "◐", "34"},
    {"changing", "◐", "34"},  {"init", "◐", "34"},      {"unavailable", "▲", "33"},
    {"waiting", "▲", "33"},   {"complete", "◐", "34"},  {"warn", "▲", "33"},
    {"yellow", "▲", "33"},    {"fail", "■", "31"},      {"lost", "▲", "33"},
    {"failed", "■", "31"},    {"stopped", "■", "31"},   {"held", "■", "31"},
    {"error", "■", "31"},     {"red", "■", "31"},       {"created", "○", "2"},
    {"history", "○", "2"},    {"skip", "○", "2"},       {"up", "●", "32"},
    {"retired", "○", "2"},    {"dropped", "○", "2"},    {"away", "▲", "33"},
    {"untried", "○", "2"},    {"astray", "■", "31"},    {"kept", "○", "2"},
    {"returning", "◐", "34"}, {"normal", "●", "32"},    {"rebalancing", "◐", "34"},
    {"starting", "◐", "34"},  {"left out", "■", "31"},  {"evacuating", "◐", "34"},
    {"evacuated", "○", "2"},  {"gone", "▲", "33"},      {"shut down", "▲", "33"},
    {"lives", "●", "32"},     {"moving", "◐", "34"},
};

static void add_state(struct buf *out, struct render_style style, struct str word)
{
    const struct look *look = NULL;

    for (size_t i = 0; i < ARRAY_LEN(looks); i++)
        if (str_equal(word, str_from(looks[i].word)))
            look = &looks[i];
    if (look != NULL && style.colour)
        buf_printf(out, "\033[%sm", look->colour);
    if (look != NULL && style.marks)
        buf_printf(out, "%s ", look->mark);
    screen_safe(out, word);
    if (look != NULL && style.colour)
        buf_append(out, STR("\033[0m"));
}

static void add_age(struct buf *out, double seconds)
{
    if (seconds <= 0) {
        buf_append(out, STR("now"));
        return;
    }
    human_seconds(out, seconds);
    buf_append(out, STR(" ago"));
}

static void add_number(struct buf *out, struct str raw, enum render_kind kind)
{
    double n = strtod(raw.ptr, NULL); /* strtod() stops at the end of the number */
    uint64_t whole = n > 0 && n < 1.8e19 ? (uint64_t)(n + 0.5) : 0;

    json_find_u64(raw, "", &whole);
    if (kind == RENDER_COUNT || kind == RENDER_KNOWN)
        human_count(out, whole);
    else if (kind == RENDER_BYTES)
        human_bytes(out, whole);
    else if (kind == RENDER_AGE)
        add_age(out, n / 1000);
    else
        human_seconds(out, n);
}

static void add_start(struct buf *out, struct render_style style, struct str text)
{
    size_t len = 0, n = 0;

    for (; len < text.len && n < START_MAX; n++)
        do
            len++;
        while (len < text.len && ((unsigned char)text.ptr[len] & 0xc0) == 0x80);
    screen_safe(out, (struct str){text.ptr, len});
    if (len < text.len)
        buf_append(out, style.marks ? STR("…") : STR("..."));
}

static void add_list(struct buf *out, struct str raw)
{
    struct json_reader r;
    struct buf text = {0};
    const char *comma = "";

    json_reader_init(&r, raw);
    if (json_enter_array(&r))
        while (json_next_element(&r) && json_read_text(&r, &text)) {
            buf_append(out, str_from(comma));
            screen_safe(out, buf_str(&text));
            buf_clear(&text);
            comma = ", ";
        }
    buf_free(&text);
}

static void add_raw(struct buf *out, struct render_style style, struct str raw,
                    enum render_kind kind)
{
    struct buf text = {0};

    if (str_equal(raw, STR("null"))) {
        buf_append(out, kind == RENDER_LAG || kind == RENDER_KNOWN ? STR("unknown")
                        : kind == RENDER_AGE                       ? STR("never")
                                                                   : STR(""));
        return;
    }
    if (raw.ptr[0] == '"')
        json_unescape(&text, (struct str){raw.ptr + 1, raw.len - 2});
    else
        buf_append(&text, raw);
    if (kind == RENDER_STATE)
        add_state(out, style, buf_str(&text));
    else if (kind == RENDER_YES)
        buf_append(out, str_equal(raw, STR("true")) ? STR("yes") : STR(""));
    else if (kind == RENDER_START)
        add_start(out, style, buf_str(&text));
    else if (kind == RENDER_LIST)
        add_list(out, raw);
    else if (kind == RENDER_SHORT)
        screen_safe(out, (struct str){text.ptr, text.len < SHORT_MAX ? text.len : SHORT_MAX});
    else if (kind == RENDER_TEXT || kind == RENDER_SPARE || raw.ptr[0] == '"')
        screen_safe(out, buf_str(&text));
    else
        add_number(out, buf_str(&text), kind);
    buf_free(&text);
}

void render_value(struct buf *out, struct render_style style, struct str object,
                  const char *pointer, enum render_kind kind)
{
    struct str raw;

    if (json_find(object, pointer, &raw) && raw.len > 0)
        add_raw(out, style, raw, kind);
}

/* ---- tables ---- */

/* The cells of a table, row by row, one after another in text. */
struct cells {
    struct buf text;
    size_t *ends; /* where each cell ends in text */
    size_t n, cap;
};

static void end_cell(struct cells *c)
{
    if (c->n == c->cap) {
        c->cap = c->cap > 0 ? c->cap * 2 : 64;
        c->ends = mem_resize(c->ends, c->cap, sizeof(*c->ends));
    }
    c->ends[c->n++] = c->text.len;
}

static struct str cell_at(const struct cells *c, size_t i)
{
    size_t start = i > 0 ? c->ends[i - 1] : 0;

    return (struct str){c->text.ptr + start, c->ends[i] - start};
}

static bool has_null(struct str item, const char *pointer)
{
    struct str raw;

    return json_find(item, pointer, &raw) && str_equal(raw, STR("null"));
}

static void mark_bound(struct buf *out, struct render_style style, struct str item)
{
    bool is_bound = false;

    if (json_find_bool(item, "/lag_at_most", &is_bound) && is_bound)
        buf_append(out, style.marks ? STR("≤ ") : STR("<= "));
}

static void add_cell(struct cells *c, struct render_style style, struct str item,
                     const struct render_column *column)
{
    const char *rest = column->pointer;
    struct buf one = {0};

    if (column->kind == RENDER_LAG)
        mark_bound(&c->text, style, item);

    if (column->kind == RENDER_KNOWN && has_null(item, "/version"))
        return;

    const size_t start = c->text.len;

    while (rest != NULL && c->text.len == start) {
        const char *end = strchr(rest, '|');

        buf_clear(&one);
        buf_append(&one,
                   end == NULL ? str_from(rest) : (struct str){rest, (size_t)(end - rest)});
        render_value(&c->text, style, item, one.ptr, column->kind);
        rest = end == NULL ? NULL : end + 1;
    }
    buf_free(&one);
}

static void add_row(struct cells *c, struct render_style style, struct str item,
                    const struct render_column *columns, size_t n_columns)
{
    for (size_t i = 0; i < n_columns; i++) {
        add_cell(c, style, item, &columns[i]);
        end_cell(c);
    }
}

static void fill_cells(struct cells *c, struct render_style style, struct str items,
                       const struct render_column *columns, size_t n_columns)
{
    struct json_reader r;
    struct str item;

    buf_reserve(&c->text, 1); /* gives an empty cell an address */
    for (size_t i = 0; i < n_columns; i++) {
        buf_append(&c->text, str_from(columns[i].title));
        end_cell(c);
    }
    json_reader_init(&r, items);
    if (json_enter_array(&r))
        while (json_next_element(&r) && json_read_raw(&r, &item))
            add_row(c, style, item, columns, n_columns);
}

static bool is_right(const struct render_column *column)
{
    return column->kind == RENDER_COUNT || column->kind == RENDER_BYTES ||
           column->kind == RENDER_SECONDS || column->kind == RENDER_LAG ||
           column->kind == RENDER_KNOWN;
}

static void pad(struct buf *out, size_t n)
{
    while (n-- > 0)
        buf_append_char(out, ' ');
}

static void trim_line(struct buf *out)
{
    while (out->len > 0 && out->ptr[out->len - 1] == ' ')
        out->len--;
    buf_append_char(out, '\n');
}

static size_t column_width(const struct cells *c, size_t column, size_t n_columns)
{
    size_t widest = 0;

    for (size_t i = column; i < c->n; i += n_columns) {
        size_t width = screen_width(cell_at(c, i));

        if (width > widest)
            widest = width;
    }
    return widest;
}

/* ---- a table in a window ---- */

struct shrink_to {
    size_t width; /* of the table */
    size_t least; /* of a column */
};

static bool may_cut(const struct render_column *column)
{
    return column->kind == RENDER_TEXT || column->kind == RENDER_SPARE ||
           column->kind == RENDER_START;
}

/* The columns that the table takes.  One of no width is left out. */
static size_t table_width(const size_t *widths, size_t n)
{
    size_t sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += widths[i] > 0 ? widths[i] + GAP : 0;
    return sum > GAP ? sum - GAP : 0;
}

/* Cut the widest text column again and again, none below least.  Returns true if it fits. */
static bool shrink(size_t *widths, const struct render_column *columns, size_t n,
                   struct shrink_to to)
{
    while (table_width(widths, n) > to.width) {
        size_t *widest = NULL;

        for (size_t i = 0; i < n; i++)
            if (may_cut(&columns[i]) && widths[i] > to.least &&
                (widest == NULL || widths[i] > *widest))
                widest = &widths[i];
        if (widest == NULL)
            return false;
        --*widest;
    }
    return true;
}

/* Cut texts; if that leaves little of them, do without spare columns; else cut further. */
static void fit(size_t *widths, const struct render_column *columns, size_t n, size_t width)
{
    size_t *whole = mem_alloc(n, sizeof(*whole));
    bool fits;

    memcpy(whole, widths, n * sizeof(*whole));
    fits = shrink(widths, columns, n, (struct shrink_to){width, CUT_WELL});
    for (size_t i = 0; !fits && i < n; i++) {
        if (columns[i].kind != RENDER_SPARE)
            continue;
        whole[i] = 0;
        memcpy(widths, whole, n * sizeof(*whole));
        fits = shrink(widths, columns, n, (struct shrink_to){width, CUT_WELL});
    }
    if (!fits)
        (void)shrink(widths, columns, n, (struct shrink_to){width, CUT_LEAST});
    free(whole);
}

static void add_fitted(struct buf *out, struct render_style style, struct str cell,
                       size_t width, bool right)
{
    struct buf cut = {0};

    screen_cut(&cut, cell, width, style.marks);

    const size_t room = width - screen_width(buf_str(&cut));

    pad(out, right ? room : 0);
    buf_append(out, buf_str(&cut));
    pad(out, (right ? 0 : room) + GAP);
    buf_free(&cut);
}

void render_table(struct buf *out, struct render_style style, struct str items,
                  const struct render_column *columns, size_t n_columns)
{
    struct cells c = {0};
    size_t *widths = mem_alloc(n_columns, sizeof(*widths));

    fill_cells(&c, style, items, columns, n_columns);
    for (size_t i = 0; i < n_columns; i++)
        widths[i] = column_width(&c, i, n_columns);
    if (style.width > 0)
        fit(widths, columns, n_columns, style.width);
    for (size_t i = 0; i < c.n; i++) {
        const size_t column = i % n_columns;

        if (widths[column] > 0)
            add_fitted(out, style, cell_at(&c, i), widths[column], is_right(&columns[column]));
        if (column == n_columns - 1)
            trim_line(out);
    }
    free(widths);
    free(c.ends);
    buf_free(&c.text);
}

void render_line(struct buf *out, struct str item, const struct render_part *parts, size_t n)
{
    struct buf value = {0};
    bool any = false;

    for (size_t i = 0; i < n; i++) {
        const struct render_part *part = &parts[i];

        buf_clear(&value);
        render_value(&value, (struct render_style){0}, item, part->pointer, part->kind);
        if (value.len == 0)
            continue;
        buf_append(out, str_from(part->before));
        buf_append(out, buf_str(&value));
        if (part->after != NULL)
            buf_append(out, str_from(part->after));
        any = true;
    }
    if (any)
        buf_append_char(out, '\n');
    buf_free(&value);
}

#include "config.h"

#include "src/metric/metric.h"

#include "src/base/buf.h"
#include "src/base/histogram.h"
#include "src/base/number.h"
#include "src/base/utf8.h"

#include <assert.h>
#include <math.h>

enum type { COUNTER = 0, GAUGE, DISTRIBUTION };

static const char *const type_names[] = {
    [COUNTER] = "counter",
    [GAUGE] = "gauge",
    [DISTRIBUTION] = "histogram",
};

static const struct row {
    const char *name;
    enum type type;
    const char *labels; /* names, separated by commas */
    double per_unit;
    unsigned low, high;
    const char *help;
} rows[] = {
#define METRIC(id, name, type, labels, help) {name, type, labels, 1, 0, 0, help},
#define HISTOGRAM(id, name, labels, per_unit, low, high, help) \
    {name, DISTRIBUTION, labels, per_unit, low, high, help},
#include "src/metric/metric.def"
#undef METRIC
#undef HISTOGRAM
};

const char *metric_name(enum metric metric)
{
    return rows[metric].name;
}

static void append_label_value(struct buf *b, struct str v)
{
    while (v.len > 0) {
        size_t n = utf8_char_len(v);

        if (n == 0) {
            buf_append(b, STR(UTF8_REPLACEMENT));
            n = utf8_bad_len(v);
        } else if (v.ptr[0] == '\n') {
            buf_append(b, STR("\\n"));
        } else {
            if (v.ptr[0] == '"' || v.ptr[0] == '\\')
                buf_append_char(b, '\\');
            buf_append(b, (struct str){v.ptr, n});
        }
        v = (struct str){v.ptr + n, v.len - n};
    }
}

/* Appends name="value" for each label. A wrong number of values is a bug. */
static void append_labels(struct buf *b, const struct row *row, const struct str *values,
                          size_t n)
{
    const char *name = row->labels;
    size_t i = 0;

    for (; *name != '\0'; i++) {
        size_t len = strcspn(name, ",");

        assert(i < n);
        if (i > 0)
            buf_append_char(b, ',');
        buf_append(b, (struct str){name, len});
        buf_append(b, STR("=\""));
        append_label_value(b, values[i]);
        buf_append_char(b, '"');
        name += len + (name[len] == ',');
    }
    assert(i == n);
}

static void append_head(struct buf *b, const struct row *row, const char *suffix,
                        const struct str *labels, size_t n)
{
    buf_append(b, str_from(row->name));
    buf_append(b, str_from(suffix));
    if (n > 0) {
        buf_append_char(b, '{');
        append_labels(b, row, labels, n);
        buf_append_char(b, '}');
    }
    buf_append_char(b, ' ');
}

static void append_number(struct buf *b, double v)
{
    char text[NUMBER_MAX];

    if (isfinite(v))
        buf_append(b, (struct str){text, number_double(text, v)});
    else
        buf_append(b, isnan(v) ? STR("NaN") : v > 0 ? STR("+Inf") : STR("-Inf"));
}

void metric_append_u64(struct buf *out, enum metric metric, uint64_t v,
                       const struct str *labels, size_t n)
{
    append_head(out, &rows[metric], "", labels, n);
    buf_append_u64(out, v);
    buf_append_char(out, '\n');
}

void metric_append_double(struct buf *out, enum metric metric, double v,
                          const struct str *labels, size_t n)
{
    append_head(out, &rows[metric], "", labels, n);
    append_number(out, v);
    buf_append_char(out, '\n');
}

static void append_bucket(struct buf *b, const struct row *row, const struct str *labels,
                          size_t n, double bound, uint64_t count)
{
    buf_append(b, str_from(row->name));
    buf_append(b, STR("_bucket{"));
    append_labels(b, row, labels, n);
    if (n > 0)
        buf_append_char(b, ',');
    buf_append(b, STR("le=\""));
    append_number(b, bound);
    buf_append(b, STR("\"} "));
    buf_append_u64(b, count);
    buf_append_char(b, '\n');
}

void metric_append_histogram(struct buf *out, enum metric metric, const struct histogram *h,
                             const struct str *labels, size_t n)
{
    const struct row *row = &rows[metric];
    uint64_t count = histogram_count(h);

    assert(row->type == DISTRIBUTION);
    for (unsigned k = row->low; k <= row->high; k++) {
        uint64_t bound = UINT64_C(1) << k;

        append_bucket(out, row, labels, n, (double)bound / row->per_unit,
                      histogram_count_to(h, bound));
    }
    append_bucket(out, row, labels, n, INFINITY, count);
    append_head(out, row, "_sum", labels, n);
    append_number(out, (double)h->sum / row->per_unit);
    buf_append_char(out, '\n');
    append_head(out, row, "_count", labels, n);
    buf_append_u64(out, count);
    buf_append_char(out, '\n');
}

static bool skip_prefix(struct str *s, struct str prefix)
{
    if (!str_has_prefix(*s, prefix))
        return false;
    *s = (struct str){s->ptr + prefix.len, s->len - prefix.len};
    return true;
}

/* Returns true if the line is a sample of this metric. */
static bool is_of(struct str line, const struct row *row)
{
    if (!skip_prefix(&line, str_from(row->name)))
        return false;
    if (row->type == DISTRIBUTION)
        (void)(skip_prefix(&line, STR("_bucket")) || skip_prefix(&line, STR("_sum")) ||
               skip_prefix(&line, STR("_count")));
    return line.len > 0 && (line.ptr[0] == '{' || line.ptr[0] == ' ');
}

/* Finds the metric of a line. Samples come in runs, so the previous metric is a good guess. */
static size_t find_metric(struct str line, size_t guess)
{
    if (guess < N_METRICS && is_of(line, &rows[guess]))
        return guess;
    for (size_t i = 0; i < N_METRICS; i++)
        if (is_of(line, &rows[i]))
            return i;
    return N_METRICS;
}

static struct str take_line(struct str *text)
{
    const char *end = memchr(text->ptr, '\n', text->len);
    size_t len = end != NULL ? (size_t)(end - text->ptr) + 1 : text->len;
    struct str line = {text->ptr, len};

    *text = (struct str){text->ptr + len, text->len - len};
    return line;
}

void metric_render(struct buf *out, struct str samples)
{
    struct buf groups[N_METRICS + 1] = {{0}};
    size_t metric = 0;

    while (samples.len > 0) {
        struct str line = take_line(&samples);

        if (line.ptr[0] == '#')
            continue; /* from a page rendered earlier */
        metric = find_metric(line, metric);
        buf_append(&groups[metric], line);
    }
    for (size_t i = 0; i <= N_METRICS; i++) {
        if (i < N_METRICS && groups[i].len > 0)
            buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", rows[i].name, rows[i].help,
                       rows[i].name, type_names[rows[i].type]);
        buf_append(out, buf_str(&groups[i]));
        buf_free(&groups[i]);
    }
}

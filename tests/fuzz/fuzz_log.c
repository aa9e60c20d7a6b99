/*
 * A whole log.  The first byte chooses the vendor and what is lenient; then come events, each a
 * type, the length of its body in two bytes, and the body.  Headers are made here, without
 * checksums, so that damage gets inside.
 */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "src/base/buf.h"
#include "src/base/bytes.h"
#include "src/format/json.h"
#include "sync/decode/row.h"
#include "sync/decode/row_json.h"
#include "sync/decode/transaction.h"
#include "sync/inspect/decode_event.h"
#include "sync/value/value_json.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { MARIADB = 1, LENIENT = 2, FILE_MODE = 4, UNWANTED = 8, ARENA = 16 };

#define EVENT_MAX (1 << 20)

static void put_le(struct buf *b, uint64_t v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        buf_append_char(b, (char)(v >> (8 * i)));
}

static struct str make_event(struct buf *b, uint8_t type, uint16_t flags, struct str body)
{
    buf_clear(b);
    put_le(b, 1700000000, 4);
    put_le(b, type, 1);
    put_le(b, 1, 4);
    put_le(b, EVENT_HEADER_LEN + body.len, 4);
    put_le(b, 0, 4);
    put_le(b, flags, 2);
    buf_append(b, body);
    return buf_str(b);
}

static void make_format(struct buf *body, bool mariadb)
{
    char server[50] = "8.0.40";

    if (mariadb)
        memcpy(server, "11.4.2-MariaDB", 15);
    put_le(body, 4, 2);
    buf_append(body, (struct str){server, sizeof(server)});
    put_le(body, 0, 4);
    put_le(body, EVENT_HEADER_LEN, 1);
    for (unsigned type = 1; type <= 171; type++) {
        const bool v2 = (type >= 30 && type <= 32) || type == 39;

        put_le(body, type == 2 ? 13 : v2 ? 10 : event_has_rows((uint8_t)type) ? 8 : 0, 1);
    }
    put_le(body, 0, 1);
    put_le(body, 0, 4);
}

static bool want(void *ctx, struct str database, struct str table, struct schema **schema)
{
    (void)ctx;
    (void)database;
    (void)schema;
    return table.len % 2 == 1;
}

static void check_json(struct str text)
{
    struct err err;

    if (!json_valid(text, &err))
        abort();
}

static void print_values(struct buf *out, const char *name, const struct schema *schema,
                         const struct value *values)
{
    bool comma = false;

    if (values == NULL)
        return;
    buf_printf(out, ",\"%s\":{", name);
    for (size_t i = 0; i < schema->n_columns; i++) {
        if (values[i].kind == VALUE_ABSENT)
            continue;
        if (comma)
            buf_append_char(out, ',');
        comma = true;
        buf_append_json(out, schema->columns[i].name);
        buf_append_char(out, ':');
        value_append_json(out, &values[i]);
    }
    buf_append_char(out, '}');
}

/* What rows are read with. */
struct readers {
    struct row_reader *values;
    struct row_json *texts;
    struct buf text, straight;
};

/* The rows of an event by way of values and straight from the bytes: both say the same. */
static void read_rows(struct readers *r, const struct step *step, bool in_arena)
{
    struct arena *a = in_arena ? arena_new() : NULL;
    struct row_json_counts counts = {0};
    struct row_change change;
    struct err err = {0}, other = {0};
    int got = row_reader_open(r->values, &step->rows, step->map, &err) ? 1 : -1;
    int also = row_json_open(r->texts, &step->rows, step->map, &other) ? 1 : -1;

    for (size_t n = 0; got == 1 && also == 1 && n < 1000; n++) {
        buf_clear(&r->text);
        buf_clear(&r->straight);
        got = row_reader_next(r->values, a, &change, &err);
        also = row_json_next(r->texts, &r->straight, &counts, &other);
        if (got != 1)
            break;
        print_values(&r->text, "before", step->map->schema, change.before);
        print_values(&r->text, "after", step->map->schema, change.after);
        if (!str_equal(buf_str(&r->text), buf_str(&r->straight)))
            abort();
        r->text.ptr[0] = '{'; /* in place of its comma */
        buf_append_char(&r->text, '}');
        if (r->text.len < 4096)
            check_json(buf_str(&r->text));
    }
    assert(got >= 0 || err.kind == ERR_REJECT);
    if (got != also || strcmp(err.msg, other.msg) != 0)
        abort();
    arena_free(a);
}

static bool feed(struct log_reader *r, struct readers *rows, struct str raw, bool in_arena)
{
    struct step step;
    struct buf out = {0};
    struct err err = {0};
    int got = -1;

    if (log_reader_feed(r, raw, &err))
        while ((got = log_reader_next(r, &step, &err)) == 1) {
            if (step.kind == STEP_ROWS)
                read_rows(rows, &step, in_arena);
            buf_clear(&out);
            buf_append(&out, STR("{\"a\":1"));
            decode_event_append(&out, log_reader_format(r), &step);
            buf_append(&out, STR("}"));
            if (out.len < 4096)
                check_json(buf_str(&out));
        }
    assert(got >= 0 || err.kind == ERR_FATAL);
    buf_free(&out);
    return got == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    const uint8_t mode = len > 0 ? bytes[0] : 0;
    const struct log_reader_options opt = {
        .want = (mode & UNWANTED) != 0 ? want : NULL,
        .file = (mode & FILE_MODE) != 0,
        .lenient = (mode & LENIENT) != 0,
        .event_max = EVENT_MAX,
        .start = {STR("bin.000001"), 4},
    };
    struct log_reader *r = log_reader_new(&opt);
    struct readers rows = {.values = row_reader_new(), .texts = row_json_new()};
    struct buf raw = {0}, body = {0};

    make_format(&body, (mode & MARIADB) != 0);
    make_event(&raw, EVENT_FORMAT_DESCRIPTION, 0, buf_str(&body));

    bool ok = feed(r, &rows, buf_str(&raw), false);

    for (size_t at = 1; ok && at + 3 <= len;) {
        size_t n = load_le16(bytes + at + 1);

        n = n < len - at - 3 ? n : len - at - 3;
        make_event(&raw, bytes[at], 0, (struct str){(const char *)bytes + at + 3, n});
        ok = feed(r, &rows, buf_str(&raw), (mode & ARENA) != 0);
        at += 3 + n;
    }
    buf_free(&raw);
    buf_free(&body);
    buf_free(&rows.text);
    buf_free(&rows.straight);
    row_json_free(rows.texts);
    row_reader_free(rows.values);
    log_reader_free(r);
    return 0;
}

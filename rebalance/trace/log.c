#include "config.h"

#include "rebalance/trace/parts.h"

#include "src/base/clock.h"
#include "src/base/mem.h"
#include "src/base/random.h"
#include "src/mysql/mysql.h"
#include "sync/decode/row.h"
#include "sync/decode/transaction.h"
#include "sync/document/resolver.h"
#include "sync/inspect/log_filter.h"
#include "sync/routing/routing.h"
#include "sync/server/server_access.h"
#include "sync/source/transport/transport.h"
#include "sync/value/temporal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define LOG_MS      20000
#define CHANGES_MAX 1000
#define EVENT_MAX   ((size_t)1 << 30)

/* The log while it is read. */
struct reading_log {
    struct trace *t;
    const struct plan *plan;
    struct schema *schema;
    struct log_filter filter;
    struct log_reader *reader;
    struct row_reader *rows;
    struct transport *transport;
    int64_t until_ms;
    size_t cap;
    bool is_over;
};

static struct str format_position(struct arena *a, struct str file, uint64_t offset)
{
    struct buf text = {0};

    position_format(&text, (struct position){file, offset});

    const struct str is = arena_copy(a, buf_str(&text));

    buf_free(&text);
    return is;
}

/* ---- a row ---- */

static bool is_ours(const struct reading_log *l, const struct binding *b,
                    const struct value *row)
{
    struct buf id = {0}, key = {0}, routing = {0};
    struct err ignored = {0};

    if (row == NULL)
        return false;
    /* The key comes first: it is there even if the row has no place. */
    if (l->t->row_place > 0)
        (void)!resolver_row_key(l->plan, l->t->row_place, b, row, &key);
    else
        (void)!plan_root_id(l->plan, b, row, &id, &key, &routing, &ignored);

    const bool is = key.len > 0 && str_equal(buf_str(&key), l->t->row_key);

    buf_free(&id);
    buf_free(&key);
    buf_free(&routing);
    return is;
}

static void list_columns(const struct reading_log *l, const struct schema *s,
                         const struct row_change *c, struct trace_change *out)
{
    if (c->before == NULL || c->after == NULL)
        return;
    out->columns = arena_alloc(l->t->arena, s->n_columns, sizeof(*out->columns));
    for (size_t i = 0; i < s->n_columns; i++)
        if (c->after[i].kind != VALUE_ABSENT && !value_same(&c->before[i], &c->after[i]))
            out->columns[out->n_columns++] = arena_copy(l->t->arena, s->columns[i].name);
}

static void add_change(struct reading_log *l, const struct step *step,
                       const struct row_change *c)
{
    static const char *const ops[] = {
        [ROW_INSERT] = "insert", [ROW_UPDATE] = "update", [ROW_DELETE] = "delete"};
    struct trace_log *log = &l->t->log;
    const struct event *e = &step->event;
    char time[TEMPORAL_MAX + 1];
    size_t len = temporal_epoch(time, e->time);

    time[len++] = 'Z';
    if (log->n_changes == l->cap) {
        l->cap = l->cap == 0 ? 16 : l->cap * 2;
        log->changes = mem_resize(log->changes, l->cap, sizeof(*log->changes));
    }

    struct trace_change *out = &log->changes[log->n_changes++];

    *out = (struct trace_change){
        .position = format_position(l->t->arena, e->file, e->start),
        .begin = format_position(l->t->arena, e->file, step->begin),
        .time = arena_copy(l->t->arena, (struct str){time, len}),
        .op = ops[c->op],
    };
    list_columns(l, step->map->schema, c, out);
}

/* Events that cannot be read now, as the table had another shape, are only counted. */
static void read_rows(struct reading_log *l, const struct step *step)
{
    struct trace_log *log = &l->t->log;
    struct err err = {0};
    struct binding *b = step->map->broken.kind == ERR_NONE
                            ? plan_bind(l->plan, l->t->row_place, step->map->schema, &err)
                            : NULL;
    struct row_change change;
    int got = -1;

    if (b != NULL && row_reader_open(l->rows, &step->rows, step->map, &err))
        while ((got = row_reader_next(l->rows, NULL, &change, &err)) == 1)
            if (is_ours(l, b, change.before) || is_ours(l, b, change.after))
                add_change(l, step, &change);
    log->n_unread += got < 0;
    binding_free(b);
}

/* ---- the log ---- */

static bool is_name(struct str a, struct str b, bool any_case)
{
    return a.len == b.len && (any_case ? strncasecmp(a.ptr, b.ptr, a.len) == 0
                                       : memcmp(a.ptr, b.ptr, a.len) == 0);
}

/* A table_map_want_fn. */
static bool wants(void *ctx, struct str database, struct str table, struct schema **schema)
{
    const struct reading_log *l = ctx;

    if (!is_name(database, l->schema->database, l->schema->any_case) ||
        !is_name(table, l->schema->table, l->schema->any_case))
        return false;
    *schema = schema_ref(l->schema);
    return true;
}

static void stop_if_enough(struct reading_log *l, const struct step *step)
{
    struct trace_log *log = &l->t->log;
    const bool is_stopping = stop_is_set(&l->t->co->stop);

    if (!is_stopping && log->n_changes < CHANGES_MAX && clock_mono_ms() < l->until_ms)
        return;
    log->end = is_stopping ? "stopped" : "limit";
    log->to = format_position(l->t->arena, step->event.file, step->event.end);
    l->is_over = true;
}

static bool read_event(struct reading_log *l, struct str raw, struct err *err)
{
    struct step step;
    int got = 0;

    if (!log_reader_feed(l->reader, raw, err))
        return false;
    while (!l->is_over && (got = log_reader_next(l->reader, &step, err)) == 1) {
        if (step.kind == STEP_ROWS)
            read_rows(l, &step);
        if (step.ends) /* a later call may begin here */
            stop_if_enough(l, &step);
    }
    return got >= 0;
}

static bool read_all(struct reading_log *l, struct err *err)
{
    struct str raw;
    int got = 0;

    while (!l->is_over && (got = transport_next(l->transport, &raw, err)) == 1) {
        errand_live(l->t->errand);
        if (!read_event(l, raw, err))
            return false;
    }
    if (!l->is_over && got == 0) {
        const struct position at = log_reader_position(l->reader);

        l->t->log.end = "end_of_log";
        l->t->log.to = format_position(l->t->arena, at.file, at.offset);
    }
    return got >= 0;
}

/* As another client beside the daemon, with a random server id that no other should have. */
static bool open_dump(struct reading_log *l, struct position start, struct err *err)
{
    const struct str topic = plan_topic(l->plan, plan_place_topic(l->plan, l->t->row_place));
    const struct topic_definition *d = definitions_topic(l->t->definitions, topic);
    char uuid[37];
    struct transport_options dump = {.uuid = uuid,
                                     .file = start.file,
                                     .offset = start.offset,
                                     .event_max = EVENT_MAX,
                                     .non_block = true};
    struct server_access *server = NULL;
    struct random r;

    random_init_system(&r);
    dump.server_id = (uint32_t)(UINT32_C(0xf0000000) + random_below(&r, 0x0fffffff));
    /* The node's uuid with the id as its last 8 digits, as for its topics. */
    snprintf(uuid, sizeof(uuid), "%.28s%08" PRIx32, l->t->co->identity.uuid, dump.server_id);
    if (d == NULL)
        return err_set(err, ERR_REJECT, "topic %" STR_FMT " is gone", STR_ARG(topic));

    const bool ok = server_access_new(&server, d, NULL, l->t->co->opt.data_dir, err) &&
                    transport_open_server(&l->transport, &server->options, &dump, err);

    server_access_unref(server);
    return ok;
}

static void read_log(struct reading_log *l)
{
    struct trace_log *log = &l->t->log;
    struct position start = {.offset = 4};
    struct err err = {0};

    if (log->from.len > 0)
        (void)!position_parse(log->from, &start, &err);

    const struct log_reader_options opt = {
        .want = wants, .want_ctx = l, .lenient = true, .event_max = EVENT_MAX, .start = start};

    l->reader = log_reader_new(&opt);
    l->rows = row_reader_new();
    if (!open_dump(l, start, &err) || !read_all(l, &err)) {
        log->end = "failed";
        log->why = arena_copy(l->t->arena, str_from(err.msg));
    }
    transport_close(l->transport);
    row_reader_free(l->rows);
    log_reader_free(l->reader);
}

void trace_read_log(struct trace *t)
{
    t->log.from = t->asked->from;
    if (t->row_target == NULL || t->row_key.len == 0) {
        t->log.end = "failed";
        t->log.why = STR("Millrace cannot name the row now");
        return;
    }

    struct reading_log l = {.t = t,
                            .plan = ((const struct reading *)t->row_target->plan)->plan,
                            .until_ms = clock_mono_ms() + LOG_MS};

    l.schema = plan_place_schema(l.plan, t->row_place);
    read_log(&l);
}

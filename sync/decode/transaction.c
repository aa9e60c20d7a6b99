#include "config.h"

#include "sync/decode/transaction.h"

#include "src/base/arena.h"
#include "src/base/mem.h"
#include "sync/decode/framer.h"
#include "sync/decode/payload.h"
#include "sync/decode/unpack.h"
#include "sync/position/gtid_set.h"
#include "sync/value/charset.h"

#include <inttypes.h>
#include <stdlib.h>

#define EVENT_MAX_DEFAULT ((uint64_t)1 << 30)

struct log_reader {
    bool lenient;
    uint64_t event_max;
    struct framer framer;
    struct table_maps *maps;
    struct payload *payload;
    struct unpacker *unpacker;
    struct charset_converter *converter;
    struct arena *arena; /* holds the current step */
    struct gtid_set *executed;

    /* The event fed. */
    struct event outer;
    bool has_outer;
    bool in_payload;

    /* The current transaction. */
    struct gtid gtid;
    bool has_gtid;   /* its GTID event came */
    bool running;    /* it began and has an end to come */
    bool standalone; /* MariaDB: its one statement ends it */
    bool prepares;   /* an XA transaction, to be prepared or committed in one phase */
    bool no_effect;  /* MariaDB: the first half of a two-phase ALTER, or a failed one */
    bool has_rows;
    uint64_t begin;
    bool statement_ended; /* the last step ended its statement */
};

static bool is_unwanted(void *ctx, uint8_t type, struct str body)
{
    const struct log_reader *r = ctx;
    struct event_rows rows;
    struct err ignored;

    if (!event_rows_parse(&r->framer.format, type, body, &rows, &ignored))
        return false;

    const struct table_map *m = table_maps_find(r->maps, rows.table_id);

    return m != NULL && !m->wanted;
}

struct log_reader *log_reader_new(const struct log_reader_options *opt)
{
    struct log_reader *r = mem_alloc(1, sizeof(*r));

    r->lenient = opt->lenient;
    r->event_max = opt->event_max != 0 ? opt->event_max : EVENT_MAX_DEFAULT;
    framer_init(&r->framer, opt->start, opt->file, r->event_max);
    r->framer.unwanted = is_unwanted;
    r->framer.ctx = r;
    if (opt->format != NULL) {
        r->framer.format = *opt->format;
        r->framer.has_format = true;
    }
    r->maps = table_maps_new(opt->want, opt->want_ctx);
    r->payload = payload_new(r->event_max);
    r->unpacker = unpacker_new();
    r->converter = charset_converter_new();
    r->arena = arena_new();
    r->executed = opt->executed != NULL ? gtid_set_copy(opt->executed) : gtid_set_new();
    return r;
}

void log_reader_free(struct log_reader *r)
{
    if (r == NULL)
        return;
    framer_fini(&r->framer);
    table_maps_free(r->maps);
    payload_free(r->payload);
    unpacker_free(r->unpacker);
    charset_converter_free(r->converter);
    arena_free(r->arena);
    gtid_set_free(r->executed);
    free(r);
}

const struct event_format *log_reader_format(const struct log_reader *r)
{
    return &r->framer.format;
}

struct position log_reader_position(const struct log_reader *r)
{
    const struct framer *f = &r->framer;

    if (f->rotating)
        return (struct position){buf_str(&f->next_name), f->next_offset};
    return (struct position){buf_str(&f->name), f->offset};
}

const struct gtid_set *log_reader_executed(const struct log_reader *r)
{
    return r->executed;
}

void log_reader_forget_tables(struct log_reader *r)
{
    table_maps_clear(r->maps);
}

/* Prefix the message with the event's place and name: nothing after it can be trusted. */
static bool at_event(const struct event *e, struct err *err)
{
    err->kind = ERR_FATAL;
    return err_wrap(err, "%" STR_FMT ":%" PRIu64 ": %s event", STR_ARG(e->file), e->start,
                    event_name(e->type));
}

static bool refuse(const struct event *e, struct err *err, const char *reason)
{
    err_set(err, ERR_FATAL, "%s", reason);
    return at_event(e, err);
}

/* Transactions */

static void begin(struct log_reader *r, struct step *out)
{
    r->running = true;
    r->begin = out->event.start;
    out->begin = r->begin;
    out->begins = true;
    out->gtid = r->gtid;
}

static void forget_running(struct log_reader *r)
{
    r->running = r->has_gtid = r->standalone = r->no_effect = r->prepares = r->has_rows = false;
    r->gtid = (struct gtid){0};
}

/* End the transaction with this step. */
static void end(struct log_reader *r, struct step *out)
{
    out->ends = true;
    if (r->gtid.family != GTID_NONE)
        gtid_set_add(r->executed, &r->gtid);
    forget_running(r);
}

/*
 * What follows lies outside any transaction: an unfinished one never took effect, as for a
 * replica.  Its GTID is not executed: after a crash the server assigns it to another one.
 */
static void break_off(struct log_reader *r, struct step *out)
{
    out->breaks = r->running || r->has_gtid;
    out->gtid = (struct gtid){0};
    out->begin = 0;
    out->prepares = false;
    forget_running(r);
    table_maps_end_statement(r->maps);
}

static bool on_gtid(struct log_reader *r, struct step *out, struct err *err)
{
    struct event_gtid g;

    if (!event_gtid_parse(&out->event, &g, err))
        return at_event(&out->event, err);
    break_off(r, out);
    r->gtid = g.gtid;
    r->has_gtid = true;
    r->standalone = g.standalone;
    r->no_effect = g.start_alter || g.rollback_alter;
    r->prepares = out->prepares = g.xa_prepare;
    out->kind = STEP_BEGIN;
    begin(r, out);
    /* MySQL sends BEGIN or a single statement next; a MariaDB transaction has begun here. */
    r->running = out->event.type == EVENT_MARIADB_GTID && !g.standalone;
    return true;
}

/* BEGIN opens a transaction, unless its GTID event already did. */
static void on_begin(struct log_reader *r, struct step *out)
{
    out->kind = STEP_NOTHING;
    if (r->has_rows)
        break_off(r, out);
    if (!r->has_gtid && !r->running) {
        out->kind = STEP_BEGIN;
        begin(r, out);
    }
    r->running = true;
}

static void on_end(struct log_reader *r, enum step_kind kind, struct step *out)
{
    out->kind = kind;
    end(r, out);
}

/* A statement outside a larger transaction is a transaction itself. */
static void on_statement(struct log_reader *r, struct step *out)
{
    out->kind = r->no_effect ? STEP_NOTHING : STEP_STATEMENT;
    if (r->running)
        return;
    if (!r->has_gtid)
        begin(r, out);
    end(r, out);
}

/*
 * The log lacks the rows that a statement changed.  If the table is obvious, the caller handles
 * that table; otherwise it may be any.
 */
static bool on_data_change(struct log_reader *r, struct step *out, struct err *err)
{
    on_statement(r, out);
    if (out->ddl.n_tables == 1 || r->lenient)
        return true;
    err_set(
        err, ERR_FATAL,
        "the server logged a change as a statement, not as rows: set binlog_format=ROW on the "
        "server and in its sessions, then rebuild the tables that the change may affect: %.*s",
        (int)(out->query.sql.len < 120 ? out->query.sql.len : 120), out->query.sql.ptr);
    return at_event(&out->event, err);
}

static bool on_ddl(struct log_reader *r, struct step *out, struct err *err)
{
    out->xid = out->ddl.xid;
    switch (out->ddl.kind) {
    case DDL_BEGIN: on_begin(r, out); return true;
    case DDL_XA_START:
        on_begin(r, out);
        r->prepares = out->prepares = true;
        return true;
    case DDL_XA_END:
    case DDL_XA_PREPARE: out->kind = STEP_NOTHING; return true;
    case DDL_COMMIT: on_end(r, STEP_COMMIT, out); return true;
    case DDL_ROLLBACK: on_end(r, STEP_ROLLBACK, out); return true;
    case DDL_SAVEPOINT: out->kind = STEP_SAVEPOINT; return true;
    case DDL_ROLLBACK_TO: out->kind = STEP_ROLLBACK_TO; return true;
    case DDL_XA_COMMIT: on_end(r, STEP_XA_COMMIT, out); return true;
    case DDL_XA_ROLLBACK: on_end(r, STEP_XA_ROLLBACK, out); return true;
    case DDL_DML: return on_data_change(r, out, err);
    case DDL_UNKNOWN:
    case DDL_NONE:
    case DDL_CREATE_TABLE:
    case DDL_ALTER_TABLE:
    case DDL_DROP_TABLE:
    case DDL_RENAME_TABLE:
    case DDL_TRUNCATE_TABLE:
    case DDL_CREATE_DATABASE:
    case DDL_ALTER_DATABASE:
    case DDL_DROP_DATABASE: on_statement(r, out); return true;
    }
    return true;
}

/* Convert the text to UTF-8; keep it as it is if that fails. */
static struct str sql_utf8(struct log_reader *r, const struct event_query *q)
{
    const struct charset *cs = charset_of_collation(q->collation);
    struct str text;

    if (cs == NULL || charset_is_utf8_based(cs) ||
        !charset_to_utf8(r->converter, cs, q->sql, r->arena, &text))
        return q->sql;
    return text;
}

static struct sql_dialect dialect_of(const struct event_format *f, const struct event_query *q)
{
    return (struct sql_dialect){
        .mariadb = f->mariadb,
        .ansi_quotes = (q->sql_mode & SQL_MODE_ANSI_QUOTES) != 0,
        .no_backslash_escapes = (q->sql_mode & SQL_MODE_NO_BACKSLASH_ESCAPES) != 0,
    };
}

static bool on_query(struct log_reader *r, struct step *out, struct err *err)
{
    const struct event *e = &out->event;
    const struct event_format *f = &r->framer.format;
    const bool read =
        e->type == EVENT_QUERY
            ? event_query_parse(f, e->body, &out->query, err)
            : event_query_unpack(f, e->body, r->unpacker, r->event_max, &out->query, err);

    if (!read)
        return at_event(e, err);
    out->query.sql = sql_utf8(r, &out->query);
    ddl_parse(out->query.database, out->query.sql, dialect_of(f, &out->query), r->arena,
              &out->ddl);
    return on_ddl(r, out, err);
}

static bool on_xa_prepare(struct log_reader *r, struct step *out, struct err *err)
{
    struct event_xa xa;
    struct buf text = {0};

    if (!event_xa_parse(out->event.body, &xa, err))
        return at_event(&out->event, err);
    event_xa_format(&text, &xa);
    out->xid = arena_copy(r->arena, buf_str(&text));
    buf_free(&text);
    on_end(r, xa.one_phase ? STEP_COMMIT : STEP_XA_PREPARE, out);
    return true;
}

/* Rows */

static bool on_table_map(struct log_reader *r, struct step *out, struct err *err)
{
    if (!table_maps_add(r->maps, &r->framer.format, out->event.body, &out->map, err))
        return at_event(&out->event, err);
    return true;
}

static bool on_rows(struct log_reader *r, struct step *out, struct err *err)
{
    const struct event *e = &out->event;

    if (!event_rows_parse(&r->framer.format, e->type, e->body, &out->rows, err))
        return at_event(e, err);
    out->rows.cut = e->cut;
    out->map = table_maps_find(r->maps, out->rows.table_id);

    const bool last = (out->rows.flags & ROWS_STMT_END) != 0;

    /* MariaDB: an event without rows that only ends the statement. */
    if (out->map == NULL && !(last && out->rows.table_id == ROWS_TABLE_ID_DUMMY))
        return refuse(e, err, "no Table_map event announced its table");
    if (out->map != NULL)
        out->kind = out->map->wanted ? STEP_ROWS : STEP_ROWS_UNWANTED;
    r->statement_ended = last;
    if (r->running || r->has_gtid) {
        r->running = r->has_rows = true;
        return true;
    }
    /* Before MySQL 5.5, rows of non-transactional tables came without a transaction. */
    begin(r, out);
    r->has_rows = true;
    if (last)
        end(r, out);
    return true;
}

/* The rest */

static bool on_gtid_set(struct log_reader *r, struct step *out, struct err *err)
{
    struct gtid_set *set;

    out->kind = STEP_GTIDS;
    if ((out->event.flags & EVENT_FLAG_ARTIFICIAL) != 0 || !gtid_set_is_empty(r->executed))
        return true;
    if (!event_gtid_set_parse(&out->event, &set, err))
        return at_event(&out->event, err);
    gtid_set_merge(r->executed, set);
    gtid_set_free(set);
    return true;
}

static bool on_incident(struct log_reader *r, struct step *out, struct err *err)
{
    struct event_incident incident;

    if (r->lenient)
        return true;
    if (!event_incident_parse(out->event.body, &incident, err))
        return at_event(&out->event, err);
    err_set(err, ERR_FATAL,
            "the server says that changes are missing in its log (%u: %" STR_FMT
            "): rebuild the tables of this topic",
            incident.code, STR_ARG(incident.message));
    return at_event(&out->event, err);
}

/*
 * A server repeats the event if reading starts in the middle of a file; otherwise it started.
 */
static void on_format(struct log_reader *r, struct step *out)
{
    out->kind = STEP_FORMAT;
    table_maps_clear(r->maps);
    if (out->event.start != out->event.end)
        break_off(r, out);
}

/* The log continues in a new file. */
static void on_file_end(struct log_reader *r, enum step_kind kind, struct step *out)
{
    out->kind = kind;
    break_off(r, out);
}

static bool on_load_data(struct log_reader *r, struct step *out, struct err *err)
{
    if (r->lenient)
        return true;
    return refuse(&out->event, err,
                  "the server logged LOAD DATA as a statement, not as rows: set "
                  "binlog_format=ROW");
}

static bool on_unknown(struct step *out, struct err *err)
{
    if ((out->event.flags & EVENT_FLAG_IGNORABLE) != 0)
        return true;
    err_set(err, ERR_FATAL, "unknown event type %u without the mark that it may be ignored",
            out->event.type);
    return at_event(&out->event, err);
}

static bool take(struct log_reader *r, struct step *out, struct err *err)
{
    switch (out->event.type) {
    case EVENT_FORMAT_DESCRIPTION: on_format(r, out); return true;
    case EVENT_ROTATE: on_file_end(r, STEP_ROTATE, out); return true;
    case EVENT_STOP: on_file_end(r, STEP_NOTHING, out); return true;
    case EVENT_HEARTBEAT:
    case EVENT_HEARTBEAT_V2: out->kind = STEP_HEARTBEAT; return true;
    case EVENT_GTID:
    case EVENT_ANONYMOUS_GTID:
    case EVENT_GTID_TAGGED:
    case EVENT_MARIADB_GTID: return on_gtid(r, out, err);
    case EVENT_PREVIOUS_GTIDS:
    case EVENT_GTID_LIST: return on_gtid_set(r, out, err);
    case EVENT_QUERY:
    case EVENT_QUERY_COMPRESSED: return on_query(r, out, err);
    case EVENT_XID: on_end(r, STEP_COMMIT, out); return true;
    case EVENT_XA_PREPARE: return on_xa_prepare(r, out, err);
    case EVENT_TABLE_MAP: return on_table_map(r, out, err);
    case EVENT_INCIDENT: return on_incident(r, out, err);
    case EVENT_LOAD:
    case EVENT_CREATE_FILE:
    case EVENT_APPEND_BLOCK:
    case EVENT_EXEC_LOAD:
    case EVENT_DELETE_FILE:
    case EVENT_NEW_LOAD:
    case EVENT_BEGIN_LOAD_QUERY:
    case EVENT_EXECUTE_LOAD_QUERY: return on_load_data(r, out, err);
    case EVENT_START_ENCRYPTION:
        if (r->framer.is_file)
            return refuse(&out->event, err,
                          "the server encrypted this file: read it through the server "
                          "(--topic NAME)");
        return true;
    case EVENT_INTVAR: /* context of statements */
    case EVENT_RAND:
    case EVENT_USER_VAR:
    case EVENT_IGNORABLE:
    case EVENT_ROWS_QUERY:
    case EVENT_TRANSACTION_CONTEXT:
    case EVENT_VIEW_CHANGE:
    case EVENT_ANNOTATE_ROWS:
    case EVENT_BINLOG_CHECKPOINT:
    case EVENT_TRANSACTION_PAYLOAD: return true;
    case EVENT_START_V3:
        return refuse(&out->event, err, "logs of MySQL before 5.0 are not supported");
    default:
        return event_has_rows(out->event.type) ? on_rows(r, out, err) : on_unknown(out, err);
    }
}

bool log_reader_feed(struct log_reader *r, struct str raw, struct err *err)
{
    if (!framer_read(&r->framer, raw, &r->outer, err)) {
        err->kind = ERR_FATAL;
        return false;
    }
    if (!r->framer.has_format && r->outer.type != EVENT_ROTATE &&
        r->outer.type != EVENT_HEARTBEAT && r->outer.type != EVENT_START_V3)
        return refuse(&r->outer, err, "the log does not begin with a Format_desc event");
    r->has_outer = true;
    return true;
}

/* Take the next event: the one fed, then those in its payload. */
static int next_event(struct log_reader *r, struct event *out, struct err *err)
{
    struct str raw;

    if (r->has_outer) {
        r->has_outer = false;
        *out = r->outer;
        if (out->type != EVENT_TRANSACTION_PAYLOAD)
            return 1;
        r->in_payload = payload_open(r->payload, out->body, err);
        return r->in_payload ? 1 : -1;
    }
    if (!r->in_payload)
        return 0;

    const int got = payload_next(r->payload, &raw, err);

    if (got != 1) {
        r->in_payload = false;
        return got;
    }
    return framer_read_inner(&r->framer, raw, &r->outer, out, err) ? 1 : -1;
}

int log_reader_next(struct log_reader *r, struct step *out, struct err *err)
{
    if (r->statement_ended)
        table_maps_end_statement(r->maps);
    r->statement_ended = false;
    arena_reset(r->arena);

    struct event e;
    const int got = next_event(r, &e, err);

    if (got != 1) {
        if (got < 0)
            at_event(&r->outer, err);
        return got;
    }
    memset(out, 0, offsetof(struct step, query)); /* the rest is for Query events */
    out->event = e;
    out->packed = r->in_payload;
    if (r->running || r->has_gtid) {
        out->gtid = r->gtid;
        out->begin = r->begin;
        out->prepares = r->prepares;
    }
    return take(r, out, err) ? 1 : -1;
}

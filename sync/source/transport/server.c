#include "config.h"

#include "src/base/buf.h"
#include "src/base/bytes.h"
#include "src/base/clock.h"
#include "src/base/mem.h"
#include "src/base/random.h"
#include "src/mysql/account.h"
#include "src/mysql/mysql.h"
#include "sync/decode/event.h"
#include "sync/position/gtid_set.h"
#include "sync/position/server_identity.h"
#include "sync/source/transport/transport.h"
#include "sync/source/transport/wire.h"

#include <assert.h>
#include <stdlib.h>

#define HEARTBEAT_MS      15000 /* each wakes the reader */
#define HEARTBEATS_MISSED 2 /* before the connection counts as dead: a busy server is late */
#define SILENCE_MIN_S     2 /* for an answer, too */
#define WRITE_TIMEOUT_S   600
#define EVENT_MAX         ((size_t)64 << 20)

#define EVENT_TYPE_AT 4
#define PACKET_MAX    (((size_t)1 << 30) + ((size_t)1 << 20)) /* of an event of 1 GiB */

/*
 * A server that disconnected us did so write_timeout_s after we stopped reading; we still read
 * what it had sent by then.  The buffers of two sockets hold no more than this.
 */
#define IN_FLIGHT_MAX ((uint64_t)32 << 20)

struct server_transport {
    struct transport base;
    struct mysql_conn *conn;
    struct wire *wire;
    size_t event_max;
    struct buf beginning; /* of an event that is cut */
    bool non_block;
    bool interrupted; /* atomic */
    bool progressed;  /* the log's events came, not only its description */

    /*
     * To detect that the server gave up on us: when we last returned, the bytes read, and where
     * we were slow.
     */
    int64_t patience_ms;
    int64_t returned_ms;
    uint64_t n_bytes;
    uint64_t dallied_at; /* n_bytes at that time; UINT64_MAX for never */
};

static bool is_interrupted(const struct server_transport *t)
{
    return __atomic_load_n(&t->interrupted, __ATOMIC_ACQUIRE);
}

/* The remedy, appended to the server's message. */
static const char *advice(enum transport_reason reason)
{
    switch (reason) {
    case TRANSPORT_PRIVILEGE: return "; GRANT REPLICATION SLAVE ON *.* TO ";
    case TRANSPORT_NO_BINLOG: return "; start the server with log_bin and binlog_format=ROW";
    case TRANSPORT_PURGED:
    case TRANSPORT_GTID_PURGED:
        return "; its changes cannot be followed any more: the tables must be rebuilt";
    case TRANSPORT_BEYOND:
    case TRANSPORT_DIVERGED:
        return "; this is not the log that Millrace followed before (another server, a "
               "restored or reset one): the tables must be rebuilt";
    case TRANSPORT_DUPLICATE_ID: /* or this topic's new owner came: source.c has the advice */
    case TRANSPORT_NONE:
    case TRANSPORT_LOST:
    case TRANSPORT_CUT:
    case TRANSPORT_BEHIND:
    case TRANSPORT_INTERRUPTED:
    case TRANSPORT_AUTH:
    case TRANSPORT_MAX_PACKET:
    case TRANSPORT_DAMAGED:
    case TRANSPORT_REFUSED: return "";
    }
    return "";
}

static bool too_large(const struct server_transport *t, struct err *err)
{
    return transport_fail(err, TRANSPORT_MAX_PACKET,
                          "MySQL at %s: an event is larger than what servers send, 1 GiB",
                          mysql_conn_where(t->conn));
}

/* Convert a connection's error into one of this transport. */
static bool fail(const struct server_transport *t, const struct err *cause, struct err *err)
{
    enum transport_reason reason = TRANSPORT_LOST;
    struct buf account = {0};

    if (cause->kind == ERR_STOP || is_interrupted(t))
        reason = TRANSPORT_INTERRUPTED;
    else if (cause->kind != ERR_RETRY)
        reason = transport_classify((unsigned)cause->code, cause->msg);
    else if (t->dallied_at != UINT64_MAX && t->n_bytes - t->dallied_at < IN_FLIGHT_MAX)
        reason = TRANSPORT_CUT;
    /* We started at a valid place, so the log itself must be damaged. */
    if (reason == TRANSPORT_BEYOND && t->progressed)
        reason = TRANSPORT_DAMAGED;
    /* The server refused and listens again, so we can ask it. */
    if (reason == TRANSPORT_PRIVILEGE)
        mysql_account_append_known(t->conn, &account);
    transport_fail(err, reason, "%s%s%s", cause->msg, advice(reason),
                   account.len > 0 ? account.ptr : "");
    buf_free(&account);
    return false;
}

static bool exec(struct server_transport *t, const struct buf *sql, struct err *err)
{
    struct err cause;

    return mysql_conn_exec(t->conn, buf_str(sql), &cause) || fail(t, &cause, err);
}

/* Find out whether the server has a log, and whether its events have checksums. */
static bool look_at_log(struct server_transport *t, struct err *err)
{
    struct mysql_result *r;
    struct mysql_row row;
    struct err cause;

    if (!mysql_conn_query(t->conn, STR("SELECT @@GLOBAL.log_bin, @@GLOBAL.binlog_checksum"), &r,
                          &cause))
        return fail(t, &cause, err);
    int got = mysql_result_next(r, &row, &cause);
    bool has_log = got == 1 && str_equal(row.cells[0], STR("1"));

    t->base.checksum = got == 1 && !str_equal(row.cells[1], STR("NONE"));
    mysql_result_close(r);
    if (got < 0)
        return fail(t, &cause, err);
    if (!has_log)
        return transport_fail(err, TRANSPORT_NO_BINLOG, "MySQL at %s writes no binary log%s",
                              mysql_conn_where(t->conn), advice(TRANSPORT_NO_BINLOG));
    return true;
}

/* The address may lead to another server than when we last looked. */
static bool is_meant(struct server_transport *t, const char *identity, struct err *err)
{
    struct err cause;

    return identity == NULL || server_identity_is(t->conn, identity, &cause) ||
           fail(t, &cause, err);
}

/*
 * Set the session variables that both servers read when a dump starts; the newer names are
 * MySQL's.
 */
static bool set_session(struct server_transport *t, const struct transport_options *opt,
                        unsigned heartbeat_ms, struct err *err)
{
    unsigned write_s = opt->write_timeout_s != 0 ? opt->write_timeout_s : WRITE_TIMEOUT_S;
    struct buf sql = {0};

    buf_printf(&sql,
               "SET @master_binlog_checksum = @@GLOBAL.binlog_checksum,"
               " @source_binlog_checksum = @@GLOBAL.binlog_checksum,"
               " @master_heartbeat_period = %llu, @source_heartbeat_period = %llu,",
               heartbeat_ms * 1000000ULL, heartbeat_ms * 1000000ULL);
    buf_append(&sql, STR(" @slave_uuid = "));
    mysql_quote_text(&sql, str_from(opt->uuid));
    buf_append(&sql, STR(", @replica_uuid = "));
    mysql_quote_text(&sql, str_from(opt->uuid));
    buf_printf(&sql, ", SESSION net_write_timeout = %u", write_s);
    if (mysql_conn_flavor(t->conn) == FLAVOR_MARIADB) {
        buf_append(&sql, STR(", @mariadb_slave_capability = 4"));
        if (opt->use_gtid) {
            buf_append(&sql, STR(", @slave_gtid_strict_mode = 0, @slave_gtid_ignore_duplicates"
                                 " = 0, @slave_connect_state = "));
            mysql_quote_text(&sql, opt->gtid);
        }
    }
    t->patience_ms = (int64_t)write_s * 1000 / 2;
    bool ok = exec(t, &sql, err);

    buf_free(&sql);
    return ok;
}

/* MySQL wants the set in its binary form. */
static bool encode_gtid(struct buf *out, struct str text, struct err *err)
{
    struct gtid_set *set = NULL;
    struct err cause;

    if (!gtid_set_parse(text, &set, &cause))
        return transport_fail(err, TRANSPORT_REFUSED, "%s", cause.msg);
    bool ok = gtid_set_is_empty(set) || gtid_set_family(set) == GTID_MYSQL;

    if (ok)
        gtid_set_encode(out, set);
    gtid_set_free(set);
    return ok || transport_fail(err, TRANSPORT_DIVERGED,
                                "the GTIDs %" STR_FMT " are MariaDB's, the server is MySQL",
                                STR_ARG(text));
}

static bool start_dump(struct server_transport *t, const struct transport_options *opt,
                       struct err *err)
{
    bool mariadb = mysql_conn_flavor(t->conn) == FLAVOR_MARIADB;
    struct wire_request r = {
        .server_id = opt->server_id,
        .mysql_gtid = opt->use_gtid && !mariadb,
        .file = opt->use_gtid ? STR("") : opt->file,
        .offset = opt->use_gtid ? 4 : (uint32_t)opt->offset,
    };

    if (opt->non_block)
        r.flags |= WIRE_NON_BLOCK;
    /* Without these events, counted offsets would be wrong. */
    if (mariadb)
        r.flags |= WIRE_SEND_ANNOTATE;
    if (!opt->use_gtid && opt->offset > UINT32_MAX)
        return transport_fail(err, TRANSPORT_REFUSED,
                              "no dump can begin at offset %llu: begin at 4 and skip",
                              (unsigned long long)opt->offset);
    struct buf gtid = {0};
    struct err cause;
    bool ok = !r.mysql_gtid || encode_gtid(&gtid, opt->gtid, err);

    r.gtid_encoded = buf_str(&gtid);
    if (ok && !wire_start(t->wire, &r)) {
        mysql_conn_fail(t->conn, &cause);
        ok = fail(t, &cause, err);
    }
    buf_free(&gtid);
    return ok;
}

/* Release the rest of the packet at once. */
static void cut(struct server_transport *t, struct str *event)
{
    buf_clear(&t->beginning);
    buf_append(&t->beginning, (struct str){event->ptr, EVENT_CUT_LEN});
    *event = buf_str(&t->beginning);
    free(wire_take(t->wire));
}

static int look_at_event(struct server_transport *t, struct str *whole, struct err *err)
{
    const struct str event = *whole;

    if (event.len < EVENT_HEADER_LEN) {
        transport_fail(err, TRANSPORT_DAMAGED,
                       "MySQL at %s sent %zu bytes, which cannot be an event",
                       mysql_conn_where(t->conn), event.len);
        return -1;
    }
    const uint8_t type = load_u8(event.ptr + EVENT_TYPE_AT);

    t->n_bytes += event.len;
    t->progressed = t->progressed || (type != EVENT_ROTATE && type != EVENT_FORMAT_DESCRIPTION);
    if (event.len > t->event_max && event.len > EVENT_CUT_LEN && event_may_be_cut(type))
        cut(t, whole);
    return 1;
}

static int fetch(struct server_transport *t, struct str *event, struct err *err)
{
    struct err cause;

    switch (wire_next(t->wire, event)) {
    case WIRE_PACKET: return look_at_event(t, event, err);
    case WIRE_TOO_LARGE: too_large(t, err); return -1;
    case WIRE_ERROR: mysql_conn_fail(t->conn, &cause); break;
    case WIRE_END:
        if (t->non_block && !is_interrupted(t))
            return 0;
        err_set(&cause, ERR_RETRY, "MySQL at %s ended the dump", mysql_conn_where(t->conn));
        break;
    }
    fail(t, &cause, err);
    return -1;
}

static int next(struct transport *base, struct str *event, struct err *err)
{
    struct server_transport *t = CONTAINER_OF(base, struct server_transport, base);

    if (clock_mono_ms() - t->returned_ms > t->patience_ms)
        t->dallied_at = t->n_bytes;
    int got = fetch(t, event, err);

    t->returned_ms = clock_mono_ms();
    return got;
}

static void interrupt(struct transport *base)
{
    struct server_transport *t = CONTAINER_OF(base, struct server_transport, base);

    __atomic_store_n(&t->interrupted, true, __ATOMIC_RELEASE);
    mysql_conn_interrupt(t->conn);
}

static char *give(struct transport *base)
{
    return wire_take(CONTAINER_OF(base, struct server_transport, base)->wire);
}

static void destroy(struct transport *base)
{
    struct server_transport *t = CONTAINER_OF(base, struct server_transport, base);

    buf_free(&t->beginning);
    wire_free(t->wire);
    mysql_conn_close(t->conn);
    free(t);
}

static bool connect_server(struct server_transport *t, const struct mysql_options *server,
                           unsigned heartbeat_ms, struct err *err)
{
    struct mysql_options opt = *server;
    struct err cause;

    opt.read_timeout_s = (HEARTBEATS_MISSED * heartbeat_ms + 999) / 1000;
    if (opt.read_timeout_s < SILENCE_MIN_S)
        opt.read_timeout_s = SILENCE_MIN_S;
    opt.packet_max = PACKET_MAX;
    if (mysql_conn_open(&t->conn, &opt, &cause)) {
        t->wire = wire_new(t->conn);
        return true;
    }
    return transport_fail(err, cause.kind == ERR_RETRY ? TRANSPORT_LOST : TRANSPORT_AUTH, "%s",
                          cause.msg);
}

bool transport_open_server(struct transport **out, const struct mysql_options *server,
                           const struct transport_options *opt, struct err *err)
{
    static const struct transport_ops ops = {next, interrupt, destroy, give};
    struct server_transport *t = mem_alloc(1, sizeof(*t));
    unsigned heartbeat_ms = opt->heartbeat_ms != 0 ? opt->heartbeat_ms : HEARTBEAT_MS;

    assert(opt->server_id != 0);
    t->base.ops = &ops;
    t->event_max = opt->event_max != 0 ? opt->event_max : EVENT_MAX;
    t->non_block = opt->non_block;
    t->dallied_at = UINT64_MAX;
    if (!connect_server(t, server, heartbeat_ms, err) || !look_at_log(t, err) ||
        !is_meant(t, opt->identity, err) || !set_session(t, opt, heartbeat_ms, err) ||
        !start_dump(t, opt, err)) {
        destroy(&t->base);
        return false;
    }
    t->returned_ms = clock_mono_ms();
    *out = &t->base;
    return true;
}

bool transport_try_server(const struct mysql_options *server, uint32_t server_id,
                          struct err *err)
{
    struct transport_options opt = {.uuid = "00000000-0000-0000-0000-000000000000",
                                    .file = STR(""),
                                    .offset = 4,
                                    .non_block = true};
    struct transport *t = NULL;
    struct str event;

    do {
        random_bytes(&opt.server_id, sizeof(opt.server_id));
        opt.server_id |= UINT32_C(1) << 31;
    } while (opt.server_id == server_id);

    const bool ok =
        transport_open_server(&t, server, &opt, err) && transport_next(t, &event, err) >= 0;

    transport_close(t);
    return ok;
}

#include "config.h"

#include "sync/decode/event.h"

#include "src/base/buf.h"
#include "src/base/cursor.h"
#include "sync/decode/unpack.h"
#include "sync/position/gtid_set.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *event_name(uint8_t type)
{
    static const char *const names[256] = {
#define EVENT_TEXT(name, number, text) [number] = text,
        EVENT_TYPES(EVENT_TEXT)
#undef EVENT_TEXT
    };

    return names[type] != NULL ? names[type] : "Unknown";
}

static bool damaged(struct err *err, const char *what, struct str body)
{
    return err_set(err, ERR_REJECT, "damaged %s event: %zu bytes of body", what, body.len);
}

/* Convert "5.6.4-m7-debug-log" to 50604. */
static unsigned server_version(const char *text)
{
    unsigned parts[3] = {0};
    const char *p = text;

    for (size_t i = 0; i < 3; i++) {
        char *end;
        const unsigned long n = strtoul(p, &end, 10);

        parts[i] = n < 100 ? (unsigned)n : 99;
        if (end == p || *end != '.')
            break;
        p = end + 1;
    }
    return parts[0] * 10000 + parts[1] * 100 + parts[2];
}

static bool mentions_mariadb(const char *server)
{
    for (const char *p = server; *p != '\0'; p++)
        if (strncasecmp(p, "mariadb", 7) == 0)
            return true;
    return false;
}

/* Alphas 5.1.1-a_drop5… and 5.2.0-a_drop6… number their events in another order. */
static bool is_drop_alpha(const char *server)
{
    return server[0] == '5' && server[1] == '.' && server[3] == '.' &&
           strncmp(server + 5, "-a_drop", 7) == 0 && (server[2] == '1' || server[2] == '2') &&
           (server[12] == '5' || server[12] == '6');
}

/* The types by their numbers. */
static const uint8_t old_types[] = {
    0,
    EVENT_START_V3,
    EVENT_QUERY,
    EVENT_STOP,
    EVENT_ROTATE,
    EVENT_INTVAR,
    EVENT_LOAD,
    EVENT_SLAVE,
    EVENT_CREATE_FILE,
    EVENT_APPEND_BLOCK,
    EVENT_EXEC_LOAD,
    EVENT_DELETE_FILE,
    EVENT_NEW_LOAD,
    EVENT_RAND,
    EVENT_USER_VAR,
    EVENT_FORMAT_DESCRIPTION,
    EVENT_TABLE_MAP,
    EVENT_PRE_GA_WRITE_ROWS,
    EVENT_PRE_GA_UPDATE_ROWS,
    EVENT_PRE_GA_DELETE_ROWS,
    EVENT_XID,
    EVENT_BEGIN_LOAD_QUERY,
    EVENT_EXECUTE_LOAD_QUERY,
};

enum { N_OLD_TYPES = ARRAY_LEN(old_types) - 1 };

uint8_t event_format_type(const struct event_format *f, uint8_t number)
{
    return f->old_numbers && number <= N_OLD_TYPES ? old_types[number] : number;
}

/* The lengths are in the order of the numbers, too. */
static void reorder_post_headers(struct event_format *f)
{
    uint8_t lens[N_OLD_TYPES];

    memcpy(lens, f->post_header_len, sizeof(lens));
    for (size_t i = 0; i < N_OLD_TYPES; i++)
        f->post_header_len[old_types[i + 1] - 1] = lens[i];
}

bool event_format_parse(struct str body, struct event_format *out, struct err *err)
{
    struct cursor c = cursor_of(body);
    struct event_format f = {.version = (uint16_t)cursor_le(&c, 2)};
    const uint8_t *server = cursor_take(&c, 50);

    f.created = (uint32_t)cursor_le(&c, 4);
    f.header_len = cursor_u8(&c);
    if (c.failed)
        return damaged(err, "Format_desc", body);
    memcpy(f.server, server, 50);
    f.mariadb = mentions_mariadb(f.server);
    if (f.version != 4)
        return err_set(err, ERR_FATAL,
                       "binlog version %u of server %s is not supported, only version 4 "
                       "(MySQL 5.0 and later)",
                       f.version, f.server);
    if (f.header_len != EVENT_HEADER_LEN)
        return err_set(err, ERR_FATAL, "event headers of %u bytes are not supported",
                       f.header_len);

    size_t n = cursor_left(&c);

    if (server_version(f.server) >= (f.mariadb ? 50300 : 50601)) {
        if (n < 5)
            return damaged(err, "Format_desc", body);
        n -= 5;

        const uint8_t algorithm = c.p[n];

        if (algorithm != 0 && algorithm != 1 && algorithm != 255)
            return err_set(err, ERR_FATAL, "unknown checksum algorithm %u", algorithm);
        f.checksums = algorithm == 1;
    }
    f.n_types = (uint8_t)(n < sizeof(f.post_header_len) ? n : sizeof(f.post_header_len));
    memcpy(f.post_header_len, c.p, f.n_types);
    f.old_numbers = is_drop_alpha(f.server) && f.n_types == N_OLD_TYPES;
    if (f.old_numbers)
        reorder_post_headers(&f);
    *out = f;
    return true;
}

/* Returns 0 if the server that wrote the log does not know the type. */
static uint8_t post_header(const struct event_format *f, uint8_t type)
{
    return type >= 1 && type <= f->n_types ? f->post_header_len[type - 1] : 0;
}

bool event_rotate_parse(struct str body, struct event_rotate *out, struct err *err)
{
    struct cursor c = cursor_of(body);

    out->offset = cursor_le(&c, 8);
    out->file = cursor_rest(&c);
    if (c.failed || out->file.len == 0 || memchr(out->file.ptr, '\0', out->file.len) != NULL)
        return damaged(err, "Rotate", body);
    return true;
}

/*
 * Find sql_mode and character_set_client among the status variables.  All variables up to the
 * latter have known lengths.
 */
static void query_status(struct str status, struct event_query *out)
{
    struct cursor c = cursor_of(status);

    while (!c.failed && cursor_left(&c) > 0) {
        switch (cursor_u8(&c)) {
        case 0: cursor_take(&c, 4); break; /* flags2 */
        case 1: out->sql_mode = cursor_le(&c, 8); break;
        case 2: cursor_take(&c, cursor_u8(&c) + 1u); break; /* catalog with NUL */
        case 3: cursor_take(&c, 4); break;                  /* auto_increment */
        case 4: out->collation = (uint16_t)cursor_le(&c, 2); return;
        case 6: cursor_take(&c, cursor_u8(&c)); break; /* catalog */
        default: return;
        }
    }
}

/* Parse all but the text, which c is left at. */
static bool query_head(const struct event_format *f, struct str body, struct cursor *c,
                       struct event_query *out)
{
    const uint8_t head = post_header(f, EVENT_QUERY);

    *c = cursor_of(body);
    *out = (struct event_query){0};
    cursor_take(c, 8); /* the session and its seconds */

    const size_t database_len = cursor_u8(c);

    out->error = (uint16_t)cursor_le(c, 2);

    const size_t status_len = head == 11 ? 0 : cursor_le(c, 2);

    if (head > 13)
        cursor_take(c, head - 13u);
    query_status(cursor_str(c, status_len), out);
    out->database = cursor_str(c, database_len);
    cursor_u8(c);
    return !c->failed;
}

bool event_query_parse(const struct event_format *f, struct str body, struct event_query *out,
                       struct err *err)
{
    struct cursor c;

    if (!query_head(f, body, &c, out))
        return damaged(err, "Query", body);
    out->sql = cursor_rest(&c);
    return true;
}

bool event_query_unpack(const struct event_format *f, struct str body, struct unpacker *u,
                        size_t max, struct event_query *out, struct err *err)
{
    struct cursor c;

    if (!query_head(f, body, &c, out))
        return damaged(err, "Query_compressed", body);
    if (!unpack_event(u, cursor_rest(&c), max, &out->sql, err))
        return err_wrap(err, "Query_compressed event");
    return true;
}

/* GTIDs */

static bool parse_mysql_gtid(const struct event *e, struct event_gtid *out, struct err *err)
{
    struct cursor c = cursor_of(e->body);

    cursor_u8(&c); /* flags */

    const uint8_t *uuid = cursor_take(&c, 16);

    out->gtid.number = cursor_le(&c, 8);
    if (c.failed)
        return damaged(err, event_name(e->type), e->body);
    memcpy(out->gtid.uuid, uuid, 16);
    out->gtid.family = e->type == EVENT_GTID ? GTID_MYSQL : GTID_NONE;
    if (cursor_left(&c) < 17 || cursor_u8(&c) != 2)
        return true;
    out->last_committed = (int64_t)cursor_le(&c, 8);
    out->sequence = (int64_t)cursor_le(&c, 8);
    if (cursor_left(&c) < 7)
        return true;

    const uint64_t immediate = cursor_le(&c, 7), again = UINT64_C(1) << 55;

    out->commit_us = immediate & ~again;
    if ((immediate & again) != 0)
        out->commit_us = cursor_le(&c, 7);
    return !c.failed || damaged(err, event_name(e->type), e->body);
}

/*
 * MySQL's serialization library (libs/mysql/serialization/readme.md): the first byte has one
 * low 1 bit per following byte, then the value.
 */
static uint64_t take_varlen(struct cursor *c)
{
    if (c->failed || cursor_left(c) == 0) {
        c->failed = true;
        return 0;
    }

    const uint8_t first = *c->p;
    const size_t more = (first == 0xff) ? 8 : (size_t)__builtin_ctz(~(unsigned)first);
    const uint8_t *p = cursor_take(c, more + 1);

    if (p == NULL)
        return 0;
    return more == 8 ? load_le64(p + 1) : load_le(p, (unsigned)more + 1) >> (more + 1);
}

static int64_t take_varlen_signed(struct cursor *c)
{
    const uint64_t v = take_varlen(c);

    return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

static void take_tagged_field(struct cursor *c, uint64_t field, struct event_gtid *out)
{
    switch (field) {
    case 1: /* each byte separately */
        for (size_t i = 0; i < 16; i++)
            out->gtid.uuid[i] = (uint8_t)take_varlen(c);
        break;
    case 2: out->gtid.number = (uint64_t)take_varlen_signed(c); break;
    case 3: {
        const struct str tag = cursor_str(c, take_varlen(c));

        if (tag.len > GTID_TAG_MAX)
            c->failed = true;
        else
            memcpy(out->gtid.tag, tag.ptr, tag.len);
        break;
    }
    case 4: out->last_committed = take_varlen_signed(c); break;
    case 5: out->sequence = take_varlen_signed(c); break;
    case 6:
    case 7: out->commit_us = take_varlen(c); break; /* immediate, then original if different */
    default: take_varlen(c); break;                 /* flags, length, versions, ticket */
    }
}

static bool parse_tagged_gtid(const struct event *e, struct event_gtid *out, struct err *err)
{
    struct cursor c = cursor_of(e->body);
    const uint64_t version = take_varlen(&c);
    const uint64_t size = take_varlen(&c);

    take_varlen(&c); /* the last field that must be known */
    if (c.failed || version != 1 || size > e->body.len)
        return damaged(err, event_name(e->type), e->body);

    /* Fields of later versions come last and are ignorable. */
    for (uint64_t field; !c.failed && cursor_left(&c) > 0 && (field = take_varlen(&c)) <= 11;)
        take_tagged_field(&c, field, out);
    if (c.failed || out->gtid.number == 0)
        return damaged(err, event_name(e->type), e->body);
    out->gtid.family = GTID_MYSQL;
    return true;
}

/* flags2 and flags_extra of MariaDB's Gtid_log_event */
enum {
    MARIADB_STANDALONE = 0x01,
    MARIADB_GROUP_COMMIT = 0x02,
    MARIADB_DDL = 0x20,
    MARIADB_PREPARED_XA = 0x40,
    MARIADB_COMPLETED_XA = 0x80,
    MARIADB_START_ALTER = 0x02,
    MARIADB_ROLLBACK_ALTER = 0x08,
};

static bool parse_mariadb_gtid(const struct event *e, struct event_gtid *out, struct err *err)
{
    struct cursor c = cursor_of(e->body);

    out->gtid.family = GTID_MARIADB;
    out->gtid.number = cursor_le(&c, 8);
    out->gtid.domain = (uint32_t)cursor_le(&c, 4);
    out->gtid.server = e->server_id;

    const uint8_t flags = cursor_u8(&c);

    if ((flags & MARIADB_GROUP_COMMIT) != 0)
        cursor_take(&c, 8);
    out->standalone = (flags & MARIADB_STANDALONE) != 0;
    out->ddl = (flags & MARIADB_DDL) != 0;
    out->xa_prepare = (flags & MARIADB_PREPARED_XA) != 0;
    out->xa_complete = (flags & MARIADB_COMPLETED_XA) != 0;
    if (out->xa_prepare || out->xa_complete) {
        out->xa.format = (uint32_t)cursor_le(&c, 4);

        const size_t gtrid_len = cursor_u8(&c), bqual_len = cursor_u8(&c);

        out->xa.gtrid = cursor_str(&c, gtrid_len);
        out->xa.bqual = cursor_str(&c, bqual_len);
    }
    if (c.failed)
        return damaged(err, event_name(e->type), e->body);

    const uint8_t extra = cursor_left(&c) > 0 ? cursor_u8(&c) : 0;

    out->start_alter = (extra & MARIADB_START_ALTER) != 0;
    out->rollback_alter = (extra & MARIADB_ROLLBACK_ALTER) != 0;
    return true;
}

bool event_gtid_parse(const struct event *e, struct event_gtid *out, struct err *err)
{
    *out = (struct event_gtid){0};
    if (e->type == EVENT_MARIADB_GTID)
        return parse_mariadb_gtid(e, out, err);
    if (e->type == EVENT_GTID_TAGGED)
        return parse_tagged_gtid(e, out, err);
    return parse_mysql_gtid(e, out, err);
}

bool event_gtid_set_parse(const struct event *e, struct gtid_set **out, struct err *err)
{
    if (e->type == EVENT_PREVIOUS_GTIDS)
        return gtid_set_decode(e->body, out, err);

    struct cursor c = cursor_of(e->body);
    const uint32_t n = cursor_le(&c, 4) & 0x0fffffff; /* the high bits are flags */

    if (c.failed || n > cursor_left(&c) / 16)
        return damaged(err, event_name(e->type), e->body);

    struct gtid_set *s = gtid_set_new();

    for (uint32_t i = 0; i < n; i++) {
        struct gtid g = {.family = GTID_MARIADB};

        g.domain = (uint32_t)cursor_le(&c, 4);
        g.server = (uint32_t)cursor_le(&c, 4);
        g.number = cursor_le(&c, 8);
        /* The last id of a domain follows those of its other servers. */
        gtid_set_add(s, &g);
    }
    *out = s;
    return true;
}

bool event_xa_parse(struct str body, struct event_xa *out, struct err *err)
{
    struct cursor c = cursor_of(body);

    out->one_phase = cursor_u8(&c) != 0;
    out->format = (uint32_t)cursor_le(&c, 4);

    const uint64_t gtrid_len = cursor_le(&c, 4), bqual_len = cursor_le(&c, 4);

    out->gtrid = cursor_str(&c, gtrid_len);
    out->bqual = cursor_str(&c, bqual_len);
    return !c.failed || damaged(err, "XA_prepare", body);
}

void event_xa_format(struct buf *b, const struct event_xa *xa)
{
    const struct str parts[] = {xa->gtrid, xa->bqual};

    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        buf_append(b, STR("X'"));
        buf_append_hex(b, parts[i]);
        buf_append(b, STR("',"));
    }
    buf_printf(b, "%" PRIu32, xa->format);
}

bool event_incident_parse(struct str body, struct event_incident *out, struct err *err)
{
    struct cursor c = cursor_of(body);

    out->code = (uint16_t)cursor_le(&c, 2);
    out->message = cursor_str(&c, cursor_u8(&c));
    return !c.failed || damaged(err, "Incident", body);
}

/* The properties of each rows event type. */
static const struct {
    bool is_rows, v2, compressed, partial, pre_ga;
    enum row_op op;
} rows_types[256] = {
    [EVENT_PRE_GA_WRITE_ROWS] = {true, .pre_ga = true, .op = ROW_INSERT},
    [EVENT_PRE_GA_UPDATE_ROWS] = {true, .pre_ga = true, .op = ROW_UPDATE},
    [EVENT_PRE_GA_DELETE_ROWS] = {true, .pre_ga = true, .op = ROW_DELETE},
    [EVENT_WRITE_ROWS_V1] = {true, .op = ROW_INSERT},
    [EVENT_UPDATE_ROWS_V1] = {true, .op = ROW_UPDATE},
    [EVENT_DELETE_ROWS_V1] = {true, .op = ROW_DELETE},
    [EVENT_WRITE_ROWS] = {true, .v2 = true, .op = ROW_INSERT},
    [EVENT_UPDATE_ROWS] = {true, .v2 = true, .op = ROW_UPDATE},
    [EVENT_DELETE_ROWS] = {true, .v2 = true, .op = ROW_DELETE},
    [EVENT_PARTIAL_UPDATE_ROWS] = {true, .v2 = true, .partial = true, .op = ROW_UPDATE},
    [EVENT_WRITE_ROWS_COMPRESSED_V1] = {true, .compressed = true, .op = ROW_INSERT},
    [EVENT_UPDATE_ROWS_COMPRESSED_V1] = {true, .compressed = true, .op = ROW_UPDATE},
    [EVENT_DELETE_ROWS_COMPRESSED_V1] = {true, .compressed = true, .op = ROW_DELETE},
    [EVENT_WRITE_ROWS_COMPRESSED] = {true, .v2 = true, .compressed = true, .op = ROW_INSERT},
    [EVENT_UPDATE_ROWS_COMPRESSED] = {true, .v2 = true, .compressed = true, .op = ROW_UPDATE},
    [EVENT_DELETE_ROWS_COMPRESSED] = {true, .v2 = true, .compressed = true, .op = ROW_DELETE},
};

bool event_may_be_cut(uint8_t type)
{
    return event_has_rows(type) || type == EVENT_ROWS_QUERY || type == EVENT_ANNOTATE_ROWS;
}

bool event_has_rows(uint8_t type)
{
    return rows_types[type].is_rows;
}

size_t event_table_id_size(const struct event_format *f, uint8_t type)
{
    return post_header(f, type) == 6 ? 4 : 6;
}

bool event_rows_parse(const struct event_format *f, uint8_t type, struct str body,
                      struct event_rows *out, struct err *err)
{
    struct cursor c = cursor_of(body);

    out->op = rows_types[type].op;
    out->compressed = rows_types[type].compressed;
    out->partial = rows_types[type].partial;
    out->pre_ga = rows_types[type].pre_ga;
    out->table_id = cursor_le(&c, event_table_id_size(f, type));
    out->flags = (uint16_t)cursor_le(&c, 2);
    if (post_header(f, type) == 10 || (post_header(f, type) == 0 && rows_types[type].v2)) {
        /* The length includes itself. */
        const uint64_t extra = cursor_le(&c, 2);

        if (extra < 2)
            c.failed = true;
        else
            cursor_take(&c, extra - 2);
    }
    out->rest = cursor_rest(&c);
    return !c.failed || damaged(err, event_name(type), body);
}

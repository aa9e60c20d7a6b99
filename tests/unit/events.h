/*
 * Logs made by tests: events with right lengths, positions and checksums.
 */
#ifndef TESTS_UNIT_EVENTS_H
#define TESTS_UNIT_EVENTS_H

#include "tests/unit/vectors.h"

#include "src/base/bytes.h"
#include "sync/decode/checksum.h"
#include "sync/decode/event.h"

#define EVENTS_MAX 64

/* A log file in memory. */
struct test_log {
    struct buf file; /* from the magic on */
    size_t starts[EVENTS_MAX + 1];
    size_t n;
    bool checksums;
    uint32_t time;
    uint16_t flags; /* of the events to come */
    bool no_log_pos;
};

static inline struct str le(char out[8], uint64_t v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (char)(v >> (8 * i));
    return (struct str){out, n};
}

static inline void put_le(struct buf *b, uint64_t v, size_t n)
{
    char bytes[8];

    buf_append(b, le(bytes, v, n));
}

/* A raw event as it stands in a file at offset. */
static inline void put_event(struct buf *b, uint8_t type, uint16_t flags, uint32_t time,
                             uint32_t log_pos, bool checksum, struct str body)
{
    const size_t start = b->len;
    const size_t len = EVENT_HEADER_LEN + body.len + (checksum ? 4 : 0);

    put_le(b, time, 4);
    put_le(b, type, 1);
    put_le(b, 7, 4);
    put_le(b, len, 4);
    put_le(b, log_pos, 4);
    put_le(b, flags, 2);
    buf_append(b, body);
    if (checksum)
        put_le(b, checksum_crc32(0, (const uint8_t *)b->ptr + start, b->len - start), 4);
}

static inline void log_event(struct test_log *log, uint8_t type, struct str body)
{
    const bool checksum = log->checksums || type == EVENT_FORMAT_DESCRIPTION;
    const size_t len = EVENT_HEADER_LEN + body.len + (checksum ? 4 : 0);

    assert_true(log->n < EVENTS_MAX);
    log->starts[log->n++] = log->file.len;
    put_event(&log->file, type, log->flags, log->time,
              log->no_log_pos ? 0 : (uint32_t)(log->file.len + len), checksum, body);
    log->starts[log->n] = log->file.len;
}

static inline struct str log_raw(const struct test_log *log, size_t i)
{
    return (struct str){log->file.ptr + log->starts[i], log->starts[i + 1] - log->starts[i]};
}

/* The body of a FORMAT_DESCRIPTION as MySQL 8 or MariaDB 10 writes it. */
static inline void format_body(struct buf *b, const char *server, bool checksums)
{
    char name[50] = {0};

    memcpy(name, server, strlen(server) < 50 ? strlen(server) : 50);
    put_le(b, 4, 2);
    buf_append(b, (struct str){name, sizeof(name)});
    put_le(b, 0, 4);
    put_le(b, EVENT_HEADER_LEN, 1);
    for (unsigned type = 1; type <= 171; type++) {
        const bool rows_v1 = type >= 23 && type <= 25;
        const bool rows_v2 = (type >= 30 && type <= 32) || type == 39;
        const bool packed = type >= 166 && type <= 168;

        put_le(b,
               type == EVENT_QUERY       ? 13
               : type == EVENT_TABLE_MAP ? 8
               : rows_v1 || packed       ? 8
               : rows_v2                 ? 10
                                         : 0,
               1);
    }
    put_le(b, checksums, 1);
}

static inline void log_start(struct test_log *log, const char *server, bool checksums)
{
    struct buf body = {0};

    *log = (struct test_log){.checksums = checksums, .time = 1700000000};
    buf_append(&log->file, STR("\xfe"
                               "bin"));
    format_body(&body, server, checksums);
    log_event(log, EVENT_FORMAT_DESCRIPTION, buf_str(&body));
    buf_free(&body);
}

static inline void log_free(struct test_log *log)
{
    buf_free(&log->file);
}

static inline void log_hex(struct test_log *log, uint8_t type, const char *hex)
{
    struct buf body = {0};

    log_event(log, type, unhex(&body, hex));
    buf_free(&body);
}

static inline void log_query(struct test_log *log, const char *database, const char *sql)
{
    struct buf body = {0};

    put_le(&body, 1, 4);
    put_le(&body, 0, 4);
    put_le(&body, strlen(database), 1);
    put_le(&body, 0, 2);
    put_le(&body, 0, 2);
    buf_append(&body, str_from(database));
    put_le(&body, 0, 1);
    buf_append(&body, str_from(sql));
    log_event(log, EVENT_QUERY, buf_str(&body));
    buf_free(&body);
}

/* MySQL's, of a UUID of zeros. */
static inline void log_gtid(struct test_log *log, uint64_t number)
{
    struct buf body = {0};

    put_le(&body, 1, 1);
    put_le(&body, 0, 8);
    put_le(&body, 0, 8);
    put_le(&body, number, 8);
    log_event(log, EVENT_GTID, buf_str(&body));
    buf_free(&body);
}

static inline void log_mariadb_gtid(struct test_log *log, uint64_t number, uint8_t flags)
{
    struct buf body = {0};

    put_le(&body, number, 8);
    put_le(&body, 0, 4);
    put_le(&body, flags, 1);
    put_le(&body, 0, 6);
    log_event(log, EVENT_MARIADB_GTID, buf_str(&body));
    buf_free(&body);
}

static inline void log_xid(struct test_log *log)
{
    struct buf body = {0};

    put_le(&body, 99, 8);
    log_event(log, EVENT_XID, buf_str(&body));
    buf_free(&body);
}

/* Table d.NAME (id INT NOT NULL, v VARCHAR(20) NULL); optional metadata in hex. */
static inline void log_table_map(struct test_log *log, uint64_t id, const char *name,
                                 const char *metadata_hex)
{
    struct buf body = {0}, metadata = {0};

    put_le(&body, id, 6);
    put_le(&body, 1, 2);
    buf_append(&body, STR("\x01"
                          "d\0"));
    put_le(&body, strlen(name), 1);
    buf_append(&body, (struct str){name, strlen(name) + 1});
    buf_append(&body, unhex(&metadata, "02030f02140002"));
    buf_append(&body, unhex(&metadata, metadata_hex));
    log_event(log, EVENT_TABLE_MAP, buf_str(&body));
    buf_free(&body);
    buf_free(&metadata);
}

/* Rows in hex of such a table: bitmap and rows. */
static inline void log_rows(struct test_log *log, uint8_t type, uint64_t id, bool last,
                            const char *hex)
{
    struct buf body = {0}, rows = {0};

    put_le(&body, id, 6);
    put_le(&body, last, 2);
    if ((type >= 30 && type <= 32) || type == 39)
        put_le(&body, 2, 2);
    put_le(&body, 2, 1);
    buf_append(&body, unhex(&rows, hex));
    log_event(log, type, buf_str(&body));
    buf_free(&body);
    buf_free(&rows);
}

#endif

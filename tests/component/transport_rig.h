/*
 * Dumps of a live server: opened, refused, compared with the file that they are of.
 */
#ifndef TESTS_COMPONENT_TRANSPORT_RIG_H
#define TESTS_COMPONENT_TRANSPORT_RIG_H

#include "tests/component/parts.h"
#include "tests/component/server.h"

#include "src/base/buf.h"
#include "src/base/bytes.h"
#include "sync/source/transport/transport.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define UUID "11111111-2222-3333-4444-555555555555"

enum {
    ROTATE = 4,
    FORMAT_DESCRIPTION = 15,
    WRITE_ROWS_V1 = 23,
    WRITE_ROWS = 30,
    HEARTBEAT = 27
};

static inline unsigned type_of(struct str event)
{
    return load_u8(event.ptr + 4);
}

static inline bool is_artificial(struct str event)
{
    return (load_le16(event.ptr + 17) & 0x20) != 0;
}

static inline struct transport_options from_start(const char *file)
{
    return (struct transport_options){
        .server_id = 4711,
        .uuid = UUID,
        .file = str_from(file),
        .offset = 4,
        .non_block = true,
    };
}

static inline struct transport *open_dump(const struct transport_options *opt)
{
    struct mysql_options server = server_options();
    struct transport *t = NULL;
    struct err err;

    if (!transport_open_server(&t, &server, opt, &err))
        fail_msg("%s", err.msg);
    return t;
}

/* The dump fails for this reason, while it is opened or later. */
static inline void refuse_at(const struct mysql_options *server,
                             const struct transport_options *opt, enum transport_reason reason)
{
    struct transport *t = NULL;
    struct str event;
    struct err err = {0};

    if (transport_open_server(&t, server, opt, &err))
        while (transport_next(t, &event, &err) > 0)
            ;
    transport_close(t);
    if (transport_reason_of(&err) != reason)
        fail_msg("%s instead of %s: %s", transport_reason_name(transport_reason_of(&err)),
                 transport_reason_name(reason), err.msg);
}

static inline void refuse(const struct transport_options *opt, enum transport_reason reason)
{
    struct mysql_options server = server_options();

    refuse_at(&server, opt, reason);
}

static inline bool is_mariadb(const struct mysql_conn *c)
{
    return mysql_conn_flavor(c) == FLAVOR_MARIADB;
}

static inline uint64_t log_end(struct mysql_conn *c)
{
    return log_end_of_server(c, NULL);
}

/* A fresh log with nothing in it, its name, and the empty table t.t. */
static inline void new_log(struct mysql_conn *c, struct buf *file)
{
    server_database(c, "t");
    server_exec(c, "CREATE TABLE t.t (id INT AUTO_INCREMENT PRIMARY KEY, a LONGBLOB)");
    server_exec(c, "FLUSH BINARY LOGS");
    log_end_of_server(c, file);
}

static inline void executed_gtids(struct mysql_conn *c, struct buf *out)
{
    server_scalar(c,
                  is_mariadb(c) ? "SELECT @@GLOBAL.gtid_binlog_pos"
                                : "SELECT REPLACE(@@GLOBAL.gtid_executed, '\n', '')",
                  out);
}

/* A file that a dump of an earlier test is still reading is not purged, so try again. */
static inline void purge_before(struct mysql_conn *c, const struct buf *file)
{
    struct buf sql = {0}, first = {0};

    buf_printf(&sql, "PURGE BINARY LOGS TO '%s'", file->ptr);
    do {
        usleep(10000);
        server_exec(c, sql.ptr);
        server_scalar(c, "SHOW BINARY LOGS", &first);
    } while (!str_equal(buf_str(&first), buf_str(file)));
    buf_free(&sql);
    buf_free(&first);
}

static inline void read_file(const char *name, struct buf *out)
{
    char path[512], chunk[65536];
    size_t n;

    snprintf(path, sizeof(path), "%s/%s", server_env("MYSQL_TEST_DATA"), name);
    FILE *f = fopen(path, "rb");

    assert_non_null(f);
    while ((n = fread(chunk, 1, sizeof(chunk), f)) > 0)
        buf_append(out, (struct str){chunk, n});
    fclose(f);
}

/* What a dump gives is the file, byte for byte. */
static inline void compare_with_file(struct transport *t, const char *name)
{
    struct buf got = {0}, want = {0};
    struct str event;
    struct err err = {0};
    int more;

    buf_append(&got, STR("\xfe"
                         "bin"));
    while ((more = transport_next(t, &event, &err)) > 0) {
        assert_int_equal(load_le32(event.ptr + 9), event.len);
        if (!is_artificial(event) && type_of(event) != HEARTBEAT)
            buf_append(&got, event);
    }
    if (more < 0)
        fail_msg("%s", err.msg);
    read_file(name, &want);
    /* The flag "in use" of an open file is not sent. */
    assert_true(want.len > 21);
    want.ptr[4 + 17] = 0;
    assert_int_equal(got.len, want.len);
    assert_memory_equal(got.ptr + 4 + 19, want.ptr + 4 + 19, 80);
    size_t after = 4 + load_le32(want.ptr + 4 + 9);

    assert_memory_equal(got.ptr + after, want.ptr + after, want.len - after);
    buf_free(&got);
    buf_free(&want);
}

/* What else test_transport has. */
extern const struct test_part transport_trouble;

#endif

/*
 * The server beside a test, as every component test reaches it: MariaDB or MySQL of any
 * version. with_mariadb.sh starts one and sets the environment;
 * tests/integration/mysql_servers.sh others.
 */
#ifndef TESTS_COMPONENT_SERVER_H
#define TESTS_COMPONENT_SERVER_H

#include "tests/unit/unit.h"

#include "src/base/buf.h"
#include "src/mysql/mysql.h"

#include <stdio.h>
#include <stdlib.h>

static inline const char *server_env(const char *name)
{
    const char *value = getenv(name);

    if (value == NULL)
        fail_msg("%s is not set: run this through with_mariadb.sh", name);
    return value;
}

/* Over TCP, as root. */
static inline struct mysql_options server_options(void)
{
    const char *password = getenv("MYSQL_TEST_PASSWORD");

    return (struct mysql_options){
        .host = "127.0.0.1",
        .port = (uint16_t)strtoul(server_env("MYSQL_TEST_PORT"), NULL, 10),
        .user = "root",
        .password = password != NULL ? password : "",
    };
}

static inline struct mysql_conn *server_connect(void)
{
    struct mysql_options opt = server_options();
    struct mysql_conn *c = NULL;
    struct err err;

    if (!mysql_conn_open(&c, &opt, &err))
        fail_msg("%s", err.msg);
    return c;
}

static inline void server_exec(struct mysql_conn *c, const char *sql)
{
    struct err err;

    if (!mysql_conn_exec(c, str_from(sql), &err))
        fail_msg("%s: %s", sql, err.msg);
}

/* The first cell, in place of what was in out. */
static inline void server_scalar(struct mysql_conn *c, const char *sql, struct buf *out)
{
    struct err err = {0};

    buf_clear(out);
    if (!mysql_conn_scalar(c, str_from(sql), out, &err))
        fail_msg("%s: %s", sql, err.msg);
}

/* The log's current file, when file is not NULL, and its length. */
static inline uint64_t log_end_of_server(struct mysql_conn *c, struct buf *file)
{
    struct mysql_result *r;
    struct mysql_row row;
    struct err err;

    if (!mysql_conn_query(c, STR("SHOW MASTER STATUS"), &r, &err))
        assert_true(mysql_conn_query(c, STR("SHOW BINARY LOG STATUS"), &r, &err));
    assert_int_equal(mysql_result_next(r, &row, &err), 1);
    if (file != NULL) {
        buf_clear(file);
        buf_append(file, row.cells[0]);
    }
    uint64_t end = strtoull(row.cells[1].ptr, NULL, 10);

    mysql_result_close(r);
    return end;
}

/* MariaDB always has them. */
static inline bool server_has_gtids(struct mysql_conn *c)
{
    struct buf mode = {0};

    if (mysql_conn_flavor(c) == FLAVOR_MARIADB)
        return true;
    server_scalar(c, "SELECT @@gtid_mode", &mode);

    const bool on = str_equal(buf_str(&mode), STR("ON"));

    buf_free(&mode);
    return on;
}

/* The rest of a test needs GTIDs to start from. */
static inline void server_needs_gtids(struct mysql_conn *c)
{
    if (server_has_gtids(c))
        return;
    mysql_conn_close(c);
    print_message("the server has no GTIDs\n");
    skip();
}

/* An empty database, whatever was there. */
static inline void server_database(struct mysql_conn *c, const char *name)
{
    char sql[128];

    snprintf(sql, sizeof(sql), "DROP DATABASE IF EXISTS %s", name);
    server_exec(c, sql);
    snprintf(sql, sizeof(sql), "CREATE DATABASE %s", name);
    server_exec(c, sql);
}

/* The user mill with this password (and no rights yet). */
static inline void server_user(struct mysql_conn *c, const char *how)
{
    char sql[256];

    server_exec(c, "DROP USER IF EXISTS mill@'127.0.0.1'");
    snprintf(sql, sizeof(sql), "CREATE USER mill@'127.0.0.1' IDENTIFIED %s", how);
    server_exec(c, sql);
}

/* A table NAME with the column seq, 0 to 2^bits - 1. */
static inline void server_numbers(struct mysql_conn *c, const char *name, int bits)
{
    char sql[256];

    snprintf(sql, sizeof(sql), "CREATE TABLE %s (seq INT PRIMARY KEY)", name);
    server_exec(c, sql);
    snprintf(sql, sizeof(sql), "INSERT INTO %s VALUES (0)", name);
    server_exec(c, sql);
    for (int i = 0; i < bits; i++) {
        snprintf(sql, sizeof(sql), "INSERT INTO %s SELECT seq + %d FROM %s", name, 1 << i,
                 name);
        server_exec(c, sql);
    }
}

#endif

/*
 * The doctor's checks of a MySQL or MariaDB server: can its log be followed, can its tables be
 * read, and will the log show every change?
 *
 * Rights are found out by trying.  The log is tried under a server id of its own, so that a
 * dump that is running is not disturbed.
 *
 * @thread any; blocks on the server
 */
#ifndef REBALANCE_DOCTOR_MYSQL_H
#define REBALANCE_DOCTOR_MYSQL_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct doctor_list;
struct mysql_options;

struct doctor_table {
    struct str schema; /* the database's name in the server */
    struct str table;
    bool has_key; /* the definition names the key, so the table needs no primary key */
    bool synced;  /* by time: it may be a view */
};

/* Everything is borrowed for the call. */
struct doctor_mysql_options {
    struct str group; /* "topic shop" */
    const struct mysql_options *server;
    bool follows_log; /* false: rows are only read from it (a database with its own address) */
    uint32_t server_id; /* ours, 0: not chosen yet */
    const struct doctor_table *tables;
    size_t n_tables;
};

void doctor_mysql(struct doctor_list *l, const struct doctor_mysql_options *opt);

#endif

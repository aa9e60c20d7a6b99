/*
 * The doctor's checks of a MySQL or MariaDB server: can we follow its log and read its tables,
 * and will the log show every change?
 *
 * It finds out about rights by trying. It tries the log under a server id of its own, so that
 * it does not disturb a running dump.
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

struct asking;
struct doctor_list;
struct mysql_options;

struct doctor_table {
    struct str schema; /* the database's name in the server */
    struct str table;
    bool has_key; /* the definition names a key, so the table needs no primary key */
    bool synced;  /* read by time: it may be a view */
};

/* Borrows everything for the call. */
struct doctor_mysql_options {
    struct str group; /* "topic shop" */
    const struct mysql_options *server;
    struct asking *asking; /* opens the connection; NULL: nothing interrupts it */
    bool follows_log; /* false: only rows are read from it (a database with its own address) */
    uint32_t server_id; /* ours, 0: not chosen yet */
    struct str file;    /* where Millrace goes on in the log; empty: nowhere yet */
    uint64_t offset;
    const struct doctor_table *tables;
    size_t n_tables;
};

/* Returns false if the server could not be reached; a check in the list says so. */
bool doctor_mysql(struct doctor_list *l, const struct doctor_mysql_options *opt);

#endif

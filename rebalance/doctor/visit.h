/*
 * One visit of the doctor to a MySQL server: what the files of its checks share.
 */
#ifndef REBALANCE_DOCTOR_VISIT_H
#define REBALANCE_DOCTOR_VISIT_H

#include "rebalance/doctor/doctor.h"
#include "rebalance/doctor/mysql.h"
#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct mysql_conn;

struct variable {
    struct str name, value;
};

struct visit {
    struct doctor_list *list;
    const struct doctor_mysql_options *opt;
    struct arena *arena; /* the list's */
    struct mysql_conn *conn;
    bool mariadb;
    unsigned version;
    struct str account; /* 'mill'@'127.0.0.1', the form for a GRANT */
    struct variable *variables;
    size_t n_variables;
};

/* Format text in the visit's arena. */
struct str visit_text(struct visit *v, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* `schema`.`table` */
struct str visit_table_name(struct visit *v, const struct doctor_table *t);

/* code: the check's id, "mysql.tls", or with a finding of it, "mysql.tls.unchecked". */
void visit_add(struct visit *v, enum doctor_status status, const char *code, struct str message,
               struct str why, struct str fix);
void visit_ok(struct visit *v, const char *id, struct str message);

/* Run the checks of every table. */
void visit_tables(struct visit *v);

#endif

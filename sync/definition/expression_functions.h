/*
 * The functions that SQL expressions of definitions may call.
 *
 * Each is deterministic: its result depends on its arguments only.  The list has the built-in
 * functions of the manuals of MySQL 9 ("Functions and Operators") and MariaDB 12 ("Built-in
 * Functions"), without those documented to depend on more: the time, chance, the session,
 * locks, files, other rows, the server's version or tables, settings that our sessions leave
 * alone (src/mysql/mysql.c).  If only one server has a name, the other one refuses it.
 *
 * @thread any (constant)
 */
#ifndef SYNC_DEFINITION_EXPRESSION_FUNCTIONS_H
#define SYNC_DEFINITION_EXPRESSION_FUNCTIONS_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>

struct expression_functions {
    const char *of;    /* the group's subject */
    const char *names; /* in capitals, sorted, separated by one blank */
};
extern const struct expression_functions expression_functions[];
extern const size_t n_expression_functions;

/* Tell whether the function is in the list, ignoring case. */
bool expression_function_is_steady(struct str name);

#endif

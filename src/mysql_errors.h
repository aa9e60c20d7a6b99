/*
 * The numbers of errors that MySQL, MariaDB and their client libraries give: what to do next.
 *
 * @thread any (pure)
 */
#ifndef SRC_MYSQL_ERRORS_H
#define SRC_MYSQL_ERRORS_H

#include "src/base/base.h"
#include "src/base/err.h"

#include <stdbool.h>

/* In a running session. */
enum err_kind mysql_errors_kind(unsigned number);

/* While connecting, where the same number can mean more: *fix is what a person can do (static),
 * or NULL.  text is the library's message. */
enum err_kind mysql_errors_login_kind(unsigned number, const char *text, const char **fix);

/* The user lacks a right, or the definer of a view does: nothing is wrong with what was asked. */
bool mysql_errors_is_denial(unsigned number);

#endif

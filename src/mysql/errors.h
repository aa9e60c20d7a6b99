/*
 * Maps error numbers of MySQL, MariaDB and their client libraries to what the caller does next.
 *
 * @thread any (pure)
 */
#ifndef SRC_MYSQL_ERRORS_H
#define SRC_MYSQL_ERRORS_H

#include "src/base/base.h"
#include "src/base/err.h"

/* libmariadb's own: the server asks for a log-in method that this connection does not allow. */
#define MYSQL_ERROR_LOGIN_REFUSED 5010

/* Classifies an error of a running session. */
enum err_kind mysql_errors_kind(unsigned number);

/* Classifies an error while connecting, where the same number can mean more. Sets *fix to what
 * a person can do (static), or NULL. text is the library's message. */
enum err_kind mysql_errors_login_kind(unsigned number, const char *text, const char **fix);

#endif

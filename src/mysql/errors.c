#include "config.h"

#include "src/mysql/errors.h"

#include "src/mysql/mysql.h"

#include <stddef.h>
#include <string.h>

/* Error numbers of a running session. Unlisted numbers are ERR_REJECT. */
static const struct {
    unsigned number;
    enum err_kind kind;
} session_errors[] = {
    {1020, ERR_RETRY}, /* record has changed since it was read */
    {1021, ERR_RETRY}, /* disk full */
    {1026, ERR_RETRY}, /* error writing file */
    {1030, ERR_RETRY}, /* error from the storage engine */
    {1037, ERR_RETRY}, /* out of memory */
    {1038, ERR_RETRY}, /* out of sort memory */
    {1040, ERR_RETRY}, /* too many connections */
    {1041, ERR_RETRY}, /* out of resources */
    {1047, ERR_RETRY}, /* a Galera node that is not ready */
    {1053, ERR_RETRY}, /* server shutdown in progress */
    {1077, ERR_RETRY}, /* normal shutdown */
    {1079, ERR_RETRY}, /* shutdown complete */
    {1080, ERR_RETRY}, /* forcing close of thread */
    {1114, ERR_RETRY}, /* the table is full */
    {1152, ERR_RETRY}, /* aborted connection */
    {1158, ERR_RETRY}, /* error reading communication packets */
    {1159, ERR_RETRY}, /* timeout reading them */
    {1160, ERR_RETRY}, /* error writing them */
    {1161, ERR_RETRY}, /* timeout writing them */
    {1180, ERR_RETRY}, /* error during commit */
    {1184, ERR_RETRY}, /* aborted connection */
    {1203, ERR_RETRY}, /* too many connections of this user */
    {1205, ERR_RETRY}, /* lock wait timeout */
    {1206, ERR_RETRY}, /* lock table full */
    {1213, ERR_RETRY}, /* deadlock */
    {1226, ERR_RETRY}, /* a resource limit of this user */
    {1290, ERR_RETRY}, /* read only, as in the middle of a failover */
    {1317, ERR_RETRY}, /* query interrupted */
    {1412, ERR_RETRY}, /* table definition changed, retry the transaction */
    {1637, ERR_RETRY}, /* too many concurrent transactions */
    {1792, ERR_RETRY}, /* read only transaction */
    {1836, ERR_RETRY}, /* read only mode */
    {1927, ERR_RETRY}, /* connection was killed (MariaDB) */
    {1969, ERR_RETRY}, /* max_statement_time (MariaDB) */
    {2002, ERR_RETRY}, /* cannot connect */
    {2003, ERR_RETRY}, /* cannot connect */
    {2005, ERR_RETRY}, /* unknown host */
    {2006, ERR_RETRY}, /* server has gone away */
    {2013, ERR_RETRY}, /* lost connection */
    {2026, ERR_RETRY}, /* TLS failure in the middle of a session */
    {2027, ERR_RETRY}, /* malformed packet */
    {2055, ERR_RETRY}, /* lost connection, with errno */
    {3024, ERR_RETRY}, /* max_execution_time (MySQL) */
    {3168, ERR_RETRY}, /* server is not available */
    {3169, ERR_RETRY}, /* session was killed (MySQL) */
    {3572, ERR_RETRY}, /* NOWAIT met a lock */
    {4031, ERR_RETRY}, /* disconnected as idle (MySQL) */
};

enum err_kind mysql_errors_kind(unsigned number)
{
    for (size_t i = 0; i < ARRAY_LEN(session_errors); i++)
        if (session_errors[i].number == number)
            return session_errors[i].kind;
    return ERR_REJECT;
}

/* Errors while connecting, and how to fix them. */
static const struct {
    unsigned number;
    enum err_kind kind;
    const char *fix;
} login_errors[] = {
    {1040, ERR_RETRY, "raise max_connections of the server or end other clients"},
    {1044, ERR_REJECT, "grant the user rights on this database"},
    {1045, ERR_REJECT,
     "check user and password (and whether the account allows this host or requires TLS)"},
    {1049, ERR_REJECT, "create the database, or correct its name"},
    {1129, ERR_RETRY,
     "run FLUSH HOSTS on the server, then look for what broke the connections"},
    {1130, ERR_REJECT, "create the user for this host, or connect from one that is allowed"},
    {1203, ERR_RETRY, "raise max_user_connections for this user"},
    {1226, ERR_RETRY, "raise the limit of this user"},
    {1251, ERR_REJECT,
     "the account's authentication plugin is not known to this client library"},
    {1524, ERR_REJECT, "the account's authentication plugin is not loaded in the server"},
    {1698, ERR_REJECT, "the account is not for passwords: give it one, or use its unix socket"},
    {1820, ERR_REJECT, "the password must be changed first: ALTER USER ... IDENTIFIED BY ..."},
    {1862, ERR_REJECT, "the password has expired: ALTER USER ... IDENTIFIED BY ..."},
    {2002, ERR_RETRY, "check that the server runs and listens on this address"},
    {2003, ERR_RETRY, "check that the server runs and listens on this address"},
    {2005, ERR_RETRY, "check the host name"},
    {2026, ERR_REJECT, "check ca_file, and that the certificate is valid and names this host"},
    {2058, ERR_REJECT, "install the authentication plugin of the client library"},
    {2059, ERR_REJECT, "install the authentication plugin of the client library"},
    {2061, ERR_REJECT, "the account's authentication wants TLS: switch tls on"},
    {3118, ERR_REJECT, "the account is locked: ALTER USER ... ACCOUNT UNLOCK"},
    {3159, ERR_REJECT, "the server takes connections with TLS only: switch tls on"},
    {4150, ERR_REJECT, "the server takes connections with TLS only: switch tls on"},
    {4151, ERR_REJECT, "the account is locked: ALTER USER ... ACCOUNT UNLOCK"},
    {MYSQL_ERROR_LOGIN_REFUSED, ERR_REJECT,
     "switch tls on; or name the server's key in server_public_key_file; or give the account "
     "mysql_native_password or ed25519"},
};

enum err_kind mysql_errors_login_kind(unsigned number, const char *text, const char **fix)
{
    enum err_kind kind = mysql_errors_kind(number);

    *fix = NULL;
    for (size_t i = 0; i < ARRAY_LEN(login_errors); i++)
        if (login_errors[i].number == number) {
            kind = login_errors[i].kind;
            *fix = login_errors[i].fix;
        }
    if (number == 2013 && strstr(text, "initial communication packet") != NULL)
        *fix = "this port does not greet as MySQL does: give the database's address, not the "
               "search engine's (9200, for example); or the server hangs";
    /* TLS has one number for three problems. */
    if (number == 2026 && strstr(text, "does not support") != NULL)
        *fix = "switch TLS on in the server (ssl_cert, ssl_key), or take tls away here";
    else if (number == 2026 && strstr(text, "ertificate") == NULL)
        kind = ERR_RETRY;
    return kind;
}

/* If the user, or the definer of a view, lacks a right; the statement itself is valid. */
static bool is_denial(unsigned number)
{
    static const unsigned denials[] = {
        1044, /* on a database */
        1142, /* on a table */
        1143, /* on a column */
        1227, /* to run a kind of statement */
        1356, /* on what a view reads */
        1370, /* on a routine */
        1449, /* the definer of a view is gone */
    };

    for (size_t i = 0; i < ARRAY_LEN(denials); i++)
        if (denials[i] == number)
            return true;
    return false;
}

/* The client libraries' own error numbers. */
#define CLIENT_ERRORS     2000
#define CLIENT_ERRORS_END 3000

bool mysql_err_is_of_server(const struct err *err)
{
    return err->origin != NULL && strcmp(err->origin, "mysql") == 0 && err->code > 0 &&
           (err->code < CLIENT_ERRORS || err->code >= CLIENT_ERRORS_END);
}

bool mysql_err_is_denial(const struct err *err)
{
    return err->origin != NULL && strcmp(err->origin, "mysql") == 0 && err->code > 0 &&
           is_denial((unsigned)err->code);
}

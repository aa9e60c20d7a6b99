#include "config.h"

#include "sync/position/server_identity.h"

#include "src/mysql/mysql.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void server_identity_format(char out[IDENTITY_CAP], const char *uuid, uint32_t server_id)
{
    if (uuid[0] != '\0')
        snprintf(out, IDENTITY_CAP, "%s", uuid);
    else
        snprintf(out, IDENTITY_CAP, "id %u", server_id);
}

static bool load(struct mysql_conn *c, char out[IDENTITY_CAP], struct err *err)
{
    const char *sql = mysql_conn_flavor(c) == FLAVOR_MARIADB
                          ? "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('server_id')"
                          : "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('server_id',"
                            " 'server_uuid')";
    char uuid[IDENTITY_CAP] = "", id[IDENTITY_CAP] = "";
    struct mysql_result *r;
    struct mysql_row row;
    int more;

    if (!mysql_conn_query(c, str_from(sql), &r, err))
        return false;
    while ((more = mysql_result_next(r, &row, err)) > 0)
        snprintf(str_equal(row.cells[0], STR("server_id")) ? id : uuid, IDENTITY_CAP,
                 "%" STR_FMT, STR_ARG(row.cells[1]));
    mysql_result_close(r);
    server_identity_format(out, uuid, (uint32_t)strtoul(id, NULL, 10));
    return more == 0;
}

bool server_identity_is(struct mysql_conn *c, const char *identity, struct err *err)
{
    char is[IDENTITY_CAP];

    if (!load(c, is, err))
        return false;
    return strcmp(is, identity) == 0 ||
           err_set(err, ERR_RETRY,
                   "%s leads to another server (%s) than the one that Millrace follows (%s)",
                   mysql_conn_where(c), is, identity);
}

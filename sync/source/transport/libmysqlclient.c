#include "config.h"

#include "src/base/buf.h"
#include "src/base/mem.h"
#include "src/mysql/mysql.h"
#include "sync/source/transport/wire.h"

#include <errmsg.h>
#include <mysql.h>
#include <mysqld_error.h>
#include <stdlib.h>

/* The dump over libmysqlclient's mysql_binlog_*, which returns packets unchanged. */

struct wire {
    MYSQL *my;
    MYSQL_RPL rpl;
    bool open;
    struct buf file;
    struct buf gtid;
};

struct wire *wire_new(struct mysql_conn *c)
{
    struct wire *w = mem_alloc(1, sizeof(*w));

    w->my = (MYSQL *)(void *)mysql_conn_handle(c);
    return w;
}

void wire_free(struct wire *w)
{
    if (w == NULL)
        return;
    if (w->open)
        mysql_binlog_close(w->my, &w->rpl);
    buf_free(&w->file);
    buf_free(&w->gtid);
    free(w);
}

/* Callback for the encoded set. */
static void put_gtid(MYSQL_RPL *rpl, unsigned char *out)
{
    const struct buf *gtid = rpl->gtid_set_arg;

    memcpy(out, gtid->ptr, gtid->len);
}

bool wire_start(struct wire *w, const struct wire_request *r)
{
    buf_append(&w->file, r->file);
    buf_append(&w->gtid, r->gtid_encoded);
    w->rpl = (MYSQL_RPL){
        .file_name = w->file.ptr,
        .file_name_length = w->file.len,
        .start_position = r->offset,
        .server_id = r->server_id,
        .flags = r->flags,
    };
    if (r->mysql_gtid) {
        w->rpl.file_name_length = 0;
        w->rpl.start_position = 4;
        w->rpl.flags |= MYSQL_RPL_GTID;
        w->rpl.gtid_set_encoded_size = w->gtid.len;
        w->rpl.fix_gtid_set = put_gtid;
        w->rpl.gtid_set_arg = &w->gtid;
    }
    w->open = mysql_binlog_open(w->my, &w->rpl) == 0;
    return w->open;
}

enum wire_result wire_next(struct wire *w, struct str *packet)
{
    if (mysql_binlog_fetch(w->my, &w->rpl) != 0) {
        unsigned number = mysql_errno(w->my);

        return number == CR_NET_PACKET_TOO_LARGE || number == ER_NET_PACKET_TOO_LARGE
                   ? WIRE_TOO_LARGE
                   : WIRE_ERROR;
    }
    if (w->rpl.size == 0)
        return WIRE_END;
    *packet = (struct str){(const char *)w->rpl.buffer + 1, w->rpl.size - 1};
    return WIRE_PACKET;
}

/* The library's memory has a header of its own. */
char *wire_take(struct wire *w)
{
    (void)w;
    return NULL;
}

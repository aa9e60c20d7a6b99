#include "config.h"

#include "src/base/buf.h"
#include "src/base/bytes.h"
#include "src/base/mem.h"
#include "src/mysql/mysql.h"
#include "sync/source/transport/wire.h"

#include <mysql.h>
#include <stdlib.h>

/*
 * The dump over libmariadb's public method table and mysql_net_read_packet().
 *
 * Avoids its mariadb_rpl_fetch(): that decodes on the way, and loses or refuses events it does
 * not know.
 */

/* libmariadb does not define it. */
#define COM_BINLOG_DUMP_GTID 30

#define BUFFER_LEN   ((size_t)16 << 10)
#define BUFFER_SLACK 64 /* for packet headers */

/* What SHOW REPLICAS prints for us. */
static const char report_host[] = "millrace";

struct wire {
    MYSQL *my;
};

struct wire *wire_new(struct mysql_conn *c)
{
    struct wire *w = mem_alloc(1, sizeof(*w));

    w->my = mysql_conn_handle(c);
    return w;
}

void wire_free(struct wire *w)
{
    free(w);
}

static void append_le16(struct buf *b, uint16_t v)
{
    char bytes[2];

    store_le16(bytes, v);
    buf_append(b, (struct str){bytes, sizeof(bytes)});
}

static void append_le32(struct buf *b, uint32_t v)
{
    char bytes[4];

    store_le32(bytes, v);
    buf_append(b, (struct str){bytes, sizeof(bytes)});
}

static void append_le64(struct buf *b, uint64_t v)
{
    char bytes[8];

    store_le64(bytes, v);
    buf_append(b, (struct str){bytes, sizeof(bytes)});
}

static bool command(struct wire *w, int number, const struct buf *b, bool answered)
{
    return w->my->methods->db_command(w->my, (enum enum_server_command)number, b->ptr, b->len,
                                      !answered, NULL) == 0;
}

/* The dump works without it; it makes us appear in SHOW REPLICAS. */
static bool register_replica(struct wire *w, uint32_t server_id)
{
    struct buf b = {0};

    append_le32(&b, server_id);
    buf_append_char(&b, (char)(sizeof(report_host) - 1));
    buf_append(&b, str_from(report_host));
    buf_append_char(&b, 0); /* user */
    buf_append_char(&b, 0); /* password */
    append_le16(&b, 0);     /* port */
    append_le32(&b, 0);     /* rank */
    append_le32(&b, 0);     /* master id: the server sets it */
    bool ok = command(w, COM_REGISTER_SLAVE, &b, true);

    buf_free(&b);
    return ok;
}

static void put_dump(struct buf *b, const struct wire_request *r)
{
    append_le32(b, r->offset);
    append_le16(b, r->flags);
    append_le32(b, r->server_id);
    buf_append(b, r->file);
}

static void put_dump_gtid(struct buf *b, const struct wire_request *r)
{
    append_le16(b, r->flags);
    append_le32(b, r->server_id);
    append_le32(b, 0); /* length of a file name: the server finds the file */
    append_le64(b, 4);
    append_le32(b, (uint32_t)r->gtid_encoded.len);
    buf_append(b, r->gtid_encoded);
}

bool wire_start(struct wire *w, const struct wire_request *r)
{
    struct buf b = {0};

    if (!register_replica(w, r->server_id))
        return false;
    if (r->mysql_gtid)
        put_dump_gtid(&b, r);
    else
        put_dump(&b, r);
    bool ok = command(w, r->mysql_gtid ? COM_BINLOG_DUMP_GTID : COM_BINLOG_DUMP, &b, false);

    buf_free(&b);
    return ok;
}

enum wire_result wire_next(struct wire *w, struct str *packet)
{
    unsigned long len = mysql_net_read_packet(w->my);

    /*
     * packet_error is 2^32 - 1, whatever the width of len.  The library reports an oversized
     * packet as a lost connection; only this field tells the difference.
     */
    if (len == packet_error)
        return w->my->net.error == 1 ? WIRE_TOO_LARGE : WIRE_ERROR;
    const char *p = (const char *)w->my->net.read_pos;

    if (len == 0 || (len < 9 && (unsigned char)p[0] == 0xfe))
        return WIRE_END;
    *packet = (struct str){p + 1, len - 1};
    return WIRE_PACKET;
}

/*
 * Allocate as ma_net_init() does; the library grows the buffer for the next packet that needs
 * it.
 */
char *wire_take(struct wire *w)
{
    NET *net = &w->my->net;
    char *taken = (char *)net->buff;

    if (net->compress)
        return NULL;
    net->buff = mem_alloc(1, BUFFER_LEN + BUFFER_SLACK);
    net->buff_end = net->buff + BUFFER_LEN;
    net->write_pos = net->read_pos = net->buff;
    net->max_packet = BUFFER_LEN;
    return taken;
}

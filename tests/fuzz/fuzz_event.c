/*
 * Bodies of events: the first byte chooses the server, the second is the type, the rest the
 * body. What is read of one lies within it.
 */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "src/base/buf.h"
#include "sync/decode/event.h"
#include "sync/decode/unpack.h"
#include "sync/position/gtid_set.h"

#include <assert.h>
#include <string.h>

static bool within(struct str part, struct str body)
{
    return part.len == 0 ||
           (part.ptr >= body.ptr && part.ptr + part.len <= body.ptr + body.len);
}

static void read_query(const struct event_format *f, struct str body)
{
    struct unpacker *u = unpacker_new();
    struct event_query q;
    struct err err;

    if (event_query_parse(f, body, &q, &err))
        assert(within(q.sql, body) && within(q.database, body));
    if (event_query_unpack(f, body, u, 1 << 16, &q, &err))
        assert(within(q.database, body) && q.sql.len <= 1 << 16);
    unpacker_free(u);
}

static void read_gtids(const struct event *e)
{
    struct event_gtid g;
    struct gtid_set *set;
    struct buf text = {0};
    struct err err;

    if (event_gtid_parse(e, &g, &err))
        gtid_format(&text, &g.gtid);
    if (event_gtid_set_parse(e, &set, &err)) {
        gtid_set_format(&text, set);
        gtid_set_free(set);
    }
    buf_free(&text);
}

static void read_rest(const struct event_format *f, uint8_t type, struct str body)
{
    struct event_rotate rotate;
    struct event_incident incident;
    struct event_rows rows;
    struct event_xa xa;
    struct buf text = {0};
    struct err err;

    if (event_rotate_parse(body, &rotate, &err))
        assert(within(rotate.file, body));
    if (event_incident_parse(body, &incident, &err))
        assert(within(incident.message, body));
    if (event_has_rows(type) && event_rows_parse(f, type, body, &rows, &err))
        assert(within(rows.rest, body));
    if (event_xa_parse(body, &xa, &err)) {
        assert(within(xa.gtrid, body) && within(xa.bqual, body));
        event_xa_format(&text, &xa);
        assert(memchr(text.ptr, '\'', text.len) != NULL);
    }
    buf_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    if (len < 2)
        return 0;

    const struct str body = {(const char *)bytes + 2, len - 2};
    const struct event e = {.type = bytes[1], .server_id = 1, .body = body};
    struct event_format f = {
        .version = 4, .mariadb = (bytes[0] & 1) != 0, .header_len = 19, .n_types = 171};
    struct event_format read;
    struct err err;

    for (unsigned type = 1; type <= f.n_types; type++) {
        const bool v2 = (type >= 30 && type <= 32) || type == 39;

        f.post_header_len[type - 1] = (uint8_t)(type == 2 ? (bytes[0] & 2 ? 11 : 13)
                                                : v2      ? 10
                                                          : 8 - (bytes[0] & 4) / 2);
    }
    if (event_format_parse(body, &read, &err))
        assert(read.version == 4 && memchr(read.server, '\0', sizeof(read.server)) != NULL);
    assert(event_name(e.type) != NULL && event_format_type(&f, e.type) == e.type);
    read_query(&f, body);
    read_gtids(&e);
    read_rest(&f, e.type, body);
    return 0;
}

#include "config.h"

#include "sync/position/gtid.h"

#include "src/base/buf.h"

void gtid_format(struct buf *b, const struct gtid *g)
{
    if (g->family == GTID_MARIADB) {
        buf_append_u64(b, g->domain);
        buf_append_char(b, '-');
        buf_append_u64(b, g->server);
        buf_append_char(b, '-');
    } else if (g->family == GTID_MYSQL) {
        gtid_text_append_uuid(b, g->uuid);
        if (g->tag[0] != '\0')
            buf_printf(b, ":%s", g->tag);
        buf_append_char(b, ':');
    }
    if (g->family != GTID_NONE)
        buf_append_u64(b, g->number);
}

/* Two dashes between numbers and no colon: MariaDB. */
enum gtid_family gtid_family_of(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] == ':')
            return GTID_MYSQL;
    return GTID_MARIADB;
}

bool gtid_parse_mariadb(struct gtid_text *t, struct gtid *g)
{
    uint64_t domain, server;

    if (!gtid_text_number(t, UINT32_MAX, &domain) || !gtid_text_skip_char(t, '-') ||
        !gtid_text_number(t, UINT32_MAX, &server) || !gtid_text_skip_char(t, '-') ||
        !gtid_text_number(t, UINT64_MAX, &g->number))
        return false;
    g->family = GTID_MARIADB;
    g->domain = (uint32_t)domain;
    g->server = (uint32_t)server;
    return true;
}

bool gtid_parse(struct str text, struct gtid *out, struct err *err)
{
    struct gtid_text t = gtid_text_of(text);
    bool ok;

    *out = (struct gtid){0};
    if (gtid_family_of(text) == GTID_MARIADB) {
        ok = gtid_parse_mariadb(&t, out);
    } else {
        out->family = GTID_MYSQL;
        ok = gtid_text_uuid(&t, out->uuid) && gtid_text_skip_char(&t, ':');
        if (ok && gtid_text_is_at_tag(&t))
            ok = gtid_text_tag(&t, out->tag) && gtid_text_skip_char(&t, ':');
        ok = ok && gtid_text_number(&t, INT64_MAX - 1, &out->number) && out->number > 0;
    }
    gtid_text_skip_space(&t);
    if (!ok || t.p < t.end)
        return err_set(err, ERR_REJECT, "'%" STR_FMT "' is not a GTID", STR_ARG(text));
    return true;
}

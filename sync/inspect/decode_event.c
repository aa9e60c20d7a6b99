#include "config.h"

#include "sync/inspect/decode_event.h"

#include "src/base/buf.h"
#include "src/base/cursor.h"
#include "sync/decode/transaction.h"
#include "sync/position/gtid_set.h"

static void put_key(struct buf *b, const char *key)
{
    buf_append(b, STR(",\""));
    buf_append(b, str_from(key));
    buf_append(b, STR("\":"));
}

static void put_text(struct buf *b, const char *key, struct str text)
{
    put_key(b, key);
    buf_append_json(b, text);
}

static void put_number(struct buf *b, const char *key, uint64_t n)
{
    put_key(b, key);
    buf_append_u64(b, n);
}

static void put_true(struct buf *b, const char *key)
{
    put_key(b, key);
    buf_append(b, STR("true"));
}

static void put_format(struct buf *b, const struct event_format *f)
{
    put_number(b, "version", f->version);
    put_text(b, "server", str_from(f->server));
    put_text(b, "checksum", f->checksums ? STR("crc32") : STR("none"));
}

static void put_rotate(struct buf *b, const struct step *step)
{
    struct event_rotate rotate;
    struct err ignored;

    if (!event_rotate_parse(step->event.body, &rotate, &ignored))
        return;
    put_text(b, "next_file", rotate.file);
    put_number(b, "next_pos", rotate.offset);
}

static void put_query(struct buf *b, const struct step *step)
{
    put_text(b, "database", step->query.database);
    put_text(b, "sql", step->query.sql);
    put_text(b, "kind", str_from(ddl_kind_name(step->ddl.kind)));
    if (step->query.error != 0)
        put_number(b, "error", step->query.error);
}

static void put_gtid_set(struct buf *b, const struct step *step)
{
    struct gtid_set *set;
    struct err ignored;

    if (!event_gtid_set_parse(&step->event, &set, &ignored))
        return;
    put_key(b, "gtids");
    buf_append_char(b, '"');
    gtid_set_format(b, set);
    buf_append_char(b, '"');
    gtid_set_free(set);
}

static void put_gtid(struct buf *b, const struct event *e)
{
    struct event_gtid g;
    struct err ignored;

    if (!event_gtid_parse(e, &g, &ignored))
        return;
    if (e->type != EVENT_MARIADB_GTID) {
        put_number(b, "last_committed", (uint64_t)g.last_committed);
        put_number(b, "sequence_number", (uint64_t)g.sequence);
    }
    if (g.commit_us != 0)
        put_number(b, "commit_us", g.commit_us);
    if (g.standalone)
        put_true(b, "standalone");
    if (g.start_alter)
        put_true(b, "start_alter");
}

static void put_table(struct buf *b, const struct step *step)
{
    if (step->map == NULL)
        return;
    put_text(b, "database", step->map->database);
    put_text(b, "table", step->map->table);
    if (!step->map->wanted || step->map->broken.kind != ERR_NONE)
        return;
    put_number(b, "columns", step->map->n_columns);
}

static void put_text_after(struct buf *b, const char *key, struct str body, size_t skip)
{
    if (body.len >= skip)
        put_text(b, key, (struct str){body.ptr + skip, body.len - skip});
}

static void put_incident(struct buf *b, struct str body)
{
    struct event_incident incident;
    struct err ignored;

    if (!event_incident_parse(body, &incident, &ignored))
        return;
    put_number(b, "code", incident.code);
    put_text(b, "message", incident.message);
}

void decode_event_append(struct buf *b, const struct event_format *f, const struct step *step)
{
    const struct event *e = &step->event;

    put_text(b, "event", str_from(event_name(e->type)));
    if (event_name(e->type) == event_name(0))
        put_number(b, "type", e->type);
    switch (e->type) {
    case EVENT_FORMAT_DESCRIPTION: put_format(b, f); break;
    case EVENT_ROTATE: put_rotate(b, step); break;
    case EVENT_QUERY:
    case EVENT_QUERY_COMPRESSED: put_query(b, step); break;
    case EVENT_XID:
        if (e->body.len >= 8)
            put_number(b, "xid", load_le64(e->body.ptr));
        break;
    case EVENT_XA_PREPARE: put_text(b, "xid", step->xid); break;
    case EVENT_PREVIOUS_GTIDS:
    case EVENT_GTID_LIST: put_gtid_set(b, step); break;
    case EVENT_GTID:
    case EVENT_ANONYMOUS_GTID:
    case EVENT_GTID_TAGGED:
    case EVENT_MARIADB_GTID: put_gtid(b, e); break;
    case EVENT_ROWS_QUERY: put_text_after(b, "sql", e->body, 1); break;
    case EVENT_ANNOTATE_ROWS: put_text_after(b, "sql", e->body, 0); break;
    case EVENT_BINLOG_CHECKPOINT: put_text_after(b, "checkpoint", e->body, 4); break;
    case EVENT_INCIDENT: put_incident(b, e->body); break;
    case EVENT_TABLE_MAP: put_table(b, step); break;
    default:
        if (event_has_rows(e->type))
            put_table(b, step);
    }
}

#include "config.h"

#include "rebalance/delayed/parts.h"

#include "rebalance/fill/bucket.h"
#include "rebalance/fill/part.h"
#include "rebalance/version/buckets.h"

#include "src/base/clock.h"
#include "src/store/store.h"
#include "sync/document/bucket/mod.h"
#include "sync/document/key.h"
#include "sync/document/resolver.h"
#include "sync/routing/compile.h"
#include "sync/routing/routing.h"
#include "sync/value/schema.h"

#define KEYS_MAX  250        /* of a part: one statement takes them */
#define BYTES_MAX (64 << 10) /* of their keys */

/* An index version, and whether other nodes may write its documents for the run. */
struct spread {
    struct target *target; /* a reference */
    struct fill_note note;
    bool may;
    struct spread *next;
};

/* Rows of one place, as they go into a part. */
struct group {
    const struct spread *spread;
    struct fill_part part; /* without its note */
    size_t n;
    struct group *next;
};

void parts_init(struct parts *p, const struct delayed_run *r,
                const struct stored_snapshot *snapshots, size_t n)
{
    *p = (struct parts){
        .run = r, .table = snapshots[0].table, .n_nodes = coordinator_fill_nodes(r->co)};
    p->last = &p->first;
    for (size_t i = 0; i < n; i++)
        if (snapshots[i].version > p->newest)
            p->newest = snapshots[i].version;
}

void parts_fini(struct parts *p)
{
    for (struct spread *s = p->spreads; s != NULL; s = s->next) {
        target_unref(s->target);
        fill_note_fini(&s->note);
    }
    for (struct group *g = p->first; g != NULL; g = g->next)
        part_fini(&g->part);
}

/* ---- which versions ---- */

static bool is_of(const struct spread *s, const struct stored_fan_out *lead)
{
    const struct reading *reading = s->target->plan;

    return reading->number == lead->version &&
           str_equal(str_from(reading->alias), lead->index) &&
           str_equal(str_from(s->target->table), lead->member);
}

/* What a document's version says of its contents, wherever it was read. */
static bool is_told_by_version(struct pipeline *pipeline, const struct target *t)
{
    const struct plan *plan = ((const struct reading *)t->plan)->plan;
    struct routing *routing = pipeline_routing(pipeline);
    size_t n_areas;

    (void)plan_areas(plan, &n_areas, NULL);

    const bool is = n_areas == 0 && !plan_is_routed(plan) && !routing_has_cascades(routing, t);

    routing_unref(routing);
    return is;
}

/* What reads must include; behind the newest change of the page. */
static bool take_note(struct parts *p, struct spread *s, struct err *err)
{
    return fill_note_take(p->run->pipeline, s->target->index, p->newest,
                          p->run->co->identity.uuid, &s->note, err) &&
           (s->note.own.version >= p->newest ||
            err_set(err, ERR_RETRY, "the stream has not read the changes again that wait"));
}

bool parts_find(struct parts *p, const struct stored_fan_out *lead, const struct spread **out,
                struct err *err)
{
    struct spread *s = p->spreads;
    struct buf name = {0};
    bool ok = true;

    *out = NULL;
    if (p->n_nodes < 2 || !str_equal(lead->topic, p->run->owner.topic))
        return true;
    while (s != NULL && !is_of(s, lead))
        s = s->next;
    if (s == NULL) {
        coordinator_index_name(&name, lead->index, lead->version);

        struct target *t = pipeline_target(p->run->pipeline, buf_str(&name), lead->member);

        buf_free(&name);
        if (t == NULL)
            return true;
        s = arena_alloc(p->run->arena, 1, sizeof(*s));
        *s = (struct spread){.target = t, .next = p->spreads};
        p->spreads = s;
        if (is_told_by_version(p->run->pipeline, t))
            ok = take_note(p, s, err);
        s->may = ok && s->note.anywhere;
    }
    *out = s->may ? s : NULL;
    return ok;
}

/* ---- what they are to write ---- */

static struct group *new_group(struct parts *p, const struct spread *s)
{
    struct group *g = arena_alloc(p->run->arena, 1, sizeof(*g));

    *g = (struct group){.spread = s};
    buf_append(&g->part.table, p->table);
    buf_append(&g->part.member, str_from(s->target->table));
    *p->last = g;
    p->last = &g->next;
    return g;
}

static bool takes(const struct group *g, const struct spread *s,
                  const struct stored_fan_out *lead)
{
    return g->spread == s && !g->part.by_level && g->part.place == lead->place &&
           g->part.by == lead->by && g->n < KEYS_MAX &&
           g->part.keys.len + lead->key.len <= BYTES_MAX;
}

void parts_add_row(struct parts *p, const struct spread *s, const struct stored_fan_out *lead)
{
    struct group *g = p->first;

    while (g != NULL && !takes(g, s, lead))
        g = g->next;
    if (g == NULL) {
        g = new_group(p, s);
        g->part.place = lead->place;
        g->part.by = lead->by;
    }
    key_append_part(&g->part.keys, lead->key);
    g->n++;
}

/*
 * The server itself leaves out what other parts have, if there is a time to tell by.  The
 * document shows it: a row whose time changes between the reads of two parts is written again
 * by its event.
 */
static void choose_column(const struct parts *p, struct group *g)
{
    struct definitions *d = coordinator_definitions(p->run->co);
    const struct table_definition *t = definitions_table(d, buf_str(&g->part.member));
    const struct plan *plan = ((const struct reading *)g->spread->target->plan)->plan;
    struct buf ignored = {0};
    struct err none = {0};

    if (t != NULL && t->bucket_column.len > 0 && plan_reads(plan, 0, t->bucket_column) &&
        mod_append(&ignored, plan, t->bucket_column, 2, 0, &none))
        buf_append(&g->part.bucket_column, t->bucket_column);
    buf_free(&ignored);
    definitions_unref(d);
}

void parts_add_level(struct parts *p, const struct spread *s, uint32_t level,
                     const struct str *ids, size_t n)
{
    struct group *g = new_group(p, s);

    for (size_t i = 0; i < n; i++)
        key_append_part(&g->part.keys, ids[i]);
    g->part.by_level = true;
    g->part.level = level;
    choose_column(p, g);
}

/* As the row's own key has it (sync/document/key.h); a key of several columns has no text. */
static bool append_key(struct buf *key, const struct schema *schema, struct str id)
{
    const struct column *c = schema->n_key == 1 ? &schema->columns[schema->key[0]] : NULL;
    struct err ignored = {0};

    return c != NULL && key_parse_id(key, &c, 1, id, &ignored);
}

static void add_at(struct parts *p, const struct spread *s, const struct fill_part *old,
                   size_t place)
{
    const struct plan *plan = ((const struct reading *)s->target->plan)->plan;
    struct str rest = buf_str(&old->keys), id;

    while (key_next(&rest, &id)) {
        struct buf key = {0};

        if (append_key(&key, plan_place_schema(plan, place), id))
            parts_add_row(p, s,
                          &(struct stored_fan_out){.place = (uint32_t)place,
                                                   .by = RESOLVER_BY_ROW,
                                                   .key = buf_str(&key)});
        buf_free(&key);
    }
}

void parts_add_otherwise(struct parts *p, const struct spread *s, const struct fill_part *old)
{
    const struct plan *plan = ((const struct reading *)s->target->plan)->plan;
    struct definitions *d = coordinator_definitions(p->run->co);
    struct table_location at;
    const bool is_there = definitions_locate(d, buf_str(&old->table), &at);

    for (size_t place = 1; is_there && place < plan_n_places(plan); place++)
        if (routing_is_place_of(plan, place, &at))
            add_at(p, s, old, place);
    definitions_unref(d);
}

/* Enough for all nodes: many pages make many parts, and few pages are shared. */
uint32_t parts_for_page(uint64_t snapshots, size_t nodes)
{
    const uint64_t pages = (snapshots + DELAYED_PAGE - 1) / DELAYED_PAGE;

    if (pages >= nodes * 4)
        return 1;
    return nodes < PARTS_MAX ? (uint32_t)nodes : PARTS_MAX;
}

static struct stored_job job_of(const struct parts *p, const struct group *g, uint32_t mod,
                                uint32_t rest)
{
    const struct reading *reading = g->spread->target->plan;
    struct fill_part part = g->part; /* borrowed, and so is the note */
    struct fill_bucket bucket = {.mod = 0};
    struct buf text = {0};
    const int64_t now_ms = clock_wall_ms();

    part.note = g->spread->note;
    part.mod = mod;
    part.rest = rest;
    part_append(&bucket.part, &part);
    bucket_append(&text, &bucket);

    const struct stored_job job = {
        .kind = STR(JOB_PART),
        .index = arena_copy(p->run->arena, str_from(reading->alias)),
        .table = arena_copy(p->run->arena, str_from(g->spread->target->table)),
        .version = reading->number,
        .buckets = mod,
        .state = STR(BUCKET_INIT),
        .parameters = arena_copy(p->run->arena, buf_str(&text)),
        .keys = buf_str(&g->part.keys),
        .created_ms = now_ms,
        .updated_ms = now_ms};

    bucket_fini(&bucket);
    buf_free(&text);
    return job;
}

void parts_finish(struct parts *p)
{
    const struct snapshot_run *at = &p->run->at;
    const uint32_t mod = parts_for_page(at->one != 0 ? 1 : at->n_all, p->n_nodes);
    size_t n_groups = 0;

    for (const struct group *g = p->first; g != NULL; g = g->next)
        n_groups++;
    p->list = arena_alloc(p->run->arena, n_groups * mod + 1, sizeof(*p->list));
    for (const struct group *g = p->first; g != NULL; g = g->next)
        for (uint32_t i = 0; i < mod; i++)
            p->list[p->n++] = job_of(p, g, mod, i);
}

#include "config.h"

#include "rebalance/trace/parts.h"

#include "rebalance/fill/bucket.h"
#include "rebalance/state/pauses.h"
#include "rebalance/watch/engine_check.h"
#include "rebalance/watch/findings.h"
#include "src/base/clock.h"
#include "src/store/later/fan_out.h"
#include "sync/definition/diff.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PENDING_MAX 20
#define LISTED_MAX \
    100 /* dead letters and purged keys of one `_id`, which routings tell apart */

/* ---- what the node knows ---- */

static void note_pause(struct trace *t, enum trace_code code, const struct pause *p)
{
    struct buf why = {0}, fix = {0};

    pause_append(&why, p);
    buf_printf(&fix, "millrace %" STR_FMT " resume ", STR_ARG(p->kind));
    buf_append_word(&fix, code == TRACE_PAUSED ? table_name(t->table) : p->name);
    trace_note(t, code, buf_str(&why), buf_str(&fix));
    buf_free(&why);
    buf_free(&fix);
}

static void note_hold(struct trace *t)
{
    struct buf fix = {0}, rebuild = {0};
    struct hold hold;

    if (!holds_find(t->co->holds, t->index, &hold))
        return;
    if (hold.is.why.origin != NULL && strcmp(hold.is.why.origin, DELIVERY_PAUSED) == 0) {
        if ((t->facts & TRACE_FACT(TRACE_PAUSED)) == 0)
            trace_note(t, TRACE_PAUSED, str_from(hold.is.why.msg), STR(""));
        return;
    }
    buf_append(&rebuild, STR("millrace index create "));
    buf_append_word(&rebuild, table_name(t->lead));
    hold_append_fix(&fix, hold.is.cure, rebuild.ptr);
    trace_note(t, TRACE_HELD, str_from(hold.is.why.msg), buf_str(&fix));
    buf_free(&fix);
    buf_free(&rebuild);
}

static void note_astray(struct trace *t)
{
    size_t n;
    const struct finding *list = findings_all(t->co->findings, t->arena, &n);

    for (size_t i = 0; t->available != NULL && i < n; i++)
        if (str_equal(list[i].alias, table_index(t->lead))) {
            trace_note(t, TRACE_ASTRAY, list[i].reason, list[i].fix);
            return;
        }
}

void trace_note_state(struct trace *t)
{
    const struct stored_stop *stop = catalogue_stop(t->catalogue, table_name(t->lead));
    const struct pause *pause =
        catalogue_pause(t->catalogue, PAUSE_INDEX, table_index(t->lead));

    const struct pause *topic =
        t->available == NULL ? NULL
                             : catalogue_pause(t->catalogue, PAUSE_TOPIC, t->available->topic);

    if (topic != NULL && !t->is_begun)
        note_pause(t, TRACE_TOPIC_PAUSED, topic);
    if (stop != NULL)
        trace_note(t, TRACE_STOPPED, stop->reason, stop->way_out);
    if (pause != NULL)
        note_pause(t, TRACE_PAUSED, pause);
    note_hold(t);
    note_astray(t);
    if (t->lead->sync_every_s > 0)
        trace_note(t, TRACE_BY_TIME, STR(""), STR(""));
    if (t->run.pipeline != NULL && (pipeline_cascades_wait_for(t->run.pipeline, t->index) ||
                                    pipeline_gone_stay(t->run.pipeline, t->index) > 0))
        trace_note(t, TRACE_CASCADE, STR(""), STR(""));
}

/* ---- delivery and the store ---- */

static bool ask_delivery(struct trace *t, struct err *err)
{
    static const enum trace_code codes[N_DELIVERY_STAGES] = {
        [STAGE_APART] = TRACE_APART,     [STAGE_QUEUED] = TRACE_QUEUED,
        [STAGE_READING] = TRACE_READING, [STAGE_UNSTORED] = TRACE_UNSTORED,
        [STAGE_SENT] = TRACE_SENT,
    };

    if (!delivery_find(t->co->delivery, t->index, t->id, &t->place, err))
        return false;
    if (t->place.stage != STAGE_NONE)
        trace_note(t, codes[t->place.stage], STR(""), STR(""));
    return true;
}

static bool ask_letters(struct trace *t, struct err *err)
{
    const struct dead_letter_filter f = {
        .index = t->index, .doc_id = t->id, .limit = LISTED_MAX};
    struct stored_dead_letter *list;
    struct buf fix = {0};

    if (!store_load_dead_letters(t->co->opt.store, t->arena, &f, &list, &t->n_letters, err))
        return false;
    t->letters = list;
    if (t->n_letters > 0) {
        buf_printf(&fix, "correct that, then millrace dead-letter replay %" PRIu64, list->id);
        trace_note(t, TRACE_DEAD_LETTER, list->reason, buf_str(&fix));
        buf_free(&fix);
    }
    return true;
}

static bool ask_purged(struct trace *t, struct err *err)
{
    const struct purged_filter f = {
        .settled_ms = INT64_MAX, .ahead_ms = INT64_MAX, .doc_id = t->id};
    struct stored_purged *list;

    if (!store_load_purged(t->co->opt.store, t->arena, t->index, f, LISTED_MAX, &list,
                           &t->n_purged, err))
        return false;
    t->purged = list;
    if (t->n_purged > 0)
        trace_note(t, TRACE_PURGED, STR(""), STR(""));
    return true;
}

/* Parts of a delayed run read documents again as jobs do. */
static bool ask_parts(struct trace *t, struct err *err)
{
    struct stored_job *list;
    size_t n;

    if (!store_load_jobs(t->co->opt.store, t->arena, &list, &n, err))
        return false;
    for (size_t i = 0; i < n; i++)
        t->n_fan_outs += t->available != NULL && str_equal(list[i].kind, STR(JOB_PART)) &&
                         bucket_is_open(&list[i]) && list[i].version == t->available->number &&
                         str_equal(list[i].index, t->available->index);
    return true;
}

static bool ask_fan_outs(struct trace *t, struct err *err)
{
    struct fan_out_sum *list;
    size_t n;

    if (!store_sum_fan_outs(t->co->opt.store, t->arena, clock_wall_ms(), &list, &n, err))
        return false;
    for (size_t i = 0; i < n; i++)
        if (t->available != NULL && list[i].version == t->available->number &&
            str_equal(list[i].index, t->available->index))
            t->n_fan_outs += list[i].jobs;
    if (!ask_parts(t, err))
        return false;
    if (t->n_fan_outs > 0)
        trace_note(t, TRACE_FAN_OUT, STR(""), STR(""));
    return true;
}

static bool ask_tombstones(struct trace *t, struct err *err)
{
    for (size_t i = 0; i < t->n_versions; i++) {
        struct trace_version *v = &t->versions[i];
        struct stored_tombstone *list;

        if (!store_load_tombstones(t->co->opt.store, t->arena,
                                   (struct tombstone_filter){.index = v->name, .id = t->id},
                                   LISTED_MAX, &list, &v->n_tombstones, err))
            return false;
        v->tombstones = list;
    }
    return true;
}

static void add_pending(struct trace *t, struct str table, struct str field)
{
    struct buf text = {0};

    if (t->n_pending == PENDING_MAX)
        return;
    if (!str_equal(table, table_name(t->table)))
        buf_append(&text, table);
    if (text.len > 0 && field.len > 0)
        buf_append_char(&text, ' ');
    buf_append(&text, field);
    t->pending[t->n_pending++] = arena_copy(t->arena, buf_str(&text));
    buf_free(&text);
}

static void add_pending_of(struct trace *t, const struct definition_change *c)
{
    if (c->change != CHANGE_CHANGE)
        add_pending(t, c->name, STR(""));
    for (size_t i = 0; c->change == CHANGE_CHANGE && i < c->n_fields; i++)
        if (c->fields[i].needs_build)
            add_pending(t, c->name, c->fields[i].path);
}

/* What `apply` said of it. Of a version whose definition cannot be read any more, nothing. */
static void find_pending(struct trace *t)
{
    const struct table_definition *lead;
    struct definition_diff diff = {0};
    struct definitions *built;
    struct err ignored = {0};

    if (!t->is_pending ||
        !coordinator_version_definitions(t->co, t->available, &built, &lead, &ignored))
        return;
    t->pending = arena_alloc(t->arena, PENDING_MAX, sizeof(*t->pending));
    definition_diff_make(built, t->definitions, &diff);
    for (size_t i = 0; i < diff.n; i++)
        if (str_equal(diff.changes[i].index, table_index(t->lead)))
            add_pending_of(t, &diff.changes[i]);
    definition_diff_free(&diff);
    definitions_unref(built);
}

/* The store has, for a table whose definition waits, the newest version then. */
static bool ask_pending(struct trace *t, struct err *err)
{
    struct buf name = {0}, newest = {0};
    bool found;

    buf_printf(&name, "pending/%" STR_FMT, STR_ARG(table_name(t->table)));

    const bool ok = store_get_value(t->co->opt.store, buf_str(&name), &newest, &found, err);

    t->is_pending = ok && found && t->available != NULL && newest.len > 0 &&
                    t->available->number <= strtoull(newest.ptr, NULL, 10);
    buf_free(&name);
    buf_free(&newest);
    find_pending(t);
    return ok;
}

bool trace_ask_around(struct trace *t, struct err *err)
{
    errand_live(t->errand);
    return ask_delivery(t, err) && ask_letters(t, err) && ask_purged(t, err) &&
           ask_fan_outs(t, err) && ask_tombstones(t, err) && ask_pending(t, err);
}

/* ---- what the looks found ---- */

static const enum trace_code reasons[N_VERIFY_REASONS] = {
    [VERIFY_CHANGING] = TRACE_CHANGING,
    [VERIFY_NOT_DELIVERED] = TRACE_NOT_DELIVERED,
    [VERIFY_HELD] = TRACE_HELD,
    [VERIFY_BY_TIME] = TRACE_BY_TIME,
    [VERIFY_FAN_OUT] = TRACE_FAN_OUT,
    [VERIFY_CASCADE] = TRACE_CASCADE,
    [VERIFY_PURGED] = TRACE_PURGED,
    [VERIFY_DEAD_LETTER] = TRACE_DEAD_LETTER,
    [VERIFY_NOT_FOLLOWED] = TRACE_NOT_FOLLOWED,
    [VERIFY_DROPPED] = TRACE_DROPPED,
    [VERIFY_DELAYED] = TRACE_DELAYED,
};

static const enum trace_code kinds[N_VERIFY_KINDS] = {
    [VERIFY_MISSING] = TRACE_MISSING,         [VERIFY_EXTRA] = TRACE_EXTRA,
    [VERIFY_DIFFERENT] = TRACE_DIFFERENT,     [VERIFY_ROUTING] = TRACE_ROUTING,
    [VERIFY_UNEXPLAINED] = TRACE_UNEXPLAINED, [VERIFY_LINEAGE] = TRACE_LINEAGE,
};

static enum trace_code equal_as(const struct trace *t)
{
    static const struct {
        const char *row;
        enum trace_code code;
    } codes[] = {
        {"soft_deleted", TRACE_SOFT_DELETED},
        {"filtered", TRACE_FILTERED},
        {"unrooted", TRACE_UNROOTED},
        {"absent", TRACE_NO_ROW},
    };

    if (t->run.keys->look.is_wanted)
        return TRACE_EQUAL;
    for (size_t i = 0; i < ARRAY_LEN(codes); i++)
        if (strcmp(codes[i].row, t->row) == 0)
            return codes[i].code;
    return TRACE_CHANGING; /* the row came after both sides were equal */
}

/* A reason that was noted with its texts keeps them, also if it is told as a more exact one. */
static void note_apart(struct trace *t, enum verify_reason reason)
{
    const enum trace_code code = reasons[reason];
    const struct pause *pause = catalogue_pause(t->catalogue, PAUSE_TOPIC, t->run.topic);

    if (code == TRACE_NOT_DELIVERED && pause != NULL)
        note_pause(t, TRACE_TOPIC_PAUSED, pause);
    else if (code == TRACE_HELD) /* perhaps since the last look only */
        note_hold(t);
    else if ((t->facts & TRACE_FACT(code)) == 0)
        trace_note(t, code, t->row_reason,
                   code == TRACE_DEAD_LETTER ? STR("correct the row") : STR(""));
}

void trace_note_verdict(struct trace *t)
{
    const struct verify_key *k = t->run.keys;

    if (!t->is_judged)
        return;
    if (k->state == VERIFY_EQUAL)
        trace_note(t, equal_as(t), STR(""), STR(""));
    else if (k->state == VERIFY_APART)
        note_apart(t, k->reason);
    else
        for (size_t i = 0; i < k->n_found; i++)
            trace_note(t, kinds[k->found[i].kind], STR(""), STR(""));
}

#include "config.h"

#include "rebalance/fill/source.h"

#include "rebalance/fill/targets.h"
#include "src/base/mem.h"
#include "src/format/json.h"
#include "sync/checkpoint/read_position.h"
#include "sync/document/plan.h"
#include "sync/pipeline/pipeline.h"
#include "sync/read/source_registry.h"
#include "sync/routing/routing.h"

#include <stdio.h>
#include <stdlib.h>

#define PLACE_MASK ((UINT64_C(1) << 53) - 1) /* of a version: 0 before a place is known */

void fill_note_fini(struct fill_note *n)
{
    for (size_t i = 0; i < n->n_others; i++)
        fill_point_fini(&n->others[i]);
    free(n->others);
    fill_point_fini(&n->own);
    buf_free(&n->why);
    buf_free(&n->node);
}

/* ---- text ---- */

static void append_point(struct json_writer *w, const struct fill_point *p)
{
    json_put_string(w, STR("topic"), buf_str(&p->topic));
    json_put_string(w, STR("identity"), buf_str(&p->identity));
    json_put_string(w, STR("gtids"), buf_str(&p->gtids));
    json_put_bool(w, STR("gtid"), p->gtid);
    json_put_u64(w, STR("version"), p->version);
}

void fill_note_append(struct buf *json, const struct fill_note *n)
{
    struct json_writer w = {.out = json};

    json_open_object(&w);
    json_put_bool(&w, STR("anywhere"), n->anywhere);
    json_put_string(&w, STR("why"), buf_str(&n->why));
    json_put_string(&w, STR("node"), buf_str(&n->node));
    append_point(&w, &n->own);
    json_write_key(&w, STR("others"));
    json_open_array(&w);
    for (size_t i = 0; i < n->n_others; i++) {
        json_open_object(&w);
        append_point(&w, &n->others[i]);
        json_close_object(&w);
    }
    json_close_array(&w);
    json_close_object(&w);
}

/* Its topic and version are missing in notes of older releases, and known for the own topic. */
static bool read_point(struct str json, struct fill_point *p)
{
    (void)json_find_text(json, "/topic", &p->topic);
    (void)json_find_u64(json, "/version", &p->version);
    return json_find_bool(json, "/gtid", &p->gtid) &&
           json_find_text(json, "/identity", &p->identity) &&
           json_find_text(json, "/gtids", &p->gtids);
}

static struct fill_point *add_point(struct fill_note *n)
{
    n->others = mem_resize(n->others, n->n_others + 1, sizeof(*n->others));
    n->others[n->n_others] = (struct fill_point){0};
    return &n->others[n->n_others++];
}

bool fill_note_read(struct str json, struct fill_note *n)
{
    char pointer[40];
    struct str other;
    bool ok;

    *n = (struct fill_note){0};
    (void)json_find_text(json, "/why", &n->why);
    (void)json_find_text(json, "/node", &n->node);
    ok = json_find_bool(json, "/anywhere", &n->anywhere) && read_point(json, &n->own);
    for (;;) {
        snprintf(pointer, sizeof(pointer), "/others/%zu", n->n_others);
        if (!ok || !json_find(json, pointer, &other))
            return ok;
        ok = read_point(other, add_point(n));
    }
}

/* ---- what the owner knows ---- */

static void say_no_gtids(struct fill_note *n, struct str topic)
{
    n->anywhere = false;
    buf_clear(&n->why);
    buf_printf(&n->why,
               "transactions of topic %" STR_FMT
               "'s server have no GTIDs for other nodes to wait for",
               STR_ARG(topic));
}

/* Everything that was read up to the start, or later; whether other nodes can wait for it. */
static bool take_own(struct pipeline *p, uint64_t start, struct fill_note *n, struct err *err)
{
    const struct read_links links = pipeline_links(p, NULL, 0);
    const struct str topic = str_from(links.own.opt.topic);

    if (!fill_point_take(&n->own, topic, links.own.opt.known, links.own.opt.reader))
        say_no_gtids(n, topic);
    return n->own.version + READ_POSITION_GAP >= start ||
           err_set(err, ERR_RETRY,
                   "the stream has not reached the position from which the build reads");
}

static bool has_other(const struct fill_note *n, struct str topic)
{
    for (size_t i = 0; i < n->n_others; i++)
        if (str_equal(buf_str(&n->others[i].topic), topic))
            return true;
    return false;
}

/*
 * The other topic has written to the version since before its start was fixed: everything that
 * it has not read by now becomes a job of the documents' topic (ADR 21), and that job's write
 * is newer than a fill.
 */
static bool take_other(struct pipeline *p, struct str topic, struct fill_note *n,
                       struct err *err)
{
    struct registered_source source;
    struct fill_point *other;

    if (has_other(n, topic))
        return true;
    if (!source_registry_find(pipeline_links(p, NULL, 0).registry, topic, &source))
        return err_set(err, ERR_RETRY,
                       "topic %" STR_FMT ", which has tables of its documents, is not running",
                       STR_ARG(topic));
    other = add_point(n);
    if (!fill_point_take(other, topic, source.known, source.reader))
        say_no_gtids(n, topic);
    registered_source_release(&source);
    return (other->version & PLACE_MASK) != 0 ||
           err_set(err, ERR_RETRY,
                   "topic %" STR_FMT ", which has tables of its documents, has no position yet",
                   STR_ARG(topic));
}

static bool take_others(struct pipeline *p, struct target *const *list, size_t n_targets,
                        struct fill_note *n, struct err *err)
{
    for (size_t i = 0; i < n_targets; i++) {
        const struct plan *plan = ((const struct reading *)list[i]->plan)->plan;

        for (size_t k = 1; k < plan_n_topics(plan); k++)
            if (!take_other(p, plan_topic(plan, k), n, err))
                return false;
    }
    return true;
}

bool fill_note_take(struct pipeline *p, const char *index, uint64_t start, const char *node,
                    struct fill_note *n, struct err *err)
{
    size_t n_targets;
    struct target **list = version_targets(p, index, &n_targets, err);
    bool ok;

    *n = (struct fill_note){.anywhere = true};
    buf_append(&n->node, str_from(node));
    ok = n_targets > 0 && take_others(p, list, n_targets, n, err) && take_own(p, start, n, err);
    version_targets_free(list, n_targets);
    return ok;
}

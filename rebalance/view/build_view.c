#include "config.h"

#include "rebalance/view/build_view.h"

#include "rebalance/state/parts.h"
#include "rebalance/version/builds.h"
#include "rebalance/version/routes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * Why a build does not progress.  The first that applies counts: its version waits, a topic of
 * its documents has failed, its index is held, the build reports an error, a topic is not
 * connected yet.
 */
struct build_why {
    const struct coordinator *co;
    const struct definitions *definitions;
    const struct catalogue *catalogue;
    const struct stored_version *version;
    const struct table_definition *lead; /* NULL: not defined any more */
    struct buf reason, fix;
};

static bool say_wait(struct build_why *w)
{
    const struct stored_wait *wait = catalogue_wait(w->catalogue, w->version);

    if (wait == NULL)
        return false;
    buf_append(&w->reason, wait->detail);
    coordinator_append_wait_fix(&w->fix, wait,
                                w->lead != NULL ? table_name(w->lead) : wait->index);
    return true;
}

/* Whether the version's documents contain rows of this topic. */
static bool concerns(const struct build_why *w, const struct topic *t)
{
    const struct str name = str_from(t->name);

    return str_equal(w->version->topic, name) ||
           (w->lead != NULL && coordinator_shows_topic(w->definitions, w->lead, name));
}

static void say_topic(struct build_why *w, const struct topic *t, const char *what,
                      const struct err *why)
{
    buf_printf(&w->reason, "topic %s %s%s%s", t->name, what, why->kind != ERR_NONE ? ": " : "",
               why->kind != ERR_NONE ? why->msg : "");
}

static bool say_source(struct build_why *w, const struct topic *t, enum source_state wanted,
                       const char *what)
{
    struct pipeline_status s;

    pipeline_status(t->pipeline, &s);
    free(s.gtids);
    if (s.source.state != wanted)
        return false;
    say_topic(w, t, what, &s.source.why);
    if (wanted == SOURCE_FAILED)
        buf_append(&w->fix, str_from(s.source.fix));
    return true;
}

/* A person must act. */
static bool has_failed(struct build_why *w, const struct topic *t)
{
    return t->pipeline != NULL && say_source(w, t, SOURCE_FAILED, "has failed");
}

/* No action is needed. */
static bool is_on_its_way(struct build_why *w, const struct topic *t)
{
    if (t->pipeline != NULL)
        return say_source(w, t, SOURCE_WAITING, "waits") ||
               say_source(w, t, SOURCE_CONNECTING, "connects");
    say_topic(w, t, "is not running", &t->why);
    return true;
}

static bool say_topics(struct build_why *w,
                       bool (*say)(struct build_why *, const struct topic *))
{
    for (const struct topic *t = w->co->topics->first; t != NULL; t = t->next)
        if (concerns(w, t) && say(w, t))
            return true;
    return false;
}

void coordinator_append_reset(struct buf *b, struct str table)
{
    buf_append(b, STR("millrace index reset "));
    buf_append_word(b, table);
    buf_append(b, STR(", then millrace index create "));
    buf_append_word(b, table);
}

static bool say_held(struct build_why *w)
{
    struct buf index = {0}, rebuild = {0};
    struct hold hold;

    coordinator_index_name(&index, w->version->index, w->version->number);

    const bool held = holds_find(w->co->holds, buf_str(&index), &hold);

    if (held) {
        buf_append(&w->reason, str_from(hold.is.why.msg));
        coordinator_append_reset(&rebuild,
                                 w->lead != NULL ? table_name(w->lead) : w->version->index);
        hold_append_fix(&w->fix, hold.is.cure, rebuild.ptr);
    }
    buf_free(&index);
    buf_free(&rebuild);
    return held;
}

static bool say_build(struct build_why *w, const struct build_view *b)
{
    buf_append(&w->reason, str_from(b->s.why.msg));
    return b->s.why.kind != ERR_NONE;
}

/* A step that every build goes through. */
static void say_step(struct build_why *w, const struct build_view *b)
{
    if (!b->runs)
        buf_printf(&w->reason, "the build begins once topic %" STR_FMT " follows its tables",
                   STR_ARG(w->version->topic));
    else if (b->s.step != NULL)
        buf_append(&w->reason, str_from(b->s.step));
}

static void tell_why(const struct coordinator *co, const struct definitions *d,
                     const struct catalogue *c, const struct stored_version *version,
                     struct build_view *out) NEEDS(co->topics->lock)
{
    struct build_why w = {.co = co,
                          .definitions = d,
                          .catalogue = c,
                          .version = version,
                          .lead = definition_lead_of(d, version->index)};
    const bool in_trouble = say_wait(&w) || say_topics(&w, has_failed) || say_held(&w) ||
                            say_build(&w, out) || say_topics(&w, is_on_its_way);

    if (!in_trouble)
        say_step(&w, out);
    out->s.why = (struct err){.kind = in_trouble ? ERR_RETRY : ERR_NONE};
    if (w.reason.len > 0)
        snprintf(out->s.why.msg, sizeof(out->s.why.msg), "%s", w.reason.ptr);
    if (w.fix.len > 0)
        snprintf(out->fix, sizeof(out->fix), "%s", w.fix.ptr);
    buf_free(&w.reason);
    buf_free(&w.fix);
}

void coordinator_say_slow(struct build_view *b, struct str table)
{
    if (!b->s.slow || b->s.why.kind != ERR_NONE)
        return;
    err_set(&b->s.why, ERR_RETRY,
            "rows come faster than it reads them, so it never ends like this");
    if (b->s.rate_limit > 0)
        snprintf(b->fix, sizeof(b->fix),
                 "let it read more than its limit of %" PRIu64 " rows a second: millrace index "
                 "set %" STR_FMT " --rate N",
                 b->s.rate_limit, STR_ARG(table));
    else
        snprintf(b->fix, sizeof(b->fix),
                 "let more nodes fill it (millrace index set %" STR_FMT
                 " --nodes 0), or end it "
                 "with millrace index reset, and build it with more --buckets, or while fewer "
                 "rows come",
                 STR_ARG(table));
}

void coordinator_look_at_build(const struct coordinator *co, const struct definitions *d,
                               const struct catalogue *c, const struct stored_version *version,
                               struct build_view *out)
{
    *out = (struct build_view){
        .is_there = true,
        .s = {.number = version->number, .remaining_s = -1, .phase = "waiting"}};
    out->runs = builds_status(co->builds, version->index, version->number, &out->s);
    tell_why(co, d, c, version, out);

    const struct table_definition *lead = definition_lead_of(d, version->index);

    coordinator_say_slow(out, lead != NULL ? table_name(lead) : version->index);
}

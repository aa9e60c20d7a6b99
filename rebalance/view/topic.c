#include "config.h"

#include "rebalance/view/topic.h"

#include "rebalance/view/look.h"

#include "rebalance/state/parts.h"
#include "rebalance/state/pauses.h"
#include "src/base/human.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREPARED_LONG_MS 60000
#define SILENT_MS        10000 /* a server that does not answer for so long hangs */

/* What a warning is about. */
static const struct checked_table {
    const char *id, *why;
} retention = {"topic.retention",
               "if the server purges the log before Millrace has read it, the tables must be "
               "rebuilt"},
  prepared = {"mysql.xa_prepared", "after a restart Millrace reads the log again from there, "
                                   "which fails once the server has purged it"},
  silent = {"topic.silent", "changes committed since may not be delivered"},
  position = {"topic.position", "after a restart Millrace repeats work"},
  days = {"topic.day_zone", "millrace replay cannot read a day of it again"},
  gtid = {"topic.gtid",
          "such reads come later, and Millrace cannot follow the log to another server"};

static void warn(const struct coordinator_view *v, struct topic_view *t,
                 const struct checked_table *of, const char *fmt, ...) PRINTF_LIKE(4, 5);

static void warn(const struct coordinator_view *v, struct topic_view *t,
                 const struct checked_table *of, const char *fmt, ...)
{
    char text[1024];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    if (t->n_warnings < TOPIC_WARNINGS)
        t->warnings[t->n_warnings++] = (struct topic_warning){
            of->id, of->why, arena_copy(v->arena, str_from(text)), {{0}}};
}

/* Give the last warning numbers: at most two. */
static void give(struct topic_view *t, struct doctor_value first, struct doctor_value second)
{
    struct topic_warning *last = &t->warnings[t->n_warnings - 1];

    last->values[0] = first;
    last->values[1] = second;
}

/* Such a lag can end in a purged log. */
bool coordinator_lag_threatens(const struct pipeline_status *s, int64_t now_ms)
{
    return s->source.server_known && s->source.server.retention_s > 0 &&
           lag_seconds(s->lag, now_ms) > (double)s->source.server.retention_s / 2;
}

static void warn_of_retention(struct coordinator_view *v, struct topic_view *t)
{
    const uint64_t kept_s = t->status.source.server.retention_s;
    const double lag_s = lag_seconds(t->status.lag, v->now_ms);

    if (!coordinator_lag_threatens(&t->status, v->now_ms))
        return;
    warn(v, t, &retention,
         "the lag of %.0f s is more than half of the %" PRIu64
         " s that the server keeps its binlog; fix: raise binlog_expire_logs_seconds, "
         "or find what is slow",
         lag_s, kept_s);
    give(t, (struct doctor_value){"lag_seconds", .number = lag_s},
         (struct doctor_value){"kept_seconds", .number = (double)kept_s});
}

/* The XA transaction was prepared so long ago that somebody may have forgotten it. */
static void warn_of_prepared(struct coordinator_view *v, struct topic_view *t)
{
    const struct pipeline_status *s = &t->status;
    const int64_t age_ms = v->now_ms - s->prepared.oldest_ms;

    if (s->prepared.n == 0 || age_ms < PREPARED_LONG_MS)
        return;
    warn(v, t, &prepared,
         "the XA transaction %s has been prepared for %" PRId64 " s (%zu are prepared), and "
         "the position stays before it at %s:%" PRIu64 ", so the server must keep its log "
         "from there; fix: XA COMMIT or XA ROLLBACK it; if XA RECOVER does not list it, the "
         "server has lost it: millrace topic reset, then millrace index create",
         s->prepared.oldest, age_ms / 1000, s->prepared.n, s->file, s->offset);
}

int64_t coordinator_silent_since_ms(const struct pipeline_status *s, int64_t now_ms)
{
    int64_t since_ms = 0;

    if (s->source.state == SOURCE_CONNECTING)
        since_ms = s->source.since_ms;
    else if (s->source.state == SOURCE_RUNNING)
        since_ms = s->asking_ms;
    return since_ms != 0 && now_ms - since_ms >= SILENT_MS ? since_ms : 0;
}

/* It answers, but not where its log ends: it refuses that, or has lost the log in question. */
static void warn_of_silence(struct coordinator_view *v, struct topic_view *t)
{
    const struct pipeline_status *s = &t->status;
    struct buf since = {0};

    if (s->source.state != SOURCE_RUNNING || s->asked_ms == 0 || s->bytes_known ||
        v->now_ms - s->asked_ms < SILENT_MS || coordinator_silent_since_ms(s, v->now_ms) != 0)
        return;
    human_time(&since, s->asked_ms);
    warn(v, t, &silent,
         "the server has not said since %s where its log ends, so the lag shown is an upper "
         "bound; fix: check the rights of its account",
         since.ptr);
    buf_free(&since);
}

void coordinator_warn_of_topic(struct coordinator_view *v, struct topic_view *t)
{
    warn_of_retention(v, t);
    warn_of_prepared(v, t);
    warn_of_silence(v, t);
    if (t->status.save_error.kind != ERR_NONE)
        warn(v, t, &position, "%s", t->status.save_error.msg);
    if (t->status.no_days.kind != ERR_NONE)
        warn(v, t, &days, "%s", t->status.no_days.msg);
    if (t->status.source.server_known && !t->status.source.server.gtid)
        warn(v, t, &gtid,
             "the server has no GTIDs: re-reads wait for locks of changed "
             "rows, or a settle delay, instead of an exact position; "
             "fix: gtid_mode=ON");
}

/* A topic whose server hangs is not `running`, though its connection is still there. */
static void look_at_silence(const struct coordinator_view *v, struct topic_view *t)
{
    const int64_t silent_ms = coordinator_silent_since_ms(&t->status, v->now_ms);
    struct buf reason = {0};

    t->is.since =
        coordinator_time(v->arena, silent_ms != 0 ? silent_ms : t->status.source.since_ms);
    if (t->is.reason.len > 0 && t->is.fix.len == 0 && t->is.since.len > 0)
        t->is.fix = STR("see that the server runs and can be reached; Millrace tries again by "
                        "itself");
    if (t->is.reason.len > 0 || silent_ms == 0)
        return;
    buf_printf(&reason, "%" STR_FMT " has not answered since ", STR_ARG(t->d->server.address));
    human_time(&reason, silent_ms);
    if (t->status.source.state == SOURCE_RUNNING)
        t->is.state = "waiting";
    t->is.code = "topic.runs.silent";
    t->is.reason = arena_copy(v->arena, buf_str(&reason));
    t->is.fix = STR("find out why the server hangs, or correct the topic's address; Millrace "
                    "goes on by itself once it answers");
    buf_free(&reason);
}

static bool has_index(const struct coordinator_view *v, const struct topic_view *t)
{
    for (size_t i = 0; i < v->definitions->n_tables; i++)
        if (str_equal(v->tables[i].topic, t->d->name) &&
            (v->tables[i].available != NULL || v->tables[i].changing != NULL))
            return true;
    return false;
}

static bool may_wait(const struct coordinator_view *v, const struct topic_view *t)
{
    return !t->told.is_others && strcmp(t->is.state, "running") == 0 && t->is.reason.len == 0 &&
           has_index(v, t);
}

/* Its condition is that of another one, whose check says it. */
static void wait_for(const struct coordinator_view *v, struct topic_view *t, const char *code,
                     struct buf *reason, struct str fix, struct str since)
{
    t->is = (struct condition){.state = "waiting",
                               .code = code,
                               .is_of_all = true,
                               .reason = arena_copy(v->arena, buf_str(reason)),
                               .fix = fix,
                               .since = since};
}

static void look_at_engine(const struct coordinator_view *v, struct topic_view *t)
{
    struct buf reason = {0};

    buf_append(&reason, STR("its changes wait: the search engine has not answered"));
    if (v->engine.is.at_ms != 0) {
        buf_append(&reason, STR(" since "));
        human_time(&reason, v->engine.is.at_ms);
    }
    wait_for(v, t, "topic.runs.engine_away", &reason,
             STR("start the search engine; Millrace goes on by itself once it answers"),
             coordinator_time(v->arena, v->engine.is.at_ms));
    buf_free(&reason);
}

/*
 * Returns the topic's table whose changes the engine has not taken for the longest time, or
 * NULL if it takes all, or has taken those of another table since.
 */
static const struct table_view *find_held(const struct coordinator_view *v,
                                          const struct topic_view *t)
{
    const struct table_view *held = NULL;
    int64_t moved_ms = 0;

    for (size_t i = 0; i < v->definitions->n_tables; i++) {
        const struct table_view *table = &v->tables[i];

        if (!str_equal(table->topic, t->d->name))
            continue;
        if (table->held_ms != 0 && (held == NULL || table->held_ms < held->held_ms))
            held = table;
        else if (table->held_ms == 0 && table->delivered_ms > moved_ms)
            moved_ms = table->delivered_ms;
    }
    return held != NULL && moved_ms < held->held_ms ? held : NULL;
}

static void look_at_held(const struct coordinator_view *v, struct topic_view *t)
{
    const struct table_view *held = find_held(v, t);
    struct buf reason = {0};

    if (held == NULL)
        return;
    buf_printf(&reason,
               "its changes wait: the search engine takes none, those of %" STR_FMT
               " since %" STR_FMT ": %" STR_FMT,
               STR_ARG(table_name(held->d)), STR_ARG(held->is.since), STR_ARG(held->is.reason));
    wait_for(v, t, "topic.runs.engine_refuses", &reason, held->is.fix, held->is.since);
    buf_free(&reason);
}

void coordinator_look_at_waits(struct coordinator_view *v)
{
    for (size_t i = 0; i < v->definitions->n_topics; i++) {
        struct topic_view *t = &v->topics[i];

        if (!may_wait(v, t))
            continue;
        if (v->engine.is_unreachable)
            look_at_engine(v, t);
        else
            look_at_held(v, t);
    }
}

static const char *code_of_source(enum source_state state)
{
    switch (state) {
    case SOURCE_CREATED:
    case SOURCE_CONNECTING:
    case SOURCE_WAITING: return "topic.runs.connecting";
    case SOURCE_RUNNING: return NULL;
    case SOURCE_FAILED: return "topic.runs.failed";
    }
    return NULL;
}

static void look_at_running(struct coordinator_view *v, struct topic_view *t,
                            const struct topic *topic)
{
    const bool moves = topic->move_why.kind != ERR_NONE;
    char *gtids;

    t->runs = true;
    (v->is_glance ? pipeline_glance : pipeline_status)(topic->pipeline, &t->status);
    gtids = t->status.gtids;
    t->status.gtids = (char *)(uintptr_t)arena_copy(v->arena, str_from(gtids)).ptr;
    free(gtids);
    t->is = (struct condition){
        .state = source_state_name(t->status.source.state),
        .is_bad = t->status.source.state == SOURCE_FAILED,
        .code = moves ? "topic.runs.stays" : code_of_source(t->status.source.state),
        .reason = arena_copy(v->arena,
                             str_from(moves ? topic->move_why.msg : t->status.source.why.msg)),
        .fix = moves ? STR("Millrace retries by itself")
                     : arena_copy(v->arena, str_from(t->status.source.fix)),
    };
    look_at_silence(v, t);
    t->lag = t->status.lag;
    coordinator_warn_of_topic(v, t);
}

static void warn_of_pause(const struct coordinator_view *v, struct topic_view *t,
                          const struct pause *p)
{
    const int64_t from_ms = p->needs_ms > 0 ? p->needs_ms : p->at_ms;
    const int64_t needs_s = (v->now_ms - from_ms) / 1000;

    if (p->retention_s == 0 || v->now_ms - from_ms <= (int64_t)p->retention_s * 1000 / 2)
        return;
    warn(v, t, &retention,
         "the paused topic needs the log of the last %" PRId64
         " s, more than half of the %" PRIu64
         " s that the server kept its binlog then (millrace doctor asks what it has now); "
         "fix: millrace topic resume %" STR_FMT,
         needs_s, p->retention_s, STR_ARG(t->d->name));
    give(t, (struct doctor_value){"lag_seconds", .number = (double)needs_s},
         (struct doctor_value){"kept_seconds", .number = (double)p->retention_s});
}

bool coordinator_look_at_pause(const struct coordinator_view *v, struct topic_view *t)
{
    const struct pause *p = catalogue_pause(v->catalogue, PAUSE_TOPIC, t->d->name);
    struct buf reason = {0}, fix = {0};

    if (p == NULL)
        return false;
    t->is.state = "created";
    t->is.code = "topic.runs.paused";
    warn_of_pause(v, t, p);
    pause_append(&reason, p);
    buf_append(&fix, STR("millrace topic resume "));
    buf_append_word(&fix, t->d->name);
    t->is.is_bad = true;
    t->is.reason = arena_copy(v->arena, buf_str(&reason));
    t->is.fix = arena_copy(v->arena, buf_str(&fix));
    buf_free(&reason);
    buf_free(&fix);
    return true;
}

void coordinator_look_at_topic(struct coordinator *co, struct coordinator_view *v,
                               struct topic_view *t)
{
    const struct topic *topic = topics_find(co->topics, t->d->name);

    if (topic != NULL && topic->pipeline != NULL) {
        look_at_running(v, t, topic);
        return;
    }
    t->lag = (struct lag){.since_ms = LAG_UNKNOWN};
    t->is = (struct condition){.state = "created", .reason = STR(""), .fix = STR("")};
    if (coordinator_look_at_pause(v, t))
        return;
    if (topic == NULL || topic->why.kind == ERR_NONE)
        return;
    t->is.state = topic->why.kind == ERR_STOP ? "lost" : "fail";
    t->is.code = topic->why.kind == ERR_STOP ? "topic.runs.lost" : "topic.runs.failed";
    t->is.is_bad = true;
    t->is.reason = arena_copy(v->arena, str_from(topic->why.msg));
}

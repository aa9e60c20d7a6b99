#include "config.h"

#include "sync/pipeline/dump_start.h"

#include "src/base/buf.h"
#include "src/base/log.h"
#include "src/base/magic.h"
#include "src/base/mem.h"
#include "sync/change/builder.h"
#include "sync/checkpoint/progress.h"
#include "sync/checkpoint/read_position.h"
#include "sync/checkpoint/saver.h"
#include "sync/pipeline/builder_calls.h"
#include "sync/pipeline/router.h"
#include "sync/position/gtid_set.h"
#include "sync/position/position.h"
#include "sync/server/known_server.h"
#include "sync/source/start_point.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first event of a log file, after its magic number. */
#define FIRST_EVENT 4

struct dump_start {
    enum magic magic;
    struct dump_start_options opt;
    struct builder_calls *calls;
    uint64_t log_end; /* atomic */
};

struct dump_start *dump_start_new(const struct dump_start_options *opt)
{
    struct dump_start *d = mem_alloc(1, sizeof(*d));

    d->magic = MAGIC_dump_start;
    d->opt = *opt;
    d->calls = builder_calls_new(opt->handoff);
    return d;
}

void dump_start_free(struct dump_start *d)
{
    if (d == NULL)
        return;
    builder_calls_free(d->calls);
    MAGIC_END(dump_start, d);
    free(d);
}

/* ---- where ---- */

/*
 * A dump that breaks inside a large transaction starts again at its beginning.  Skip what was
 * submitted before the break.  That requires the same log, which a known transaction proves.
 */
static uint64_t skip_to(const struct dump_start *d, const struct commit_position *m)
{
    const uint64_t known = commit_position_version(m, d->opt.start->epoch);
    const uint64_t handled = builder_handled(d->opt.builder);

    return m->gtid_start != 0 && handled > known ? handled : known;
}

/*
 * Start at the last known transaction itself: if the log still has it there, it is the same
 * log.
 */
static void start_at_position(struct dump_start *d, struct source_start *start,
                              const struct commit_position *m, const char *file,
                              const struct gtid_set *executed)
{
    struct buf gtids = {0};

    snprintf(start->file, sizeof(start->file), "%s", file);
    start->offset = m->gtid_start != 0 ? m->gtid_start : m->offset;
    start->read_to = m->offset;
    gtid_set_format(&gtids, executed);
    start->gtids = gtids.ptr != NULL ? gtids.ptr : mem_copy("");
    builder_expect(d->opt.builder, m);
    builder_skip_to(d->opt.builder, skip_to(d, m));
}

bool dump_start_is_now(const char *start_at)
{
    return start_at[0] == '\0' || strcmp(start_at, "now") == 0;
}

/* Start where the definition says. */
static void initial_start(const char *start_at, struct source_start *start)
{
    struct position at;
    struct err err = {0};
    const struct str text = str_from(start_at);

    start->now = dump_start_is_now(start_at);
    if (start->now)
        return;
    if (position_parse(text, &at, &err) && at.offset >= FIRST_EVENT) {
        snprintf(start->file, sizeof(start->file), "%" STR_FMT, STR_ARG(at.file));
        start->offset = at.offset;
    } else {
        start->use_gtids = true;
        start->gtids = mem_copy(start_at);
    }
}

/* The other server's log has another order, so no position in it is known yet. */
static void start_at_gtids(struct source_start *start, const struct gtid_set *executed)
{
    struct buf gtids = {0};

    gtid_set_format(&gtids, executed);
    start->use_gtids = true;
    start->gtids = gtids.ptr != NULL ? gtids.ptr : mem_copy("");
}

static void say_where(void *ctx, struct source_start *start)
{
    struct dump_start *d = MAGIC_CAST(dump_start, ctx);
    const struct start_point *s = d->opt.start;
    const struct commit_position *m = builder_position(d->opt.builder);

    if (m->file_number != 0)
        start_at_position(d, start, m, builder_position_file(d->opt.builder),
                          builder_executed(d->opt.builder));
    else if (s->by_gtids)
        start_at_gtids(start, s->executed);
    else if (s->known)
        start_at_position(d, start, &s->position, s->file, s->executed);
    else
        initial_start(d->opt.start_at, start);
}

bool dump_start_where(struct dump_start *d, struct source_start *out)
{
    return builder_calls_ask(d->calls, say_where, d, out);
}

/* ---- the beginning ---- */

/* A start at GTIDs has no file yet, but all files of a log share a base name. */
static struct str log_base(const struct source_start *start)
{
    return position_file_base(str_from(start->file[0] != '\0' ? start->file : start->end_file));
}

/* Store the first start at once: a crash must not move it. */
static void remember_start(struct dump_start *d, const struct source_start *start,
                           const struct gtid_set *executed)
{
    struct start_point *s = d->opt.start;
    const struct str file = str_from(start->file);
    char identity[IDENTITY_CAP];
    struct err err = {0};

    known_server_identity(d->opt.known, identity, sizeof(identity));
    saver_set_log(d->opt.saver, log_base(start), identity);
    if (start->use_gtids)
        saver_set_executed(d->opt.saver, executed);
    if (!start_point_settle(s, file, start->offset, executed))
        return;
    saver_set_executed(d->opt.saver, executed);
    progress_commit(d->opt.progress, &s->position);
    read_position_set(d->opt.reader, start_point_version(s), 0);
    if (!saver_save(d->opt.saver, &err))
        log_failure(LOG_ERROR, &err, "could not store the start position",
                    KV("topic", d->opt.topic));
}

static void note_log_end(struct dump_start *d, const struct source_start *start)
{
    const struct position end = {str_from(start->end_file), start->end_offset};
    struct err ignored = {0};
    uint64_t version;

    if (position_version(end, d->opt.start->epoch, &version, &ignored))
        __atomic_store_n(&d->log_end, version, __ATOMIC_RELAXED);
}

static void take_begin(void *ctx, struct source_start *start)
{
    struct dump_start *d = MAGIC_CAST(dump_start, ctx);
    const struct position at = {str_from(start->file),
                                start->offset == 0 ? FIRST_EVENT : start->offset};
    struct gtid_set *executed = NULL;
    struct err err = {0};

    if (!gtid_set_parse(str_from(start->gtids != NULL ? start->gtids : ""), &executed, &err))
        executed = gtid_set_new();
    note_log_end(d, start);
    remember_start(d, start, executed);
    read_position_set_gtids(d->opt.reader, executed);
    builder_want_commit_waits(d->opt.builder, known_server_needs_commit_waits(d->opt.known));
    builder_begin(d->opt.builder, &at, executed);
    gtid_set_free(executed);
    router_begin(d->opt.router);
}

bool dump_start_begins(struct dump_start *d, const struct source_start *start)
{
    struct source_start copy = *start;

    copy.gtids = mem_copy_any(start->gtids);

    const bool ok = builder_calls_ask(d->calls, take_begin, d, &copy);

    free(copy.gtids);
    return ok;
}

uint64_t dump_start_log_end(const struct dump_start *d)
{
    return __atomic_load_n(&d->log_end, __ATOMIC_RELAXED);
}

void dump_start_close(struct dump_start *d)
{
    builder_calls_close(d->calls);
}

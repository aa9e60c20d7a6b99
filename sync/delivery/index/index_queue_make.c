#include "config.h"

#include "sync/delivery/index/index_queue_parts.h"

#include "src/base/mem.h"
#include "sync/delivery/bulk/bulk.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void check(const struct index_queue_options *opt)
{
    assert(opt->workers > 0 && opt->width_max > 0 && opt->batch_min > 0);
    assert(opt->job_share < 100);
}

struct index_queue *index_queue_new(struct str index, const struct index_queue_options *opt,
                                    uint64_t seed)
{
    struct index_queue *o = mem_alloc(1, sizeof(*o));
    struct limiter limiter;

    check(opt);
    o->index = mem_alloc(index.len + 1, 1);
    memcpy(o->index, index.ptr, index.len);
    o->opt = *opt;
    o->lanes = index_queue_new_lanes(opt->workers);
    o->withheld = INDEX_QUEUE_NONE;
    lines_init(&o->loads);
    list_init(&o->parcels);
    list_init(&o->parkings);
    limiter_init(&limiter, opt->batch_bytes, opt->width_max);
    gate_init(&o->gate, &limiter, &opt->fuse, seed);
    return o;
}

static void give_up_parcel(struct parcel *p)
{
    if (p->bisect != NULL && bisect_close(p->bisect))
        bisect_free(p->bisect);
    index_queue_free_parcel(p);
}

void index_queue_free(struct index_queue *o)
{
    if (o == NULL)
        return;
    LIST_EACH(l, &o->parcels)
    give_up_parcel(LIST_ITEM(l, struct parcel, link));
    LIST_EACH(l, &o->parkings)
    free(LIST_ITEM(l, struct parking, link));
    target_unref(o->target);
    buf_free(&o->path);
    free(o->lanes);
    free(o->index);
    free(o);
}

struct str index_queue_index(const struct index_queue *o)
{
    return str_from(o->index);
}

void index_queue_set_target(struct index_queue *o, struct target *t)
{
    if (o->target == t)
        return;
    target_unref(o->target);
    o->target = target_ref(t);
    buf_clear(&o->path);
    bulk_path(&o->path, str_from(t->write_alias));
}

struct target *index_queue_target(const struct index_queue *o)
{
    return o->target;
}

struct str index_queue_path(const struct index_queue *o)
{
    return buf_str(&o->path);
}

struct gate *index_queue_gate(struct index_queue *o)
{
    return &o->gate;
}

struct pace *index_queue_pace(struct index_queue *o)
{
    return &o->pace;
}

struct index_queue_level index_queue_level(const struct index_queue *o)
{
    return o->level;
}

void index_queue_count_overdue(struct index_queue *o, int n)
{
    o->level.overdue += (unsigned)n;
}

void index_queue_set_metric(struct index_queue *o, struct index_metric *metric)
{
    o->metric = metric;
}

struct index_metric *index_queue_metric(const struct index_queue *o)
{
    return o->metric;
}

void index_queue_set_allowance(struct index_queue *o, struct allowance *allowance)
{
    o->allowance = allowance;
}

struct allowance *index_queue_allowance(const struct index_queue *o)
{
    return o->allowance;
}

void index_queue_set_guests(struct index_queue *o, const struct guests *guests)
{
    o->guests = guests;
}

enum hold index_queue_held(const struct index_queue *o)
{
    return o->gate.hold;
}

void index_queue_set_told(struct index_queue *o, enum cure told)
{
    o->told = told;
}

enum cure index_queue_told(const struct index_queue *o)
{
    return o->told;
}

bool index_queue_is_told(const struct index_queue *o)
{
    return o->told != CURE_NONE;
}

struct index_queue_purged *index_queue_purged(struct index_queue *o)
{
    return &o->purged;
}

struct index_queue_partly *index_queue_partly(struct index_queue *o)
{
    return &o->partly;
}

struct seldom *index_queue_request_lines(struct index_queue *o)
{
    return &o->request_lines;
}

struct seldom *index_queue_read_lines(struct index_queue *o)
{
    return &o->read_lines;
}

void index_queue_drop(struct index_queue *o)
{
    o->is_gone = true;
}

bool index_queue_is_gone(const struct index_queue *o)
{
    return o->is_gone;
}

void index_queue_refuse_areas(struct index_queue *o, int64_t until_ms)
{
    o->no_areas_until_ms = until_ms;
}

bool index_queue_takes_areas(const struct index_queue *o, int64_t now_ms)
{
    return now_ms >= o->no_areas_until_ms;
}

void index_queue_set_options(struct index_queue *o, const struct index_queue_options *opt)
{
    check(opt);
    if (opt->workers != o->opt.workers)
        index_queue_move_to_lanes(o, opt->workers);
    if (opt->batch_bytes != o->opt.batch_bytes || opt->width_max != o->opt.width_max)
        limiter_set(&o->gate.limiter, opt->batch_bytes, opt->width_max);
    fuse_set(&o->gate.fuse, &opt->fuse);
    o->opt = *opt;
}

size_t index_queue_documents_max(const struct index_queue *o)
{
    return o->opt.batch_max > 0 ? o->opt.batch_max : SIZE_MAX;
}

void index_queue_withhold(struct index_queue *o, unsigned lane)
{
    o->withheld = lane;
}

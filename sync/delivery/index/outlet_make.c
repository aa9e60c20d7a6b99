#include "config.h"

#include "sync/delivery/index/outlet_parts.h"

#include "src/base/mem.h"
#include "sync/delivery/bulk/bulk.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void check(const struct outlet_options *opt)
{
    assert(opt->workers > 0 && opt->width_max > 0 && opt->batch_min > 0);
    assert(opt->job_share < 100);
}

struct outlet *outlet_new(struct str index, const struct outlet_options *opt, uint64_t seed)
{
    struct outlet *o = mem_alloc(1, sizeof(*o));
    struct limiter limiter;

    check(opt);
    o->index = mem_alloc(index.len + 1, 1);
    memcpy(o->index, index.ptr, index.len);
    o->opt = *opt;
    o->lanes = outlet_new_lanes(opt->workers);
    o->withheld = OUTLET_NONE;
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
    outlet_free_parcel(p);
}

void outlet_free(struct outlet *o)
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

struct str outlet_index(const struct outlet *o)
{
    return str_from(o->index);
}

void outlet_set_target(struct outlet *o, struct target *t)
{
    if (o->target == t)
        return;
    target_unref(o->target);
    o->target = target_ref(t);
    buf_clear(&o->path);
    bulk_path(&o->path, str_from(t->write_alias));
}

struct target *outlet_target(const struct outlet *o)
{
    return o->target;
}

struct str outlet_path(const struct outlet *o)
{
    return buf_str(&o->path);
}

struct gate *outlet_gate(struct outlet *o)
{
    return &o->gate;
}

struct pace *outlet_pace(struct outlet *o)
{
    return &o->pace;
}

struct outlet_level outlet_level(const struct outlet *o)
{
    return o->level;
}

void outlet_count_overdue(struct outlet *o, int n)
{
    o->level.overdue += (unsigned)n;
}

void outlet_set_metric(struct outlet *o, struct index_metric *metric)
{
    o->metric = metric;
}

struct index_metric *outlet_metric(const struct outlet *o)
{
    return o->metric;
}

void outlet_set_allowance(struct outlet *o, struct allowance *allowance)
{
    o->allowance = allowance;
}

struct allowance *outlet_allowance(const struct outlet *o)
{
    return o->allowance;
}

enum hold outlet_held(const struct outlet *o)
{
    return o->gate.hold;
}

void outlet_set_told(struct outlet *o, bool told)
{
    o->is_told = told;
}

bool outlet_is_told(const struct outlet *o)
{
    return o->is_told;
}

struct outlet_purged *outlet_purged(struct outlet *o)
{
    return &o->purged;
}

struct outlet_partly *outlet_partly(struct outlet *o)
{
    return &o->partly;
}

void outlet_drop(struct outlet *o)
{
    o->is_gone = true;
}

bool outlet_is_gone(const struct outlet *o)
{
    return o->is_gone;
}

void outlet_refuse_areas(struct outlet *o, int64_t until_ms)
{
    o->no_areas_until_ms = until_ms;
}

bool outlet_takes_areas(const struct outlet *o, int64_t now_ms)
{
    return now_ms >= o->no_areas_until_ms;
}

void outlet_set_options(struct outlet *o, const struct outlet_options *opt)
{
    check(opt);
    if (opt->workers != o->opt.workers)
        outlet_move_to_lanes(o, opt->workers);
    if (opt->batch_bytes != o->opt.batch_bytes || opt->width_max != o->opt.width_max)
        limiter_set(&o->gate.limiter, opt->batch_bytes, opt->width_max);
    fuse_set(&o->gate.fuse, &opt->fuse);
    o->opt = *opt;
}

size_t outlet_documents_max(const struct outlet *o)
{
    return o->opt.batch_max > 0 ? o->opt.batch_max : SIZE_MAX;
}

void outlet_withhold(struct outlet *o, unsigned lane)
{
    o->withheld = lane;
}

#include "config.h"

#include "rebalance/replay/span.h"

#include "rebalance/replay/parts.h"

#include "src/file/zone_file.h"
#include "src/format/zone.h"
#include "src/store/later/midnight.h"

/* Returns the midnight of the day, or else the last one before it; NULL: there is none. */
static const struct stored_midnight *find_begin(const struct stored_midnight *m, size_t n,
                                                int64_t day)
{
    const struct stored_midnight *found = NULL;

    for (size_t i = 0; i < n && m[i].day <= day; i++)
        found = &m[i];
    return found;
}

/* The first midnight after the day: where that one is missing, nothing came in between. */
static const struct stored_midnight *find_end(const struct stored_midnight *m, size_t n,
                                              int64_t day)
{
    for (size_t i = 0; i < n; i++)
        if (m[i].day > day)
            return &m[i];
    return NULL;
}

static const char *why_gone(const struct stored_midnight *begin,
                            const struct stored_midnight *end, int64_t day, uint64_t epoch)
{
    if (begin == NULL)
        return "the day began before Millrace kept the places of midnights";
    if (begin->day < day && end != NULL)
        return "the place of that midnight is not known";
    if (begin->epoch != epoch || (end != NULL && end->epoch != epoch))
        return "the topic has another log since then";
    return NULL;
}

static bool find_days(struct replay *r, struct replay_span *out, struct err *err)
{
    struct zone *zone;

    if (!zone_open(out->zone, &zone, err))
        return false;
    out->begins_s = zone_midnight(zone, r->day);
    out->ends_s = zone_midnight(zone, r->day + 1);
    zone_free(zone);
    return true;
}

static bool load(struct replay *r, struct arena *a, struct replay_span *out, struct err *err)
{
    struct store *store = r->co->opt.store;
    struct stored_midnight *m;
    struct stored_checkpoint cp;
    size_t n;
    bool found;

    if (!store_load_midnights(store, a, out->topic, out->zone, &m, &n, err) ||
        !store_load_checkpoint(store, a, out->topic, &cp, &found, err))
        return false;

    const struct stored_midnight *begin = find_begin(m, n, r->day),
                                 *end = find_end(m, n, r->day);

    out->epoch = found ? cp.epoch : 0;
    out->gone = why_gone(begin, end, r->day, out->epoch);
    if (out->gone != NULL)
        return true;
    out->from = (struct position){begin->file, begin->offset};
    if (end != NULL)
        out->to = (struct position){end->file, end->offset};
    return true;
}

bool replay_find_span(struct replay *r, struct str topic, struct arena *a,
                      struct replay_span *out, struct err *err)
{
    struct definitions *d = coordinator_definitions(r->co);
    const struct topic_definition *t = definitions_topic(d, topic);

    *out = (struct replay_span){.topic = topic};
    if (t != NULL)
        out->zone = arena_copy(a, topic_day_zone(t));
    definitions_unref(d);
    if (t == NULL)
        return err_set(err, ERR_REJECT, "topic %" STR_FMT " is gone", STR_ARG(topic));
    return find_days(r, out, err) && load(r, a, out, err);
}

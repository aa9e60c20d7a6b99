#include "config.h"

#include "rebalance/admin/search.h"

#include "rebalance/state/parts.h"

#include "src/base/clock.h"
#include "src/net/address_set.h"

static const char *state_of(const struct address_view *v)
{
    if (!v->is_known)
        return "untried";
    return v->is_up ? "up" : "away";
}

static void append_address(struct json_writer *w, const struct address_view *v)
{
    json_open_object(w);
    json_put_cstr(w, STR("address"), v->name);
    json_put_cstr(w, STR("state"), state_of(v));
    if (v->is_known)
        coordinator_put_time(w, STR("since"),
                             clock_wall_ms() - (clock_mono_ms() - v->since_ms));
    else
        json_put_null(w, STR("since"));
    json_put_cstr(w, STR("reason"), v->why);
    json_put_bool(w, STR("configured"), v->is_seed);
    json_put_bool(w, STR("sniffed"), v->is_found);
    json_close_object(w);
}

static void append_addresses(struct json_writer *w, struct address_set *addresses)
{
    struct address_view v;

    json_write_key(w, STR("addresses"));
    json_open_array(w);
    for (size_t i = 0; address_set_next(addresses, &i, &v);)
        append_address(w, &v);
    json_close_array(w);
}

/* An engine that was never asked is "unknown", not "unreachable". */
static const char *health_of(const struct engine_heard *heard)
{
    if (heard->is.is_away)
        return "unreachable";
    return heard->health[0] == '\0' ? "unknown" : heard->health;
}

void coordinator_append_search(struct coordinator *co, const struct engine_heard *heard,
                               struct json_writer *w)
{
    struct search *search = co->opt.search;
    const struct engine engine = search_engine(search);

    json_write_key(w, STR("search"));
    json_open_object(w);
    json_put_cstr(w, STR("flavor"),
                  engine.flavor != SEARCH_UNKNOWN ? engine_name(&engine) : "");
    json_put_cstr(w, STR("version"), search_version_text(search));
    json_put_cstr(w, STR("health"), health_of(heard));
    coordinator_put_time(w, STR("as_of"), heard->is.at_ms);
    json_put_cstr(w, STR("url"), address_set_name(search_addresses(search), 0));
    json_put_cstr(w, STR("reason"), heard->is.why.msg);
    append_addresses(w, search_addresses(search));
    json_close_object(w);
}

#include "config.h"

#include "rebalance/view/older.h"

#include "rebalance/state/parts.h"

static void put_version(struct coordinator *co, struct json_writer *w,
                        const struct stored_version *v)
{
    struct buf index = {0};
    struct hold hold;

    coordinator_index_name(&index, v->index, v->number);

    const struct document_count documents =
        engine_watch_count(co->engine_watch, buf_str(&index));
    const bool is_held = holds_find(co->holds, buf_str(&index), &hold);

    json_open_object(w);
    json_put_u64(w, STR("version"), v->number);
    json_put_string(w, STR("name"), buf_str(&index));
    json_put_string(w, STR("state"), is_held ? STR("held") : v->state);
    json_put_cstr(w, STR("reason"), is_held ? hold.is.why.msg : "");
    coordinator_put_time(w, STR("until"), v->kept_until_ms);
    if (documents.at_ms != 0 && documents.why.kind == ERR_NONE)
        json_put_u64(w, STR("documents"), documents.n);
    else
        json_put_null(w, STR("documents"));
    json_close_object(w);
    buf_free(&index);
}

void coordinator_append_kept(struct coordinator *co, struct json_writer *w,
                             const struct catalogue *c, struct str alias)
{
    json_write_key(w, STR("kept"));
    json_open_array(w);
    for (size_t i = 0; i < c->n_versions; i++)
        if (str_equal(c->versions[i].index, alias) && catalogue_is_kept(&c->versions[i]))
            put_version(co, w, &c->versions[i]);
    json_close_array(w);
}

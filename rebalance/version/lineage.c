#include "config.h"

#include "rebalance/version/lineage.h"

#include "rebalance/state/parts.h"

#include "rebalance/watch/engine_facts.h"
#include "src/base/arena.h"
#include "src/format/json.h"

void coordinator_put_lineage(struct json_writer *w, const struct coordinator *co,
                             const struct stored_version *v, uint64_t epoch,
                             struct str identity)
{
    json_write_key(w, STR("_millrace"));
    json_open_object(w);
    json_put_cstr(w, STR("owner"), co->identity.owner);
    json_put_string(w, STR("topic"), v->topic);
    json_put_string(w, STR("log"), identity);
    json_put_u64(w, STR("epoch"), epoch);
    json_put_u64(w, STR("version"), v->number);
    json_close_object(w);
}

/* Format {"_meta":...} with its present members and the new mark. */
static bool format_meta(struct coordinator *co, struct str meta, const struct stored_version *v,
                        const struct lineage *now, struct buf *body)
{
    struct json_writer w = {.out = body};
    struct json_reader r;
    struct str name, member;

    json_open_object(&w);
    json_write_key(&w, STR("_meta"));
    json_open_object(&w);
    if (meta.len > 0) {
        json_reader_init(&r, meta);
        if (!json_enter_object(&r))
            return false;
        while (json_next_member(&r, &name) && json_read_raw(&r, &member))
            if (!str_equal(name, STR("_millrace")))
                json_put_raw(&w, name, member);
    }
    coordinator_put_lineage(&w, co, v, now->epoch, now->identity);
    json_close_object(&w);
    json_close_object(&w);
    return true;
}

/* Does not mark an index that another store has taken. */
static bool mark(struct coordinator *co, const struct stored_version *v,
                 const struct engine_index *index, const struct lineage *now, struct err *err)
{
    const struct engine_mark *found = &index->mark;
    const struct lineage as_it_is = {.epoch = found->epoch, .identity = found->log};
    struct buf body = {0};

    if (found->owner.len > 0 && !str_equal(found->owner, str_from(co->identity.owner)))
        return true;

    const bool ok = (format_meta(co, index->meta, v, now != NULL ? now : &as_it_is, &body) ||
                     err_set(err, ERR_RETRY, "cannot read the mapping of %" STR_FMT,
                             STR_ARG(index->name))) &&
                    search_put_mapping(co->opt.search, index->name, buf_str(&body), err);

    buf_free(&body);
    return ok || err->code == 404;
}

bool coordinator_mark_lineage(struct coordinator *co, const struct stored_version *v,
                              const struct lineage *now, struct err *err)
{
    struct arena *a = arena_new();
    struct buf name = {0};
    struct engine_facts f;

    coordinator_index_name(&name, v->index, v->number);

    const struct str index = buf_str(&name);

    lock_acquire(&co->marks_lock);

    bool ok = engine_facts_ask(&f, a, co->opt.search, &index, 1, err);
    const struct engine_index *found = ok ? engine_facts_find(&f, index) : NULL;

    if (found != NULL)
        ok = mark(co, v, found, now, err);
    lock_release(&co->marks_lock);
    buf_free(&name);
    arena_free(a);
    return ok;
}

#include "config.h"

#include "rebalance/node.h"

#include <inttypes.h>

static void answer_job(struct buf *json, const struct stored_version *v, uint64_t job)
{
    struct json_writer w = {.out = json};
    struct buf id = {0};

    buf_printf(&id, "%" PRIu64, job);
    json_open_object(&w);
    json_put_cstr(&w, STR("schema"), "millrace/index-create/1");
    json_put_string(&w, STR("index"), v->index);
    json_put_u64(&w, STR("version"), v->number);
    json_put_string(&w, STR("job"), buf_str(&id));
    json_close_object(&w);
    buf_free(&id);
}

/* What a command changes: the definitions that it goes by, its table, and the versions as they
 * are stored now. */
struct change {
    struct definitions *definitions;
    const struct table_definition *table;
    struct catalogue *catalogue;
};

static void end(struct coordinator *co, struct change *ch)
{
    node_catalogue_free(ch->catalogue);
    definitions_unref(ch->definitions);
    pthread_mutex_unlock(&co->doing);
}

/* `doing` is held from here to end(). */
static bool begin(struct coordinator *co, struct str table, struct change *ch, struct err *err)
{
    if (!node_begin(co, err))
        return false;
    *ch = (struct change){.definitions = node_definitions(co)};
    ch->table = node_find_table(ch->definitions, table, err);
    if (ch->table != NULL)
        ch->table = definition_lead(ch->definitions, ch->table);
    if (ch->table == NULL || !node_refresh(co, err)) {
        end(co, ch);
        return false;
    }
    ch->catalogue = node_catalogue(co);
    return true;
}

static bool is_not_being_built(const struct change *ch, struct err *err)
{
    const struct stored_version *v =
        catalogue_version(ch->catalogue, table_index(ch->table), STR("changing"));

    return v == NULL || refuse(err, 409,
                               "index %" STR_FMT " is already being built (version %" PRIu64
                               "); fix: wait for it, or millrace index reset %" STR_FMT,
                               STR_ARG(v->index), v->number, STR_ARG(table_name(ch->table)));
}

bool coordinator_index_create(struct coordinator *co, struct str table,
                              const struct index_create_options *opt, struct buf *json,
                              struct err *err)
{
    struct change ch;
    uint64_t job = 0;

    if (co->delivery == NULL)
        return refuse(err, 503,
                      "index builds need the running daemon; fix: start it with millrace run");
    if (!begin(co, table, &ch, err))
        return false;

    const bool ok = is_not_being_built(&ch, err) &&
                    node_create_version(co, ch.definitions, ch.table, opt, &job, err) &&
                    node_refresh(co, err);

    if (ok) {
        struct catalogue *c = node_catalogue(co);
        const struct stored_version *v =
            catalogue_version(c, table_index(ch.table), STR("changing"));

        node_log(co, table_name(ch.table), v->index, v->number, "building", "");
        node_resume_builds(co);
        answer_job(json, v, job);
        node_catalogue_free(c);
    }
    end(co, &ch);
    return ok;
}

static void answer_done(struct buf *json, const char *schema, struct str index, uint64_t n)
{
    struct json_writer w = {.out = json};

    json_open_object(&w);
    json_put_cstr(&w, STR("schema"), schema);
    json_put_string(&w, STR("index"), index);
    json_put_u64(&w, STR("count"), n);
    json_close_object(&w);
}

static bool delete_versions(struct coordinator *co, const struct catalogue *c, struct str alias,
                            uint64_t number, uint64_t *n, struct err *err)
{
    for (size_t i = 0; i < c->n_versions; i++) {
        const struct stored_version *v = &c->versions[i];

        if (!str_equal(v->index, alias) || (number != 0 && v->number != number))
            continue;
        if (str_equal(v->state, STR("available")) || str_equal(v->state, STR("changing"))) {
            if (number != 0)
                return refuse(err, 409, "version %" PRIu64 " of %" STR_FMT " is %s; fix: %s",
                              number, STR_ARG(alias),
                              str_equal(v->state, STR("changing")) ? "being built"
                                                                   : "what searches use",
                              str_equal(v->state, STR("changing")) ? "millrace index reset"
                                                                   : "build a newer one first");
            continue;
        }
        if (!node_drop_in_engine(co, v->index, v->number, err) ||
            !store_delete_version(co->opt.store, v->index, v->number, err))
            return false;
        (*n)++;
    }
    return number == 0 || *n > 0 ||
           refuse(err, 404, "index %" STR_FMT " has no version %" PRIu64, STR_ARG(alias),
                  number);
}

bool coordinator_index_delete(struct coordinator *co, struct str table, uint64_t number,
                              struct buf *json, struct err *err)
{
    struct change ch;
    uint64_t n = 0;

    if (!begin(co, table, &ch, err))
        return false;

    bool ok = delete_versions(co, ch.catalogue, table_index(ch.table), number, &n, err);

    ok = node_refresh(co, ok ? err : &(struct err){0}) && ok;
    if (ok)
        answer_done(json, "millrace/index-delete/1", table_index(ch.table), n);
    end(co, &ch);
    return ok;
}

bool coordinator_index_reset(struct coordinator *co, struct str table, struct buf *json,
                             struct err *err)
{
    struct change ch;
    uint64_t n = 0;
    bool ok = true, dropped;

    if (!begin(co, table, &ch, err))
        return false;
    for (size_t i = 0; ok && i < ch.catalogue->n_versions; i++) {
        const struct stored_version *v = &ch.catalogue->versions[i];

        if (!str_equal(v->index, table_index(ch.table)) ||
            !str_equal(v->state, STR("changing")))
            continue;
        ok = node_drop_build(co, v, &dropped, err);
        if (!dropped)
            continue;
        node_log(co, table_name(ch.table), v->index, v->number, "reset", "");
        if (catalogue_rebuild(ch.catalogue, table_name(ch.table)) != NULL)
            node_delay_rebuild(co, table_name(ch.table));
        n++;
    }
    if (ok)
        answer_done(json, "millrace/index-reset/1", table_index(ch.table), n);
    end(co, &ch);
    return ok;
}

bool coordinator_index_set(struct coordinator *co, struct str table, uint64_t rate,
                           struct buf *json, struct err *err)
{
    struct definitions *d = node_definitions(co);
    const struct table_definition *t = node_find_table(d, table, err);
    bool ok = t != NULL;

    if (ok) {
        pthread_mutex_lock(&co->lock);

        struct index_build *b = node_find_build(co, table_index(t), 0);

        if (b != NULL)
            index_build_set_rate(b, rate);
        pthread_mutex_unlock(&co->lock);
        ok = b != NULL ||
             refuse(err, 409, "index %" STR_FMT " is not being built", STR_ARG(table_index(t)));
    }
    if (ok)
        answer_done(json, "millrace/index-set/1", table_index(t), 1);
    definitions_unref(d);
    return ok;
}

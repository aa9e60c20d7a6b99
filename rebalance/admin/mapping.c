#include "config.h"

#include "rebalance/state/parts.h"

#include "rebalance/admin/draft.h"
#include "rebalance/admin/questions.h"
#include "rebalance/check/look.h"
#include "src/mysql/mysql.h"
#include "sync/catalog/catalog.h"
#include "sync/catalog/foreign_keys.h"
#include "sync/check/columns_generate.h"
#include "sync/mapping/mapping.h"

/* Show what tables would look like in the engine: mappings, and definitions to start from. */

#define ENGINE_MS 2000 /* to identify the engine; else the mapping suits any */

static struct engine find_engine(struct coordinator *co)
{
    struct err ignored = {0};

    (void)!search_detect_within(co->opt.search, ENGINE_MS, &ignored);
    return search_engine(co->opt.search);
}

static bool make_mapping(struct errand *e, struct err *err)
{
    const struct table_question *q = e->ctx;
    const struct table_definition *t = coordinator_find_table(q->d, q->table, err);
    struct look l = {.asking = e->asking};
    struct buf body = {0};
    const bool ok = t != NULL && look_open(&l, q->co, q->d, t, err) &&
                    mapping_index_body(&(struct mapping_request){.definitions = q->d,
                                                                 .table = t,
                                                                 .find = look_find,
                                                                 .list = look_list,
                                                                 .ctx = &l,
                                                                 .engine = find_engine(q->co)},
                                       &body, err);

    if (ok) {
        struct json_writer w = {.out = &e->text};

        json_open_object(&w);
        json_put_cstr(&w, STR("schema"), "millrace/mapping/1");
        json_put_string(&w, STR("table"), table_name(t));
        json_put_string(&w, STR("index"), table_index(t));
        json_put_raw(&w, STR("body"), buf_str(&body));
        json_close_object(&w);
    }
    look_close(&l);
    buf_free(&body);
    return ok;
}

bool coordinator_mapping(struct coordinator *co, struct str table,
                         const struct definition_files *draft, struct buf *json,
                         struct err *err)
{
    return coordinator_ask_of_draft(co, make_mapping, table, STR(""), draft, json, err);
}

static bool append_columns(const struct columns_request *r, struct buf *json)
{
    struct json_writer w = {.out = json};
    struct buf yaml = {0};

    columns_append_yaml(r, &yaml);
    json_open_object(&w);
    json_put_cstr(&w, STR("schema"), "millrace/columns/1");
    json_put_string(&w, STR("table"), r->table);
    columns_write_json(r, &w);
    json_put_string(&w, STR("definition"), buf_str(&yaml));
    json_close_object(&w);
    buf_free(&yaml);
    return true;
}

/* Generate a definition from what the server says of the table. */
static bool generate(struct errand *e, const struct definitions *d, struct mysql_conn *conn,
                     struct err *err)
{
    const struct table_question *q = e->ctx;
    struct table_location at;
    struct table_facts facts;
    struct foreign_keys of;
    struct columns_request r = {
        .table = q->table, .facts = &facts, .definitions = d, .engine = find_engine(q->co)};

    if (!definitions_locate(d, q->table, &at))
        return false;

    const struct catalog_name name = {at.schema, at.name};

    if (!catalog_load_facts(conn, &name, 1, e->arena, &facts, err))
        return false;

    bool ok = facts.schema != NULL ||
              refuse(err, 404, "there is no table `%" STR_FMT "` in `%" STR_FMT "`",
                     STR_ARG(name.table), STR_ARG(name.schema));

    ok = ok && foreign_keys_load(conn, &name, 1, e->arena, &of, err);
    if (ok) {
        r.keys = of.keys;
        r.n_keys = of.n;
        ok = append_columns(&r, &e->text);
    }
    table_facts_fini(&facts, 1);
    return ok;
}

static bool generate_columns(struct errand *e, struct err *err)
{
    const struct table_question *q = e->ctx;
    const struct table_definition t = {.table = q->table}; /* the table need not be defined */
    struct look l = {.asking = e->asking};
    const bool known = definitions_topic_of(q->d, q->table) != NULL;
    const bool ok = (known || refuse(err, 404,
                                     "%" STR_FMT " is not DATABASE.TABLE with a defined "
                                     "database; fix: see millrace database list",
                                     STR_ARG(q->table))) &&
                    look_open(&l, q->co, q->d, &t, err) && generate(e, q->d, l.conns[0], err);

    look_close(&l);
    return ok;
}

bool coordinator_generate_columns(struct coordinator *co, struct str table, struct buf *json,
                                  struct err *err)
{
    return coordinator_ask_of_table(co, generate_columns, table, STR(""), NULL, json, err);
}

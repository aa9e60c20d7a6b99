#include "config.h"

#include "rebalance/node.h"

#include "rebalance/look.h"
#include "src/mysql.h"
#include "sync/model/catalog.h"
#include "sync/model/columns_generate.h"
#include "sync/model/foreign_keys.h"
#include "sync/model/mapping.h"

/* What tables would look like in the engine: mappings, and definitions to begin with. */

bool coordinator_mapping(struct coordinator *co, struct str table, struct buf *json,
                         struct err *err)
{
    struct definitions *d = node_definitions(co);
    const struct table_definition *t = node_find_table(d, table, err);
    struct look l = {0};
    struct buf body = {0};
    struct err ignored = {0};
    const bool known = search_detect(co->opt.search, &ignored);
    const bool ok = t != NULL && look_open(co, d, t, &l, err) &&
                    mapping_index_body(
                        &(struct mapping_request){
                            .definitions = d,
                            .table = t,
                            .find = look_find,
                            .list = look_list,
                            .ctx = &l,
                            .engine = known ? search_engine(co->opt.search) : (struct engine){0}},
                        &body, err);

    if (ok) {
        struct json_writer w = {.out = json};

        json_open_object(&w);
        json_put_cstr(&w, STR("schema"), "millrace/mapping/1");
        json_put_string(&w, STR("table"), table_name(t));
        json_put_string(&w, STR("index"), table_index(t));
        json_put_raw(&w, STR("body"), buf_str(&body));
        json_close_object(&w);
    }
    look_close(&l);
    definitions_unref(d);
    buf_free(&body);
    return ok;
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

/* What the server says of the table, and the definition that follows from it. */
static bool generate(struct coordinator *co, const struct definitions *d, struct str table,
                     struct mysql_conn *conn, struct arena *a, struct buf *json,
                     struct err *err)
{
    struct err ignored = {0};
    const bool known = search_detect(co->opt.search, &ignored);
    struct table_location at;
    struct table_facts facts;
    struct foreign_key *keys;
    struct columns_request r = {
        .table = table,
        .facts = &facts,
        .definitions = d,
        .engine = known ? search_engine(co->opt.search) : (struct engine){0}};

    if (!definitions_locate(d, table, &at))
        return false;

    const struct catalog_name name = {at.schema, at.name};

    if (!catalog_load_facts(conn, &name, 1, a, &facts, err))
        return false;

    bool ok = facts.schema != NULL ||
              refuse(err, 404, "there is no table `%" STR_FMT "` in `%" STR_FMT "`",
                     STR_ARG(name.table), STR_ARG(name.schema));

    ok = ok && foreign_keys_load(conn, &name, a, &keys, &r.n_keys, err);
    if (ok) {
        r.keys = keys;
        ok = append_columns(&r, json);
    }
    table_facts_fini(&facts, 1);
    return ok;
}

bool coordinator_generate_columns(struct coordinator *co, struct str table, struct buf *json,
                                  struct err *err)
{
    const struct table_definition t = {.table = table}; /* as it need not be defined */
    struct definitions *d = node_definitions(co);
    struct arena *a = arena_new();
    struct look l = {0};
    const bool known = definitions_topic_of(d, table) != NULL;
    const bool ok = (known || refuse(err, 404,
                                     "%" STR_FMT " is no DATABASE.TABLE of a database that is "
                                     "defined; fix: millrace database list shows them",
                                     STR_ARG(table))) &&
                    look_open(co, d, &t, &l, err) &&
                    generate(co, d, table, l.conns[0], a, json, err);

    look_close(&l);
    arena_free(a);
    definitions_unref(d);
    return ok;
}

#include "config.h"

#include "web/delayed_order.h"

#include "web/body.h"
#include "web/operation/operation.h"

#include <cJSON.h>

static bool refuse_ids(struct err *err)
{
    return err_set_code(err, ERR_REJECT, "http", 400,
                        "`ids` is a list of 1 to %d numbers of snapshots", DELAYED_IDS_MAX);
}

static bool read_ids(const cJSON *list, uint64_t *room, struct delayed_order *o,
                     struct err *err)
{
    const cJSON *id;

    if (list == NULL)
        return true;
    if (!cJSON_IsArray(list))
        return refuse_ids(err);
    cJSON_ArrayForEach (id, list) {
        if (!cJSON_IsNumber(id) || id->valuedouble < 1 || id->valuedouble > INPUT_COUNT_MAX ||
            o->n_ids == DELAYED_IDS_MAX)
            return refuse_ids(err);
        room[o->n_ids++] = (uint64_t)id->valuedouble;
    }
    o->ids = room;
    return o->n_ids > 0 || refuse_ids(err);
}

bool delayed_order_read(const cJSON *body, uint64_t room[DELAYED_IDS_MAX],
                        struct delayed_order *o, struct err *err)
{
    bool all = false;

    if (!body_str(body, "topic", &o->topic, err) || !body_str(body, "table", &o->table, err) ||
        !body_bool(body, "all", &all, err) || !body_bool(body, "dry_run", &o->dry_run, err) ||
        !read_ids(cJSON_GetObjectItemCaseSensitive(body, "ids"), room, o, err))
        return false;
    if (all + (o->table.len > 0) + (o->n_ids > 0) == 1)
        return true;
    return err_set_code(err, ERR_REJECT, "http", 400,
                        "which ones? give table, ids, or \"all\": true");
}

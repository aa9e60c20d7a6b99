#include "config.h"

#include "web/letter_filter.h"

#include "src/store/store.h"
#include "web/body.h"

#include <cJSON.h>

bool letter_filter_read(const cJSON *body, struct dead_letter_filter *f, struct err *err)
{
    bool all = false;

    if (!body_str(body, "topic", &f->topic, err) || !body_str(body, "table", &f->table, err) ||
        !body_str(body, "index", &f->index, err) ||
        !body_str(body, "reason", &f->reason_like, err) ||
        !body_uint(body, "id", &f->id, err) || !body_bool(body, "all", &all, err))
        return false;
    if (all || f->id > 0 || f->topic.len + f->table.len + f->index.len + f->reason_like.len > 0)
        return true;
    return err_set_code(err, ERR_REJECT, "http", 400,
                        "which ones? give id, topic, table, index or reason, or \"all\": true");
}

#include "config.h"

#include "web/api.h"

#include "rebalance/state/coordinator.h"
#include "rebalance/verify/verify.h"
#include "src/base/mem.h"
#include "web/body.h"
#include "web/request.h"

#include <cJSON.h>
#include <stdlib.h>

/* Read the list of keys.  The caller frees *out, on failure too. */
static bool read_keys(const cJSON *body, struct str **out, size_t *n, struct err *err)
{
    const cJSON *item, *keys = cJSON_GetObjectItemCaseSensitive(body, "keys");
    const int count = cJSON_GetArraySize(keys);

    *n = 0;
    *out = mem_alloc((size_t)count + 1, sizeof(**out));
    if (!cJSON_IsArray(keys) || count == 0 || count > VERIFY_KEYS_MAX)
        return err_set_code(err, ERR_REJECT, "http", 400,
                            "\"keys\" must be a list of 1 to %d keys", VERIFY_KEYS_MAX);
    cJSON_ArrayForEach (item, keys) {
        if (!cJSON_IsString(item) || item->valuestring[0] == '\0')
            return err_set_code(err, ERR_REJECT, "http", 400,
                                "each of \"keys\" must be a text");
        (*out)[(*n)++] = str_from(item->valuestring);
    }
    return true;
}

static bool verify(struct api_call *c, const cJSON *body, struct err *err)
{
    struct verify_request r = {.table = c->args[0]};
    struct str *keys = NULL;
    const bool ok = body_bool(body, "repair", &r.repair, err) &&
                    body_bool(body, "values", &r.values, err) &&
                    read_keys(body, &keys, &r.n_keys, err);

    r.keys = keys;

    const bool done = ok && coordinator_verify(c->api->coordinator, &r, &c->res->body, err);

    free(keys);
    return done;
}

void api_verify(struct api_call *c)
{
    static const char *const members[] = {"keys", "repair", "values", NULL};
    struct err err = {0};
    cJSON *body = NULL;

    answer(c, 200, body_parse(&body, c->req, members, &err) && verify(c, body, &err), &err);
    cJSON_Delete(body);
}

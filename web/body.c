#include "config.h"

#include "web/body.h"

#include "src/base/mem.h"
#include "src/base/utf8.h"
#include "src/format/json.h"
#include "web/operation/operation.h"
#include "web/request.h"

#include <cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct input *find_input(struct str name, const struct input *list)
{
    for (; list->name != NULL; list++)
        if (str_equal(name, str_from(list->name)))
            return list;
    return NULL;
}

static void refuse_unknown(struct err *err, const char *noun, struct str name,
                           const struct input *list)
{
    struct buf known = {0};

    for (size_t i = 0; list[i].name != NULL; i++)
        buf_printf(&known, "%s%s", i > 0 ? ", " : "", list[i].name);
    err_set_code(err, ERR_REJECT, "http", 400, "unknown %s \"%.*s\"; this request takes %s",
                 noun, (int)(name.len < 60 ? name.len : 60), name.ptr,
                 known.len > 0 ? known.ptr : "none");
    buf_free(&known);
}

static bool refuse(struct err *err, const char *name, const char *what)
{
    return err_set_code(err, ERR_REJECT, "http", 400, "\"%.60s\" %s", name, what);
}

/* A value of a choice that is empty is not one that was left out. */
static bool is_chosen(const struct input *in, struct str value, struct err *err)
{
    return in->type != INPUT_CHOICE || value.len > 0 ||
           err_set_code(err, ERR_REJECT, "http", 400, "\"%s\" is one of: %s", in->name,
                        in->choices);
}

static bool is_json_type(struct str type)
{
    static const char json[] = "application/json";

    return type.len >= sizeof(json) - 1 && strncasecmp(type.ptr, json, sizeof(json) - 1) == 0 &&
           (type.len == sizeof(json) - 1 || strchr("; \t", type.ptr[sizeof(json) - 1]) != NULL);
}

/* cJSON ends a text at a NUL, and whoever else reads the body does not. */
static bool has_nul(struct str json)
{
    for (size_t i = 0; i + 1 < json.len; i++)
        if (json.ptr[i] == '\\' && json.ptr[++i] == 'u' && json.len - i > 4 &&
            memcmp(json.ptr + i + 1, "0000", 4) == 0)
            return true;
    return false;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool body_unique(const struct cJSON *object, struct err *err)
{
    const size_t n = (size_t)cJSON_GetArraySize(object);
    const char **names = mem_alloc(n + 1, sizeof(*names)), *twice = NULL;
    size_t i = 0;

    for (const cJSON *m = object->child; m != NULL; m = m->next)
        names[i++] = m->string;
    qsort(names, n, sizeof(*names), compare_names);
    for (i = 1; i < n && twice == NULL; i++)
        if (strcmp(names[i - 1], names[i]) == 0)
            twice = names[i];
    free(names);
    return twice == NULL || refuse(err, twice, "stands there twice");
}

bool body_known(const struct cJSON *object, const struct input *members, struct err *err)
{
    for (const cJSON *m = object->child; m != NULL; m = m->next) {
        const struct input *in = find_input(str_from(m->string), members);

        if (in == NULL) {
            refuse_unknown(err, "member", str_from(m->string), members);
            return false;
        }
        if (cJSON_IsString(m) && !is_chosen(in, str_from(m->valuestring), err))
            return false;
    }
    return body_unique(object, err);
}

bool body_parse(struct cJSON **out, const struct request *req, const struct input *members,
                struct err *err)
{
    *out = NULL;
    if (req->body.len == 0) {
        *out = cJSON_CreateObject();
        return true;
    }
    if (!is_json_type(req->content_type))
        return err_set_code(err, ERR_REJECT, "http", 415,
                            "the body must be sent with Content-Type: application/json");

    if (!utf8_valid(req->body) || has_nul(req->body))
        return err_set_code(err, ERR_REJECT, "http", 400,
                            "the body is not UTF-8, or a text in it has a NUL");

    struct err ignored;
    cJSON *body = cJSON_ParseWithLength(req->body.ptr, req->body.len);

    /* cJSON takes more than JSON: control characters, numbers such as 01, text behind the end.
     */
    if (!cJSON_IsObject(body) || !json_valid(req->body, &ignored)) {
        cJSON_Delete(body);
        return err_set_code(err, ERR_REJECT, "http", 400, "the body is not a JSON object");
    }
    if (members != NULL && !body_known(body, members, err)) {
        cJSON_Delete(body);
        return false;
    }
    *out = body;
    return true;
}

bool body_bool(const struct cJSON *body, const char *name, bool *out, struct err *err)
{
    const cJSON *m = cJSON_GetObjectItemCaseSensitive(body, name);

    if (m == NULL)
        return true;
    if (!cJSON_IsBool(m))
        return refuse(err, name, "must be true or false");
    *out = cJSON_IsTrue(m);
    return true;
}

static bool parse_count(struct str text, uint64_t *out)
{
    return body_parse_uint(text, out) && *out <= INPUT_COUNT_MAX;
}

bool body_uint(const struct cJSON *body, const char *name, uint64_t *out, struct err *err)
{
    const cJSON *m = cJSON_GetObjectItemCaseSensitive(body, name);

    if (m == NULL)
        return true;
    if (cJSON_IsString(m) && parse_count(str_from(m->valuestring), out))
        return true;
    if (!cJSON_IsNumber(m) || !(m->valuedouble >= 0) || m->valuedouble > INPUT_COUNT_MAX ||
        floor(m->valuedouble) != m->valuedouble)
        return refuse(err, name, "must be a whole number");
    *out = (uint64_t)m->valuedouble;
    return true;
}

bool body_str(const struct cJSON *body, const char *name, struct str *out, struct err *err)
{
    const cJSON *m = cJSON_GetObjectItemCaseSensitive(body, name);

    if (m == NULL)
        return true;
    if (!cJSON_IsString(m))
        return refuse(err, name, "must be a string");
    *out = str_from(m->valuestring);
    return true;
}

bool body_parse_uint(struct str text, uint64_t *out)
{
    uint64_t n = 0;

    if (text.len == 0)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        unsigned digit = (unsigned)(unsigned char)text.ptr[i] - '0';

        if (digit > 9 || n > (UINT64_MAX - digit) / 10)
            return false;
        n = n * 10 + digit;
    }
    *out = n;
    return true;
}

bool param_uint(const struct request_target *t, const char *name, uint64_t *out,
                struct err *err)
{
    struct str value = request_param(t, name);

    if (value.ptr == NULL || parse_count(value, out))
        return true;
    return refuse(err, name, "must be a whole number");
}

bool param_bool(const struct request_target *t, const char *name, bool *out, struct err *err)
{
    struct str value = request_param(t, name);

    if (value.ptr == NULL)
        return true;
    *out = str_equal(value, STR("true"));
    return *out || str_equal(value, STR("false")) || refuse(err, name, "must be true or false");
}

bool param_reason(const struct request_target *t, struct str *out, struct err *err)
{
    *out = request_param(t, "why");
    return (utf8_valid(*out) && out->len <= REASON_MAX) ||
           refuse(err, "why", "must be 1000 bytes of UTF-8 at most");
}

bool params_known(const struct request_target *t, const struct input *params, bool is_change,
                  struct err *err)
{
    if (params == NULL)
        params = no_input;
    for (size_t i = 0; i < t->n_params; i++) {
        const struct input *in = find_input(t->params[i].name, params);

        if (in == NULL && !(is_change && str_equal(t->params[i].name, STR("why")))) {
            refuse_unknown(err, "parameter", t->params[i].name, params);
            return false;
        }
        if (in != NULL && !is_chosen(in, t->params[i].value, err))
            return false;
    }
    return true;
}

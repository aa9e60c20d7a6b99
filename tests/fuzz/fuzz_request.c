#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "src/base/arena.h"
#include "src/format/json.h"
#include "tests/fakes/fake_coordinator.h"
#include "web/routes.h"

#include <assert.h>

/* The part of *rest before the first c; the rest loses it. */
static struct str cut(struct str *rest, char c)
{
    const char *at = rest->len > 0 ? memchr(rest->ptr, c, rest->len) : NULL;
    size_t n = at != NULL ? (size_t)(at - rest->ptr) : rest->len;
    struct str head = {rest->ptr, n};

    *rest = at != NULL ? (struct str){at + 1, rest->len - n - 1} : STR("");
    return head;
}

static void check(const struct response *res)
{
    struct err err;

    assert(res->status >= 200 && res->status <= 599 && res->type != NULL);
    if (res->status >= 300 && strcmp(res->type, "application/problem+json") == 0)
        assert(json_valid(buf_str(&res->body), &err));
}

/* "METHOD TARGET\nBODY": whatever it is, there is an answer, and a problem is valid JSON. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct api api = {.coordinator = fake_coordinator_get(), .version = STR("0")};
    struct str rest = {(const char *)data, size};
    struct str line = cut(&rest, '\n');
    struct request req = {.method = request_method_parse(cut(&line, ' ')),
                          .role = ROLE_ADMIN,
                          .content_type = STR("application/json"),
                          .body = rest};
    struct arena *a = arena_new();
    struct response res = {0};
    struct err err = {0};

    fake_coordinator.answer = fake_status;
    if (request_target_parse(&req.target, a, line, &err))
        routes_handle(&api, &req, &res);
    else
        response_set_err(&res, &err, STR(""));
    check(&res);
    buf_free(&res.body);
    arena_free(a);
    return 0;
}

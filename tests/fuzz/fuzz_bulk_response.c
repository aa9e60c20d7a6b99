#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "sync/delivery/bulk/bulk_response.h"
#include "sync/delivery/bulk/bulk_verdict.h"

#include <assert.h>

static struct bulk_sent sent(void *ctx, size_t i)
{
    static const struct bulk_sent actions[] = {
        {.action = STR("index"), .id = STR("1"), .index = STR("a")},
        {.action = STR("delete"), .id = STR("2")},
        {.action = STR("index"), .id = STR("\"\n")},
    };

    (void)ctx;
    return actions[i % ARRAY_LEN(actions)];
}

/* Whatever is believed of an answer has a status that can be, and can be judged. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    const size_t n = len == 0 ? 0 : bytes[0] % 8u;
    const struct str body = {(const char *)bytes + (len > 0), len - (len > 0)};
    struct bulk_response r = {0};
    struct buf type = {0}, reason = {0};
    struct err err = {0};
    uint64_t version;

    if (bulk_response_read(&r, body, n, sent, NULL, &err))
        for (size_t i = 0; i < n; i++) {
            const struct bulk_error e = bulk_response_error(&r, i);
            const bool is_delete = str_equal(sent(NULL, i).action, STR("delete"));

            assert(r.items[i].status >= 100 && r.items[i].status <= 999);
            item_verdict_name(bulk_verdict_of_item(is_delete ? DOC_DELETE : DOC_INDEX,
                                                   r.items[i].status, &e));
            bulk_verdict_stored_version(e.reason, &version);
        }
    else
        assert(err.kind == ERR_RETRY);
    bulk_response_refusal(body, &type, &reason);
    request_verdict_name(
        bulk_verdict_of_request((int)n * 100, buf_str(&type), buf_str(&reason)));
    buf_free(&type);
    buf_free(&reason);
    bulk_response_free(&r);
    return 0;
}

/*
 * What nodes share, read as any program may have written it. What is taken is formatted and
 * read again as the same.
 */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "rebalance/cluster/cluster_state.h"
#include "rebalance/cluster/node_data.h"
#include "rebalance/cluster/shared_text.h"
#include "src/format/json.h"

#include <assert.h>

static void read_node(struct str text)
{
    struct node_data d = {0}, again = {0};
    struct buf out = {0};
    struct err err = {0};

    if (node_data_parse(&d, text, &err)) {
        node_data_format(&out, &d);
        assert(json_valid(buf_str(&out), &err));
        assert(out.len > SHARED_TEXT_MAX || node_data_parse(&again, buf_str(&out), &err));
        assert(out.len > SHARED_TEXT_MAX || node_data_equal(&d, &again));
    } else {
        assert(err.kind == ERR_REJECT && d.id.len == 0);
    }
    node_data_free(&d);
    node_data_free(&again);
    buf_free(&out);
}

static void read_state(struct str text)
{
    struct cluster_state s = {0}, again = {0};
    struct buf out = {0}, twice = {0};
    struct err err = {0};

    if (cluster_state_parse(&s, text, &err)) {
        cluster_state_format(&out, &s);
        if (out.len <= SHARED_TEXT_MAX) {
            assert(cluster_state_parse(&again, buf_str(&out), &err));
            cluster_state_format(&twice, &again);
            assert(str_equal(buf_str(&out), buf_str(&twice)));
        }
    } else {
        assert(err.kind == ERR_REJECT);
    }
    cluster_state_free(&s);
    cluster_state_free(&again);
    buf_free(&out);
    buf_free(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    read_node((struct str){(const char *)bytes, len});
    read_state((struct str){(const char *)bytes, len});
    return 0;
}

#include "config.h"

#include "rebalance/verify/report.h"

#include "rebalance/verify/result.h"
#include "rebalance/verify/run.h"

#include "src/base/clock.h"
#include "sync/checkpoint/read_position.h"
#include "sync/decode/checksum.h"

#include <inttypes.h>

void verify_report_of_run(struct verify_report *r, const struct verify_run *run)
{
    r->table = table_name(run->table);
    r->index = table_index(run->lead);
    r->version = run->number;
    r->definition =
        checksum_crc32(0, (const uint8_t *)run->definition.ptr, run->definition.len);
    r->values_compared = run->rules.compares_values;
    r->to = read_position_version(pipeline_read_position(run->pipeline));
}

static void put_definition(struct json_writer *w, uint32_t definition)
{
    struct buf sum = {0};

    buf_printf(&sum, "%08" PRIx32, definition);
    json_put_string(w, STR("definition"), buf_str(&sum));
    buf_free(&sum);
}

static const char *verdict(const struct verify_report *r, const struct verify_result *result)
{
    return r->why.len > 0 && result->differing == 0 ? "unknown" : verify_result_verdict(result);
}

/* No repair overwrites what has a version of somebody else: only a new build helps. */
static void put_why(struct json_writer *w, const struct verify_report *r,
                    const struct verify_result *result)
{
    const uint64_t n = result->counts[VERIFY_LINEAGE];
    struct buf why = {0};

    buf_append(&why, r->why);
    if (n > 0)
        buf_printf(&why,
                   "%s%" PRIu64 " of the documents found have a version that Millrace did not "
                   "give out, and never overwrites; fix: millrace index create %" STR_FMT,
                   r->why.len > 0 ? "; " : "", n, STR_ARG(r->table));
    json_put_string(w, STR("why"), buf_str(&why));
    buf_free(&why);
}

void verify_report_append(const struct verify_report *r, const struct verify_result *result,
                          struct buf *json)
{
    struct json_writer w = {.out = json};

    json_open_object(&w);
    json_put_cstr(&w, STR("schema"), "millrace/verify/1");
    if (r->job > 0)
        json_put_u64_text(&w, STR("job"), r->job);
    json_put_string(&w, STR("table"), r->table);
    json_put_string(&w, STR("index"), r->index);
    json_put_u64(&w, STR("version"), r->version);
    json_put_cstr(&w, STR("verdict"), verdict(r, result));
    put_why(&w, r, result);
    json_put_u64(&w, STR("sample"), r->sample);
    json_put_string(&w, STR("where"), r->where);
    json_put_raw(&w, STR("checked"), r->checked.len > 0 ? r->checked : STR("[]"));
    put_definition(&w, r->definition);
    json_put_cstr(&w, STR("program"), PACKAGE_VERSION);
    coordinator_put_time(&w, STR("began"), r->began_ms);
    json_put_double(&w, STR("seconds"), (double)(clock_wall_ms() - r->began_ms) / 1000);
    json_put_u64_text(&w, STR("from"), r->from);
    json_put_u64_text(&w, STR("to"), r->to);
    json_put_bool(&w, STR("values_compared"), r->values_compared);
    json_put_u64(&w, STR("looks"), r->looks);
    verify_result_put(result, &w);
    json_close_object(&w);
}

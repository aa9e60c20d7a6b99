#include "config.h"

#include "rebalance/verify/run.h"

#include "src/base/clock.h"
#include "sync/checkpoint/read_position.h"
#include "sync/decode/checksum.h"

#include <inttypes.h>

/* passes: a later look may tell, so that the verdict is open until then. */
static const struct {
    const char *word;
    bool passes;
} reasons[N_VERIFY_REASONS] = {
    [VERIFY_CHANGING] = {"changing", true},
    [VERIFY_NOT_DELIVERED] = {"not_delivered", true},
    [VERIFY_HELD] = {"held", true},
    [VERIFY_BY_TIME] = {"read_by_time", true},
    [VERIFY_FAN_OUT] = {"fan_out", true},
    [VERIFY_CASCADE] = {"cascade", true},
    [VERIFY_PURGED] = {"purged", true},
    [VERIFY_DEAD_LETTER] = {"dead_letter", false},
    [VERIFY_NOT_FOLLOWED] = {"not_followed", false},
};

static const char *verdict(const struct verify_run *run)
{
    const char *word = "equal";

    for (size_t i = 0; i < run->n_keys; i++) {
        const struct verify_key *k = &run->keys[i];

        if (k->state == VERIFY_DIFFERS)
            return "different";
        if (k->state == VERIFY_APART && reasons[k->reason].passes)
            word = "unknown";
    }
    return word;
}

static size_t count(const struct verify_run *run, enum verify_state state)
{
    size_t n = 0;

    for (size_t i = 0; i < run->n_keys; i++)
        n += run->keys[i].state == state;
    return n;
}

static size_t count_repaired(const struct verify_run *run)
{
    size_t n = 0;

    for (size_t i = 0; i < run->n_keys; i++)
        n += run->keys[i].is_repaired;
    return n;
}

static bool is_told(const struct verify_key *k)
{
    return k->state == VERIFY_DIFFERS || k->is_repaired;
}

static void put_version(struct json_writer *w, struct str key, uint64_t version)
{
    struct buf text = {0};

    buf_append_u64(&text, version);
    json_put_string(w, key, buf_str(&text));
    buf_free(&text);
}

static void put_counts(struct json_writer *w, const struct verify_run *run)
{
    uint64_t n[N_VERIFY_KINDS] = {0};

    for (size_t i = 0; i < run->n_keys; i++)
        for (size_t f = 0; is_told(&run->keys[i]) && f < run->keys[i].n_told; f++)
            n[run->keys[i].told[f].kind]++;
    json_write_key(w, STR("counts"));
    json_open_object(w);
    for (size_t kind = 0; kind < N_VERIFY_KINDS; kind++)
        json_put_u64(w, str_from(verify_kind_word((enum verify_kind)kind)), n[kind]);
    json_close_object(w);
}

static void put_apart(struct json_writer *w, const struct verify_run *run)
{
    json_write_key(w, STR("apart"));
    json_open_array(w);
    for (size_t i = 0; i < run->n_keys; i++) {
        const struct verify_key *k = &run->keys[i];

        if (k->state != VERIFY_APART)
            continue;
        json_open_object(w);
        json_put_string(w, STR("id"), k->id);
        json_put_cstr(w, STR("reason"), reasons[k->reason].word);
        json_close_object(w);
    }
    json_close_array(w);
}

static void put_value(struct json_writer *w, struct str key, struct str value)
{
    if (value.ptr != NULL)
        json_put_raw(w, key, value);
}

static void put_paths(struct json_writer *w, const struct verify_finding *f, bool values)
{
    json_put_u64(w, STR("n_paths"), f->n_paths_all);
    json_write_key(w, STR("paths"));
    json_open_array(w);
    for (size_t i = 0; i < f->n_paths; i++) {
        const struct json_difference *d = &f->paths[i];

        json_open_object(w);
        json_put_string(w, STR("path"), d->path);
        json_put_cstr(w, STR("kind"), json_difference_word(d->kind));
        if (values) {
            put_value(w, STR("wanted"), d->wanted);
            put_value(w, STR("found"), d->found);
        }
        json_close_object(w);
    }
    json_close_array(w);
}

static void put_findings(struct json_writer *w, const struct verify_run *run,
                         const struct verify_key *k)
{
    for (size_t i = 0; i < k->n_told; i++) {
        const struct verify_finding *f = &k->told[i];

        json_open_object(w);
        json_put_string(w, STR("id"), k->id);
        json_put_string(w, STR("routing"), f->routing);
        json_put_cstr(w, STR("kind"), verify_kind_word(f->kind));
        put_version(w, STR("version"), f->version);
        json_put_bool(w, STR("repaired"), k->is_repaired);
        put_paths(w, f, run->values);
        json_close_object(w);
    }
}

static void put_definition(struct json_writer *w, const struct verify_run *run)
{
    struct buf sum = {0};

    buf_printf(&sum, "%08" PRIx32,
               checksum_crc32(0, (const uint8_t *)run->definition.ptr, run->definition.len));
    json_put_string(w, STR("definition"), buf_str(&sum));
    buf_free(&sum);
}

void verify_run_report(const struct verify_run *run, struct buf *json)
{
    struct json_writer w = {.out = json};

    json_open_object(&w);
    json_put_cstr(&w, STR("schema"), "millrace/verify/1");
    json_put_string(&w, STR("table"), table_name(run->table));
    json_put_string(&w, STR("index"), table_index(run->lead));
    json_put_u64(&w, STR("version"), run->number);
    json_put_cstr(&w, STR("verdict"), verdict(run));
    put_definition(&w, run);
    json_put_cstr(&w, STR("program"), PACKAGE_VERSION);
    coordinator_put_time(&w, STR("began"), run->began_ms);
    json_put_double(&w, STR("seconds"), (double)(clock_wall_ms() - run->began_ms) / 1000);
    put_version(&w, STR("from"), run->from);
    put_version(&w, STR("to"), read_position_version(pipeline_read_position(run->pipeline)));
    json_put_bool(&w, STR("values_compared"), run->rules.compares_values);
    json_put_u64(&w, STR("looks"), run->n_looks);
    json_put_u64(&w, STR("documents"), run->n_keys);
    json_put_u64(&w, STR("equal"), count(run, VERIFY_EQUAL));
    json_put_u64(&w, STR("repaired"), count_repaired(run));
    put_counts(&w, run);
    put_apart(&w, run);
    json_write_key(&w, STR("differences"));
    json_open_array(&w);
    for (size_t i = 0; i < run->n_keys; i++)
        if (is_told(&run->keys[i]))
            put_findings(&w, run, &run->keys[i]);
    json_close_array(&w);
    json_close_object(&w);
}

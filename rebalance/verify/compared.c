#include "config.h"

#include "rebalance/verify/compared.h"

#include "rebalance/state/state.h"
#include "src/format/json.h"

#include <stdio.h>
#include <string.h>

void compared_append(const struct verify_result *found, int64_t at_ms, struct buf *json)
{
    struct json_writer w = {.out = json};

    json_open_object(&w);
    json_put_i64(&w, STR("at_ms"), at_ms);
    json_put_cstr(&w, STR("verdict"), verify_result_verdict(found));
    verify_result_put_counts(found, &w);
    json_close_object(&w);
}

bool compared_read(struct str json, struct compared *out)
{
    struct buf verdict = {0};
    uint64_t at_ms = 0;
    const bool ok =
        json_find_u64(json, "/at_ms", &at_ms) && json_find_text(json, "/verdict", &verdict);

    *out = (struct compared){.at_ms = (int64_t)at_ms};
    if (ok) {
        snprintf(out->verdict, sizeof(out->verdict), "%s", verdict.ptr);
        verify_result_read(&out->found, json);
    }
    buf_free(&verdict);
    return ok;
}

void compared_put(const struct compared *c, struct json_writer *w)
{
    if (c == NULL) {
        json_write_null(w);
        return;
    }
    json_open_object(w);
    coordinator_put_time(w, STR("at"), c->at_ms);
    json_put_cstr(w, STR("verdict"), c->verdict);
    verify_result_put_counts(&c->found, w);
    json_close_object(w);
}

/* ---- exchanges ---- */

static const char *const end_words[N_EXCHANGE_ENDS] = {
    [EXCHANGE_EQUAL] = "equal",         [EXCHANGE_REPAIRED] = "repaired",
    [EXCHANGE_DIFFERENT] = "different", [EXCHANGE_UNKNOWN] = "unknown",
    [EXCHANGE_PUT_OFF] = "put_off",
};

const char *exchange_end_word(enum exchange_end end)
{
    return end_words[end];
}

static enum exchange_end end_of(const struct verify_result *found)
{
    const char *verdict = verify_result_verdict(found);

    if (strcmp(verdict, "equal") == 0)
        return found->repaired > 0 ? EXCHANGE_REPAIRED : EXCHANGE_EQUAL;
    return strcmp(verdict, "different") == 0 ? EXCHANGE_DIFFERENT : EXCHANGE_UNKNOWN;
}

void exchanges_note(struct exchanges *e, const struct verify_result *found, uint64_t lost,
                    const struct err *why, int64_t now_ms)
{
    if (found == NULL) {
        e->n[EXCHANGE_PUT_OFF]++;
        e->why = *why;
        return;
    }
    e->n[lost > 0 ? EXCHANGE_DIFFERENT : end_of(found)]++;
    e->ended_ms = now_ms;
    e->differing = found->differing + lost;
    e->lost = lost;
    e->why = (struct err){0};
}

const char *repairer_word(enum repairer by)
{
    static const char *const words[N_REPAIRERS] = {
        [REPAIRER_CHECK] = "check",
        [REPAIRER_EXCHANGE] = "exchange",
    };

    return words[by];
}

void repair_counts_put(const struct repair_counts *r, struct json_writer *w)
{
    json_open_object(w);
    for (size_t i = 0; i < N_REPAIRERS; i++)
        verify_result_put_kinds(w, str_from(repairer_word((enum repairer)i)), r->n[i]);
    json_close_object(w);
}

uint64_t exchanges_n_ended(const struct exchanges *e)
{
    uint64_t n = 0;

    for (size_t i = 0; i < N_EXCHANGE_ENDS; i++)
        n += i != EXCHANGE_PUT_OFF ? e->n[i] : 0;
    return n;
}

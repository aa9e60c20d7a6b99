#include "config.h"

#include "rebalance/repeat/repeat.h"

#include "rebalance/state/parts.h"

#include "src/base/clock.h"
#include "src/base/hash.h"
#include "src/base/log.h"
#include "src/file/node_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REPEATS "repeat/"

/* Another one at each start of the program. */
static void name_program(char out[17])
{
    snprintf(out, 17, "%016" PRIx64, hash_bytes(STR("program"), hash_seed()));
}

static bool check_key(struct str key, struct err *err)
{
    bool ok = key.len > 0 && key.len <= REPEAT_KEY_MAX;

    for (size_t i = 0; ok && i < key.len; i++)
        ok = key.ptr[i] > ' ' && key.ptr[i] < 0x7f;
    return ok || refuse(err, 400,
                        "the Idempotency-Key is no key; fix: send 1 to %d visible ASCII "
                        "characters, such as a UUID",
                        REPEAT_KEY_MAX);
}

static bool make(struct repeated *r, const struct repeat_key *k, struct err *err)
{
    const struct str one[] = {k->caller, k->method, k->path, k->key};
    const struct str asked[] = {k->query, k->body};
    char hash[REPEAT_HASH + 1];

    *r = (struct repeated){.at_ms = clock_wall_ms()};
    if (!repeat_hash(hash, one, ARRAY_LEN(one)) ||
        !repeat_hash(r->asked, asked, ARRAY_LEN(asked)))
        return err_set(err, ERR_FATAL, "the library of TLS computes no SHA-256");
    snprintf(r->name, sizeof(r->name), REPEATS "%s", hash);
    node_uuid_make(r->claim);
    return true;
}

/* status 0: it runs. */
static void write_record(struct buf *json, const struct coordinator *co,
                         const struct repeated *r, int status, struct str answer)
{
    const bool is_long = answer.len > REPEAT_ANSWER_MAX;
    char program[17];

    name_program(program);
    repeat_record_write(json, &(struct repeat_record){.at_ms = r->at_ms,
                                                      .asked = str_from(r->asked),
                                                      .node = str_from(co->identity.uuid),
                                                      .program = str_from(program),
                                                      .claim = str_from(r->claim),
                                                      .status = (uint64_t)status,
                                                      .is_long = is_long,
                                                      .answer = is_long ? STR("") : answer});
}

/* ---- room ---- */

struct dated_value {
    const struct stored_value *value;
    struct repeat_record record;
};

static int by_age(const void *a, const void *b)
{
    const struct dated_value *x = a, *y = b;

    return (x->record.at_ms > y->record.at_ms) - (x->record.at_ms < y->record.at_ms);
}

static bool may_go(const struct repeat_record *r, size_t n_newer, int64_t now_ms)
{
    const int64_t age_ms = now_ms - r->at_ms;

    return age_ms >= REPEAT_KEPT_MS ||
           (n_newer >= REPEATS_MAX && (r->status != 0 || age_ms >= REPEAT_RUNS_MS));
}

/* Forget those that are a day old, and the oldest beyond the most.  Another time will do. */
static void make_room(struct coordinator *co, int64_t now_ms)
{
    struct arena *a = arena_new();
    struct stored_value *list = NULL;
    struct err err = {0};
    size_t n = 0;
    bool ok = store_load_values(co->opt.store, a, STR(REPEATS), &list, &n, &err);
    struct dated_value *all = arena_alloc(a, n + 1, sizeof(*all));

    for (size_t i = 0; i < n; i++) {
        all[i].value = &list[i];
        repeat_record_read(&all[i].record, a, list[i].content);
    }
    if (n > 0)
        qsort(all, n, sizeof(*all), by_age);
    for (size_t i = 0; ok && i < n; i++)
        if (may_go(&all[i].record, n - i - 1, now_ms))
            ok = store_delete_value(co->opt.store, all[i].value->name, &all[i].value->content,
                                    &err);
    if (!ok)
        log_debug("could not forget old requests with keys", KV("why", (const char *)err.msg));
    arena_free(a);
}

/* ---- one ---- */

static bool tell(const struct repeat_record *r, enum repeat_state state, int *status,
                 struct buf *answer, struct err *err)
{
    switch (state) {
    case REPEAT_OLD:
    case REPEAT_RUNS:
        return refuse(err, 409,
                      "the request with this Idempotency-Key still runs; fix: send it again "
                      "later");
    case REPEAT_OTHER:
        return refuse(
            err, 422,
            "a request with this Idempotency-Key had another query or body; nothing was "
            "done; fix: send another request with a key of its own");
    case REPEAT_LOST:
        return refuse(
            err, 409,
            "nobody knows whether the request with this Idempotency-Key took effect, "
            "as the program ended or lost the store meanwhile; fix: look at the jobs, "
            "then send it with another key");
    case REPEAT_ANSWERED: break;
    }
    if (r->is_long)
        return refuse(err, 409,
                      "the request with this Idempotency-Key was carried out with the status "
                      "%d, and its answer was too long to keep; fix: send another key to carry "
                      "it out again",
                      (int)r->status);
    *status = (int)r->status;
    buf_append(answer, r->answer);
    return true;
}

/* found: what the store has now, of this claim or of an earlier one. */
static bool look(struct coordinator *co, struct repeated *r, struct str found, int *status,
                 struct buf *answer, struct err *err)
{
    struct arena *a = arena_new();
    struct repeat_record record;
    char program[17];

    name_program(program);
    repeat_record_read(&record, a, found);
    r->is_first = str_equal(record.claim, str_from(r->claim));

    const struct repeat_view now = {.asked = str_from(r->asked),
                                    .node = str_from(co->identity.uuid),
                                    .program = str_from(program),
                                    .now_ms = r->at_ms};
    const enum repeat_state state = repeat_state_of(&record, &now);
    const bool ok = r->is_first || tell(&record, state, status, answer, err);

    r->still_runs = !r->is_first && (state == REPEAT_OLD || state == REPEAT_RUNS);

    arena_free(a);
    return ok;
}

bool coordinator_begin_repeat(struct coordinator *co, const struct repeat_key *k,
                              struct repeated *out, int *status, struct buf *answer,
                              struct err *err)
{
    struct buf ours = {0}, found = {0};

    *out = (struct repeated){.is_first = false};
    if (!check_key(k->key, err) || !make(out, k, err))
        return false;
    make_room(co, out->at_ms); /* first: an old one of this key goes */
    write_record(&ours, co, out, 0, STR(""));

    const bool ok =
        store_keep_value(co->opt.store, str_from(out->name), buf_str(&ours), &found, err) &&
        look(co, out, buf_str(&found), status, answer, err);

    buf_free(&ours);
    buf_free(&found);
    return ok;
}

void coordinator_end_repeat(struct coordinator *co, const struct repeated *r, int status,
                            struct str answer)
{
    const struct str name = str_from(r->name);
    struct buf claim = {0}, record = {0};
    struct err err = {0};

    write_record(&claim, co, r, 0, STR(""));
    write_record(&record, co, r, status, answer);

    const struct str before = buf_str(&claim);
    const bool ok = status == 0 ? store_delete_value(co->opt.store, name, &before, &err)
                                : store_put_value(co->opt.store, name, buf_str(&record), &err);

    if (!ok)
        log_failure(LOG_WARN, &err,
                    "could not keep the answer to a request with an Idempotency-Key");
    buf_free(&claim);
    buf_free(&record);
}

#include "config.h"

#include "rebalance/verify/job.h"

#include "src/base/failpoint.h"
#include "sync/checkpoint/read_position.h"

#define STEP_IDS 100

/* The larger side, or what an exchange or a check is about. */
static uint64_t count_all(const struct verify_job *j, const struct verify_result *found)
{
    const uint64_t rows = j->result.documents + found->documents;

    if (j->changed != NULL || j->exchange)
        return j->at.total;
    return rows > j->at.hits ? rows : j->at.hits;
}

/* Take the next ids of the list, from number at.slice on. */
static size_t take_ids(const struct verify_job *j, struct verify_run *run, struct str ids)
{
    struct json_reader r;
    uint64_t at = 0;
    size_t n = 0;

    json_reader_init(&r, ids);
    if (!json_enter_array(&r))
        return 0;
    while (n < STEP_IDS && json_next_element(&r)) {
        struct buf id = {0};

        if (json_read_text(&r, &id) && at++ >= j->at.slice)
            verify_run_name_document(run, buf_str(&id), &run->keys[n++]);
        buf_free(&id);
    }
    return n;
}

size_t verify_take_listed(const struct verify_job *j, struct verify_run *run,
                          const struct verify_result *list)
{
    struct buf ids = {0};

    buf_append_char(&ids, '[');
    buf_append(&ids, buf_str(&list->ids));
    buf_append_char(&ids, ']');
    run->keys = arena_alloc(run->arena, STEP_IDS, sizeof(*run->keys));

    const size_t n = take_ids(j, run, buf_str(&ids));

    buf_free(&ids);
    return n;
}

/* Whether what differs is only counted now, and repaired once all of it is known. */
static bool counts_first(const struct verify_job *j)
{
    return j->at.pass == VERIFY_LISTED && j->repair && !j->yes;
}

static void add_one(struct verify_job *j, const struct verify_key *k)
{
    const bool waits =
        counts_first(j) && k->state == VERIFY_DIFFERS && verify_may_be_repaired(k);

    verify_result_add(waits ? &j->wrong : &j->result, k, j->values);
    if (waits)
        verify_result_list_id(&j->wrong, k->id);
}

static void add(struct verify_job *j, const struct verify_key *keys, size_t n)
{
    if (j->at.pass == VERIFY_REPAIR)
        verify_result_end_repair(&j->result, keys, n);
    for (size_t i = 0; i < n && j->at.pass != VERIFY_REPAIR; i++)
        add_one(j, &keys[i]);
}

/* The first that differ wait for what is on its way to all of them. */
static bool settle(struct verify_job *j, struct verify_run *run, size_t n, struct err *err)
{
    run->patience = j->at.slice == 0 ? VERIFY_PATIENT : VERIFY_LATER;
    run->counts_only = counts_first(j);
    if (!verify_job_settle((struct verify_settling){j, j->repair, add}, run, run->keys, n, err))
        return false;
    j->at.slice += n;
    FAILPOINT(verify_listed);
    return true;
}

/*
 * All of the list was looked at: what differs is repaired, or is too much for that. It is told
 * before it is repaired: who goes on after a kill finds it equal.
 */
static void end_list(struct verify_job *j)
{
    const bool is_repaired =
        j->wrong.n_ids > 0 &&
        verify_result_is_little(&j->wrong, count_all(j, &j->wrong), j->n_differ);

    j->is_refused = j->wrong.n_ids > 0 && !is_repaired;
    verify_result_merge(&j->result, &j->wrong);
    verify_result_free(&j->open);
    j->open = (struct verify_result){.ids = j->wrong.ids, .n_ids = j->wrong.n_ids};
    j->wrong.ids = (struct buf){0};
    verify_result_free(&j->wrong);
    j->wrong = (struct verify_result){0};
    j->at.slice = 0;
    j->at.pass = is_repaired ? VERIFY_REPAIR : VERIFY_OVER;
}

static bool look_again(struct verify_job *j, struct verify_run *run, struct err *err)
{
    const size_t n = verify_take_listed(j, run, &j->open);

    if (n > 0)
        return settle(j, run, n, err);
    if (j->at.pass == VERIFY_LISTED)
        end_list(j);
    else
        j->at.pass = VERIFY_OVER;
    return true;
}

/* A list that was too long is told as it was found. */
static void tell_as_found(struct verify_job *j)
{
    j->is_refused = j->repair && !j->yes && j->open.n_ids > 0;
    verify_result_merge(&j->result, &j->open);
    j->at.pass = VERIFY_OVER;
}

bool verify_listed_step(struct verify_job *j, struct err *err)
{
    if (j->open.n_ids == 0 || j->open.n_ids > VERIFY_CHANGED_MAX) {
        tell_as_found(j);
        return true;
    }

    struct arena *a = arena_new();
    struct verify_run run;
    bool ok = verify_job_open(j, &run, a, err);

    if (ok && j->at.from == 0)
        j->at.from = read_position_version(pipeline_read_position(run.pipeline));
    ok = ok && look_again(j, &run, err);

    verify_job_close(j, &run);
    arena_free(a);
    return ok;
}

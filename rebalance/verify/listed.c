#include "config.h"

#include "rebalance/verify/job.h"

#define LATER_MS 2000

/* More than 5 % of the larger side, or too many in all, need a person's word. */
bool verify_may_be_repaired(const struct verify_job *j)
{
    const uint64_t rows = j->result.documents + j->open.documents;
    const uint64_t side = rows > j->at.hits ? rows : j->at.hits;
    const uint64_t all = j->changed != NULL || j->exchange ? j->at.total : side;

    return j->open.n_ids <= VERIFY_CHANGED_MAX && j->open.differing <= VERIFY_CHANGED_MAX &&
           j->open.differing * 20 <= all;
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
    while (n < VERIFY_GROUP && json_next_element(&r)) {
        struct buf id = {0};

        if (json_read_text(&r, &id) && at++ >= j->at.slice)
            verify_run_name_document(run, buf_str(&id), &run->keys[n++]);
        buf_free(&id);
    }
    return n;
}

/* The first group waits for what is on its way to all of them. */
static struct verify_patience patience_of(const struct verify_job *j)
{
    return j->at.slice == 0 ? VERIFY_PATIENT : (struct verify_patience){.ends = LATER_MS};
}

static bool settle_group(struct verify_job *j, struct verify_run *run, size_t n,
                         struct err *err)
{
    run->patience = patience_of(j);
    if (!verify_job_settle(j, run, run->keys, n,
                           j->repair && (j->yes || verify_may_be_repaired(j)), err))
        return false;
    for (size_t i = 0; i < n; i++)
        verify_result_add(&j->result, &run->keys[i], j->values);
    j->at.slice += n;
    return true;
}

size_t verify_take_listed(const struct verify_job *j, struct verify_run *run,
                          const struct verify_result *list)
{
    struct buf ids = {0};

    buf_append_char(&ids, '[');
    buf_append(&ids, buf_str(&list->ids));
    buf_append_char(&ids, ']');
    run->keys = arena_alloc(run->arena, VERIFY_GROUP, sizeof(*run->keys));

    const size_t n = take_ids(j, run, buf_str(&ids));

    buf_free(&ids);
    return n;
}

static bool look_again(struct verify_job *j, struct verify_run *run, struct err *err)
{
    const size_t n = verify_take_listed(j, run, &j->open);

    if (n == 0)
        j->at.pass = VERIFY_OVER;
    return n == 0 || settle_group(j, run, n, err);
}

/* A list that was too long is told as it was found. */
static void tell_as_found(struct verify_job *j)
{
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
    const bool ok = verify_job_open(j, &run, a, err) && look_again(j, &run, err);

    verify_job_close(j, &run);
    arena_free(a);
    return ok;
}

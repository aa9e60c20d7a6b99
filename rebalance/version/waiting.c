#include "config.h"

#include "rebalance/version/waiting.h"

#include "rebalance/state/owned.h"
#include "rebalance/state/parts.h"
#include "rebalance/version/build.h"
#include "rebalance/version/routes.h"

#include "rebalance/build/judgement.h"
#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/base/log.h"

#include <inttypes.h>

/* ---- texts ---- */

void coordinator_put_wait(struct json_writer *w, const struct stored_wait *wait,
                          struct str table)
{
    struct buf fix = {0};

    json_write_key(w, STR("wait"));
    if (wait == NULL) {
        json_write_null(w);
        return;
    }
    coordinator_append_wait_fix(&fix, wait, table);
    json_open_object(w);
    json_put_u64(w, STR("version"), wait->number);
    json_put_string(w, STR("reason"), wait->reason);
    json_put_string(w, STR("detail"), wait->detail);
    json_put_u64(w, STR("dead_letters"), wait->letters);
    json_put_u64(w, STR("rows"), wait->rows);
    coordinator_put_time(w, STR("since"), wait->since_ms);
    json_put_string(w, STR("fix"), buf_str(&fix));
    json_close_object(w);
    buf_free(&fix);
}

/* The table's name in the present definitions. */
static struct str table_of(const struct definitions *d, const struct stored_version *v)
{
    const struct table_definition *lead = definition_lead_of(d, v->index);

    return lead != NULL ? table_name(lead) : v->index;
}

/* ---- life ---- */

void coordinator_on_waiting(struct coordinator *co, const struct stored_version *v,
                            struct str table)
{
    struct catalogue *c = coordinator_catalogue(co);
    const struct stored_wait *wait = catalogue_wait(c, v);
    const struct str why = wait != NULL ? wait->detail : STR("");
    struct buf text = {0};
    struct err err = {0};

    if (!coordinator_route(co, v->topic, 0, NULL, &err))
        log_debug("the builder will see soon that a version waits");
    log_warn("index build waits to be published", KV("index", v->index),
             KV("version", v->number), KV("reason", why));
    buf_append(&text, why);
    coordinator_log(co, table, v->index, v->number, "waiting", text.len > 0 ? text.ptr : "");
    buf_free(&text);
    catalogue_unref(c);
}

/* Resume the build at its publication. */
static bool go_on(struct coordinator *co, const struct stored_wait *wait, struct str table,
                  struct err *err) NEEDS(co->admin_lock)
{
    if (!store_resume_version(co->opt.store, wait, err))
        return false;
    FAILPOINT(version_resumed);
    log_info("waiting index build published", KV("index", wait->index),
             KV("version", wait->number));
    coordinator_log(co, table, wait->index, wait->number, "resumed", "");
    if (!coordinator_refresh(co, err))
        return false;
    coordinator_resume_builds(co);
    return true;
}

static bool judge(struct coordinator *co, const struct stored_wait *wait, struct judgement *j,
                  struct err *err)
{
    const struct judged v = {wait->index, wait->number, wait->rows, wait->accepted};

    return judgement_make(j, co->opt.store, &v, err);
}

bool coordinator_cutover(struct coordinator *co, const struct stored_wait *wait,
                         struct str table, bool dry_run, struct err *err)
{
    struct judgement j = {0};
    struct buf word = {0};
    bool ok = judge(co, wait, &j, err);

    buf_append_word(&word, table);
    if (ok && j.reason != NULL)
        ok = refuse(
            err, 409,
            "version %" PRIu64 " of index %" STR_FMT " has %" PRIu64
            " dead letters, and %" PRIu64
            " are accepted; fix: millrace index cutover %s --accept-dead-letters %" PRIu64
            ", or millrace dead-letter list --index %" STR_FMT "_v%" PRIu64,
            wait->number, STR_ARG(wait->index), j.letters, wait->accepted, word.ptr, j.letters,
            STR_ARG(wait->index), wait->number);
    judgement_fini(&j);
    buf_free(&word);
    return ok && (dry_run || go_on(co, wait, table, err));
}

/* As many letters as at the last judgement: nothing is new. */
static bool is_as_it_was(struct coordinator *co, const struct stored_wait *wait, bool *is,
                         struct err *err)
{
    struct buf name = {0};
    uint64_t n;

    coordinator_index_name(&name, wait->index, wait->number);

    const bool ok = store_n_dead_letters(co->opt.store, buf_str(&name), &n, err);

    *is = ok && n == wait->letters;
    buf_free(&name);
    return ok;
}

static bool judge_again(struct coordinator *co, const struct stored_wait *wait,
                        struct str table, struct err *err) NEEDS(co->admin_lock)
{
    struct stored_wait now = *wait;
    struct judgement j = {0};
    bool same;

    if (!is_as_it_was(co, wait, &same, err))
        return false;
    if (same)
        return true;

    bool ok = judge(co, wait, &j, err);

    now.letters = j.letters;
    now.detail = buf_str(&j.detail);
    if (ok && j.reason == NULL)
        ok = go_on(co, wait, table, err);
    else
        ok = ok && store_save_wait(co->opt.store, &now, err) && coordinator_refresh(co, err);
    judgement_fini(&j);
    return ok;
}

void coordinator_look_at_waiting(struct coordinator *co)
{
    struct definitions *d = coordinator_definitions(co);
    struct catalogue *c = coordinator_catalogue(co);

    for (size_t i = 0; i < c->n_versions; i++) {
        const struct stored_version *v = &c->versions[i];
        const struct stored_wait *wait = catalogue_wait(c, v);
        struct err err = {0};

        if (wait != NULL && v->error.len == 0 && coordinator_owns(co, v->topic) &&
            str_equal(wait->reason, STR(WAIT_DEAD_LETTERS)) &&
            !judge_again(co, wait, table_of(d, v), &err))
            log_failure(LOG_WARN, &err, "cannot tell whether a version still waits",
                        KV("index", v->index), KV("version", v->number));
    }
    catalogue_unref(c);
    definitions_unref(d);
}

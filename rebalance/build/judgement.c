#include "config.h"

#include "rebalance/build/judgement.h"

#include "rebalance/build/refusals.h"
#include "src/base/arena.h"
#include "src/base/human.h"
#include "src/store/store.h"

#include <inttypes.h>

#define PAGE  500
#define KINDS 3 /* of refusals in the text */

/* A refused delete leaves a document too many, so nothing is missing. */
static bool lacks(const struct stored_dead_letter *d)
{
    return !str_equal(d->op, STR("delete"));
}

static bool add_letters(struct refusals *r, struct store *s, const struct judged *v,
                        uint64_t number, uint64_t *n_letters, struct err *err)
{
    struct buf name = {0};

    *n_letters = 0;
    buf_printf(&name, "%" STR_FMT "_v%" PRIu64, STR_ARG(v->index), number);

    struct dead_letter_filter page = {.index = buf_str(&name), .limit = PAGE};
    size_t n = PAGE;
    bool ok = true;

    while (ok && n == PAGE) {
        struct arena *a = arena_new();
        struct stored_dead_letter *list;

        ok = store_load_dead_letters(s, a, &page, &list, &n, err);
        for (size_t i = 0; ok && i < n; i++) {
            page.after_id = list[i].id;
            (*n_letters)++;
            if (lacks(&list[i]))
                refusals_add(r, number == v->number, list[i].table, list[i].reason);
        }
        arena_free(a);
    }
    buf_free(&name);
    return ok;
}

/*
 * Find the searched version; *number is 0 if there is none. Skips `own`: it is available if it
 * was promoted but the store's answer was lost.
 */
static bool find_available(struct store *s, struct str index, uint64_t own, uint64_t *number,
                           struct err *err)
{
    struct arena *a = arena_new();
    struct stored_version *list;
    size_t n = 0;
    const bool ok = store_load_versions(s, a, index, &list, &n, err);

    *number = 0;
    for (size_t i = 0; ok && i < n; i++)
        if (str_equal(list[i].state, STR("available")) && list[i].number != own)
            *number = list[i].number;
    arena_free(a);
    return ok;
}

static void explain(const struct judgement *j, const struct refusals *r, const struct judged *v,
                    struct buf *b)
{
    buf_append(b, STR("it lacks "));
    human_count(b, refusals_all(r));
    buf_append(b, STR(" documents of "));
    human_count(b, v->rows);
    buf_append(b, STR(" rows, "));
    human_count(b, refusals_lost(r));
    buf_printf(
        b, " more than version %" PRIu64 ", which searches use, lacks for the same reasons (",
        j->searched);
    human_count(b, refusals_allowed(v->rows));
    buf_append(b, STR(" may be lost): "));
    refusals_append(r, KINDS, b);
}

bool judgement_make(struct judgement *out, struct store *s, const struct judged *v,
                    struct err *err)
{
    struct refusals *r = refusals_new();
    uint64_t before;

    *out = (struct judgement){0};

    const bool ok = find_available(s, v->index, v->number, &out->searched, err) &&
                    add_letters(r, s, v, v->number, &out->letters, err) &&
                    (out->searched == 0 || add_letters(r, s, v, out->searched, &before, err));

    if (ok && out->searched != 0 && out->letters > v->accepted &&
        refusals_lost(r) > refusals_allowed(v->rows)) {
        out->reason = WAIT_DEAD_LETTERS;
        explain(out, r, v, &out->detail);
    }
    refusals_free(r);
    return ok;
}

void judgement_fini(struct judgement *j)
{
    buf_free(&j->detail);
}

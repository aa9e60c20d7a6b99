#include "config.h"

#include "rebalance/verify/run.h"

#include "sync/document/membership.h"

static struct str prefix_of(const struct verify_run *run, const struct target *t)
{
    const struct table_definition *table =
        definitions_table(run->definitions, str_from(t->table));

    if (table != NULL && table->join.given)
        return membership_prefix(run->arena, table->join.name);
    return run->lead->pattern.len > 0 ? membership_prefix(run->arena, str_from(t->table))
                                      : STR("");
}

/* The table whose ids begin like this one, or else the one that was asked for. */
static struct target *choose_target(const struct verify_run *run, struct str id)
{
    struct target *asked = run->n_targets == 1 ? run->targets[0] : NULL;

    for (size_t i = 0; i < run->n_targets; i++) {
        struct target *t = run->targets[i];

        if (run->n_targets > 1 && str_has_prefix(id, prefix_of(run, t)))
            return t;
        if (str_equal(str_from(t->table), run->table->table))
            asked = t;
    }
    return asked;
}

bool verify_run_name_key(struct verify_run *run, struct str given, struct verify_key *k,
                         struct err *err)
{
    struct buf id = {0}, key = {0};

    k->target = choose_target(run, given);
    if (k->target == NULL)
        return refuse(err, 422,
                      "several tables share index %" STR_FMT "; fix: name the table, or give "
                      "the whole _id",
                      STR_ARG(run->index));

    const struct str prefix = prefix_of(run, k->target);
    const struct plan *plan = ((struct reading *)k->target->plan)->plan;

    if (!str_has_prefix(given, prefix))
        buf_append(&id, prefix);
    buf_append(&id, given);

    const bool ok = plan_key_of_id(plan, buf_str(&id), &key, err) ||
                    refuse(err, 422, "key %" STR_FMT ": %s", STR_ARG(buf_str(&id)), err->msg);

    k->id = arena_copy(run->arena, buf_str(&id));
    k->key = arena_copy(run->arena, buf_str(&key));
    buf_free(&id);
    buf_free(&key);
    return ok;
}

/* The table whose ids begin like this one; NULL if none. */
static struct target *find_owner(const struct verify_run *run, struct str id)
{
    for (size_t i = 0; i < run->n_targets; i++)
        if (str_has_prefix(id, prefix_of(run, run->targets[i])))
            return run->targets[i];
    return NULL;
}

void verify_run_name_document(struct verify_run *run, struct str id, struct verify_key *k)
{
    struct buf key = {0};
    struct err err = {0};

    *k = (struct verify_key){.id = arena_copy(run->arena, id), .target = find_owner(run, id)};
    if (k->target == NULL)
        k->target = run->targets[0];
    else if (plan_key_of_id(((struct reading *)k->target->plan)->plan, id, &key, &err))
        k->key = arena_copy(run->arena, buf_str(&key));
    buf_free(&key);
}

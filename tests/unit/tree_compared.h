/*
 * What a comparison of two trees names, as a number of what happened to each k of tree_text().
 */
#ifndef TESTS_UNIT_TREE_COMPARED_H
#define TESTS_UNIT_TREE_COMPARED_H

#include "tests/unit/tree_fixture.h"

#include "rebalance/trees/tree_compare.h"

/* What stands for no difference. */
#define TREE_EQUAL 9

struct tree_named {
    uint64_t n_keys;
    uint8_t *what;         /* for each k an enum tree_difference, or TREE_EQUAL */
    struct tree_id *ids;   /* for each k */
    uint64_t n, n_unknown; /* calls; those of no k, or of a k that was named already */
    uint64_t stop_after;   /* calls; 0: never */
};

static inline void tree_named_init(struct tree_named *named, uint64_t n_keys)
{
    *named = (struct tree_named){.n_keys = n_keys,
                                 .what = malloc(n_keys),
                                 .ids = calloc(n_keys, sizeof(struct tree_id))};
    memset(named->what, TREE_EQUAL, n_keys);
    for (uint64_t k = 0; k < n_keys; k++)
        tree_id_pack(&named->ids[k], tree_text(k));
}

static inline void tree_named_fini(struct tree_named *named)
{
    free(named->what);
    free(named->ids);
}

static inline bool tree_name(void *ctx, enum tree_difference what, const struct tree_id *id,
                             struct err *err)
{
    struct tree_named *named = ctx;
    uint64_t k = 0;

    while (k < named->n_keys && tree_id_order(&named->ids[k], id) != 0)
        k++;
    if (k == named->n_keys || named->what[k] != TREE_EQUAL)
        named->n_unknown++;
    else
        named->what[k] = (uint8_t)what;
    named->n++;
    if (named->n == named->stop_after)
        return err_set(err, ERR_STOP, "enough");
    return true;
}

/* What is to be named of a document with these hashes; 0 stands for one that is not there,
 * TREE_MODEL_UNREAD for one to be read again. */
#define TREE_MODEL_UNREAD UINT64_MAX

static inline uint8_t tree_expected(uint64_t source, uint64_t index)
{
    if (source == 0 && index == 0)
        return TREE_EQUAL;
    if (index == 0)
        return TREE_MISSING;
    if (source == 0)
        return TREE_EXTRA;
    if (source == TREE_MODEL_UNREAD || index == TREE_MODEL_UNREAD)
        return TREE_UNREAD;
    return source == index ? TREE_EQUAL : TREE_DIFFERENT;
}

static inline struct tree_snapshot *tree_must_take(struct tree *t)
{
    struct tree_snapshot *s = NULL;
    struct err err = {0};

    if (!tree_snapshot_take(t, &s, &err))
        fail_msg("%s", err.msg);
    return s;
}

#endif

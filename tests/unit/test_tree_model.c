/*
 * Two trees beside two plain arrays of hashes (tests/unit/game.h): put, removed, opened again
 * after a close or a kill, resized, and compared through snapshots of which changes came after.
 */
#include "config.h"

#include "tests/unit/game.h"
#include "tests/unit/tree_compared.h"

#define STEPS  400
#define WEIGHT 1000 /* each changes 150 entries, and looks at all of them */
#define KEYS   1500

struct half {
    const char *name;
    const struct tree_identity *identity;
    struct tree *tree;
    struct tree_snapshot *snapshot; /* or NULL */
    uint64_t now[KEYS], then[KEYS]; /* hashes, as for tree_expected(); when it was taken */
    uint64_t n;
};

struct pair {
    struct half halves[2];
    struct tree_named named;
};

static void open_half(struct half *h, bool create, uint64_t n_expected)
{
    struct err err = {0};
    const bool ok =
        create ? tree_create(&h->tree, tree_path(h->name), h->identity, n_expected, &err)
               : tree_open(&h->tree, tree_path(h->name), h->identity, &err);

    if (!ok)
        game_say("%s", err.msg);
    must(ok);
}

/* Changes that are made at once. */
#define MOST 300
static struct tree_entry batch[MOST];
static char texts[MOST][64];
static size_t n_batch;

/* hash 0 removes the entry. */
static void add(struct half *h, uint64_t k, uint64_t hash)
{
    const struct str id = tree_text(k);

    must(n_batch < MOST && id.len < sizeof(texts[0]));
    memcpy(texts[n_batch], id.ptr, id.len);
    batch[n_batch] = (struct tree_entry){{texts[n_batch], id.len},
                                         hash == TREE_MODEL_UNREAD ? TREE_READ_AGAIN : hash,
                                         hash == 0};
    n_batch++;
    h->n += hash != 0;
    h->n -= h->now[k] != 0;
    h->now[k] = hash;
}

static void drop_snapshot(struct half *h)
{
    tree_snapshot_close(h->tree, h->snapshot);
    h->snapshot = NULL;
}

static uint64_t any_hash(struct random *r)
{
    return random_below(r, 9) == 0 ? TREE_MODEL_UNREAD : 1 + random_below(r, 3);
}

static void change(struct half *h, struct random *r)
{
    const uint64_t n = 1 + random_below(r, MOST), from = random_below(r, KEYS);
    const unsigned how = (unsigned)random_below(r, 5);
    struct err err = {0};

    game_say("%s: %llu from %llu on, how %u", h->name, (unsigned long long)n,
             (unsigned long long)from, how);
    n_batch = 0;
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t k = (from + i) % KEYS;

        switch (how) {
        case 0: add(h, k, 0); break;
        case 1: add(h, k, any_hash(r)); break;
        case 2: /* a few of them again and again */
            add(h, (from + random_below(r, 20)) % KEYS,
                random_below(r, 2) == 0 ? 0 : any_hash(r));
            break;
        default: add(h, k, tree_value(k)); break;
        }
    }
    must(tree_change(h->tree, batch, n_batch, &err));
}

static void reopen(struct half *h, bool durable)
{
    struct err err = {0};

    game_say("%s: opened again, %s", h->name, durable ? "closed before" : "killed before");
    drop_snapshot(h);
    must(tree_close(h->tree, durable, &err));
    h->tree = NULL;
    open_half(h, false, 0);
}

static void take(struct half *h)
{
    struct err err = {0};

    game_say("%s: snapshot", h->name);
    drop_snapshot(h);
    must(tree_snapshot_take(h->tree, &h->snapshot, &err));
    memcpy(h->then, h->now, sizeof(h->then));
}

static void compare(struct pair *p)
{
    struct half *s = &p->halves[0], *i = &p->halves[1];
    struct err err = {0};

    game_say("compare");
    if (s->snapshot == NULL)
        take(s);
    if (i->snapshot == NULL)
        take(i);
    memset(p->named.what, TREE_EQUAL, KEYS);
    p->named.n_unknown = 0;
    must(tree_compare(s->snapshot, i->snapshot, tree_name, &p->named, &err));
    must(p->named.n_unknown == 0);
    for (uint64_t k = 0; k < KEYS; k++)
        must(p->named.what[k] == tree_expected(s->then[k], i->then[k]));
}

static void look(struct half *h, struct random *r)
{
    must(tree_count(h->tree) == h->n);
    for (int i = 0; i < 5; i++) {
        const uint64_t k = random_below(r, KEYS);
        uint64_t hash = 0;
        bool found;
        struct err err = {0};

        must(tree_find(h->tree, tree_text(k), &found, &hash, &err));
        must(found == (h->now[k] != 0));
        must(!found || hash == (h->now[k] == TREE_MODEL_UNREAD ? TREE_READ_AGAIN : h->now[k]));
    }
}

static void step(struct pair *p, struct random *r)
{
    struct half *h = &p->halves[random_below(r, 2)];
    struct err err = {0};

    switch (random_below(r, 16)) {
    case 0: reopen(h, true); break;
    case 1: reopen(h, false); break;
    case 2: take(h); break;
    case 3: drop_snapshot(h); break;
    case 4:
        game_say("%s: resized", h->name);
        must(tree_resize(h->tree, 1 + (uint32_t)random_below(r, 30), &err));
        break;
    case 5:
    case 6: compare(p); break;
    default: change(h, r); break;
    }
    look(h, r);
}

static struct pair pair;

static void play(struct game *g)
{
    struct random r;

    for (size_t i = 0; i < 2; i++) { /* of a game that failed */
        struct err err;

        if (pair.halves[i].tree != NULL) {
            drop_snapshot(&pair.halves[i]);
            (void)!tree_close(pair.halves[i].tree, false, &err);
        }
    }
    memset(pair.halves, 0, sizeof(pair.halves));
    random_init(&r, g->seed);
    pair.halves[0].name = "source";
    pair.halves[0].identity = &tree_source;
    pair.halves[1].name = "index";
    pair.halves[1].identity = &tree_index;
    for (size_t i = 0; i < 2; i++)
        open_half(&pair.halves[i], true, random_below(&r, 2 * KEYS));
    while (game_next(g, &r))
        step(&pair, &r);
    compare(&pair);
}

static void trees_are_as_their_models(void **state)
{
    (void)state;
    tree_named_init(&pair.named, KEYS);
    games_play_heavy(play, STEPS, WEIGHT);
    for (size_t i = 0; i < 2; i++) {
        drop_snapshot(&pair.halves[i]);
        tree_end(pair.halves[i].tree, true);
    }
    assert_int_equal(tree_folder_files(), 2);
    tree_named_fini(&pair.named);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(trees_are_as_their_models, tree_folder_make,
                                        tree_folder_remove),
    };

    return cmocka_run_group_tests_name("tree_model", tests, NULL, NULL);
}

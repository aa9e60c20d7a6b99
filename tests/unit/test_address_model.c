/*
 * The addresses of a cluster beside a model that keeps all that happened at each and looks back
 * through it (tests/unit/game.h).  Requests and questions end in any order, or never; the
 * cluster tells other nodes at any time.  What a random wait may be is bounded, what it was is
 * taken over.
 */
#include "config.h"

#include "tests/unit/game.h"

#include "src/net/address.h"
#include "src/net/address_set.h"

#define STEPS         300
#define N_URLS        6
#define IN_FLIGHT_MAX 20

enum what { BEGAN_UP, BEGAN_AWAY, ASKED, ANSWERED, WORKED, FAILED };

struct past {
    enum what what;
    int64_t now_ms, until_ms; /* it is not to be asked before, from FAILED and ASKED on */
};

struct node {
    bool is_seed, is_found, takes_turns;
    struct past past[2 * STEPS];
    size_t n;
    size_t picked_at; /* a count of picks; 0: never */
};

struct flight {
    size_t address;
    bool is_question;
};

struct world {
    struct random random;
    struct address_set *set;
    struct node nodes[N_URLS]; /* in the order in which the set has heard of them */
    size_t n_nodes;
    const char *urls[N_URLS];
    struct flight flights[IN_FLIGHT_MAX];
    size_t n_flights;
    int64_t now_ms;
    size_t n_picks, changed_at; /* who may be used has changed after so many picks */
    uint64_t n_failures;
};

static const char *const urls[N_URLS] = {"http://a", "http://b", "http://c",
                                         "http://d", "http://e", "http://f"};

/* ---- what should be ---- */

static bool is_used(const struct node *n)
{
    return n->is_seed || n->takes_turns;
}

static bool is_up_after(const struct past *p)
{
    return p->what == BEGAN_UP || p->what == ANSWERED || p->what == WORKED;
}

static const struct past *last(const struct node *n)
{
    return &n->past[n->n - 1];
}

static bool is_up(const struct node *n)
{
    return is_up_after(last(n));
}

static bool is_asked(const struct node *n)
{
    return last(n)->what == ASKED;
}

static bool has_begun_only(const struct past *p)
{
    return p->what == BEGAN_UP || p->what == BEGAN_AWAY;
}

/* Whether anything was heard of it since it is in use. */
static bool is_known(const struct node *n)
{
    for (size_t i = n->n; i > 0 && !has_begun_only(&n->past[i - 1]); i--)
        if (n->past[i - 1].what != ASKED)
            return true;
    return false;
}

static int64_t since(const struct node *n)
{
    int64_t since_ms = last(n)->now_ms;

    for (size_t i = n->n; i > 0; i--) {
        const struct past *p = &n->past[i - 1];

        if (is_up_after(p) != is_up(n))
            break;
        if (has_begun_only(p)) {
            since_ms = is_known(n) ? since_ms : p->now_ms;
            break;
        }
        since_ms = p->what == ASKED ? since_ms : p->now_ms;
    }
    return since_ms;
}

static int64_t longest_wait(const struct node *n)
{
    int64_t limit_ms = 1000;

    for (size_t i = n->n; i > 0; i--) {
        const struct past *p = &n->past[i - 1];

        if (p->what == WORKED || has_begun_only(p))
            break;
        if (p->what == FAILED && limit_ms < ADDRESS_ASIDE_MAX_MS)
            limit_ms *= 2;
    }
    return limit_ms < ADDRESS_ASIDE_MAX_MS ? limit_ms : ADDRESS_ASIDE_MAX_MS;
}

static size_t count_up(const struct world *w, bool takes_turns)
{
    size_t n = 0;

    for (size_t i = 0; i < w->n_nodes; i++) {
        const struct node *a = &w->nodes[i];

        n += is_used(a) && is_up(a) && a->takes_turns == takes_turns;
    }
    return n;
}

static size_t count_used(const struct world *w)
{
    size_t n = 0;

    for (size_t i = 0; i < w->n_nodes; i++)
        n += is_used(&w->nodes[i]);
    return n;
}

/* ---- what happens ---- */

static void note(struct world *w, struct node *n, enum what what, int64_t until_ms)
{
    n->past[n->n++] = (struct past){what, w->now_ms, until_ms};
    w->changed_at = w->n_picks;
}

/* Of those that could have been chosen nobody was passed over. */
static void must_be_its_turn(const struct world *w, size_t i)
{
    const size_t before = w->nodes[i].picked_at;

    if (before <= w->changed_at)
        return;
    for (size_t k = 0; k < w->n_nodes; k++) {
        const struct node *a = &w->nodes[k];

        if (is_used(a) && is_up(a) && a->takes_turns == w->nodes[i].takes_turns)
            must(k == i || a->picked_at > before);
    }
}

/* None is up: it is not one that is asked where another is not, and the first that is due. */
static void must_be_the_best_guess(const struct world *w, size_t i)
{
    for (size_t k = 0; k < w->n_nodes; k++) {
        const struct node *a = &w->nodes[k];

        if (!is_used(a) || (is_asked(a) && !is_asked(&w->nodes[i])))
            continue;
        must(is_asked(a) == is_asked(&w->nodes[i]));
        must(last(a)->until_ms >= last(&w->nodes[i])->until_ms);
    }
}

static void begin(struct world *w, size_t i, bool is_question)
{
    if (w->n_flights < IN_FLIGHT_MAX) /* else nobody will hear of it */
        w->flights[w->n_flights++] = (struct flight){i, is_question};
}

static void pick(struct world *w)
{
    const size_t i = address_set_pick(w->set, w->now_ms);
    struct node *a = &w->nodes[i];
    const size_t n_turns = count_up(w, true), n_others = count_up(w, false);

    game_say("at %d a request goes to %zu", (int)w->now_ms, i);
    must(i < w->n_nodes && is_used(a));
    must(is_up(a) == (n_turns + n_others > 0));
    must(n_turns == 0 || a->takes_turns);
    if (is_up(a))
        must_be_its_turn(w, i);
    else
        must_be_the_best_guess(w, i);
    a->picked_at = ++w->n_picks;
    if (!is_up(a))
        note(w, a, ASKED, w->now_ms + ADDRESS_ASIDE_MAX_MS);
    begin(w, i, false);
}

static void ask(struct world *w)
{
    size_t asked = N_URLS;
    const bool got = address_set_ask(w->set, w->now_ms, &asked);
    bool is_due = false;

    for (size_t i = 0; i < w->n_nodes; i++) {
        const struct node *a = &w->nodes[i];

        if (!is_used(a) || is_up(a) || last(a)->until_ms > w->now_ms)
            continue;
        is_due = true;
        must(!got || last(a)->until_ms >= last(&w->nodes[asked])->until_ms);
    }
    game_say("at %d a question goes to %d", (int)w->now_ms, got ? (int)asked : -1);
    must(got == (is_due && count_used(w) > 1));
    if (!got)
        return;
    must(is_used(&w->nodes[asked]) && !is_up(&w->nodes[asked]));
    note(w, &w->nodes[asked], ASKED, w->now_ms + ADDRESS_ASIDE_MAX_MS);
    begin(w, asked, true);
}

static struct address_view view_of(const struct world *w, size_t i)
{
    struct address_view v = {0};

    for (size_t at = 0; address_set_next(w->set, &at, &v);)
        if (strcmp(v.name, w->urls[i]) == 0)
            return v;
    return (struct address_view){0};
}

static void break_off(struct world *w, size_t i)
{
    struct node *a = &w->nodes[i];
    const int64_t limit_ms = longest_wait(a);
    const bool counts = is_up(a) || is_asked(a);

    w->n_failures += is_up(a);
    address_set_failed(w->set, i, w->now_ms, "failed");
    if (!counts)
        return;

    /* One that is not in use any more is not shown; it begins anew when it is. */
    const int64_t due_ms = is_used(a) ? view_of(w, i).due_ms : w->now_ms + 1;

    must(due_ms > w->now_ms && due_ms <= w->now_ms + limit_ms);
    note(w, a, FAILED, due_ms);
}

static void end(struct world *w)
{
    if (w->n_flights == 0)
        return;

    const size_t k = random_below(&w->random, w->n_flights);
    const struct flight f = w->flights[k];
    const unsigned how = (unsigned)random_below(&w->random, 7);

    w->flights[k] = w->flights[--w->n_flights];
    game_say("at %d %s to %zu %s", (int)w->now_ms, f.is_question ? "a question" : "a request",
             f.address,
             how == 0  ? "is given up"
             : how < 4 ? "fails"
                       : "works");
    if (how == 0)
        return;
    if (how < 4) {
        break_off(w, f.address);
        return;
    }
    if (f.is_question)
        address_set_answered(w->set, f.address, w->now_ms);
    else
        address_set_worked(w->set, f.address, w->now_ms);
    note(w, &w->nodes[f.address], f.is_question ? ANSWERED : WORKED, 0);
}

static size_t node_of(struct world *w, const char *url)
{
    for (size_t i = 0; i < w->n_nodes; i++)
        if (strcmp(w->urls[i], url) == 0)
            return i;
    w->urls[w->n_nodes] = url;
    return w->n_nodes++;
}

static void find(struct world *w)
{
    const char *told[N_URLS];
    bool is_told[N_URLS] = {false};
    size_t n = 0;

    for (size_t i = 0; i < N_URLS; i++)
        if (random_below(&w->random, 3) == 0)
            told[n++] = urls[i];
    game_say("at %d the cluster tells %zu nodes", (int)w->now_ms, n);
    address_set_found(w->set, told, n, w->now_ms);
    for (size_t i = 0; i < n; i++) {
        const size_t k = node_of(w, told[i]);

        is_told[k] = true;
        if (!is_used(&w->nodes[k]))
            note(w, &w->nodes[k], BEGAN_AWAY, w->now_ms);
    }
    for (size_t i = 0; i < w->n_nodes; i++) {
        struct node *a = &w->nodes[i];

        a->is_found = is_told[i];
        a->takes_turns = n == 0 ? a->is_seed : is_told[i];
    }
    w->changed_at = w->n_picks;
}

/* ---- the game ---- */

static void must_be_shown(const struct world *w)
{
    size_t at = 0, n_up = 0;
    struct address_view v;

    for (size_t i = 0; i < w->n_nodes; i++) {
        const struct node *a = &w->nodes[i];

        if (!is_used(a))
            continue;
        must(address_set_next(w->set, &at, &v));
        must(strcmp(v.name, w->urls[i]) == 0);
        must(v.is_up == is_up(a) && v.is_known == is_known(a));
        must(v.is_seed == a->is_seed && v.is_found == a->is_found);
        must(v.since_ms == since(a));
        must(v.is_up ||
             (v.due_ms == last(a)->until_ms && v.due_ms <= w->now_ms + ADDRESS_ASIDE_MAX_MS));
        must(!v.is_up || v.why[0] == '\0');
        n_up += v.is_up;
    }
    must(!address_set_next(w->set, &at, &v));
    must(address_set_healthy(w->set) == n_up);
    must(address_set_count(w->set) == count_used(w));
    must(address_set_failures(w->set) == w->n_failures);
}

static void step(struct world *w)
{
    const size_t what = random_below(&w->random, 100);

    if (what < 35)
        pick(w);
    else if (what < 50)
        ask(w);
    else if (what < 80)
        end(w);
    else if (what < 85)
        find(w);
    else
        w->now_ms += (int64_t)random_below(&w->random, what < 95 ? 500 : 40000);
}

static void play(struct game *g)
{
    static struct world w;

    address_set_free(w.set); /* of a game that failed */
    w = (struct world){0};
    random_init(&w.random, g->seed);
    w.n_nodes = 1 + random_below(&w.random, 3);
    w.set = address_set_new(urls, w.n_nodes);
    for (size_t i = 0; i < w.n_nodes; i++) {
        w.urls[i] = urls[i];
        w.nodes[i].is_seed = w.nodes[i].takes_turns = true;
        note(&w, &w.nodes[i], BEGAN_UP, 0);
    }
    while (game_next(g, &w.random)) {
        step(&w);
        must_be_shown(&w);
    }
    address_set_free(w.set);
    w.set = NULL;
}

static void addresses_are_used_and_asked_as_what_happened_at_them_says(void **state)
{
    (void)state;
    games_play(play, STEPS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_are_used_and_asked_as_what_happened_at_them_says),
    };
    return cmocka_run_group_tests_name("address_model", tests, NULL, NULL);
}

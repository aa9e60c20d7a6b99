/* Members of a cluster at a real ZooKeeper, whose work is a note in a book that all share. */
#include "config.h"

#include "tests/component/zookeeper_rig.h"

#include "rebalance/cluster/cluster_survey.h"
#include "rebalance/member/member.h"

#include "src/base/arena.h"
#include "src/base/clock.h"
#include "src/base/thread.h"

#include <stdio.h>
#include <string.h>

#define THINGS 10
#define NODES  3

/* As a store would know it: who took a thing last, and who still works on it. A test that fails
 * leaves it to the next teardown. */
static struct {
    struct lock lock;
    pthread_cond_t changed_cond;
    /* All guarded by lock. */
    int owner[THINGS]; /* -1: nobody has taken it */
    bool works[THINGS][NODES];
    unsigned n_takes, n_overlaps; /* taken while another one worked on it */
    unsigned n_saved, n_halted;
} book;

static struct player {
    int number;
    struct member *m; /* NULL: it does not play */
    struct stop stop;
    pthread_t thread;
} players[NODES];

static int number_of(struct str thing)
{
    return thing.ptr[thing.len - 1] - '0';
}

static void tell(void)
{
    pthread_cond_broadcast(&book.changed_cond);
    lock_release(&book.lock);
}

static void start_work(struct player *p, struct str thing)
{
    const int i = number_of(thing);

    lock_acquire(&book.lock);
    if (!book.works[i][p->number]) {
        for (int n = 0; n < NODES; n++)
            book.n_overlaps += n != p->number && book.works[i][n];
        book.owner[i] = p->number;
        book.works[i][p->number] = true;
        book.n_takes++;
    }
    tell();
    member_has(p->m, thing);
}

static void end_work(struct player *p, const struct cluster_order *o)
{
    lock_acquire(&book.lock);
    book.works[number_of(o->thing)][p->number] = false;
    book.n_saved += o->wish == CLUSTER_GIVE_BACK;
    book.n_halted += o->wish == CLUSTER_END;
    tell();
    member_ended(p->m, o->thing);
}

/* What a daemon's coordinator does. */
static void *play(void *arg)
{
    struct player *p = arg;
    struct arena *a = arena_new();
    uint64_t seen = 0;

    while (!stop_rest(&p->stop, 1000, &seen)) {
        struct cluster_order *orders;
        const size_t n = member_orders(p->m, a, &orders);

        for (size_t i = 0; i < n; i++)
            if (orders[i].wish == CLUSTER_WORK)
                start_work(p, orders[i].thing);
            else
                end_work(p, &orders[i]);
        arena_reset(a);
    }
    arena_free(a);
    return NULL;
}

static void wake_player(void *player, struct str thing, enum cluster_wish wish)
{
    (void)thing, (void)wish;
    stop_nudge(&((struct player *)player)->stop);
}

static void enter_with(int number, uint16_t port, struct str store)
{
    struct player *p = &players[number];
    char id[40], names[THINGS][24];
    struct barrier_thing things[THINGS] = {0};
    struct coordination *c = NULL;
    struct buf address = {0};
    struct err err = {0};

    snprintf(id, sizeof(id), "00000000-0000-4000-8000-%012d", number);
    *p = (struct player){.number = number};
    stop_init(&p->stop);
    p->m = member_new(&(struct barrier_options){.id = str_from(id),
                                                .name = str_from(id),
                                                .version = STR("1"),
                                                .suspend_ms = TIMEOUT_MS * 6 / 10,
                                                .stop_limit_ms = 3000,
                                                .start_limit_ms = 3000,
                                                .settle_ms = 100,
                                                .stagger_ms = 100},
                      store, wake_player, p);
    for (int i = 0; i < THINGS; i++) {
        snprintf(names[i], sizeof(names[i]), "topic/%d", i);
        things[i].name = str_from(names[i]);
    }
    member_set_things(p->m, things, THINGS, 1);
    append_address(&address, port != 0 ? port : server_port());
    if (!zookeeper_open(&(struct zookeeper_options){.servers = buf_str(&address),
                                                    .timeout_ms = TIMEOUT_MS,
                                                    .wake = member_wake,
                                                    .wake_ctx = p->m},
                        &c, &err))
        fail_msg("%s", err.msg);
    buf_free(&address);
    p->thread = thread_start("player", play, p);
    member_start(p->m, c);
}

static void enter(int number, uint16_t port)
{
    enter_with(number, port, STR("our store"));
}

static void leave(int number)
{
    struct player *p = &players[number];

    if (p->m == NULL)
        return;
    stop_set(&p->stop);
    pthread_join(p->thread, NULL);
    lock_acquire(&book.lock);
    for (int i = 0; i < THINGS; i++)
        book.works[i][number] = false;
    lock_release(&book.lock);
    member_stop(p->m);
    member_free(p->m);
    p->m = NULL;
    stop_fini(&p->stop);
}

static int open_book(void **state)
{
    lock_init(&book.lock, LOCK_private);
    lock_init_cond(&book.changed_cond);
    for (int i = 0; i < THINGS; i++)
        book.owner[i] = -1;
    return new_root(state);
}

static int close_book(void **state)
{
    (void)state;
    for (int i = 0; i < NODES; i++)
        leave(i);
    pthread_cond_destroy(&book.changed_cond);
    lock_fini(&book.lock);
    memset(&book, 0, sizeof(book));
    return 0;
}

static int count_works(int number) NEEDS(book.lock)
{
    int n = 0;

    for (int i = 0; i < THINGS; i++)
        n += book.works[i][number];
    return n;
}

static bool have(const int *wanted) NEEDS(book.lock)
{
    for (int n = 0; n < NODES; n++)
        if (count_works(n) != wanted[n])
            return false;
    return true;
}

/* What each node says that it waits for. */
static void append_waits(struct buf *out)
{
    for (int i = 0; i < NODES; i++) {
        struct cluster_view v = {0};

        if (players[i].m == NULL)
            continue;
        member_look(players[i].m, &v);
        buf_printf(out, "; node %d: %s, %zu live, session %llu, %s%s", i,
                   v.is_normal ? "normal" : "not normal", v.live.n,
                   (unsigned long long)v.session, v.waits.len > 0 ? v.waits.ptr : "no wait",
                   v.trouble.msg);
        cluster_view_free(&v);
    }
}

static void wait_until_they_have(int first, int second, int third)
{
    const int wanted[NODES] = {first, second, third};
    const int64_t until_ms = clock_mono_ms() + LIMIT_MS;
    struct buf waits = {0};

    lock_acquire(&book.lock);
    while (!have(wanted) && lock_wait_until(&book.lock, &book.changed_cond, until_ms))
        ;

    const int had[NODES] = {count_works(0), count_works(1), count_works(2)};

    lock_release(&book.lock);
    append_waits(&waits);
    if (had[0] != first || had[1] != second || had[2] != third)
        fail_msg("they have %d, %d and %d%s", had[0], had[1], had[2], waits.ptr);
    buf_free(&waits);
}

static void wait_until_normal(int number)
{
    const int64_t until_ms = clock_mono_ms() + LIMIT_MS;
    bool is_normal = false;

    while (!is_normal) {
        struct cluster_view v = {0};
        struct buf waits = {0};

        member_look(players[number].m, &v);
        is_normal = v.is_normal;
        cluster_view_free(&v);
        if (!is_normal && clock_mono_ms() >= until_ms) {
            append_waits(&waits);
            fail_msg("node %d is not normal%s", number, waits.ptr);
        }
        lock_acquire(&book.lock); /* a nap that a change ends */
        (void)lock_wait_until(&book.lock, &book.changed_cond, clock_mono_ms() + 20);
        lock_release(&book.lock);
    }
}

static void members_share_things_and_end_work_before_others_begin_it(void **state)
{
    (void)state;
    enter(0, 0);
    wait_until_they_have(THINGS, 0, 0);
    enter(1, 0);
    wait_until_they_have(5, 5, 0);
    wait_until_normal(0);
    wait_until_normal(1);
    lock_acquire(&book.lock);
    assert_int_equal(book.n_takes, THINGS + 5); /* what stays is not taken again */
    lock_release(&book.lock);
    enter(2, 0);
    wait_until_normal(2);
    lock_acquire(&book.lock);
    assert_int_equal(count_works(2), 3);
    assert_int_equal(count_works(0) + count_works(1), 7);
    assert_int_equal(book.n_overlaps, 0);
    assert_int_equal(book.n_halted, 0);
    lock_release(&book.lock);
    leave(1);
    leave(2);
    wait_until_they_have(THINGS, 0, 0);
}

static void who_is_cut_off_ends_its_work_and_others_take_it_over(void **state)
{
    struct proxy *p = proxy_start(server_port());

    (void)state;
    enter(0, 0);
    enter(1, proxy_port(p));
    wait_until_they_have(5, 5, 0);
    wait_until_normal(1);
    proxy_set(p, PROXY_FREEZE);
    wait_until_they_have(THINGS, 0, 0);
    lock_acquire(&book.lock);
    assert_int_equal(book.n_overlaps, 0); /* the work ended before the session could */
    assert_int_equal(book.n_halted, 5);
    lock_release(&book.lock);
    proxy_set(p, PROXY_PASS);
    wait_until_they_have(5, 5, 0);
    leave(1);
    proxy_stop(p);
}

/* Whoever has asked, and looks at once, sees the state that has the request. */
static void ask(int number, enum barrier_ask what, const char *node)
{
    struct cluster_view before = {0}, after = {0};
    struct err err = {0};

    member_look(players[number].m, &before);
    if (!member_ask(players[number].m, what, str_from(node), STR(""), &err))
        fail_msg("%s", err.msg);
    member_look(players[number].m, &after);
    assert_true(after.state_version > before.state_version);
    cluster_view_free(&before);
    cluster_view_free(&after);
}

static void a_node_that_is_evacuated_has_nothing_until_it_is_admitted(void **state)
{
    (void)state;
    enter(0, 0);
    enter(1, 0);
    wait_until_they_have(5, 5, 0);
    wait_until_normal(0);
    ask(0, BARRIER_ASK_EVACUATE, NODE(1));
    wait_until_they_have(THINGS, 0, 0);
    lock_acquire(&book.lock);
    assert_int_equal(book.n_halted, 0);
    lock_release(&book.lock);
    wait_until_normal(1);
    ask(1, BARRIER_ASK_ADMIT, NODE(1));
    wait_until_they_have(5, 5, 0);
}

static void who_has_another_store_is_no_node_and_says_so(void **state)
{
    const int64_t until_ms = clock_mono_ms() + LIMIT_MS;
    bool says = false;

    (void)state;
    enter(0, 0);
    wait_until_they_have(THINGS, 0, 0);
    enter_with(1, 0, STR("another store"));
    while (!says) {
        struct cluster_view v = {0};

        member_look(players[1].m, &v);
        says = strstr(v.trouble.msg, "daemons with another store") != NULL;
        cluster_view_free(&v);
        if (!says && clock_mono_ms() >= until_ms)
            fail_msg("it does not say why it is no node");
        lock_acquire(&book.lock); /* a nap that a change ends */
        (void)lock_wait_until(&book.lock, &book.changed_cond, clock_mono_ms() + 20);
        lock_release(&book.lock);
    }
    wait_until_normal(0);
    wait_until_they_have(THINGS, 0, 0);
}

/* What people see: who has what. Whoever is cut off says so soon. */
static void a_survey_reads_every_node_that_lives_or_says_that_nobody_answers(void **state)
{
    struct proxy *p = proxy_start(server_port());
    struct cluster_survey s = {0};
    struct err err = {0};
    const int64_t began_ms = clock_mono_ms();

    (void)state;
    enter(0, 0);
    enter(1, proxy_port(p));
    wait_until_they_have(5, 5, 0);
    wait_until_normal(0);
    wait_until_normal(1);
    if (!member_survey(players[1].m, &s, &err))
        fail_msg("%s", err.msg);
    assert_int_equal(s.n, 2);
    assert_int_equal(s.nodes[0].jobs.n, 5);
    assert_int_equal(s.nodes[1].jobs.n, 5);
    assert_string_equal(cluster_survey_word(&s, STR(NODE(0))), "normal");
    assert_int_equal(s.state.session, s.view.session);
    assert_true(s.view.is_normal);
    assert_int_equal(s.view.timeout_ms, TIMEOUT_MS);
    cluster_survey_free(&s);
    assert_true(member_known(players[1].m, 1000, &s));
    assert_non_null(cluster_survey_owner(&s, STR("topic/0")));
    cluster_survey_free(&s);
    leave(0);
    wait_until_they_have(0, THINGS, 0);
    assert_true(member_known(players[1].m, 1000, &s)); /* what was known is not true any more */
    assert_int_equal(s.n, 1);
    cluster_survey_free(&s);
    proxy_set(p, PROXY_FREEZE);
    while (member_survey(players[1].m, &s, &err) && clock_mono_ms() < began_ms + LIMIT_MS)
        cluster_survey_free(&s);
    assert_int_equal(err.kind, ERR_RETRY);
    assert_non_null(strstr(err.msg, "fix: "));
    proxy_set(p, PROXY_PASS);
    leave(1);
    proxy_stop(p);
}

#define MEMBERS_TEST(name) cmocka_unit_test_setup_teardown(name, open_book, close_book)

static const struct CMUnitTest tests[] = {
    MEMBERS_TEST(members_share_things_and_end_work_before_others_begin_it),
    MEMBERS_TEST(who_is_cut_off_ends_its_work_and_others_take_it_over),
    MEMBERS_TEST(a_node_that_is_evacuated_has_nothing_until_it_is_admitted),
    MEMBERS_TEST(who_has_another_store_is_no_node_and_says_so),
    MEMBERS_TEST(a_survey_reads_every_node_that_lives_or_says_that_nobody_answers),
};
const struct test_part members_part = {tests, ARRAY_LEN(tests)};

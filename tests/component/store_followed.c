/* The number that tells nodes to load again. */
#include "config.h"

#include "tests/component/store_parts.h"

#include "src/store/build_log.h"
#include "src/store/change.h"
#include "src/store/later/gone.h"
#include "src/store/later/kept_search.h"
#include "src/store/later/purged.h"
#include "src/store/later/snapshot.h"
#include "src/store/reset.h"
#include "src/store/retired.h"
#include "src/store/told.h"
#include "src/store/turn.h"
#include "src/store/waiting.h"
#include "src/store/wish.h"

#define ORDERS STR("orders")
#define TABLE  STR("shop.orders")

static const struct version_name v1 = {{"orders", 6}, 1};

static uint64_t changes(void)
{
    uint64_t n;

    ok(store_changes(f.s, &n, &f.err));
    return n;
}

struct step {
    const char *name;
    bool (*run)(void);
};

static bool save_definitions(void)
{
    const struct stored_definition d = {STR("topic"), STR("shop"), STR("{}")};
    const struct definition_effects none = {0};
    struct stored_definition *was;
    uint64_t revision;
    size_t n;

    return store_load_definitions(f.s, f.a, &was, &n, &revision, &f.err) &&
           store_save_definitions(f.s, revision, &d, 1, &none, &f.err);
}

static bool begin_version(void)
{
    struct stored_version v = {.index = ORDERS, .topic = STR("shop"), .definition = STR("{}")};

    return store_new_version(f.s, &v, &f.err);
}

static bool start_version(void)
{
    return store_set_version_start(f.s, &v1, 7, &f.err);
}

static bool define_version(void)
{
    return store_set_version_definition(f.s, &v1, STR("{\"a\":1}"), &f.err);
}

static struct stored_job some_job(void)
{
    return (struct stored_job){.kind = STR(JOB_INDEX),
                               .index = ORDERS,
                               .table = TABLE,
                               .version = 1,
                               .buckets = 1,
                               .state = STR("running")};
}

static bool new_job(void)
{
    struct stored_job job = some_job();

    return store_new_job(f.s, &job, &f.err);
}

static bool save_job(void)
{
    struct stored_job job = some_job();
    uint64_t term;

    job.id = 1;
    job.cursor = STR("further");
    return store_take_term(f.s, STR("job/1"), &term, &f.err) &&
           store_save_job(f.s, term, &job, &f.err);
}

static const struct stored_wait wait = {
    .index = {"orders", 6}, .number = 1, .reason = {"person", 6}};

static bool park_version(void)
{
    struct stored_job job = some_job();
    uint64_t term;

    job.id = 1;
    return store_take_term(f.s, STR("job/1"), &term, &f.err) &&
           store_park_version(f.s, term, &job, &wait, &f.err);
}

static bool judge_wait(void)
{
    return store_save_wait(f.s, &wait, &f.err);
}

static bool resume_version(void)
{
    return store_resume_version(f.s, &wait, &f.err);
}

static bool promote_version(void)
{
    return store_promote_version(
        f.s, &(struct promotion){.index = ORDERS, .number = 1, .finished_ms = 1}, &f.err);
}

static bool stop_table(void)
{
    const struct stored_stop stop = {.table = TABLE, .reason = STR("why")};

    return store_put_stop(f.s, &stop, &f.err);
}

static bool stop_version(void)
{
    const struct version_stop v = {
        .index = ORDERS, .number = 1, .stop = {.table = TABLE, .reason = STR("why")}};
    enum version_stopped how;

    return store_stop_version(f.s, &v, &how, &f.err);
}

static bool wish_rebuild(void)
{
    return store_put_rebuild(f.s, &(struct stored_rebuild){TABLE, STR("why"), 1}, &f.err);
}

static bool end_rebuild(void)
{
    return store_delete_rebuild(f.s, TABLE, &f.err);
}

static bool pause_topic(void)
{
    return store_put_value(f.s, STR("pause/topic/shop"), STR("{}"), &f.err);
}

static bool end_pause(void)
{
    return store_delete_value(f.s, STR("pause/topic/shop"), NULL, &f.err);
}

static bool add_token(void)
{
    return store_put_value(f.s, STR("access/token/1"), STR("{}"), &f.err);
}

static bool delete_user(void)
{
    return store_delete_value(f.s, STR("access/user/anna"), NULL, &f.err);
}

static bool set_delivery(void)
{
    return store_put_value(f.s, STR("delivery/settings"), STR("{}"), &f.err);
}

static bool note_pending(void)
{
    return store_put_value(f.s, STR("pending/shop.orders"), STR("1"), &f.err);
}

static bool reset_topic(void)
{
    const struct stored_stop stop = {.table = TABLE, .reason = STR("reset")};
    const struct topic_reset r = {.topic = STR("shop"),
                                  .stops = &stop,
                                  .n_stops = 1,
                                  .start = {STR("start/shop"), STR("now")}};

    return store_reset_topic(f.s, &r, &f.err);
}

static bool retire_version(void)
{
    const struct definition_effects e = {.unnamed = &v1, .n_unnamed = 1, .at_ms = 9};

    struct stored_definition *was;
    uint64_t revision;
    size_t n;

    return store_load_definitions(f.s, f.a, &was, &n, &revision, &f.err) &&
           store_save_effects(f.s, revision, &e, &f.err);
}

static bool drop_version(void)
{
    return store_drop_versions(f.s, &v1, 1, &f.err);
}

/* In the order of a version's life. */
static const struct step raising[] = {
    {"definitions are saved", save_definitions},
    {"a version begins", begin_version},
    {"a version has a start", start_version},
    {"a version has another definition", define_version},
    {NULL, new_job},
    {"a version waits", park_version},
    {"a wait is judged again", judge_wait},
    {"a version goes on", resume_version},
    {"a version is promoted", promote_version},
    {"a table stops", stop_table},
    {"a version stops", stop_version},
    {"a rebuild is wished", wish_rebuild},
    {"a rebuild is wished no more", end_rebuild},
    {"a topic pauses", pause_topic},
    {"a pause ends", end_pause},
    {"a token is added", add_token},
    {"a user is removed", delete_user},
    {"delivery is set", set_delivery},
    {"a definition waits for a build", note_pending},
    {"a topic is reset", reset_topic},
    {"a version is retired", retire_version},
    {"a version is dropped", drop_version},
};

static void what_nodes_keep_in_memory_raises_the_number_by_one(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(raising); i++) {
        const uint64_t before = changes();

        ok(raising[i].run());
        if (raising[i].name != NULL && changes() != before + 1)
            fail_msg("%s: %d, then %d", raising[i].name, (int)before, (int)changes());
    }
    reopen();
    assert_true(changes() >= ARRAY_LEN(raising) - 1);
}

static bool save_position(void)
{
    const struct stored_checkpoint cp = some_checkpoint(9);
    const struct stored_tombstone t = {STR("orders_v1"), STR("1"), STR(""), 7, 1};

    return store_save_checkpoint(f.s, 1, &cp, &t, 1, &f.err) &&
           store_drop_tombstones(f.s, 9, &f.err);
}

static bool put_letter(void)
{
    const struct stored_dead_letter d = some_letter("1");

    return store_put_dead_letters(f.s, &d, 1, &f.err);
}

static bool delete_letters(void)
{
    const struct dead_letter_filter all = {.id = 0};
    uint64_t n;

    return store_delete_dead_letters(f.s, &all, &n, &f.err);
}

static bool put_purged(void)
{
    const struct stored_purged p = {.topic = STR("shop"),
                                    .table = TABLE,
                                    .index = STR("orders_v1"),
                                    .doc_id = STR("1"),
                                    .key = STR("1"),
                                    .version = 5,
                                    .times = 1};

    return store_put_purged(f.s, &p, 1, &f.err) &&
           store_delete_purged_index(f.s, STR("orders_v1"), &f.err);
}

static bool put_snapshot(void)
{
    const struct snapshot_put put = {{STR("shop"), 1}, STR("shop.label"), 1};
    const struct snapshot_change c = {.row = {.op = STR("update"), .row_id = STR("1")},
                                      .lead = {.index = ORDERS, .version = 1}};

    return store_put_snapshots(f.s, &put, &c, 1, &f.err) &&
           store_begin_snapshot_run(f.s, f.a, &put.owner, 1, &(struct snapshot_run){.one = 0},
                                    &(bool){false}, &f.err);
}

static bool put_gone(void)
{
    const struct gone_owner owner = {STR("shop"), 1};
    const struct stored_gone g = {.index = ORDERS, .version = 1, .doc_id = STR("1")};

    return store_put_gone(f.s, &owner, &g, 1, &f.err);
}

static bool keep_search(void)
{
    const struct kept_search_owner owner = {STR("shop"), 1};
    const struct kept_search k = {.index = ORDERS, .version = 1, .query = STR("{}")};

    return store_keep_searches(f.s, &owner, &k, 1, &f.err);
}

static bool save_cursor(void)
{
    return store_put_value(f.s, STR(STORE_SYNC "orders_v1"), STR("pause/"), &f.err) &&
           store_delete_value(f.s, STR("pause"), NULL, &f.err);
}

static bool put_shapes(void)
{
    return store_put_shapes(f.s, ORDERS, 1, STR("shape"), NULL, &f.err);
}

static bool write_log(void)
{
    const struct stored_log l = {.table = TABLE, .event = STR("built"), .detail = STR("{}")};

    return store_add_log(f.s, &l, &f.err);
}

static bool log_a_build(void)
{
    const struct stored_build b = {.version = {ORDERS, 1}, .table = TABLE};

    return store_begin_build(f.s, &b, &f.err) &&
           store_add_build_node(f.s, &b.version, STR("a"), STR("a"), &f.err) &&
           store_end_build(f.s, &b.version, BUILD_FAILED, STR("why"), &f.err);
}

static bool hand_on_a_command(void)
{
    struct stored_wish w = {.guid = STR("1"), .topic = STR("shop")};

    return store_put_wish(f.s, &w, &f.err);
}

static bool tell(void)
{
    const struct stored_told t = {.topic = STR("shop"), .term = 1};
    const struct stored_told_node n = {.node = STR("a")};

    return store_put_told(f.s, &t, &f.err) && store_put_told_node(f.s, &n, &f.err);
}

static bool load_all(void)
{
    struct stored_version *versions;
    struct stored_wait *waits;
    size_t n;

    return store_load_versions(f.s, f.a, STR(""), &versions, &n, &f.err) &&
           store_load_waits(f.s, f.a, &waits, &n, &f.err);
}

static const struct step quiet[] = {
    {"a position and deletes are saved", save_position},
    {"a job begins", new_job},
    {"a job goes on", save_job},
    {"a document is refused", put_letter},
    {"dead letters are deleted", delete_letters},
    {"a change is purged", put_purged},
    {"a change is put off", put_snapshot},
    {"a document stays", put_gone},
    {"a search is kept", keep_search},
    {"a sync goes on", save_cursor},
    {"shapes are noted", put_shapes},
    {"the log is written", write_log},
    {"a build is logged", log_a_build},
    {"a command is handed on", hand_on_a_command},
    {"owners and nodes tell", tell},
    {"all is loaded", load_all},
};

static void what_is_written_often_leaves_the_number_as_it_is(void **state)
{
    uint64_t term;

    (void)state;
    ok(store_take_term(f.s, STR("topic/shop"), &term, &f.err));
    ok(begin_version());
    for (size_t i = 0; i < ARRAY_LEN(quiet); i++) {
        const uint64_t before = changes();

        ok(quiet[i].run());
        if (changes() != before)
            fail_msg("%s: %d, then %d", quiet[i].name, (int)before, (int)changes());
    }
}

/* The second version cannot be dropped, as it seems to be dropped already. */
static void what_is_rolled_back_raises_nothing(void **state)
{
    const struct version_name both[] = {v1, {ORDERS, 2}};
    uint64_t before;

    (void)state;
    ok(begin_version());
    ok(promote_version());
    ok(begin_version());
    close_store();
    sql_beside("INSERT INTO dropped_version VALUES ('orders', 2)");
    reopen();
    before = changes();
    assert_false(store_drop_versions(f.s, both, 2, &f.err));
    assert_int_equal(changes(), before);
    ok(put_letter());
    assert_int_equal(changes(), before);
}

static void other_nodes_see_the_number_rise(void **state)
{
    struct store *other;
    uint64_t before, now;

    (void)state;
    if (!on_mysql)
        return;
    ok(open_store(&other, &f.err));
    ok(store_changes(other, &before, &f.err));
    ok(stop_table());
    ok(store_changes(other, &now, &f.err));
    assert_int_equal(now, before + 1);
    ok(store_delete_rebuild(other, TABLE, &f.err));
    assert_int_equal(changes(), before + 2);
    store_close(other);
}

static const struct CMUnitTest tests[] = {
    STORE_TEST(what_nodes_keep_in_memory_raises_the_number_by_one),
    STORE_TEST(what_is_written_often_leaves_the_number_as_it_is),
    STORE_TEST(what_is_rolled_back_raises_nothing),
    STORE_TEST(other_nodes_see_the_number_rise),
};
const struct test_part store_followed = {tests, ARRAY_LEN(tests)};

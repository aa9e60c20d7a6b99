#include "config.h"

#include "tests/unit/unit.h"

#include "rebalance/watch/engine_check.h"
#include "src/base/arena.h"
#include "src/base/buf.h"

#include <string.h>

/* orders_v2 is searched, orders_v1 is history. */
struct fixture {
    struct arena *arena;
    struct stored_version versions[4];
    struct wanted_index wanted[3];
    struct topic_epoch epochs[1];
    struct stored_facts stored;
    struct finding *list;
    size_t n;
};

static struct stored_version version(struct str index, uint64_t number, struct str state)
{
    return (struct stored_version){
        .index = index, .number = number, .state = state, .topic = STR("shop"), .start = 1};
}

static int set_up(void **state)
{
    static struct fixture f;

    f = (struct fixture){
        .arena = arena_new(),
        .versions = {version(STR("orders"), 2, STR("available")),
                     version(STR("orders"), 1, STR("history"))},
        .wanted = {{STR("orders"), STR("shop.orders")}, {STR("orders"), STR("shop.orders")}},
        .epochs = {{STR("shop"), 3}},
    };
    f.stored = (struct stored_facts){.owner = STR("we"),
                                     .versions = f.versions,
                                     .n_versions = 2,
                                     .wanted = f.wanted,
                                     .n_wanted = 2,
                                     .epochs = f.epochs,
                                     .n_epochs = 1};
    stored_facts_order(&f.stored);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    arena_free(((struct fixture *)*state)->arena);
    return 0;
}

#define MARK(owner, epoch, version)                                                      \
    "\"mappings\":{\"_meta\":{\"_millrace\":{" owner "\"topic\":\"shop\",\"log\":\"l\"," \
    "\"epoch\":" #epoch ",\"version\":" #version "}}}"
#define OURS   "\"owner\":\"we\","
#define THEIRS "\"owner\":\"they\","
#define GOOD \
    "\"orders_v2\":{\"aliases\":{\"orders\":{},\"orders_v2_write\":{}}," MARK(OURS, 3, 2) "}"

static struct engine_facts read(struct fixture *f, const char *answer)
{
    const struct str text = str_from(answer);
    struct engine_facts facts;
    struct err err = {0};

    if (!engine_facts_read(&facts, f->arena, &text, 1, &err))
        fail_msg("%s", err.msg);
    return facts;
}

static void check(struct fixture *f, const char *answer)
{
    const struct engine_facts facts = read(f, answer);

    engine_check(&f->stored, &facts, f->arena, &f->list, &f->n);
}

/* Exactly one, whose reason and fix contain these. */
static void assert_found(struct fixture *f, const char *answer, enum mend mend,
                         const char *reason, const char *fix)
{
    check(f, answer);
    if (f->n != 1)
        fail_msg("%zu findings, the first: %s", f->n, f->n > 0 ? f->list[0].reason.ptr : "");
    if (strstr(f->list[0].reason.ptr, reason) == NULL)
        fail_msg("not \"%s\": %s", reason, f->list[0].reason.ptr);
    assert_string_equal(f->list[0].fix.ptr, fix);
    assert_int_equal(f->list[0].mend, mend);
}

#define BY_ITSELF "Millrace repairs it by itself"
#define CREATE    "millrace index create shop.orders"
#define RESET     "millrace index reset shop.orders"

static void what_is_as_it_is_stored_is_no_finding(void **state)
{
    struct fixture *f = *state;

    check(f, "{" GOOD "}");
    assert_int_equal(f->n, 0);
    /* Also with the older version still there, and a lineage that is older than the last
     * epoch. */
    check(f, "{\"orders_v1\":{\"aliases\":{\"orders_v1_write\":{}}," MARK(
                 OURS, 1,
                 1) "},"
                    "\"orders_v2\":{\"aliases\":{\"orders\":{},\"orders_v2_write\":{}}," MARK(
                        OURS, 2, 2) "}}");
    assert_int_equal(f->n, 0);
}

static void an_index_that_is_gone_is_found(void **state)
{
    assert_found(*state, "{}", MEND_NONE, "no such index as orders_v2", CREATE);
}

static void an_alias_that_is_gone_can_be_put_back(void **state)
{
    assert_found(*state,
                 "{\"orders_v2\":{\"aliases\":{\"orders_v2_write\":{}}," MARK(OURS, 3, 2) "}}",
                 MEND_ALIAS, "its alias is gone", BY_ITSELF);
    assert_found(*state, "{\"orders_v2\":{\"aliases\":{\"orders\":{}}," MARK(OURS, 3, 2) "}}",
                 MEND_WRITE_ALIAS, "orders_v2_write is gone", BY_ITSELF);
}

/* No alias is led to an index that is not known to be ours. */
static void no_alias_is_put_back_to_an_index_that_is_not_ours(void **state)
{
    assert_found(*state, "{\"orders_v2\":{\"aliases\":{}," MARK(THEIRS, 3, 2) "}}", MEND_NONE,
                 "two daemons write to it", CREATE " --take-index");
    assert_found(*state, "{\"orders_v2\":{\"aliases\":{}}}", MEND_NONE, "no Millrace mark",
                 CREATE);
    assert_found(*state, "{\"orders_v2\":{\"aliases\":{}," MARK(OURS, 3, 4) "}}", MEND_NONE,
                 "marked as version 4", CREATE);
    assert_found(*state, "{\"orders_v2\":{\"aliases\":{}," MARK(OURS, 4, 2) "}}", MEND_NONE,
                 "epoch 4 of topic shop, but this store knows only 3", CREATE);
}

#define MADE_ANEW "{" GOOD ",\"orders_v3\":{\"aliases\":{\"orders_v3_write\":{}}}}"

/* Another one is refused while it is there. */
static void a_version_that_is_coming_is_dropped_before_it_is_built_again(void **state)
{
    struct fixture *f = *state;

    f->versions[2] = version(STR("orders"), 3, STR("changing"));
    f->stored.n_versions = 3;
    assert_found(f, "{" GOOD "}", MEND_NONE, "no such index as orders_v3",
                 RESET ", then " CREATE);
    f->versions[2].state = STR("waiting");
    assert_found(f, MADE_ANEW, MEND_NONE, "no Millrace mark", RESET ", then " CREATE);
}

static void an_owner_is_marked_where_none_was(void **state)
{
    assert_found(*state,
                 "{\"orders_v2\":{\"aliases\":{\"orders\":{},\"orders_v2_write\":{}}," MARK(
                     "", 3, 2) "}}",
                 MEND_OWNER, "which store", BY_ITSELF);
}

#define SEARCHED(name, mark)                                      \
    "{\"orders_v2\":{\"aliases\":{\"orders_v2_write\":{}}," MARK( \
        OURS, 3, 2) "},"                                          \
                    "\"" name "\":{\"aliases\":{\"orders\":{}}" mark "}}"

static void searches_that_use_another_index_are_found_with_whose_it_is(void **state)
{
    assert_found(*state, SEARCHED("orders_v3", "," MARK(OURS, 3, 3)), MEND_NONE,
                 "made by this store, which has no record of it", CREATE);
    assert_found(*state, SEARCHED("orders_v3", "," MARK(THEIRS, 3, 3)), MEND_NONE,
                 "belongs to another store of Millrace (they, topic shop)",
                 CREATE " --take-index");
    assert_found(*state, SEARCHED("orders_v3", "," MARK("", 3, 3)), MEND_NONE,
                 "a Millrace that this store does not know (topic shop)",
                 CREATE " --take-index");
    assert_found(*state, SEARCHED("else", ""), MEND_NONE, "else was not made by Millrace",
                 CREATE " --take-alias");
    assert_found(*state, SEARCHED("orders_v1", "," MARK(OURS, 3, 1)), MEND_NONE,
                 "an older version", CREATE);
}

static void searches_that_use_a_kept_version_can_return_to_it(void **state)
{
    struct fixture *f = *state;

    f->versions[0].state = STR("kept");
    assert_found(f, SEARCHED("orders_v1", "," MARK(OURS, 3, 1)), MEND_NONE,
                 "use version 1, which is kept", "millrace index rollback shop.orders --to 1");
    assert_found(f,
                 "{" GOOD ",\"orders_v1\":{\"aliases\":{\"orders\":{}}," MARK(OURS, 3, 1) "}}",
                 MEND_STRAY, "use orders_v1 beside orders_v2", BY_ITSELF);
    f->versions[0].state = STR("returning");
    check(f, SEARCHED("orders_v1", "," MARK(OURS, 3, 1)));
    for (size_t i = 0; i < f->n; i++)
        assert_string_not_equal(f->list[i].index.ptr, "orders_v2");
}

static void an_older_version_beside_ours_can_be_taken_away(void **state)
{
    struct fixture *f = *state;

    assert_found(f,
                 "{" GOOD ",\"orders_v1\":{\"aliases\":{\"orders\":{}}," MARK(OURS, 3, 1) "}}",
                 MEND_STRAY, "use orders_v1 beside orders_v2", BY_ITSELF);
    assert_string_equal(f->list[0].stray.ptr, "orders_v1");
    assert_found(f, "{" GOOD ",\"else\":{\"aliases\":{\"orders\":{}}}}", MEND_NONE,
                 "use else beside orders_v2", CREATE " --take-alias");
}

static void an_index_of_the_aliass_name_is_found(void **state)
{
    assert_found(*state,
                 "{\"orders\":{\"aliases\":{}},"
                 "\"orders_v2\":{\"aliases\":{\"orders_v2_write\":{}}," MARK(OURS, 3, 2) "}}",
                 MEND_NONE, "orders is an index that somebody has created",
                 "delete or rename the index orders; Millrace then restores the alias");
}

static void a_write_alias_that_leads_elsewhere_is_found(void **state)
{
    assert_found(*state,
                 "{\"orders_v2\":{\"aliases\":{\"orders\":{}}," MARK(
                     OURS, 3, 2) "},"
                                 "\"else\":{\"aliases\":{\"orders_v2_write\":{}}}}",
                 MEND_NONE, "orders_v2_write points to else, not to orders_v2", CREATE);
}

static void a_build_that_has_moved_the_alias_and_not_said_so_is_no_finding(void **state)
{
    struct fixture *f = *state;

    f->versions[2] = version(STR("orders"), 3, STR("changing"));
    f->stored.n_versions = 3;
    check(f, "{\"orders_v2\":{\"aliases\":{\"orders_v2_write\":{}}," MARK(
                 OURS, 3,
                 2) "},"
                    "\"orders_v3\":{\"aliases\":{\"orders\":{},\"orders_v3_write\":{}}," MARK(
                        OURS, 3, 3) "}}");
    assert_int_equal(f->n, 0);
    /* One that has not begun has no index yet. */
    f->versions[2].start = 0;
    check(f, "{" GOOD "}");
    assert_int_equal(f->n, 0);
}

static void what_a_build_would_be_refused_for_is_told_before_it(void **state)
{
    struct fixture *f = *state;

    f->stored.n_versions = 0;
    check(f, "{}");
    assert_int_equal(f->n, 0);
    assert_found(f, "{\"orders_v7\":{\"aliases\":{}," MARK(THEIRS, 1, 7) "}}", MEND_NONE,
                 "orders_v7 belongs to another store",
                 "another `index:`; or, if that store is lost, " CREATE " --take-index");
    assert_found(f, "{\"else\":{\"aliases\":{\"orders\":{}}}}", MEND_NONE,
                 "else was not made by Millrace",
                 "another `index:`; or, if searches are to use this table, " CREATE
                 " --take-alias");
}

/* ---- whether an alias may be taken ---- */

static enum whose claim(struct fixture *f, const char *answer, bool index, bool alias)
{
    const struct engine_facts facts = read(f, answer);
    const struct claim c =
        whose_claim(&f->stored, &facts, STR("orders"), &(struct take){index, alias});

    return c.index == NULL ? WHOSE_LIVE : c.whose;
}

static void an_alias_is_taken_only_from_what_may_be_taken(void **state)
{
    static const char other[] =
        "{\"orders_v9\":{\"aliases\":{\"orders\":{}}," MARK(THEIRS, 1, 9) "}}";
    static const char foreign[] = "{\"else\":{\"aliases\":{\"orders\":{}}}}";
    static const char named[] = "{\"orders\":{\"aliases\":{}}}";
    struct fixture *f = *state;

    assert_int_equal(claim(f, other, false, true), WHOSE_OTHER);
    assert_int_equal(claim(f, other, true, false), WHOSE_LIVE);
    assert_int_equal(claim(f, foreign, true, false), WHOSE_FOREIGN);
    assert_int_equal(claim(f, foreign, false, true), WHOSE_LIVE);
    assert_int_equal(claim(f, named, true, true), N_WHOSE);
    /* Of this store, as it forgot it, and of an older copy: nobody else can want it. */
    assert_int_equal(claim(f, SEARCHED("orders_v9", "," MARK(OURS, 1, 9)), false, false),
                     WHOSE_LIVE);
}

/* Else whoever has taken an index would be refused the next build of it. */
static void what_another_store_left_behind_counts_only_until_the_alias_is_ours(void **state)
{
    static const char behind[] =
        "{" GOOD ",\"orders_v1\":{\"aliases\":{}," MARK(THEIRS, 1, 1) "}}";
    static const char built[] = "{\"orders_v1\":{\"aliases\":{}," MARK(THEIRS, 1, 1) "}}";
    static const char vintage[] =
        "{\"orders_vintage\":{\"aliases\":{}," MARK(THEIRS, 1, 1) "}}";
    struct fixture *f = *state;

    assert_int_equal(claim(f, behind, false, false), WHOSE_LIVE);
    assert_int_equal(claim(f, built, false, false), WHOSE_OTHER);
    assert_int_equal(claim(f, vintage, false, false), WHOSE_LIVE);
}

/* ---- reading what the engine says ---- */

static void answers_are_put_together_each_index_once(void **state)
{
    struct fixture *f = *state;
    const struct str texts[] = {
        STR("{\"b\":{\"aliases\":{\"x\":{},\"y\":{}}},\"a\":{}}"),
        STR("{\"b\":{\"aliases\":{\"x\":{},\"y\":{}}},\"c\":{\"aliases\":{\"x\":{}}}}")};
    struct engine_facts facts;
    struct err err = {0};
    size_t n;

    assert_true(engine_facts_read(&facts, f->arena, texts, 2, &err));
    assert_int_equal(facts.n_indexes, 3);
    assert_non_null(engine_facts_find(&facts, STR("c")));
    assert_null(engine_facts_find(&facts, STR("d")));
    (void)engine_facts_holders(&facts, STR("x"), &n);
    assert_int_equal(n, 2);
    (void)engine_facts_holders(&facts, STR("y"), &n);
    assert_int_equal(n, 1);
    (void)engine_facts_holders(&facts, STR("z"), &n);
    assert_int_equal(n, 0);
}

static void an_answer_that_is_cut_off_is_no_empty_engine(void **state)
{
    struct fixture *f = *state;
    const struct str text = STR("{\"orders_v2\":{\"aliases\":{");
    struct engine_facts facts;
    struct err err = {0};

    assert_false(engine_facts_read(&facts, f->arena, &text, 1, &err));
    assert_int_equal(err.kind, ERR_RETRY);
}

static void a_number_of_a_version_is_all_of_it(void **state)
{
    (void)state;
    assert_int_equal(whose_version(STR("orders"), STR("orders_v12")), 12);
    assert_int_equal(whose_version(STR("orders"), STR("orders_v12a")), 0);
    assert_int_equal(whose_version(STR("orders"), STR("orders_v012")), 0);
    assert_int_equal(whose_version(STR("orders"), STR("orders_v")), 0);
    assert_int_equal(whose_version(STR("orders"), STR("orders_v99999999999999999999999")), 0);
    assert_int_equal(whose_version(STR("orders"), STR("others_v1")), 0);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_as_it_is_stored_is_no_finding),
        TEST(an_index_that_is_gone_is_found),
        TEST(an_alias_that_is_gone_can_be_put_back),
        TEST(no_alias_is_put_back_to_an_index_that_is_not_ours),
        TEST(a_version_that_is_coming_is_dropped_before_it_is_built_again),
        TEST(an_owner_is_marked_where_none_was),
        TEST(searches_that_use_another_index_are_found_with_whose_it_is),
        TEST(searches_that_use_a_kept_version_can_return_to_it),
        TEST(an_older_version_beside_ours_can_be_taken_away),
        TEST(an_index_of_the_aliass_name_is_found),
        TEST(a_write_alias_that_leads_elsewhere_is_found),
        TEST(a_build_that_has_moved_the_alias_and_not_said_so_is_no_finding),
        TEST(what_a_build_would_be_refused_for_is_told_before_it),
        TEST(an_alias_is_taken_only_from_what_may_be_taken),
        TEST(what_another_store_left_behind_counts_only_until_the_alias_is_ours),
        TEST(answers_are_put_together_each_index_once),
        TEST(an_answer_that_is_cut_off_is_no_empty_engine),
        TEST(a_number_of_a_version_is_all_of_it),
    };
    return cmocka_run_group_tests_name("engine_check", tests, NULL, NULL);
}

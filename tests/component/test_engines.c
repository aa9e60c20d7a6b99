/*
 * An index's whole life at each engine, played by its voice (tests/fakes/fake_voice.h): met,
 * given an index for every type of column, filled, followed, refused a document, blocked, given
 * another version, deleted.
 */
#include "config.h"

#include "tests/unit/fake_catalog.h"

#include "src/net/sigv4.h"
#include "src/search/pages.h"
#include "sync/definition/parse.h"
#include "sync/mapping/mapping.h"
#include "tests/component/delivery_rig.h"
#include "tests/fakes/fake_signature.h"
#include "tests/fakes/fake_voice.h"

#define DEFINITION                                     \
    "topics: [{name: t, address: 'db:3306'}]\n"        \
    "databases: [{name: d, topic: t, schema: shop}]\n" \
    "tables: [{table: d.orders}]\n"
#define ALIAS STR("orders")
#define V2    STR("orders_v2")
#define V3    STR("orders_v3")

static void succeeds(bool ok, const struct err *err)
{
    if (!ok)
        fail_msg("%s", err->msg);
}

/* The engine's answers are the voice's from now on, and the rig's index is not there. */
static void start(struct rig *r, const struct fake_voice *voice,
                  const struct search_options *access)
{
    fake_search_speak(r->fake, voice);
    fake_search_delete(r->fake, "orders_v2");
    rig_start_as(r, NULL, access);
}

static void is_met(struct rig *r, enum search_flavor flavor, unsigned version)
{
    struct err err = {0};
    struct buf health = {0};

    succeeds(search_detect(r->search, &err), &err);
    assert_int_equal(search_engine(r->search).flavor, flavor);
    assert_int_equal(search_engine(r->search).version, version);
    succeeds(search_health(r->search, &health, &err), &err);
    assert_non_null(strstr(health.ptr, "\"disk_used_percent\":40"));
    buf_free(&health);
}

/* The body that Millrace makes of a table with a column of every kind that engines name in
 * different ways. */
static void make_body(struct rig *r, struct buf *body)
{
    struct fake_catalog catalog = {.arena = arena_new()};
    struct problems *problems = problems_new();
    const struct definition_file file = {STR("f"), STR(DEFINITION), STR(""), NULL};
    struct definitions *d = definition_apply(NULL, &file, 1, false, problems);
    struct err err = {0};

    assert_non_null(d);
    fake_table(&catalog, "orders",
               "id int NOT NULL; big bigint(20) unsigned; j json; v vector(3); price "
               "decimal(10,2); at datetime; ip inet6; place point; text text; b bit(64)",
               "PRIMARY=id");
    succeeds(mapping_index_body(&(struct mapping_request){.definitions = d,
                                                          .table = &d->tables[0],
                                                          .find = fake_find_schema,
                                                          .ctx = &catalog,
                                                          .engine = search_engine(r->search),
                                                          .meta = STR("{\"epoch\":3}"),
                                                          .alias = STR("orders_v2_write")},
                                body, &err),
             &err);
    definitions_unref(d);
    problems_free(problems);
    fake_catalog_fini(&catalog);
}

static void is_given_an_index(struct rig *r)
{
    struct buf body = {0}, mapping = {0};
    bool exists, is_alias;
    struct err err = {0};

    make_body(r, &body);
    succeeds(search_create_index(r->search, V2, buf_str(&body), &err), &err);
    succeeds(search_index_exists(r->search, STR("orders_v2_write"), &exists, &is_alias, &err),
             &err);
    assert_true(exists && is_alias);
    succeeds(search_get_mapping(r->search, V2, &mapping, &err), &err);
    assert_non_null(strstr(mapping.ptr, "\"epoch\":3"));
    succeeds(search_put_mapping(r->search, V2,
                                STR("{\"properties\":{\"new\":{\"type\":\"keyword\"}}}"), &err),
             &err);
    succeeds(search_try_script(r->search, STR("orders_v2_write"), &err), &err);
    buf_free(&body);
    buf_free(&mapping);
}

/* Before it is given one; nothing comes of it. */
static void is_asked_about_an_index(struct rig *r, const struct fake_voice *voice)
{
    struct buf body = {0};
    bool exists, is_alias;
    struct err err = {0};

    make_body(r, &body);
    succeeds(search_try_index(r->search, buf_str(&body), 2000, &err), &err);
    buf_clear(&body);
    buf_printf(&body, "{\"mappings\":{\"properties\":{\"odd\":{\"type\":\"%s\"}}}}",
               voice->lacks[0]);
    assert_false(search_try_index(r->search, buf_str(&body), 2000, &err));
    assert_int_equal(err.code, 400);
    assert_non_null(strstr(err.msg, voice->lacks[0]));
    assert_non_null(strstr(err.msg, "on field [odd]"));
    succeeds(search_index_exists(r->search, V2, &exists, &is_alias, &err), &err);
    assert_false(exists);
    buf_free(&body);
}

static void is_filled(struct rig *r)
{
    struct err err = {0};
    uint64_t n = 0;

    for (int id = 1; id <= 200; id++)
        rig_fill(r, id, 5, "of the build");
    rig_wait_done(r);
    succeeds(search_put_settings(r->search, V2, STR("{\"index.refresh_interval\":null}"), &err),
             &err);
    succeeds(search_refresh(r->search, V2, &err), &err);
    succeeds(search_count(r->search, V2, &n, &err), &err);
    assert_int_equal(n, 200);
    succeeds(search_move_alias(r->search, ALIAS, V2, &err), &err);
}

static void is_followed(struct rig *r)
{
    rig_index(r, 1, 10, "newer");
    rig_wait_done(r);
    rig_fill(r, 1, 5, "late");
    rig_index(r, 1, 7, "older");
    rig_delete(r, 2, 11);
    rig_set_row(r, 3, "read again");
    rig_refresh(r, 3, 12);
    rig_wait_done(r);
    rig_check(r, 1, 10, "newer");
    rig_check_gone(r, 2);
    rig_check(r, 3, 12, "read again");
}

static struct fake_rule saying(const struct fake_words *words)
{
    return (struct fake_rule){.status = words->status,
                              .type = words->type,
                              .reason = words->reason,
                              .cause_type = words->cause_type,
                              .cause_reason = words->cause_reason};
}

static void has_a_document_refused(struct rig *r, const struct fake_voice *voice)
{
    struct fake_rule rule = saying(&voice->bad_document);

    rule.id = "7";
    fake_search_add_rule(r->fake, &rule);
    rig_index(r, 7, 20, "x");
    rig_index(r, 8, 20, "good");
    rig_wait_done(r);
    assert_int_equal(rig_done(r, OUTCOME_DEAD), 1);
    assert_string_equal(r->dead.last_id, "7");
    assert_non_null(strstr(r->dead.last_reason, voice->bad_document.type));
    rig_check(r, 8, 20, "good");
    fake_search_clear_rules(r->fake);
}

/* The index is held, nothing is lost or refused, and it goes on by itself. */
static void is_held_while(struct rig *r, const struct fake_words *words, uint64_t version)
{
    const struct fake_rule rule = saying(words);

    fake_search_add_rule(r->fake, &rule);
    rig_index(r, 9, version, "waits");
    rig_wait_held(r, true);
    assert_non_null(strstr(r->reports.last_why, words->type));
    fake_search_clear_rules(r->fake);
    rig_wait_held(r, false);
    rig_wait_done(r);
    rig_check(r, 9, version, "waits");
}

static void is_waited_for_while_busy(struct rig *r, const struct fake_words *words)
{
    struct fake_rule rule = saying(words);

    rule.times = 3;
    fake_search_add_rule(r->fake, &rule);
    rig_index_many(r, 50, 20, 30, "again");
    rig_wait_done(r);
    rig_check(r, 69, 49, "again");
    assert_false(rig_is_held(r));
    fake_search_clear_rules(r->fake);
}

static void is_searched(struct rig *r)
{
    struct search_pages pages = {0};
    struct arena *a = arena_new();
    struct search_hit *hits;
    struct err err = {0};
    size_t n;

    succeeds(search_pages_open(&pages, r->search, V2, STR("{\"match_all\":{}}"), 10,
                               SEARCH_WHOLE, a, &hits, &n, &err),
             &err);
    search_pages_close(&pages);
    arena_free(a);
}

static void is_replaced_and_deleted(struct rig *r)
{
    struct err err = {0};
    bool exists, is_alias;

    succeeds(search_create_index(r->search, V3, STR("{\"mappings\":{\"dynamic\":\"strict\"}}"),
                                 &err),
             &err);
    succeeds(search_move_alias(r->search, ALIAS, V3, &err), &err);
    succeeds(search_delete_index(r->search, V2, &err), &err);
    succeeds(search_index_exists(r->search, ALIAS, &exists, &is_alias, &err), &err);
    assert_true(exists && is_alias);
    rig_index(r, 1, 40, "too late");
    rig_wait_held(r, true);
    succeeds(search_index_exists(r->search, V2, &exists, &is_alias, &err), &err);
    assert_false(exists);
    assert_int_equal(rig_done(r, OUTCOME_DEAD), 1);
}

static void lives_at(struct rig *r, const struct fake_voice *voice,
                     const struct search_options *access, enum search_flavor flavor,
                     unsigned version)
{
    start(r, voice, access);
    is_met(r, flavor, version);
    is_asked_about_an_index(r, voice);
    is_given_an_index(r);
    is_filled(r);
    is_followed(r);
    has_a_document_refused(r, voice);
    is_held_while(r, &voice->flood, 21);
    is_held_while(r, &voice->closed, 22);
    is_held_while(r, &voice->too_many_fields, 23);
    is_waited_for_while_busy(r, &voice->busy);
    is_searched(r);
    is_replaced_and_deleted(r);
    assert_int_equal(fake_search_refused(r->fake), 0);
}

static const struct search_options nobody;

static void an_index_lives_at_elasticsearch_7(void **state)
{
    lives_at(*state, &fake_elasticsearch_7, &nobody, SEARCH_ELASTICSEARCH, 71729);
}

static void an_index_lives_at_elasticsearch_8(void **state)
{
    lives_at(*state, &fake_elasticsearch_8, &nobody, SEARCH_ELASTICSEARCH, 81903);
}

static void an_index_lives_at_elasticsearch_9(void **state)
{
    lives_at(*state, &fake_elasticsearch_9, &nobody, SEARCH_ELASTICSEARCH, 90102);
}

static void an_index_lives_at_opensearch_1(void **state)
{
    lives_at(*state, &fake_opensearch_1, &nobody, SEARCH_OPENSEARCH, 10320);
}

static void an_index_lives_at_an_opensearch_1_that_says_7_10_2(void **state)
{
    lives_at(*state, &fake_opensearch_1_disguised, &nobody, SEARCH_OPENSEARCH, 10000);
}

static void an_index_lives_at_opensearch_2(void **state)
{
    lives_at(*state, &fake_opensearch_2, &nobody, SEARCH_OPENSEARCH, 21905);
}

static void an_index_lives_at_opensearch_3(void **state)
{
    lives_at(*state, &fake_opensearch_3, &nobody, SEARCH_OPENSEARCH, 30100);
}

static void an_index_lives_at_an_opensearch_of_aws(void **state)
{
    static const struct fake_key known = {"AKIDEXAMPLE", "the secret", NULL, "eu-central-1",
                                          "es"};
    const struct sigv4_key key = {.id = known.id,
                                  .secret = known.secret,
                                  .region = known.region,
                                  .service = known.service};
    struct rig *r = *state;

    fake_search_want_signatures(r->fake, &known, 0);
    lives_at(r, &fake_opensearch_2, &(struct search_options){.aws = &key}, SEARCH_OPENSEARCH,
             21905);
}

/* During an upgrade: met at a node of 9, then sent to one that is still 8. */
static void a_node_of_an_older_version_is_waited_for(void **state)
{
    struct rig *r = *state;
    struct err err = {0};

    start(r, &fake_elasticsearch_9, &nobody);
    is_met(r, SEARCH_ELASTICSEARCH, 90102);
    is_given_an_index(r);
    fake_search_speak(r->fake, &fake_elasticsearch_8);
    assert_false(search_refresh(r->search, V2, &err));
    assert_int_equal(err.kind, ERR_RETRY);
    assert_non_null(strstr(err.msg, "upgrade all nodes"));
    rig_index(r, 1, 10, "waits");
    rig_wait_held(r, true);
    assert_non_null(strstr(r->reports.last_why, "media_type_header_exception"));
    fake_search_speak(r->fake, &fake_elasticsearch_9);
    rig_wait_done(r);
    rig_check(r, 1, 10, "waits");
    assert_int_equal(rig_done(r, OUTCOME_DELIVERED), 1);
}

/* And the other way round nothing is noticed: 9 answers as 8 does. */
static void an_upgrade_is_not_noticed(void **state)
{
    struct rig *r = *state;

    start(r, &fake_elasticsearch_8, &nobody);
    is_met(r, SEARCH_ELASTICSEARCH, 81903);
    is_given_an_index(r);
    fake_search_speak(r->fake, &fake_elasticsearch_9);
    is_filled(r);
    is_followed(r);
    assert_int_equal(fake_search_refused(r->fake), 0);
}

/* What stands before an engine refuses large bodies in its own way. */
static void a_body_too_large_for_a_proxy_is_split(void **state)
{
    struct rig *r = *state;

    fake_search_add_rule(r->fake, &(struct fake_rule){.act = FAKE_STATUS,
                                                      .status = 413,
                                                      .body_max = 3000,
                                                      .page = "<html><title>413 Request Entity "
                                                              "Too Large</title></html>"});
    rig_start(r, NULL);
    rig_index_many(r, 1, 100, 10, "a hundred of these are too large for it");
    rig_wait_done(r);
    assert_int_equal(fake_search_count(r->fake, "orders_v2"), 100);
    assert_int_equal(rig_done(r, OUTCOME_DEAD), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(an_index_lives_at_elasticsearch_7),
        RIG_TEST(an_index_lives_at_elasticsearch_8),
        RIG_TEST(an_index_lives_at_elasticsearch_9),
        RIG_TEST(an_index_lives_at_opensearch_1),
        RIG_TEST(an_index_lives_at_an_opensearch_1_that_says_7_10_2),
        RIG_TEST(an_index_lives_at_opensearch_2),
        RIG_TEST(an_index_lives_at_opensearch_3),
        RIG_TEST(an_index_lives_at_an_opensearch_of_aws),
        RIG_TEST(a_node_of_an_older_version_is_waited_for),
        RIG_TEST(an_upgrade_is_not_noticed),
        RIG_TEST(a_body_too_large_for_a_proxy_is_split),
    };

    return cmocka_run_group_tests_name("engines", tests, NULL, NULL);
}

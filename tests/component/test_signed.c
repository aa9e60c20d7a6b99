/*
 * Requests to an engine that checks the signature of each of them, by an implementation of its
 * own.
 */
#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/net/sigv4.h"
#include "src/search/pages.h"
#include "src/search/search.h"
#include "tests/component/delivery_rig.h"
#include "tests/fakes/fake_signature.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MINUTES 60000

static const struct fake_key known = {.id = "AKIDEXAMPLE",
                                      .secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
                                      .token = "FwoGZXIvYXdzEXAMPLE//token==",
                                      .region = "eu-central-1",
                                      .service = "es"};

static struct sigv4_key ours(void)
{
    return (struct sigv4_key){.id = known.id,
                              .secret = known.secret,
                              .token = known.token,
                              .region = known.region,
                              .service = known.service};
}

static void start(struct rig *r, const struct sigv4_key *key, bool compress)
{
    const struct delivery_options opt = {.compress = compress};

    fake_search_want_signatures(r->fake, &known, 0);
    rig_start_as(r, &opt, &(struct search_options){.aws = key});
}

static void succeeds(bool ok, const struct err *err)
{
    if (!ok)
        fail_msg("%s", err->msg);
}

static void every_call_of_the_administration_is_signed(void **state)
{
    struct rig *r = *state;
    const struct sigv4_key key = ours();
    const struct str index = STR("orders_v3"), alias = STR("b\xc3\xa4nke");
    struct err err = {0};
    struct buf out = {0};
    bool exists, is_alias;
    uint64_t count;

    start(r, &key, false);
    succeeds(search_detect(r->search, &err), &err);
    succeeds(search_create_index(r->search, index, STR("{\"mappings\":{}}"), &err), &err);
    succeeds(search_index_exists(r->search, index, &exists, &is_alias, &err), &err);
    succeeds(search_move_alias(r->search, alias, index, &err), &err);
    succeeds(search_move_alias(r->search, alias, STR("orders_v2"), &err), &err);
    succeeds(search_put_settings(r->search, index, STR("{}"), &err), &err);
    succeeds(search_put_mapping(r->search, index, STR("{}"), &err), &err);
    succeeds(search_get_mapping(r->search, index, &out, &err), &err);
    succeeds(search_try_script(r->search, alias, &err), &err);
    succeeds(search_refresh(r->search, index, &err), &err);
    succeeds(search_count(r->search, index, &count, &err), &err);
    succeeds(search_health(r->search, &out, &err), &err);
    succeeds(search_delete_index(r->search, index, &err), &err);
    assert_int_equal(fake_search_refused(r->fake), 0);
    buf_free(&out);
}

static void a_scroll_is_signed(void **state)
{
    struct rig *r = *state;
    const struct sigv4_key key = ours();
    struct search_pages pages = {0};
    struct arena *a = arena_new();
    struct search_hit *hits;
    struct err err = {0};
    size_t n;

    start(r, &key, false);
    assert_true(search_pages_open(&pages, r->search, STR("orders_v2"),
                                  STR("{\"match_all\":{}}"), 10, SEARCH_WHOLE, a, &hits, &n,
                                  &err));
    assert_true(search_pages_next(&pages, a, &hits, &n, &err));
    search_pages_close(&pages);
    assert_int_equal(fake_search_refused(r->fake), 0);
    arena_free(a);
}

/* The body is signed as it is sent, packed or not. */
static void check_bulk(struct rig *r, bool compress)
{
    const struct sigv4_key key = ours();

    start(r, &key, compress);
    rig_index_many(r, 1, 500, 10, "h\xc3\xb6lzern & lang, sehr lang, und immer dasselbe");
    rig_wait_done(r);
    rig_delete(r, 1, 20000);
    rig_fill(r, 501, 3, "of a build");
    rig_wait_done(r);
    rig_check_gone(r, 1);
    rig_check(r, 500, 509, NULL);
    assert_int_equal(fake_search_refused(r->fake), 0);
    assert_int_equal(fake_search_count(r->fake, "orders_v2"), 500);
}

static void bulk_requests_are_signed(void **state)
{
    check_bulk(*state, false);
}

static void bulk_requests_that_are_compressed_are_signed(void **state)
{
    check_bulk(*state, true);
}

/* A conflict that does not tell the stored version is followed by a look-up of it. */
static void a_document_of_any_id_and_routing_is_looked_up_with_a_signature(void **state)
{
    struct rig *r = *state;
    const struct sigv4_key key = ours();
    const char *id = "a/b c+d\xc3\xa4%25?x=1&y~";

    fake_search_put(r->fake, "orders_v2", id, 9, "{\"text\":\"newer\"}");
    fake_search_add_rule(r->fake,
                         &(struct fake_rule){.times = 1,
                                             .status = 409,
                                             .id = id,
                                             .type = "version_conflict_engine_exception",
                                             .reason = "it is so"});
    start(r, &key, false);
    rig_submit(r, &(struct doc_write){.target = target_ref(r->target),
                                      .ticket = ticket_new(NULL, 0, &r->tickets),
                                      .op = DOC_INDEX,
                                      .version = 5,
                                      .id = str_from(id),
                                      .key = str_from(id),
                                      .routing = STR("k\xc3\xb6ln, am rhein"),
                                      .body = STR("{\"text\":\"older\"}")});
    rig_wait_done(r);
    assert_int_equal(fake_search_refused(r->fake), 0);
    assert_int_equal(rig_done(r, OUTCOME_SUPERSEDED), 1);
}

static void a_wrong_secret_holds_the_index_and_is_not_told(void **state)
{
    struct rig *r = *state;
    struct sigv4_key key = ours();

    key.secret = "wrong-and-secret";
    start(r, &key, false);
    rig_index(r, 1, 10, "a");
    rig_wait_held(r, true);
    assert_non_null(strstr(r->reports.last_why, "signature we calculated does not match"));
    assert_non_null(strstr(r->reports.last_why, "search.aws_secret_file"));
    assert_null(strstr(r->reports.last_why, key.secret));
}

static void write_key(const char *path, const char *token)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fprintf(file, "[default]\naws_access_key_id = %s\naws_secret_access_key = %s\n", known.id,
            known.secret);
    fprintf(file, "aws_session_token = %s\n", token);
    assert_int_equal(fclose(file), 0);
}

static void a_key_that_is_renewed_in_its_file_lets_the_index_go_on(void **state)
{
    char path[] = "/tmp/test_signed_XXXXXX";
    struct rig *r = *state;
    const struct sigv4_key place = {
        .id = "", .secret = "", .region = known.region, .service = known.service};
    const int fd = mkstemp(path);

    assert_true(fd >= 0 && close(fd) == 0);
    write_key(path, "of a session that has ended");
    fake_search_want_signatures(r->fake, &known, 0);
    rig_start_as(r, NULL, &(struct search_options){.aws = &place, .aws_file = path});
    rig_index(r, 1, 10, "a");
    rig_wait_held(r, true);
    write_key(path, known.token);
    rig_wait_held(r, false);
    rig_wait_done(r);
    rig_check(r, 1, 10, "a");
    unlink(path);
}

static void check_clock(struct rig *r, int64_t ahead_ms, const char *says)
{
    const struct sigv4_key key = ours();
    struct err err = {0};

    start(r, &key, false);
    fake_search_want_signatures(r->fake, &known, ahead_ms);
    assert_false(search_refresh(r->search, STR("orders_v2"), &err));
    assert_non_null(strstr(err.msg, says));
    assert_non_null(strstr(err.msg, "this machine's clock"));
    assert_int_equal(err.kind, ERR_RETRY);
    rig_index(r, 1, 10, "a");
    rig_wait_held(r, true);
    assert_non_null(strstr(r->reports.last_why, "this machine's clock"));
    fake_search_want_signatures(r->fake, &known, 0);
    rig_wait_held(r, false);
    rig_wait_done(r);
    rig_check(r, 1, 10, "a");
}

static void a_clock_that_is_late_is_named_and_waited_for(void **state)
{
    check_clock(*state, 10 * MINUTES, "Signature expired");
}

static void a_clock_that_is_early_is_named_and_waited_for(void **state)
{
    check_clock(*state, -10 * MINUTES, "Signature not yet current");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(every_call_of_the_administration_is_signed),
        RIG_TEST(a_scroll_is_signed),
        RIG_TEST(bulk_requests_are_signed),
        RIG_TEST(bulk_requests_that_are_compressed_are_signed),
        RIG_TEST(a_document_of_any_id_and_routing_is_looked_up_with_a_signature),
        RIG_TEST(a_wrong_secret_holds_the_index_and_is_not_told),
        RIG_TEST(a_key_that_is_renewed_in_its_file_lets_the_index_go_on),
        RIG_TEST(a_clock_that_is_late_is_named_and_waited_for),
        RIG_TEST(a_clock_that_is_early_is_named_and_waited_for),
    };

    return cmocka_run_group_tests_name("signed", tests, NULL, NULL);
}

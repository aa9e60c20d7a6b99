/*
 * The script that updates areas, at the search engine at SEARCH_TEST_URL: it does what the fake
 * engine does in all other tests (tests/fakes/fake_area.h).
 *
 * Both get the same writes, of all kinds in any order, and have the same document after each.
 */
#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/buf.h"
#include "src/base/random.h"
#include "src/format/json.h"
#include "src/search/search.h"
#include "sync/delivery/bulk/bulk.h"
#include "sync/delivery/document/target.h"
#include "sync/delivery/document/write.h"
#include "tests/fakes/fake_search.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INDEX "millrace_areas_v1"
#define ALIAS "millrace_areas_v1_write"
#define STEPS 1500
#define SPAN  60 /* versions, so that most meet others */
#define BASE  1000000

static const struct str areas[] = {{"part", 4}, {"side", 4}};

struct engines {
    struct fake_search *fake;
    struct search *both[2]; /* the fake one, and the other */
    struct target *target;
};

static struct search *open_at(const char *url)
{
    return search_new(&(struct search_options){.urls = &url, .n_urls = 1, .verify = true});
}

static int set_up(void **state)
{
    static struct engines e;
    const char *url = getenv("SEARCH_TEST_URL");
    struct err err = {0};

    if (url == NULL)
        return -1;
    e.fake = fake_search_start(0);
    fake_search_create(e.fake, INDEX, ALIAS);
    e.both[0] = open_at(fake_search_url(e.fake));
    e.both[1] = open_at(url);
    e.target = target_new(STR(INDEX), STR(ALIAS), STR("shop.orders"), STR("shop"));
    e.target->areas = areas;
    e.target->n_areas = ARRAY_LEN(areas);
    *state = &e;
    return search_delete_index(e.both[1], STR(INDEX), &err) &&
                   search_create_index(
                       e.both[1], STR(INDEX),
                       STR("{\"settings\":{\"number_of_replicas\":0},\"aliases\":"
                           "{\"" ALIAS "\":{\"is_write_index\":true}},"
                           "\"mappings\":{\"dynamic\":false}}"),
                       &err)
               ? 0
               : -1;
}

static int tear_down(void **state)
{
    struct engines *e = *state;
    struct err err = {0};
    const bool ok = search_delete_index(e->both[1], STR(INDEX), &err);

    search_free(e->both[0]);
    search_free(e->both[1]);
    fake_search_stop(e->fake);
    target_unref(e->target);
    return ok ? 0 : -1;
}

/* What is to be seen of the document, in one line. */
static void describe(struct search *s, int id, struct buf *out)
{
    static const char *const paths[] = {
        "/_version",
        "/_source/text",
        "/_source/_millrace/version",
        "/_source/part",
        "/_source/side",
        "/_source/_millrace/areas/part",
        "/_source/_millrace/areas/side",
    };
    struct buf path = {0}, body = {0};
    struct err err = {0};
    uint64_t v;
    int status;

    buf_printf(&path, "/" ALIAS "/_doc/%d", id);
    if (!search_request(s, "GET", buf_str(&path), (struct str){0}, &status, &body, &err))
        fail_msg("%s", err.msg);
    buf_printf(out, "%d", status);
    for (size_t i = 0; i < ARRAY_LEN(paths); i++)
        if (status == 200 && json_find_u64(buf_str(&body), paths[i], &v))
            buf_printf(out, " %s=%" PRIu64, paths[i], v);
    buf_free(&path);
    buf_free(&body);
}

/* The status of the one item. */
static int send_to(struct search *s, struct str body)
{
    struct buf path = {0}, answer = {0};
    struct err err = {0};
    const char *at;
    int status;

    bulk_path(&path, STR(ALIAS));
    if (!search_request(s, "POST", buf_str(&path), body, &status, &answer, &err))
        fail_msg("%s", err.msg);
    if (status != 200)
        fail_msg("%d %s", status, answer.ptr);
    at = strstr(answer.ptr, "\"_id\"");
    at = at == NULL ? NULL : strstr(at, "\"status\":");
    assert_non_null(at);
    status = (int)strtol(at + strlen("\"status\":"), NULL, 10);
    buf_free(&path);
    buf_free(&answer);
    return status;
}

struct step {
    enum doc_op op;
    uint8_t area;
    bool strict, is_foreign;
    int id;
    uint64_t version, floor;
};

static struct step choose(struct random *random, int n)
{
    /* Versions come later and later, and now and then from behind. */
    const uint64_t version = BASE + (uint64_t)n + random_below(random, SPAN);
    const size_t kind = random_below(random, 24);
    struct step s = {.op = kind == 0   ? DOC_INDEX
                           : kind == 1 ? DOC_DELETE
                                       : DOC_UPDATE,
                     .id = (int)random_below(random, 3),
                     .version = version};

    if (s.op == DOC_UPDATE) {
        s.area = (uint8_t)(1 + random_below(random, ARRAY_LEN(areas)));
        s.floor = random_below(random, 8) == 0 ? version - random_below(random, SPAN) : 0;
    }
    s.strict = s.op == DOC_INDEX && random_below(random, 3) == 0;
    s.is_foreign = s.op == DOC_INDEX && random_below(random, 5) == 0;
    return s;
}

static void make_body(struct buf *out, struct target *t, const struct step *s, int n)
{
    char id[8], body[32];
    struct write *w;
    struct write_ends ends = {0};

    snprintf(id, sizeof(id), "%d", s->id);
    snprintf(body, sizeof(body), s->op == DOC_INDEX ? "{\"text\":%d}" : "%d", n);
    w = write_new(&(struct doc_write){.target = target_ref(t),
                                      .op = s->op,
                                      .area = s->area,
                                      .strict = s->strict,
                                      .version = s->version,
                                      .id = str_from(id),
                                      .body = str_from(body)});
    t->n_areas = s->is_foreign ? 0 : ARRAY_LEN(areas); /* one that says nothing of areas */
    bulk_append(out, w, s->floor);
    t->n_areas = ARRAY_LEN(areas);
    if (s->op == DOC_DELETE)
        bulk_append_guard(out);
    write_abandon(w, &ends);
}

static void the_script_does_what_the_fake_engine_does(void **state)
{
    struct engines *e = *state;
    size_t n_written = 0, n_refused = 0;
    struct random random;

    random_init(&random, 5);
    for (int n = 0; n < STEPS; n++) {
        const struct step s = choose(&random, n);
        struct buf body = {0}, seen[2] = {{0}};
        int status[2];

        make_body(&body, e->target, &s, n);
        for (size_t i = 0; i < 2; i++) {
            status[i] = send_to(e->both[i], buf_str(&body));
            describe(e->both[i], s.id, &seen[i]);
        }
        n_written += s.op == DOC_UPDATE && status[1] == 200;
        n_refused += s.op == DOC_UPDATE && status[1] == 400;
        if (!str_equal(buf_str(&seen[0]), buf_str(&seen[1])) ||
            (status[0] < 300) != (status[1] < 300) ||
            (s.op == DOC_UPDATE && status[0] != status[1]))
            fail_msg("step %d: %s: the fake engine says %d: %s, the other %d: %s", n, body.ptr,
                     status[0], seen[0].ptr, status[1], seen[1].ptr);
        buf_free(&body);
        buf_free(&seen[0]);
        buf_free(&seen[1]);
    }
    assert_true(n_written > STEPS / 20);
    assert_true(n_refused > STEPS / 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_script_does_what_the_fake_engine_does, set_up,
                                        tear_down),
    };

    return cmocka_run_group_tests_name("area_script", tests, NULL, NULL);
}

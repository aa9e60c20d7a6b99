/* The documents of a part of a delayed run, page by page. */
#include "config.h"

#include "tests/component/loader_parts.h"

#include "rebalance/fill/level.h"
#include "rebalance/fill/part.h"
#include "rebalance/fill/part_load.h"
#include "src/base/arena.h"
#include "sync/definition/delayed.h"
#include "sync/delivery/document/target.h"
#include "sync/document/key.h"
#include "sync/document/loader.h"
#include "sync/document/resolver.h"
#include "sync/routing/routing.h"
#include "sync/value/schema.h"

#include <stdlib.h>
#include <string.h>

#define N_DOCUMENTS 1000
#define PAGES_MAX   2000

/* A part that is read, and which documents were. */
struct walk {
    struct plan *plan;
    struct reading reading;
    struct target target;
    struct top_relation top;
    struct fill_part part;
    struct level_keys known;
    bool forgets;            /* each page is read by another fill */
    struct loader_page page; /* the limits of each */
    struct buf after;
    size_t times[N_DOCUMENTS]; /* by the last number of its id */
    size_t n_pages;
    bool is_end;
};

static void begin(struct walk *w, const char *table, size_t rows_max, size_t bytes_max)
{
    *w = (struct walk){.plan = loader_compile(table)};
    w->reading.plan = w->plan;
    w->target.plan = &w->reading;
    w->part.mod = 1;
    w->page = (struct loader_page){.rows_max = rows_max, .bytes_max = bytes_max};
}

static void again(struct walk *w)
{
    w->is_end = false;
    buf_clear(&w->after);
}

static void end(struct walk *w)
{
    plan_free(w->plan);
    level_keys_fini(&w->known);
    part_fini(&w->part);
    buf_free(&w->after);
}

/* "20007" and "3,7" are 7. */
static size_t number_of(struct str id)
{
    char text[32];
    const char *last;

    assert_true(id.len < sizeof(text));
    memcpy(text, id.ptr, id.len);
    text[id.len] = '\0';
    last = strpbrk(text, ",|:-_");
    return strtoul(last == NULL ? text : last + 1, NULL, 10) % 10000;
}

static void read_page(struct walk *w)
{
    const struct part_reading from = {
        .part = &w->part, .top = &w->top, .target = &w->target, .known = &w->known};
    struct loader_page page = w->page;
    struct arena *a = arena_new();
    struct err err = {0};

    if (w->forgets)
        level_keys_fini(&w->known);
    page.after = buf_str(&w->after);
    if (!part_load(&conn, &from, &page, a, &err))
        fail_msg("%s", err.msg);
    assert_in_range(page.n, 0, page.rows_max);
    for (size_t i = 0; i < page.n; i++) {
        assert_null(page.docs[i].err);
        assert_non_null(page.docs[i].body.ptr);
        w->times[number_of(page.docs[i].id)]++;
    }
    buf_clear(&w->after);
    buf_append(&w->after, page.next);
    w->is_end = page.is_end;
    arena_free(a);
    assert_true(++w->n_pages < PAGES_MAX);
}

static void assert_once(const struct walk *w, size_t from, size_t n)
{
    for (size_t i = from; i < n; i++)
        if (w->times[i] != 1)
            fail_msg("document %zu was read %zu times", i, w->times[i]);
}

/* The hash leaves any number of the keys that were found, and some documents are large. */
static void a_page_of_a_part_by_hash_has_no_more_documents_than_it_may(void **state)
{
    enum { N = 100, PARTS = 3 };
    struct buf key = {0};
    struct err err = {0};
    struct walk w;

    (void)state;
    server_exec(conn, "INSERT INTO doc.customer VALUES (9, 'nine')");
    server_exec(conn,
                "INSERT INTO doc.orders SELECT id + 20000, 9 FROM doc.orders WHERE id < 100");
    server_exec(conn, "INSERT INTO doc.item SELECT id + 20000, id + 20000, REPEAT('x', 5000)"
                      " FROM doc.orders WHERE id < 50");
    begin(&w, "doc.orders", 4, 12000);

    const struct schema *s = plan_place_schema(w.plan, 1);
    const struct column *c = &s->columns[s->key[0]];

    assert_true(key_parse_id(&key, &c, 1, STR("9"), &err));
    key_append_part(&w.part.keys, buf_str(&key));
    buf_free(&key);
    w.part.place = 1;
    w.part.by = RESOLVER_BY_ROW;
    w.part.mod = PARTS;
    for (w.part.rest = 0; w.part.rest < PARTS; w.part.rest++)
        for (again(&w); !w.is_end;)
            read_page(&w);
    assert_once(&w, 0, N);
    end(&w);
    server_exec(conn, "DELETE FROM doc.item WHERE id >= 20000");
    server_exec(conn, "DELETE FROM doc.orders WHERE id >= 20000");
    server_exec(conn, "DELETE FROM doc.customer WHERE id = 9");
}

/*
 * The documents come in the order of their own keys, which is not that of the statement's.  A
 * page that asks again for as many keys gets one whose document it has passed.
 */
static void begin_level(struct walk *w, bool forgets)
{
    begin(w, "doc.mesh", 10, 0);
    w->top = (struct top_relation){.table = STR("doc.mesh"),
                                   .column = STR("b"),
                                   .level_sql = STR("SELECT grp AS g, b AS t FROM doc.mesh"),
                                   .business_id = STR("g"),
                                   .target_key = STR("t")};
    w->part.by_level = true;
    w->forgets = forgets;
    key_append_part(&w->part.keys, STR("1"));
}

/* How many statements the pages of 1,000 documents need. */
static uint64_t count_statements(bool forgets)
{
    uint64_t n = 0;
    struct walk w;

    begin_level(&w, forgets);
    mysql_conn_count(conn, &n);
    while (!w.is_end)
        read_page(&w);
    mysql_conn_count(conn, NULL);
    assert_once(&w, 0, N_DOCUMENTS);
    end(&w);
    return n;
}

static void level_sql_is_asked_once_for_the_keys_of_many_pages(void **state)
{
    (void)state;
    server_exec(conn, "INSERT INTO doc.mesh SELECT 2000 - seq, seq, 1 FROM doc.number"
                      " WHERE seq < 1000");
    assert_in_range(count_statements(true) - count_statements(false), 99, 200);
    server_exec(conn, "DELETE FROM doc.mesh");
}

static void a_key_of_level_sql_that_leaves_between_two_pages_hides_no_other(void **state)
{
    enum { N = 1000, GONE = 5 };
    struct walk w;

    (void)state;
    server_exec(conn, "INSERT INTO doc.mesh SELECT 2000 - seq, seq, 1 FROM doc.number"
                      " WHERE seq < 1000");
    begin_level(&w, true);
    read_page(&w);
    server_exec(conn, "UPDATE doc.mesh SET grp = 2 WHERE b < 5");
    while (!w.is_end)
        read_page(&w);
    assert_once(&w, GONE, N);
    end(&w);
}

/* The page that asks again gets one key more than one statement of the resolver takes. */
static void a_key_of_level_sql_that_comes_between_two_pages_hides_no_other(void **state)
{
    enum { N = 1000, COMES = 5 };
    struct walk w;

    (void)state;
    server_exec(conn, "DELETE FROM doc.mesh");
    server_exec(conn, "INSERT INTO doc.mesh SELECT seq, seq, 1 FROM doc.number"
                      " WHERE seq < 1000 AND seq <> 5");
    begin_level(&w, true);
    read_page(&w);
    server_exec(conn, "INSERT INTO doc.mesh VALUES (5, 5, 1)");
    while (!w.is_end)
        read_page(&w);
    assert_once(&w, COMES + 1, N);
    end(&w);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_page_of_a_part_by_hash_has_no_more_documents_than_it_may),
    cmocka_unit_test(level_sql_is_asked_once_for_the_keys_of_many_pages),
    cmocka_unit_test(a_key_of_level_sql_that_leaves_between_two_pages_hides_no_other),
    cmocka_unit_test(a_key_of_level_sql_that_comes_between_two_pages_hides_no_other),
};

const struct test_part loader_delayed = {tests, ARRAY_LEN(tests)};

#include "config.h"

#include "tests/component/web_rig.h"

#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>

static void each_route_calls_the_coordinator_with_its_arguments(void **state)
{
    static const struct {
        const char *head, *body, *call;
        int status;
    } cases[] = {
        {"GET /api/v1/status", NULL, "status", 200},
        {"GET /api/v1/history", NULL, "history  1", 200},
        {"GET /api/v1/history?topic=shop&hours=24", NULL, "history shop 24", 200},
        {"GET /api/v1/doctor", NULL, "doctor", 200},
        {"GET /api/v1/export", NULL, "export", 200},
        {"POST /api/v1/apply",
         "{\"files\":[{\"name\":\"shop.yaml\",\"text\":\"topics: []\",\"folder\":\"/etc\"}],"
         "\"dry_run\":true}",
         "apply 1 shop.yaml topics: [] /etc dry_run=1 prune=0 take_alias=0", 200},
        {"POST /api/v1/apply",
         "{\"files\":[{\"name\":\"a\",\"text\":\"b\",\"folder\":\"c\"}],\"take_alias\":true}",
         "apply 1 a b c dry_run=0 prune=0 take_alias=1", 200},
        {"GET /api/v1/topics", NULL, "list topic ", 200},
        {"GET /api/v1/topics/shop", NULL, "list topic shop", 200},
        {"DELETE /api/v1/topics/shop", NULL, "delete topic shop", 200},
        {"DELETE /api/v1/topics/shop?dry_run=true", NULL, "delete topic shop only asked", 200},
        {"DELETE /api/v1/topics/shop?dry_run=false", NULL, "delete topic shop", 200},
        {"POST /api/v1/topics/shop/reset?dry_run=true", NULL, "topic reset shop only asked",
         200},
        {"DELETE /api/v1/nodes/n?dry_run=true", NULL, "forget node n only asked", 200},
        {"DELETE /api/v1/users/u?dry_run=true", NULL, "delete user u only asked", 200},
        {"PATCH /api/v1/tokens/t", "{\"role\":\"viewer\"}",
         "set token t role=viewer days=0 rows=-1", 200},
        {"PATCH /api/v1/tokens/t?dry_run=true", "{\"days\":7,\"sees_rows\":false}",
         "set token t role= days=7 rows=0 only asked", 200},
        {"DELETE /api/v1/tokens/t?dry_run=true", NULL, "delete token t only asked", 200},
        {"DELETE /api/v1/tables/a/versions/3?dry_run=true", NULL, "index delete a 3 only asked",
         200},
        {"POST /api/v1/tables/a/index/reset?dry_run=true", "{}", "index reset a only asked",
         200},
        {"POST /api/v1/tables/a/index/rollback?dry_run=true", "{\"to\":3}",
         "index rollback a 3 only asked", 200},
        {"POST /api/v1/tables/a/index/cutover?dry_run=true", NULL,
         "index cutover a 0 only asked", 200},
        {"POST /api/v1/tables/a/delete?dry_run=true", "{}",
         "delete table a confirm= only asked", 200},
        {"POST /api/v1/topics/shop/reset", NULL, "topic reset shop", 200},
        {"POST /api/v1/topics/shop/resume", NULL, "topic resume shop", 200},
        {"GET /api/v1/databases", NULL, "list database ", 200},
        {"GET /api/v1/databases/shop", NULL, "list database shop", 200},
        {"DELETE /api/v1/databases/shop", NULL, "delete database shop", 200},
        {"GET /api/v1/tables", NULL, "list table ", 200},
        {"GET /api/v1/tables/shop.orders", NULL, "list table shop.orders", 200},
        {"DELETE /api/v1/tables/shop.orders", NULL, "delete table shop.orders", 200},
        {"GET /api/v1/tables/shop.a%2Fb%25/explain?key=1%2C2+3", NULL,
         "explain shop.a/b% 1,2 3", 200},
        {"POST /api/v1/tables/shop.orders/verify", "{\"keys\":[\"4,2\",\"7\"],\"repair\":true}",
         "verify shop.orders 4,2 n=2 repair=1 values=0", 200},
        {"GET /api/v1/tables/shop.orders/trace?key=4%2C2&log=true&from=b.000001:4", "",
         "trace shop.orders 4,2 log=1 from=b.000001:4", 200},
        {"POST /api/v1/tables/shop.orders/verify", "{\"repair\":true,\"yes\":true,\"rate\":5}",
         "verify_all shop.orders repair=1 values=0 yes=1 rate=5 version=0 sample=0/0 where=",
         202},
        {"POST /api/v1/tables/shop.orders/index/refresh", "{\"where\":\"a > 1\",\"rate\":7}",
         "refresh shop.orders n=0 first= rate=7 where=a > 1", 202},
        {"POST /api/v1/tables/shop.orders/index/refresh", "{\"keys\":[\"4,2\",\"7\"]}",
         "refresh shop.orders n=2 first=4,2 rate=0 where=", 202},
        {"POST /api/v1/tables/shop.orders/index/refresh/cancel", "",
         "cancel refresh shop.orders", 200},
        {"POST /api/v1/tables/shop.orders/delete", "{\"confirm\":\"shop.orders\"}",
         "delete table shop.orders confirm=shop.orders", 200},
        {"POST /api/v1/tables/shop.orders/delete", "",
         "delete table shop.orders confirm=", 200},
        {"POST /api/v1/tables/shop.orders/verify", "{\"sample\":0,\"where\":\"a > 1\"}",
         "verify_all shop.orders repair=0 values=0 yes=0 rate=0 version=0 sample=1/0 "
         "where=a > 1",
         202},
        {"GET /api/v1/reports", "", "list_reports", 200},
        {"GET /api/v1/reports/12", "", "get_report 12", 200},
        {"GET /api/v1/tables/shop.orders/mapping", NULL, "mapping shop.orders", 200},
        {"POST /api/v1/tables/shop.orders/mapping",
         "{\"files\":[{\"name\":\"a\",\"text\":\"b\",\"folder\":\"c\"}]}",
         "mapping shop.orders of 1 files: a b", 200},
        {"POST /api/v1/tables/shop.orders/explain",
         "{\"key\":\"4,2\",\"files\":[{\"name\":\"a\",\"text\":\"b\",\"folder\":\"c\"}],"
         "\"variables\":{\"A\":\"b\"}}",
         "explain shop.orders 4,2 of 1 files: a b", 200},
        {"POST /api/v1/tables/shop.orders/index", NULL,
         "index create shop.orders rate=0 chunk=0 buckets=0/column nodes=0"
         " take=00 hold=0 keep=-1 verify=-",
         202},
        {"POST /api/v1/tables/shop.orders/index", "{\"rate\":500,\"chunk\":\"70\"}",
         "index create shop.orders rate=500 chunk=70 buckets=0/column nodes=0"
         " take=00 hold=0 keep=-1 verify=-",
         202},
        {"POST /api/v1/tables/shop.orders/index", "{\"buckets\":8,\"buckets_by\":\"key\"}",
         "index create shop.orders rate=0 chunk=0 buckets=8/key nodes=0 take=00 hold=0 keep=-1 "
         "verify=-",
         202},
        {"POST /api/v1/tables/shop.orders/index",
         "{\"buckets\":8,\"buckets_by\":\"mod\",\"nodes\":2,\"dry_run\":true}",
         "index create shop.orders rate=0 chunk=0 buckets=8/mod nodes=2 take=00 hold=0 keep=-1 "
         "verify=- dry",
         200},
        {"POST /api/v1/tables/shop.orders/index", "{\"verify\":\"full\"}",
         "index create shop.orders rate=0 chunk=0 buckets=0/column nodes=0"
         " take=00 hold=0 keep=-1 verify=full",
         202},
        {"POST /api/v1/tables/shop.orders/index", "{\"take_index\":true}",
         "index create shop.orders rate=0 chunk=0 buckets=0/column nodes=0"
         " take=10 hold=0 keep=-1 verify=-",
         202},
        {"POST /api/v1/tables/shop.orders/index", "{\"take_alias\":true}",
         "index create shop.orders rate=0 chunk=0 buckets=0/column nodes=0"
         " take=01 hold=0 keep=-1 verify=-",
         202},
        {"POST /api/v1/tables/shop.orders/index", "{\"keep\":2}",
         "index create shop.orders rate=0 chunk=0 buckets=0/column nodes=0"
         " take=00 hold=0 keep=2 verify=-",
         202},
        {"POST /api/v1/tables/shop.orders/index/rollback", "{\"to\":3}",
         "index rollback shop.orders 3", 200},
        {"POST /api/v1/tables/shop.orders/index", "{\"hold\":true}",
         "index create shop.orders rate=0 chunk=0 buckets=0/column nodes=0"
         " take=00 hold=1 keep=-1 verify=-",
         202},
        {"PATCH /api/v1/tables/shop.orders/index", "{\"rate\":0}",
         "index set shop.orders rate=0 nodes=-1", 200},
        {"PATCH /api/v1/tables/shop.orders/index", "{\"nodes\":3}",
         "index set shop.orders rate=-1 nodes=3", 200},
        {"POST /api/v1/tables/shop.orders/index/cutover", "{\"accept_dead_letters\":400}",
         "index cutover shop.orders 400", 202},
        {"POST /api/v1/tables/shop.orders/index/cutover", NULL, "index cutover shop.orders 0",
         202},
        {"POST /api/v1/tables/shop.orders/index/reset", "{}", "index reset shop.orders", 200},
        {"DELETE /api/v1/tables/shop.orders/versions", NULL, "index delete shop.orders 0", 200},
        {"DELETE /api/v1/tables/shop.orders/versions/3", NULL, "index delete shop.orders 3",
         200},
        {"GET /api/v1/nodes", NULL, "nodes ", 200},
        {"GET /api/v1/nodes/shop-1", NULL, "nodes shop-1", 200},
        {"DELETE /api/v1/nodes/shop-1", NULL, "forget node shop-1", 200},
        {"POST /api/v1/nodes/rebalance", NULL, "change nodes 0 node= topic= dry_run=0", 202},
        {"POST /api/v1/nodes/shop-1/evacuate", "{\"dry_run\":true}",
         "change nodes 1 node=shop-1 topic= dry_run=1", 200},
        {"POST /api/v1/nodes/shop-1/admit", "{\"dry_run\":false}",
         "change nodes 2 node=shop-1 topic= dry_run=0", 202},
        {"POST /api/v1/topics/shop/move", "{\"to\":\"shop-1\",\"dry_run\":true}",
         "change nodes 3 node=shop-1 topic=shop dry_run=1", 200},
        {"GET /api/v1/relations", NULL, "list relation ", 200},
        {"GET /api/v1/relations/a", NULL, "list relation a", 200},
        {"GET /api/v1/versions", NULL, "list version ", 200},
        {"GET /api/v1/versions/orders", NULL, "list version orders", 200},
        {"GET /api/v1/indexes", NULL, "list index ", 200},
        {"GET /api/v1/indexes/orders", NULL, "list index orders", 200},
        {"GET /api/v1/jobs", NULL, "list job ", 200},
        {"GET /api/v1/jobs/12", NULL, "list job 12", 200},
        {"GET /api/v1/log", NULL, "list log ", 200},
        {"GET /api/v1/log/shop.orders", NULL, "list log shop.orders", 200},
        {"GET /api/v1/config/delivery", NULL, "delivery settings ", 200},
        {"GET /api/v1/config/delivery/workers", NULL, "delivery settings workers", 200},
        {"PATCH /api/v1/config/delivery", "{\"workers\":\"20\"}", "delivery set 1 workers=20",
         200},
        {"PATCH /api/v1/config/delivery", "{\"workers\":20,\"drain\":true}",
         "delivery set 2 workers=20", 200},
        {"PATCH /api/v1/config/delivery", "{\"drain\":false}", "delivery set 1 drain=false",
         200},
        {"PATCH /api/v1/config/delivery", "{\"drain\":null}", "delivery set 1 drain=(none)",
         200},
        {"POST /api/v1/config/delivery/reset", NULL, "delivery reset", 200},
        {"POST /api/v1/doctor", "{}", "start doctor", 202},
        {"POST /api/v1/drain", NULL, "drain all -1", 202},
        {"POST /api/v1/drain", "{\"timeout_ms\":0}", "drain all 0", 202},
        {"POST /api/v1/drain", "{\"worker\":3,\"timeout_ms\":500}", "drain 3 500", 202},
        {"POST /api/v1/drain/cancel", NULL, "drain cancel", 200},
        {"POST /api/v1/drain/cancel", "{}", "drain cancel", 200},
        {"GET "
         "/api/v1/dead-letters?topic=t&table=a.b&index=i&reason=mapper&after=5&limit=7&body="
         "true",
         NULL,
         "dead letters list topic=t table=a.b index=i reason=mapper after=5 limit=7 id=0 "
         "body=1",
         200},
        {"GET /api/v1/dead-letters/9", NULL,
         "dead letters list topic= table= index= reason= after=0 limit=1 id=9 body=1", 200},
        {"POST /api/v1/dead-letters/replay", "{\"table\":\"shop.orders\"}",
         "dead letters replay topic= table=shop.orders index= reason= after=0 limit=0 id=0 "
         "body=0",
         200},
        {"GET /api/v1/delayed?topic=t&table=a.b&op=update&row=7&day=2026-11-27&status=init"
         "&after=5&limit=7",
         NULL,
         "delayed list topic=t table=a.b op=update row=7 day=2026-11-27 status=init after=5 "
         "limit=7",
         200},
        {"GET /api/v1/delayed/runs", NULL, "delayed runs waiting=1", 200},
        {"GET /api/v1/delayed/runs?waiting=false", NULL, "delayed runs waiting=0", 200},
        {"POST /api/v1/delayed/run", "{\"table\":\"shop.label\"}",
         "delayed run topic= table=shop.label ids=0", 202},
        {"POST /api/v1/delayed/run", "{\"all\":true}", "delayed run topic= table= ids=0", 202},
        {"POST /api/v1/delayed/run", "{\"ids\":[7],\"dry_run\":true}",
         "delayed cost topic= table= ids=1", 200},
        {"POST /api/v1/delayed/done", "{\"ids\":[7,8]}", "delayed done topic= table= ids=2",
         200},
        {"POST /api/v1/dead-letters/discard", "{\"all\":true}",
         "dead letters discard topic= table= index= reason= after=0 limit=0 id=0 body=0", 200},
    };
    const struct fixture *f = *state;
    struct buf answer = {0};

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        fake_coordinator.call[0] = '\0';
        assert_int_equal(ask_socket(f, cases[i].head, cases[i].body, &answer), cases[i].status);
        assert_string_equal(fake_coordinator.call, cases[i].call);
    }
    buf_free(&answer);
}

static void the_program_tells_its_version_and_settings(void **state)
{
    const struct fixture *f = *state;
    struct buf answer = {0};

    assert_int_equal(ask_socket(f, "GET /api/v1/version", NULL, &answer), 200);
    assert_has(answer, "{\"schema\":\"millrace/program/1\",\"version\":\"0.1.0\"}");
    assert_int_equal(ask_socket(f, "GET /api/v1/config", NULL, &answer), 200);
    assert_has(answer, "millrace/config/1");
    buf_free(&answer);
}

static void a_request_that_cannot_be_says_why_and_calls_nothing(void **state)
{
    static const struct {
        const char *head, *body;
        int status;
        const char *text;
    } cases[] = {
        {"GET /nowhere", NULL, 404, "no-such-route"},
        {"GET /api/v1/tables/a/b/c/d", NULL, 404, "no-such-route"},
        {"GET /api/v1/tables/..%2f..%2fetc/../x", NULL, 400, "dot part"},
        {"GET /api/v1//status", NULL, 400, "empty or dot part"},
        {"GET /api/v1/tables/%zz", NULL, 400, "broken percent escape"},
        {"GET /api/v1/tables/%00", NULL, 400, "broken percent escape"},
        {"GET /api/v1/tables/%ff", NULL, 400, "UTF-8"},
        {"PUT /api/v1/status", NULL, 405, "Allow: GET, HEAD"},
        {"DELETE /api/v1/status", NULL, 405, "Allow: GET, HEAD"},
        {"GET /api/v1/tables/a/index", NULL, 405, "Allow: POST, PATCH"},
        {"GET /api/v1/tables/a/explain", NULL, 400, "which row?"},
        {"POST /api/v1/tables/a/verify", "{\"rate\":-1}", 400, "rate"},
        {"POST /api/v1/tables/a/index/refresh", "{\"keys\":[]}", 400, "list of 1 to 100 keys"},
        {"POST /api/v1/tables/a/index/refresh", "{\"yes\":true}", 400, "yes"},
        {"POST /api/v1/tables/a/delete", "{\"confirm\":1}", 400, "confirm"},
        {"GET /api/v1/tables/a/trace", "", 400, "which row"},
        {"GET /api/v1/tables/a/trace?key=1&log=yes", "", 400, "true or false"},
        {"GET /api/v1/tables/a/trace?key=1&from=b.1:4", "", 400, "goes with"},
        {"GET /api/v1/tables/a/trace?key=1&x=2", "", 400, "x"},
        {"POST /api/v1/tables/a/verify", "{\"keys\":[\"1\"],\"yes\":true}", 400, "yes"},
        {"POST /api/v1/tables/a/verify", "{\"keys\":[]}", 400, "list of 1 to 100 keys"},
        {"POST /api/v1/tables/a/verify", "{\"keys\":[7]}", 400, "must be a text"},
        {"POST /api/v1/tables/a/verify", "{\"keys\":[\"\"]}", 400, "must be a text"},
        {"POST /api/v1/tables/a/verify", "{\"keys\":[\"1\"],\"all\":true}", 400, "all"},
        {"POST /api/v1/topics/a/move", NULL, 400, "to which node?"},
        {"POST /api/v1/nodes/a/evacuate", "{\"to\":\"b\"}", 400, "to"},
        {"GET /api/v1/nodes/a/evacuate", NULL, 405, "Allow: POST"},
        {"PATCH /api/v1/config/delivery", "{}", 400, "nothing to set"},
        {"PATCH /api/v1/config/delivery", "{\"workers\":[1]}", 400, "must be a text"},
        {"DELETE /api/v1/config/delivery", NULL, 405, "Allow: GET, HEAD, PATCH"},
        {"GET /api/v1/dead-letters/none", NULL, 400, "by its number"},
        {"GET /api/v1/dead-letters?limit=-1", NULL, 400, "whole number"},
        {"GET /api/v1/dead-letters?colour=red", NULL, 400, "colour"},
        {"DELETE /api/v1/tables/a/versions/0", NULL, 400, "whole number from 1"},
        {"POST /api/v1/apply", "{\"files\":[]}", 400, "1 to 1000 files"},
        {"POST /api/v1/tables/a/mapping", "{}", 400, "1 to 1000 files"},
        {"POST /api/v1/tables/a/explain",
         "{\"files\":[{\"name\":\"a\",\"text\":\"b\",\"folder\":\"c\"}]}", 400, "which row?"},
        {"POST /api/v1/tables/a/explain", "{\"key\":7}", 400, "must be a string"},
        {"POST /api/v1/apply", "{\"files\":[7]}", 400, "must be an object"},
        {"POST /api/v1/apply", "{\"files\":[{\"name\":7}]}", 400, "must be a string"},
        {"POST /api/v1/apply", "{\"files\":[{\"name\":\"a\"}],\"prune\":true}", 400, "its"},
        {"POST /api/v1/apply", "{\"prune\":false,\"prune\":true}", 400, "stands there twice"},
        {"POST /api/v1/apply", "{\"files\":[{\"text\":\"a\",\"text\":\"b\"}]}", 400, "twice"},
        {"POST /api/v1/apply", "{\"variables\":{\"A\":\"1\",\"B\":\"\",\"A\":\"2\"}}", 400,
         "twice"},
        {"PATCH /api/v1/config/delivery", "{\"workers\":2,\"workers\":3}", 400, "twice"},
        {"POST /api/v1/apply", "[1,", 400, "not a JSON object"},
        {"POST /api/v1/topics/a/move", "{\"to\":\"b\\u0000c\"}", 400, "NUL"},
        {"POST /api/v1/topics/a/move", "{\"to\":\"\xff\"}", 400, "not UTF-8"},
        {"POST /api/v1/tables/a/index", "{\"rate\":9007199254740993}", 400, "whole number"},
        {"POST /api/v1/tables/a/index", "{\"rate\":\"9007199254740992\"}", 400, "whole number"},
        {"POST /api/v1/delayed/done", "{\"ids\":[9007199254740993]}", 400, "numbers of"},
        {"GET /api/v1/dead-letters?limit=9007199254740992", NULL, 400, "whole number"},
        {"GET /api/v1/delayed?day=", NULL, 400, "`day` is a day as 2026-11-27"},
        {"GET /api/v1/delayed?day=2026-02-30", NULL, 400, "`day` is a day as 2026-11-27"},
        {"GET /api/v1/delayed?op=", NULL, 400, "\"op\\\" is one of: insert update"},
        {"GET /api/v1/words/export?list=&state=", NULL, 400, "is one of: ext stop"},
        {"POST /api/v1/words/publish", "{\"list\":\"\",\"all\":true}", 400, "one of: ext stop"},
        {"POST /api/v1/apply", "{\"dryrun\":true}", 400, "dryrun"},
        {"POST /api/v1/tables/a/index", "{\"rate\":1.5}", 400, "whole number"},
        {"POST /api/v1/tables/a/index", "{\"rate\":-3}", 400, "whole number"},
        {"PATCH /api/v1/tables/a/index", "{}", 400, "nothing to set"},
        {"POST /api/v1/dead-letters/discard", "{}", 400, "which ones?"},
        {"GET /api/v1/delayed?op=replace", NULL, 400, "`op` is one of: insert, update"},
        {"GET /api/v1/delayed?status=waits", NULL, 400, "`status` is one of: init"},
        {"GET /api/v1/delayed?day=yesterday", NULL, 400, "`day` is a day as 2026-11-27"},
        {"POST /api/v1/delayed/run", "{}", 400, "which ones?"},
        {"POST /api/v1/delayed/run", "{\"all\":true,\"ids\":[1]}", 400, "which ones?"},
        {"POST /api/v1/delayed/done", "{\"ids\":[0]}", 400, "numbers of snapshots"},
        {"POST /api/v1/delayed/done", "{\"ids\":[]}", 400, "numbers of snapshots"},
        {"GET /api/v1/delayed?colour=red", NULL, 400, "colour"},
        {"GET /api/v1/status", "{}", 413, "takes no body"},
    };
    const struct fixture *f = *state;
    struct buf answer = {0};

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_int_equal(ask_socket(f, cases[i].head, cases[i].body, &answer), cases[i].status);
        assert_has(answer, cases[i].text);
        assert_has(answer, "Content-Type: application/problem+json");
        assert_string_equal(fake_coordinator.call, "");
    }
    buf_free(&answer);
}

/* With one more line in the head. */
static int ask_with(const struct fixture *f, const char *head, const char *field,
                    const char *body, struct buf *answer)
{
    struct buf text = {0};

    buf_printf(&text, "%s HTTP/1.1\r\nHost: localhost\r\n%s\r\n", head, field);
    if (body != NULL)
        buf_printf(&text, "Content-Type: application/json\r\nContent-Length: %zu\r\n",
                   strlen(body));
    buf_printf(&text, "\r\n%s", body != NULL ? body : "");

    const int status = talk(connect_unix(f->socket), buf_str(&text), answer);

    buf_free(&text);
    return status;
}

#define FILES "{\"files\":[{\"name\":\"a\",\"text\":\"b\",\"folder\":\"c\"}]}"

static void
a_change_of_definitions_is_asked_for_with_the_revision_that_its_sender_saw(void **state)
{
    static const struct {
        const char *head, *field, *body, *call;
    } cases[] = {
        {"POST /api/v1/apply", "If-Match: \"42\"", FILES,
         "apply 1 a b c dry_run=0 prune=0 take_alias=0 of revision 42"},
        {"POST /api/v1/apply", "if-match:  \"0\" ", FILES,
         "apply 1 a b c dry_run=0 prune=0 take_alias=0 of revision 0"},
        {"POST /api/v1/apply", "If-Match: *", FILES,
         "apply 1 a b c dry_run=0 prune=0 take_alias=0"},
        {"DELETE /api/v1/topics/shop", "If-Match: \"7\"", NULL,
         "delete topic shop of revision 7"},
        {"POST /api/v1/tables/shop.orders/delete", "If-Match: \"7\"", "{}",
         "delete table shop.orders confirm= of revision 7"},
    };
    const struct fixture *f = *state;
    struct buf answer = {0};

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_int_equal(ask_with(f, cases[i].head, cases[i].field, cases[i].body, &answer),
                         200);
        assert_string_equal(fake_coordinator.call, cases[i].call);
    }
    buf_free(&answer);
}

static void what_shows_or_changes_definitions_answers_their_revision_as_its_etag(void **state)
{
    const struct fixture *f = *state;
    struct buf answer = {0};

    assert_int_equal(ask_socket(f, "GET /api/v1/export", NULL, &answer), 200);
    assert_has(answer, "\r\nETag: \"42\"\r\n");
    assert_int_equal(ask_socket(f, "POST /api/v1/apply", FILES, &answer), 200);
    assert_has(answer, "\r\nETag: \"42\"\r\n");
    err_set_code(&fake_coordinator.fail, ERR_REJECT, "", 412, "of another revision");
    assert_int_equal(ask_socket(f, "POST /api/v1/apply", FILES, &answer), 412);
    assert_has(answer, "\"code\":\"changed-meanwhile\"");
    assert_null(strstr(answer.ptr, "ETag"));
    buf_free(&answer);
}

static void a_tag_that_no_answer_had_changes_nothing(void **state)
{
    static const struct {
        const char *field;
        int status;
    } cases[] = {
        {"If-Match: 42", 412},           {"If-Match: W/\"42\"", 412},
        {"If-Match: \"\"", 412},         {"If-Match: \"", 412},
        {"If-Match: \"4x\"", 412},       {"If-Match: \"-1\"", 412},
        {"If-Match: \"1\", \"2\"", 400}, {"If-Match: \"1\"\r\nIf-Match: \"1\"", 400},
    };
    const struct fixture *f = *state;
    struct buf answer = {0};

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_int_equal(ask_with(f, "POST /api/v1/apply", cases[i].field, FILES, &answer),
                         cases[i].status);
        assert_string_equal(fake_coordinator.call, "");
    }
    buf_free(&answer);
}

static void a_failure_of_the_coordinator_has_the_status_that_fits(void **state)
{
    static const struct {
        enum err_kind kind;
        int code, status;
    } cases[] = {
        {ERR_REJECT, 404, 404}, {ERR_REJECT, 409, 409}, {ERR_REJECT, 1146, 422},
        {ERR_REJECT, 0, 422},   {ERR_REJECT, 503, 503}, {ERR_REJECT, 500, 422},
        {ERR_RETRY, 0, 503},    {ERR_STOP, 0, 503},     {ERR_FATAL, 0, 500},
    };
    const struct fixture *f = *state;
    struct buf answer = {0};

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        err_set_code(&fake_coordinator.fail, cases[i].kind, "", cases[i].code, "so it \"is\"");
        assert_int_equal(ask_socket(f, "GET /api/v1/status", NULL, &answer), cases[i].status);
        assert_has(answer, "\"detail\":\"so it \\\"is\\\"\"");
    }
    fake_coordinator.answer = "[{\"line\":3}]";
    err_set(&fake_coordinator.fail, ERR_REJECT, "1 error");
    assert_int_equal(ask_socket(f, "GET /api/v1/status", NULL, &answer), 422);
    assert_has(answer, "\"errors\":[{\"line\":3}]}");
    buf_free(&answer);
}

static void the_socket_is_for_its_owner_and_group_only(void **state)
{
    const struct fixture *f = *state;
    struct stat st;

    assert_int_equal(stat(f->socket, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0660);
}

static void another_user_is_refused_even_where_the_files_mode_lets_him_in(void **state)
{
    const struct fixture *f = *state;
    struct buf answer = {0};

    if (geteuid() != 0)
        skip();
    assert_int_equal(chmod(f->socket, 0666), 0);
    assert_int_equal(chmod(f->folder, 0755), 0);

    pid_t child = fork();

    if (child == 0) {
        if (setgid(65534) != 0 || setuid(65534) != 0)
            _exit(1);

        int status = ask_socket(f, "GET /api/v1/status", NULL, &answer);

        _exit(status == 403 && strstr(answer.ptr, "not-your-daemon") != NULL ? 0 : 2);
    }

    int how;

    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 0);
    assert_string_equal(fake_coordinator.call, "");
    buf_free(&answer);
}

static void a_body_beyond_its_limit_is_refused_however_it_is_sent(void **state)
{
    static const struct {
        const char *field;
        int status;
    } cases[] = {
        {"Content-Length: 1048577", 413},
        {"Content-Length: 18446744073709551615", 413},
        {"Transfer-Encoding: chunked", 411}, /* nobody knows how much would come */
    };
    const struct fixture *f = *state;
    struct buf text = {0}, answer = {0};

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        buf_clear(&text);
        buf_printf(&text, "POST /api/v1/tables/a/index HTTP/1.1\r\nHost: x\r\n%s\r\n\r\n",
                   cases[i].field);
        assert_int_equal(talk(connect_unix(f->socket), buf_str(&text), &answer),
                         cases[i].status);
    }
    assert_string_equal(fake_coordinator.call, "");
    buf_free(&text);
    buf_free(&answer);
}

static void a_call_that_takes_longer_than_the_idle_time_is_answered(void **state)
{
    const struct fixture *f = *state;
    struct buf answer = {0};

    fake_coordinator.delay_ms = 2500;
    assert_int_equal(ask_socket(f, "GET /api/v1/doctor", NULL, &answer), 200);
    buf_free(&answer);
}

static void who_sends_no_more_is_told_so_and_cut_off(void **state)
{
    const struct fixture *f = *state;
    struct buf answer = {0};

    assert_int_equal(talk(connect_tcp(f->port), STR("GET / HT"), &answer), 408);
    buf_free(&answer);
}

static void broken_requests_harm_nobody(void **state)
{
    static const char *const broken[] = {
        "\r\n\r\n\r\n",
        "GET\r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n",
        "GET /api/v1/status HTTP/1.1\r\n\r\n",
        "GET http://evil.example/api/v1/status HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "POST /api/v1/apply HTTP/1.1\r\nHost: a\r\nContent-Length: -5\r\n\r\n",
        "POST /api/v1/apply HTTP/1.1\r\nHost: a\r\nContent-Length: "
        "99999999999999999999\r\n\r\n",
        "POST /api/v1/apply HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    };
    const struct fixture *f = *state;
    struct buf answer = {0};

    for (size_t i = 0; i < ARRAY_LEN(broken); i++) {
        int status = talk(connect_unix(f->socket), str_from(broken[i]), &answer);

        assert_true(status == 0 || status >= 400);
    }
    assert_string_equal(fake_coordinator.call, "");
    assert_int_equal(ask_socket(f, "GET /api/v1/status", NULL, &answer), 200);
    buf_free(&answer);
}

static void *ask_status(void *arg)
{
    struct buf answer = {0};
    bool ok = ask_socket(arg, "GET /api/v1/status", NULL, &answer) == 200;

    buf_free(&answer);
    return ok ? arg : NULL;
}

static void a_slow_call_does_not_hold_up_the_others(void **state)
{
    struct fixture *f = *state;
    struct buf answer = {0};
    pthread_t threads[8];
    void *ok;

    fake_coordinator.delay_ms = 500;
    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask_status, f), 0);
    assert_int_equal(ask_port(f, "GET /livez", &answer), 200);
    for (size_t i = 0; i < ARRAY_LEN(threads); i++) {
        pthread_join(threads[i], &ok);
        assert_non_null(ok);
    }
    buf_free(&answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_route_calls_the_coordinator_with_its_arguments),
        TEST(the_program_tells_its_version_and_settings),
        TEST(a_request_that_cannot_be_says_why_and_calls_nothing),
        TEST(a_change_of_definitions_is_asked_for_with_the_revision_that_its_sender_saw),
        TEST(what_shows_or_changes_definitions_answers_their_revision_as_its_etag),
        TEST(a_tag_that_no_answer_had_changes_nothing),
        TEST(a_failure_of_the_coordinator_has_the_status_that_fits),
        TEST(the_socket_is_for_its_owner_and_group_only),
        TEST(another_user_is_refused_even_where_the_files_mode_lets_him_in),
        TEST(a_body_beyond_its_limit_is_refused_however_it_is_sent),
        TEST(a_call_that_takes_longer_than_the_idle_time_is_answered),
        TEST(who_sends_no_more_is_told_so_and_cut_off),
        TEST(broken_requests_harm_nobody),
        TEST(a_slow_call_does_not_hold_up_the_others),
    };

    log_set_level(LOG_ERROR);
    return cmocka_run_group_tests_name("web", tests, NULL, NULL);
}

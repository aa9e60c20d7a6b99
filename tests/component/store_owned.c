/* Who may write: every call of the store's headers, by a user who owns its topic and by one who
 * does not. */
#include "config.h"

#include "tests/component/store_parts.h"

#include "src/base/buf.h"
#include "src/store/audit.h"
#include "src/store/build_log.h"
#include "src/store/core.h"
#include "src/store/later/fan_out.h"
#include "src/store/later/gone.h"
#include "src/store/later/kept_search.h"
#include "src/store/later/midnight.h"
#include "src/store/later/purged.h"
#include "src/store/later/snapshot.h"
#include "src/store/later/whole_table.h"
#include "src/store/reset.h"
#include "src/store/retired.h"
#include "src/store/told.h"
#include "src/store/turn.h"
#include "src/store/waiting.h"
#include "src/store/wish.h"
#include "src/store/words/words.h"

#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALIAS    STR("orders")
#define CONCRETE STR("orders_v1")
#define TABLE    STR("shop.orders")
#define TOPIC    STR("shop")

static uint64_t topic_term, job_term;
static char job_thing[32];
static struct stored_job job = {.kind = {JOB_INDEX, sizeof(JOB_INDEX) - 1},
                                .index = {"orders", 6},
                                .table = {"shop.orders", 11},
                                .version = 1,
                                .buckets = 1,
                                .state = {"init", 4},
                                .parameters = {"{}", 2}};

/* ---- the calls ---- */

#define CALL(name, ...)                        \
    static bool call_##name(struct err *err)   \
    {                                          \
        return store_##name(f.s, __VA_ARGS__); \
    }
static const struct version_name one = {{"orders", 6}, 1};
static const struct stored_wait a_wait = {
    .index = {"orders", 6}, .number = 1, .reason = {"person", 6}};
static const struct gone_owner *gone_owner(void)
{
    static struct gone_owner o = {{"shop", 4}, 0};

    o.term = topic_term;
    return &o;
}
static const struct kept_search_owner *kept_search_owner(void)
{
    static struct kept_search_owner o = {{"shop", 4}, 0};

    o.term = topic_term;
    return &o;
}
static const struct kept_search a_kept_search = {
    .index = {"orders", 6}, .version = 1, .member = {"shop.orders", 11}, .query = {"{}", 2}};
static const struct fan_out_owner *fan_out_owner(void)
{
    static struct fan_out_owner o = {{"shop", 4}, 0};

    o.term = topic_term;
    return &o;
}
static const struct midnight_owner *midnight_owner(void)
{
    static struct midnight_owner o = {{"shop", 4}, {"UTC", 3}, 0};

    o.term = topic_term;
    return &o;
}
static const struct stored_midnight a_midnight = {20000, 1, {"binlog.000001", 13}, 4};
static const struct stored_gone a_gone = {
    .index = {"orders", 6}, .version = 1, .member = {"shop.orders", 11}, .doc_id = {"1", 1}};
static const struct stored_fan_out a_fan_out = {.topic = {"shop", 4},
                                                .index = {"orders", 6},
                                                .version = 1,
                                                .member = {"shop.orders", 11},
                                                .source = {"shop", 4},
                                                .key = {"k", 1}};
static const struct snapshot_owner *snapshot_owner(void)
{
    static struct snapshot_owner o = {{"shop", 4}, 0};

    o.term = topic_term;
    return &o;
}
static const struct snapshot_change a_snapshot = {
    .row = {.op = {"update", 6}, .row_id = {"1", 1}},
    .lead = {.index = {"orders", 6}, .version = 1}};
static struct snapshot_run a_run = {.id = 1};
static const struct builds_end no_builds;
static const struct snapshot_release a_release = {.jobs = &a_fan_out, .n_jobs = 1};
static const struct stored_purged a_purged = {
    .topic = {"shop", 4}, .index = {"orders_v1", 9}, .doc_id = {"1", 1}, .times = 1};
static const struct stored_stop a_stop = {.table = {"shop.orders", 11}, .reason = {"r", 1}};
static const struct stored_rebuild a_rebuild = {.table = {"shop.orders", 11}};
static const struct dead_letter_filter a_filter = {.index = {"orders_v1", 9}};
static const struct definition_effects no_effects;
static uint64_t ignored;

CALL(put_value, STR("sync/orders_v1"), STR("x"), err)
CALL(delete_value, STR("sync/orders_v1"), NULL, err)
CALL(set_version_start, &one, 5, err)
CALL(set_version_definition, &one, STR("{}"), err)
CALL(put_stop, &a_stop, err)
CALL(put_rebuild, &a_rebuild, err)
CALL(delete_rebuild, TABLE, err)
CALL(put_shapes, ALIAS, 1, STR("{}"), NULL, err)
CALL(new_job, &job, err)
CALL(save_job, job_term, &job, err)
static bool call_take_bucket(struct err *err)
{
    uint64_t term;
    bool taken;

    return store_take_bucket(f.s, &job, STR("{}"), &term, &taken, err);
}
static bool call_new_buckets(struct err *err)
{
    struct stored_job bucket = job;

    bucket.kind = STR(JOB_BUCKET);
    return store_new_buckets(f.s, job_term, &job, &bucket, 1, err);
}
CALL(delete_jobs, ALIAS, 1, err)
CALL(delete_job, job.id, err)
CALL(delete_dead_letters, &a_filter, &ignored, err)
CALL(delete_dead_letter_of, CONCRETE, STR(""), STR("1"), 9, err)
CALL(order_return, &one, err)
CALL(cancel_return, &one, err)
CALL(end_kept, &one, STR(""), 1, err)
CALL(drop_versions, &one, 1, err)
CALL(delete_version, ALIAS, 1, err)
CALL(end_dropped, ALIAS, 9, err)
CALL(park_version, job_term, &job, &a_wait, err)
CALL(save_wait, &a_wait, err)
CALL(resume_version, &a_wait, err)
CALL(put_purged, &a_purged, 1, err)
CALL(delete_purged_index, CONCRETE, err)
CALL(release_snapshots, snapshot_owner(), &a_run, &a_release, err)
CALL(forget_part, snapshot_owner(), 1, err)
CALL(end_snapshot_run, snapshot_owner(), 1, 1, err)
CALL(ask_builds, snapshot_owner(), &a_run, &a_rebuild, 1, err)
CALL(end_builds, snapshot_owner(), &a_run, &no_builds, err)
CALL(put_gone, gone_owner(), &a_gone, 1, err)
CALL(keep_searches, kept_search_owner(), &a_kept_search, 1, err)
CALL(end_gone, gone_owner(), &a_gone, 1, err)
CALL(put_midnights, midnight_owner(), &a_midnight, 1, err)
CALL(put_fan_outs, topic_term, &a_fan_out, 1, err)
CALL(begin_fan_outs, fan_out_owner(), &a_fan_out, 1, 1, 1, err)
CALL(save_fan_outs, fan_out_owner(), 1, STR("c"), 1, 1, err)
CALL(end_fan_outs, fan_out_owner(), 1, 0, 1, err)
CALL(take_term, str_from(job_thing), &ignored, err)
CALL(ask_term, STR("topic/shop"), err)
CALL(ask_index, CONCRETE, err)
/* Nobody's. */
CALL(prune_snapshots, 0, err)
CALL(drop_tombstones, 0, err)
CALL(date_history, 1, err)
CALL(save_effects, 0, &no_effects, err)

/* An alias is its topic's as well. */
static bool call_ask_alias(struct err *err)
{
    return store_ask_index(f.s, ALIAS, err);
}

static bool call_keep_value(struct err *err)
{
    struct buf b = {0};
    const bool done = store_keep_value(f.s, STR("shards/orders_v1"), STR("x"), &b, err);

    buf_free(&b);
    return done;
}

static bool call_exchange_value(struct err *err)
{
    bool is_done;

    return store_exchange_value(f.s, STR("shards/orders_v1"), (struct str){0}, STR("x"),
                                &is_done, err);
}

static bool call_put_first_value(struct err *err)
{
    bool is_first;

    return store_put_first_value(f.s, STR("shards/"), STR("shards/orders_v1"), STR("x"),
                                 &is_first, err);
}

static bool call_save_checkpoint(struct err *err)
{
    const struct stored_checkpoint cp = some_checkpoint(5);

    return store_save_checkpoint(f.s, topic_term, &cp, NULL, 0, err);
}

static bool call_new_version(struct err *err)
{
    struct stored_version v = {.index = STR("items"), .topic = TOPIC};

    return store_new_version(f.s, &v, err);
}

static bool call_stop_version(struct err *err)
{
    const struct version_stop v = {.index = ALIAS, .number = 1, .stop = a_stop};
    enum version_stopped how;

    return store_stop_version(f.s, &v, &how, err);
}

static bool call_put_snapshots(struct err *err)
{
    const struct snapshot_put put = {*snapshot_owner(), STR("shop.label"), 1};

    return store_put_snapshots(f.s, &put, &a_snapshot, 1, err);
}

static bool call_begin_snapshot_run(struct err *err)
{
    bool busy;

    return store_begin_snapshot_run(f.s, f.a, snapshot_owner(), 1, &a_run, &busy, err);
}

static bool call_mark_snapshot(struct err *err)
{
    bool found;

    return store_mark_snapshot(f.s, TOPIC, 1, 1, false, &found, err);
}

static bool call_end_purged(struct err *err)
{
    struct stored_purged p = a_purged;

    p.term = topic_term;
    return store_end_purged(f.s, &p, 1, &ignored, err);
}

/* The second letter is another topic's: neither is stored. */
static bool call_put_dead_letters(struct err *err)
{
    struct stored_dead_letter letters[2] = {some_letter("1"), some_letter("2")};

    letters[0].topic = STR("nobody's");
    letters[1].topic = TOPIC;
    return store_put_dead_letters(f.s, letters, 2, err);
}

static bool call_add_audit(struct err *err)
{
    return store_add_audit(f.s, &(struct stored_audit){.what = STR("w")}, err);
}

static const struct str a_word = {"w", 1};
static const struct word_order a_word_order = {.list = {"ext", 3}, .words = &a_word, .n = 1};
static struct words_done words_done;

CALL(add_words, &a_word_order, &words_done, err)
CALL(publish_words, &a_word_order, &words_done, err)
CALL(delete_words, &a_word_order, &words_done, err)
CALL(change_word, STR("ext"), STR("w"), STR("x"), false, err)

static bool call_add_log(struct err *err)
{
    return store_add_log(f.s, &(struct stored_log){.table = TABLE, .event = STR("e")}, err);
}

static bool call_begin_build(struct err *err)
{
    return store_begin_build(f.s, &(struct stored_build){.version = one}, err);
}

CALL(add_build_node, &one, STR("a"), STR("a"), err)
CALL(end_build, &one, BUILD_FAILED, STR("why"), err)

static bool call_promote_version(struct err *err)
{
    return store_promote_version(f.s, &(struct promotion){.index = ALIAS, .number = 1}, err);
}

static bool call_take_up_return(struct err *err)
{
    const struct version_return r = {.version = one, .tables = {TABLE, STR("")}};

    return store_take_up_return(f.s, &r, err);
}

static bool call_reset_topic(struct err *err)
{
    const struct topic_reset r = {.topic = TOPIC, .start = {STR("start/shop"), STR("now")}};

    return store_reset_topic(f.s, &r, err);
}

static bool call_save_definitions(struct err *err)
{
    static const struct stored_definition defs[] = {
        {{"topic", 5}, {"shop", 4}, {"{}", 2}},
        {{"database", 8}, {"shop", 4}, {"{\"topic\":\"shop\"}", 16}},
    };
    struct stored_definition *stored;
    uint64_t revision;
    size_t n;

    return store_load_definitions(f.s, f.a, &stored, &n, &revision, err) &&
           store_save_definitions(f.s, revision, defs, 2, &no_effects, err);
}

static bool call_put_told(struct err *err)
{
    const struct stored_told t = {.topic = TOPIC, .node = STR("a"), .term = topic_term};

    return store_put_told(f.s, &t, err);
}

static bool call_put_told_node(struct err *err)
{
    return store_put_told_node(f.s, &(struct stored_told_node){.node = STR("a")}, err);
}

CALL(delete_told, TOPIC, err)
CALL(delete_told_node, STR("a"), err)

static const struct wish_owner *wish_owner(void)
{
    static struct wish_owner o = {{"shop", 4}, 0, 5};

    o.term = topic_term;
    return &o;
}

static bool call_put_wish(struct err *err)
{
    struct stored_wish w = {.guid = STR("1"), .topic = TOPIC, .node = STR("a")};

    return store_put_wish(f.s, &w, err);
}

static bool call_take_wish(struct err *err)
{
    struct stored_wish w;
    enum wish_take how;

    return store_take_wish(f.s, f.a, wish_owner(), 1, &w, &how, err);
}

static bool call_end_wish(struct err *err)
{
    const struct wish_answer answer = {.taken = wish_owner()->term, .status = 200};

    return store_end_wish(f.s, wish_owner(), 1, &answer, err);
}

static bool call_cancel_wish(struct err *err)
{
    bool goes_on;

    return store_cancel_wish(f.s, &(struct wish_name){1, STR("a")}, &goes_on, err);
}

static bool call_prune_wishes(struct err *err)
{
    return store_prune_wishes(f.s, 9, err);
}

enum writer {
    OWNER, /* the topic's */
    ANYBODY,
};

/* In an order in which the owner's calls find what they need. */
static const struct {
    const char *name;
    bool (*call)(struct err *err);
    enum writer who;
} writes[] = {
    {"put_value", call_put_value, OWNER},
    {"delete_value", call_delete_value, OWNER},
    {"keep_value", call_keep_value, OWNER},
    {"exchange_value", call_exchange_value, OWNER},
    {"put_first_value", call_put_first_value, OWNER},
    {"save_checkpoint", call_save_checkpoint, OWNER},
    {"new_version", call_new_version, OWNER},
    {"set_version_start", call_set_version_start, OWNER},
    {"set_version_definition", call_set_version_definition, OWNER},
    {"put_stop", call_put_stop, OWNER},
    {"put_rebuild", call_put_rebuild, OWNER},
    {"delete_rebuild", call_delete_rebuild, OWNER},
    {"put_shapes", call_put_shapes, OWNER},
    {"new_job", call_new_job, OWNER},
    {"save_job", call_save_job, OWNER},
    {"new_buckets", call_new_buckets, OWNER},
    {"take_bucket", call_take_bucket, ANYBODY}, /* whoever is the first */
    {"park_version", call_park_version, OWNER},
    {"save_wait", call_save_wait, OWNER},
    {"resume_version", call_resume_version, OWNER},
    {"begin_build", call_begin_build, OWNER},
    {"add_build_node", call_add_build_node, ANYBODY}, /* the node itself */
    {"end_build", call_end_build, OWNER},
    {"put_purged", call_put_purged, OWNER},
    {"end_purged", call_end_purged, OWNER},
    {"delete_purged_index", call_delete_purged_index, OWNER},
    {"put_snapshots", call_put_snapshots, OWNER},
    {"begin_snapshot_run", call_begin_snapshot_run, OWNER},
    {"ask_builds", call_ask_builds, OWNER},
    {"end_builds", call_end_builds, OWNER},
    {"release_snapshots", call_release_snapshots, OWNER},
    {"forget_part", call_forget_part, OWNER},
    {"end_snapshot_run", call_end_snapshot_run, OWNER},
    {"mark_snapshot", call_mark_snapshot, OWNER},
    {"put_gone", call_put_gone, OWNER},
    {"keep_searches", call_keep_searches, OWNER},
    {"end_gone", call_end_gone, OWNER},
    {"put_midnights", call_put_midnights, OWNER},
    {"put_fan_outs", call_put_fan_outs, OWNER},
    {"begin_fan_outs", call_begin_fan_outs, OWNER},
    {"save_fan_outs", call_save_fan_outs, OWNER},
    {"end_fan_outs", call_end_fan_outs, OWNER},
    {"put_dead_letters", call_put_dead_letters, OWNER},
    {"delete_dead_letter_of", call_delete_dead_letter_of, OWNER},
    {"delete_dead_letters", call_delete_dead_letters, OWNER},
    {"promote_version", call_promote_version, OWNER},
    {"order_return", call_order_return, OWNER},
    {"cancel_return", call_cancel_return, OWNER},
    {"take_up_return", call_take_up_return, OWNER},
    {"end_kept", call_end_kept, OWNER},
    {"stop_version", call_stop_version, OWNER},
    {"take_term", call_take_term, OWNER}, /* of a job */
    {"ask_term", call_ask_term, OWNER},
    {"ask_index", call_ask_index, OWNER},
    {"ask_index", call_ask_alias, OWNER},
    {"delete_jobs", call_delete_jobs, OWNER},
    {"delete_job", call_delete_job, OWNER},
    {"reset_topic", call_reset_topic, OWNER},
    {"end_dropped", call_end_dropped, OWNER},
    {"drop_versions", call_drop_versions, OWNER},
    {"delete_version", call_delete_version, OWNER},
    {"put_wish", call_put_wish, ANYBODY}, /* asks the owner */
    {"take_wish", call_take_wish, OWNER},
    {"end_wish", call_end_wish, OWNER},
    {"cancel_wish", call_cancel_wish, ANYBODY},
    {"prune_wishes", call_prune_wishes, ANYBODY}, /* by their age alone */
    {"put_told", call_put_told, OWNER},
    {"put_told_node", call_put_told_node, ANYBODY},       /* the node itself */
    {"delete_told", call_delete_told, ANYBODY},           /* nobody owns it any more */
    {"delete_told_node", call_delete_told_node, ANYBODY}, /* it is gone */
    {"prune_snapshots", call_prune_snapshots, ANYBODY},   /* by their age alone */
    {"drop_tombstones", call_drop_tombstones, ANYBODY},   /* by their age alone */
    {"date_history", call_date_history, ANYBODY},         /* fills in what is missing */
    {"add_audit", call_add_audit, ANYBODY},               /* adds only */
    {"add_log", call_add_log, ANYBODY},                   /* adds only */
    {"add_words", call_add_words, ANYBODY},               /* of no topic, as the next ones */
    {"publish_words", call_publish_words, ANYBODY},
    {"change_word", call_change_word, ANYBODY},
    {"delete_words", call_delete_words, ANYBODY},
    {"save_effects", call_save_effects, ANYBODY}, /* the first of a revision wins */
    {"save_definitions", call_save_definitions, ANYBODY},
};

/* Neither write for a topic nor are refused. */
static const char *const others[] = {
    "open_sqlite", "open_mysql", "close",      "kind",      "set_seal",  "doubts",
    "lose_term",   "owns",       "watch_loss", "find_term", "keep_path", "watch_refusal",
};

static bool is_known(struct str name)
{
    if (str_has_prefix(name, STR("load_")) || str_has_prefix(name, STR("get_")) ||
        str_has_prefix(name, STR("count_")) || str_has_prefix(name, STR("n_")) ||
        str_has_prefix(name, STR("sum_")) || str_has_prefix(name, STR("newest_")) ||
        str_equal(name, STR("dead_letter_level")) || str_equal(name, STR("changes")))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (str_equal(name, str_from(others[i])))
            return true;
    for (size_t i = 0; i < ARRAY_LEN(writes); i++)
        if (str_equal(name, str_from(writes[i].name)))
            return true;
    return false;
}

/* Calls that a header declares: "store_NAME(struct store *s". */
static void look_at_header(const char *name)
{
    const char *top = getenv("top_srcdir");
    char path[512];
    static char text[65536];
    size_t n = 0;
    FILE *file;

    snprintf(path, sizeof(path), "%s/src/store/%s.h", top == NULL ? "." : top, name);
    file = fopen(path, "r");
    if (file == NULL)
        fail_msg("%s cannot be read", path);
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    fclose(file);
    for (const char *at = text; (at = strstr(at, "store_")) != NULL; at += 6) {
        const char *end = at + 6;

        while (islower((unsigned char)*end) || isdigit((unsigned char)*end) || *end == '_')
            end++;
        if (strncmp(end, "(struct store *s", 16) != 0)
            continue;
        if (!is_known((struct str){at + 6, (size_t)(end - at) - 6}))
            fail_msg("%s: this test does not know who may call %.*s()", path, (int)(end - at),
                     at);
        n++;
    }
    assert_true(n > 0);
}

static void every_call_of_the_headers_is_known(void **state)
{
    static const char *const headers[] = {
        "store",        "audit", "later/midnight",    "later/snapshot", "build_log",
        "change",       "owned", "later/fan_out",     "later/gone",     "later/kept_search",
        "later/purged", "reset", "retired",           "told",           "turn",
        "waiting",      "wish",  "later/whole_table", "words/words"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(headers); i++)
        look_at_header(headers[i]);
}

static void fill(void)
{
    struct stored_version v = {.index = ALIAS, .topic = TOPIC};

    ok(call_save_definitions(&f.err));
    ok(store_take_term(f.s, STR("topic/shop"), &topic_term, &f.err));
    ok(store_new_version(f.s, &v, &f.err));
    ok(store_new_job(f.s, &job, &f.err));
    snprintf(job_thing, sizeof(job_thing), "job/%llu", (unsigned long long)job.id);
    ok(store_take_term(f.s, str_from(job_thing), &job_term, &f.err));
}

/* Another node takes the topic; on SQLite, which has no other, ours loses it. */
static struct store *lose_topic(void)
{
    struct store *other = NULL;
    uint64_t term;

    if (!on_mysql) {
        store_lose_term(f.s, STR("topic/shop"));
        return NULL;
    }
    ok(open_store(&other, &f.err));
    ok(store_take_term(other, STR("topic/shop"), &term, &f.err));
    assert_true(term > topic_term);
    return other;
}

static bool is_refused(const char *name, bool done)
{
    if (!done && f.err.kind == ERR_STOP && strstr(f.err.msg, "owned") != NULL)
        return true;
    if (!done && f.err.kind != ERR_REJECT && f.err.kind != ERR_STOP && f.err.kind != ERR_RETRY)
        fail_msg("store_%s(): %s", name, f.err.msg);
    return false;
}

static void who_lost_a_topic_writes_nothing_for_it(void **state)
{
    struct store *other;

    (void)state;
    fill();
    other = lose_topic();
    for (size_t i = 0; i < ARRAY_LEN(writes); i++) {
        const bool refused = is_refused(writes[i].name, writes[i].call(&f.err));

        if (refused != (writes[i].who == OWNER))
            fail_msg("store_%s() is %srefused: %s", writes[i].name, refused ? "" : "not ",
                     f.err.msg);
        f.err = (struct err){0};
    }
    store_close(other);
}

static void an_owner_is_refused_nothing(void **state)
{
    (void)state;
    fill();
    for (size_t i = 0; i < ARRAY_LEN(writes); i++) {
        if (is_refused(writes[i].name, writes[i].call(&f.err)))
            fail_msg("store_%s(): %s", writes[i].name, f.err.msg);
        f.err = (struct err){0};
    }
}

static void of_letters_of_several_topics_all_or_none_are_stored(void **state)
{
    struct store *other;
    uint64_t n;

    (void)state;
    fill();
    other = lose_topic();
    refused(call_put_dead_letters(&f.err), ERR_STOP);
    ok(store_n_dead_letters(f.s, STR(""), &n, &f.err));
    assert_int_equal(n, 0);
    store_close(other);
}

static void what_was_lost_is_written_again_once_it_is_taken(void **state)
{
    (void)state;
    fill();
    store_lose_term(f.s, STR("topic/shop"));
    refused(call_put_stop(&f.err), ERR_STOP);
    refused(call_save_checkpoint(&f.err), ERR_STOP);
    ok(store_take_term(f.s, STR("topic/shop"), &topic_term, &f.err));
    ok(call_put_stop(&f.err));
    ok(call_save_checkpoint(&f.err));
}

/* ---- what is stored while a write waits for the term ---- */

static void *promote_second(void *arg)
{
    const struct promotion p = {.index = ALIAS, .number = 2, .keep = {5, 1000}};
    struct err *err = arg;

    if (store_promote_version(f.s, &p, err))
        err->kind = ERR_NONE;
    return NULL;
}

static void wait_for_a_lock_wait(void)
{
    struct mysql_conn *c = server_connect();
    struct buf n = {0};

    for (int i = 0; i < 100 && (n.len == 0 || n.ptr[0] == '0'); i++) {
        server_exec(c, "DO SLEEP(0.12)"); /* the table is made anew 0.1 s after its last look */
        buf_clear(&n);
        assert_true(mysql_conn_scalar(c,
                                      STR("SELECT COUNT(*) FROM information_schema.innodb_trx"
                                          " WHERE trx_state = 'LOCK WAIT'"),
                                      &n, &f.err));
    }
    assert_string_not_equal(n.ptr, "0");
    buf_free(&n);
    mysql_conn_close(c);
}

/* The owner of the first version stops its table while the second one, of topic, replaces it.
 */
static void stop_while_it_is_replaced(struct str topic)
{
    struct stored_version v = {.index = ALIAS, .topic = topic}, *list;
    struct stored_job second = job;
    struct err err = {.kind = ERR_FATAL};
    bool is_available;
    struct store *other;
    pthread_t thread;
    size_t n;

    if (!on_mysql)
        return; /* nobody else can store anything */
    fill();
    ok(call_promote_version(&f.err));
    ok(store_new_version(f.s, &v, &f.err));
    second.version = 2;
    ok(store_new_job(f.s, &second, &f.err));
    ok(open_store(&other, &f.err));
    ok(store_begin_as(other, TOPIC, topic_term, &f.err));
    ok(store_is_in_state(other, &one, "available", &is_available, &f.err));
    assert_int_equal(pthread_create(&thread, NULL, promote_second, &err), 0);
    wait_for_a_lock_wait();
    ok(store_write_stop(other, &a_stop, &f.err));
    ok(store_end(other, true, &f.err));
    pthread_join(thread, NULL);
    assert_int_equal(err.kind, ERR_NONE);
    ok(store_load_versions(f.s, f.a, ALIAS, &list, &n, &f.err));
    same(list[0].state, STR("history")); /* its table was stopped, so it is not kept */
    store_close(other);
}

static void a_promotion_that_waited_for_the_term_knows_what_was_stored_meanwhile(void **state)
{
    (void)state;
    stop_while_it_is_replaced(TOPIC);
}

static void so_does_one_of_another_topic_than_the_version_that_it_replaces(void **state)
{
    (void)state;
    stop_while_it_is_replaced(STR("crm"));
}

/* ---- buckets ---- */

static struct stored_job add_bucket(void)
{
    struct stored_job bucket = job;

    bucket.kind = STR(JOB_BUCKET);
    ok(store_new_buckets(f.s, job_term, &job, &bucket, 1, &f.err));
    return bucket;
}

static void a_bucket_is_taken_by_one_and_only_as_it_was_seen(void **state)
{
    struct stored_job bucket, again;
    uint64_t term, newer;
    bool taken;

    (void)state;
    fill();
    bucket = again = add_bucket();
    ok(store_take_bucket(f.s, &bucket, STR("{\"node\":\"a\"}"), &term, &taken, &f.err));
    assert_true(taken);
    ok(store_take_bucket(f.s, &bucket, STR("{\"node\":\"b\"}"), &newer, &taken, &f.err));
    assert_false(taken);
    again.state = STR("running");
    again.parameters = STR("{\"node\":\"a\"}");
    ok(store_save_job(f.s, term, &again, &f.err));
    ok(store_take_bucket(f.s, &again, STR("{\"node\":\"b\"}"), &newer, &taken, &f.err));
    assert_true(taken);
    assert_true(newer > term);
    refused(store_save_job(f.s, term, &again, &f.err), ERR_STOP);
    again.state = STR("done");
    again.parameters = STR("{\"node\":\"b\"}");
    ok(store_save_job(f.s, newer, &again, &f.err));
}

static void a_bucket_of_a_version_that_is_built_no_more_is_not_taken(void **state)
{
    struct stored_job bucket;
    uint64_t term;
    bool taken;

    (void)state;
    fill();
    bucket = add_bucket();
    ok(call_promote_version(&f.err));
    ok(store_take_bucket(f.s, &bucket, STR("{}"), &term, &taken, &f.err));
    assert_false(taken);
}

static bool put_letter_of_version(struct err *err)
{
    struct stored_dead_letter d = some_letter("1");

    d.topic = TOPIC;
    d.index = CONCRETE;
    return store_put_dead_letters(f.s, &d, 1, err);
}

static bool put_purged_of_version(struct err *err)
{
    const struct stored_purged p = {
        .topic = TOPIC, .table = TABLE, .index = CONCRETE, .doc_id = STR("1"), .version = 7};

    return store_put_purged(f.s, &p, 1, err);
}

static void who_fills_a_bucket_of_a_version_stores_what_its_documents_leave(void **state)
{
    struct stored_job bucket;
    struct store *other;
    uint64_t term;
    bool taken;

    (void)state;
    fill();
    bucket = add_bucket();
    other = lose_topic();
    refused(put_letter_of_version(&f.err), ERR_STOP);
    refused(put_purged_of_version(&f.err), ERR_STOP);
    ok(store_take_bucket(f.s, &bucket, STR("{}"), &term, &taken, &f.err));
    assert_true(taken);
    bucket.state = STR("running");
    ok(store_save_job(f.s, term, &bucket, &f.err)); /* without its topic */
    ok(put_letter_of_version(&f.err));
    ok(put_purged_of_version(&f.err));
    refused(call_put_stop(&f.err), ERR_STOP);
    bucket.parameters = STR("{}");
    if (other != NULL) {
        ok(store_take_bucket(other, &bucket, STR("{}"), &term, &taken, &f.err));
        assert_true(taken);
        refused(put_letter_of_version(&f.err), ERR_STOP);
        refused(put_purged_of_version(&f.err), ERR_STOP);
    }
    store_close(other);
}

static void count_loss(void *ctx)
{
    ++*(int *)ctx;
}

static void a_loss_is_told_once_and_without_a_lock(void **state)
{
    struct store *other;
    uint64_t term;
    int n = 0;

    (void)state;
    if (!on_mysql)
        return; /* nobody else can take it */
    fill();
    store_watch_loss(f.s, count_loss, &n);
    other = lose_topic();
    assert_true(store_owns(f.s, STR("topic/shop")));
    assert_true(store_find_term(f.s, STR("topic/shop"), &term));
    assert_int_equal(term, topic_term);
    for (int i = 0; i < 3; i++)
        refused(call_put_stop(&f.err), ERR_STOP);
    assert_false(store_owns(f.s, STR("topic/shop")));
    assert_false(store_find_term(f.s, STR("topic/shop"), &term));
    assert_int_equal(n, 1);
    /* What is owned under an older term of our own is refused, and not lost. */
    ok(store_take_term(f.s, STR("topic/shop"), &topic_term, &f.err));
    topic_term--;
    refused(call_save_checkpoint(&f.err), ERR_STOP);
    assert_true(store_owns(f.s, STR("topic/shop")));
    assert_int_equal(n, 1);
    store_close(other);
}

static void who_has_the_store_alone_need_not_take_what_an_earlier_daemon_had(void **state)
{
    (void)state;
    fill();
    reopen();
    assert_int_equal(store_owns(f.s, STR("topic/shop")), !on_mysql);
    if (on_mysql)
        refused(call_put_stop(&f.err), ERR_STOP);
    else
        ok(call_put_stop(&f.err));
    assert_int_equal(store_owns(f.s, STR("topic/shop")), !on_mysql);
}

/* Its first version is of "shop", and its second one of "crm". */
static void each_version_of_an_index_that_moved_is_its_own_topics(void **state)
{
    static const char *const topics[] = {"topic/shop", "topic/crm"};
    static const struct str names[] = {{"orders_v1", 9}, {"orders_v2", 9}};
    struct stored_version v = {.index = ALIAS, .topic = STR("crm")};
    uint64_t term;

    (void)state;
    fill();
    ok(call_promote_version(&f.err));
    ok(store_take_term(f.s, STR("topic/crm"), &term, &f.err));
    ok(store_new_version(f.s, &v, &f.err));
    for (uint64_t lost = 1; lost <= 2; lost++) {
        const struct version_name theirs = {ALIAS, lost}, ours = {ALIAS, 3 - lost};

        store_lose_term(f.s, str_from(topics[lost - 1]));
        refused(store_set_version_start(f.s, &theirs, 7, &f.err), ERR_STOP);
        refused(store_ask_index(f.s, names[lost - 1], &f.err), ERR_STOP);
        ok(store_set_version_start(f.s, &ours, 7, &f.err));
        ok(store_ask_index(f.s, names[2 - lost], &f.err));
        ok(store_take_term(f.s, str_from(topics[lost - 1]), &term, &f.err));
    }
    /* Who owns the new version has the searches turn to it. */
    store_lose_term(f.s, STR("topic/shop"));
    ok(store_promote_version(f.s, &(struct promotion){.index = ALIAS, .number = 2}, &f.err));
}

/* What the engine refused while the topic was lost has no dead letter. */
static void a_purged_key_that_was_written_before_a_loss_stays(void **state)
{
    struct stored_purged p = a_purged, *list;
    size_t n;

    (void)state;
    fill();
    ok(call_put_purged(&f.err));
    ok(store_load_purged(f.s, f.a, CONCRETE, (struct purged_filter){0}, 9, &list, &n, &f.err));
    assert_int_equal(n, 1);
    p.id = list[0].id;
    p.term = topic_term;
    store_lose_term(f.s, STR("topic/shop"));
    ok(store_take_term(f.s, STR("topic/shop"), &topic_term, &f.err));
    refused(store_end_purged(f.s, &p, 1, &ignored, &f.err), ERR_STOP);
    assert_int_equal(ignored, 0);
    p.term = topic_term;
    ok(store_end_purged(f.s, &p, 1, &ignored, &f.err));
    assert_int_equal(ignored, 1);
}

static const struct CMUnitTest tests[] = {
    STORE_TEST(every_call_of_the_headers_is_known),
    STORE_TEST(who_lost_a_topic_writes_nothing_for_it),
    STORE_TEST(an_owner_is_refused_nothing),
    STORE_TEST(of_letters_of_several_topics_all_or_none_are_stored),
    STORE_TEST(what_was_lost_is_written_again_once_it_is_taken),
    STORE_TEST(a_promotion_that_waited_for_the_term_knows_what_was_stored_meanwhile),
    STORE_TEST(so_does_one_of_another_topic_than_the_version_that_it_replaces),
    STORE_TEST(a_bucket_is_taken_by_one_and_only_as_it_was_seen),
    STORE_TEST(a_bucket_of_a_version_that_is_built_no_more_is_not_taken),
    STORE_TEST(who_fills_a_bucket_of_a_version_stores_what_its_documents_leave),
    STORE_TEST(a_loss_is_told_once_and_without_a_lock),
    STORE_TEST(who_has_the_store_alone_need_not_take_what_an_earlier_daemon_had),
    STORE_TEST(each_version_of_an_index_that_moved_is_its_own_topics),
    STORE_TEST(a_purged_key_that_was_written_before_a_loss_stays),
};
const struct test_part store_owned = {tests, ARRAY_LEN(tests)};

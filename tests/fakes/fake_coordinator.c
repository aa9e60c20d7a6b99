#include "config.h"

#include "tests/fakes/fake_coordinator.h"

#include "rebalance/access/access.h"
#include "rebalance/access/first_admin.h"
#include "rebalance/access/tokens.h"
#include "rebalance/admin/audit.h"
#include "rebalance/admin/definitions.h"
#include "rebalance/admin/drain.h"
#include "rebalance/admin/follow.h"
#include "rebalance/admin/nodes.h"
#include "rebalance/admin/questions.h"
#include "rebalance/admin/settings.h"
#include "rebalance/dead_letter/orders.h"
#include "rebalance/delayed/orders.h"
#include "rebalance/fill/parameters.h"
#include "rebalance/history/history.h"
#include "rebalance/repeat/repeat.h"
#include "rebalance/replay/replay.h"
#include "rebalance/state/coordinator.h"
#include "rebalance/tell/alarms.h"
#include "rebalance/topic/orders.h"
#include "rebalance/trace/trace.h"
#include "rebalance/verify/verify.h"
#include "rebalance/version/index.h"
#include "rebalance/words/words.h"
#include "src/base/buf.h"
#include "src/store/audit.h"
#include "src/store/words/words.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

static pthread_mutex_t call_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t held_cond = PTHREAD_COND_INITIALIZER;
static bool is_held; /* guarded by call_lock */

struct coordinator *fake_coordinator_get(void)
{
    return (struct coordinator *)(void *)&fake_coordinator;
}

bool fake_coordinator_was_called(void)
{
    pthread_mutex_lock(&call_lock);

    const bool yes = fake_coordinator.call[0] != '\0';

    pthread_mutex_unlock(&call_lock);
    return yes;
}

void fake_coordinator_hold(bool hold)
{
    pthread_mutex_lock(&call_lock);
    is_held = hold;
    pthread_cond_broadcast(&held_cond);
    pthread_mutex_unlock(&call_lock);
}

void fake_coordinator_set_answer(const char *answer)
{
    pthread_mutex_lock(&call_lock);
    fake_coordinator.answer = answer;
    pthread_mutex_unlock(&call_lock);
}

static bool called(struct buf *json, struct err *err, const char *fmt, ...) PRINTF_LIKE(3, 4);

static bool called(struct buf *json, struct err *err, const char *fmt, ...)
{
    struct fake_coordinator *f = &fake_coordinator;
    struct timespec delay = {f->delay_ms / 1000, f->delay_ms % 1000 * 1000000L};
    const char *text;
    va_list ap;

    pthread_mutex_lock(&call_lock);
    va_start(ap, fmt);
    vsnprintf(f->call, sizeof(f->call), fmt, ap);
    va_end(ap);
    while (is_held)
        pthread_cond_wait(&held_cond, &call_lock);
    text = f->answer;
    pthread_mutex_unlock(&call_lock);
    if (f->delay_ms > 0)
        nanosleep(&delay, NULL);
    if (text != NULL || f->fail.kind == ERR_NONE)
        buf_append(json, str_from(text != NULL ? text : "{}"));
    if (f->fail.kind == ERR_NONE)
        return true;
    *err = f->fail;
    return false;
}

bool coordinator_open(struct coordinator **out, const struct coordinator_options *opt,
                      struct err *err)
{
    (void)opt;
    (void)err;
    *out = fake_coordinator_get();
    return true;
}

bool coordinator_start(struct coordinator *co, struct err *err)
{
    (void)co;
    (void)err;
    return true;
}

void coordinator_stop(struct coordinator *co)
{
    (void)co;
}

void coordinator_close(struct coordinator *co)
{
    (void)co;
}

static const char *asked(bool dry_run)
{
    return dry_run ? " only asked" : "";
}

/* What is asked of terms, or nothing. */
static const char *terms_text(const struct change_terms *t)
{
    static __thread char text[64];

    if (t->revision != NULL)
        snprintf(text, sizeof(text), " of revision %" PRIu64 "%s", *t->revision,
                 asked(t->dry_run));
    else
        snprintf(text, sizeof(text), "%s", asked(t->dry_run));
    return text;
}

bool coordinator_apply(struct coordinator *co, const struct apply_request *r,
                       uint64_t *revision, struct buf *json, struct err *err)
{
    (void)co;
    *revision = 42;
    return called(json, err, "apply %zu %s %s %s dry_run=%d prune=%d take_alias=%d%s",
                  r->files.n, r->files.list[0].name.ptr, r->files.list[0].text.ptr,
                  r->files.list[0].folder.ptr, r->dry_run, r->prune, r->take_alias,
                  terms_text(&r->terms));
}

bool coordinator_export(struct coordinator *co, bool sees_files, uint64_t *revision,
                        struct buf *yaml, struct err *err)
{
    (void)co;
    *revision = 42;
    return called(yaml, err, "export%s", sees_files ? "" : " without files");
}

bool coordinator_list(struct coordinator *co, const struct list_order *o, int64_t *revision,
                      struct buf *json, struct err *err)
{
    (void)co;
    *revision = str_equal(o->noun, STR("job")) ? -1 : 42;
    return called(json, err, "list %.*s %.*s%s", (int)o->noun.len, o->noun.ptr,
                  (int)o->name.len, o->name.ptr, o->sees_rows ? "" : " without rows");
}

void coordinator_note_audit(struct coordinator *co, const struct audit_entry *e)
{
    (void)co;
    (void)e;
}

bool coordinator_list_audit(struct coordinator *co, const struct audit_filter *f,
                            struct buf *json, struct err *err)
{
    (void)co;
    return called(json, err, "audit %.*s %d", (int)f->object.len, f->object.ptr,
                  (int)f->before_id);
}

/* The token "mrt_operator" is an operator's, and so on; nobody else is known. */
bool coordinator_recognise(struct coordinator *co, struct str token, struct arena *a,
                           struct recognised *out)
{
    (void)co;
    (void)a;
    if (__atomic_load_n(&fake_coordinator.tokens_ended, __ATOMIC_ACQUIRE))
        return false;
    if (token.len < 4 || memcmp(token.ptr, "mrt_", 4) != 0 ||
        !role_parse(&out->role, (struct str){token.ptr + 4, token.len - 4}))
        return false;
    out->who = STR("user test");
    out->user = STR("test");
    out->sees_rows = out->role >= ROLE_OPERATOR;
    return true;
}

bool coordinator_has_admin(struct coordinator *co)
{
    (void)co;
    return !fake_coordinator.has_no_admin;
}

bool coordinator_put_user(struct coordinator *co, const struct user_change *u, struct buf *json,
                          struct err *err)
{
    (void)co;
    return called(json, err, "put user %.*s role=%.*s password=%.*s new=%d rows=%d%s",
                  (int)u->name.len, u->name.ptr, (int)u->role.len, u->role.ptr,
                  (int)u->password.len, u->password.ptr, u->is_new,
                  u->sets_rows ? u->sees_rows : -1, asked(u->dry_run));
}

bool coordinator_delete_user(struct coordinator *co, struct str name, bool dry_run,
                             struct buf *json, struct err *err)
{
    (void)co;
    return called(json, err, "delete user %.*s%s", (int)name.len, name.ptr, asked(dry_run));
}

bool coordinator_add_token(struct coordinator *co, const struct token_order *t,
                           struct buf *json, struct err *err)
{
    (void)co;
    return called(json, err, "add token %.*s role=%.*s days=%d by=%.*s%s", (int)t->name.len,
                  t->name.ptr, (int)t->role.len, t->role.ptr, (int)t->days, (int)t->by.len,
                  t->by.ptr, asked(t->dry_run));
}

bool coordinator_set_token(struct coordinator *co, const struct token_change *t,
                           struct buf *json, struct err *err)
{
    (void)co;
    return called(json, err, "set token %.*s role=%.*s days=%d rows=%d%s", (int)t->name.len,
                  t->name.ptr, (int)t->role.len, t->role.ptr, (int)t->days,
                  t->sets_rows ? t->sees_rows : -1, asked(t->dry_run));
}

bool coordinator_delete_token(struct coordinator *co, struct str name, bool dry_run,
                              struct buf *json, struct err *err)
{
    (void)co;
    return called(json, err, "delete token %.*s%s", (int)name.len, name.ptr, asked(dry_run));
}

void coordinator_open_first_admin(struct coordinator *co, const char *page)
{
    (void)co;
    (void)page;
}

bool coordinator_awaits_first_admin(struct coordinator *co)
{
    (void)co;
    return true;
}

/* The token "mrt_first" counts. */
bool coordinator_add_first_admin(struct coordinator *co, const struct first_admin_order *o,
                                 char token[TOKEN_TEXT + 1], struct buf *json, struct err *err)
{
    (void)co;
    if (!str_equal(o->token, STR("mrt_first")))
        return err_set_code(err, ERR_REJECT, "http", 401, "the token is wrong");
    snprintf(token, TOKEN_TEXT + 1, "mrt_admin");
    return called(json, err, "first admin %.*s", (int)o->name.len, o->name.ptr);
}

/* The key "again" has come before. */
bool coordinator_begin_repeat(struct coordinator *co, const struct repeat_key *k,
                              struct repeated *out, int *status, struct buf *answer,
                              struct err *err)
{
    (void)co;
    out->still_runs = str_equal(k->key, STR("runs"));
    if (out->still_runs || str_equal(k->key, STR("lost")))
        return err_set_code(err, ERR_REJECT, "http", 409, "it runs, or nobody knows");
    out->is_first = !str_equal(k->key, STR("again"));
    if (!out->is_first) {
        *status = 202;
        buf_append(answer, STR("{\"first\":true}"));
    }
    return true;
}

void coordinator_end_repeat(struct coordinator *co, const struct repeated *r, int status,
                            struct str answer)
{
    (void)co;
    (void)r;
    (void)status;
    (void)answer;
}

/* The password of each is the name. */
bool coordinator_change_password(struct coordinator *co, const struct password_change *p,
                                 char token[TOKEN_TEXT + 1], struct buf *json, struct err *err)
{
    (void)co;
    if (!str_equal(p->name, p->old))
        return err_set_code(err, ERR_REJECT, "http", 403, "the old password is wrong");
    snprintf(token, TOKEN_TEXT + 1, "mrt_viewer");
    return called(json, err, "password of %.*s", (int)p->name.len, p->name.ptr);
}

/* The password of each is the name. */
bool coordinator_log_in(struct coordinator *co, const struct log_in_order *o,
                        char token[TOKEN_TEXT + 1], struct buf *json, struct err *err)
{
    (void)co;
    if (!str_equal(o->name, o->password))
        return err_set_code(err, ERR_REJECT, "http", 401, "the name or the password is wrong");
    snprintf(token, TOKEN_TEXT + 1, "mrt_viewer");
    return called(json, err, "log in %.*s", (int)o->name.len, o->name.ptr);
}

bool coordinator_log_out(struct coordinator *co, struct str token, struct err *err)
{
    struct buf nothing = {0};

    (void)co;

    const bool ok = called(&nothing, err, "log out %.*s", (int)token.len, token.ptr);

    buf_free(&nothing);
    return ok;
}

/* ---- words ---- */

static bool called_words(struct buf *json, struct err *err, const char *what,
                         const struct word_order *o)
{
    return called(json, err, "%s %.*s %d %d%s", what, (int)o->list.len, o->list.ptr, (int)o->n,
                  o->publish, asked(o->dry_run));
}

bool coordinator_add_words(struct coordinator *co, const struct word_order *o, struct buf *json,
                           struct err *err)
{
    (void)co;
    return called_words(json, err, "add words", o);
}

bool coordinator_publish_words(struct coordinator *co, const struct word_order *o,
                               struct buf *json, struct err *err)
{
    (void)co;
    return called_words(json, err, "publish words", o);
}

bool coordinator_delete_words(struct coordinator *co, const struct word_order *o,
                              struct buf *json, struct err *err)
{
    (void)co;
    return called_words(json, err, "delete words", o);
}

bool coordinator_change_word(struct coordinator *co, const struct word_order *o,
                             struct str into, struct buf *json, struct err *err)
{
    (void)co;
    return called(json, err, "change word %.*s %.*s %.*s%s", (int)o->list.len, o->list.ptr,
                  (int)o->words[0].len, o->words[0].ptr, (int)into.len, into.ptr,
                  asked(o->dry_run));
}

bool coordinator_import_words(struct coordinator *co, const struct word_order *o,
                              struct str text, struct buf *json, struct err *err)
{
    (void)co;
    return called(json, err, "import words %.*s %d %d%s", (int)o->list.len, o->list.ptr,
                  (int)text.len, o->publish, asked(o->dry_run));
}

bool coordinator_list_words(struct coordinator *co, const struct word_filter *f,
                            struct buf *json, struct err *err)
{
    (void)co;
    return called(json, err, "words %.*s %.*s %d%d %.*s %d", (int)f->list.len, f->list.ptr,
                  (int)f->word.len, f->word.ptr, f->only_new, f->only_published,
                  (int)f->after_word.len, f->after_word.ptr, (int)f->limit);
}

bool coordinator_export_words(struct coordinator *co, const struct word_filter *f,
                              struct buf *text, struct err *err)
{
    (void)co;
    return called(text, err, "export words %.*s", (int)f->list.len, f->list.ptr);
}

bool coordinator_word_status(struct coordinator *co, struct buf *json, struct err *err)
{
    (void)co;
    return called(json, err, "word status");
}

bool coordinator_serve_words(struct coordinator *co, const struct word_pull *p,
                             struct word_file *file, struct buf *text, struct err *err)
{
    struct buf words = {0};
    bool ok;

    (void)co;
    *file = (struct word_file){.etag = "\"e1\"", .changed_ms = 1000};
    ok = called(&words, err, "serve words %.*s to %.*s", (int)p->list.len, p->list.ptr,
                (int)p->address.len, p->address.ptr);
    if (ok && !str_equal(p->has, str_from(file->etag)))
        buf_append(text, buf_str(&words));
    buf_free(&words);
    return ok;
}

bool coordinator_try_words(struct coordinator *co, struct str analyzer, struct str text,
                           struct buf *json, struct err *err)
{
    (void)co;
    return called(json, err, "try words %.*s %.*s", (int)analyzer.len, analyzer.ptr,
                  (int)text.len, text.ptr);
}

bool coordinator_delete(struct coordinator *co, struct str noun, struct str name,
                        const struct change_terms *terms, struct buf *json, struct err *err)
{
    (void)co;
    return called(json, err, "delete %.*s %.*s%s", (int)noun.len, noun.ptr, (int)name.len,
                  name.ptr, terms_text(terms));
}

bool coordinator_delete_table(struct coordinator *co, struct str table, struct str confirm,
                              const struct change_terms *terms, struct buf *json,
                              struct err *err)
{
    (void)co;
    return called(json, err, "delete table %.*s confirm=%.*s%s", (int)table.len, table.ptr,
                  (int)confirm.len, confirm.ptr, terms_text(terms));
}

bool coordinator_status(struct coordinator *co, struct buf *json, struct err *err)
{
    (void)co;
    return called(json, err, "status");
}

bool coordinator_index_create(struct coordinator *co, struct str table,
                              const struct index_create_options *opt, struct buf *json,
                              struct err *err)
{
    (void)co;
    return called(json, err,
                  "index create %.*s rate=%" PRIu64 " chunk=%zu buckets=%" PRIu64
                  "/%s nodes=%d take=%d%d hold=%d keep=%d verify=%s%s",
                  (int)table.len, table.ptr, opt->rate, opt->chunk, opt->buckets,
                  buckets_by_word(opt->by), (int)opt->nodes, opt->take_index, opt->take_alias,
                  opt->hold, opt->keeps ? (int)opt->keep : -1,
                  opt->checks ? build_check_word(opt->check) : "-", opt->dry_run ? " dry" : "");
}

bool coordinator_index_delete(struct coordinator *co, struct str table, uint64_t number,
                              bool dry_run, struct buf *json, struct err *err)
{
    (void)co;
    return called(json, err, "index delete %.*s %" PRIu64 "%s", (int)table.len, table.ptr,
                  number, asked(dry_run));
}

bool coordinator_index_cutover(struct coordinator *co, struct str table, uint64_t accepted,
                               bool dry_run, struct buf *json, struct err *err)
{
    (void)co;
    return called(json, err, "index cutover %.*s %" PRIu64 "%s", (int)table.len, table.ptr,
                  accepted, asked(dry_run));
}

bool coordinator_index_rollback(struct coordinator *co, struct str table, uint64_t number,
                                bool dry_run, struct buf *json, struct err *err)
{
    (void)co;
    return called(json, err, "index rollback %.*s %" PRIu64 "%s", (int)table.len, table.ptr,
                  number, asked(dry_run));
}

bool coordinator_index_reset(struct coordinator *co, struct str table, bool dry_run,
                             struct buf *json, struct err *err)
{
    (void)co;
    return called(json, err, "index reset %.*s%s", (int)table.len, table.ptr, asked(dry_run));
}

bool coordinator_index_set(struct coordinator *co, struct str table, const struct job_change *c,
                           bool dry_run, struct buf *json, struct err *err)
{
    (void)co;
    return called(json, err, "index set %.*s rate=%d nodes=%d%s", (int)table.len, table.ptr,
                  c->sets_rate ? (int)c->rate : -1, c->sets_nodes ? (int)c->nodes : -1,
                  asked(dry_run));
}

bool coordinator_topic_reset(struct coordinator *co, struct str topic, bool dry_run,
                             struct buf *json, struct err *err)
{
    (void)co;
    return called(json, err, "topic reset %.*s%s", (int)topic.len, topic.ptr, asked(dry_run));
}

bool coordinator_index_pause(struct coordinator *co, struct str table, struct str reason,
                             bool dry_run, struct buf *json, struct err *err)
{
    (void)co;
    return called(json, err, "index pause %.*s %.*s%s", (int)table.len, table.ptr,
                  (int)reason.len, reason.ptr, asked(dry_run));
}

bool coordinator_index_resume(struct coordinator *co, struct str table, bool dry_run,
                              struct buf *json, struct err *err)
{
    (void)co;
    return called(json, err, "index resume %.*s%s", (int)table.len, table.ptr, asked(dry_run));
}

bool coordinator_topic_pause(struct coordinator *co, struct str topic, struct str reason,
                             bool dry_run, struct buf *json, struct err *err)
{
    (void)co;
    return called(json, err, "topic pause %.*s %.*s%s", (int)topic.len, topic.ptr,
                  (int)reason.len, reason.ptr, asked(dry_run));
}

bool coordinator_topic_resume(struct coordinator *co, struct str topic, bool dry_run,
                              struct buf *json, struct err *err)
{
    (void)co;
    return called(json, err, "topic resume %.*s%s", (int)topic.len, topic.ptr, asked(dry_run));
}

bool coordinator_nodes(struct coordinator *co, struct str name, struct buf *json,
                       struct err *err)
{
    (void)co;
    return called(json, err, "nodes %.*s", (int)name.len, name.ptr);
}

bool coordinator_change_nodes(struct coordinator *co, const struct node_request *r,
                              struct buf *json, struct err *err)
{
    (void)co;
    return called(json, err, "change nodes %d node=%.*s topic=%.*s dry_run=%d", (int)r->ask,
                  (int)r->node.len, r->node.ptr, (int)r->topic.len, r->topic.ptr, r->dry_run);
}

bool coordinator_forget_node(struct coordinator *co, struct str name, bool dry_run,
                             struct buf *json, struct err *err)
{
    (void)co;
    return called(json, err, "forget node %.*s%s", (int)name.len, name.ptr, asked(dry_run));
}

/* The files of a draft, or nothing. */
static const char *draft_text(const struct definition_files *draft)
{
    static __thread char text[200];

    text[0] = '\0';
    if (draft != NULL)
        snprintf(text, sizeof(text), " of %zu files: %s %s", draft->n, draft->list[0].name.ptr,
                 draft->list[0].text.ptr);
    return text;
}

bool coordinator_explain(struct coordinator *co, struct str table, struct str key,
                         const struct definition_files *draft, struct buf *json,
                         struct err *err)
{
    (void)co;
    return called(json, err, "explain %.*s %.*s%s", (int)table.len, table.ptr, (int)key.len,
                  key.ptr, draft_text(draft));
}

bool coordinator_mapping(struct coordinator *co, struct str table,
                         const struct definition_files *draft, struct buf *json,
                         struct err *err)
{
    (void)co;
    return called(json, err, "mapping %.*s%s", (int)table.len, table.ptr, draft_text(draft));
}

bool coordinator_generate_columns(struct coordinator *co, struct str table, struct buf *json,
                                  struct err *err)
{
    (void)co;
    return called(json, err, "columns %.*s", (int)table.len, table.ptr);
}

bool coordinator_doctor(struct coordinator *co, struct buf *json, struct err *err)
{
    (void)co;
    return called(json, err, "doctor");
}

static bool dead_letters(const char *what, const struct dead_letter_filter *f, struct buf *json,
                         struct err *err)
{
    return called(json, err,
                  "dead letters %s topic=%.*s table=%.*s index=%.*s reason=%.*s after=%" PRIu64
                  " limit=%zu id=%" PRIu64 " body=%d",
                  what, (int)f->topic.len, f->topic.ptr, (int)f->table.len, f->table.ptr,
                  (int)f->index.len, f->index.ptr, (int)f->reason_like.len, f->reason_like.ptr,
                  f->after_id, f->limit, f->id, f->bodies);
}

bool coordinator_dead_letters(struct coordinator *co, const struct dead_letter_filter *f,
                              struct buf *json, struct err *err)
{
    (void)co;
    return dead_letters("list", f, json, err);
}

bool coordinator_dead_letter_replay(struct coordinator *co, const struct dead_letter_filter *f,
                                    bool dry_run, struct buf *json, struct err *err)
{
    (void)co;
    return dead_letters(dry_run ? "replay only asked" : "replay", f, json, err);
}

bool coordinator_dead_letter_discard(struct coordinator *co, const struct dead_letter_filter *f,
                                     bool dry_run, struct buf *json, struct err *err)
{
    (void)co;
    return dead_letters(dry_run ? "discard only asked" : "discard", f, json, err);
}

bool coordinator_delayed(struct coordinator *co, const struct snapshot_filter *f,
                         struct buf *json, struct err *err)
{
    (void)co;
    return called(json, err,
                  "delayed list topic=%.*s table=%.*s op=%.*s row=%.*s day=%.*s status=%.*s"
                  " after=%" PRIu64 " limit=%zu",
                  (int)f->topic.len, f->topic.ptr, (int)f->table.len, f->table.ptr,
                  (int)f->op.len, f->op.ptr, (int)f->row_id.len, f->row_id.ptr, (int)f->day.len,
                  f->day.ptr, (int)f->status.len, f->status.ptr, f->after_id, f->limit);
}

bool coordinator_delayed_runs(struct coordinator *co, bool waiting, struct buf *json,
                              struct err *err)
{
    (void)co;
    return called(json, err, "delayed runs waiting=%d", waiting);
}

static bool delayed(const char *what, const struct delayed_order *o, struct buf *json,
                    struct err *err)
{
    return called(json, err, "delayed %s topic=%.*s table=%.*s ids=%zu", what,
                  (int)o->topic.len, o->topic.ptr, (int)o->table.len, o->table.ptr, o->n_ids);
}

bool coordinator_delayed_run(struct coordinator *co, const struct delayed_order *o,
                             struct buf *json, struct err *err)
{
    (void)co;
    return delayed("run", o, json, err);
}

bool coordinator_delayed_cost(struct coordinator *co, const struct delayed_order *o,
                              struct buf *json, struct err *err)
{
    (void)co;
    return delayed("cost", o, json, err);
}

bool coordinator_delayed_may_run(struct coordinator *co, const struct delayed_order *o,
                                 const struct str *topics, size_t n, struct err *err)
{
    (void)co, (void)o, (void)topics, (void)n, (void)err;
    return true;
}

bool coordinator_delayed_done(struct coordinator *co, const struct delayed_order *o,
                              struct buf *json, struct err *err)
{
    (void)co;
    return delayed("done", o, json, err);
}

bool coordinator_history(struct coordinator *co, struct str topic, uint64_t hours,
                         struct buf *json, struct err *err)
{
    (void)co;
    return called(json, err, "history %.*s %" PRIu64, (int)topic.len, topic.ptr, hours);
}

void coordinator_metrics(struct coordinator *co, struct buf *out)
{
    (void)co;
    buf_append(out, STR("millrace_source_connected{topic=\"shop\"} 1\n"));
}

bool coordinator_ready(struct coordinator *co, struct buf *json)
{
    (void)co;
    buf_printf(json, "{\"schema\":\"millrace/ready/1\",\"ready\":%s}",
               fake_coordinator.not_ready ? "false" : "true");
    return !fake_coordinator.not_ready;
}

const char fake_status[] =
    "{\"schema\":\"millrace/status/1\",\"version\":\"0.1.0\",\"node\":\"db1\","
    "\"started\":\"2026-11-21T10:02:11Z\",\"ok\":false,\"checks\":["
    "{\"id\":\"topic.runs\",\"group\":\"topic billing\",\"status\":\"fail\",\"message\":\"the "
    "server has purged bin.000077, from which we have to go on: its disk is full <95%>\","
    "\"why\":\"Millrace follows nothing on this server meanwhile\",\"fix\":\"millrace "
    "topic reset billing, then index create for each of its tables\"},"
    "{\"id\":\"table.built\",\"group\":\"table shop.customer\",\"status\":\"warn\",\"message\":"
    "\"has no index yet\",\"why\":\"searches find none of its documents\",\"fix\":\"millrace "
    "index create shop.customer\"}],\"topics\":["
    "{\"name\":\"shop\",\"server\":\"MariaDB 10.11.6 at 127.0.0.1:3306\",\"state\":\"running\","
    "\"file\":\"binlog.000412\",\"position\":88213441,\"gtid\":\"0-1-48213\",\"epoch\":1,"
    "\"lag_seconds\":0.4,\"lag_bytes\":53211,\"rate\":1210.4,\"retention_seconds\":864000,"
    "\"reason\":\"\",\"fix\":\"\",\"warnings\":[]},"
    "{\"name\":\"billing\",\"server\":\"MySQL 8.0.31 at db2:3306\",\"state\":\"fail\","
    "\"file\":\"bin.000077\",\"position\":5120,\"gtid\":\"\",\"epoch\":2,\"lag_seconds\":932,"
    "\"lag_bytes\":1073741824,\"rate\":0,\"retention_seconds\":3600,"
    "\"reason\":\"the server has purged bin.000077, from which we have to go on\","
    "\"fix\":\"millrace topic reset billing, then index create for each of its tables\","
    "\"warnings\":[\"the lag is more than half of the time that the server keeps its log\"]}],"
    "\"tables\":["
    "{\"table\":\"shop.orders\",\"index\":\"orders\",\"topic\":\"shop\",\"state\":"
    "\"available\","
    "\"version\":7,\"documents\":10241,\"pending\":false,\"dead_letters\":0,\"reason\":\"\","
    "\"fix\":\"\",\"build\":null},"
    "{\"table\":\"shop.product\",\"index\":\"product\",\"topic\":\"shop\",\"state\":"
    "\"changing\","
    "\"version\":3,\"documents\":1250000,\"pending\":true,\"dead_letters\":12,\"reason\":\"\","
    "\"fix\":\"\",\"build\":{\"version\":4,\"rows_done\":520000,\"rows_total\":1250000,"
    "\"rate\":41200,\"remaining_seconds\":17.7,\"rate_limit\":0}},"
    "{\"table\":\"shop.customer\",\"index\":\"customer\",\"topic\":\"shop\","
    "\"state\":\"unavailable\",\"version\":0,\"documents\":0,\"pending\":false,"
    "\"dead_letters\":0,\"reason\":\"\",\"fix\":\"\",\"build\":null},"
    "{\"table\":\"billing.invoice\",\"index\":\"invoice\",\"topic\":\"billing\","
    "\"state\":\"held\",\"version\":2,\"documents\":88,\"pending\":false,\"dead_letters\":0,"
    "\"reason\":\"the engine blocks writes to invoice_v2: disk is full <95%>\","
    "\"fix\":\"free disk space; the block goes by itself\",\"build\":null}],"
    "\"delivery\":{\"queued\":311,\"loading\":20,\"in_flight\":500,\"bytes_held\":1931744,"
    "\"requests\":48213,\"retries\":2},"
    "\"search\":{\"flavor\":\"OpenSearch\",\"version\":\"2.19.5\",\"health\":\"yellow\","
    "\"url\":\"http://127.0.0.1:9200\"},"
    "\"changes\":{\"read\":4821312,\"delivered\":4820100,\"superseded\":12,\"filtered\":700,"
    "\"deferred\":0,\"purged\":0,\"dead\":0,\"in_flight\":500}}";

bool coordinator_delivery_settings(struct coordinator *co, struct str name, struct buf *json,
                                   struct err *err)
{
    (void)co;
    return called(json, err, "delivery settings %.*s", (int)name.len, name.ptr);
}

void coordinator_configuration(struct coordinator *co, struct buf *json)
{
    (void)co;
    buf_append(json, STR("{\"schema\":\"millrace/config/1\",\"items\":[]}"));
}

bool coordinator_verify(struct coordinator *co, const struct verify_request *r,
                        struct buf *json, struct err *err)
{
    (void)co;
    return called(json, err, "verify %.*s %.*s n=%zu repair=%d values=%d", (int)r->table.len,
                  r->table.ptr, (int)r->keys[0].len, r->keys[0].ptr, r->n_keys, r->repair,
                  r->values);
}

bool coordinator_verify_all(struct coordinator *co, const struct verify_order *o,
                            struct buf *json, struct err *err)
{
    (void)co;
    if (o->rewrites)
        return called(json, err, "refresh %.*s n=%zu first=%s rate=%llu where=%.*s",
                      (int)o->table.len, o->table.ptr, o->n_keys,
                      o->n_keys > 0 ? o->keys[0].ptr : "", (unsigned long long)o->rate,
                      (int)o->where.len, o->where.ptr == NULL ? "" : o->where.ptr);
    return called(json, err,
                  "verify_all %.*s repair=%d values=%d yes=%d rate=%llu version=%llu "
                  "sample=%d/%llu where=%.*s",
                  (int)o->table.len, o->table.ptr, o->repair, o->values, o->yes,
                  (unsigned long long)o->rate, (unsigned long long)o->version, o->samples,
                  (unsigned long long)o->sample, (int)o->where.len,
                  o->where.ptr == NULL ? "" : o->where.ptr);
}

bool coordinator_cancel_refresh(struct coordinator *co, struct str table, bool dry_run,
                                struct buf *json, struct err *err)
{
    (void)co;
    return called(json, err, "cancel refresh %.*s%s", (int)table.len, table.ptr,
                  asked(dry_run));
}

bool coordinator_replay_day(struct coordinator *co, const struct replay_order *o,
                            struct buf *json, struct err *err)
{
    (void)co;
    return called(json, err, "replay_day %.*s day=%.*s rate=%d/%llu", (int)o->table.len,
                  o->table.ptr, (int)o->day.len, o->day.ptr == NULL ? "" : o->day.ptr,
                  o->has_rate, (unsigned long long)o->rate);
}

bool coordinator_trace(struct coordinator *co, const struct trace_request *r, struct buf *json,
                       struct err *err)
{
    (void)co;
    return called(json, err, "trace %.*s %.*s log=%d from=%.*s", (int)r->table.len,
                  r->table.ptr, (int)r->key.len, r->key.ptr, r->log, (int)r->from.len,
                  r->from.ptr);
}

bool coordinator_list_reports(struct coordinator *co, struct buf *json, struct err *err)
{
    (void)co;
    return called(json, err, "list_reports");
}

bool coordinator_get_report(struct coordinator *co, struct str id, struct buf *json,
                            struct err *err)
{
    (void)co;
    return called(json, err, "get_report %.*s", (int)id.len, id.ptr);
}

bool coordinator_start_doctor(struct coordinator *co, struct buf *json, struct err *err)
{
    (void)co;
    return called(json, err, "start doctor");
}

bool coordinator_drain(struct coordinator *co, const struct drain_request *r, struct buf *json,
                       struct err *err)
{
    (void)co;
    if (r->all)
        return called(json, err, "drain all %d", (int)r->timeout_ms);
    return called(json, err, "drain %u %d", r->worker, (int)r->timeout_ms);
}

bool coordinator_test_alarms(struct coordinator *co, struct buf *json, struct err *err)
{
    (void)co;
    return called(json, err, "test alarms");
}

bool coordinator_drain_cancel(struct coordinator *co, bool dry_run, struct buf *json,
                              struct err *err)
{
    (void)co;
    return called(json, err, "drain cancel%s", asked(dry_run));
}

bool coordinator_delivery_set(struct coordinator *co, const struct setting_change *c, size_t n,
                              bool dry_run, struct buf *json, struct err *err)
{
    (void)co;
    if (n == 0)
        return called(json, err, "delivery reset%s", asked(dry_run));

    const struct str value = c[0].value.ptr == NULL ? STR("(none)") : c[0].value;

    return called(json, err, "delivery set %zu %.*s=%.*s%s", n, (int)c[0].name.len,
                  c[0].name.ptr, (int)value.len, value.ptr, asked(dry_run));
}

void coordinator_catch_up(struct coordinator *co)
{
    (void)co;
}

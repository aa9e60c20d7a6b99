#include "config.h"

#include "rebalance/view/known.h"

#include "rebalance/alarm/outbox.h"
#include "rebalance/state/parts.h"
#include "rebalance/state/pauses.h"

#include "rebalance/doctor/doctor.h"
#include "rebalance/verify/schedule.h"
#include "rebalance/view/away.h"
#include "rebalance/view/cluster.h"
#include "rebalance/view/runs.h"
#include "rebalance/view/view.h"
#include "src/base/clock.h"
#include "src/base/fix.h"
#include "src/base/human.h"
#include "src/net/address_set.h"
#include "sync/definition/doubt.h"

#include <inttypes.h>
#include <string.h>

/* The doctor's first checks: what status shows.  The node knows it without asking anybody. */

/* ---- topics ---- */

static void add(struct doctor_list *l, const char *kind, struct str name,
                struct doctor_check *c)
{
    struct buf group = {0};

    buf_printf(&group, "%s %" STR_FMT, kind, STR_ARG(name));
    c->group = buf_str(&group);
    if (c->fix.len == 0 && c->status != DOCTOR_OK)
        c->fix = fix_split(&c->message);
    doctor_add(l, c);
    buf_free(&group);
}

static void add_well(struct doctor_list *l, const struct coordinator_view *v,
                     const struct topic_view *t)
{
    struct buf message = {0};

    buf_printf(&message, "%s, lag ", t->is.state);
    human_seconds(&message, lag_seconds(t->lag, v->now_ms));
    add(l, "topic", t->d->name,
        &(struct doctor_check){
            .id = STR("topic.runs"),
            .message = buf_str(&message),
            .values = {{"state", .text = str_from(t->is.state)},
                       {"lag_seconds", .number = lag_seconds(t->lag, v->now_ms)}}});
    buf_free(&message);
}

/* A server that is away fails the doctor's own check too. */
static enum doctor_status status_of(const struct topic_view *t)
{
    const bool follows = t->runs && strcmp(t->is.state, "running") == 0;

    return t->is.is_bad || !follows ? DOCTOR_FAIL : DOCTOR_WARN;
}

static struct str code_of(const struct condition *is)
{
    return is->code != NULL ? str_from(is->code) : STR("");
}

/* for_others: who may be able to reach what this node cannot. */
static void check_topic(const struct coordinator_view *v, const struct topic_view *t,
                        bool for_others, struct doctor_list *l)
{
    if (t->is.reason.len > 0 && (for_others || !t->is.is_of_all))
        add(l, "topic", t->d->name,
            &(struct doctor_check){.id = STR("topic.runs"),
                                   .code = code_of(&t->is),
                                   .status = status_of(t),
                                   .message = t->is.reason,
                                   .why = t->is.is_of_all
                                              ? STR(DOCTOR_WHY_SEARCH)
                                              : STR("Millrace follows nothing on this server "
                                                    "meanwhile"),
                                   .fix = t->is.fix,
                                   .since = t->is.since});
    else if (t->runs && !t->is.is_of_all)
        add_well(l, v, t);
    for (size_t i = 0; i < t->n_warnings; i++)
        add(l, "topic", t->d->name,
            &(struct doctor_check){
                .id = str_from(t->warnings[i].id),
                .status = DOCTOR_WARN,
                .message = t->warnings[i].text,
                .why = str_from(t->warnings[i].why),
                .values = {t->warnings[i].values[0], t->warnings[i].values[1]}});
}

/* ---- tables ---- */

/* What the table's state means to its users. */
static struct str meaning(const struct table_view *t)
{
    static const struct {
        const char *state, *why;
    } meanings[] = {
        {"stopped", "its documents are as they were when the table stopped"},
        {"held", "changes wait, and searches do not see them; nothing is lost"},
        {"astray", "searches do not see what Millrace writes, or find nothing"},
        {"unavailable", "searches find none of its documents"},
        {"waiting", "searches use the previous version, which Millrace still updates"},
    };

    for (size_t i = 0; i < ARRAY_LEN(meanings); i++)
        if (strcmp(t->is.state, meanings[i].state) == 0)
            return str_from(meanings[i].why);
    return STR("documents not written since keep their old content");
}

static void check_condition(const struct table_view *t, struct doctor_list *l)
{
    if (t->is.reason.len > 0 && !t->is_doubted) /* doubts have their own check */
        add(l, "table", table_name(t->d),
            &(struct doctor_check){.id =
                                       t->is.is_bad ? STR("table.runs") : STR("table.current"),
                                   .code = code_of(&t->is),
                                   .status = t->is.is_bad ? DOCTOR_FAIL : DOCTOR_WARN,
                                   .message = t->is.reason,
                                   .why = meaning(t),
                                   .fix = t->is.fix,
                                   .since = t->is.since});
}

static void check_build(const struct table_view *t, struct doctor_list *l)
{
    const struct build_view *b = &t->build;
    struct buf message = {0};

    if (!b->is_there || b->s.why.kind == ERR_NONE)
        return;
    buf_printf(&message, "the build of version %" PRIu64 " of its index %s%s", b->s.number,
               b->s.slow ? "goes on, but " : "waits: ", b->s.why.msg);
    add(l, "table", table_name(t->d),
        &(struct doctor_check){
            .id = STR("table.build"),
            .code = b->s.slow ? STR("table.build.slow") : STR("table.build.waits"),
            .values = {{"version", .number = (double)b->s.number}},
            .status = DOCTOR_WARN,
            .message = buf_str(&message),
            .why = STR("searches use the previous version, if there is one"),
            .fix = b->fix[0] != '\0' ? str_from(b->fix)
                                     : STR("it continues by itself once that is over")});
    buf_free(&message);
}

static void check_index(const struct table_view *t, struct doctor_list *l)
{
    struct buf fix = {0};

    if (t->available != NULL || t->changing != NULL || t->is.reason.len > 0)
        return;
    buf_append(&fix, STR("millrace index create "));
    buf_append_word(&fix, table_name(t->d));
    add(l, "table", table_name(t->d),
        &(struct doctor_check){.id = STR("table.built"),
                               .status = DOCTOR_WARN,
                               .message = STR("has no index yet"),
                               .why = meaning(t),
                               .fix = buf_str(&fix)});
    buf_free(&fix);
}

/* Only one version of an index can be built at a time. */
static struct str fix_of_lost(const struct table_view *t)
{
    return t->changing != NULL ? STR("the version being built replaces it")
                               : STR("millrace index create rebuilds it");
}

static void check_documents(const struct table_view *t, struct doctor_list *l)
{
    const struct err *why = &t->documents.why;
    struct buf message = {0};

    if (why->kind == ERR_NONE || t->is.reason.len > 0)
        return;
    buf_printf(&message, "Millrace cannot count its documents: %s", why->msg);
    add(l, "table", table_name(t->d),
        &(struct doctor_check){.id = STR("table.documents"),
                               .code =
                                   why->code == 404 ? STR("table.documents.no_index") : STR(""),
                               .status = why->code == 404 ? DOCTOR_FAIL : DOCTOR_WARN,
                               .message = buf_str(&message),
                               .why = STR("searches may find none of its documents"),
                               .fix = why->code == 404 ? fix_of_lost(t) : STR("")});
    buf_free(&message);
}

static void check_verify(const struct table_view *t, struct doctor_list *l)
{
    struct buf fix = {0};

    buf_append(&fix, STR("if `why` names a cause, correct that, then millrace index create "));
    buf_append_word(&fix, table_name(t->d));
    buf_append(&fix, STR("; if a comparison found too many differences, look at millrace "
                         "report list, then millrace verify "));
    buf_append_word(&fix, table_name(t->d));
    buf_append(&fix, STR(" --repair --yes"));
    if (t->verify.len > 0)
        add(l, "table", table_name(t->d),
            &(struct doctor_check){.id = STR("table.verify"),
                                   .status = DOCTOR_WARN,
                                   .message = STR("some of its documents may be stale"),
                                   .why = t->verify,
                                   .fix = buf_str(&fix)});
    buf_free(&fix);
}

/* Report an index that nobody has compared for longer than is wished. */
static void check_compared(const struct coordinator_view *v, const struct table_view *t,
                           struct doctor_list *l)
{
    const bool leads = definition_lead(v->definitions, t->d) == t->d;
    struct buf message = {0}, fix = {0};

    if (v->verify_within_ms == 0 || v->stored == NULL || t->available == NULL || !leads)
        return;

    const int64_t since_ms = verify_last_ms(v->stored, t->available);

    if (v->now_ms - since_ms <= v->verify_within_ms)
        return;
    buf_append(&message, t->is_compared ? STR("its index was last verified ")
                                        : STR("its index was never verified, and was built "));
    human_seconds(&message, (double)(v->now_ms - since_ms) / 1000);
    buf_append(&message, STR(" ago"));
    buf_append(&fix, STR("millrace verify "));
    buf_append_word(&fix, table_name(t->d));
    add(l, "table", table_name(t->d),
        &(struct doctor_check){
            .id = STR("table.compared"),
            .code = t->is_compared ? STR("") : STR("table.compared.never"),
            .values = {{"seconds", .number = (double)(v->now_ms - since_ms) / 1000}},
            .status = DOCTOR_WARN,
            .message = buf_str(&message),
            .why = STR("index.verify_within asks for a comparison of all "
                       "documents with their rows by now"),
            .fix = buf_str(&fix)});
    buf_free(&message);
    buf_free(&fix);
}

/* What helps if no exchange ends. own: what the reason asks for; or empty. */
static void append_exchange_fix(const struct table_view *t, struct str own, struct buf *fix)
{
    if (t->is.is_bad) {
        buf_append(fix, t->is.fix);
    } else if (t->trees.now.state == TREES_BUILDING) {
        buf_append(fix, STR("wait for its end; index.verify_rate sets its pace"));
    } else if (own.len > 0) {
        buf_append(fix, own);
    } else if (t->trees.now.state == TREES_NONE) {
        buf_append(fix, STR("millrace verify "));
        buf_append_word(fix, table_name(t->d));
        buf_append(fix, STR(" makes them"));
    } else if (t->trees.is_one_ahead) {
        buf_append(fix, STR("wait for what is compared now; this index comes after it"));
    } else {
        buf_append(fix, STR("millrace status says what waits"));
    }
}

/* Of trees that are there only an exchange can have been put off. */
static void append_missed(const struct table_view *t, struct buf *message, struct buf *fix)
{
    static const char *const states[] = {
        [TREES_NONE] = ", and has none now",
        [TREES_BUILDING] = ", and a comparison of the whole index still makes them",
        [TREES_COMPLETE] = "",
    };
    const struct exchanges *e = &t->trees.exchanges;
    const bool has_none = t->trees.now.state == TREES_NONE;
    const bool is_known = has_none && e->missing.kind != ERR_NONE;
    const struct err *why = is_known ? &e->missing : has_none ? &e->ended : &e->why;
    struct str reason = str_from(why->msg);
    const struct str own = fix_split(&reason);

    buf_append(message, str_from(states[t->trees.now.state]));
    if (reason.len > 0)
        buf_printf(message, "%s: %" STR_FMT,
                   is_known   ? ", as none can be made"
                   : has_none ? "; the comparison that makes them ended early"
                              : "; the last exchange was put off",
                   STR_ARG(reason));
    if (t->is.is_bad)
        buf_printf(message, "; the table is %s: %" STR_FMT, t->is.state, STR_ARG(t->is.reason));
    append_exchange_fix(t, own, fix);
}

/* Report trees that should have been exchanged by now, or with documents left different. */
static void check_trees(const struct coordinator_view *v, const struct table_view *t,
                        struct doctor_list *l)
{
    const bool leads = definition_lead(v->definitions, t->d) == t->d;
    const bool is_late = v->now_ms > t->trees.late_ms &&
                         (t->trees.now.state == TREES_COMPLETE || !t->trees.is_one_ahead);
    struct buf message = {0}, fix = {0};

    if (!t->trees.are_wanted || !leads)
        return;
    if (is_late) {
        buf_append(&message,
                   STR("Millrace has not compared the anti-entropy trees of its index for "));
        human_seconds(&message, (double)(v->now_ms - t->trees.since_ms) / 1000);
        append_missed(t, &message, &fix);
    } else if (t->trees.exchanges.differing > 0) {
        buf_append(&message, STR("the last exchange of anti-entropy trees left "));
        human_count(&message, t->trees.exchanges.differing);
        buf_append(&message, STR(" of its documents different"));
        if (t->trees.exchanges.lost > 0) {
            buf_append(&fix, STR("millrace verify "));
            buf_append_word(&fix, table_name(t->d));
            buf_append(&fix, STR(" --repair finds them all"));
        } else {
            buf_append(&fix, STR("millrace report list names the report of it"));
        }
    }
    if (message.len > 0)
        add(l, "table", table_name(t->d),
            &(struct doctor_check){.id = STR("table.trees"),
                                   .code = is_late ? STR("table.trees.late")
                                                   : STR("table.trees.differ"),
                                   .status = DOCTOR_WARN,
                                   .message = buf_str(&message),
                                   .why = STR("documents can differ from their rows, and "
                                              "nothing repairs them meanwhile"),
                                   .fix = buf_str(&fix)});
    buf_free(&message);
    buf_free(&fix);
}

/* Report stored expressions that `apply` would refuse today.  They run on regardless. */
static void check_doubts(const struct definitions *d, const struct table_definition *t,
                         struct doctor_list *l)
{
    struct problems *problems = problems_new();

    definition_check_doubt(d, t, problems);
    for (size_t i = 0; i < problems_n(problems); i++)
        doctor_add_problem(l, table_name(t), problems_get(problems, i));
    problems_free(problems);
}

static void check_table(const struct coordinator_view *v, const struct table_view *t,
                        struct doctor_list *l)
{
    check_condition(t, l);
    check_build(t, l);
    check_index(t, l);
    check_documents(t, l);
    check_verify(t, l);
    check_compared(v, t, l);
    coordinator_check_runs(v, t, l);
    check_trees(v, t, l);
    check_doubts(v->definitions, t->d, l);
}

void coordinator_check_topic(const struct coordinator_view *v, const struct topic_view *t,
                             struct doctor_list *l)
{
    check_topic(v, t, true, l);
    for (size_t i = 0; i < v->definitions->n_tables; i++)
        if (str_equal(v->tables[i].topic, t->d->name))
            check_table(v, &v->tables[i], l);
}

/* Nobody tells of a topic that moves, but every node knows of its pause. */
static void check_others(const struct coordinator_view *v, const struct topic_view *t,
                         struct doctor_list *l)
{
    if (t->told.moves && catalogue_pause(v->catalogue, PAUSE_TOPIC, t->d->name) != NULL)
        check_topic(v, t, false, l);
    coordinator_check_told(v, t, l);
}

void coordinator_check_known(const struct coordinator_view *v, struct doctor_list *l)
{
    if (v->cluster != NULL)
        coordinator_check_cluster(v->cluster, l);
    if (v->cluster != NULL && v->stored != NULL)
        away_check(v->cluster, v->stored->nodes, v->stored->n_nodes, v->now_ms, l);
    for (size_t i = 0; i < v->definitions->n_topics; i++)
        if (!v->topics[i].told.is_others)
            check_topic(v, &v->topics[i], false, l);
    for (size_t i = 0; i < v->definitions->n_tables; i++)
        if (!v->tables[i].told.is_others)
            check_table(v, &v->tables[i], l);
    for (size_t i = 0; i < v->definitions->n_topics; i++)
        if (v->topics[i].told.is_others)
            check_others(v, &v->topics[i], l);
}

/* ---- the engine and the store, as of their last answer ---- */

static struct str fix_of_engine(const struct engine_heard *heard)
{
    if (heard->is.is_silent)
        return STR(DOCTOR_FIX_SEARCH_HANGS);
    return heard->is_unreachable ? STR(DOCTOR_FIX_SEARCH) : STR("millrace doctor says more");
}

static struct str code_of_engine(const struct engine_heard *heard)
{
    if (heard->is.is_silent)
        return STR("search.reach.silent");
    return heard->is_unreachable ? STR("") : STR("search.reach.refuses");
}

static void check_engine(const struct engine_heard *heard, struct doctor_list *l)
{
    if (heard->is.is_away)
        doctor_add(
            l, &(struct doctor_check){.id = STR("search.reach"),
                                      .code = code_of_engine(heard),
                                      .group = STR("search engine"),
                                      .status = DOCTOR_FAIL,
                                      .message = str_from(heard->is.why.msg),
                                      .why = STR(DOCTOR_WHY_SEARCH),
                                      .fix = fix_of_engine(heard),
                                      .since = coordinator_time(l->arena, heard->is.at_ms)});
    else if (heard->health[0] != '\0') {
        const bool red = strcmp(heard->health, "red") == 0;

        doctor_add(
            l, &(struct doctor_check){.id = STR("search.health"),
                                      .group = STR("search engine"),
                                      .status = red ? DOCTOR_FAIL : DOCTOR_OK,
                                      .values = {{"health", .text = str_from(heard->health)}},
                                      .message = str_from(heard->health),
                                      .why = STR(DOCTOR_WHY_RED),
                                      .fix = STR(DOCTOR_FIX_RED)});
    }
}

/* One of several addresses: the others still work. */
static void check_address(const struct address_view *a, struct doctor_list *l)
{
    struct buf message = {0};

    if (!a->is_known || a->is_up)
        return;
    buf_printf(&message, "%s has not answered since ", a->name);
    human_time(&message, clock_wall_ms() - (clock_mono_ms() - a->since_ms));
    buf_printf(&message, ": %s", a->why);
    doctor_add(l, &(struct doctor_check){.id = STR("search.address"),
                                         .values = {{"address", .text = str_from(a->name)}},
                                         .group = STR("search engine"),
                                         .status = DOCTOR_WARN,
                                         .message = buf_str(&message),
                                         .why = STR("requests go to its other addresses alone"),
                                         .fix = STR("start it; Millrace keeps trying")});
    buf_free(&message);
}

/* The first topic of this node whose position the store does not take; NULL: it takes all. */
static const struct topic_view *refused_by_store(const struct coordinator_view *v)
{
    for (size_t i = 0; i < v->definitions->n_topics; i++)
        if (v->topics[i].runs && v->topics[i].status.save_error.kind != ERR_NONE &&
            v->topics[i].status.save_error.kind != ERR_STOP) /* another node has it */
            return &v->topics[i];
    return NULL;
}

/* A store that answers may still take nothing: it is read-only, or its disk is full. */
static void check_store(const struct coordinator_view *v, struct doctor_list *l)
{
    const struct heard *heard = &v->store;
    const struct topic_view *refused = refused_by_store(v);

    if (!heard->is_away && refused != NULL)
        doctor_add(l, &(struct doctor_check){
                          .id = STR("store.write"),
                          .code = STR("store.write.refused"),
                          .group = STR("store"),
                          .status = DOCTOR_FAIL,
                          .message = str_from(refused->status.save_error.msg),
                          .why = STR(DOCTOR_WHY_STORE),
                          .fix = STR("let it take writes again: " DOCTOR_FIX_STORE),
                          .since = coordinator_time(l->arena, refused->status.save_failed_ms)});
    else if (heard->is_away)
        doctor_add(l, &(struct doctor_check){
                          .id = STR("store.write"),
                          .code = heard->is_silent ? STR("store.write.silent") : STR(""),
                          .group = STR("store"),
                          .status = DOCTOR_FAIL,
                          .message = str_from(heard->why.msg),
                          .why = STR(DOCTOR_WHY_STORE),
                          .fix = heard->is_silent ? STR(DOCTOR_FIX_STORE_HANGS)
                                                  : STR(DOCTOR_FIX_STORE),
                          .since = coordinator_time(l->arena, heard->at_ms)});
}

static void check_dead_letters(const struct table_view *t, bool full, struct doctor_list *l)
{
    struct buf message = {0}, fix = {0};

    if (t->dead == 0)
        return;
    buf_append(&message, STR("has "));
    human_count(&message, t->dead);
    buf_append(&message, t->dead == 1 ? STR(" dead letter") : STR(" dead letters"));
    buf_append(&fix, STR("millrace dead-letter list --table "));
    buf_append_word(&fix, table_name(t->d));
    add(l, "table", table_name(t->d),
        &(struct doctor_check){.id = STR("dead_letters"),
                               .code = full ? STR("dead_letters.full") : STR(""),
                               .values = {{"letters", .number = (double)t->dead}},
                               .status = full ? DOCTOR_FAIL : DOCTOR_WARN,
                               .message = buf_str(&message),
                               .why = full ? STR(DOCTOR_WHY_LETTERS_FULL)
                                           : STR(DOCTOR_WHY_LETTERS),
                               .fix = buf_str(&fix)});
    buf_free(&message);
    buf_free(&fix);
}

void coordinator_check_alarms(const struct coordinator *co, struct doctor_list *l)
{
    if (co->outbox != NULL)
        alarm_outbox_check(co->outbox, l);
}

bool coordinator_judge(const struct coordinator *co, const struct coordinator_view *v,
                       struct doctor_list *l)
{
    struct address_set *addresses = search_addresses(co->opt.search);
    struct address_view a;
    uint64_t dead = 0;

    coordinator_check_known(v, l);
    check_engine(&v->engine, l);
    for (size_t i = 0; !v->engine.is.is_away && address_set_next(addresses, &i, &a);)
        check_address(&a, l);
    check_store(v, l);
    coordinator_check_alarms(co, l);
    for (size_t i = 0; i < v->definitions->n_tables; i++)
        dead += v->tables[i].dead;
    for (size_t i = 0; i < v->definitions->n_tables; i++)
        check_dead_letters(&v->tables[i], dead >= co->opt.dead_letters_max, l);
    return v->engine.health[0] != '\0' && v->stored != NULL;
}

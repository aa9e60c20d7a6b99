/*
 * The document machine against a model, at random.
 *
 * A database in which a few rows change at growing positions; writes of row images, re-reads,
 * fills and replays of them arrive in the machine; reads and requests go well, fail, or leave
 * their result open, and then may still be applied at any later time.  After every step:
 *
 *  - what the engine holds of a document includes every change up to its version,
 *  - a change whose ticket has ended well is in the engine,
 *  - what was sent without an answer is sent again, unchanged, before anything else.
 *
 * At the end the engine equals the database, every ticket has ended once, every byte came back.
 *
 * tests/unit/game.h plays it, makes what fails shorter, and says how to play it again.
 */
#include "config.h"

#include "tests/unit/game.h"
#include "tests/unit/writes.h"

#include "src/base/buf.h"
#include "src/base/mem.h"
#include "sync/delivery/document/document_table.h"
#include "tests/fakes/fake_engine.h"

#define STEPS       500
#define ROWS        3
#define GAP         18
#define ZOMBIES_MAX 40

/* A row's history: when it changed, and whether it was there afterwards. */
struct change {
    uint64_t pos;
    bool exists;
};

struct row {
    struct change *changes;
    size_t n, cap;
    uint64_t forgotten_to; /* dead letters: what is at or below it need not be in the engine */
};

/* What was sent of a document. */
struct sent {
    bool is_lost; /* and must be repeated as it is */
    uint64_t version;
    bool is_delete, strict;
    uint64_t content; /* position that it was read at */
};

struct world {
    struct random random;
    uint64_t pos;
    struct row rows[ROWS];
    struct sent sent[ROWS];
    struct fake_engine *engine;
    struct document_table *table;
    struct document *docs[ROWS]; /* NULL: not in the table */
    struct target *target;
    struct write_ends ends;
    size_t taken;
    uint64_t n_tickets, n_ended;
    struct {
        unsigned row;
        struct sent op;
    } zombies[ZOMBIES_MAX];
    size_t n_zombies;
    bool calm; /* nothing goes wrong any more */
};

/* The change that a ticket stands for. */
struct account {
    struct world *world;
    unsigned row;
    uint64_t version;
};

static uint64_t below(struct world *w, uint64_t n)
{
    return random_below(&w->random, n);
}

static bool chance(struct world *w, unsigned percent)
{
    return below(w, 100) < percent;
}

static struct str id_of(unsigned row)
{
    static const char *const ids[ROWS] = {"a", "b", "c"};

    return str_from(ids[row]);
}

/* The row as it was at pos: the position of its last change, 0 where it is not there. */
static uint64_t state_at(const struct row *r, uint64_t pos)
{
    uint64_t state = 0;

    for (size_t i = 0; i < r->n && r->changes[i].pos <= pos; i++)
        state = r->changes[i].exists ? r->changes[i].pos : 0;
    return state;
}

/* --- the engine --- */

static bool stored(struct world *w, unsigned row, uint64_t *version, uint64_t *state)
{
    struct buf body = {0};
    const bool found = fake_engine_get(w->engine, STR("x"), id_of(row), version, &body);

    *state = found ? strtoull(body.ptr, NULL, 10) : 0;
    buf_free(&body);
    return found;
}

static int apply(struct world *w, unsigned row, const struct sent *op, uint64_t *current)
{
    char body[32];

    snprintf(body, sizeof(body), "%llu",
             (unsigned long long)state_at(&w->rows[row], op->content));

    const struct fake_op e = {
        .id = id_of(row),
        .is_delete = op->is_delete,
        .version_type = op->strict ? FAKE_EXTERNAL : FAKE_EXTERNAL_GTE,
        .version = op->version,
        .body = str_from(body),
    };

    return fake_engine_apply(w->engine, STR("x"), &e, 0, current);
}

static void raise_zombie(struct world *w)
{
    uint64_t current;

    if (w->n_zombies == 0)
        return;

    const size_t i = below(w, w->n_zombies);

    game_say("a late copy of %u, version %" PRIu64 ", is applied", w->zombies[i].row,
             w->zombies[i].op.version);
    apply(w, w->zombies[i].row, &w->zombies[i].op, &current);
    w->zombies[i] = w->zombies[--w->n_zombies];
}

/* What is there includes all changes up to its version. */
static void check_engine(struct world *w)
{
    for (unsigned row = 0; row < ROWS; row++) {
        uint64_t version, state;

        if (stored(w, row, &version, &state))
            must(state >= state_at(&w->rows[row], version));
    }
}

/* --- what ends --- */

static void on_done(void *ctx, enum outcome how)
{
    struct account *a = ctx;
    struct world *w = a->world;
    const struct row *r = &w->rows[a->row];
    uint64_t version, state;

    w->n_ended++;
    if (how == OUTCOME_DELIVERED || how == OUTCOME_SUPERSEDED) {
        if (stored(w, a->row, &version, &state)) {
            must(version >= a->version);
            must(state >= state_at(r, a->version));
        } else {
            /* Deleted by something at or beyond the change: then the row was gone at some time
             * since. */
            bool was_gone = state_at(r, a->version) == 0;

            for (size_t i = 0; i < r->n; i++)
                was_gone |= r->changes[i].pos >= a->version && !r->changes[i].exists;
            must(was_gone);
        }
    }
    free(a);
}

static void left(struct world *w, unsigned row)
{
    document_table_remove(w->table, w->docs[row]);
    w->docs[row] = NULL;
}

static void end(struct world *w, unsigned row, enum outcome how)
{
    w->sent[row].is_lost = false;
    if (how == OUTCOME_DEAD && w->docs[row]->now->version > w->rows[row].forgotten_to)
        w->rows[row].forgotten_to = w->docs[row]->now->version;
    if (!document_end(w->docs[row], how, &w->ends))
        left(w, row);
}

/* --- what arrives --- */

static void arrive(struct world *w, unsigned row, struct doc_write in, uint64_t content)
{
    struct account *a = mem_alloc(1, sizeof(*a));
    char body[32];
    bool to_place;

    *a = (struct account){w, row, in.version};
    snprintf(body, sizeof(body), "%llu", (unsigned long long)content);
    in.target = target_ref(w->target);
    in.ticket = ticket_new_cb(on_done, a);
    in.id = in.key = id_of(row);
    in.body = str_from(body); /* where it was read, which is what the engine is told to hold */
    w->n_tickets++;
    game_say("%s of %u at %" PRIu64 "%s", in.op == DOC_REFRESH ? "refresh" : "write", row,
             in.version, in.strict ? ", of a build" : "");

    struct write *write = write_new(&in);

    w->taken += write->cost;
    w->docs[row] = document_table_arrive(w->table, NULL, write, &w->ends, &to_place);
}

static void arrive_image(struct world *w, unsigned row, uint64_t pos)
{
    const bool exists = state_at(&w->rows[row], pos) != 0;

    arrive(w, row, (struct doc_write){.op = exists ? DOC_INDEX : DOC_DELETE, .version = pos},
           pos);
}

static void arrive_refresh(struct world *w, unsigned row, uint64_t at_least)
{
    arrive(w, row, (struct doc_write){.op = DOC_REFRESH, .version = at_least}, 0);
}

static void change(struct world *w)
{
    const unsigned row = (unsigned)below(w, ROWS);
    struct row *r = &w->rows[row];

    w->pos += 19 + below(w, 80);
    if (r->n == r->cap) {
        r->cap = r->cap == 0 ? 64 : r->cap * 2;
        r->changes = mem_resize(r->changes, r->cap, sizeof(*r->changes));
    }
    r->changes[r->n++] = (struct change){w->pos, !chance(w, 25)};
    if (chance(w, 50))
        arrive_image(w, row, w->pos);
    else
        arrive_refresh(w, row, w->pos);
}

/* An older change once more, as after a restart. */
static void replay(struct world *w)
{
    const unsigned row = (unsigned)below(w, ROWS);
    const struct row *r = &w->rows[row];

    if (r->n == 0)
        return;

    const uint64_t pos = r->changes[below(w, r->n)].pos;

    if (chance(w, 50))
        arrive_image(w, row, pos);
    else
        arrive_refresh(w, row, pos);
}

/* A row that was read at or after the start of a build. */
static void fill(struct world *w)
{
    const unsigned row = (unsigned)below(w, ROWS);
    const uint64_t start = w->pos - below(w, w->pos < 500 ? w->pos : 500);
    const uint64_t read_at = start + below(w, w->pos - start + 1);

    if (start > 0 && state_at(&w->rows[row], read_at) != 0)
        arrive(w, row, (struct doc_write){.op = DOC_INDEX, .version = start, .strict = true},
               read_at);
}

/* Something that is not in this stream: a version above all stamps given out so far. */
static void repair(struct world *w)
{
    arrive_refresh(w, (unsigned)below(w, ROWS), w->pos + 1);
}

/* --- what goes on --- */

static void finish_read(struct world *w, unsigned row)
{
    struct document *doc = w->docs[row];
    const uint64_t at_least = doc->now->version;
    uint64_t stamp = at_least, read_at;
    char body[32];

    game_say("%u is read, %s", row, doc->forgotten ? "for nobody" : "or not");
    if (doc->forgotten) {
        end(w, row, OUTCOME_DEFERRED);
        return;
    }
    if (!w->calm && chance(w, 15)) {
        if (chance(w, 50))
            document_not_loaded(doc, &w->ends);
        else
            document_left_out(doc, &w->ends);
        return;
    }
    if (!w->calm && chance(w, 3)) {
        document_refuse(doc);
        return;
    }
    if (at_least < w->pos)
        stamp += below(w, w->pos - at_least + 1);
    read_at = stamp < w->pos ? stamp + below(w, w->pos - stamp + 1) : w->pos;
    if (!w->calm && at_least > 0 && chance(w, 3))
        stamp = below(w, at_least); /* a loader that did not read far enough */
    snprintf(body, sizeof(body), "%llu", (unsigned long long)read_at);
    document_loaded(doc, stamp,
                    state_at(&w->rows[row], read_at) == 0 ? (struct str){0} : str_from(body),
                    &w->ends);
}

static uint64_t content_of(const struct write *w)
{
    char text[32];

    snprintf(text, sizeof(text), "%.*s", STR_ARG(write_body(w)));
    return strtoull(text, NULL, 10);
}

static void send(struct world *w, unsigned row)
{
    struct document *doc = w->docs[row];
    const struct write *now = doc->now;
    const struct sent before = w->sent[row];
    struct sent *op = &w->sent[row];

    *op = (struct sent){.version = now->version,
                        .is_delete = now->op == DOC_DELETE,
                        .strict = now->strict,
                        .content = now->version};
    if (!op->is_delete)
        op->content = content_of(now);
    if (before.is_lost) {
        must(doc->state == DOCUMENT_UNKNOWN);
        must(op->version == before.version && op->is_delete == before.is_delete);
        must(op->content == before.content && op->strict == before.strict);
    }
    op->is_lost = before.is_lost;
    game_say("%u is sent at %" PRIu64, row, op->version);
    document_take(doc);
}

static void conflict(struct world *w, unsigned row, uint64_t current)
{
    struct document *doc = w->docs[row];
    const struct write *now = doc->now;

    if (!now->strict && now->reread && current - now->version <= GAP) {
        w->sent[row].is_lost = false;
        document_read_again(doc, current + 1, &w->ends);
        return;
    }
    end(w, row, OUTCOME_SUPERSEDED);
}

static void lose(struct world *w, unsigned row)
{
    uint64_t current;

    if (chance(w, 40))
        apply(w, row, &w->sent[row], &current);
    else if (chance(w, 60) && w->n_zombies < ZOMBIES_MAX) {
        w->zombies[w->n_zombies].row = row;
        w->zombies[w->n_zombies++].op = w->sent[row];
    }
    game_say("the answer to %u is lost", row);
    w->sent[row].is_lost = true;
    document_lost_answer(w->docs[row]);
}

static void answer(struct world *w, unsigned row)
{
    uint64_t current = 0;

    game_say("%u is answered, or not", row);
    if (!w->calm && chance(w, 20)) {
        lose(w, row);
    } else if (!w->calm && chance(w, 15)) {
        document_not_applied(w->docs[row], &w->ends);
    } else if (!w->calm && chance(w, 3) && !w->sent[row].is_lost) {
        document_refuse(w->docs[row]);
    } else if (apply(w, row, &w->sent[row], &current) == 409) {
        conflict(w, row, current);
    } else {
        end(w, row, OUTCOME_DELIVERED);
    }
}

static void go_on(struct world *w, unsigned row)
{
    if (w->docs[row] == NULL)
        return;
    switch ((enum document_state)w->docs[row]->state) {
    case DOCUMENT_LOAD_WAIT: document_take(w->docs[row]); break;
    case DOCUMENT_LOADING: finish_read(w, row); break;
    case DOCUMENT_READY:
    case DOCUMENT_UNKNOWN: send(w, row); break;
    case DOCUMENT_IN_FLIGHT: answer(w, row); break;
    case DOCUMENT_REFUSED: end(w, row, OUTCOME_DEAD); break;
    case N_DOCUMENT_STATES: fail();
    }
}

/* A table that stops forgets its documents; when it goes on it reads them again. */
static void forget(struct world *w)
{
    const unsigned row = (unsigned)below(w, ROWS);
    struct document *doc = w->docs[row];

    if (doc == NULL || doc->state == DOCUMENT_REFUSED)
        return;
    game_say("%u is forgotten", row);
    if (!document_forget(doc, OUTCOME_DEFERRED, &w->ends)) {
        w->sent[row].is_lost = false;
        left(w, row);
    }
    arrive_refresh(w, row, w->pos);
}

static void step(struct world *w)
{
    const unsigned what = (unsigned)below(w, 100);

    if (what < 22)
        change(w);
    else if (what < 26)
        replay(w);
    else if (what < 29)
        fill(w);
    else if (what < 31)
        repair(w);
    else if (what < 32)
        forget(w);
    else if (what < 37)
        raise_zombie(w);
    else
        go_on(w, (unsigned)below(w, ROWS));
    check_engine(w);
}

static void calm_down(struct world *w)
{
    w->calm = true;
    for (unsigned i = 0; document_table_count(w->table) > 0; i++) {
        must(i < 10000);
        if (chance(w, 20))
            raise_zombie(w);
        go_on(w, (unsigned)below(w, ROWS));
        check_engine(w);
    }
    while (w->n_zombies > 0)
        raise_zombie(w);
}

static void check_end(struct world *w)
{
    must(w->n_ended == w->n_tickets);
    must(w->ends.freed == w->taken + w->ends.taken);
    for (unsigned row = 0; row < ROWS; row++) {
        const struct row *r = &w->rows[row];
        uint64_t version, state;

        if (r->n == 0 || r->forgotten_to >= r->changes[r->n - 1].pos)
            continue;
        stored(w, row, &version, &state);
        must(state == state_at(r, w->pos));
    }
}

static void play(struct game *g)
{
    struct world w = {.engine = fake_engine_new(),
                      .table = document_table_new(),
                      .target = a_target("x"),
                      .pos = 1};

    random_init(&w.random, g->seed);
    fake_engine_create(w.engine, STR("x"));
    fake_engine_set_gc_deletes(w.engine, INT64_MAX);
    while (game_next(g, &w.random))
        step(&w);
    random_init(&w.random, g->seed);
    calm_down(&w);
    check_end(&w);
    for (unsigned row = 0; row < ROWS; row++)
        free(w.rows[row].changes);
    document_table_free(w.table, &w.ends);
    fake_engine_free(w.engine);
    target_unref(w.target);
}

static void whatever_happens_the_engine_ends_equal_to_the_database(void **state)
{
    (void)state;
    games_play(play, STEPS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whatever_happens_the_engine_ends_equal_to_the_database),
    };

    return cmocka_run_group_tests_name("document_model", tests, NULL, NULL);
}

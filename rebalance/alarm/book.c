#include "config.h"

#include "rebalance/alarm/book.h"

#include "rebalance/alarm/book_parts.h"
#include "src/base/mem.h"

#include <stdlib.h>

/* ---- the alarms ---- */

struct alarm_book *alarm_book_new(const struct alarm_limits *limits)
{
    struct alarm_book *b = mem_alloc(1, sizeof(*b));

    b->limits = *limits;
    b->budget.max = limits->minute_max;
    return b;
}

static void free_entry(struct alarm_entry *e)
{
    free(e->code);
    free(e->object);
    buf_free(&e->text);
    buf_free(&e->fix);
    free(e);
}

void alarm_book_free(struct alarm_book *b)
{
    if (b == NULL)
        return;
    for (size_t i = 0; i < b->n; i++)
        free_entry(b->entries[i]);
    free(b->entries);
    free(b);
}

static char *copy(struct str text)
{
    char *out = mem_alloc(text.len + 1, 1);

    if (text.len > 0)
        memcpy(out, text.ptr, text.len);
    return out;
}

struct alarm_entry *alarm_book_add(struct alarm_book *b, struct str code, struct str object)
{
    struct alarm_entry *e = mem_alloc(1, sizeof(*e));

    e->code = copy(code);
    e->object = copy(object);
    if (b->n == b->cap) {
        b->cap = b->cap == 0 ? 16 : b->cap * 2;
        b->entries = mem_resize(b->entries, b->cap, sizeof(*b->entries));
    }
    return b->entries[b->n++] = e;
}

static struct alarm_entry *find(const struct alarm_book *b, struct str code, struct str object)
{
    for (size_t i = 0; i < b->n; i++)
        if (str_equal(object, str_from(b->entries[i]->object)) &&
            str_equal(code, str_from(b->entries[i]->code)))
            return b->entries[i];
    return NULL;
}

static void drop(struct alarm_book *b, size_t i)
{
    b->turn += b->entries[i]->is_open;
    free_entry(b->entries[i]);
    b->n--;
    memmove(b->entries + i, b->entries + i + 1, (b->n - i) * sizeof(*b->entries));
}

size_t alarm_book_n_open(const struct alarm_book *b)
{
    size_t n = 0;

    for (size_t i = 0; i < b->n; i++)
        n += b->entries[i]->is_open;
    return n;
}

uint64_t alarm_book_turn(const struct alarm_book *b)
{
    return b->turn;
}

/* ---- what is found ---- */

static void set(struct buf *to, struct str text)
{
    buf_clear(to);
    buf_append(to, text);
}

/* The text is that of the first of the worst findings. */
static void note(struct alarm_entry *e, const struct alarm_finding *f,
                 const struct alarm_look *l)
{
    const bool is_first = !e->is_seen;

    if (is_first || (f->is_failure && !e->is_failure)) {
        set(&e->text, f->text);
        set(&e->fix, f->fix);
        e->is_failure = f->is_failure;
    }
    e->n = is_first ? 1 : e->n + 1;
    e->is_seen = true;
    e->seen_ms = l->now_ms;
}

static struct alarm_entry *begin(struct alarm_book *b, const struct alarm_finding *f,
                                 const struct alarm_look *l)
{
    struct alarm_entry *e = alarm_book_add(b, f->code, f->object);

    e->first_ms = l->now_ms;
    e->since_ms = l->wall_ms;
    return e;
}

static void hand_over(struct alarm_book *b, const struct alarm_entry *e)
{
    size_t i = 0;

    while (i < b->n && b->entries[i] != e)
        i++;
    if (i < b->n)
        drop(b, i);
}

/* Beside open_max alarms the book has the one that stands for those beyond. */
static size_t count_kept(const struct alarm_book *b)
{
    return b->n - (find(b, STR(ALARM_MORE), STR(ALARM_OBJECT)) != NULL);
}

static void note_beyond(struct alarm_book *b, size_t n, const struct alarm_look *l)
{
    const struct alarm_finding f = {
        .code = STR(ALARM_MORE),
        .object = STR(ALARM_OBJECT),
        .text = STR("more is wrong than Millrace sends alarms for one by one"),
        .fix = STR("millrace status shows all of it"),
        .is_failure = true};
    struct alarm_entry *e = find(b, f.code, f.object);

    if (n > 0) {
        e = e != NULL ? e : begin(b, &f, l);
        note(e, &f, l);
        e->n = n;
    }
}

static void note_all(struct alarm_book *b, const struct alarm_look *l)
{
    size_t n_kept = count_kept(b), n_beyond = 0;

    for (size_t i = 0; i < b->n; i++)
        b->entries[i]->is_seen = false;
    for (size_t i = 0; i < l->n; i++) {
        const struct alarm_finding *f = &l->findings[i];
        struct alarm_entry *e = find(b, f->code, f->object);

        if (f->is_others && e != NULL) {
            hand_over(b, e);
            n_kept = count_kept(b);
        } else if (f->is_others) {
            continue;
        } else if (e == NULL && n_kept == b->limits.open_max) {
            n_beyond++;
        } else {
            n_kept += e == NULL;
            note(e != NULL ? e : begin(b, f, l), f, l);
        }
    }
    note_beyond(b, n_beyond, l);
}

/* ---- what is said ---- */

static void say(struct alarm_book *b, const struct alarm_look *l, struct alarm_entry *e,
                enum alarm_state state)
{
    const struct alarm_message m = {.state = state,
                                    .code = str_from(e->code),
                                    .object = str_from(e->object),
                                    .text = buf_str(&e->text),
                                    .fix = buf_str(&e->fix),
                                    .is_failure = e->is_failure,
                                    .n = e->n,
                                    .since_ms = e->since_ms};

    e->said_ms = l->now_ms;
    e->n_said = e->n;
    e->was_failure_said = e->is_failure;
    if (alarm_budget_take(&b->budget, l->now_ms)) {
        l->say(l->ctx, &m);
        return;
    }
    if (b->rest.since_ms == 0)
        b->rest.since_ms = l->wall_ms;
    b->rest.n[state]++;
    b->rest.has_failure |= e->is_failure;
}

static void say_rest(struct alarm_book *b, const struct alarm_look *l)
{
    const struct alarm_rest *r = &b->rest;
    struct buf text = {0};

    if (r->since_ms == 0 || !alarm_budget_take(&b->budget, l->now_ms))
        return;
    buf_printf(&text,
               "Millrace sends at most %zu messages a minute, so these came without one of "
               "their own: %zu begin, %zu last, %zu are over",
               b->limits.minute_max, r->n[ALARM_BEGINS], r->n[ALARM_LASTS], r->n[ALARM_OVER]);
    l->say(l->ctx, &(struct alarm_message){
                       .state = ALARM_LASTS,
                       .code = STR(ALARM_SUM),
                       .object = STR(ALARM_OBJECT),
                       .text = buf_str(&text),
                       .fix = STR("millrace status shows what is not well now"),
                       .is_failure = r->has_failure,
                       .n = r->n[ALARM_BEGINS] + r->n[ALARM_LASTS] + r->n[ALARM_OVER],
                       .since_ms = r->since_ms});
    b->rest = (struct alarm_rest){.since_ms = 0};
    buf_free(&text);
}

static bool has_grown(const struct alarm_entry *e)
{
    return e->n > e->n_said || (e->is_failure && !e->was_failure_said);
}

static void say_seen(struct alarm_book *b, const struct alarm_look *l, struct alarm_entry *e)
{
    const int64_t wait_ms = e->is_failure ? b->limits.after_ms : b->limits.after_warning_ms;

    if (e->is_open) {
        if (has_grown(e) || l->now_ms - e->said_ms >= b->limits.repeat_ms)
            say(b, l, e, ALARM_LASTS);
    } else if (l->now_ms - e->first_ms >= wait_ms) {
        e->is_open = true;
        b->turn++;
        say(b, l, e, ALARM_BEGINS);
    }
}

static void say_all(struct alarm_book *b, const struct alarm_look *l, bool of_failures)
{
    for (size_t i = 0; i < b->n; i++)
        if (b->entries[i]->is_seen && b->entries[i]->is_failure == of_failures)
            say_seen(b, l, b->entries[i]);
}

static void end_unseen(struct alarm_book *b, const struct alarm_look *l)
{
    for (size_t i = b->n; i-- > 0;) {
        struct alarm_entry *e = b->entries[i];

        if (e->is_seen || (e->is_open && l->now_ms - e->seen_ms < b->limits.after_ms))
            continue;
        if (e->is_open)
            say(b, l, e, ALARM_OVER);
        drop(b, i);
    }
}

void alarm_book_look(struct alarm_book *b, const struct alarm_look *l)
{
    say_rest(b, l);
    note_all(b, l);
    say_all(b, l, true);
    say_all(b, l, false);
    end_unseen(b, l);
}

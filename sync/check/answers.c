#include "config.h"

#include "sync/check/answers.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/map.h"
#include "src/base/mem.h"

#include <stdlib.h>
#include <string.h>

#define TOGETHER_MAX 100     /* questions in one statement */
#define ROWS_MAX     1000000 /* that one statement may count, by the server's estimates */

struct clause {
    struct clause_wanted wanted;
    bool accepted;
};

struct shares {
    struct shares_wanted wanted;
    struct catalog_shares counted;
    bool known;
};

struct answers {
    struct arena *arena;
    struct map *clauses, *shares; /* key -> struct, in the arena */
    struct clause **new_clauses;  /* not asked yet */
    struct shares **new_shares;
    size_t n_new_clauses, n_new_shares;
};

struct answers *answers_new(void)
{
    struct answers *a = mem_alloc(1, sizeof(*a));

    a->arena = arena_new();
    a->clauses = map_new();
    a->shares = map_new();
    return a;
}

void answers_free(struct answers *a)
{
    map_free(a->clauses, NULL);
    map_free(a->shares, NULL);
    arena_free(a->arena);
    free(a->new_clauses);
    free(a->new_shares);
    free(a);
}

static void append_part(struct buf *key, struct str part)
{
    buf_printf(key, "%zu:", part.len);
    buf_append(key, part);
}

static void append_name(struct buf *key, const struct catalog_name *name)
{
    append_part(key, name->schema);
    append_part(key, name->table);
}

static struct clause *find_clause(const struct answers *a, const struct clause_wanted *w,
                                  struct buf *key)
{
    buf_printf(key, "%d:", (int)w->clause);
    append_name(key, &w->name);
    append_part(key, w->text);
    return map_find(a->clauses, buf_str(key));
}

static struct shares *find_shares(const struct answers *a, const struct shares_wanted *w,
                                  struct buf *key)
{
    append_name(key, &w->name);
    for (size_t i = 0; i < w->n_columns; i++)
        append_part(key, w->columns[i]);
    return map_find(a->shares, buf_str(key));
}

static struct catalog_name copy_name(struct arena *a, const struct catalog_name *name)
{
    return (struct catalog_name){arena_copy(a, name->schema), arena_copy(a, name->table)};
}

/* Behind the quoted text that begins there; at the end if it does not end. */
static size_t skip_quoted(struct str text, size_t i)
{
    const char quote = text.ptr[i++];

    while (i < text.len && text.ptr[i] != quote)
        i += text.ptr[i] == '\\' && quote != '`' ? 2 : 1;
    return i + 1;
}

/*
 * Tell whether the text stays a part of its own among others: it leaves no quote, parenthesis
 * or comment open.
 */
static bool is_closed(struct str text)
{
    size_t open = 0, i = 0;

    while (i < text.len) {
        const char c = text.ptr[i], next = i + 1 < text.len ? text.ptr[i + 1] : '\0';

        if (c == '#' || c == ';' || (c == '-' && next == '-') || (c == '/' && next == '*') ||
            (c == ')' && open == 0))
            return false;
        open += c == '(';
        open -= c == ')';
        i = strchr("'\"`", c) != NULL && c != '\0' ? skip_quoted(text, i) : i + 1;
    }
    return open == 0 && i == text.len;
}

void answers_note_clause(struct answers *a, const struct clause_wanted *w)
{
    struct buf key = {0};
    struct clause *c;

    if (is_closed(w->text) && find_clause(a, w, &key) == NULL) {
        c = arena_alloc(a->arena, 1, sizeof(*c));
        c->wanted = (struct clause_wanted){copy_name(a->arena, &w->name), w->clause,
                                           arena_copy(a->arena, w->text)};
        (void)map_put(a->clauses, buf_str(&key), c);
        a->new_clauses =
            mem_resize(a->new_clauses, a->n_new_clauses + 1, sizeof(struct clause *));
        a->new_clauses[a->n_new_clauses++] = c;
    }
    buf_free(&key);
}

void answers_note_shares(struct answers *a, const struct shares_wanted *w)
{
    struct buf key = {0};
    struct shares *s;

    if (find_shares(a, w, &key) == NULL) {
        struct str *columns = arena_alloc(a->arena, w->n_columns, sizeof(*columns));

        for (size_t i = 0; i < w->n_columns; i++)
            columns[i] = arena_copy(a->arena, w->columns[i]);
        s = arena_alloc(a->arena, 1, sizeof(*s));
        s->wanted = *w;
        s->wanted.name = copy_name(a->arena, &w->name);
        s->wanted.columns = columns;
        (void)map_put(a->shares, buf_str(&key), s);
        a->new_shares = mem_resize(a->new_shares, a->n_new_shares + 1, sizeof(struct shares *));
        a->new_shares[a->n_new_shares++] = s;
    }
    buf_free(&key);
}

/* ---- asking ---- */

/* Returns false if the connection is of no use any more. */
static bool ask_clauses(struct mysql_conn *c, struct clause **clauses, size_t n)
{
    struct clause_wanted wanted[TOGETHER_MAX] = {0};
    struct err err = {0};

    for (size_t i = 0; i < n; i++)
        wanted[i] = clauses[i]->wanted;
    if (catalog_try_clauses(c, wanted, n, &err)) {
        for (size_t i = 0; i < n; i++)
            clauses[i]->accepted = true;
        return true;
    }
    if (err.kind != ERR_REJECT || n == 1)
        return err.kind == ERR_REJECT;
    return ask_clauses(c, clauses, n / 2) && ask_clauses(c, clauses + n / 2, n - n / 2);
}

static bool ask_shares(struct mysql_conn *c, struct shares **shares, size_t n)
{
    struct shares_wanted wanted[TOGETHER_MAX] = {0};
    struct catalog_shares counted[TOGETHER_MAX];
    struct err err = {0};

    for (size_t i = 0; i < n; i++)
        wanted[i] = shares[i]->wanted;
    if (catalog_count_shares(c, wanted, n, counted, &err)) {
        for (size_t i = 0; i < n; i++) {
            shares[i]->counted = counted[i];
            shares[i]->known = true;
        }
        return true;
    }
    if (err.kind != ERR_REJECT || n == 1)
        return err.kind == ERR_REJECT;
    return ask_shares(c, shares, n / 2) && ask_shares(c, shares + n / 2, n - n / 2);
}

/* How many of them one statement may count: at least one. */
static size_t countable(struct shares *const *shares, size_t n)
{
    uint64_t rows = 0;
    size_t i = 0;

    for (; i < n && i < TOGETHER_MAX && (i == 0 || rows < ROWS_MAX); i++)
        rows += shares[i]->wanted.n_rows < SHARES_ROWS_MAX ? shares[i]->wanted.n_rows
                                                           : SHARES_ROWS_MAX;
    return i;
}

void answers_ask(struct answers *a, struct mysql_conn *c)
{
    bool goes_on = true;

    for (size_t i = 0, n; goes_on && i < a->n_new_clauses; i += n) {
        n = a->n_new_clauses - i < TOGETHER_MAX ? a->n_new_clauses - i : TOGETHER_MAX;
        goes_on = ask_clauses(c, a->new_clauses + i, n);
    }
    for (size_t i = 0, n; goes_on && i < a->n_new_shares; i += n) {
        n = countable(a->new_shares + i, a->n_new_shares - i);
        goes_on = ask_shares(c, a->new_shares + i, n);
    }
    a->n_new_clauses = a->n_new_shares = 0;
}

bool answers_accept(const struct answers *a, const struct clause_wanted *w)
{
    struct buf key = {0};
    const struct clause *c = find_clause(a, w, &key);

    buf_free(&key);
    return c != NULL && c->accepted;
}

const struct catalog_shares *answers_find_shares(const struct answers *a,
                                                 const struct shares_wanted *w)
{
    struct buf key = {0};
    const struct shares *s = find_shares(a, w, &key);

    buf_free(&key);
    return s != NULL && s->known ? &s->counted : NULL;
}

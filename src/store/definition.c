#include "config.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/failpoint.h"
#include "src/base/mem.h"
#include "src/file/seal.h"
#include "src/format/json.h"
#include "src/store/core.h"
#include "src/store/retired.h"
#include "src/store/store.h"

#include <stdlib.h>
#include <string.h>

/* Definitions and their effects. */

#define REVISION       STR("definitions/revision")
#define OTHER_REVISION "revision" /* the origin of an error */

static void fill_definition(struct arena *a, const struct str *cells, void *element)
{
    struct stored_definition *d = element;

    d->kind = arena_copy(a, cells[0]);
    d->name = arena_copy(a, cells[1]);
    d->body = arena_copy(a, cells[2]);
}

/* ---- passwords ---- */

/* All definitions. */
struct definition_set {
    const struct stored_definition *items;
    size_t n;
};

/*
 * Append the name of the topic that a topic or database belongs to.  Appends nothing for other
 * kinds, which have no part in where passwords go.
 */
static void append_topic(struct buf *out, const struct stored_definition *d)
{
    if (str_equal(d->kind, STR("topic")))
        buf_append(out, d->name);
    else if (str_equal(d->kind, STR("database")))
        (void)json_find_text(d->body, "/topic", out);
}

static bool is_of_topic(const struct stored_definition *d, struct str topic)
{
    struct buf own = {0};

    append_topic(&own, d);

    const bool is = own.len > 0 && str_equal(buf_str(&own), topic);

    buf_free(&own);
    return is;
}

static int by_name(const void *a, const void *b)
{
    const struct stored_definition *const *x = a, *const *y = b;
    const int order = str_order((*x)->kind, (*y)->kind);

    return order != 0 ? order : str_order((*x)->name, (*y)->name);
}

static void append_part(struct buf *out, struct str part)
{
    buf_append(out, part);
    buf_append_char(out, '\0');
}

/* Append everything but the password. */
static void append_rest(struct buf *out, const struct stored_definition *d)
{
    append_part(out, d->kind);
    append_part(out, d->name);
    if (!seal_body_rest(d->body, out))
        buf_append(out, d->body);
    buf_append_char(out, '\0');
}

/*
 * Append the label a password is sealed under: its own definition's name, then its topic and
 * all databases of that topic, which say where the password is sent (databases may have servers
 * of their own).  The password opens only while all of these are unchanged, so nobody who can
 * write to the store can have it sent elsewhere.
 */
static void append_label(struct buf *out, const struct definition_set *all,
                         const struct stored_definition *d)
{
    const struct stored_definition **of = mem_alloc(all->n + 1, sizeof(*of));
    struct buf topic = {0};
    size_t n = 0;

    append_part(out, d->kind);
    append_part(out, d->name);
    append_topic(&topic, d);
    for (size_t i = 0; i < all->n; i++)
        if (is_of_topic(&all->items[i], buf_str(&topic)))
            of[n++] = &all->items[i];
    qsort(of, n, sizeof(*of), by_name);
    for (size_t i = 0; i < n; i++)
        append_rest(out, of[i]);
    buf_free(&topic);
    free(of);
}

/* seal_body() or seal_open_body() */
typedef void (*seal_fn)(const struct seal *s, struct str label, struct str body,
                        struct buf *out);

static void append_body(struct buf *out, const struct seal *seal, seal_fn change,
                        const struct definition_set *all, const struct stored_definition *d)
{
    struct buf label = {0}, rest = {0};

    if (seal != NULL && seal_body_rest(d->body, &rest)) {
        append_label(&label, all, d);
        change(seal, buf_str(&label), d->body, out);
    } else {
        buf_append(out, d->body);
    }
    buf_free(&label);
    buf_free(&rest);
}

static void open_passwords(const struct seal *seal, struct arena *a,
                           struct stored_definition *all, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct definition_set set = {all, n};
        struct buf body = {0};

        append_body(&body, seal, seal_open_body, &set, &all[i]);
        all[i].body = arena_copy(a, buf_str(&body));
        buf_free(&body);
    }
}

/* ---- all of them ---- */

static bool select_revision(struct store *s, uint64_t *revision, struct err *err)
{
    return store_select_number(s, "SELECT content FROM setting WHERE name = ?{lock}",
                               BINDS(TEXT(REVISION)), revision, NULL, err);
}

bool store_load_definitions(struct store *s, struct arena *a, struct stored_definition **out,
                            size_t *n, uint64_t *revision, struct err *err)
{
    struct row_list list = ROW_LIST(a, struct stored_definition, fill_definition);

    if (!store_begin(s, err))
        return false;
    bool ok = select_revision(s, revision, err) &&
              store_select(s, "SELECT kind, name, body FROM definition ORDER BY kind, name",
                           NO_BINDS, &list.sink, err);

    *out = row_list_finish(&list, n);
    open_passwords(s->seal, a, *out, *n);
    return store_end(s, ok, err);
}

static bool insert_definition(struct store *s, const struct definition_set *all,
                              const struct stored_definition *d, struct err *err)
{
    static const char insert[] = "INSERT INTO definition (kind, name, body) VALUES (?, ?, ?)";
    struct buf body = {0};

    append_body(&body, s->seal, seal_body, all, d);

    const bool ok =
        store_run(s, insert, BINDS(TEXT(d->kind), TEXT(d->name), TEXT(buf_str(&body))), err);

    buf_free(&body);
    return ok || err_wrap(err, "%" STR_FMT " %" STR_FMT, STR_ARG(d->kind), STR_ARG(d->name));
}

static bool replace_definitions(struct store *s, const struct stored_definition *defs, size_t n,
                                struct err *err)
{
    if (!store_run(s, "DELETE FROM definition", NO_BINDS, err))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!insert_definition(s, &(struct definition_set){defs, n}, &defs[i], err))
            return false;
    return true;
}

static bool raise_revision(struct store *s, uint64_t revision, struct err *err)
{
    struct buf text = {0};

    buf_printf(&text, "%llu", (unsigned long long)revision + 1);

    const bool ok = store_write_value(s, REVISION, buf_str(&text), err);

    buf_free(&text);
    return ok;
}

/* Definitions have no owner: the first who changes a revision wins. */
static bool check_revision(struct store *s, uint64_t revision, struct err *err)
{
    uint64_t now;

    if (!select_revision(s, &now, err))
        return false;
    return now == revision ||
           err_set_code(err, ERR_RETRY, OTHER_REVISION, 1,
                        "the definitions were changed by somebody else meanwhile");
}

bool store_is_other_revision(const struct err *err)
{
    return err->origin != NULL && strcmp(err->origin, OTHER_REVISION) == 0;
}

bool store_save_definitions(struct store *s, uint64_t revision,
                            const struct stored_definition *defs, size_t n,
                            const struct definition_effects *e, struct err *err)
{
    if (!store_begin_write(s, OF_NOBODY, err))
        return false;
    bool ok = check_revision(s, revision, err);

    ok = ok && replace_definitions(s, defs, n, err) && raise_revision(s, revision, err);
    FAILPOINT(definitions_replaced);
    ok = ok && store_write_effects(s, e, err);
    return store_end(s, ok, err);
}

bool store_set_seal(struct store *s, const struct seal *seal, struct err *err)
{
    const struct definition_effects none = {0};
    struct arena *a = arena_new();
    struct stored_definition *stored;
    uint64_t revision;
    size_t n;
    bool in_clear = false, ok = store_load_definitions(s, a, &stored, &n, &revision, err);

    s->seal = seal;
    for (size_t i = 0; ok && i < n; i++)
        in_clear = in_clear || seal_body_is_open(stored[i].body);
    ok = ok && (!in_clear || store_save_definitions(s, revision, stored, n, &none, err));
    arena_free(a);
    return ok;
}

bool store_save_effects(struct store *s, uint64_t revision, const struct definition_effects *e,
                        struct err *err)
{
    return store_begin_write(s, OF_NOBODY, err) &&
           store_end(s, check_revision(s, revision, err) && store_write_effects(s, e, err),
                     err);
}

#include "config.h"

#include "sync/inspect/log_filter.h"

#include "src/base/mem.h"
#include "sync/decode/transaction.h"
#include "sync/position/gtid_set.h"

#include <stdlib.h>
#include <string.h>

/* Byte i of DATABASE.TABLE. */
static char name_at(struct str database, struct str table, size_t i)
{
    if (i < database.len)
        return database.ptr[i];
    return i == database.len ? '.' : table.ptr[i - database.len - 1];
}

/* Skip one character, which may have several bytes, from *i on. */
static void skip_character(struct str database, struct str table, size_t len, size_t *i)
{
    ++*i;
    while (*i < len && ((unsigned char)name_at(database, table, *i) & 0xc0) == 0x80)
        ++*i;
}

/* * matches any characters, ? matches one. */
static bool matches(struct str pattern, struct str database, struct str table)
{
    const size_t len = database.len + 1 + table.len;
    size_t p = 0, i = 0, star = pattern.len, behind = 0;

    while (i < len) {
        if (p < pattern.len && pattern.ptr[p] == '*') {
            star = p++;
            behind = i;
        } else if (p < pattern.len && pattern.ptr[p] == '?') {
            p++;
            skip_character(database, table, len, &i);
        } else if (p < pattern.len && pattern.ptr[p] == name_at(database, table, i)) {
            p++;
            i++;
        } else if (star < pattern.len) {
            p = star + 1;
            i = ++behind;
        } else {
            return false;
        }
    }
    while (p < pattern.len && pattern.ptr[p] == '*')
        p++;
    return p == pattern.len;
}

/* A table_map_want_fn; ctx is the filter. */
static bool wants_table(void *ctx, struct str database, struct str table,
                        struct schema **schema)
{
    const struct log_filter *f = ctx;

    (void)schema;
    for (size_t i = 0; i < f->n_tables; i++)
        if (matches(f->tables[i], database, table))
            return true;
    return f->n_tables == 0;
}

static bool wants_gtid(const struct log_filter *f, const struct gtid *g)
{
    if (f->gtids == NULL && f->n_ids == 0)
        return true;
    if (g->family == GTID_MYSQL)
        return f->gtids != NULL && gtid_set_contains(f->gtids, g);
    for (size_t i = 0; g->family == GTID_MARIADB && i < f->n_ids; i++)
        if (f->ids[i].domain == g->domain && f->ids[i].server == g->server &&
            f->ids[i].number == g->number)
            return true;
    return false;
}

bool log_filter_wants(const struct log_filter *f, const struct step *step, bool *done)
{
    const struct event *e = &step->event;
    const struct position at = {e->file, e->start};

    if (f->to.file.ptr != NULL && position_compare(at, f->to) >= 0)
        *done = true;
    return !*done && (f->from.file.ptr == NULL || position_compare(at, f->from) >= 0) &&
           (f->from_time == 0 || e->time >= f->from_time) &&
           (f->to_time == 0 || e->time < f->to_time) && wants_gtid(f, &step->gtid);
}

static struct str next_part(struct str *text)
{
    const char *comma = text->len > 0 ? memchr(text->ptr, ',', text->len) : NULL;
    const struct str part = {text->ptr,
                             comma != NULL ? (size_t)(comma - text->ptr) : text->len};

    text->ptr += part.len + (comma != NULL);
    text->len -= part.len + (comma != NULL);
    return part;
}

/*
 * A MariaDB set has one id per domain and includes all earlier ones; here each id stands for
 * itself only.
 */
static bool parse_ids(struct gtid_choice *c, struct str text, struct err *err)
{
    while (text.len > 0) {
        c->ids = mem_resize(c->ids, c->n_ids + 1, sizeof(*c->ids));
        if (!gtid_parse(next_part(&text), &c->ids[c->n_ids], err))
            return false;
        if (c->ids[c->n_ids++].family != GTID_MARIADB)
            return err_set(err, ERR_REJECT, "GTIDs of both families");
    }
    return true;
}

bool gtid_choice_parse(struct gtid_choice *c, struct str text, struct err *err)
{
    if (!gtid_set_parse(text, &c->gtids, err))
        return false;
    if (gtid_set_is_empty(c->gtids))
        return err_set(err, ERR_REJECT, "no GTID is given");
    if (gtid_set_family(c->gtids) == GTID_MYSQL)
        return true;
    gtid_set_free(c->gtids);
    c->gtids = NULL;
    return parse_ids(c, text, err);
}

void gtid_choice_fini(struct gtid_choice *c)
{
    gtid_set_free(c->gtids);
    free(c->ids);
    *c = (struct gtid_choice){0};
}

#define EVENT_MAX_DEFAULT ((uint64_t)1 << 30)

/* The offset of a file's first event, after the magic number. */
#define FIRST_EVENT 4

struct log_reader *log_excerpt_reader(const struct log_excerpt *e)
{
    struct log_reader_options opt = {
        .want = wants_table,
        .want_ctx = (void *)(uintptr_t)&e->filter,
        .file = e->file.len > 0,
        .lenient = true,
        .event_max = e->event_max != 0 ? e->event_max : EVENT_MAX_DEFAULT,
        .start = e->start,
    };

    if (opt.file)
        opt.start =
            (struct position){e->file, e->start.offset != 0 ? e->start.offset : FIRST_EVENT};
    return log_reader_new(&opt);
}

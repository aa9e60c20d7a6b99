#include "config.h"

#include "sync/read/access_denied.h"

#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/lock.h"
#include "src/base/mem.h"
#include "src/mysql/account.h"
#include "src/mysql/mysql.h"
#include "sync/document/plan.h"

#include <stdlib.h>
#include <string.h>

static const char *const reads[] = {
    [ACCESS_DENIED_DOCUMENTS] = "Millrace cannot read changed documents",
    [ACCESS_DENIED_ROOTS] = "Millrace cannot find changed documents",
    [ACCESS_DENIED_TABLES] = "Millrace follows its tables in their last known shape",
};

/* Stays for good after the first denial. */
struct denied_index {
    struct denied_index *next;
    char *name;
    struct err why[N_ACCESS_DENIED_READS]; /* ERR_NONE if readable */
};

struct access_denied {
    struct lock lock;

    /* All guarded by lock. */
    struct denied_index *first;
};

struct access_denied *access_denied_new(void)
{
    struct access_denied *d = mem_alloc(1, sizeof(*d));

    lock_init(&d->lock, LOCK_private);
    return d;
}

void access_denied_free(struct access_denied *d)
{
    if (d == NULL)
        return;
    for (struct denied_index *i = d->first, *next; i != NULL; i = next) {
        next = i->next;
        free(i->name);
        free(i);
    }
    lock_fini(&d->lock);
    free(d);
}

static struct denied_index *find(const struct access_denied *d, struct str index) NEEDS(d->lock)
{
    for (struct denied_index *i = d->first; i != NULL; i = i->next)
        if (str_equal(str_from(i->name), index))
            return i;
    return NULL;
}

static struct denied_index *add(struct access_denied *d, const char *index) NEEDS(d->lock)
{
    struct denied_index *i = mem_alloc(1, sizeof(*i));

    i->name = mem_copy(index);
    i->next = d->first;
    d->first = i;
    return i;
}

void access_denied_tell(struct access_denied *d, const char *index,
                        enum access_denied_read read, const struct err *why)
{
    if (why != NULL && !mysql_err_is_denial(why))
        return;
    lock_acquire(&d->lock);

    struct denied_index *i = find(d, str_from(index));

    if (i == NULL && why != NULL)
        i = add(d, index);
    if (i != NULL)
        i->why[read] = why != NULL ? *why : (struct err){0};
    lock_release(&d->lock);
}

bool access_denied_has_tables(struct access_denied *d, struct str index)
{
    lock_acquire(&d->lock);

    const struct denied_index *i = find(d, index);
    const bool has = i != NULL && i->why[ACCESS_DENIED_TABLES].kind != ERR_NONE;

    lock_release(&d->lock);
    return has;
}

bool access_denied_find(struct access_denied *d, struct str index, struct err *why)
{
    lock_acquire(&d->lock);

    const struct denied_index *i = find(d, index);
    bool found = false;

    for (size_t r = 0; i != NULL && r < N_ACCESS_DENIED_READS && !found; r++) {
        found = i->why[r].kind != ERR_NONE;
        if (found) {
            *why = i->why[r];
            err_wrap(why, "%s", reads[r]);
        }
    }
    lock_release(&d->lock);
    return found;
}

/* ---- what gives a right back ---- */

/* Servers name the table last: ... for table 't', or `db`.`t`. */
static bool is_refused(const char *refusal, struct str table)
{
    size_t end = strlen(refusal);

    while (end > 0 && strchr("'`", refusal[end - 1]) == NULL)
        end--;
    return end > table.len + 1 && strchr("'`", refusal[end - table.len - 2]) != NULL &&
           str_equal((struct str){refusal + end - table.len - 1, table.len}, table);
}

/* Append what gives the right back, as far as the refusal says which one it is. */
static void append_grant(const struct plan *p, struct mysql_conn *const *of,
                         const char *refusal, struct buf *out)
{
    struct str database, table;
    bool refresh;

    for (size_t i = 0; i < plan_n_places(p); i++) {
        plan_place(p, i, &database, &table, &refresh);
        if (!is_refused(refusal, table))
            continue;
        buf_append(out, STR(" ON "));
        mysql_quote_name(out, database);
        buf_append_char(out, '.');
        mysql_quote_name(out, table);
        buf_append(out, STR(" TO "));
        mysql_account_append_known(of[plan_place_topic(p, i)], out);
        return;
    }
}

void access_denied_explain(const struct plan *p, struct mysql_conn *const *of, struct err *err)
{
    struct buf grant = {0};

    append_grant(p, of, err->msg, &grant);
    err_wrap(err, "the topic's user lacks a right (fix: GRANT SELECT%s)",
             grant.len > 0 ? grant.ptr : "");
    buf_free(&grant);
}

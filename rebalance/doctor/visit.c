#include "config.h"

#include "rebalance/doctor/visit.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/mysql/mysql.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct str visit_text(struct visit *v, const char *fmt, ...)
{
    va_list ap, again;

    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    char *p = arena_alloc(v->arena, (size_t)n + 1, 1);

    vsnprintf(p, (size_t)n + 1, fmt, again);
    va_end(again);
    return (struct str){p, (size_t)n};
}

struct str visit_table_name(struct visit *v, const struct doctor_table *t)
{
    struct buf b = {0};

    mysql_quote_name(&b, t->schema);
    buf_append_char(&b, '.');
    mysql_quote_name(&b, t->table);
    struct str name = arena_copy(v->arena, buf_str(&b));

    buf_free(&b);
    return name;
}

/* The first two words of a code. */
static struct str id_of(const char *code)
{
    const char *first = strchr(code, '.');
    const char *second = first != NULL ? strchr(first + 1, '.') : NULL;

    return second != NULL ? (struct str){code, (size_t)(second - code)} : str_from(code);
}

void visit_add(struct visit *v, enum doctor_status status, const char *code, struct str message,
               struct str why, struct str fix)
{
    const struct str id = id_of(code);
    const struct doctor_check check = {
        .id = id,
        .code = str_equal(id, str_from(code)) ? STR("") : str_from(code),
        .group = v->opt->group,
        .status = status,
        .message = message,
        .why = why,
        .fix = fix,
    };

    doctor_add(v->list, &check);
}

void visit_ok(struct visit *v, const char *id, struct str message)
{
    visit_add(v, DOCTOR_OK, id, message, STR(""), STR(""));
}

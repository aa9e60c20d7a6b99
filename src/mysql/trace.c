#include "config.h"

#include "src/mysql/trace.h"

#include "src/base/clock.h"
#include "src/base/mem.h"

#include <stdlib.h>

void mysql_trace_fini(struct mysql_trace *t)
{
    buf_free(&t->text);
    free(t->statements);
    *t = (struct mysql_trace){0};
}

static int64_t now_us(void)
{
    return clock_mono_ns() / 1000;
}

/* Until the statement ends, took_us holds its start time. */
void mysql_trace_begin(struct mysql_trace *t, struct str sql)
{
    if (t == NULL)
        return;
    t->statements = mem_resize(t->statements, t->n + 1, sizeof(*t->statements));
    t->statements[t->n++] =
        (struct mysql_statement){.at = t->text.len, .len = sql.len, .took_us = now_us()};
    buf_printf(&t->text, "%" STR_FMT ";\n", STR_ARG(sql));
}

void mysql_trace_row(struct mysql_trace *t)
{
    if (t != NULL && t->n > 0)
        t->statements[t->n - 1].n_rows++;
}

void mysql_trace_end(struct mysql_trace *t)
{
    if (t != NULL && t->n > 0)
        t->statements[t->n - 1].took_us = now_us() - t->statements[t->n - 1].took_us;
}

#include "config.h"

#include "src/mysql/explain.h"

#include "src/mysql/mysql.h"

#include <stdlib.h>
#include <string.h>

/* The cell of the column of that name; ptr NULL if there is none. */
static struct str cell_of(const struct mysql_result *r, const struct mysql_row *row,
                          struct str name)
{
    for (size_t i = 0; i < row->n_cells; i++)
        if (str_equal_any_case(mysql_result_name(r, i), name))
            return row->cells[i];
    return (struct str){NULL, 0};
}

static uint64_t number_of(struct str cell)
{
    char text[24] = "";

    if (cell.ptr != NULL && cell.len < sizeof(text))
        memcpy(text, cell.ptr, cell.len);
    return strtoull(text, NULL, 10);
}

static bool has(struct str cell, struct str word)
{
    return cell.ptr != NULL && memmem(cell.ptr, cell.len, word.ptr, word.len) != NULL;
}

int explain_next(struct mysql_result *r, struct explain_step *out, struct err *err)
{
    struct mysql_row row;
    const int got = mysql_result_next(r, &row, err);

    if (got <= 0)
        return got;
    *out = (struct explain_step){
        .select = number_of(cell_of(r, &row, STR("id"))),
        .rows = number_of(cell_of(r, &row, STR("rows"))),
        .repeats = has(cell_of(r, &row, STR("select_type")), STR("DEPENDENT")),
        .sorts = has(cell_of(r, &row, STR("Extra")), STR("filesort")),
    };
    return got;
}

/* ---- how many rows in all ---- */

static uint64_t sum(uint64_t x, uint64_t y)
{
    return x < UINT64_MAX - y ? x + y : UINT64_MAX;
}

static uint64_t product(uint64_t x, uint64_t y)
{
    return y == 0 || x <= UINT64_MAX / y ? x * y : UINT64_MAX;
}

struct total {
    uint64_t select; /* the one whose tables come now */
    uint64_t times;  /* its next table is read */
    uint64_t outer;  /* rows of the first SELECT, for those that repeat */
    uint64_t rows;
};

static void add(struct total *t, const struct explain_step *s)
{
    if (s->select == 0)
        return;
    if (s->select != t->select) {
        t->select = s->select;
        t->times = s->repeats && t->outer > 0 ? t->outer : 1;
    }
    t->times = product(t->times, s->rows > 0 ? s->rows : 1);
    t->rows = sum(t->rows, t->times);
    if (s->select == 1)
        t->outer = t->times;
}

bool explain_rows(struct mysql_conn *c, struct str sql, uint64_t *rows, struct err *err)
{
    struct total t = {.select = 0};
    struct explain_step step;
    struct mysql_result *r;
    int got;

    *rows = 0;
    if (!mysql_conn_query(c, sql, &r, err))
        return false;
    while ((got = explain_next(r, &step, err)) > 0)
        add(&t, &step);
    mysql_result_close(r);
    *rows = t.rows;
    return got == 0;
}

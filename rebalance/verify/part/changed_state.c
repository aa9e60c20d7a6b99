#include "config.h"

#include "rebalance/verify/part/changed_state.h"

#include "src/base/mem.h"

#include <stdlib.h>

static int number(struct str text, size_t at, size_t n)
{
    int sum = 0;

    for (size_t i = at; i < at + n; i++)
        sum = sum * 10 + (text.ptr[i] - '0');
    return sum;
}

/* Whether the text has this form, or the beginning of it that is as long. */
static bool has_form(struct str text, const char *form)
{
    for (size_t i = 0; i < text.len; i++) {
        const char c = text.ptr[i];
        const bool fits = form[i] == 'd' ? c >= '0' && c <= '9' : c == form[i];

        if (!fits && !(form[i] == ' ' && c == 'T'))
            return false;
    }
    return true;
}

static bool is_date(int year, int month, int day)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const bool leaps = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

    return year > 0 && month >= 1 && month <= 12 && day >= 1 &&
           day <= days[month - 1] + (month == 2 && leaps);
}

bool verify_changed_is_time(struct str text)
{
    static const char form[] = "dddd-dd-dd dd:dd:dd.dddddd";
    const size_t n = text.len;

    if ((n != 10 && n != 16 && n != 19 && n < 21) || n >= sizeof(form) || !has_form(text, form))
        return false;
    return is_date(number(text, 0, 4), number(text, 5, 2), number(text, 8, 2)) &&
           (n < 16 || (number(text, 11, 2) < 24 && number(text, 14, 2) < 60)) &&
           (n < 19 || number(text, 17, 2) < 60);
}

struct verify_changed *verify_changed_new(struct str since)
{
    struct verify_changed *c = mem_alloc(1, sizeof(*c));

    buf_append(&c->wished, since);
    return c;
}

void verify_changed_clear(struct verify_changed *c)
{
    if (c == NULL)
        return;
    arena_free(c->arena);
    c->arena = NULL;
    c->has_last = false;
    buf_clear(&c->tables);
}

void verify_changed_keep_last(struct verify_changed *c, const struct poll_row *row)
{
    struct arena *a = arena_new();

    c->last = (struct poll_row){arena_copy(a, row->id), arena_copy(a, row->key),
                                arena_copy(a, row->value)};
    arena_free(c->arena);
    c->arena = a;
    c->has_last = true;
}

void verify_changed_free(struct verify_changed *c)
{
    if (c == NULL)
        return;
    verify_changed_clear(c);
    buf_free(&c->tables);
    buf_free(&c->wished);
    free(c);
}

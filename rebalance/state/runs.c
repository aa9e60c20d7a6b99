#include "config.h"

#include "rebalance/state/runs.h"

#include "rebalance/state/parts.h"

#include "src/base/clock.h"

#include <stdlib.h>

struct str run_word(enum run_kind kind)
{
    static const struct str words[N_RUN_KINDS] = {
        [RUN_CHECK] = {"check", 5},
        [RUN_DELAYED] = {"delayed", 7},
        [RUN_REPLAY] = {"replay", 6},
    };

    return words[kind];
}

static void append_name(struct buf *name, enum run_kind kind, struct str table)
{
    buf_printf(name, STORE_SUCCESS "%" STR_FMT "/%" STR_FMT, STR_ARG(run_word(kind)),
               STR_ARG(table));
}

bool coordinator_note_run(struct coordinator *co, enum run_kind kind, struct str table,
                          struct err *err)
{
    struct buf name = {0}, value = {0};

    append_name(&name, kind, table);
    buf_append_u64(&value, (uint64_t)clock_wall_ms());

    const bool ok = store_put_value(co->opt.store, buf_str(&name), buf_str(&value), err);

    buf_free(&name);
    buf_free(&value);
    return ok;
}

int64_t run_last_ms(const struct stored_value *values, size_t n, enum run_kind kind,
                    struct str table)
{
    struct buf name = {0};
    int64_t ms = 0;

    append_name(&name, kind, table);
    for (size_t i = 0; i < n && ms == 0; i++)
        if (str_equal(values[i].name, buf_str(&name))) {
            struct buf text = {0};

            buf_append(&text, values[i].content);
            ms = strtoll(text.ptr, NULL, 10);
            buf_free(&text);
        }
    buf_free(&name);
    return ms;
}

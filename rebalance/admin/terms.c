#include "config.h"

#include "rebalance/admin/terms.h"

#include "rebalance/admin/definitions.h"
#include "rebalance/state/parts.h"
#include "rebalance/version/retire.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/clock.h"
#include "src/base/human.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define CHANGED STR("definitions/changed") /* "MILLISECONDS WHO" */

void coordinator_note_change(struct str by, struct retirement *r)
{
    struct definition_effects *e = &r->effects;
    struct stored_value *values = arena_alloc(r->arena, e->n_values + 1, sizeof(*values));
    struct buf text = {0};

    buf_printf(&text, "%" PRId64 " %" STR_FMT, clock_wall_ms(), STR_ARG(by));
    if (e->n_values > 0)
        memcpy(values, e->values, e->n_values * sizeof(*values));
    values[e->n_values++] =
        (struct stored_value){CHANGED, arena_copy(r->arena, buf_str(&text))};
    e->values = values;
    buf_free(&text);
}

/* Who changed them last, and when; says nothing if an older program did. */
static void append_last_change(struct coordinator *co, struct buf *out)
{
    struct buf stored = {0};
    struct err err;
    bool found;
    char *by;

    if (store_get_value(co->opt.store, CHANGED, &stored, &found, &err) && found) {
        const int64_t at_ms = strtoll(stored.ptr, &by, 10);

        buf_printf(out, "; %s changed them last, at ",
                   *by == ' ' && by[1] != '\0' ? by + 1 : "somebody");
        human_time(out, at_ms);
    }
    buf_free(&stored);
}

bool coordinator_check_terms(struct coordinator *co, const struct definitions *now,
                             const struct change_terms *terms, struct err *err)
{
    struct buf last = {0};

    if (terms->revision == NULL || *terms->revision == now->revision)
        return true;
    append_last_change(co, &last);
    refuse(err, 412,
           "the definitions are of revision %" PRIu64 ", and no longer of %" PRIu64
           "%s; nothing was stored; fix: read them again (GET /api/v1/export), and repeat the "
           "change",
           now->revision, *terms->revision, last.len > 0 ? last.ptr : "");
    buf_free(&last);
    return false;
}

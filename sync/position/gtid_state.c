#include "config.h"

#include "sync/position/gtid_state.h"

#include "src/base/buf.h"
#include "sync/position/gtid.h"
#include "sync/position/gtid_origin.h"

/* Read the next id of the state.  Returns false at the end or at damage. */
static bool next_id(struct gtid_text *t, struct gtid *out)
{
    gtid_text_skip_space(t);
    while (gtid_text_skip_char(t, ','))
        gtid_text_skip_space(t);
    return t->p < t->end && gtid_parse_mariadb(t, out);
}

/* Returns false if the state is malformed. */
static bool look_up(struct str state, const struct gtid_origin *o, bool *found, bool *passed)
{
    struct gtid_text t = gtid_text_of(state);
    struct gtid g;

    *found = *passed = false;
    while (next_id(&t, &g)) {
        if (g.domain != o->domain || g.number < o->number)
            continue;
        *found = *found || g.server == o->server;
        *passed = *passed || g.server != o->server;
    }
    return t.p == t.end;
}

bool gtid_state_missing(struct str state, const struct gtid_set *of, struct buf *missing,
                        bool *passed, struct err *err)
{
    *passed = false;
    for (size_t i = 0; i < of->n_origins; i++) {
        const struct gtid_origin *o = &of->origins[i];
        const struct gtid g = {.family = GTID_MARIADB,
                               .domain = o->domain,
                               .server = o->server,
                               .number = o->number};
        bool found, beyond;

        if (!look_up(state, o, &found, &beyond))
            return err_set(err, ERR_REJECT, "'%" STR_FMT "' is not a gtid_binlog_state",
                           STR_ARG(state));
        if (found)
            continue;
        if (missing->len > 0)
            buf_append_char(missing, ',');
        gtid_format(missing, &g);
        *passed = *passed || beyond;
    }
    return true;
}

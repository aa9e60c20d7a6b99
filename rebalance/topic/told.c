#include "config.h"

#include "rebalance/topic/told.h"

#include "rebalance/dead_letter/letters.h"
#include "rebalance/state/parts.h"
#include "rebalance/state/put_off.h"
#include "rebalance/version/marks.h"
#include "rebalance/version/routes.h"
#include "rebalance/version/shape.h"
#include "rebalance/version/table_stop.h"

#include "src/base/log.h"
#include "src/base/magic.h"

#define RETRY_STORE_MS 500

/*
 * Returns only once the letter is durable: the checkpoint must not pass a change that only we
 * know.
 */
bool coordinator_on_dead_row(void *ctx, const struct dead_letter_note *note)
{
    struct coordinator *co = MAGIC_CAST(coordinator, ctx);
    struct err err = {0};

    while (!coordinator_keep_dead_letters(co, note, 1, &err)) {
        if (err.kind == ERR_STOP) /* another node has the topic */
            return false;
        log_failure(LOG_ERROR, &err, "could not store a dead letter, trying again");
        if (stop_wait(&co->stop, RETRY_STORE_MS))
            return false;
    }
    delivery_note_dead(co->delivery, str_from(note->target->index), note->routing, note->id,
                       note->version);
    return true;
}

bool coordinator_on_stop_table(void *ctx, struct target *target, const char *reason,
                               const char *way_out)
{
    struct coordinator *co = MAGIC_CAST(coordinator, ctx);
    struct buf fix = {0}, lead = {0};
    struct err err = {0};
    bool durable = true;

    coordinator_lead_name(co, target, &lead);
    buf_printf(&fix, "%s ", way_out != NULL ? way_out : "millrace index create");
    buf_append_word(&fix, buf_str(&lead));

    const struct table_stop stop = {reason, fix.ptr, way_out == NULL};

    while (!coordinator_stop_target(co, target, &stop, &err)) {
        if (err.kind == ERR_STOP) {
            durable = false;
            break;
        }
        log_failure(LOG_ERROR, &err, "could not store that a table is stopped, trying again");
        if (stop_wait(&co->stop, RETRY_STORE_MS)) {
            durable = false;
            break;
        }
    }
    /* The reason may come from another topic than that of the table's documents. */
    coordinator_route_soon(co);
    buf_free(&fix);
    buf_free(&lead);
    return durable;
}

/*
 * Whether documents of the target may wait; sets change->index and number.  Not if its index is
 * to stop (`schema_changes: stop`), nor if it is one that searches may return to: a run builds
 * none of these.
 */
static bool may_put_off(struct coordinator *co, const struct target *target,
                        struct whole_change *change)
{
    struct catalogue *c = coordinator_catalogue(co);
    struct buf lead = {0};
    bool may = false;

    if (coordinator_split_index_name(target->index, &change->index, &change->number)) {
        const struct stored_version *v = catalogue_number(c, change->index, change->number);

        coordinator_lead_name(co, target, &lead);
        may = v != NULL && catalogue_is_live(v) && !catalogue_is_kept(v) &&
              coordinator_follows(co, buf_str(&lead));
    }
    buf_free(&lead);
    catalogue_unref(c);
    return may;
}

bool coordinator_on_put_off_table(void *ctx, struct str topic, const struct table_put_off *what,
                                  bool *is)
{
    struct coordinator *co = MAGIC_CAST(coordinator, ctx);
    struct whole_change change = {.topic = topic,
                                  .table = what->table,
                                  .reason = str_from(what->reason),
                                  .version = what->version,
                                  .owner = str_from(what->target->topic)};
    struct err err = {0};

    *is = may_put_off(co, what->target, &change);
    while (*is && !coordinator_put_off(co, &change, &err)) {
        if (err.kind == ERR_STOP)
            return false;
        log_failure(LOG_ERROR, &err,
                    "could not store that a table waits for a run, trying again");
        if (stop_wait(&co->stop, RETRY_STORE_MS))
            return false;
    }
    return true;
}

bool coordinator_on_mark(void *ctx, const struct target *target, const char *reason)
{
    struct coordinator *co = MAGIC_CAST(coordinator, ctx);
    struct err err = {0};

    while (!coordinator_mark_index(co, target, reason, &err)) {
        if (err.kind == ERR_STOP)
            return false;
        log_failure(LOG_ERROR, &err,
                    "could not store that a table must be verified, trying again");
        if (stop_wait(&co->stop, RETRY_STORE_MS))
            return false;
    }
    return true;
}

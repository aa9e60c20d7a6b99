#include "config.h"

#include "sync/change/parts.h"
#include "sync/change/write_gather.h"
#include "sync/document/plan.h"

uint64_t change_version(const struct change_unit *u, enum doc_op op)
{
    return u->at->version + (op == DOC_REFRESH);
}

void change_emit(struct change_unit *u, const struct doc_write *write)
{
    struct doc_write w = *write;

    w.target = target_ref(u->target);
    w.ticket = ticket_ref(u->ticket);
    w.version = change_version(u, write->op);
    w.commit_ms = u->at->commit_ms;
    write_gather_add(u->w->writes, &w);
    u->any = true;
}

void change_stop_unknown(struct change_unit *u, const struct use *use,
                         const struct column *lacks)
{
    struct str database, table;
    struct err why = {0};
    bool refresh;

    plan_place(use->plan, use->place, &database, &table, &refresh);
    err_set(&why, ERR_REJECT,
            "binlog_row_image leaves `%" STR_FMT "` out of a change of %" STR_FMT ".%" STR_FMT
            ", so Millrace cannot tell which documents the row was in; fix: set it to FULL in "
            "the server's configuration and in open sessions",
            STR_ARG(lacks->name), STR_ARG(database), STR_ARG(table));
    change_writer_stop(u->w, u->target, why.msg, CHANGE_REBUILD);
}

const struct column *change_find_lacking(const struct change_unit *u, const struct use *use,
                                         const struct binding *b)
{
    const struct row_change *c = u->change;
    const struct column *lacks = NULL;

    if (c->before != NULL)
        lacks = plan_find_absent(use->plan, use->place, b, c->before, PLAN_KEY);
    if (lacks == NULL && c->after != NULL)
        lacks = plan_find_absent(use->plan, use->place, b, c->after, PLAN_KEY);
    return lacks;
}

bool change_matters(const struct change_unit *u, const struct use *use, const struct binding *b)
{
    const struct row_change *c = u->change;

    return c->unsolved ||
           (use->place == 0 && ((const struct reading *)use->target->plan)->moves) ||
           plan_update_matters(use->plan, use->place, b, c->before, c->after);
}

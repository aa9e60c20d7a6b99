#include "config.h"

#include "sync/delivery/index/lines.h"

#include "sync/delivery/document/document.h"

#define WHOLE 100 /* one document, in units of `owed` */

void lines_init(struct lines *l)
{
    l->owed = 0;
    for (unsigned i = 0; i < N_LINES; i++)
        list_init(&l->line[i]);
}

void lines_push(struct lines *l, struct document *doc, bool first)
{
    doc->for_job = document_is_for_job(doc);

    struct link *line = &l->line[doc->for_job ? LINE_JOBS : LINE_STREAM];

    if (first)
        list_push_front(line, &doc->link);
    else
        list_push_back(line, &doc->link);
}

void lines_change(struct lines *l, struct document *doc)
{
    list_remove(&doc->link);
    lines_push(l, doc, true);
}

struct lines_rest lines_all(const struct lines *l)
{
    return (struct lines_rest){{l->line[LINE_STREAM].next, l->line[LINE_JOBS].next}};
}

void lines_end(struct lines *l, struct lines_rest *rest, enum line line)
{
    rest->at[line] = &l->line[line];
}

static bool is_turn_of_jobs(const struct lines *l, unsigned share)
{
    return l->owed + (int)share >= WHOLE;
}

struct document *lines_next(const struct lines *l, unsigned share, struct lines_rest *rest)
{
    enum line turn = is_turn_of_jobs(l, share) ? LINE_JOBS : LINE_STREAM;

    if (rest->at[turn] == &l->line[turn])
        turn = turn == LINE_JOBS ? LINE_STREAM : LINE_JOBS;

    struct link *at = rest->at[turn];

    if (at == &l->line[turn])
        return NULL;
    rest->at[turn] = at->next;
    return LIST_ITEM(at, struct document, link);
}

void lines_use_turn(struct lines *l, unsigned share, const struct document *doc)
{
    if (list_is_empty(&l->line[doc->for_job ? LINE_STREAM : LINE_JOBS]))
        l->owed = 0;
    else
        l->owed += (int)share - (doc->for_job ? WHOLE : 0);
}

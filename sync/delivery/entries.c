#include "config.h"

#include "sync/delivery/entries.h"

#include "sync/delivery/document/document.h"
#include "sync/delivery/sender.h"

static void note(struct sender *s, const struct write *w, bool of_engine, struct entry_note n)
{
    n.of_engine = of_engine;
    n.id = write_id(w);
    s->opt.note_entry(s->opt.ctx, w->target, &n);
}

/* What the operation makes of the document. */
static struct entry_note entry_of(const struct write *w)
{
    switch ((enum doc_op)w->op) {
    case DOC_INDEX:
        return (struct entry_note){.what = w->value == 0 ? ENTRY_UNKNOWN : ENTRY_VALUE,
                                   .value = w->value};
    case DOC_DELETE: /* the `_id` may live on under another routing */
        return (struct entry_note){.what = w->routing_len > 0 ? ENTRY_UNKNOWN : ENTRY_GONE};
    case DOC_REFRESH:
    case DOC_UPDATE: break;
    }
    return (struct entry_note){.what = ENTRY_UNKNOWN};
}

void entries_note_source(struct sender *s, struct write *w)
{
    if (s->opt.note_entry == NULL || w->op == DOC_REFRESH)
        return;
    if (w->op == DOC_INDEX)
        w->value = s->opt.value(s->opt.ctx, w->target, write_routing(w), write_body(w));
    note(s, w, false, entry_of(w));
}

void entries_note_engine(struct sender *s, const struct document *doc)
{
    if (s->opt.note_entry != NULL)
        note(s, doc->now, true, entry_of(doc->now));
}

void entries_note_unknown(struct sender *s, const struct document *doc)
{
    if (s->opt.note_entry != NULL)
        note(s, doc->now, true, (struct entry_note){.what = ENTRY_UNKNOWN});
}

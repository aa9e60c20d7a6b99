#include "config.h"

#include "rebalance/trace/parts.h"

void trace_note(struct trace *t, enum trace_code code, struct str why, struct str fix)
{
    t->facts |= TRACE_FACT(code);
    t->why[code] = arena_copy(t->arena, why);
    t->fix[code] = arena_copy(t->arena, fix);
}

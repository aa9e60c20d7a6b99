#include "config.h"

#include "sync/delivery/bulk/bisect.h"

#include "src/base/mem.h"

#include <assert.h>
#include <stdlib.h>

#define HOPELESS_PARTS 32

struct bisect *bisect_new(size_t n_documents)
{
    struct bisect *b = mem_alloc(1, sizeof(*b));

    b->n_open = 1;
    b->is_out = true;
    b->n_documents = n_documents;
    return b;
}

struct bisect *bisect_open(struct bisect *b)
{
    assert(b->n_open > 0);
    b->n_open++;
    return b;
}

bool bisect_is_hopeless(const struct bisect *b)
{
    return b->is_given_up || (!b->is_accepted && b->n_open + b->n_refused >= HOPELESS_PARTS);
}

void bisect_refuse(struct bisect *b, struct document *doc)
{
    if (b->n_refused == b->refused_cap) {
        b->refused_cap = b->refused_cap == 0 ? 8 : b->refused_cap * 2;
        b->refused = mem_resize(b->refused, b->refused_cap, sizeof(*b->refused));
    }
    b->refused[b->n_refused++] = doc;
}

bool bisect_close(struct bisect *b)
{
    assert(b->n_open > 0);
    return --b->n_open == 0;
}

void bisect_free(struct bisect *b)
{
    if (b == NULL)
        return;
    free(b->refused);
    free(b);
}

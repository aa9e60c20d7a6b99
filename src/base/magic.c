#include "config.h"

#include "src/base/magic.h"

#include <stdio.h>
#include <stdlib.h>

static const char *name_of(enum magic magic)
{
    static const char *const names[] = {
        "a freed struct",
#define MAGIC(name) "struct " #name,
#include "src/base/magic.def"
#undef MAGIC
    };
    const size_t i = (size_t)magic - MAGIC_FREED;

    return i < ARRAY_LEN(names) ? names[i] : "no magic";
}

void magic_fail(const enum magic *found, enum magic expected, const char *file, int line)
{
    fprintf(stderr, "%s:%d: %s (%#x) is expected, ", file, line, name_of(expected),
            (unsigned)expected);
    if (found == NULL)
        fprintf(stderr, "and the pointer is NULL\n");
    else
        fprintf(stderr, "%s (%#x) is found\n", name_of(*found), (unsigned)*found);
    abort();
}

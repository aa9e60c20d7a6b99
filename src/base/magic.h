/*
 * The magic of a struct says which struct lies at an address.
 *
 * A struct that outlives a call and that threads or callbacks get as void * has it as its first
 * member, "enum magic magic".  Whoever makes the struct sets it to MAGIC_<struct>. MAGIC_CAST()
 * turns the void * into the struct again, and MAGIC_END() comes before the struct is freed.
 * Both abort, in every build, if the pointer is NULL, another struct or a freed one, and name
 * their place in the source.
 *
 * src/base/magic.def lists these structs, and tests/lint/magic.sh checks the rule.
 *
 * @thread any
 */
#ifndef SRC_BASE_MAGIC_H
#define SRC_BASE_MAGIC_H

#include "src/base/base.h"

#include <stddef.h>

enum magic {
    MAGIC_FREED = 0x6fa5c300, /* neither text, nor a small number */
#define MAGIC(name) MAGIC_##name,
#include "src/base/magic.def"
#undef MAGIC
};

/* Returns p as a struct type *. */
#define MAGIC_CAST(type, p) ((struct type *)magic_check((p), MAGIC_##type, __FILE__, __LINE__))

/* Call it before the struct is freed: a later MAGIC_CAST() of its address aborts. */
#define MAGIC_END(type, p) magic_end((p), MAGIC_##type, __FILE__, __LINE__)

/* Prints the place, what was expected and what was found; then aborts. */
NORETURN COLD void magic_fail(const enum magic *found, enum magic expected, const char *file,
                              int line);

static inline void *magic_check(void *p, enum magic expected, const char *file, int line)
{
    if (UNLIKELY(p == NULL || *(const enum magic *)p != expected))
        magic_fail(p, expected, file, line);
    return p;
}

/* Volatile, as the compiler drops a store that free() follows. */
static inline void magic_end(void *p, enum magic expected, const char *file, int line)
{
    *(volatile enum magic *)magic_check(p, expected, file, line) = MAGIC_FREED;
}

#endif

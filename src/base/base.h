/*
 * Compiler attributes and a few macros for all code.
 */
#ifndef SRC_BASE_BASE_H
#define SRC_BASE_BASE_H

#include <stddef.h>

#define MUST_CHECK        __attribute__((warn_unused_result))
#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))
#define RETURNS_NONNULL   __attribute__((returns_nonnull))
#define NORETURN          _Noreturn
#define UNUSED            __attribute__((unused))
#define COLD              __attribute__((cold, noinline))

#define LIKELY(x)   __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

#define ARRAY_LEN(a)                  (sizeof(a) / sizeof((a)[0]))
#define CONTAINER_OF(p, type, member) ((type *)(void *)((char *)(p)-offsetof(type, member)))

#endif

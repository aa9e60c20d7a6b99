/*
 * Structured logging: a fixed message plus named values, one JSON object a line.
 *
 *     log_info("bulk accepted", KV("lane", lane->id), KV("docs", n));
 *
 * The message is a constant, so grep and counters always find the same event; whatever varies
 * goes into a value. Never log secrets or row contents: row data belongs in the dead-letter
 * store, which has its own access rules.
 */
#ifndef SRC_BASE_LOG_H
#define SRC_BASE_LOG_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum log_level {
    LOG_DEBUG = 0,
    LOG_INFO,
    LOG_WARN,
    LOG_ERROR,
};

struct log_kv {
    const char *key;
    enum { LOG_KV_STR, LOG_KV_INT, LOG_KV_UINT, LOG_KV_BOOL } type;
    union {
        struct str str;
        int64_t i64;
        uint64_t u64;
        bool flag;
    } value;
};

struct log_kv log_kv_str(const char *key, struct str v);
struct log_kv log_kv_cstr(const char *key, const char *v);
struct log_kv log_kv_int(const char *key, int64_t v);
struct log_kv log_kv_uint(const char *key, uint64_t v);
struct log_kv log_kv_bool(const char *key, bool v);

#define KV(key, v) \
    _Generic((v), \
        struct str: log_kv_str, \
        char *: log_kv_cstr, \
        const char *: log_kv_cstr, \
        bool: log_kv_bool, \
        int: log_kv_int, \
        long: log_kv_int, \
        long long: log_kv_int, \
        unsigned int: log_kv_uint, \
        unsigned long: log_kv_uint, \
        unsigned long long: log_kv_uint)((key), (v))

/* Discards everything below level; the default is LOG_INFO. @thread any */
void log_set_level(enum log_level level);

/* "debug", "info", "warn", "error". */
const char *log_level_name(enum log_level level);
bool log_level_parse(struct str name, enum log_level *level);

/* Writes lines to fd instead of standard error. Call before starting threads. */
void log_set_fd(int fd);

/*
 * Returns the number of lines lost because the disk was full or nobody read the pipe; logging
 * never waits for either. When writing works again, a line with the number of lost lines comes
 * first. @thread any
 */
uint64_t log_lost(void);

/* Use the macros below instead. */
void log_write(enum log_level level, const char *file, int line, const char *msg,
               const struct err *err, const struct log_kv *kv, size_t n_kv);

#define LOG_AT(level, err, msg, ...)                           \
    log_write((level), __FILE__, __LINE__, "" msg, (err),      \
              (const struct log_kv[]){{0}, ##__VA_ARGS__} + 1, \
              ARRAY_LEN(((const struct log_kv[]){{0}, ##__VA_ARGS__})) - 1)

#define log_debug(msg, ...) LOG_AT(LOG_DEBUG, NULL, msg, ##__VA_ARGS__)
#define log_info(msg, ...)  LOG_AT(LOG_INFO, NULL, msg, ##__VA_ARGS__)
#define log_warn(msg, ...)  LOG_AT(LOG_WARN, NULL, msg, ##__VA_ARGS__)
#define log_error(msg, ...) LOG_AT(LOG_ERROR, NULL, msg, ##__VA_ARGS__)

/* Logs a failure that the caller handles: adds kind, origin, code and cause of err. */
#define log_failure(level, err, msg, ...) LOG_AT((level), (err), msg, ##__VA_ARGS__)

#endif

#include "config.h"

#include "src/base/log.h"

#include "src/base/buf.h"
#include "src/base/clock.h"
#include "src/base/lock.h"
#include "src/base/log_text.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static enum log_level min_level = LOG_INFO;    /* atomic */
static enum log_format line_format = LOG_JSON; /* atomic */
static int out_fd = STDERR_FILENO;
static uint64_t n_lost; /* atomic */

/* On a full disk one line may take several writes, so threads take turns. */
static struct lock lock = LOCK_INIT(LOCK_private);
static uint64_t n_untold; /* lost lines not yet reported; guarded by lock, like the rest */
static int lost_errno;    /* errno of the last loss */
static bool is_torn;      /* the last line was cut off */

static const char *const level_name[] = {
    [LOG_DEBUG] = "debug",
    [LOG_INFO] = "info",
    [LOG_WARN] = "warn",
    [LOG_ERROR] = "error",
};

struct log_kv log_kv_str(const char *key, struct str v)
{
    return (struct log_kv){.key = key, .type = LOG_KV_STR, .value.str = v};
}

struct log_kv log_kv_cstr(const char *key, const char *v)
{
    return log_kv_str(key, str_from(v != NULL ? v : "(null)"));
}

struct log_kv log_kv_int(const char *key, int64_t v)
{
    return (struct log_kv){.key = key, .type = LOG_KV_INT, .value.i64 = v};
}

struct log_kv log_kv_uint(const char *key, uint64_t v)
{
    return (struct log_kv){.key = key, .type = LOG_KV_UINT, .value.u64 = v};
}

struct log_kv log_kv_bool(const char *key, bool v)
{
    return (struct log_kv){.key = key, .type = LOG_KV_BOOL, .value.flag = v};
}

void log_set_level(enum log_level level)
{
    __atomic_store_n(&min_level, level, __ATOMIC_RELAXED);
}

void log_set_format(enum log_format format)
{
    __atomic_store_n(&line_format, format, __ATOMIC_RELAXED);
}

static enum log_level get_level(void)
{
    return __atomic_load_n(&min_level, __ATOMIC_RELAXED);
}

const char *log_level_name(enum log_level level)
{
    return level_name[level];
}

bool log_level_parse(struct str name, enum log_level *level)
{
    for (size_t i = 0; i < ARRAY_LEN(level_name); i++) {
        if (str_equal(name, str_from(level_name[i]))) {
            *level = (enum log_level)i;
            return true;
        }
    }
    return false;
}

void log_set_fd(int fd)
{
    out_fd = fd;
}

static void append_field(struct buf *b, const char *key)
{
    if (b->len > 1)
        buf_append_char(b, ',');
    buf_append_json(b, str_from(key));
    buf_append_char(b, ':');
}

static void append_time(struct buf *b, const struct timespec *now)
{
    struct tm tm;

    gmtime_r(&now->tv_sec, &tm);
    append_field(b, "ts");
    buf_printf(b, "\"%04d-%02d-%02dT%02d:%02d:%02d.%03ldZ\"", tm.tm_year + 1900, tm.tm_mon + 1,
               tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, now->tv_nsec / 1000000);
}

static void append_kv(struct buf *b, const struct log_kv *kv)
{
    append_field(b, kv->key);
    switch (kv->type) {
    case LOG_KV_STR: buf_append_json(b, kv->value.str); break;
    case LOG_KV_INT: buf_append_i64(b, kv->value.i64); break;
    case LOG_KV_UINT: buf_append_u64(b, kv->value.u64); break;
    case LOG_KV_BOOL: buf_append(b, kv->value.flag ? STR("true") : STR("false")); break;
    }
}

static void append_err(struct buf *b, const struct err *err)
{
    append_kv(b, &(struct log_kv){"kind", LOG_KV_STR,
                                  .value.str = str_from(err_kind_name(err->kind))});
    if (err->code != 0) {
        append_kv(b,
                  &(struct log_kv){"origin", LOG_KV_STR, .value.str = str_from(err->origin)});
        append_kv(b, &(struct log_kv){"code", LOG_KV_INT, .value.i64 = err->code});
    }
    append_kv(b, &(struct log_kv){"cause", LOG_KV_STR, .value.str = str_from(err->msg)});
}

static void append_object(struct buf *b, const struct log_event *e)
{
    buf_append_char(b, '{');
    append_time(b, &e->at);
    append_kv(
        b, &(struct log_kv){"level", LOG_KV_STR, .value.str = str_from(level_name[e->level])});
    append_kv(b, &(struct log_kv){"msg", LOG_KV_STR, .value.str = str_from(e->msg)});
    for (size_t i = 0; i < e->n_kv; i++)
        append_kv(b, &e->kv[i]);
    if (e->err != NULL)
        append_err(b, e->err);
    append_field(b, "at");
    buf_printf(b, "\"%s:%d\"}\n", e->file, e->line);
}

static void append_line(struct buf *b, struct log_event *e)
{
    const enum log_format format = __atomic_load_n(&line_format, __ATOMIC_RELAXED);

    clock_gettime(CLOCK_REALTIME, &e->at);
    if (format == LOG_JSON)
        append_object(b, e);
    else
        log_text_append(b, e, format == LOG_COLOURED);
}

/* Returns false if the line, or its end, could not be written. */
static bool put(struct str line) NEEDS(lock)
{
    size_t done = 0;

    while (done < line.len) {
        const ssize_t n = write(out_fd, line.ptr + done, line.len - done);

        if (n == -1 && errno == EINTR)
            continue;
        if (n == -1) {
            lost_errno = errno;
            is_torn = is_torn || done > 0;
            return false;
        }
        done += (size_t)n;
    }
    return true;
}

static bool end_torn_line(void) NEEDS(lock)
{
    if (is_torn)
        is_torn = !put(STR("\n"));
    return !is_torn;
}

static bool tell_lost(void) NEEDS(lock)
{
    struct buf b = {0};

    if (n_untold == 0)
        return true;

    const struct log_kv kv[] = {KV("lines", n_untold), KV("cause", strerror(lost_errno))};

    append_line(&b, &(struct log_event){.level = LOG_WARN,
                                        .file = __FILE__,
                                        .line = __LINE__,
                                        .msg = "log lines could not be written and are lost",
                                        .kv = kv,
                                        .n_kv = ARRAY_LEN(kv)});

    const bool told = put(buf_str(&b));

    if (told)
        n_untold = 0;
    buf_free(&b);
    return told;
}

static void emit(const struct buf *line)
{
    lock_acquire(&lock);
    if (!end_torn_line() || !tell_lost() || !put(buf_str(line))) {
        n_untold++;
        __atomic_fetch_add(&n_lost, 1, __ATOMIC_RELAXED);
    }
    lock_release(&lock);
}

uint64_t log_lost(void)
{
    return __atomic_load_n(&n_lost, __ATOMIC_RELAXED);
}

void log_write(enum log_level level, const char *file, int line, const char *msg,
               const struct err *err, const struct log_kv *kv, size_t n_kv)
{
    if (level < get_level())
        return;

    struct buf b = {0};

    append_line(&b, &(struct log_event){.level = level,
                                        .file = file,
                                        .line = line,
                                        .msg = msg,
                                        .err = err,
                                        .kv = kv,
                                        .n_kv = n_kv});
    emit(&b);
    buf_free(&b);
}

#include "config.h"

#include "sync/inspect/log_filter_args.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

bool log_filter_args_time(const char *text, uint32_t *out, struct err *err)
{
    static const char *const forms[] = {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S",
                                        "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M", "%Y-%m-%d"};

    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        struct tm tm = {.tm_mday = 1};
        const char *end = strptime(text, forms[i], &tm);

        if (end == NULL || (*end != '\0' && strcmp(end, "Z") != 0))
            continue;

        const int day = tm.tm_mday;
        const time_t t = timegm(&tm);

        *out = (uint32_t)t;
        if (t >= 0 && t <= (time_t)UINT32_MAX && tm.tm_mday == day)
            return true;
    }
    return err_set(err, ERR_REJECT,
                   "\"%.40s\" is not a time like 2026-11-21T10:00:00Z or 2026-11-21 (UTC)",
                   text);
}

const char *log_filter_args_file_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    if (strcmp(path, "-") == 0)
        return "stdin";
    return slash != NULL ? slash + 1 : path;
}

bool log_filter_args_position(const char *text, const char *file, struct position *out,
                              struct err *err)
{
    const bool bare = text[0] != '\0' && text[strspn(text, "0123456789")] == '\0';

    if (!bare)
        return position_parse(str_from(log_filter_args_file_name(text)), out, err);
    if (file == NULL)
        return err_set(err, ERR_REJECT, "'%.40s' is not a position (FILE:OFFSET)", text);
    errno = 0;
    out->offset = strtoull(text, NULL, 10);
    if (errno == ERANGE)
        return err_set(err, ERR_REJECT, "'%.40s' is too large for an offset", text);
    out->file = str_from(log_filter_args_file_name(file));
    return true;
}

bool log_filter_args_table(const char *text, struct err *err)
{
    const char *dot = strchr(text, '.');

    if (dot == NULL || dot == text || dot[1] == '\0')
        return err_set(err, ERR_REJECT,
                       "\"%.80s\" is not DATABASE.TABLE (all of a database: DATABASE.*)", text);
    return true;
}

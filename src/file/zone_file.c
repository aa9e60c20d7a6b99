#include "config.h"

#include "src/file/zone_file.h"

#include "src/base/buf.h"
#include "src/file/whole_file.h"
#include "src/format/zone.h"

#define FOLDER       "/usr/share/zoneinfo"
#define NAME_MAX_LEN 64

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Words of letters, digits, _, + and -, with slashes between them; the first is a letter. */
static bool is_name(struct str s)
{
    char before = '/';

    if (s.len == 0 || s.len > NAME_MAX_LEN || !is_letter(s.ptr[0]))
        return false;
    for (size_t i = 0; i < s.len; i++) {
        const char c = s.ptr[i];

        if (c == '/'
                ? before == '/'
                : !is_letter(c) && !(c >= '0' && c <= '9') && c != '_' && c != '+' && c != '-')
            return false;
        before = c;
    }
    return before != '/';
}

bool zone_name_is_fine(struct str name)
{
    struct zone *z = zone_fixed(name);
    const bool is_fixed = z != NULL;

    zone_free(z);
    return is_fixed || is_name(name);
}

bool zone_open(struct str name, struct zone **out, struct err *err)
{
    struct buf path = {0}, bytes = {0};

    *out = zone_fixed(name);
    if (*out != NULL)
        return true;
    buf_printf(&path, FOLDER "/%" STR_FMT, STR_ARG(name));

    const bool ok = is_name(name) && whole_file_read(path.ptr, &bytes, NULL) &&
                    zone_parse(buf_str(&bytes), out, err);

    buf_free(&path);
    buf_free(&bytes);
    return ok || err_set(err, ERR_REJECT,
                         "this machine knows no time zone %" STR_FMT "; fix: install its zone "
                         "data (tzdata) in " FOLDER ", or use an offset like +08:00",
                         STR_ARG(name));
}

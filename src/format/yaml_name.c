#include "config.h"

#include "src/format/yaml_name.h"

#include "src/base/base.h"
#include "src/base/buf.h"

#include <stdbool.h>
#include <string.h>

/* What other readers take for a truth value or for nothing. */
static bool is_word(struct str name)
{
    static const char *const words[] = {"null", "true", "false", "yes", "no",
                                        "on",   "off",  "y",     "n"};

    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_equal_any_case(name, str_from(words[i])))
            return true;
    return false;
}

static bool is_letter(char c)
{
    return c == '_' || ((c | 32) >= 'a' && (c | 32) <= 'z');
}

static bool is_plain(struct str name)
{
    if (name.len == 0 || is_word(name) || (!is_letter(name.ptr[0]) && name.ptr[0] != '/'))
        return false;
    for (size_t i = 1; i < name.len; i++)
        if (!is_letter(name.ptr[i]) && !(name.ptr[i] >= '0' && name.ptr[i] <= '9') &&
            (name.ptr[i] == '\0' || strchr(".-/", name.ptr[i]) == NULL))
            return false;
    return true;
}

void yaml_append_name(struct buf *yaml, struct str name)
{
    if (is_plain(name))
        buf_append(yaml, name);
    else
        buf_append_json(yaml, name);
}

void yaml_append_names(struct buf *yaml, const struct str *names, size_t n)
{
    buf_append(yaml, n > 1 ? STR("[") : STR(""));
    for (size_t i = 0; i < n; i++) {
        buf_append(yaml, i > 0 ? STR(", ") : STR(""));
        yaml_append_name(yaml, names[i]);
    }
    buf_append(yaml, n > 1 ? STR("]") : STR(""));
}

void yaml_append_comment(struct buf *yaml, struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] >= 0x20 && text.ptr[i] != 0x7f)
            buf_append_char(yaml, text.ptr[i]);
}

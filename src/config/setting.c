#include "config.h"

#include "src/config/setting.h"

#include "src/base/buf.h"
#include "src/base/nearest.h"

#include <ctype.h>
#include <string.h>

size_t setting_find(struct str name)
{
    for (size_t i = 0; i < n_settings; i++)
        if (str_equal(str_from(settings[i].name), name))
            return i;
    return n_settings;
}

bool setting_is_section(struct str name)
{
    for (size_t i = 0; i < n_settings; i++)
        if (strlen(settings[i].name) > name.len && settings[i].name[name.len] == '.' &&
            memcmp(settings[i].name, name.ptr, name.len) == 0)
            return true;
    return false;
}

struct str setting_nearest(struct str name)
{
    struct nearest near = nearest_to(name);

    for (size_t i = 0; i < n_settings; i++) {
        const char *dot = strchr(settings[i].name, '.');

        nearest_offer(&near, str_from(settings[i].name));
        if (dot != NULL)
            nearest_offer(&near,
                          (struct str){settings[i].name, (size_t)(dot - settings[i].name)});
    }
    return near.best;
}

/* ---- values ---- */

struct unit_of {
    const char *suffix;
    int64_t factor;
};
static const struct unit_of sizes[] = {
    {"", 1}, {"B", 1}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}};
static const struct unit_of durations[] = {
    {"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}};
static const struct unit_of counts[] = {{"", 1}};

static bool parse_number(struct str text, const struct unit_of *units, size_t n_units,
                         int64_t *out)
{
    size_t i = 0;
    int64_t n = 0;

    for (; i < text.len && isdigit((unsigned char)text.ptr[i]); i++) {
        if (n > INT64_MAX / 10 - 10)
            return false;
        n = n * 10 + (text.ptr[i] - '0');
    }
    if (i == 0)
        return false;
    for (size_t u = 0; u < n_units; u++)
        if (str_equal((struct str){text.ptr + i, text.len - i}, str_from(units[u].suffix))) {
            if (n > INT64_MAX / units[u].factor)
                return false;
            *out = n * units[u].factor;
            return true;
        }
    return false;
}

/* The position of text among the choices; -1 if it is none of them. */
static int64_t find_choice(const char *choices, struct str text)
{
    int64_t i = 0;

    for (const char *at = choices; *at != '\0'; i++) {
        const size_t n = strcspn(at, " ");

        if (str_equal((struct str){at, n}, text))
            return i;
        at += n + (at[n] == ' ');
    }
    return -1;
}

static bool parse_count(struct str text, int64_t *out)
{
    return parse_number(text, counts, ARRAY_LEN(counts), out);
}

static bool parse_duration(struct str text, int64_t *out)
{
    return parse_number(text, durations, ARRAY_LEN(durations), out);
}

/*
 * Returns NULL and puts the value into *number if text is a value of s; otherwise returns what
 * was expected.
 */
static const char *parse(const struct setting *s, struct str text, int64_t *number)
{
    *number = 0;
    switch (s->kind) {
    case SETTING_TEXT:
    case SETTING_PATH:
    case SETTING_LIST: return NULL;
    case SETTING_BOOL:
        *number = str_equal(text, STR("true"));
        return *number || str_equal(text, STR("false")) ? NULL : "true or false";
    case SETTING_COUNT: return parse_count(text, number) ? NULL : "a whole number";
    case SETTING_COUNT_OR_AUTO:
        return str_equal(text, STR("auto")) || (parse_count(text, number) && *number > 0)
                   ? NULL
                   : "auto or a whole number from 1";
    case SETTING_SIZE:
        return parse_number(text, sizes, ARRAY_LEN(sizes), number)
                   ? NULL
                   : "a size like 65536, 64KiB or 8MiB";
    case SETTING_DURATION:
        return parse_duration(text, number) ? NULL : "a time like 500ms, 5s, 2m or 1h";
    case SETTING_DURATION_OR_NEVER:
        return str_equal(text, STR("never")) || (parse_duration(text, number) && *number > 0)
                   ? NULL
                   : "never, or a time like 500ms, 5s, 2m or 1h";
    case SETTING_CHOICE:
        *number = find_choice(s->choices, text);
        return *number >= 0 ? NULL : s->choices;
    }
    return NULL;
}

/* As a person would write it. */
static void put_value(struct buf *out, const struct setting *s, int64_t n)
{
    const bool is_time = s->kind == SETTING_DURATION || s->kind == SETTING_DURATION_OR_NEVER;
    const struct unit_of *units = is_time                   ? durations
                                  : s->kind == SETTING_SIZE ? sizes
                                                            : counts;
    const size_t n_units = is_time                   ? ARRAY_LEN(durations)
                           : s->kind == SETTING_SIZE ? ARRAY_LEN(sizes)
                                                     : ARRAY_LEN(counts);
    const struct unit_of *best = &units[0];

    for (size_t u = 0; u < n_units; u++)
        if (n > 0 && n % units[u].factor == 0 && units[u].factor > best->factor)
            best = &units[u];
    buf_printf(out, "%lld%s", (long long)(n / best->factor), best->suffix);
}

static bool refuse_range(const struct setting *s, struct str text, struct err *err)
{
    struct buf range = {0};

    put_value(&range, s, s->min);
    buf_append(&range, STR(" to "));
    put_value(&range, s, s->max);
    (void)err_set(err, ERR_REJECT, "%s: %" STR_FMT " is out of range, %s", s->name,
                  STR_ARG(text), range.ptr);
    buf_free(&range);
    return false;
}

bool setting_check(const struct setting *s, struct str text, struct err *err)
{
    int64_t number;
    const char *expected = parse(s, text, &number);

    if (expected != NULL)
        return err_set(err, ERR_REJECT, "%s: expected %s%s, got `%" STR_FMT "`", s->name,
                       s->kind == SETTING_CHOICE ? "one of " : "", expected, STR_ARG(text));
    if (s->max != 0 && (number < s->min || number > s->max))
        return refuse_range(s, text, err);
    return true;
}

static void put_number(void *field, size_t size, int64_t number)
{
    switch (size) {
    case sizeof(bool): *(bool *)field = number != 0; return;
    case sizeof(uint32_t): *(uint32_t *)field = (uint32_t)number; return;
    default: *(int64_t *)field = number; return;
    }
}

void setting_put(const struct setting *s, const struct setting_texts *texts,
                 struct settings *out)
{
    void *field = (char *)out + s->offset;
    int64_t number = 0;

    switch (s->form) {
    case FIELD_TEXTS: *(struct setting_texts *)field = *texts; return;
    case FIELD_TEXT: *(const char **)field = texts->n > 0 ? texts->items[0] : NULL; return;
    case FIELD_NUMBER:
        if (texts->n > 0)
            parse(s, str_from(texts->items[0]), &number);
        put_number(field, s->size, number);
        return;
    }
}

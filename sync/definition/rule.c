#include "config.h"

#include "sync/definition/rule.h"

#include "src/file/zone_file.h"

#include <ctype.h>
#include <string.h>

#define INDEX_NAME_MAX 235 /* the engines' 255 bytes less `_v` and a version's digits */
#define FIELD_NAME_MAX 255

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool all_are(struct str s, bool (*fits)(char))
{
    for (size_t i = 0; i < s.len; i++)
        if (!fits(s.ptr[i]))
            return false;
    return s.len > 0;
}

static bool fits_name(char c)
{
    return is_letter(c) || is_digit(c) || c == '_' || c == '-';
}

static struct str from(struct str s, size_t i)
{
    return (struct str){s.ptr + i, s.len - i};
}

const char *rule_name(struct str text)
{
    if (!all_are(text, fits_name))
        return "is not a name: use letters, digits, `_` and `-` only";
    return text.len > 64 ? "is longer than 64 characters" : NULL;
}

const char *rule_database(struct str text)
{
    return all_are(text, fits_name)
               ? rule_name(text)
               : "is not a name: use letters, digits, `_` and `-` only; `schema` has the "
                 "server's name";
}

const char *rule_table(struct str text)
{
    const char *dot = memchr(text.ptr, '.', text.len);

    if (dot == NULL || dot == text.ptr || dot == text.ptr + text.len - 1)
        return "is not DATABASE.TABLE, such as shop.orders";
    return NULL;
}

/* Tell whether s ends with `_v` and digits, like an index version. */
static bool ends_like_version(struct str s)
{
    size_t n = s.len;

    while (n > 0 && is_digit(s.ptr[n - 1]))
        n--;
    return n < s.len && n >= 2 && s.ptr[n - 1] == 'v' && s.ptr[n - 2] == '_';
}

const char *rule_index(struct str text)
{
    if (text.len > INDEX_NAME_MAX)
        return "is too long for an index: 235 bytes at most";
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];

        if (c <= ' ' || strchr("\\/*?\"<>|,#:", c) != NULL)
            return "is not an index name: it may not contain a blank or any of \\ / * ? \" < "
                   "> | , # :";
        if (isupper(c))
            return "is not an index name: the engines want lower case";
    }
    if (text.len == 0 || strchr("-_+.", text.ptr[0]) != NULL)
        return "is not an index name: it may not begin with - _ + or .";
    if (ends_like_version(text))
        return "is not an index name: `_v` and a number at the end mark the versions of an "
               "index";
    return NULL;
}

/* The engines read a list or a pattern as several pipelines, and `_none` as no pipeline. */
const char *rule_pipeline(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] <= ' ' || strchr("*,/?", text.ptr[i]) != NULL)
            return "is not the name of a pipeline: it may not contain a blank or any of * , / "
                   "?";
    return text.len == 0 || str_equal(text, STR("_none"))
               ? "is not the name of a pipeline; leave the field out for none"
               : NULL;
}

const char *rule_field(struct str text)
{
    static const char *const reserved[] = {
        "_id",          "_index", "_source", "_routing",     "_ignored",
        "_field_names", "_size",  "_type",   "_doc_count",   "_version",
        "_seq_no",      "_meta",  "_tier",   "_nested_path", "_data_stream_timestamp"};

    if (text.len == 0)
        return "is not a field name";
    if (text.len > FIELD_NAME_MAX)
        return "is too long for a field: 255 bytes at most";
    if (memchr(text.ptr, '.', text.len) != NULL)
        return "is not a field name: a dot would make it an object";
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] < 0x20)
            return "is not a field name: it has a control character";
    if (str_has_prefix(text, STR("_millrace")))
        return "is not a field name: Millrace adds `_millrace` itself";
    for (size_t i = 0; i < ARRAY_LEN(reserved); i++)
        if (str_equal(text, str_from(reserved[i])))
            return "is a name that the engines reserve";
    return NULL;
}

const char *rule_address(struct str text)
{
    const char *colon = memrchr(text.ptr, ':', text.len);

    if (text.len > 0 && text.ptr[0] == '/')
        return NULL;
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] <= ' ' || strchr("/@?#", text.ptr[i]) != NULL)
            return "is not an address: write host:port";
    if (text.len > 0 && text.ptr[0] == '[') {
        const char *end = memchr(text.ptr, ']', text.len);

        if (end == NULL || (end != text.ptr + text.len - 1 && end[1] != ':'))
            return "is not an address: write [v6 address]:port";
        if (end == text.ptr + text.len - 1)
            return NULL;
    } else if (colon != NULL && memchr(text.ptr, ':', (size_t)(colon - text.ptr)) != NULL) {
        return "is not an address: write [v6 address]:port";
    }
    if (text.len == 0 || colon == text.ptr)
        return "is not an address: the host is missing";
    if (colon == NULL)
        return NULL;

    struct str port = from(text, (size_t)(colon - text.ptr) + 1);
    unsigned n = 0;

    for (size_t i = 0; i < port.len && i < 6; i++)
        n = is_digit(port.ptr[i]) ? n * 10 + (unsigned)(port.ptr[i] - '0') : 70000;
    if (port.len == 0 || port.len > 5 || n == 0 || n > 65535)
        return "has no port from 1 to 65535 after the colon";
    return NULL;
}

/* Count the digits at the start of s. */
static size_t digits(struct str s)
{
    size_t n = 0;

    while (n < s.len && is_digit(s.ptr[n]))
        n++;
    return n;
}

/* D-S-N,D-S-N ... */
static bool is_mariadb_gtids(struct str s)
{
    for (;;) {
        for (int part = 0; part < 3; part++) {
            size_t n = digits(s);

            if (n == 0 || n > 20)
                return false;
            s = from(s, n);
            if (part < 2 && (s.len == 0 || s.ptr[0] != '-'))
                return false;
            if (part < 2)
                s = from(s, 1);
        }
        if (s.len == 0)
            return true;
        if (s.ptr[0] != ',')
            return false;
        s = from(s, 1);
    }
}

static bool is_uuid(struct str s)
{
    for (size_t i = 0; i < 36; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;

        if (i >= s.len || (dash ? s.ptr[i] != '-' : !isxdigit((unsigned char)s.ptr[i])))
            return false;
    }
    return true;
}

/* UUID[:TAG]:N[-M][:N[-M]]...,UUID... with blanks and line ends between, as the server prints
 * it */
static bool is_mysql_gtids(struct str s)
{
    while (s.len > 0) {
        if (!is_uuid(s))
            return false;
        s = from(s, 36);
        if (s.len < 2 || s.ptr[0] != ':')
            return false;
        while (s.len > 0 && s.ptr[0] != ',') {
            if (s.ptr[0] != ':' && s.ptr[0] != '-' && s.ptr[0] != '_' && !is_digit(s.ptr[0]) &&
                !is_letter(s.ptr[0]))
                return false;
            s = from(s, 1);
        }
        while (s.len > 0 && (s.ptr[0] == ',' || isspace((unsigned char)s.ptr[0])))
            s = from(s, 1);
    }
    return true;
}

/* NAME.DIGITS:OFFSET */
static bool is_file_position(struct str s)
{
    const char *colon = memrchr(s.ptr, ':', s.len);

    if (colon == NULL || memchr(s.ptr, '/', s.len) != NULL)
        return false;

    struct str offset = from(s, (size_t)(colon - s.ptr) + 1);
    struct str file = {s.ptr, (size_t)(colon - s.ptr)};
    const char *dot = file.len == 0 ? NULL : memrchr(file.ptr, '.', file.len);

    if (dot == NULL || dot == file.ptr)
        return false;

    struct str number = from(file, (size_t)(dot - file.ptr) + 1);

    return offset.len > 0 && offset.len <= 19 && digits(offset) == offset.len &&
           number.len > 0 && digits(number) == number.len;
}

const char *rule_start(struct str text)
{
    if (str_equal(text, STR("now")) || is_mariadb_gtids(text) || is_file_position(text))
        return NULL;
    if (text.len > 0 && is_mysql_gtids(text))
        return NULL;
    return "is not a start: use `now`, FILE:POSITION (binlog.000001:4) or a GTID set";
}

const char *rule_time_zone(struct str text)
{
    if (str_equal(text, STR("UTC")))
        return NULL;
    if (text.len != 6 || (text.ptr[0] != '+' && text.ptr[0] != '-') || text.ptr[3] != ':' ||
        !is_digit(text.ptr[1]) || !is_digit(text.ptr[2]) || !is_digit(text.ptr[4]) ||
        !is_digit(text.ptr[5]))
        return "is not a time zone: use `UTC` or an offset like +08:00 (named zones are not "
               "available)";
    if ((text.ptr[1] - '0') * 10 + (text.ptr[2] - '0') > 14 || text.ptr[4] > '5')
        return "is not a time zone: offsets go from -14:00 to +14:00";
    return NULL;
}

const char *rule_day_zone(struct str text)
{
    return zone_name_is_fine(text) ? NULL
                                   : "is not a time zone: use `UTC`, an offset like +08:00 or "
                                     "a name like Europe/Berlin";
}

const char *rule_environment(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!is_letter(text.ptr[i]) && text.ptr[i] != '_' && (i == 0 || !is_digit(text.ptr[i])))
            return "is not the name of an environment variable";
    return text.len == 0 ? "is not the name of an environment variable" : NULL;
}

#include "config.h"

#include "sync/position/position.h"

#include "src/base/buf.h"

#include <inttypes.h>

/* Parse digits.  Returns false if s is empty, has other characters or overflows. */
static bool parse_number(struct str s, uint64_t *out)
{
    uint64_t n = 0;

    if (s.len == 0)
        return false;
    for (size_t i = 0; i < s.len; i++) {
        const unsigned digit = (unsigned)(s.ptr[i] - '0');

        if (digit > 9 || n > (UINT64_MAX - digit) / 10)
            return false;
        n = n * 10 + digit;
    }
    *out = n;
    return true;
}

/*
 * Where the number in a file name begins: after the last dot, or at its end if there is no dot.
 */
static size_t number_start(struct str file)
{
    for (size_t i = file.len; i > 0; i--)
        if (file.ptr[i - 1] == '.')
            return i;
    return file.len;
}

bool position_parse(struct str text, struct position *out, struct err *err)
{
    size_t colon = text.len;

    while (colon > 0 && text.ptr[colon - 1] != ':')
        colon--;

    const struct str digits = {text.ptr + colon, text.len - colon};

    if (colon < 2 || !parse_number(digits, &out->offset))
        return err_set(err, ERR_REJECT, "'%" STR_FMT "' is not a position (FILE:OFFSET)",
                       STR_ARG(text));
    out->file = (struct str){text.ptr, colon - 1};
    return true;
}

void position_format(struct buf *b, struct position p)
{
    buf_append(b, p.file);
    buf_printf(b, ":%" PRIu64, p.offset);
}

bool position_file_number(struct str file, uint64_t *number)
{
    const size_t start = number_start(file);

    return parse_number((struct str){file.ptr + start, file.len - start}, number);
}

struct str position_file_base(struct str file)
{
    uint64_t number;

    if (!position_file_number(file, &number))
        return file;
    return (struct str){file.ptr, number_start(file) - 1};
}

static int compare_files(struct str a, struct str b)
{
    uint64_t x, y;

    if (position_file_number(a, &x) && position_file_number(b, &y))
        return (x > y) - (x < y);
    return str_order(a, b);
}

int position_compare(struct position a, struct position b)
{
    const int order = compare_files(a.file, b.file);

    return order != 0 ? order : (a.offset > b.offset) - (a.offset < b.offset);
}

bool position_version(struct position p, uint64_t epoch, uint64_t *version, struct err *err)
{
    uint64_t number;

    if (!position_file_number(p.file, &number))
        return err_set(err, ERR_REJECT, "binlog file name '%" STR_FMT "' has no number",
                       STR_ARG(p.file));
    if (number > POSITION_FILE_MAX)
        return err_set(err, ERR_REJECT,
                       "binlog file number %" PRIu64 " is above the limit of %" PRIu64, number,
                       POSITION_FILE_MAX);
    if (p.offset > POSITION_OFFSET_MAX)
        return err_set(err, ERR_REJECT,
                       "binlog offset %" PRIu64 " is above the limit of %" PRIu64, p.offset,
                       POSITION_OFFSET_MAX);
    if (epoch > POSITION_EPOCH_MAX)
        return err_set(err, ERR_REJECT, "epoch %" PRIu64 " is above the limit of %" PRIu64,
                       epoch, POSITION_EPOCH_MAX);
    *version = epoch << 53 | number << 33 | p.offset;
    return true;
}

struct position_fields position_fields(uint64_t version)
{
    return (struct position_fields){
        .epoch = version >> 53,
        .file = version >> 33 & POSITION_FILE_MAX,
        .offset = version & POSITION_OFFSET_MAX,
    };
}

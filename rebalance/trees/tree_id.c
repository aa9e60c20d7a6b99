#include "config.h"

#include "rebalance/trees/tree_id.h"

#include "src/base/buf.h"
#include "src/base/bytes.h"

#include <xxhash.h>

#define DATA_SIZE (TREE_ID_SIZE - 1)

/* Stored in files: a number keeps its meaning, or TREE_FORMAT changes (tree_header.c). */
enum kind {
    KIND_RAW_MAX = DATA_SIZE,
    KIND_UUID_LOWER,
    KIND_UUID_UPPER,
    KIND_HEX_LOWER,
    KIND_HEX_UPPER,
    KIND_DECIMAL,
    KIND_NEGATIVE,
    KIND_HASH,
};

/* How 16 bytes are written in hexadecimal digits. */
static const struct hex_form {
    enum kind kind;
    const char *digits;
    size_t len;
    bool has_dashes;
} forms[] = {
    {KIND_UUID_LOWER, "0123456789abcdef", 36, true},
    {KIND_UUID_UPPER, "0123456789ABCDEF", 36, true},
    {KIND_HEX_LOWER, "0123456789abcdef", 32, false},
    {KIND_HEX_UPPER, "0123456789ABCDEF", 32, false},
};

static bool is_dash(const struct hex_form *f, size_t at)
{
    return f->has_dashes && (at == 8 || at == 13 || at == 18 || at == 23);
}

/* Returns the digit's value, or -1. */
static int digit(const struct hex_form *f, char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= f->digits[10] && c <= f->digits[15] ? c - f->digits[10] + 10 : -1;
}

static bool pack_form(struct tree_id *out, const struct hex_form *f, struct str text)
{
    uint8_t *data = out->bytes + 1;
    size_t n = 0;

    if (text.len != f->len)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (is_dash(f, i)) {
            if (text.ptr[i] != '-')
                return false;
            continue;
        }

        const int value = digit(f, text.ptr[i]);

        if (value < 0)
            return false;
        data[n / 2] = (uint8_t)((unsigned)data[n / 2] << 4 | (unsigned)value);
        n++;
    }
    out->bytes[0] = (uint8_t)f->kind;
    return true;
}

static void unpack_form(const struct hex_form *f, const uint8_t *data, struct buf *out)
{
    size_t n = 0;

    for (size_t i = 0; i < f->len; i++) {
        if (is_dash(f, i)) {
            buf_append_char(out, '-');
        } else {
            buf_append_char(out, f->digits[n % 2 == 0 ? data[n / 2] >> 4 : data[n / 2] & 15]);
            n++;
        }
    }
}

/* text is longer than 16 bytes. */
static bool pack_decimal(struct tree_id *out, struct str text)
{
    const size_t start = text.ptr[0] == '-';
    uint64_t value = 0;

    if (text.ptr[start] == '0')
        return false;
    for (size_t i = start; i < text.len; i++) {
        const unsigned d = (unsigned char)text.ptr[i] - (unsigned)'0';

        if (d > 9 || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, d, &value))
            return false;
    }
    out->bytes[0] = start == 0 ? KIND_DECIMAL : KIND_NEGATIVE;
    store_le64(out->bytes + 1, value);
    return true;
}

static void pack_hash(struct tree_id *out, struct str text)
{
    const XXH128_hash_t h = XXH3_128bits(text.ptr, text.len);

    out->bytes[0] = KIND_HASH;
    store_le64(out->bytes + 1, h.low64);
    store_le64(out->bytes + 9, h.high64);
}

void tree_id_pack(struct tree_id *out, struct str text)
{
    memset(out, 0, sizeof(*out));
    if (text.len <= KIND_RAW_MAX) {
        out->bytes[0] = (uint8_t)text.len;
        if (text.len > 0)
            memcpy(out->bytes + 1, text.ptr, text.len);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(forms); i++)
        if (pack_form(out, &forms[i], text))
            return;
    memset(out, 0, sizeof(*out)); /* some digits of a form that it nearly had */
    if (!pack_decimal(out, text))
        pack_hash(out, text);
}

bool tree_id_unpack(const struct tree_id *id, struct buf *out)
{
    const uint8_t kind = id->bytes[0], *data = id->bytes + 1;

    if (kind <= KIND_RAW_MAX) {
        buf_append(out, (struct str){(const char *)data, kind});
        return true;
    }
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        if (forms[i].kind == kind) {
            unpack_form(&forms[i], data, out);
            return true;
        }
    }
    if (kind != KIND_DECIMAL && kind != KIND_NEGATIVE)
        return false;
    if (kind == KIND_NEGATIVE)
        buf_append_char(out, '-');
    buf_append_u64(out, load_le64(data));
    return true;
}

bool tree_id_is_of(const struct tree_id *id, struct str text)
{
    struct tree_id packed;

    tree_id_pack(&packed, text);
    return tree_id_order(id, &packed) == 0;
}

bool tree_id_has_a_kind(const uint8_t *bytes)
{
    return bytes[0] <= KIND_HASH;
}

uint64_t tree_id_spread(const uint8_t *bytes)
{
    return XXH3_64bits(bytes, TREE_ID_SIZE);
}

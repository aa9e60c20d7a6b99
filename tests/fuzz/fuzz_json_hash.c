/* Two texts, with a byte 0xff between them, which no JSON has. */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/format/json.h"
#include "src/format/json_difference.h"
#include "src/format/json_hash.h"

#include <assert.h>
#include <string.h>

static const struct str ours = STR("_millrace");

/* Returns false if the text is not JSON. */
static bool hash_of(struct str text, uint64_t *hash)
{
    const struct json_hashing how = {
        .ignored = &ours, .n_ignored = 1, .seed = UINT64_C(0x6a09e667f3bcc908)};
    struct err err = {0};
    const bool ok = json_hash(&how, text, hash, &err);

    assert(ok == json_valid(text, &err));
    assert(ok || err.kind == ERR_REJECT);
    return ok;
}

static bool compares_equal(struct str a, struct str b)
{
    struct json_comparison c = {.arena = arena_new(), .ignored = &ours, .n_ignored = 1};
    struct err err = {0};
    const bool ok = json_compare(&c, a, b, &err);

    assert(ok);
    arena_free(c.arena);
    return c.n_all == 0;
}

static void reprint(struct json_reader *r, struct buf *out);

/* An exponent, where there is one, stays: it may be too large to calculate with. */
static void reprint_number(struct json_reader *r, struct buf *out)
{
    struct str text;

    if (!json_read_number(r, &text))
        return;
    buf_append(out, text);
    if (memchr(text.ptr, 'e', text.len) == NULL && memchr(text.ptr, 'E', text.len) == NULL)
        buf_append(out, memchr(text.ptr, '.', text.len) == NULL ? STR(".00e+0") : STR("0E-0"));
}

static void reprint_string(struct str raw, struct buf *out)
{
    struct buf meant = {0};

    json_unescape(&meant, raw);
    buf_append_json(out, buf_str(&meant));
    buf_free(&meant);
}

static void reprint_object(struct json_reader *r, struct buf *out)
{
    struct str name;

    buf_append(out, STR("{ "));
    json_enter_object(r);
    for (size_t n = 0; json_next_member(r, &name); n++) {
        buf_append(out, n == 0 ? STR("") : STR(" ,"));
        if (n == 0) { /* it does not count, for it has another of its name behind it */
            reprint_string(name, out);
            buf_append(out, STR(":1,"));
        }
        reprint_string(name, out);
        buf_append(out, STR(" :"));
        reprint(r, out);
    }
    buf_append(out, STR("}"));
}

static void reprint_array(struct json_reader *r, struct buf *out)
{
    buf_append(out, STR("[ "));
    json_enter_array(r);
    for (size_t n = 0; json_next_element(r); n++) {
        buf_append(out, n == 0 ? STR("") : STR(" , "));
        reprint(r, out);
    }
    buf_append(out, STR("]"));
}

/* Prints the same value in another way. */
static void reprint(struct json_reader *r, struct buf *out)
{
    struct str raw;

    switch (json_peek(r)) {
    case JSON_OBJECT: reprint_object(r, out); break;
    case JSON_ARRAY: reprint_array(r, out); break;
    case JSON_NUMBER: reprint_number(r, out); break;
    case JSON_STRING:
        if (json_read_string(r, &raw))
            reprint_string(raw, out);
        break;
    case JSON_BOOL:
    case JSON_NULL:
        if (json_read_raw(r, &raw))
            buf_append(out, raw);
        break;
    case JSON_NONE: break;
    }
}

/* The text has one hash with its compact form and with another print of the same value. */
static void check_prints(struct str text, uint64_t hash)
{
    struct json_reader r;
    struct buf print = {0};
    uint64_t other = 0;

    json_reader_init(&r, text);
    reprint(&r, &print);
    assert(hash_of(buf_str(&print), &other) && other == hash);
    assert(compares_equal(text, buf_str(&print)));
    buf_clear(&print);
    assert(json_compact(&print, text));
    assert(hash_of(buf_str(&print), &other) && other == hash);
    buf_free(&print);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    const uint8_t *split = len > 0 ? memchr(bytes, 0xff, len) : NULL;
    const size_t n = split == NULL ? len : (size_t)(split - bytes);
    const struct str a = {(const char *)bytes, n};
    const struct str b = {(const char *)bytes + n + (split != NULL), len - n - (split != NULL)};
    uint64_t of_a = 0, of_b = 0;

    if (!hash_of(a, &of_a))
        return 0;
    check_prints(a, of_a);
    if (hash_of(b, &of_b))
        assert((of_a == of_b) == compares_equal(a, b));
    return 0;
}

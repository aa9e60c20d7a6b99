#include "config.h"

#include "sync/value/charset.h"

#include "src/base/arena.h"
#include "src/base/bytes.h"
#include "src/base/mem.h"
#include "src/base/utf8.h"
#include "sync/value/charset_tables.h"

#include <assert.h>
#include <iconv.h>
#include <stdlib.h>
#include <string.h>

/* How a set encodes characters. */
enum form {
    FORM_BINARY = 0,
    FORM_UTF8,
    FORM_SINGLE,  /* one byte each */
    FORM_DOUBLE,  /* ASCII, and two bytes (three after 0x8f in EUC-JP) */
    FORM_GB18030, /* ASCII, two bytes and four */
    FORM_UCS2,
    FORM_UTF16,
    FORM_UTF16LE,
    FORM_UTF32,
};

struct charset {
    struct str name;
    enum form form;
    const uint16_t *high;                    /* SINGLE */
    const uint16_t *low;                     /* SINGLE; NULL: ASCII */
    const char *iconv_name;                  /* DOUBLE, GB18030 */
    const struct charset_exception *changes; /* differences from iconv; NULL if none */
    uint8_t lead_min, lead_max;
    bool katakana;    /* a1 to df are half-width katakana */
    bool three_bytes; /* after 0x8f */
};

enum charset_id {
    NONE = 0,
    ASCII,
    BINARY,
    UTF8MB3,
    UTF8MB4,
    UCS2,
    UTF16,
    UTF16LE,
    UTF32,
    BIG5,
    CP932,
    EUCJPMS,
    EUCKR,
    GB18030,
    GB2312,
    GBK,
    SJIS,
    UJIS,
    SWE7,
    ARMSCII8,
    CP1250,
    CP1251,
    CP1256,
    CP1257,
    CP850,
    CP852,
    CP866,
    DEC8,
    GEOSTD8,
    GREEK,
    HEBREW,
    HP8,
    KEYBCS2,
    KOI8R,
    KOI8U,
    LATIN1,
    LATIN2,
    LATIN5,
    LATIN7,
    MACCE,
    MACROMAN,
    TIS620,
    N_CHARSETS,
};

static const uint16_t no_high[128];

static const struct charset charsets[N_CHARSETS] = {
    [ASCII] = {.name = STR("ascii"), .form = FORM_SINGLE, .high = no_high},
    [BINARY] = {.name = STR("binary"), .form = FORM_BINARY},
    [UTF8MB3] = {.name = STR("utf8mb3"), .form = FORM_UTF8},
    [UTF8MB4] = {.name = STR("utf8mb4"), .form = FORM_UTF8},
    [UCS2] = {.name = STR("ucs2"), .form = FORM_UCS2},
    [UTF16] = {.name = STR("utf16"), .form = FORM_UTF16},
    [UTF16LE] = {.name = STR("utf16le"), .form = FORM_UTF16LE},
    [UTF32] = {.name = STR("utf32"), .form = FORM_UTF32},
    [BIG5] = {.name = STR("big5"),
              .form = FORM_DOUBLE,
              .iconv_name = "BIG5",
              .changes = charset_big5_exceptions,
              .lead_min = 0xa1,
              .lead_max = 0xf9},
    [CP932] = {.name = STR("cp932"),
               .form = FORM_DOUBLE,
               .iconv_name = "CP932",
               .lead_min = 0x81,
               .lead_max = 0xfc,
               .katakana = true},
    [EUCJPMS] = {.name = STR("eucjpms"),
                 .form = FORM_DOUBLE,
                 .iconv_name = "EUC-JP-MS",
                 .lead_min = 0x8e,
                 .lead_max = 0xfe,
                 .three_bytes = true},
    [EUCKR] = {.name = STR("euckr"),
               .form = FORM_DOUBLE,
               .iconv_name = "UHC",
               .lead_min = 0x81,
               .lead_max = 0xfd},
    [GB18030] = {.name = STR("gb18030"),
                 .form = FORM_GB18030,
                 .iconv_name = "GB18030",
                 .changes = charset_gb18030_exceptions,
                 .lead_min = 0x81,
                 .lead_max = 0xfe},
    [GB2312] = {.name = STR("gb2312"),
                .form = FORM_DOUBLE,
                .iconv_name = "GB2312",
                .lead_min = 0xa1,
                .lead_max = 0xf7},
    [GBK] = {.name = STR("gbk"),
             .form = FORM_DOUBLE,
             .iconv_name = "GBK",
             .lead_min = 0x81,
             .lead_max = 0xfe},
    [SJIS] = {.name = STR("sjis"),
              .form = FORM_DOUBLE,
              .iconv_name = "CP932",
              .changes = charset_sjis_exceptions,
              .lead_min = 0x81,
              .lead_max = 0xea,
              .katakana = true},
    [UJIS] = {.name = STR("ujis"),
              .form = FORM_DOUBLE,
              .iconv_name = "EUC-JP-MS",
              .changes = charset_ujis_exceptions,
              .lead_min = 0x8e,
              .lead_max = 0xfe,
              .three_bytes = true},
    [SWE7] = {.name = STR("swe7"),
              .form = FORM_SINGLE,
              .high = no_high,
              .low = charset_swe7_low},
    [ARMSCII8] = {.name = STR("armscii8"), .form = FORM_SINGLE, .high = charset_armscii8},
    [CP1250] = {.name = STR("cp1250"), .form = FORM_SINGLE, .high = charset_cp1250},
    [CP1251] = {.name = STR("cp1251"), .form = FORM_SINGLE, .high = charset_cp1251},
    [CP1256] = {.name = STR("cp1256"), .form = FORM_SINGLE, .high = charset_cp1256},
    [CP1257] = {.name = STR("cp1257"), .form = FORM_SINGLE, .high = charset_cp1257},
    [CP850] = {.name = STR("cp850"), .form = FORM_SINGLE, .high = charset_cp850},
    [CP852] = {.name = STR("cp852"), .form = FORM_SINGLE, .high = charset_cp852},
    [CP866] = {.name = STR("cp866"), .form = FORM_SINGLE, .high = charset_cp866},
    [DEC8] = {.name = STR("dec8"), .form = FORM_SINGLE, .high = charset_dec8},
    [GEOSTD8] = {.name = STR("geostd8"), .form = FORM_SINGLE, .high = charset_geostd8},
    [GREEK] = {.name = STR("greek"), .form = FORM_SINGLE, .high = charset_greek},
    [HEBREW] = {.name = STR("hebrew"), .form = FORM_SINGLE, .high = charset_hebrew},
    [HP8] = {.name = STR("hp8"), .form = FORM_SINGLE, .high = charset_hp8},
    [KEYBCS2] = {.name = STR("keybcs2"), .form = FORM_SINGLE, .high = charset_keybcs2},
    [KOI8R] = {.name = STR("koi8r"), .form = FORM_SINGLE, .high = charset_koi8r},
    [KOI8U] = {.name = STR("koi8u"), .form = FORM_SINGLE, .high = charset_koi8u},
    [LATIN1] = {.name = STR("latin1"), .form = FORM_SINGLE, .high = charset_latin1},
    [LATIN2] = {.name = STR("latin2"), .form = FORM_SINGLE, .high = charset_latin2},
    [LATIN5] = {.name = STR("latin5"), .form = FORM_SINGLE, .high = charset_latin5},
    [LATIN7] = {.name = STR("latin7"), .form = FORM_SINGLE, .high = charset_latin7},
    [MACCE] = {.name = STR("macce"), .form = FORM_SINGLE, .high = charset_macce},
    [MACROMAN] = {.name = STR("macroman"), .form = FORM_SINGLE, .high = charset_macroman},
    [TIS620] = {.name = STR("tis620"), .form = FORM_SINGLE, .high = charset_tis620},
};

/*
 * From information_schema.COLLATIONS of MariaDB 10.11 and MySQL 9.7, which do not contradict
 * each other.
 */
/* clang-format off */
static const uint8_t of_collation[] = {
    [1] = BIG5, [2] = LATIN2, [3] = DEC8, [4] = CP850, [5] = LATIN1, [6] = HP8, [7] = KOI8R,
    [8] = LATIN1, [9] = LATIN2, [10] = SWE7, [11] = ASCII, [12] = UJIS, [13] = SJIS,
    [14] = CP1251, [15] = LATIN1, [16] = HEBREW, [18] = TIS620, [19] = EUCKR, [20] = LATIN7,
    [21] = LATIN2, [22] = KOI8U, [23] = CP1251, [24] = GB2312, [25] = GREEK, [26] = CP1250,
    [27] = LATIN2, [28] = GBK, [29] = CP1257, [30] = LATIN5, [31] = LATIN1, [32] = ARMSCII8,
    [33] = UTF8MB3, [34] = CP1250, [35] = UCS2, [36] = CP866, [37] = KEYBCS2, [38] = MACCE,
    [39] = MACROMAN, [40] = CP852, [41 ... 42] = LATIN7, [43] = MACCE, [44] = CP1250,
    [45 ... 46] = UTF8MB4, [47 ... 49] = LATIN1, [50 ... 52] = CP1251, [53] = MACROMAN,
    [54 ... 55] = UTF16, [56] = UTF16LE, [57] = CP1256, [58 ... 59] = CP1257,
    [60 ... 61] = UTF32, [62] = UTF16LE, [63] = BINARY, [64] = ARMSCII8, [65] = ASCII,
    [66] = CP1250, [67] = CP1256, [68] = CP866, [69] = DEC8, [70] = GREEK, [71] = HEBREW,
    [72] = HP8, [73] = KEYBCS2, [74] = KOI8R, [75] = KOI8U, [76] = UTF8MB3, [77] = LATIN2,
    [78] = LATIN5, [79] = LATIN7, [80] = CP850, [81] = CP852, [82] = SWE7, [83] = UTF8MB3,
    [84] = BIG5, [85] = EUCKR, [86] = GB2312, [87] = GBK, [88] = SJIS, [89] = TIS620,
    [90] = UCS2, [91] = UJIS, [92 ... 93] = GEOSTD8, [94] = LATIN1, [95 ... 96] = CP932,
    [97 ... 98] = EUCJPMS, [99] = CP1250, [101 ... 124] = UTF16, [128 ... 159] = UCS2,
    [160 ... 183] = UTF32, [192 ... 223] = UTF8MB3, [224 ... 247] = UTF8MB4,
    [248 ... 250] = GB18030, [255 ... 323] = UTF8MB4, [576 ... 607] = UTF8MB3,
    [608 ... 639] = UTF8MB4, [640 ... 671] = UCS2, [672 ... 703] = UTF16,
    [736 ... 767] = UTF32,
};
/* clang-format on */

/* MariaDB: the same collations without padding, and 256 UCA-14.0 ones for each of five sets. */
enum { NOPAD = 1024, UCA1400 = 2048, UCA1400_END = UCA1400 + 5 * 256 };

const struct charset *charset_of_collation(uint32_t id)
{
    static const uint8_t uca1400[] = {UTF8MB3, UTF8MB4, UCS2, UTF16, UTF32};

    if (id >= UCA1400)
        return id < UCA1400_END ? &charsets[uca1400[(id - UCA1400) / 256]] : NULL;
    if (id >= NOPAD)
        id -= NOPAD;

    const uint8_t charset = id < ARRAY_LEN(of_collation) ? of_collation[id] : NONE;

    return charset != NONE ? &charsets[charset] : NULL;
}

const struct charset *charset_find(struct str name)
{
    for (size_t i = NONE + 1; i < N_CHARSETS; i++)
        if (str_equal_any_case(charsets[i].name, name))
            return &charsets[i];
    if (str_equal_any_case(name, STR("utf8")))
        return &charsets[UTF8MB3];
    return NULL;
}

struct str charset_name(const struct charset *cs)
{
    return cs->name;
}

bool charset_is_binary(const struct charset *cs)
{
    return cs->form == FORM_BINARY;
}

bool charset_is_utf8_based(const struct charset *cs)
{
    return cs->form == FORM_UTF8;
}

/* In such a set every byte below 0x80 that begins a character is ASCII. */
static bool has_ascii(const struct charset *cs)
{
    return cs->form < FORM_UCS2 && cs->low == NULL;
}

static bool is_ascii(struct str s)
{
    size_t i = 0;

    for (; i + 8 <= s.len; i += 8)
        if ((load_le64(s.ptr + i) & UINT64_C(0x8080808080808080)) != 0)
            return false;
    while (i < s.len && (unsigned char)s.ptr[i] < 0x80)
        i++;
    return i == s.len;
}

/* What iconv gives for all two-byte codes of a set and for longer ones; built at first use. */
struct wide_table {
    uint16_t two[128 * 256]; /* lead - 0x80, trail */
    uint16_t *three;         /* the two bytes after 0x8f, indexed likewise */
    uint16_t *four;          /* GB18030's four-byte codes below U+10000, in order */
};

enum { N_FOUR = 39420 };

struct charset_converter {
    struct wide_table *tables[N_CHARSETS];
    bool failed[N_CHARSETS];
};

struct charset_converter *charset_converter_new(void)
{
    return mem_alloc(1, sizeof(struct charset_converter));
}

void charset_converter_free(struct charset_converter *c)
{
    if (c == NULL)
        return;
    for (size_t i = 0; i < N_CHARSETS; i++)
        if (c->tables[i] != NULL) {
            free(c->tables[i]->three);
            free(c->tables[i]->four);
            free(c->tables[i]);
        }
    free(c);
}

/* Convert the n bytes of code to one UTF-16 unit; 0 if there is none. */
static uint16_t ask_iconv(iconv_t cd, const uint8_t *code, size_t n)
{
    char in[4], out[8];
    char *from = in, *to = out;
    size_t in_left = n, out_left = sizeof(out);

    memcpy(in, code, n);
    iconv(cd, NULL, NULL, NULL, NULL);
    if (iconv(cd, &from, &in_left, &to, &out_left) == (size_t)-1 || out_left != sizeof(out) - 2)
        return 0;
    return load_le16(out);
}

static void fill_two(struct wide_table *t, const struct charset *cs, iconv_t cd)
{
    for (unsigned lead = cs->lead_min; lead <= cs->lead_max; lead++)
        for (unsigned trail = 0x40; trail < 0xff; trail++) {
            const uint8_t code[] = {(uint8_t)lead, (uint8_t)trail};

            t->two[(lead - 0x80) * 256 + trail] = ask_iconv(cd, code, 2);
        }
}

static void fill_three(struct wide_table *t, iconv_t cd)
{
    t->three = mem_alloc(128 * 256, sizeof(*t->three));
    for (unsigned lead = 0xa1; lead < 0xff; lead++)
        for (unsigned trail = 0xa1; trail < 0xff; trail++) {
            const uint8_t code[] = {0x8f, (uint8_t)lead, (uint8_t)trail};

            t->three[(lead - 0x80) * 256 + trail] = ask_iconv(cd, code, 3);
        }
}

static void fill_four(struct wide_table *t, iconv_t cd)
{
    t->four = mem_alloc(N_FOUR, sizeof(*t->four));
    for (unsigned i = 0; i < N_FOUR; i++) {
        const uint8_t code[] = {(uint8_t)(0x81 + i / 12600), (uint8_t)(0x30 + i / 1260 % 10),
                                (uint8_t)(0x81 + i / 10 % 126), (uint8_t)(0x30 + i % 10)};

        t->four[i] = ask_iconv(cd, code, 4);
    }
}

/* The rank of a four-byte GB18030 code. */
static uint32_t four_index(const uint8_t *p)
{
    return (((p[0] - 0x81u) * 10 + (p[1] - 0x30u)) * 126 + (p[2] - 0x81u)) * 10 +
           (p[3] - 0x30u);
}

static void apply_changes(struct wide_table *t, const struct charset_exception *changes)
{
    for (const struct charset_exception *e = changes; e != NULL && e->n > 0; e++)
        for (uint32_t i = 0; i < e->n; i++) {
            const uint32_t code = e->code + i;
            const uint8_t p[] = {(uint8_t)(code >> 24), (uint8_t)(code >> 16),
                                 (uint8_t)(code >> 8), (uint8_t)code};
            const uint16_t unicode = (uint16_t)(e->unicode + i);

            if (code > 0xffffff)
                t->four[four_index(p)] = unicode;
            else if (code > 0xffff)
                t->three[(p[2] - 0x80u) * 256 + p[3]] = unicode;
            else
                t->two[(p[2] - 0x80u) * 256 + p[3]] = unicode;
        }
}

/* Returns NULL if iconv does not know the set. */
static const struct wide_table *need_table(struct charset_converter *c,
                                           const struct charset *cs)
{
    const size_t id = (size_t)(cs - charsets);

    if (c->tables[id] != NULL || c->failed[id])
        return c->tables[id];

    const iconv_t cd = iconv_open("UTF-16LE", cs->iconv_name);

    c->failed[id] = cd == (iconv_t)-1;
    if (c->failed[id])
        return NULL;

    struct wide_table *t = mem_alloc(1, sizeof(*t));

    fill_two(t, cs, cd);
    if (cs->three_bytes)
        fill_three(t, cd);
    if (cs->form == FORM_GB18030)
        fill_four(t, cd);
    iconv_close(cd);
    apply_changes(t, cs->changes);
    c->tables[id] = t;
    return t;
}

/* Text being decoded. */
struct text_reader {
    const struct charset *cs;
    const struct wide_table *table;
    const uint8_t *p, *end;
};

#define INVALID UINT32_MAX

static uint32_t next_single(struct text_reader *r)
{
    const uint8_t b = *r->p++;

    if (b < 0x80) {
        const uint32_t c = r->cs->low != NULL ? r->cs->low[b] : b;

        return c != 0 || b == 0 ? c : INVALID;
    }
    return r->cs->high[b - 0x80] != 0 ? r->cs->high[b - 0x80] : INVALID;
}

static uint32_t next_double(struct text_reader *r)
{
    const uint8_t *p = r->p;
    const size_t left = (size_t)(r->end - p);

    if (p[0] < 0x80) {
        r->p++;
        return p[0];
    }
    if (r->cs->katakana && p[0] >= 0xa1 && p[0] <= 0xdf) {
        r->p++;
        return 0xff61u + (p[0] - 0xa1u);
    }
    if (p[0] == 0x8f && r->cs->three_bytes) {
        if (left < 3 || p[1] < 0x80)
            return INVALID;
        r->p += 3;

        const uint16_t c = r->table->three[(p[1] - 0x80u) * 256 + p[2]];

        return c != 0 ? c : INVALID;
    }
    if (left < 2)
        return INVALID;
    r->p += 2;

    const uint16_t c = r->table->two[(p[0] - 0x80u) * 256 + p[1]];

    return c != 0 ? c : INVALID;
}

static uint32_t next_gb18030(struct text_reader *r)
{
    const uint8_t *p = r->p;

    if (r->end - p < 4 || p[0] < 0x81 || p[1] < 0x30 || p[1] > 0x39)
        return next_double(r);
    if (p[2] < 0x81 || p[2] == 0xff || p[3] < 0x30 || p[3] > 0x39)
        return INVALID;
    r->p += 4;

    const uint32_t i = four_index(p);
    const uint32_t supplementary = 189000; /* 90 30 81 30 */

    if (i < N_FOUR)
        return r->table->four[i] != 0 ? r->table->four[i] : INVALID;
    return i >= supplementary && i - supplementary <= 0xfffff ? 0x10000 + i - supplementary
                                                              : INVALID;
}

static uint32_t next_utf16(struct text_reader *r)
{
    const bool little = r->cs->form == FORM_UTF16LE;
    const uint8_t *p = r->p;
    const size_t left = (size_t)(r->end - p);

    if (left < 2)
        return INVALID;
    r->p += 2;

    const uint32_t first = little ? load_le16(p) : load_be16(p);

    if ((first & 0xf800) != 0xd800)
        return first;
    if (first >= 0xdc00 || left < 4 || r->cs->form == FORM_UCS2)
        return INVALID;
    r->p += 2;

    const uint32_t second = little ? load_le16(p + 2) : load_be16(p + 2);

    if ((second & 0xfc00) != 0xdc00)
        return INVALID;
    return 0x10000 + ((first & 0x3ff) << 10) + (second & 0x3ff);
}

static uint32_t next_utf32(struct text_reader *r)
{
    if (r->end - r->p < 4)
        return INVALID;

    const uint32_t c = load_be32(r->p);

    r->p += 4;
    return c <= 0x10ffff && (c & 0xfffff800) != 0xd800 ? c : INVALID;
}

static uint32_t (*const next_char[])(struct text_reader *r) = {
    [FORM_SINGLE] = next_single, [FORM_DOUBLE] = next_double, [FORM_GB18030] = next_gb18030,
    [FORM_UCS2] = next_utf16,    [FORM_UTF16] = next_utf16,   [FORM_UTF16LE] = next_utf16,
    [FORM_UTF32] = next_utf32,
};

/*
 * Convert r to UTF-8 in out; a NULL out only measures.  Returns the length, SIZE_MAX if r is
 * invalid.
 */
static size_t convert(struct text_reader r, char *out)
{
    uint32_t (*const next)(struct text_reader *) = next_char[r.cs->form];
    size_t n = 0;

    while (r.p < r.end) {
        const uint32_t c = next(&r);
        char spare[4];

        if (c == INVALID)
            return SIZE_MAX;
        n += utf8_encode(out != NULL ? out + n : spare, c);
    }
    return n;
}

/* Convert short text into room for the worst case; measure longer text first. */
#define MEASURE_FROM 4096u
#define GROWTH_MAX   3u

bool charset_to_utf8(struct charset_converter *c, const struct charset *cs, struct str in,
                     struct arena *a, struct str *out)
{
    if (has_ascii(cs) && is_ascii(in)) {
        *out = in;
        return true;
    }
    if (cs->form == FORM_BINARY || cs->form == FORM_UTF8) {
        if (!utf8_valid(in))
            return false;
        *out = in;
        return true;
    }

    struct text_reader r = {.cs = cs, .p = (const uint8_t *)in.ptr};

    r.end = r.p + in.len;
    if (cs->iconv_name != NULL && (r.table = need_table(c, cs)) == NULL)
        return false;

    size_t room = in.len * GROWTH_MAX;

    if (in.len >= MEASURE_FROM && (room = convert(r, NULL)) == SIZE_MAX)
        return false;

    char *text = arena_bytes(a, room);
    const size_t len = convert(r, text);

    if (len == SIZE_MAX)
        return false;
    *out = (struct str){text, len};
    return true;
}

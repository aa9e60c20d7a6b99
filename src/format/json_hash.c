#include "config.h"

#include "src/format/json_hash.h"

#include "src/base/buf.h"
#include "src/base/hash.h"
#include "src/base/mem.h"
#include "src/format/json.h"
#include "src/format/json_number.h"

#include <stdlib.h>

/* An object of at most so many members is searched for a name, a larger one is sorted. */
#define SEARCHED_MAX 256

/* Room for so many members is on the stack. */
#define FEW 64

/* What is hashed: each has a seed of its own, so that "1" is not 1, nor [] {}. */
enum part { NAME, STRING, NUMBER, WORD, ARRAY, OBJECT, N_PARTS };

struct hashed_member {
    uint64_t name, value; /* their hashes; names with one hash are one name */
    size_t number;        /* its place in the list */
};

struct hashing {
    const struct json_hashing *how;
    struct json_reader r;
    struct hashed_member
        *list; /* of the objects that are open, the innermost last; few, or owned */
    size_t n, cap;
    struct buf meaning; /* of the string or name that was read last, if it has escapes */
    uint64_t seeds[N_PARTS];
    struct hashed_member few[FEW];
};

/* A bit for some bits of each name, to find most new names without a search. */
struct names {
    uint64_t bits[8];
};

static bool may_hold(struct names *names, uint64_t name)
{
    uint64_t *bits = &names->bits[name / 64 % ARRAY_LEN(names->bits)];
    const uint64_t bit = UINT64_C(1) << name % 64, before = *bits;

    *bits |= bit;
    return (before & bit) != 0;
}

/* Returns what a string or name that was just read means; valid until the next one. */
static struct str meaning(struct hashing *h, struct str raw)
{
    if (!h->r.has_escape)
        return raw;
    buf_clear(&h->meaning);
    json_unescape(&h->meaning, raw);
    return buf_str(&h->meaning);
}

static bool is_ignored(const struct hashing *h, struct str name)
{
    for (size_t i = 0; i < h->how->n_ignored; i++)
        if (str_equal(h->how->ignored[i], name))
            return true;
    return false;
}

/* ---- members ---- */

static COLD void grow(struct hashing *h)
{
    struct hashed_member *list = h->list == h->few ? NULL : h->list;

    h->cap *= 2;
    list = mem_resize(list, h->cap, sizeof(*list));
    if (h->list == h->few)
        memcpy(list, h->few, sizeof(h->few));
    h->list = list;
}

static void push(struct hashing *h, uint64_t name, uint64_t value)
{
    if (UNLIKELY(h->n == h->cap))
        grow(h);
    h->list[h->n] = (struct hashed_member){name, value, h->n};
    h->n++;
}

/* Puts a member into the object whose members begin at `from`. */
static void put(struct hashing *h, size_t from, struct names *names, struct hashed_member m)
{
    if (may_hold(names, m.name) && h->n - from <= SEARCHED_MAX)
        for (size_t i = from; i < h->n; i++)
            if (h->list[i].name == m.name) {
                h->list[i].value = m.value;
                return;
            }
    push(h, m.name, m.value);
}

static int by_name(const void *a, const void *b)
{
    const struct hashed_member *x = a, *y = b;

    if (x->name != y->name)
        return x->name < y->name ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* Returns the sum of n members, the last of each name; may sort them. */
static uint64_t sum(struct hashed_member *list, size_t n)
{
    uint64_t total = 0;

    if (n > SEARCHED_MAX)
        qsort(list, n, sizeof(*list), by_name);
    for (size_t i = 0; i < n; i++)
        if (n <= SEARCHED_MAX || i + 1 == n || list[i].name != list[i + 1].name)
            total += hash_mix(list[i].name, list[i].value);
    return total;
}

/* ---- values ---- */

static uint64_t hash_value(struct hashing *h);

static uint64_t hash_object(struct hashing *h)
{
    const bool is_top = h->r.depth == 0;
    const size_t from = h->n;
    struct names names = {{0}};
    struct str raw;

    json_enter_object(&h->r);
    while (json_next_member(&h->r, &raw)) {
        const struct str name = meaning(h, raw);

        if (is_top && is_ignored(h, name))
            continue;

        const uint64_t name_hash = hash_bytes(name, h->seeds[NAME]);

        put(h, from, &names, (struct hashed_member){.name = name_hash, .value = hash_value(h)});
    }

    const uint64_t total = sum(h->list + from, h->n - from);

    h->n = from;
    return hash_mix(h->seeds[OBJECT], total);
}

static uint64_t hash_array(struct hashing *h)
{
    uint64_t hash = h->seeds[ARRAY];

    json_enter_array(&h->r);
    while (json_next_element(&h->r))
        hash = hash_mix(hash, hash_value(h));
    return hash_mix(hash, h->seeds[ARRAY]);
}

static uint64_t hash_string(struct hashing *h)
{
    struct str raw;

    return json_read_string(&h->r, &raw) ? hash_bytes(meaning(h, raw), h->seeds[STRING]) : 0;
}

static uint64_t hash_number(struct hashing *h)
{
    struct str text;

    return json_read_number(&h->r, &text) ? json_number_hash(text, h->seeds[NUMBER]) : 0;
}

static uint64_t hash_word(struct hashing *h)
{
    struct str word;

    return json_read_raw(&h->r, &word) ? hash_bytes(word, h->seeds[WORD]) : 0;
}

/* Returns anything if there is no value: the reader keeps the fault. */
static uint64_t hash_value(struct hashing *h)
{
    switch (json_peek(&h->r)) {
    case JSON_OBJECT: return hash_object(h);
    case JSON_ARRAY: return hash_array(h);
    case JSON_STRING: return hash_string(h);
    case JSON_NUMBER: return hash_number(h);
    case JSON_BOOL:
    case JSON_NULL: return hash_word(h);
    case JSON_NONE: break;
    }
    return 0;
}

bool json_hash(const struct json_hashing *how, struct str text, uint64_t *hash, struct err *err)
{
    struct hashing h;

    /* Not all of it: clearing `few` would cost as much as a small text. */
    h.how = how;
    h.list = h.few;
    h.n = 0;
    h.cap = FEW;
    h.meaning = (struct buf){0};
    for (size_t i = 0; i < N_PARTS; i++)
        h.seeds[i] = hash_mix(how->seed, i);
    json_reader_init(&h.r, text);
    *hash = hash_value(&h);
    if (h.list != h.few)
        free(h.list);
    buf_free(&h.meaning);
    return json_reader_finish(&h.r, err);
}

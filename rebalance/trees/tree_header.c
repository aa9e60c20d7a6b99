#include "config.h"

#include "rebalance/trees/tree_header.h"

#include <assert.h>
#include <string.h>
#include <xxhash.h>

#define TREE_FORMAT 2

static const char mark[6] = "MRTREE";

enum identity_at {
    FORMAT_AT = 6,
    BUCKETS_AT = 8,
    SIDE_AT = 12,
    VERSION_AT = 16,
    DEFINITION_AT = 24,
    NAME_LEN_AT = 32,
    NAME_AT = 36,
    IDENTITY_CHECK_AT = TREE_STATE_AT - 8,
};

enum state_at {
    COUNT_AT = 0,
    USED_AT = 8,
    PAGES_AT = 12,
    POSITION_AT = 16,
    BUILT_AT = 24,
    CLOSED_AT = 32,
    SUMS_CHECK_AT = 40,
    BOOT_AT = 48,
    STATE_CHECK_AT = TREE_STATE_SIZE - 8,
};

static const char *const side_names[] = {[TREE_SOURCE] = "source", [TREE_INDEX] = "index"};

struct tree_shape tree_shape_of(uint32_t n_buckets)
{
    const uint32_t per_page = TREE_PAGE_SIZE / 8;
    const uint32_t n_sum_pages = (n_buckets + per_page - 1) / per_page;

    return (struct tree_shape){.n_buckets = n_buckets,
                               .first_bucket = 1 + n_sum_pages,
                               .first_more = 1 + n_sum_pages + n_buckets};
}

void tree_identity_format(uint8_t *page, const struct tree_identity *identity,
                          uint32_t n_buckets)
{
    assert(identity->index.len <= TREE_INDEX_MAX);
    memset(page, 0, TREE_STATE_AT);
    memcpy(page, mark, sizeof(mark));
    store_le16(page + FORMAT_AT, TREE_FORMAT);
    store_le32(page + BUCKETS_AT, n_buckets);
    store_le32(page + SIDE_AT, (uint32_t)identity->side);
    store_le64(page + VERSION_AT, identity->version);
    store_le64(page + DEFINITION_AT, identity->definition);
    store_le32(page + NAME_LEN_AT, (uint32_t)identity->index.len);
    if (identity->index.len > 0)
        memcpy(page + NAME_AT, identity->index.ptr, identity->index.len);
    store_le64(page + IDENTITY_CHECK_AT, XXH3_64bits(page, IDENTITY_CHECK_AT));
}

/* The page's check is right. */
static bool is_of(const uint8_t *page, const struct tree_identity *identity, struct err *err)
{
    const uint32_t side = load_le32(page + SIDE_AT), len = load_le32(page + NAME_LEN_AT);
    const uint64_t version = load_le64(page + VERSION_AT);

    if (side > TREE_INDEX || len > TREE_INDEX_MAX)
        return err_set(err, ERR_REJECT, "its header says what no tree has");

    const struct str index = {(const char *)page + NAME_AT, len};

    if (side != identity->side || version != identity->version ||
        !str_equal(index, identity->index))
        return err_set(err, ERR_REJECT, "it is the %s tree of %" STR_FMT " version %llu",
                       side_names[side], STR_ARG(index), (unsigned long long)version);
    if (load_le64(page + DEFINITION_AT) != identity->definition)
        return err_set(err, ERR_REJECT, "it was built with another definition");
    return true;
}

bool tree_identity_check(const uint8_t *page, const struct tree_identity *identity,
                         uint32_t *n_buckets, struct err *err)
{
    const unsigned format = load_le16(page + FORMAT_AT);

    if (memcmp(page, mark, sizeof(mark)) != 0)
        return err_set(err, ERR_REJECT, "it is not a tree");
    if (format != TREE_FORMAT)
        return err_set(err, ERR_REJECT, "it has format %u, this release has %d", format,
                       TREE_FORMAT);
    if (load_le64(page + IDENTITY_CHECK_AT) != XXH3_64bits(page, IDENTITY_CHECK_AT))
        return err_set(err, ERR_REJECT, "its header is damaged");
    *n_buckets = load_le32(page + BUCKETS_AT);
    if (*n_buckets == 0 || *n_buckets > TREE_BUCKETS_MAX)
        return err_set(err, ERR_REJECT, "its header says %u buckets", *n_buckets);
    return is_of(page, identity, err);
}

uint64_t tree_identity_mark(const struct tree_identity *identity)
{
    const uint64_t name = XXH3_64bits(identity->index.ptr, identity->index.len);
    const uint64_t numbers[] = {name, identity->version, identity->definition};

    return XXH3_64bits(numbers, sizeof(numbers));
}

void tree_state_format(uint8_t out[TREE_STATE_SIZE], const struct tree_state *state)
{
    memset(out, 0, TREE_STATE_SIZE);
    store_le64(out + COUNT_AT, state->count);
    store_le32(out + USED_AT, state->n_used);
    store_le32(out + PAGES_AT, state->n_pages);
    store_le64(out + POSITION_AT, state->note.position);
    store_le64(out + BUILT_AT, (uint64_t)state->note.built_ms);
    store_le32(out + CLOSED_AT, state->is_closed);
    store_le64(out + SUMS_CHECK_AT, state->sums_check);
    memcpy(out + BOOT_AT, state->boot, TREE_BOOT_SIZE);
    store_le64(out + STATE_CHECK_AT, XXH3_64bits(out, STATE_CHECK_AT));
}

bool tree_state_parse(const uint8_t in[TREE_STATE_SIZE], const struct tree_shape *shape,
                      struct tree_state *out, struct err *err)
{
    if (load_le64(in + STATE_CHECK_AT) != XXH3_64bits(in, STATE_CHECK_AT))
        return err_set(err, ERR_REJECT, "its header is damaged");
    *out = (struct tree_state){
        .count = load_le64(in + COUNT_AT),
        .n_used = load_le32(in + USED_AT),
        .n_pages = load_le32(in + PAGES_AT),
        .note = {load_le64(in + POSITION_AT), (int64_t)load_le64(in + BUILT_AT)},
        .is_closed = load_le32(in + CLOSED_AT) != 0,
        .sums_check = load_le64(in + SUMS_CHECK_AT),
    };
    memcpy(out->boot, in + BOOT_AT, TREE_BOOT_SIZE);
    if (out->n_used < shape->first_more || out->n_pages < out->n_used)
        return err_set(err, ERR_REJECT, "its header says %u pages in use, of %u", out->n_used,
                       out->n_pages);
    return true;
}

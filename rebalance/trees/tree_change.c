#include "config.h"

#include "rebalance/trees/tree_change.h"

#include "rebalance/trees/tree_header.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#define HEAD       16 /* check and length */
#define PLACE_HEAD 8

/* Keeps the compiler from moving stores across: the processor keeps their order for a kill. */
#define IN_ORDER() __atomic_signal_fence(__ATOMIC_SEQ_CST)

void tree_change_add(struct tree_change *c, uint64_t at, const void *bytes, size_t len)
{
    assert(len <= 255 && c->len + PLACE_HEAD + len <= TREE_CHANGE_MAX);
    store_le64(c->bytes + c->len, at << 8 | len);
    memcpy(c->bytes + c->len + PLACE_HEAD, bytes, len);
    c->len += PLACE_HEAD + len;
}

void tree_change_commit(const struct tree_change *c, uint8_t *map)
{
    uint8_t *record = map + TREE_CHANGE_AT;

    memcpy(record + HEAD, c->bytes, c->len);
    store_le64(record + 8, c->len);
    store_le64(record, XXH3_64bits_withSeed(c->bytes, c->len, c->len));
    IN_ORDER();
    for (size_t i = 0; i < c->len;) {
        const uint64_t place = load_le64(c->bytes + i);

        memcpy(map + (place >> 8), c->bytes + i + PLACE_HEAD, place & 255);
        i += PLACE_HEAD + (place & 255);
    }
    IN_ORDER();
}

/* Returns the length of the record's places, 0 if its check is wrong. */
static size_t checked_len(const uint8_t *record)
{
    const uint64_t len = load_le64(record + 8);

    if (len > TREE_CHANGE_MAX ||
        load_le64(record) != XXH3_64bits_withSeed(record + HEAD, (size_t)len, len))
        return 0;
    return (size_t)len;
}

bool tree_change_repeat(const uint8_t *page, int fd, uint64_t size, struct err *err)
{
    const uint8_t *bytes = page + TREE_CHANGE_AT + HEAD;
    const size_t end = checked_len(page + TREE_CHANGE_AT);

    for (size_t i = 0; i < end;) {
        if (end - i < PLACE_HEAD)
            return err_set(err, ERR_REJECT, "its last change is damaged");

        const uint64_t at = load_le64(bytes + i) >> 8;
        const size_t len = bytes[i];

        i += PLACE_HEAD;
        if (len > end - i || at < TREE_STATE_AT || at > size || len > size - at)
            return err_set(err, ERR_REJECT, "its last change is damaged");
        if (pwrite(fd, bytes + i, len, (off_t)at) != (ssize_t)len)
            return err_set_code(err, ERR_REJECT, "errno", errno, "cannot write it: %s",
                                strerror(errno));
        i += len;
    }
    return true;
}

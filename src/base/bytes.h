/*
 * Integers in byte strings: little-endian (MySQL's wire and binlog) and big-endian (MySQL's
 * storage).
 *
 * The pointers may have any alignment. The caller checks bounds; these functions do not.
 */
#ifndef SRC_BASE_BYTES_H
#define SRC_BASE_BYTES_H

#include <stdint.h>
#include <string.h>

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define BYTES_LE(bits, v) (v)
#define BYTES_BE(bits, v) __builtin_bswap##bits(v)
#else
#define BYTES_LE(bits, v) __builtin_bswap##bits(v)
#define BYTES_BE(bits, v) (v)
#endif

static inline uint8_t load_u8(const void *p)
{
    return *(const uint8_t *)p;
}

static inline uint16_t load_le16(const void *p)
{
    uint16_t v;

    memcpy(&v, p, sizeof(v));
    return BYTES_LE(16, v);
}

static inline uint32_t load_le32(const void *p)
{
    uint32_t v;

    memcpy(&v, p, sizeof(v));
    return BYTES_LE(32, v);
}

static inline uint64_t load_le64(const void *p)
{
    uint64_t v;

    memcpy(&v, p, sizeof(v));
    return BYTES_LE(64, v);
}

static inline uint32_t load_le24(const void *p)
{
    const uint8_t *b = p;

    return (uint32_t)load_le16(b) | (uint32_t)b[2] << 16;
}

static inline uint64_t load_le48(const void *p)
{
    const uint8_t *b = p;

    return (uint64_t)load_le32(b) | (uint64_t)load_le16(b + 4) << 32;
}

/* Reads the n <= 8 bytes at p with two loads that may overlap. */
static inline uint64_t load_le(const void *p, unsigned n)
{
    const uint8_t *b = p;

    if (n >= 4)
        return (uint64_t)load_le32(b) | (uint64_t)load_le32(b + n - 4) << 8 * (n - 4);
    if (n >= 2)
        return load_le16(b) | (uint64_t)load_le16(b + n - 2) << 8 * (n - 2);
    return n == 1 ? *b : 0;
}

static inline uint16_t load_be16(const void *p)
{
    uint16_t v;

    memcpy(&v, p, sizeof(v));
    return BYTES_BE(16, v);
}

static inline uint32_t load_be32(const void *p)
{
    uint32_t v;

    memcpy(&v, p, sizeof(v));
    return BYTES_BE(32, v);
}

static inline uint64_t load_be64(const void *p)
{
    uint64_t v;

    memcpy(&v, p, sizeof(v));
    return BYTES_BE(64, v);
}

/* Reads the n <= 8 bytes at p with two loads that may overlap. */
static inline uint64_t load_be(const void *p, unsigned n)
{
    const uint8_t *b = p;

    if (n >= 4)
        return (uint64_t)load_be32(b) << 8 * (n - 4) | load_be32(b + n - 4);
    if (n >= 2)
        return (uint64_t)load_be16(b) << 8 * (n - 2) | load_be16(b + n - 2);
    return n == 1 ? *b : 0;
}

static inline uint32_t load_be24(const void *p)
{
    return (uint32_t)load_be(p, 3);
}

static inline uint64_t load_be40(const void *p)
{
    return load_be(p, 5);
}

static inline float load_float_le(const void *p)
{
    uint32_t bits = load_le32(p);
    float v;

    memcpy(&v, &bits, sizeof(v));
    return v;
}

static inline double load_double_le(const void *p)
{
    uint64_t bits = load_le64(p);
    double v;

    memcpy(&v, &bits, sizeof(v));
    return v;
}

static inline void store_le16(void *p, uint16_t v)
{
    v = BYTES_LE(16, v);
    memcpy(p, &v, sizeof(v));
}

static inline void store_le32(void *p, uint32_t v)
{
    v = BYTES_LE(32, v);
    memcpy(p, &v, sizeof(v));
}

static inline void store_le64(void *p, uint64_t v)
{
    v = BYTES_LE(64, v);
    memcpy(p, &v, sizeof(v));
}

#endif

/*
 * The CRC-32 of binlog events (as in zlib).  Uses carry-less multiplication if the processor
 * has it.
 */
#ifndef SYNC_DECODE_CHECKSUM_H
#define SYNC_DECODE_CHECKSUM_H

#include "src/base/base.h"

#include <stddef.h>
#include <stdint.h>

/* crc is the CRC of the bytes before p; start with 0. */
uint32_t checksum_crc32(uint32_t crc, const uint8_t *p, size_t n);

#endif

/*
 * The CRC-32 of binlog events (that of zlib), with the processor's carry-less multiplication
 * where it has one.
 */
#ifndef SYNC_BINLOG_CHECKSUM_H
#define SYNC_BINLOG_CHECKSUM_H

#include "src/base/base.h"

#include <stddef.h>
#include <stdint.h>

/* crc is that of the bytes before, 0 at the start. */
uint32_t checksum_crc32(uint32_t crc, const uint8_t *p, size_t n);

#endif

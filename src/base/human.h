/*
 * Figures for people: 1,234,567 · 88.2 MiB · 15 min 32 s · 42.0 %.
 *
 * Each function appends to b. Whole numbers are exact; others have about three significant
 * digits.
 */
#ifndef SRC_BASE_HUMAN_H
#define SRC_BASE_HUMAN_H

#include "src/base/base.h"
#include "src/base/buf.h"

#include <stdint.h>

/* 1234567 as "1,234,567". */
void human_count(struct buf *b, uint64_t n);
/* "512 B", "1.5 KiB", "88.2 MiB". */
void human_bytes(struct buf *b, uint64_t n);
/* "0.4 s", "12 s", "15 min 32 s", "3 h 20 min", "2 d 4 h". Prints "-" for a negative or
 * non-finite value. */
void human_seconds(struct buf *b, double seconds);
/* Returns done as a percentage of total: at most 100, 100 only once done reaches total, and 0
 * if total is 0. */
double human_percent(uint64_t done, uint64_t total);
/* Milliseconds since 1970 as "2026-11-21 12:07:25 UTC". */
void human_time(struct buf *b, int64_t ms);

#endif

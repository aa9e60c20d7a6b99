/*
 * Print stored dates and times: YYYY-MM-DD, HH:MM:SS, or both with a T between, with as many
 * fraction digits as the column has.  Zero and partial dates print as they are.
 *
 * Each function writes to out, which must have room for TEMPORAL_MAX bytes, and returns the
 * length; 0 means that no server stores such bytes. p is a cell of the size that fsp implies.
 * Layouts: my_time.cc of MySQL, compat56.cc and field.cc of MariaDB.
 */
#ifndef SYNC_VALUE_TEMPORAL_H
#define SYNC_VALUE_TEMPORAL_H

#include "src/base/base.h"

#include <stddef.h>
#include <stdint.h>

#define TEMPORAL_MAX 40

/* The size of a fraction in bytes; fsp is 0 to 6. */
static inline size_t temporal_fraction_size(unsigned fsp)
{
    return (fsp + 1) / 2;
}

/* DATE and NEWDATE: 3 bytes. */
size_t temporal_date(char *out, const uint8_t *p);

/*
 * The types since MySQL 5.6: 5, 4 and 3 bytes plus the fraction.  TIMESTAMP is in UTC; 0 is the
 * zero date.
 */
size_t temporal_datetime2(char *out, const uint8_t *p, unsigned fsp);
size_t temporal_timestamp2(char *out, const uint8_t *p, unsigned fsp);
size_t temporal_time2(char *out, const uint8_t *p, unsigned fsp);

/* The older types: 8, 4 and 3 bytes, no fraction. */
size_t temporal_old_datetime(char *out, const uint8_t *p);
size_t temporal_old_timestamp(char *out, const uint8_t *p);
size_t temporal_old_time(char *out, const uint8_t *p);

/*
 * MariaDB's types between the two (mysql56_temporal_format=OFF) with fsp 1 to 6, and their
 * sizes.
 */
size_t temporal_hires_datetime(char *out, const uint8_t *p, unsigned fsp);
size_t temporal_hires_timestamp(char *out, const uint8_t *p, unsigned fsp);
size_t temporal_hires_time(char *out, const uint8_t *p, unsigned fsp);
size_t temporal_hires_datetime_size(unsigned fsp);
size_t temporal_hires_timestamp_size(unsigned fsp);
size_t temporal_hires_time_size(unsigned fsp);

/*
 * The packed 64-bit integers of binary JSON.  Prints a space instead of the T, and six digits.
 */
size_t temporal_packed_date(char *out, int64_t packed);
size_t temporal_packed_datetime(char *out, int64_t packed);
size_t temporal_packed_time(char *out, int64_t packed);

/* Print seconds since 1970 as YYYY-MM-DDTHH:MM:SS. */
size_t temporal_epoch(char *out, uint64_t seconds);

#endif

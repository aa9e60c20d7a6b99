/*
 * Values of a column as whole numbers or decimals that have the same order, and back.
 *
 * @thread any (pure)
 */
#ifndef SYNC_DOCUMENT_BUCKET_SCALE_NUMBER_H
#define SYNC_DOCUMENT_BUCKET_SCALE_NUMBER_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>

struct buf;
struct column;

/*
 * Append the number of a value: of a real its bits, of a time its microseconds in months of 32
 * days, of an INET4 its bytes, of an ENUM its label's.  Returns false if the
 * column has none.
 */
bool scale_to_number(const struct column *c, struct str value, struct buf *number);
/*
 * Append the value of a number: the last one before it if the number means none (the 31st of
 * February).
 */
void scale_from_number(const struct column *c, struct str number, struct buf *value);

#endif

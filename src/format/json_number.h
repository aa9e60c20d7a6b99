/*
 * Numbers of JSON as decimals: 1.0, 1 and 10e-1 are one value, and no digit is lost.
 *
 * The texts are valid numbers of JSON (src/format/json.h) of any length. -0 is 0. Exponents of
 * more than 18 digits are not calculated with: such a number equals only its own text.
 */
#ifndef SRC_FORMAT_JSON_NUMBER_H
#define SRC_FORMAT_JSON_NUMBER_H

#include "src/base/str.h"

#include <stdbool.h>
#include <stdint.h>

bool json_number_equal(struct str a, struct str b);
/* Returns one hash for numbers that are equal. */
uint64_t json_number_hash(struct str s, uint64_t seed);
/*
 * Tell whether both texts have a point or an exponent and read as one double. None of the texts
 * that read as infinite is equal to another.
 */
bool json_number_is_same_double(struct str a, struct str b);

#endif

/*
 * Which statements change what every node keeps in memory, and must load again.
 *
 * One list has every table of the store, and says which of them are followed; a statement on
 * another table aborts, so whoever adds a table decides.  Of the small values, names decide.
 */
#ifndef SRC_STORE_FOLLOWED_H
#define SRC_STORE_FOLLOWED_H

#include "src/base/base.h"
#include "src/store/backend.h"

#include <stdbool.h>

/*
 * Does the INSERT, UPDATE or DELETE change what is followed? A statement on small values binds
 * their name first.
 */
bool followed_is_written(const char *sql, struct binds binds) MUST_CHECK;

#endif

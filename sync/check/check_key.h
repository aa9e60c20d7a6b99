/*
 * Check the keys of a definition against the live table: the columns exist, are never NULL, and
 * an index makes them unique.
 *
 * @thread any (pure except for the source)
 */
#ifndef SYNC_CHECK_CHECK_KEY_H
#define SYNC_CHECK_CHECK_KEY_H

struct checker;
struct checked_table;
struct table_definition;

/* Report mistakes of `key`, or that the table has no key of its own. s must have facts. */
void definition_check_key(struct checker *c, const struct checked_table *s,
                          const struct table_definition *t);
/* Check `unique_keys` likewise. */
void definition_check_unique_keys(struct checker *c, const struct checked_table *s,
                                  const struct table_definition *t);

#endif

/*
 * Check the bucket column of a definition against the live table.
 *
 * @thread any (pure except for the source)
 */
#ifndef SYNC_CHECK_CHECK_BUCKET_H
#define SYNC_CHECK_CHECK_BUCKET_H

struct checked_table;
struct checker;
struct table_definition;

/*
 * The column needs numbers or times.  Warn if no index has the rows in its order and then that
 * of the key, as buckets by mod do without.  s must have facts.
 */
void definition_check_bucket(struct checker *c, const struct checked_table *s,
                             const struct table_definition *t);

#endif

/*
 * Check the top relations of a delayed table against the server: it understands `level_sql`,
 * whose output columns are there, and both tables have keys that fit.
 *
 * @thread any (pure except for the source)
 */
#ifndef SYNC_CHECK_CHECK_DELAYED_H
#define SYNC_CHECK_CHECK_DELAYED_H

struct checked_table;
struct checker;
struct table_definition;

/* s must have facts, and the source those of the tables that the top relations name. */
void definition_check_top_relations(struct checker *c, const struct checked_table *s,
                                    const struct table_definition *t);

#endif

/*
 * The keys of a definition against the live table: columns that are there, are never NULL, and
 * are unique by an index.
 *
 * @thread any (pure but for the source)
 */
#ifndef SYNC_MODEL_DEFINITION_CHECK_KEY_H
#define SYNC_MODEL_DEFINITION_CHECK_KEY_H

struct checker;
struct subject;
struct table_definition;

/* Reports what is wrong with `key`, or that the table has no key of its own; s has facts. */
void definition_check_key(struct checker *c, const struct subject *s,
                          const struct table_definition *t);
/* The same of `unique_keys`. */
void definition_check_unique_keys(struct checker *c, const struct subject *s,
                                  const struct table_definition *t);

#endif

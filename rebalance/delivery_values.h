/*
 * struct delivery_values: the settings of delivery as people write them.
 *
 * Each has the text that is configured, with where that stands, and perhaps one that was set at
 * run time, which counts more.  Names are those of the configuration (src/setting_table.c),
 * with or without "delivery." before them.
 *
 * Pure.
 *
 * @thread one at a time
 */
#ifndef REBALANCE_DELIVERY_VALUES_H
#define REBALANCE_DELIVERY_VALUES_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/delivery/delivery_settings.h"

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct delivery_values;

/* Every setting with its default. */
struct delivery_values *delivery_values_new(void) RETURNS_NONNULL MUST_CHECK;
struct delivery_values *
delivery_values_copy(const struct delivery_values *v) RETURNS_NONNULL MUST_CHECK;
void delivery_values_free(struct delivery_values *v); /* NULL is fine */

/* name is one of the table's and text a value of it, from the configuration. */
void delivery_values_configure(struct delivery_values *v, const char *name, const char *text,
                               const char *origin);
/* What `from` has as configured; what was set at run time stays. */
void delivery_values_configure_as(struct delivery_values *v,
                                  const struct delivery_values *from);

/*
 * Set one at run time; text.ptr NULL: the configured one counts again.  False: ERR_REJECT, with
 * the setting's name and what it takes, or the name that is meant, perhaps.
 */
bool delivery_values_choose(struct delivery_values *v, struct str name, struct str text,
                            struct err *err) MUST_CHECK;
/* Nothing is set at run time any more. */
void delivery_values_reset(struct delivery_values *v);

/* What they come to, checked together. */
bool delivery_values_settings(const struct delivery_values *v, struct delivery_settings *out,
                              struct err *err) MUST_CHECK;

/*
 * [{"name","value","origin","configured"}], all of them or (len > 0) the one of this name.  Where
 * `before` is not NULL, only those that differ from it, with "previous".
 */
void delivery_values_append_json(const struct delivery_values *v,
                                 const struct delivery_values *before, struct str name,
                                 struct buf *json);

/* What was set at run time, as {"name": "text"}, to be kept; and read again. */
void delivery_values_append_chosen(const struct delivery_values *v, struct buf *json);
bool delivery_values_load_chosen(struct delivery_values *v, struct str json,
                                 struct err *err) MUST_CHECK;

#endif

/*
 * Definitions that would be if files were applied, and that are stored nowhere.
 *
 * @thread any (blocks on the store)
 */
#ifndef REBALANCE_ADMIN_DRAFT_H
#define REBALANCE_ADMIN_DRAFT_H

#include "rebalance/state/parts.h"

struct definition_file;
struct definition_files;

/* The files as the parser takes them.  The caller frees the list; what it names is borrowed. */
struct definition_file *
draft_files(const struct definition_files *files) RETURNS_NONNULL MUST_CHECK;
/* Write the problems as a list to json, and refuse: false. */
bool draft_refuse(const struct problems *problems, struct buf *json,
                  struct err *err) MUST_CHECK;

/*
 * coordinator_ask_of_table(), of the draft that the files make; NULL: of what is stored.  Files
 * with errors are refused.
 */
bool coordinator_ask_of_draft(struct coordinator *co, errand_fn run, struct str table,
                              struct str key, const struct definition_files *files,
                              struct buf *json, struct err *err) MUST_CHECK;

#endif

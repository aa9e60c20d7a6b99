/*
 * The users and the tokens of scripts, as the API lists them: without what proves them.
 *
 * @thread any
 */
#ifndef REBALANCE_ACCESS_LIST_H
#define REBALANCE_ACCESS_LIST_H

#include "src/base/str.h"

#include <stddef.h>
#include <stdint.h>

struct accounts;
struct json_writer;

/* name: of one; empty: all.  Each adds how many it wrote to *n_listed. */
void access_list_users(const struct accounts *all, struct str name, int64_t now_ms,
                       struct json_writer *w, size_t *n_listed);
void access_list_tokens(const struct accounts *all, struct str name, int64_t now_ms,
                        struct json_writer *w, size_t *n_listed);

#endif

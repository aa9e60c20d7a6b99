/*
 * The calls that change and export what the user asked for.
 * rebalance/state/coordinator.h has the rules of all calls.
 *
 * @thread any (locked inside; blocks)
 */
#ifndef REBALANCE_ADMIN_DEFINITIONS_H
#define REBALANCE_ADMIN_DEFINITIONS_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct coordinator;
struct variables;

/* Under which terms definitions are changed. */
struct change_terms {
    struct str by;            /* who changes them, for people */
    const uint64_t *revision; /* that he has seen: if it is another one, 412; NULL: any */
    bool dry_run;             /* of a deletion: check and answer, and delete nothing */
};

/*
 * One definition file: its name for messages, its text, and the folder that paths of password
 * files are relative to.
 */
struct apply_file {
    struct str name, text, folder;
};
struct definition_files {
    const struct apply_file *list;
    size_t n;
    const struct variables *variables; /* for ${NAME} in the files' values */
};
struct apply_request {
    struct definition_files files;
    bool dry_run, prune;
    bool is_new;     /* refuse (409) to change what is defined already */
    bool take_alias; /* a table may take an alias of an index that Millrace did not make */
    struct change_terms terms;
};
/*
 * Answers what would change, or has changed, with warnings. A refusal lists every error with
 * its place and a caret.  *revision: of the definitions then; of a dry run, that it looked at.
 */
bool coordinator_apply(struct coordinator *co, const struct apply_request *r,
                       uint64_t *revision, struct buf *json, struct err *err) MUST_CHECK;
/* sees_files: the caller may know in which files a server's secrets are. */
bool coordinator_export(struct coordinator *co, bool sees_files, uint64_t *revision,
                        struct buf *yaml, struct err *err) MUST_CHECK;

/* Deletes one definition, by the noun and name that a list shows. */
bool coordinator_delete(struct coordinator *co, struct str noun, struct str name,
                        const struct change_terms *terms, struct buf *json,
                        struct err *err) MUST_CHECK;
/*
 * Deletes a table's definition and all its indexes, also those that are retired already.
 * Refused if one is being built or other tables share it, and unless `confirm` is the table's
 * name also if searches can use one.  Blocks on the engine; if that does not delete an index
 * now, the answer says so, and it follows by itself.
 */
bool coordinator_delete_table(struct coordinator *co, struct str table, struct str confirm,
                              const struct change_terms *terms, struct buf *json,
                              struct err *err) MUST_CHECK;

#endif

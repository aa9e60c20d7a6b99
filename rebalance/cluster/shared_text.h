/*
 * What nodes read of one another is JSON that any program may have written: it is parsed as
 * hostile input, and what this program does not know stays in it, so that nodes of two versions
 * work beside each other.
 */
#ifndef REBALANCE_CLUSTER_SHARED_TEXT_H
#define REBALANCE_CLUSTER_SHARED_TEXT_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "src/format/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct name_set;

#define SHARED_TEXT_MAX ((size_t)64 * 1024) /* a longer text is refused */
#define SHARED_NAME_MAX 255                 /* a longer name is refused */
/* A larger number is refused: programs that read numbers as floating point take it for another.
 */
#define SHARED_NUMBER_MAX ((uint64_t)1 << 53)

/* A member of the object that is parsed into an object of the caller's. */
struct shared_member {
    struct str name;
    void (*read)(struct json_reader *r, void *object);
};

/*
 * Reads the object. Of members with one name the last one counts. Appends unknown members to
 * unknown, as text without white space. ERR_REJECT if the text is too long, no such object, or
 * a value has another type.
 */
bool shared_text_parse(struct str text, const struct shared_member *members, size_t n,
                       void *object, struct buf *unknown, struct err *err) MUST_CHECK;

/* Appends the unknown members to the object that w writes. */
void shared_text_write_unknown(struct json_writer *w, const struct buf *unknown);

/* These replace what the value had. What is longer or larger than the limits is a fault. */
void shared_text_read_name(struct json_reader *r, struct buf *name);
void shared_text_read_number(struct json_reader *r, uint64_t *number);
void shared_text_read_names(struct json_reader *r, struct name_set *names);
void shared_text_put_names(struct json_writer *w, struct str key, const struct name_set *names);

#endif

/*
 * Scan the parts of a GTID: UUIDs, tags and numbers.  Pure.
 */
#ifndef SYNC_POSITION_GTID_TEXT_H
#define SYNC_POSITION_GTID_TEXT_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;

#define GTID_TAG_MAX 32

/* A scanner over text; p advances. */
struct gtid_text {
    const char *p, *end;
};
struct gtid_text gtid_text_of(struct str s);

void gtid_text_skip_space(struct gtid_text *t);
/* Each function below skips white space first, and returns false if it finds something else. */
bool gtid_text_skip_char(struct gtid_text *t, char c);
bool gtid_text_number(struct gtid_text *t, uint64_t max, uint64_t *out) MUST_CHECK;
/* Accepts a UUID with or without dashes. */
bool gtid_text_uuid(struct gtid_text *t, uint8_t uuid[16]) MUST_CHECK;
/* Tell whether a tag, rather than a number, comes next. */
bool gtid_text_is_at_tag(struct gtid_text *t);
/* Stores the tag in lower case. */
bool gtid_text_tag(struct gtid_text *t, char tag[GTID_TAG_MAX + 1]) MUST_CHECK;

void gtid_text_append_uuid(struct buf *b, const uint8_t uuid[16]);

#endif

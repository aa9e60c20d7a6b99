/*
 * The parts that GTIDs are written with: UUIDs, tags and numbers, with white space between.
 *
 * Pure.
 */
#ifndef SYNC_BINLOG_GTID_TEXT_H
#define SYNC_BINLOG_GTID_TEXT_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;

#define GTID_TAG_MAX 32

/* Text being read; p moves on. */
struct gtid_text {
    const char *p, *end;
};
struct gtid_text gtid_text_of(struct str s);

void gtid_text_skip_space(struct gtid_text *t);
/* The functions below skip white space first.  False: something else stands there. */
bool gtid_text_skip_char(struct gtid_text *t, char c);
bool gtid_text_number(struct gtid_text *t, uint64_t max, uint64_t *out) MUST_CHECK;
/* With or without its dashes. */
bool gtid_text_uuid(struct gtid_text *t, uint8_t uuid[16]) MUST_CHECK;
/* A tag, and no number, stands here. */
bool gtid_text_is_at_tag(struct gtid_text *t);
/* In lower case. */
bool gtid_text_tag(struct gtid_text *t, char tag[GTID_TAG_MAX + 1]) MUST_CHECK;

void gtid_text_append_uuid(struct buf *b, const uint8_t uuid[16]);

#endif

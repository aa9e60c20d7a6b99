/*
 * Encodes bytes as base64 (RFC 4648, with padding).
 */
#ifndef SRC_BASE_BASE64_H
#define SRC_BASE_BASE64_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/str.h"

void base64_append(struct buf *b, struct str bytes);

#endif

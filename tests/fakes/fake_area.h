/*
 * What the script of sync/delivery/document/area.h does to a document, for the fake engine.
 *
 * Pure.
 */
#ifndef TESTS_FAKES_FAKE_AREA_H
#define TESTS_FAKES_FAKE_AREA_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdint.h>

struct buf;

enum fake_area {
    FAKE_AREA_WRITTEN = 0,
    FAKE_AREA_NONE,    /* what is there is as new */
    FAKE_AREA_REFUSED, /* the whole document is wanted, says `refusal` */
};

/* source at version, and the line of its update; out: its next source. */
enum fake_area fake_area_update(struct str source, uint64_t version, struct str line,
                                struct buf *out, struct buf *refusal);

#endif

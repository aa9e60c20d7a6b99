/* The parts of test_store. */
#ifndef TESTS_COMPONENT_STORE_PARTS_H
#define TESTS_COMPONENT_STORE_PARTS_H

#include "tests/component/parts.h"
#include "tests/component/store_rig.h"

extern const struct test_part store_snapshots, store_whole_tables, store_midnights, store_audit,
    store_build_log, store_builds, store_fan_outs, store_followed, store_gone,
    store_kept_searches, store_letters, store_owned, store_purged, store_retired, store_told,
    store_turns, store_wishes, store_words;

#endif

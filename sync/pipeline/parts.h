/*
 * What the files of struct pipeline share.  Only they include this; all others use pipeline.h.
 *
 * make.c    makes the parts, with the callbacks between them
 * life.c    starts and ends them, and gives them other index versions
 * state.c   answers questions about a running pipeline
 */
#ifndef SYNC_PIPELINE_PARTS_H
#define SYNC_PIPELINE_PARTS_H

#include "src/base/base.h"
#include "src/base/lock.h"
#include "src/base/magic.h"
#include "src/base/thread.h"
#include "sync/pipeline/pipeline.h"
#include "sync/source/server_switch.h"
#include "sync/source/start_point.h"

#include <stdbool.h>
#include <stdint.h>

/* How fast a counter grows, between looks some seconds apart.  Zero-initialise. */
struct rate {
    int64_t at_ms; /* of the last look; 0: none yet */
    uint64_t count;
    double per_s;
};

struct pipeline {
    enum magic magic;
    unsigned refs; /* atomic */
    struct pipeline_options opt;
    char *topic, *start_at, *uuid, *day_zone;
    struct start_point start;
    struct known_server *known;
    struct mysql_group *reads; /* of the threads that pipeline_join() joins */
    struct wanted_versions *wanted;
    struct handoff *handoff;
    struct progress *progress;
    struct midnights *midnights;
    struct err no_days; /* why it notes none; ERR_NONE: it does */
    struct stream_pause *pause;
    struct read_position *reader;
    struct access_denied *denied;
    struct cascades *cascades;
    struct fan_out *fan_out;
    struct reread *reread;
    struct builder *builder;
    struct router *router;
    struct saver *saver;
    struct dump_start *dump_start;
    struct source *source;
    bool builder_done; /* atomic */
    bool discarded;    /* atomic */
    struct server_switch server_switch;
    bool quiesced, started;
    int64_t started_ms;
    struct stop stop;

    struct lock lock;

    /* All guarded by lock. */
    struct rate rate;
};

#endif

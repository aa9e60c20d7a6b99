/*
 * What the files of struct pipeline share.  Nobody else includes this; pipeline.h is for all
 * others.
 *
 * pipeline_make   its parts are made, and what each asks of the others
 * pipeline_life   it starts and ends, and takes other versions
 * pipeline_state  what is asked of it while it goes
 */
#ifndef SYNC_PIPELINE_PARTS_H
#define SYNC_PIPELINE_PARTS_H

#include "src/base/base.h"
#include "src/base/thread.h"
#include "sync/pipeline.h"
#include "sync/rate.h"
#include "sync/start_point.h"
#include "sync/takeover.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct pipeline {
    struct pipeline *next; /* in a list of retired ones */
    struct pipeline_options opt;
    char *topic, *start_at, *uuid;
    struct start_point start;
    struct known_server *known;
    struct assignment *assignment;
    struct handoff *handoff;
    struct progress *progress;
    struct standstill *standstill;
    struct read_position *reader;
    struct denied *denied;
    struct cascades *cascades;
    struct fan_out *fan_out;
    struct reread *reread;
    struct builder *builder;
    struct router *router;
    struct saver *saver;
    struct dump_start *dump_start;
    struct source *source;
    bool builder_done; /* atomic */
    struct takeover takeover;
    bool quiesced, started;
    int64_t started_ms;
    struct stop stop;

    pthread_mutex_t lock;

    /* All guarded by lock. */
    struct rate rate;
};

#endif

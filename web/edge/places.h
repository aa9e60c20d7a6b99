/*
 * How many connections the server may have, by the limit of open files.  Half of the files are
 * for the rest of the program.
 *
 * @thread any
 */
#ifndef WEB_EDGE_PLACES_H
#define WEB_EDGE_PLACES_H

#include "src/base/base.h"

#include <stdint.h>

#define PLACES_MAX 2048 /* of each listener; an address may have half of them */
#define PLACES_MIN 16

struct places {
    unsigned guests;  /* of each listener */
    unsigned streams; /* of all, which take none of these */
};

/* The limit of open files of this process. */
uint64_t places_files(void) MUST_CHECK;

/*
 * By files, which pure arithmetic shares out.  streams_max: at most so many streams, however
 * many files there are.
 */
struct places places_choose(uint64_t files, unsigned n_listeners,
                            unsigned streams_max) MUST_CHECK;

#endif

#include "config.h"

#include "web/edge/places.h"

#include <sys/resource.h>

#define FILES_A_PLACE 2 /* of the library, and of the door */
/* A stream for so many files: at most an eighth of all files are theirs. */
#define FILES_A_STREAM 16
#define STREAMS_MIN    8

uint64_t places_files(void)
{
    struct rlimit files = {0};

    getrlimit(RLIMIT_NOFILE, &files);
    return files.rlim_cur;
}

static unsigned within(uint64_t n, unsigned least, unsigned most)
{
    return n < least ? least : n < most ? (unsigned)n : most;
}

struct places places_choose(uint64_t files, unsigned n_listeners, unsigned streams_max)
{
    const unsigned streams = within(files / FILES_A_STREAM, STREAMS_MIN, streams_max);
    const uint64_t ours = files / 2, theirs = (uint64_t)FILES_A_PLACE * streams;
    const uint64_t left = ours > theirs ? ours - theirs : 0;

    return (struct places){
        .guests = within(left / (FILES_A_PLACE * n_listeners), PLACES_MIN, PLACES_MAX),
        .streams = streams};
}

/*
 * How the delivery rig answers reads: a table, and a loader thread that reads it.
 */
#ifndef TESTS_COMPONENT_DELIVERY_RIG_READS_H
#define TESTS_COMPONENT_DELIVERY_RIG_READS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map;
struct queue;

/*
 * The rows that delivery can read, by their id.
 *
 * @thread tests write, the loader thread reads; guarded by the rig's lock
 */
struct rig_table {
    struct map *rows;   /* id to text; "reject": cannot be read */
    struct map *parts;  /* id to the text of area 1, "part" */
    struct map *places; /* id to the routing of its document */
};

/*
 * The thread that answers reads, how it answers, and how much it has read.
 *
 * @thread tests write fails, stays and reach, the loader thread the counts, and it counts fails
 * down; guarded by the rig's lock, n_documents apart
 */
struct rig_reads {
    pthread_t thread;    /* the loader */
    struct queue *queue; /* batches that delivery wants to be read; locked inside */
    unsigned fails;      /* so many of the next rows cannot be read for now */
    bool stays;          /* the document of a row that is gone stays */
    unsigned leaves;     /* percent of a batch's rows that are left, not the first */
    uint64_t reach;      /* the newest version that reads can include; 0: any */
    size_t n_batches, n_area_batches;
    size_t n_left;      /* rows that were left */
    size_t n_documents; /* atomic: as often as they were given back to delivery */
};

#endif

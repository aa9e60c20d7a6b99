/*
 * How the delivery rig answers reads: the table that its loader thread reads.
 */
#ifndef TESTS_COMPONENT_DELIVERY_RIG_READS_H
#define TESTS_COMPONENT_DELIVERY_RIG_READS_H

struct map;

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

#endif

/*
 * What is shown of topics that other nodes own: the state that their owners told, with its age.
 *
 * What was told is the JSON object {"started_ms":…,"topic":{…},"tables":[…],"checks":[…]}: when
 * the owner's program started, then each in the form in which its own status shows it.
 *
 * @thread the view's maker's
 */
#ifndef REBALANCE_VIEW_TOLD_H
#define REBALANCE_VIEW_TOLD_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct coordinator;
struct coordinator_view;
struct doctor_list;
struct topic_view;

/* Owners tell at least so often: with positions, that is one write a minute at rest, ... */
#define TOLD_EVERY_MS 120000
/* ... so what is older than this may be wrong. */
#define TOLD_OLD_MS 240000

struct told_topic {
    bool is_others;   /* another node owns the topic, or none does */
    bool is_old;      /* told too long ago, by a node that has it no more, or never */
    bool is_left;     /* no node has it now, as far as this one knows */
    bool moves;       /* it was given to a node, or is to be, and that one has not told yet */
    struct str owner; /* the name of the node that has it, or is to have it; empty: none */
    struct str node;  /* the name of whoever told; empty: nobody did */
    int64_t moved_ms; /* wall time since when it moves; 0: not known */
    int64_t at_ms;    /* when somebody told, by our wall clock; 0: never */
    struct str body;  /* empty: nothing */
};
struct told_table {
    bool is_others, is_old; /* its topic is */
    struct str json;        /* empty: its topic's owner told nothing of it */
};

/* How long ago it was told, by the clocks of both nodes. */
int64_t told_age_ms(const struct told_topic *t, int64_t now_ms);

/*
 * Fill in what was told of the topics of others and their tables; v->stored is set. asks: who
 * owns them comes from the cluster, which may take a second just after a change.
 */
void coordinator_look_at_told(struct coordinator *co, struct coordinator_view *v, bool asks);
/* Add what its owner found, and who that is and when it told; too long ago is a failure. */
void coordinator_check_told(const struct coordinator_view *v, const struct topic_view *t,
                            struct doctor_list *l);

#endif

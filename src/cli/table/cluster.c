#include "config.h"

#include "src/cli/commands.h"
#include "src/cli/table/rows.h"

static const struct command_option node_options[] = {MOVE_OPTIONS, END};

static const struct command list[] = {
    {"node list", "", "list the nodes that share the store",
     "For each node: its name and the start of its id, its state, its version, since when it "
     "runs, and the topics that it follows.  normal: it works; rebalancing: others wait for "
     "it; waiting: it waits for others; starting: it has come; left out: it lives and did not "
     "answer; evacuating, evacuated: it gives its topics away, or has none; shut down, gone: "
     "it does not live.  Then for whom the cluster waits.",
     NEED_DAEMON, command_list, "node", 0, 0, NO_OPTIONS, NULL, false, "node list"},
    {"node get", "NODE", "show one node", NULL, NEED_DAEMON, command_get, "node", 1, 1,
     NO_OPTIONS, "node", false, "node get db2"},
    {"node rebalance", "", "share the topics evenly",
     "Shows what would move, asks, and waits until all has moved.  The cluster does this by "
     "itself when a node comes or goes.  What does not move is not interrupted.",
     NEED_DAEMON, command_node_rebalance, NULL, 0, 0, node_options, NULL, false,
     "node rebalance --dry-run"},
    {"node evacuate", "NODE", "move a node's topics away, and give it none",
     "For a node that is to be stopped, updated or removed.  Shows what would move, asks, and "
     "waits until all has moved.  The node delivers what it has read and stores each position, "
     "so that the others go on from there.  It takes no topic until millrace node admit, also "
     "after a restart.  Interrupting the command does not stop the moves.",
     NEED_DAEMON, command_node_evacuate, NULL, 1, 1, node_options, "node", false,
     "node evacuate db2"},
    {"node admit", "NODE", "give an evacuated node topics again",
     "Shows what would move, asks, and waits until all has moved.", NEED_DAEMON,
     command_node_admit, NULL, 1, 1, node_options, "node", false, "node admit db2"},
    {"node forget", "NODE", "forget a node that does not come back",
     "Removes what is known of a node that is gone, and what was asked of it: that it is "
     "evacuated, and the topics that were moved there.  Its name is free then, and nothing "
     "warns of it any more.  If it comes back after all, it takes part like a new one.",
     NEED_DAEMON, command_node_forget, NULL, 1, 1, yes_options, "node", false,
     "node forget db2"},
};

const struct command_rows cluster_rows = {list, ARRAY_LEN(list)};

"""Several daemons share one store: each topic is owned by one of them, and taken over when that one is gone."""
import signal
import time

from members import Members
from servers import Failed, wait_until


def one_owner_each(m, nodes):
    """Every topic runs at one of these nodes, evenly."""
    owners = m.owners()
    names = {name for at in owners.values() for name in at}
    return len(owners) == len(m.schemas) and all(len(at) == 1 for at in owners.values()) and names == {m.nodes[i].config["node_name"] for i in nodes}


def test_topics_are_shared_and_taken_over_from_a_node_that_dies_hangs_or_stops(w):
    m = Members(w).start()
    wait_until("the topics are shared", lambda: one_owner_each(m, [0, 1, 2]), 30)
    m.build()
    m.change(10)
    m.nodes[0].kill()
    m.change(20)
    wait_until("the others have its topics", lambda: one_owner_each(m, [1, 2]), 20)
    m.equal()
    m.nodes[0].start()
    wait_until("it has topics again", lambda: one_owner_each(m, [0, 1, 2]), 30)
    m.nodes[1].process.send_signal(signal.SIGSTOP)
    m.change(30)
    wait_until("the others have the topics of the node that hangs", lambda: one_owner_each(m, [0, 2]), 20)
    m.equal()
    m.nodes[1].process.send_signal(signal.SIGCONT)
    wait_until("it has topics again", lambda: one_owner_each(m, [0, 1, 2]), 30)
    m.nodes[2].stop()
    m.change(40)
    wait_until("the others have the topics of the node that stopped", lambda: one_owner_each(m, [0, 1]), 20)
    m.equal()
    m.end()

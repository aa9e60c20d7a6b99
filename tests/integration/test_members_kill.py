"""Nodes of a cluster that die at named moments, or at any, or hang or are cut off, while changes go on.

Runs only where --kills says how often. Each round draws what happens to one node; then all are well again, and now
and then every document is compared with its row.
"""
import signal

from members import Load, Members
from servers import let_pass

POINTS = ("term_taken", "node_registered", "node_data_written", "cluster_state_written", "lock_granted", "topic_saved",
          "topic_given_back", "position_stored", "store_committed", "bulk_sent", "bulk_answered")
JUDGE_EVERY = 20
DIRECTIONS = (True, True), (True, False), (False, True)  # what does not pass: what is said to a party, what it says


def restart_armed(m, rng, node, i):
    """It is started so that it dies at a moment; another one makes it come there."""
    point = rng.choice(POINTS)
    node.stop()
    node.start(wait=False, environment={"MILLRACE_FAILPOINT": f"{point}:{rng.randrange(1, 6)}"})
    other = m.nodes[(i + 1) % len(m.nodes)]
    let_pass("it may come to the moment by itself", rng.uniform(0.5, 2))
    if node.process.poll() is None and rng.random() < 0.7:
        other.stop()
        let_pass("it takes over", rng.uniform(0.5, 2))
        other.start()
        let_pass("it gives back", rng.uniform(0.5, 2))
    died = node.process.poll() is not None
    node.kill_if_running()
    return f"{point} {'met' if died else 'missed'}"


def kill(m, rng, node, i):
    del m, i
    let_pass("any moment", rng.uniform(0, 1))
    node.kill()
    return "killed"


def hang(m, rng, node, i):
    del i
    m.hang(node)
    let_pass("as long as a session, more or less", rng.uniform(0.5, 6))
    node.process.send_signal(signal.SIGCONT)
    return "hung"


def cut_off(m, rng, node, i):
    del node
    party = rng.choice(sorted(m.ways[i]))
    there, back = rng.choice(DIRECTIONS)
    m.ways[i][party].freeze(there, back)
    let_pass("as long as a session, more or less", rng.uniform(0.5, 6))
    m.ways[i][party].thaw()
    return f"cut off from the {party}" + ("" if there and back else " half")


def stop(m, rng, node, i):
    del m, i, rng
    node.stop()
    return "stopped"


FAULTS = (restart_armed, restart_armed, restart_armed, kill, hang, cut_off, stop)


def make_test(kills, nodes):
    def test(w):
        m = Members(w, nodes=nodes, topics=3, timeout="2s", cut=True).start()
        load, counts = Load(m, pause=0.1), {}
        for round_ in range(kills):
            i = w.rng.randrange(nodes)
            did = w.rng.choice(FAULTS)(m, w.rng, m.nodes[i], i)
            counts[did] = counts.get(did, 0) + 1
            m.nodes[i].start()
            if w.rng.random() < 0.5:
                m.wait_shared(*range(nodes), seconds=60)
            if round_ % JUDGE_EVERY == JUDGE_EVERY - 1 or round_ == kills - 1:
                load.rest()
                m.wait_shared(*range(nodes), seconds=60)
                m.equal(60)
                load.resume()
        load.end()
        m.end()
        print("# " + ", ".join(f"{n} {did}" for did, n in sorted(counts.items())))
    return test


def more_tests(options):
    kills = (options.kills or 40) if options.only else options.kills // 4 if options.kills else 0
    return {f"test_{nodes}_nodes_lose_nothing": make_test(kills, nodes) for nodes in (2, 3)}

"""Five nodes and three ZooKeepers, to which everything happens at once, while changes go on.

Runs only where --minutes says for how long (or for three, if it is asked for by name). Each round draws some faults,
which begin one after another and end in any order; then all are well again. Now and then every document is compared
with its row, and all the time no stored position may go back.
"""
import contextlib
import json
import signal
import time

from members import Load, Members
from servers import Failed, let_pass, wait_until
from test_members_kill import DIRECTIONS
from zookeepers import wait_for_leader

DAEMONS, TOPICS, TIMEOUT = 5, 6, 4
JUDGE_EVERY = 5
ENDS = 0, 75, -signal.SIGKILL  # how a daemon may end here: it was told to, it may work later, it was killed


class Work(Load):
    """Deletes rows, too."""

    def change(self, value):
        super().change(value)
        if value % 3 == 0:
            for schema in self.members.schemas:
                self.members.w.db.sql(f"DELETE FROM {schema}.thing WHERE id = {value - 10}", f"REPLACE INTO {schema}.thing VALUES (2, {value})")


# -- faults of a node: each is over when its generator goes on


def killed(m, rng, i):
    m.nodes[i].kill_if_running()
    yield "killed"


def killed_and_back_at_once(m, rng, i):
    m.nodes[i].kill_if_running()
    m.nodes[i].start(wait=False)
    yield "killed and back at once"


def stopped(m, rng, i):
    if m.nodes[i].process.poll() is None:
        m.nodes[i].process.send_signal(signal.SIGTERM)
    yield "stopped"
    m.nodes[i].stop()


def hung(m, rng, i):
    process = m.nodes[i].process
    if process.poll() is not None:
        yield "hung after its end"
        return
    m.hang(m.nodes[i])
    yield "hung"
    process.send_signal(signal.SIGCONT)


def cut_off(m, rng, i):
    party = rng.choice(sorted(m.ways[i]))
    there, back = rng.choice(DIRECTIONS)
    m.ways[i][party].freeze(there, back)
    yield f"cut off from {party}" + ("" if there and back else " half")
    m.ways[i][party].thaw()


def lost(m, rng, i):
    party = rng.choice(sorted(m.ways[i]))
    m.ways[i][party].lose()
    yield f"lost its connections to {party}"
    m.ways[i][party].thaw()


# -- and of ZooKeeper


def leader_killed(m, rng):
    leader = wait_for_leader(m.zookeepers)
    leader.kill()
    yield "ZooKeeper's leader killed"
    leader.start()


def leader_hung(m, rng):
    leader = wait_for_leader(m.zookeepers)
    leader.signal(signal.SIGSTOP)
    yield "ZooKeeper's leader hung"
    leader.signal(signal.SIGCONT)


def zookeeper_restarted(m, rng):
    end = rng.choice(("kill", "stop"))
    for server in m.zookeepers:
        getattr(server, end)()
    yield f"all of ZooKeeper restarted after {end}"
    for server in m.zookeepers:
        server.start()


OF_A_NODE = killed, killed_and_back_at_once, stopped, hung, cut_off, cut_off, cut_off, lost
OF_ZOOKEEPER = leader_killed, leader_hung, zookeeper_restarted


class Story:
    """What was done, with times, for whoever looks at a failure."""

    def __init__(self, m, rng):
        self.m, self.rng, self.lines, self.counts = m, rng, [], {}

    def tell(self, text):
        self.lines.append(f"{time.strftime('%H:%M:%S', time.gmtime())} {text}")

    @contextlib.contextmanager
    def fault(self, who, steps):
        text = next(steps)
        self.counts[text] = self.counts.get(text, 0) + 1
        self.tell(f"{who} {text}")
        yield
        self.tell(f"{who} {text}: over")
        next(steps, None)

    def round(self):
        """Up to three nodes and ZooKeeper have something happen to them at a time."""
        rng, m = self.rng, self.m
        chosen = [(f"node-{i}", rng.choice(OF_A_NODE)(m, rng, i)) for i in rng.sample(range(DAEMONS), rng.choice((1, 1, 2, 3)))]
        if rng.random() < 0.35:
            chosen.append(("-", rng.choice(OF_ZOOKEEPER)(m, rng)))
        rng.shuffle(chosen)
        with contextlib.ExitStack() as faults:
            for who, steps in chosen:
                faults.enter_context(self.fault(who, steps))
                let_pass("the next comes a moment later", rng.uniform(0, 1.5))
            let_pass("as long as a session, more or less", rng.uniform(0, 2.2 * TIMEOUT))

    def revive(self):
        wait_for_leader(self.m.zookeepers)
        wait_until("all nodes are ready", lambda: all([self.is_well(node) for node in self.m.nodes]), 90, 0.2)

    def is_well(self, node):
        ended = node.process.poll()
        if ended not in (None, *ENDS):
            raise Failed(f"{node.config['node_name']} ended with {ended}:\n{node.log_tail(3000)}")
        node.start(wait=False)
        return ended is None and node.is_ready()

    def judge(self):
        self.tell("all is well again")
        self.m.wait_shared(*range(DAEMONS), seconds=90)
        self.m.equal(60)
        self.tell("equal")


def troubles(m):
    """How often the nodes logged each error."""
    counts = {}
    for node in m.nodes:
        with open(node.log, encoding="utf-8") as f:
            for line in f:
                if '"level":"error"' in line:
                    said = json.loads(line)["msg"]
                    counts[said] = counts.get(said, 0) + 1
    return counts


def make_test(minutes):
    def test(w):
        m = Members(w, nodes=DAEMONS, topics=TOPICS, timeout=f"{TIMEOUT}s", cut=True, zookeepers=3).start()
        load, story, rounds = Work(m, pause=0.05), Story(m, w.rng), 0
        until = time.monotonic() + 60 * minutes
        try:
            while time.monotonic() < until:
                rounds += 1
                story.round()
                story.revive()
                if rounds % JUDGE_EVERY == 0:
                    load.rest()
                    story.judge()
                    load.resume()
            load.end()
            story.judge()
        except Exception as e:
            raise Failed(f"{e}\nround {rounds}:\n" + "\n".join(story.lines[-40:])) from e
        m.end()
        print(f"# {rounds} rounds: " + ", ".join(f"{n} {did}" for did, n in sorted(story.counts.items())))
        print("# errors: " + ", ".join(f"{n} {said!r}" for said, n in sorted(troubles(m).items())))
    return test


def more_tests(options):
    return {"test_five_nodes_lose_nothing": make_test(options.minutes or 3)} if options.minutes or options.only else {}

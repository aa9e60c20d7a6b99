"""A node dies at a named instant of a build that two nodes fill, or of a delayed run, and the other one goes on.

Some instants by the seed; all of them if this module is asked for by name, or where --failpoints is a thousand or more.
"""
import signal

import yaml
from servers import Failed, wait_until
from test_failpoints import armed
from test_fills import Fills

SOME = 3  # that are met in each run


class Struck(Fills):
    """What the first topic's documents show is delayed."""

    def __init__(self, w):
        super().__init__(w, rows=6000, nodes=2, topics=2, timeout="2s")
        self.kind, self.versions, self.turn = f"{self.schemas[0]}.kind", 1, 0
        self.tables.append((self.schemas[0], "kind"))
        for node in self.nodes:
            node.write("definitions.yaml", yaml.safe_dump(self.definitions(), sort_keys=False))

    def definitions(self):
        made = super().definitions()
        for table in made["tables"]:
            if table["table"].endswith(".kind"):
                table["delayed"] = True
        return made

    def start(self):
        super().start()
        self.nodes[0].build(self.kind)
        return self

    def other(self, node):
        return next(one for one in self.nodes if one is not node)

    def is_dead(self, node):
        if node.process.poll() not in (None, -signal.SIGKILL):
            raise Failed(f"it ended with {node.process.returncode}: {node.log_tail()}")
        return node.process.poll() is not None

    def wait_dead(self, node, point, do=lambda: None):
        def is_dead():
            do()
            return self.is_dead(node)
        wait_until(f"{node.config['node_name']} dies at {point}", is_dead, 60, 0.1)


# -- what makes a node come to an instant, and what must be after it died there


def build(m, node, point, rate=3000):
    begin(m, node, rate)
    m.wait_dead(node, point)
    is_built(m)


def begin(m, node, rate):
    m.other(node).command("index", "create", m.big, "--no-wait", "--buckets", "12", "--rate", str(rate), ok=None)


def is_built(m):
    m.wait_over()
    m.versions += 1
    if m.version() != m.versions or m.log()["end"] != "succeeded":
        raise Failed(f"version {m.version()}, not {m.versions}: {m.log()}")
    if m.stored("SELECT id FROM job WHERE kind IN ('index', 'bucket')"):
        raise Failed("a job is left")


def give_back(m, node, point):
    begin(m, node, 500)
    wait_until("it fills a bucket", lambda: m.id_of(node) in [bucket["node"] for bucket in m.buckets("running")], 30, 0.05)
    m.other(node).command("node", "evacuate", node.config["node_name"], "--yes", "--no-wait")
    m.wait_dead(node, point)
    m.set_rate(0)
    is_built(m)
    m.other(node).command("node", "admit", node.config["node_name"], "--yes", "--no-wait")


def run_delayed(m, node, point):
    def change():
        m.turn += 1
        m.w.db.sql(f"UPDATE {m.kind} SET name = 'turn {m.turn}' WHERE id = {m.turn % 50}")
        m.other(node).command("delayed", "run", m.kind, ok=None)
    m.wait_dead(node, point, change)
    is_run(m, node)


def run_whole(m, node, point):
    """The delayed table is changed as a whole: its run has the index built that shows it."""
    m.turn += 1
    rows = ", ".join(f"({i}, 'whole {m.turn} {i}')" for i in range(50))
    m.w.db.sql(f"TRUNCATE TABLE {m.kind}", f"INSERT INTO {m.kind} VALUES {rows}")
    m.wait_dead(node, point, lambda: m.other(node).command("delayed", "run", m.kind, ok=None))
    is_run(m, node)
    m.versions = m.version()


def is_run(m, node):
    wait_until("the other node has the topic", lambda: m.owners().get(m.schemas[0]) == [m.other(node).config["node_name"]], 60)
    wait_until("what was changed is read", m.other(node).has_done_all, 60)
    wait_until("what waits is run", lambda: m.other(node).command("delayed", "run", m.kind, "--wait", ok=None).returncode == 0, 90, 0.2)
    left = m.stored("SELECT id, status FROM snapshot WHERE status <> 'done'")
    if left:
        raise Failed(f"left are {left}")


#  point: (scene, at the topic's owner, at most the how manieth time)
POINTS = {
    "fill_noted": (build, True, 1), "build_divided": (build, True, 1), "bucket_taken": (build, False, 4), "chunk_submitted": (build, False, 4),
    "chunk_saved": (build, False, 4), "bucket_ended": (build, False, 3), "bucket_returned": (give_back, False, 1),
    "build_filled": (build, True, 1), "build_counted": (build, True, 1), "alias_moved": (build, True, 1), "version_promoted": (build, True, 1),
    "snapshot_stored": (run_delayed, True, 2), "delayed_begun": (run_delayed, True, 2), "delayed_put": (run_delayed, True, 2),
    "delayed_ended": (run_delayed, True, 2), "table_put_off": (run_whole, True, 1), "delayed_asked": (run_whole, True, 1),
}


def arm(m, node, point, nth, owns):
    node.stop()
    node.start(environment=armed(point, nth))
    m.wait_shared(0, 1)
    if owns and m.owner(m.schemas[0]) is not node:
        m.other(node).command("topic", "move", m.schemas[0], "--to", node.config["node_name"], "--yes")
        wait_until("it has the topic", lambda: m.owners().get(m.schemas[0]) == [node.config["node_name"]], 30, 0.1)


def make_test(points):
    def test(w):
        m = Struck(w).start()
        for point in points or w.rng.sample(sorted(POINTS), SOME):
            scene, owns, most = POINTS[point]
            node, nth = w.rng.choice(m.nodes), w.rng.randint(1, most)
            arm(m, node, point, nth, owns)
            scene(m, node, point)
            node.start()
            m.wait_shared(0, 1)
            m.equal()
            print(f"# killed at {point}:{nth}")
        m.end()
    return test


def more_tests(options):
    every = options.only or (options.failpoints or 0) >= 1000
    return {"test_a_build_and_a_run_go_on_where_another_node_lives": make_test(sorted(POINTS) if every else None)}

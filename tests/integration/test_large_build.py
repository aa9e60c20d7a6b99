"""A table with relations is rebuilt by several nodes under a write load, while everything happens to them.

The faults are spread over the build by its progress, not by time: each begins once a further part of the rows is done,
and strikes a node that fills buckets just then. So each kind happens while buckets are open, however fast a machine is.
200,000 rows and three nodes always; --rows N makes one of so many rows with five nodes and three ZooKeepers.
"""
import json
import signal
import threading
import time

import judge
from members import Load, Members
from servers import Failed, wait_until
from test_fills import Fills, numbers
from test_members_full import troubles
from zookeepers import wait_for_leader

IN_A_BUCKET = 4000  # rows, so that a node that has its share soon takes what another one leaves
SHARE = 4000  # documents that show the same row
LASTS = 3, 12  # seconds that a fault lasts; less if the node's buckets are elsewhere before
UNTIL_ELSEWHERE = "stopped and continued",  # these last until then


class Large(Fills):
    """Documents show a row that very many show, and rows that few show."""

    def __init__(self, w, rows, **more):
        super().__init__(w, rows, **more)
        self.kinds = rows // SHARE

    def definitions(self):
        made = super().definitions()
        made["tables"][0]["relations"].append({"from": "n", "table": f"{self.schemas[0]}.note", "to": "n", "as": "notes", "many": True,
                                               "columns": ["id", "t"]})
        return made

    def start(self):
        schema, notes = self.schemas[0], self.rows // 200
        self.w.db.sql(f"CREATE TABLE {schema}.kind (id INT PRIMARY KEY, name VARCHAR(20))",
                      f"CREATE TABLE {schema}.note (id INT PRIMARY KEY, n INT, t VARCHAR(40), KEY (n))",
                      f"ALTER TABLE {schema}.thing ADD COLUMN n INT, ADD KEY (a), ADD KEY (n)",
                      f"INSERT INTO {schema}.kind SELECT n, CONCAT('kind ', n) FROM {numbers(4)} WHERE n < {self.kinds}",
                      f"INSERT INTO {schema}.note SELECT n, n DIV 2, 'a note' FROM {numbers(5)} WHERE n < {2 * notes}")
        Members.start(self)
        for first in range(0, self.rows, 100_000):  # past the log, as from a dump, which is why the index is built anew
            self.w.db.sql("SET sql_log_bin = 0",
                          f"INSERT INTO {schema}.thing SELECT {first} + n + 10, n % {self.kinds}, IF(n % 20 = 0, (({first} + n) DIV 20) % {notes}, NULL)"
                          f" FROM {numbers(5)} WHERE {first} + n < {self.rows}")
        self.ids = {self.id_of(node): node for node in self.nodes}
        return self

    def stored_buckets(self):
        """As the store has them, which is told even while nodes are cut off: [{id, state, rows, node}]."""
        return [{"id": key, "state": text_of(state), "rows": rows, "node": json.loads(parameters).get("node")} for key, state, rows, parameters in
                self.stored("SELECT id, state, rows_done, parameters FROM job WHERE kind = 'bucket'")]

    def fills(self):
        """{node: ids of the buckets that it fills}"""
        filled = {}
        for bucket in self.stored_buckets():
            if bucket["state"] == "running" and bucket["node"]:
                filled.setdefault(self.ids[bucket["node"]].config["node_name"], set()).add(bucket["id"])
        return filled

    def is_over(self):
        return not self.stored("SELECT id FROM job WHERE kind = 'index'")


def text_of(value):
    return value.decode() if isinstance(value, bytes) else value


class Writes(Load):
    """All kinds of changes of the large table and of what it shows; now and then one of the others.

    What very many documents show changes with each fault, as a slow machine has much to do for that."""

    def change(self, value):
        m, rng = self.members, self.members.w.rng
        schema, row = m.schemas[0], 10 + rng.randrange(m.rows)
        m.w.db.sql(*rng.choices([
            [f"UPDATE thing SET a = {value % m.kinds} WHERE id = {row}"],
            [f"UPDATE thing SET a = a WHERE id = {row}", f"UPDATE thing SET n = {value % 1000} WHERE id BETWEEN {row} AND {row + 20}"],
            [f"DELETE FROM thing WHERE id BETWEEN {row} AND {row + rng.randrange(3)}"],
            [f"REPLACE INTO thing VALUES ({row}, {value % m.kinds}, NULL), ({m.rows + value}, 1, {value % 1000})"],
            [f"REPLACE INTO note VALUES ({rng.randrange(m.rows // 100)}, {value % (m.rows // 200)}, 'note {value}')"],
            [f"UPDATE {other}.thing SET a = {value} WHERE id = 1" for other in m.schemas[1:]]], [20, 5, 5, 10, 5, 1])[0], schema=schema)


class Watch(threading.Thread):
    """Looks all the time where searches go, and at which node each bucket is."""

    def __init__(self, m):
        super().__init__(daemon=True)
        self.m, self.searched, self.at, self.moves, self.failure = m, [], {}, 0, None
        self.done = threading.Event()
        self.start()

    def run(self):
        try:
            while not self.done.wait(0.1):
                self.look()
        except Exception as e:  # end() tells
            self.failure = e

    def look(self):
        version = self.m.version()
        if self.searched[-1:] != [version]:
            self.searched.append(version)
        for bucket in self.m.stored_buckets():
            if bucket["state"] == "running" and bucket["node"]:
                before = self.at.setdefault(bucket["id"], bucket["node"])
                self.moves += before != bucket["node"]
                self.at[bucket["id"]] = bucket["node"]

    def end(self):
        self.done.set()
        self.join()
        if self.failure:
            raise self.failure
        self.look()


# -- what happens to a node: (begin, end)


def kill(m, node):
    node.kill()


def start(m, node):
    node.start(wait=False)


def hang(m, node):
    m.hang(node)


def go_on(m, node):
    node.process.send_signal(signal.SIGCONT)


def cut(party):
    return lambda m, node: m.ways[m.nodes.index(node)][party].freeze(), lambda m, node: m.ways[m.nodes.index(node)][party].thaw()


FAULTS = {"killed": (kill, start), "its owner killed": (kill, start), "stopped and continued": (hang, go_on),
          "cut off from the database": cut("source"), "cut off from the engine": cut("engine"), "cut off from the store": cut("store"),
          "cut off from ZooKeeper": cut("zookeeper")}


class Story:
    """The faults of one build, one after another, and what was done with times, for whoever looks at a failure."""

    def __init__(self, m, faults, at_once):
        self.m, self.faults, self.at_once, self.lines, self.counts = m, faults, at_once, [], {}
        self.began = time.monotonic()

    def tell(self, text):
        self.lines.append(f"{time.monotonic() - self.began:6.1f} s {text}")

    def draw(self):
        """Every kind as often, in an order of this seed."""
        kinds = []
        while len(kinds) < self.faults:
            some = list(FAULTS)
            self.m.w.rng.shuffle(some)
            kinds += some
        return kinds[:self.faults]

    def rows_done(self):
        return sum(bucket["rows"] for bucket in self.m.stored_buckets())

    def wait_rows(self, rows, kind):
        """Until so many rows are done, which the build must not end before."""
        wait_until(lambda: f"{rows} rows are done, as yet {self.rows_done()}", lambda: self.rows_done() >= rows or self.m.is_over(), 120, 0.1,
                   progress=self.rows_done)
        return wait_until(f"a node fills a bucket, so that it can be {kind}", lambda: self.m.fills() or self.is_too_late(kind), 60, 0.02)

    def is_too_late(self, kind):
        if not any(bucket["state"] in ("init", "running") for bucket in self.m.stored_buckets()):
            raise Failed(f"no bucket is open any more, and no node was {kind}: {self.m.log()}")
        return False

    def victims(self, kind, fills):
        """At least one node stays as it is."""
        m, rng = self.m, self.m.w.rng
        names = rng.sample(sorted(fills), min(len(fills), rng.randint(1, self.at_once), len(m.nodes) - 1))
        if kind == "its owner killed":
            names = wait_until("the table has an owner", lambda: m.owners().get(m.schemas[0]), 60, 0.1)
        return [m.node(name) for name in names]

    def strike(self, kind, fills):
        begin, end = FAULTS[kind]
        for node in self.victims(kind, fills):
            name = node.config["node_name"]
            self.tell(f"{name} {kind}, with buckets {sorted(fills.get(name, ()))}")
            begin(self.m, node)
            self.counts[kind] = self.counts.get(kind, 0) + 1
            yield lambda name=name: not self.m.fills().get(name, set()) & fills.get(name, set()), lambda node=node: end(self.m, node)

    def fault(self, kind, fills):
        self.m.w.db.sql(f"UPDATE {self.m.schemas[0]}.kind SET name = 'at {self.rows_done()}' WHERE id = {self.m.w.rng.randrange(self.m.kinds)}")
        struck = list(self.strike(kind, fills))
        until = time.monotonic() + self.m.w.rng.uniform(*LASTS)
        wait_until(f"the buckets of a node that is {kind} are elsewhere", lambda: all(is_elsewhere() for is_elsewhere, _ in struck) or
                   (time.monotonic() >= until and kind not in UNTIL_ELSEWHERE), 60, 0.1, progress=self.rows_done)
        for _, end in struck:
            end()
        self.tell(f"{kind}: over")

    def leader_of_zookeeper(self):
        leader = wait_for_leader(self.m.zookeepers)
        leader.kill()
        self.tell("ZooKeeper's leader killed")
        wait_until("the others have a leader", lambda: any(server.mode() == "leader" for server in self.m.zookeepers), 60, 0.2)
        leader.start()
        self.counts["ZooKeeper's leader killed"] = self.counts.get("ZooKeeper's leader killed", 0) + 1

    def run(self):
        for i, kind in enumerate(self.draw()):
            self.fault(kind, self.wait_rows(self.m.rows * (i + 1) // (self.faults + 1), kind))
            if len(self.m.zookeepers) > 1 and i % len(FAULTS) == 3:
                self.leader_of_zookeeper()
            wait_until("all nodes are ready", lambda: all(node.is_ready() for node in self.m.nodes), 90, 0.1)


def check_end(m, watch):
    """The alias moved once, every document is as its row, and nothing is left."""
    watch.end()
    if watch.searched != [1, 2] or m.log()["end"] != "succeeded":
        raise Failed(f"searches went to versions {watch.searched} one after another; {m.log()}")
    if not watch.moves:
        raise Failed("no bucket went on at another node")
    wait_until(lambda: f"no job is left: {m.alive().json('job', 'list')}", lambda: not m.stored("SELECT id FROM job"), 180, 0.5)
    judge.wait_equal_in_ranges(m.w.db, m.w.engine, f"{m.nodes[0].folder}/definitions.yaml", m.big, seconds=120)
    judge.wait_equal(m.w.db, m.w.engine, f"{m.nodes[0].folder}/definitions.yaml", [f"{schema}.thing" for schema in m.schemas[1:]])
    if m.stored("SELECT id FROM job"):
        raise Failed(f"a job is left: {m.alive().json('job', 'list')}")


def make_test(rows, nodes, zookeepers, faults, at_once, rate):
    """So many rows, which take `rate` a second at most, so that a build is there for as long as its faults."""
    def test(w):
        m = Large(w, rows, nodes=nodes, topics=nodes, timeout="4s", cut=True, zookeepers=zookeepers).start()
        load, watch, story = Writes(m, pause=0.05), Watch(m), Story(m, faults, at_once)
        m.create("--buckets", str(rows // IN_A_BUCKET), "--rate", str(rate))
        try:
            story.run()
            m.set_rate(0)
            m.wait_over(900)
            story.tell("the build is over")
            load.end()
            check_end(m, watch)
            story.tell("equal")
        except Exception as e:
            raise Failed(f"{e}\nseed {w.options.seed}:\n" + "\n".join(story.lines[-40:])) from e
        writes, moves = load.n - 100, watch.moves
        m.end()
        print(f"# {rows} rows, {nodes} nodes, {zookeepers} ZooKeepers: {writes} writes; buckets moved {moves} times; " +
              ", ".join(f"{n} {kind}" for kind, n in sorted(story.counts.items())))
        print("# " + "; ".join(story.lines))
        print("# errors: " + ", ".join(f"{n} {said!r}" for said, n in sorted(troubles(m).items())))
    test.limit = 900 + rows // 500  # seconds
    return test


def more_tests(options):
    tests = {"test_200000_rows_that_three_nodes_build_under_faults_equal_the_table": make_test(200_000, 3, 1, len(FAULTS), 1, 3000)}
    if options.rows:
        tests[f"test_{options.rows}_rows_that_five_nodes_build_under_faults_equal_the_table"] = make_test(options.rows, 5, 3, 28, 2, 8000)
    return tests

#!/usr/bin/env python3
"""Builds by several nodes: how fast, and what they cost.

    fills.py [--rows N] [--rounds N] [--delay MS] [--chunk N] [--only far near stream lost] [--engine fake|real]

    far     builds by 1, 2 and 4 nodes, whose ways to the database, the store and the engine delay all bytes by so many
            ms in each direction; chunks are small, so that waiting is the limit and not the processors
    stream  in the same place, with polite builds: single changes of another table of the topic, each from its COMMIT
            until the engine gives the new document, without a build and beside one; and how long a burst of changes takes
    near    builds by 1, 2 and 4 nodes without delays: processor time of all nodes for a row, of the database, of the
            engine; and the rows that the database examined for each row of the table, by its own log
    lost    a node is killed while it fills buckets: until others have them all, and go on

All builds of a part have the same table, buckets and servers, and the numbers of nodes take turns.  The first round
does not count, unless it is the only one (--rounds 0).  With the fake engine (tests/fakes, the default) the engine is
not the limit.  MILLRACE names the daemon's program.
"""
import argparse
import contextlib
import statistics
import threading
import time

import yaml

from bench_world import bench_world, cpu_seconds, percentile  # first: it knows where the others are
from detour import Detour
from members import Members
from servers import Failed, let_pass, text_or_bytes, wait_until
from test_fills import Fills, numbers
from test_one_store import store_of

NODES = 4
AT_ONCE = 4  # fills of a node
BESIDE = 20010  # its highest id; it begins with 10
SOON = 1e-6  # a delay that can be changed later
INDEX = {"trees": False, "verify_every": "never", "verify_rate": 0, "verify_builds": "none"}


class Farm(Fills):
    """Four nodes, each of which owns a topic; the table that is built has its rows before they start."""

    def __init__(self, w, options, is_far, **more):
        self.detours, self.options = {}, options
        ports = {"source": w.db.port, "store": w.db.port, "engine": w.engine.port}
        if is_far:
            self.detours = {way: Detour(port, SOON) for way, port in ports.items()}
            ports = {way: detour.port for way, detour in self.detours.items()}
        self.ports = ports
        super().__init__(w, nodes=NODES, topics=NODES, rows=options.rows, address=f"127.0.0.1:{ports['source']}", **more)
        self.beside = f"{self.schemas[0]}.beside"  # of the same topic, and never built again
        self.tables.append((self.schemas[0], "beside"))
        self.nodes[0].write("definitions.yaml", yaml.safe_dump(self.definitions(), sort_keys=False))

    def add(self, name, *_, **config):
        return super().add(name, store_port=self.ports["store"], search={"url": [f"http://127.0.0.1:{self.ports['engine']}"]}, index=INDEX,
                           delivery={"builds": self.options.builds}, **config)

    def start(self):
        schema = self.schemas[0]
        self.w.db.sql(f"ALTER TABLE {schema}.thing ADD note VARCHAR(100)",
                      f"CREATE TABLE {schema}.kind (id INT PRIMARY KEY, name VARCHAR(20))",
                      f"INSERT INTO {schema}.kind SELECT n, CONCAT('kind ', n) FROM {numbers(2)} WHERE n < 50",
                      f"INSERT INTO {schema}.thing SELECT n + 10, n % 50, REPEAT(CHAR(97 + n % 26), 80) FROM {numbers(6)} WHERE n < {self.rows}",
                      f"ANALYZE TABLE {schema}.thing",
                      f"CREATE TABLE {self.beside} AS SELECT * FROM {schema}.thing WHERE id <= {BESIDE}",
                      f"ALTER TABLE {self.beside} ADD PRIMARY KEY (id)")
        Members.start(self)
        self.nodes[0].build(self.beside)
        self.positions.end()  # it asks for them all the time
        self.look = self.w.db.connect(store_of(self.w))
        self.turn = threading.Lock()  # of that connection
        self.n = NODES
        for way, detour in self.detours.items():  # from now on
            detour.delay = (self.options.store_delay if way == "store" else self.options.delay) / 1000
        return self

    def have(self, n):
        """So many nodes run, and share the topics."""
        for node in self.nodes[n:]:
            node.stop()
        for node in self.nodes[:n]:
            node.start()
        if n != self.n:
            self.wait_shared(*range(n))
            self.n = n

    def jobs(self):
        """[(state, whose parameters)] of the buckets; None: there is no build."""
        with self.turn, self.look.cursor() as cursor:
            cursor.execute("SELECT kind, id, state, rows_done, parameters FROM job WHERE kind IN ('index', 'bucket')")
            rows = [[text_or_bytes(value) for value in row] for row in cursor.fetchall()]
        return [row[1:] for row in rows if row[0] == "bucket"] if any(row[0] == "index" for row in rows) else None

    def is_filling(self):
        return any(state == "running" and rows for _, state, rows, _ in self.jobs() or [])

    def cpu(self):
        """Seconds of processor time so far: of the nodes, the database and the engine."""
        return (sum(cpu_seconds(node.process.pid) for node in self.nodes[:self.n]),
                cpu_seconds(self.w.db.pid()), cpu_seconds(self.w.engine.pid()))

    def built(self, *more):
        """Seconds until the alias has moved, those in which buckets were filled, and processor time meanwhile."""
        before, version, since = self.cpu(), self.version(), time.monotonic()
        self.create("--buckets", str(self.options.buckets), "--chunk", str(self.options.chunk), *more)
        began = ended = None
        while self.version() == version:
            states = [state for _, state, _, _ in self.jobs() or []]
            if states:
                began = began or time.monotonic()
            if any(state != "done" for state in states):
                ended = time.monotonic()
            if time.monotonic() - since > 570:
                raise Failed(f"the build does not end: {self.build()}")
            let_pass("a look at the jobs costs little", 0.02)
        took = time.monotonic() - since
        spent = [after - then for then, after in zip(before, self.cpu())]
        if ended is None:
            raise Failed("the build was too short to see: give it more rows")
        wait_until("the build is over", lambda: self.jobs() is None, 60)
        have = self.w.engine.count(f"{self.w.schema}-{self.schemas[0]}")
        if have < self.rows:
            raise Failed(f"{have} documents of {self.rows} rows")
        self.nodes[0].command("index", "delete", self.big, "--yes", ok=None)
        return took, ended - began, spent

    def end(self):
        self.look.close()
        for node in self.nodes:
            node.stop()
        for detour in self.detours.values():
            detour.__exit__()


def turns(farm, options):
    """{number of nodes: what built() gave, in each round}; the first round warms up."""
    found = {n: [] for n in options.counts}
    for i in range(options.rounds + 1):
        for n in options.counts if i % 2 == 0 else reversed(options.counts):
            farm.have(n)
            took, filling, spent = farm.built()
            per_row = ", ".join(f"{who} {1e6 * s / farm.rows:.2f}" for who, s in zip(("nodes", "database", "engine"), spent))
            print(f"  {'round' if i else 'warm'} {i}: {n} nodes: {took:.1f} s, {filling:.1f} of them filling; µs a row: {per_row}", flush=True)
            if i or not options.rounds:
                found[n].append((took, filling, spent))
    return found


def far(farm, options):
    print(f"far: {options.rows:,} rows in {options.buckets} buckets, chunks of {options.chunk}, {options.delay} ms each way", flush=True)
    found = turns(farm, options)
    for n in options.counts:
        print(f"far, {n} nodes: {statistics.median(farm.rows / took for took, _, _ in found[n]):,.0f} rows/s until the alias has moved,"
              f" {statistics.median(farm.rows / filling for _, filling, _ in found[n]):,.0f} while filling;"
              f" {ratio(found, n, 0):.2f} and {ratio(found, n, 1):.2f} times one node", flush=True)


def ratio(found, n, which):
    """Of the rates, round by round."""
    return statistics.median(one[which] / several[which] for one, several in zip(found[min(found)], found[n]))


def near(farm, options):
    print(f"near: {options.rows:,} rows in {options.buckets} buckets, chunks of {options.chunk}", flush=True)
    found = turns(farm, options)
    for n in options.counts:
        cpu = [statistics.median(1e6 * spent[who] / farm.rows for _, _, spent in found[n]) for who in range(3)]
        more = statistics.median(several[2][0] / one[2][0] for one, several in zip(found[min(found)], found[n]))
        print(f"near, {n} nodes: {cpu[0]:.2f} µs of processor for a row ({more:.2f} times one node), database {cpu[1]:.2f}, engine {cpu[2]:.2f};"
              f" {statistics.median(farm.rows / took for took, _, _ in found[n]):,.0f} rows/s", flush=True)
    for n in options.counts:
        farm.have(n)
        examined(farm, n)


def examined(farm, n):
    """What the server says that statements examined, those of the build apart from those that count rows."""
    names = "log_output", "slow_query_log", "long_query_time"
    before = [farm.w.db.sql(f"SELECT @@GLOBAL.{name}")[0][0] for name in names]
    farm.w.db.sql("TRUNCATE mysql.slow_log", "SET GLOBAL log_output = 'TABLE'", "SET GLOBAL long_query_time = 0", "SET GLOBAL slow_query_log = 1")
    farm.built()
    farm.w.db.sql(*(f"SET GLOBAL {name} = {value!r}" for name, value in reversed(list(zip(names, before)))))
    # Plans of the buckets' borders, reads of chunks, counts: each has a form of its own.
    rows = farm.w.db.sql("SELECT sql_text LIKE '%COUNT(%', COUNT(*), SUM(rows_examined), SUM(TIME_TO_SEC(query_time)) FROM mysql.slow_log"
                         f" WHERE db <> '{store_of(farm.w)}' AND sql_text LIKE '%`thing`%' AND sql_text NOT LIKE '%EXPLAIN%' GROUP BY 1")
    counted = {bool(kind): (statements, float(sum_), float(seconds)) for kind, statements, sum_, seconds in rows}
    reads, counts = counted.get(False, (0, 0, 0)), counted.get(True, (0, 0, 0))
    print(f"near, {n} nodes: {reads[1] / farm.rows:.3f} rows examined for each of the table, in {reads[0]} reads;"
          f" counting them, {counts[1] / farm.rows:.3f} in {counts[0]} more, {1e6 * counts[2] / max(counts[1], 1):.2f} µs each", flush=True)


class Singles:
    """Single rows of a table beside it that change, and how many ms each took until the engine gave it."""

    def __init__(self, farm):
        self.farm, self.n, self.mark = farm, 0, time.monotonic_ns()
        self.connection = farm.w.db.connect(farm.schemas[0])
        self.index = f"{farm.w.schema}-{farm.schemas[0]}-beside"

    def one(self):
        self.n += 1
        key, note = 10 + self.n * 7919 % 20000, f"{self.mark} {self.n}"
        since = time.monotonic()
        with self.connection.cursor() as cursor:
            cursor.execute(f"UPDATE beside SET note = '{note}' WHERE id = {key}")
        while (self.farm.w.engine.get(self.index, key) or {}).get("note") != note:
            let_pass("the engine is asked again", 0.001)
        return (time.monotonic() - since) * 1000

    def burst(self, rows):
        """Seconds until a change of the first rows, a thousand in a transaction, shows."""
        self.n += 1
        note, since = f"{self.mark} {self.n}", time.monotonic()
        with self.connection.cursor() as cursor:
            for first in range(10, 10 + rows, 1000):
                cursor.execute(f"UPDATE beside SET note = '{note}' WHERE id BETWEEN {first} AND {first + 999}")
        while (self.farm.w.engine.get(self.index, 9 + rows) or {}).get("note") != note:
            let_pass("the engine is asked again", 0.005)
        return time.monotonic() - since


def stream(farm, options):
    """The stream without a build, and while buckets are filled."""
    found = {}
    for n in (0, *options.counts):
        farm.have(max(n, 1))
        singles = Singles(farm)
        singles.burst(20000)  # warms up
        with building(farm) if n else contextlib.nullcontext():
            took, bursts = [], []
            while len(took) < options.changes or len(bursts) < 3:
                if n and not farm.is_filling():
                    let_pass("the next build begins", 0.05)
                    continue
                took.append(singles.one())
                if len(took) % (options.changes // 3) == 0:
                    bursts.append(singles.burst(20000))
        found[n] = percentile(took, 50), percentile(took, 90), statistics.median(bursts)
        print(f"stream, {f'beside a build by {n} nodes' if n else 'alone'}: single changes p50 {found[n][0]:.0f} ms, 90 % {found[n][1]:.0f} ms;"
              f" a burst of 20,000 {found[n][2]:.2f} s; {', '.join(f'{100 * of / than:.0f} %' for of, than in zip(found[n], found[0]))}", flush=True)


@contextlib.contextmanager
def building(farm):
    """One build after the other until the end, the last of which is waited for."""
    over, failures = threading.Event(), []

    def build():
        try:
            while not over.is_set():
                farm.built()
        except Exception as e:  # pylint: disable=broad-exception-caught
            failures.append(e)

    thread = threading.Thread(target=build)
    thread.start()
    wait_until("buckets are filled", lambda: failures or farm.is_filling(), 60, 0.05)
    try:
        yield
    finally:
        over.set()
        thread.join()
    if failures:
        raise failures[0]


def lost(farm, options):
    """With places for its buckets at the other nodes, and with none before one of theirs is done."""
    for buckets, about in ((2 * NODES, "and others have room"), (4 * NODES, "and others have none"),
                           (8 * NODES, "and others have none, but end one sooner")):
        took = [one_lost(farm, buckets, i) for i in range(options.losses)]
        print(f"lost, {buckets} buckets {about}, coordination_timeout 4s: all of its buckets go on after {statistics.median(took):.2f} s,"
              f" worst {max(took):.2f} s, of {len(took)}", flush=True)


def one_lost(farm, buckets, i):
    """Killed while it fills: seconds until each of its buckets has more rows, at another node."""
    farm.create("--buckets", str(buckets), "--rate", str(farm.rows // 25), "--chunk", "100")
    node = farm.nodes[1 + i % (NODES - 1)]
    me = farm.id_of(node)

    def full():
        mine = {b[0]: b[2] for b in farm.jobs() or [] if b[1] == "running" and me in b[3] and b[2] > 0}
        return len(mine) == min(buckets // NODES, AT_ONCE) and mine
    theirs = wait_until("it fills its share", full, 60, 0.02)
    node.kill()
    since = time.monotonic()

    def go_on():
        return all(b[1] == "done" or (me not in b[3] and b[2] > theirs[b[0]]) for b in farm.jobs() if b[0] in theirs)
    wait_until("its buckets go on elsewhere", go_on, 120, 0.02)
    took = time.monotonic() - since
    print(f"  round {i}: {len(theirs)} buckets after {took:.2f} s", flush=True)
    farm.set_rate(0)
    wait_until("the build is over", lambda: farm.jobs() is None, 120, 0.1)
    node.start()
    farm.wait_shared(*range(NODES))
    return took


PARTS = {"far": (far, True), "stream": (stream, True), "near": (near, False), "lost": (lost, False)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=200000)
    parser.add_argument("--near-rows", type=int, help="of the part near; as many if not given")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--delay", type=float, default=10)
    parser.add_argument("--store-delay", type=float, default=0, help="the same of the store, for all nodes")
    parser.add_argument("--chunk", type=int, default=200, help="rows of a statement, far away")
    parser.add_argument("--buckets", type=int, default=16)
    parser.add_argument("--counts", type=int, nargs="+", default=[1, 2, 4], help="of nodes")
    parser.add_argument("--builds", choices=["polite", "greedy"], default="greedy", help="delivery.builds")
    parser.add_argument("--changes", type=int, default=200)
    parser.add_argument("--losses", type=int, default=5)
    parser.add_argument("--engine", choices=["fake", "real"], default="fake")
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS))
    options = parser.parse_args()
    for name in options.only:
        part, is_far = PARTS[name]
        with bench_world(f"fills_{name}", fake=options.engine == "fake") as w:
            farm = Farm(w, settings_of(options, name), is_far).start()
            part(farm, farm.options)
            farm.end()


def settings_of(options, name):
    """Near, chunks are as large as they are by default; what the stream pays is asked of the default, too."""
    made = argparse.Namespace(**vars(options))
    if name == "near":
        made.chunk, made.rows = 5000, options.near_rows or options.rows
    if name == "stream":
        made.builds = "polite"
    return made


if __name__ == "__main__":
    main()

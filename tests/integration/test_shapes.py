"""Random documents under random work and kills: every index is what the naive model says.

Each seed has databases, definitions, rows and transactions of its own, and says nothing of the other seeds;
SHARED of them share a daemon, its limits, and the moments at which it is killed.  Of every fourth such round
the tables are on two servers of different kinds.  One that fails can be run alone, with all of that as it was:
run.py --only shapes.seeds --seed N --seeds 1.
"""
import io
import os
import random
import threading
import time

import exchanging
import judge
import oracle
import pymysql
import random_coverage
import sharing
from abroad import Abroad
from random_shape import ALTERS, PHASES, QUIET, Shape
from servers import Failed, let_pass, wait_until

SHARED = 30  # seeds
CLIENTS = 3
SECONDS = 300  # for what others wait for
STILL = 120  # seconds without a request to the engine or a build that ends, after which nothing more is hoped for: twenty
             # builds that end together are finished one after the other, some seconds each beside other tests
ENOUGH = 300  # seeds, in which every feature is; a run of at least a third of them looks at so many, played or not


def on_two_servers(seed):
    return seed // SHARED % 4 == 3


class Client(threading.Thread):
    """Runs the transactions of several shapes, in turns."""

    def __init__(self, servers, schema, lists, tell, pause):
        super().__init__(daemon=True)
        self.lists, self.tell, self.pause, self.error = lists, tell, pause, None
        self.connections = {name: server.connect(schema) for name, server in servers.items()}

    def run(self):
        try:
            cursors = {name: connection.cursor() for name, connection in self.connections.items()}
            for cursor in cursors.values():
                cursor.execute("SET sql_mode = '', time_zone = '+00:00', innodb_lock_wait_timeout = 2")
            for turn in range(max(map(len, self.lists), default=0)):
                for transactions in self.lists:
                    if turn < len(transactions):
                        server, statements = transactions[turn]
                        self.transaction(cursors[server], statements)
                        self.tell()
        except Exception as e:
            self.error = e
        finally:
            for connection in self.connections.values():
                connection.close()
            self.tell(0)

    def transaction(self, cursor, statements):
        for statement in statements:
            try:
                cursor.execute(statement)
            except (pymysql.err.IntegrityError, pymysql.err.DataError):
                pass  # refused, and nothing has changed
            except pymysql.err.ProgrammingError as e:
                if e.args[0] != 1146:  # the table comes later
                    raise
            except pymysql.err.OperationalError as e:
                if e.args[0] not in (1205, 1213):
                    raise
                cursor.execute("ROLLBACK")  # it met another client's transaction
                break
        if self.pause:
            let_pass("the rhythm of its work", self.pause)


def start_build(daemon, table):
    """Whether the table is being built now: a daemon that was killed does not say."""
    done = daemon.command("index", "create", table, "--no-wait", ok=None)
    return done.returncode == 0 or "already being built" in done.stderr


class Round:
    """A daemon that follows many shapes, works through their phases, and is killed meanwhile."""

    def __init__(self, w, seeds):
        self.w, self.rng = w, random.Random(f"round {seeds[0] // SHARED}")
        two = on_two_servers(seeds[0])
        self.abroad = Abroad(w) if two else None
        self.servers = {"": w.db} | ({"abroad": self.abroad.server} if two else {})
        self.shapes = [Shape(seed, w.index, two) for seed in seeds]
        self.limits = [self.some_limits() for _ in range(12)]
        self.kills = [sorted(self.rng.random() for _ in range(self.rng.choice([1, 2, 3]))) for _ in range(PHASES)]
        self.kills += [[]] * (QUIET + ALTERS)
        self.index = exchanging.of_coin(seeds[0] // SHARED)
        self.away = [self.rng.random() * 0.2 for _ in range(12)]  # for which share of a phase it stays killed
        self.done, self.changed = 0, threading.Condition()
        self.killed = self.documents = self.in_parts = 0

    def some_limits(self):
        """Settings of delivery, small enough to be reached."""
        rng = self.rng
        batch, window = rng.choice([1, 2, 7, 50, "auto"]), rng.choice(["1ms", "50ms", "200ms"])
        # A late write of a daemon that was killed may undo what another server changed: for two request timeouts.
        return {"delivery": {"request_timeout": "10s",
                             "workers": rng.choice([1, 3, 10]) if batch != 1 else 10, "helpers": rng.choice([1, 2, 10]),
                             "batch_max": batch, "batch_min": 1 if batch == 1 else rng.choice([1, 2]),
                             "batch_bytes": rng.choice(["64KiB", "8MiB"]), "flush_interval": "100ms",
                             "load_batch": rng.choice([1, 3, 20, 500] if window == "1ms" else [20, 500]), "loads": rng.choice([1, 2, 4]),
                             "bytes": rng.choice(["1MiB", "64MiB"]), "read_window": window}}

    def definitions(self):
        shapes, found = self.shapes, (self.abroad or self.w).definitions()
        return found | {
            "databases": [{"name": name, "topic": server or self.w.schema} for shape in shapes
                          for server, name in shape.databases],
            "tables": [table for shape in shapes for table in shape.tables]}

    def begin(self):
        for shape in self.shapes:
            shape.create(self.servers)
        self.daemon = self.w.millrace(**self.limits.pop(), **self.index)
        self.daemon.apply(self.definitions())
        self.says = oracle.Definitions([os.path.join(self.daemon.folder, "definitions.yaml")])

    def ask_for_builds(self, shapes):
        """While work goes on and the daemon is killed; blocks until each index is built or being built."""
        for shape in shapes:
            for name in shape.indexes().values():
                wait_until(f"{name} is being built", lambda n=name: start_build(self.daemon, n), SECONDS)

    def run(self):
        try:
            self.begin()
            builds = [threading.Thread(target=self.ask_for_builds, args=(self.shapes[n::CLIENTS],), daemon=True)
                      for n in range(CLIENTS)]
            for thread in builds:
                thread.start()
            for number in range(PHASES + QUIET + ALTERS):
                self.work(number)
                for thread in builds:
                    thread.join()
                wait_until("every index is built", self.are_built, SECONDS, 0.5)
                self.judge(number)
                if number < PHASES + QUIET:  # an ALTER then changes rows without a word, and a build follows
                    exchanging.found_nothing(self.daemon)
            if self.index:
                self.exchange()
            if self.daemon.stop() != 0:
                raise Failed("SIGTERM did not end the daemon well")
        finally:
            self.daemon.kill_if_running()
            for shape in self.shapes:
                shape.drop(self.servers)

    # -- work

    def tell(self, transactions=1):
        with self.changed:
            self.done += transactions
            self.changed.notify_all()

    def clients(self, number):
        """The shapes' transactions of a phase, dealt to clients; those of some shapes to two at once."""
        lists = [[] for _ in range(CLIENTS)]
        for at, shape in enumerate(self.shapes):
            for share in range(shape.clients):
                lists[(at + share) % CLIENTS].append(shape.phases[number][share::shape.clients])
        total = sum(len(transactions) for some in lists for transactions in some)
        pause = 0.05 if number == 0 or len(self.shapes) < SHARED / 2 else 0  # so that builds and kills meet work
        return [Client(self.servers, self.w.schema, some, self.tell, pause) for some in lists], total

    def work(self, number):
        clients, total = self.clients(number)
        self.done = 0
        for client in clients:
            client.start()
        for share in self.kills[number]:
            self.reach(share * total, clients)
            self.daemon.kill()
            self.killed += 1
            self.reach(min(share + self.away.pop(), 1) * total, clients)
            self.daemon.configure(**self.limits.pop())
            self.daemon.start(wait=self.rng.random() < 0.5)
        for client in clients:
            client.join()
            if client.error:
                raise client.error
        self.daemon.start()

    def reach(self, count, clients):
        """Waits until so many transactions of the phase are done, or all."""
        with self.changed:
            self.changed.wait_for(lambda: self.done >= count or any(c.error for c in clients), SECONDS)

    # -- judgement

    def exchange(self):
        """All is equal, and so must the trees say; a daemon that has just started puts off none for an hour."""
        if self.daemon.stop() != 0:
            raise Failed("SIGTERM did not end the daemon well")
        since, size = time.monotonic(), os.path.getsize(self.daemon.log)
        self.daemon.start()
        entries = sum(int(its["documents"]) for its in exchanging.tell_nothing(self.daemon, SECONDS, size).values())
        print(f"# trees of {entries} documents exchanged in {time.monotonic() - since:.1f} s", flush=True)

    def aliases(self):
        """{version of an index: alias} of all that have been built."""
        found = self.w.engine.ask("GET", f"/{self.w.schema}-*/_alias")
        return {name: alias for name, entry in found.items() for alias in entry["aliases"] if not alias.endswith("_write")}

    def are_built(self):
        """A build whose index was being made when the daemon was killed wants to be asked for again."""
        self.daemon.check_alive()
        built = set(self.aliases().values())
        left = [name for shape in self.shapes for index, name in shape.indexes().items() if index not in built]
        for name in left:
            start_build(self.daemon, name)
        return not left

    def actual(self):
        """{index: {_id: document}} of all shapes."""
        aliases = self.aliases()
        found = {index: {} for shape in self.shapes for index in shape.indexes()}
        for hit in self.w.engine.hits(f"{self.w.schema}-*"):
            if aliases.get(hit["_index"]) in found:
                placed = {"_routing": hit["_routing"]} if "_routing" in hit else {}
                found[aliases[hit["_index"]]][hit["_id"]] = oracle.without_ours(hit["_source"]) | placed
                self.in_parts += "areas" in hit["_source"].get("_millrace", {})
        return found

    def expected(self):
        """{shape: {index: {_id: document}}} as the databases are now."""
        opened = {name: server.connect(conv={}) for name, server in self.servers.items()}
        home = opened.pop("")
        try:
            seer = oracle.Oracle(home, self.says, opened)
            return {shape: {table["index"]: self.model(seer, table) for table in shape.tables}
                    for shape in self.shapes}
        finally:
            for connection in (home, *opened.values()):
                connection.close()

    def model(self, seer, table):
        if sharing.is_shared(table):
            return sharing.documents(seer, judge.index_of, table["index"])
        found = dict(seer.documents(table["table"]))
        documents = {key: document for key, document in found.items() if not isinstance(document, oracle.DeadLetter)}
        self.refused[table["table"]] = len(found) - len(documents)
        return documents

    def accept(self):
        """What an operator does with a version that waits for its dead letters: they are the documents that cannot be."""
        for table in self.daemon.status()["tables"]:
            wait = table["wait"]
            if wait and wait["dead_letters"] == self.refused.get(table["table"], wait["dead_letters"]):
                self.daemon.command("index", "cutover", table["table"], "--accept-dead-letters", str(wait["dead_letters"]),
                                    "--no-wait", ok=None)

    def judge(self, number):
        self.refused = {}  # table: documents that the model cannot make, of indexes that are not shared
        expected = self.expected()
        wrong, actual = self.shapes, None
        before = self.in_parts

        def right():
            nonlocal wrong, actual
            self.daemon.check_alive()
            self.in_parts = before
            actual = self.actual()
            wrong = [shape for shape in wrong if self.reports(expected[shape], actual)]
            if wrong:
                self.accept()
            return not wrong

        wait_until(lambda: self.standing() + "".join(self.report(s, number, expected[s], actual) for s in wrong), right, STILL,
                   0.2, progress=self.moves)
        self.documents += sum(len(documents) for found in expected.values() for documents in found.values())

    def moves(self):
        """What changes as long as there is something to hope for: builds that end one after the other send nothing."""
        status = self.daemon.status()
        return status["delivery"]["requests"], [(t["table"], t["version"], t["build"] and t["build"]["phase"]) for t in status["tables"]]

    def standing(self):
        """What the daemon is at: where it does not come to its end, documents are stale rather than wrong."""
        status = self.daemon.status()
        asked = [row for server in self.servers.values() for row in server.sql(
            "SELECT time, LEFT(info, 3000) FROM information_schema.processlist WHERE user = 'millrace'"
            " AND info IS NOT NULL AND time > 3")]
        behind = {topic["name"]: topic["lag_bytes"] for topic in status["topics"]}
        unwell = [t for t in status["tables"] if t["state"] != "available"]
        return (f"delivery {status['delivery']}, changes {status['changes']}, bytes behind {behind}, tables {unwell}; "
                f"long statements {asked}\n").replace("Decimal", "")

    @staticmethod
    def reports(expected, actual):
        """What differs, by index."""
        found = []
        for index, documents in expected.items():
            out = io.StringIO()
            if not oracle.compare(documents, actual[index], show=3, out=out):
                found.append(f"{index}: {out.getvalue()}")
        return found

    def report(self, shape, number, expected, actual):
        path = self.daemon.write(f"seed-{shape.seed}.sql", shape.script())
        return (f"seed {shape.seed} after phase {number + 1} (run.py --only shapes.seeds --seed {shape.seed} --seeds 1; {path}):\n"
                + "".join(self.reports(expected, actual)))


def more_tests(options):
    """A test for each round of the seeds."""
    seeds, tests = list(range(options.seed, options.seed + (options.seeds or 0))), {}
    for number in sorted({seed // SHARED for seed in seeds}):
        mine = [seed for seed in seeds if seed // SHARED == number]
        where = "_on_two_servers" if on_two_servers(mine[0]) else ""
        tests[f"test_seeds_{mine[0]}_to_{mine[-1]}{where}_end_equal_to_the_model"] = make_test(mine)
    if len(seeds) >= ENOUGH // 3:
        looked_at = range(options.seed, options.seed + min(max(len(seeds), ENOUGH), ENOUGH * 2))
        tests["test_seeds_have_every_feature"] = lambda w: tell_features(looked_at)
    return tests


def features(seeds):
    return random_coverage.of(Shape(seed, str, on_two_servers(seed)) for seed in seeds)


def tell_features(seeds):
    found, end = features(seeds), seeds.stop
    print("\n".join(f"# {line}" for line in random_coverage.lines(found)), flush=True)
    missing = [name for name, seeds_with in found.items() if not seeds_with]
    while missing and end < seeds.start + 10 * ENOUGH:  # a rare one may be in none of a few hundred
        more, end = features(range(end, end + ENOUGH)), end + ENOUGH
        missing = [name for name in missing if not more[name]]
    if missing:
        raise Failed(f"in none of {end - seeds.start} seeds: {', '.join(missing)}")


def make_test(seeds):
    def test(w):
        whole = Round(w, seeds)
        whole.run()
        print(f"# {len(seeds)} seeds, {whole.killed} kills, {whole.documents} documents judged, {whole.in_parts} of them "
              "written in parts", flush=True)
        if whole.documents < len(seeds):
            raise Failed(f"{whole.documents} documents of {len(seeds)} seeds: too few to tell anything")
    return test

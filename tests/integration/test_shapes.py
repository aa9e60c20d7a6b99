"""Random documents under random work and kills: every index is what the naive model says.

Each seed has databases, definitions, rows and transactions of its own, and says nothing of the other seeds;
SHARED of them share a daemon, its limits, and the moments at which it is killed.  One that fails can be
run alone, with all of that as it was: run.py --only shapes --seed N --seeds 1.
"""
import io
import os
import random
import threading
import time

import oracle
import pymysql
from random_case import Case
from random_tables import APPLIED
from random_work import Work
from servers import Failed, wait_until

SHARED = 30  # seeds
PHASES = 3  # of work and kills, each judged
QUIET = 2  # after these: of a few changes, which nothing that is under way makes good
CLIENTS = 3
SECONDS = 120  # for what others wait for
STILL = 30  # seconds without a request to the engine, after which nothing more is hoped for


def some_areas(rng, table):
    """Some relations are written alone; documents are the same."""
    for relation in table.get("relations", []):
        if rng.random() < 0.4:
            relation["refresh"] = "area"
        some_areas(rng, relation)


class Shape:
    """One seed: what stands in the server, what is done to it, and what its documents must be."""

    def __init__(self, w, seed):
        self.seed, self.rng = seed, random.Random(seed)
        case = Case(seed, [f"s{seed}", f"s{seed}b"], APPLIED)
        self.databases, self.tables = case.databases, case.definitions(case.rng.choice([1, 1, 1, 1, 2]))
        for number, table in enumerate(self.tables):
            table["index"] = w.index(f"{seed}-{number}")
            table["settings"] = {"number_of_shards": 1, "number_of_replicas": 0}
            some_areas(random.Random(f"areas of {seed}"), table)
        self.schema = [t.create() for t in case.tables]
        self.rows = list(case.first_rows())
        work = Work(case.rng, case.tables)
        self.phases = [[work.transaction() for _ in range(case.rng.randint(4, 20))] for _ in range(PHASES)]
        named = case.named(self.tables)
        self.phases += [[work.small_transaction(named) for _ in range(4)] for _ in range(QUIET)]
        self.clients = case.rng.choice([1, 1, 2])

    def create(self, w):
        w.db.sql(*(f"CREATE DATABASE {name} CHARACTER SET utf8mb4" for name in self.databases),
                 *(f"GRANT SELECT ON {name}.* TO millrace@'127.0.0.1'" for name in self.databases), *self.schema,
                 "SET sql_mode = '', time_zone = '+00:00'", *self.rows)

    def drop(self, w):
        w.db.sql("SET lock_wait_timeout = 20", *(f"DROP DATABASE IF EXISTS {name}" for name in self.databases))

    def expected(self, w, path):
        """{index: {_id: document}} as the database is now."""
        connection = w.db.connect(conv={})
        try:
            seer = oracle.Oracle(connection, oracle.Definitions([path]))
            return {t["index"]: {key: document for key, document in seer.documents(t["table"])
                                 if not isinstance(document, oracle.DeadLetter)} for t in self.tables}
        finally:
            connection.close()

    def script(self):
        """Everything that its clients send, for the report."""
        phases = [f"-- phase {n}\n" + "\n".join(";\n".join(t) + ";" for t in phase)
                  for n, phase in enumerate(self.phases, 1)]
        return ";\n".join(self.schema + self.rows) + ";\n" + "\n".join(phases) + "\n"


class Client(threading.Thread):
    """Runs the transactions of several shapes, in turns."""

    def __init__(self, w, lists, tell, pause):
        super().__init__(daemon=True)
        self.lists, self.tell, self.pause, self.error = lists, tell, pause, None
        self.connection = w.db.connect(w.schema)

    def run(self):
        try:
            with self.connection.cursor() as cursor:
                cursor.execute("SET sql_mode = '', time_zone = '+00:00', innodb_lock_wait_timeout = 2")
                for turn in range(max(map(len, self.lists), default=0)):
                    for transactions in self.lists:
                        if turn < len(transactions):
                            self.transaction(cursor, transactions[turn])
                            self.tell()
        except Exception as e:
            self.error = e
        finally:
            self.connection.close()
            self.tell(0)

    def transaction(self, cursor, statements):
        for statement in statements:
            try:
                cursor.execute(statement)
            except (pymysql.err.IntegrityError, pymysql.err.DataError):
                pass  # refused, and nothing has changed
            except pymysql.err.OperationalError as e:
                if e.args[0] not in (1205, 1213):
                    raise
                cursor.execute("ROLLBACK")  # it met another client's transaction
                break
        if self.pause:
            time.sleep(self.pause)


def start_build(daemon, table):
    """Whether the table is being built now: a daemon that was killed does not say."""
    done = daemon.command("index", "create", table, "--no-wait", ok=None)
    return done.returncode == 0 or "already being built" in done.stderr


class Round:
    """A daemon that follows many shapes, works through their phases, and is killed meanwhile."""

    def __init__(self, w, seeds):
        self.w, self.rng = w, random.Random(f"round {seeds[0] // SHARED}")
        self.shapes = [Shape(w, seed) for seed in seeds]
        self.limits = [self.some_limits() for _ in range(12)]
        self.kills = [sorted(self.rng.random() for _ in range(self.rng.choice([1, 2, 3]))) for _ in range(PHASES)]
        self.kills += [[]] * QUIET
        self.away = [self.rng.random() * 0.2 for _ in range(12)]  # for which share of a phase it stays killed
        self.done, self.changed = 0, threading.Condition()
        self.killed = self.documents = self.in_parts = 0

    def some_limits(self):
        """Settings of delivery, small enough to be reached."""
        rng = self.rng
        batch = rng.choice([1, 2, 7, 50, "auto"])
        return {"delivery": {"workers": rng.choice([1, 3, 10]) if batch != 1 else 10, "helpers": rng.choice([1, 2, 10]),
                             "batch_max": batch, "batch_min": 1 if batch == 1 else rng.choice([1, 2]),
                             "batch_bytes": rng.choice(["64KiB", "8MiB"]), "flush_interval": "100ms",
                             "load_batch": rng.choice([1, 3, 20, 500]), "loads": rng.choice([1, 2, 4]),
                             "bytes": rng.choice(["1MiB", "64MiB"])}}

    def definitions(self):
        shapes = self.shapes
        return self.w.definitions() | {
            "databases": [{"name": name, "topic": self.w.schema} for shape in shapes for name in shape.databases],
            "tables": [table for shape in shapes for table in shape.tables]}

    def begin(self):
        for shape in self.shapes:
            shape.create(self.w)
        self.daemon = self.w.millrace(**self.limits.pop())
        self.daemon.apply(self.definitions())

    def ask_for_builds(self, shapes):
        """While work goes on and the daemon is killed; blocks until each index is built or being built."""
        for shape in shapes:
            for table in shape.tables:
                wait_until(f"{table['table']} is being built", lambda t=table["table"]: start_build(self.daemon, t), SECONDS)

    def run(self):
        try:
            self.begin()
            builds = [threading.Thread(target=self.ask_for_builds, args=(self.shapes[n::CLIENTS],), daemon=True)
                      for n in range(CLIENTS)]
            for thread in builds:
                thread.start()
            for number in range(PHASES + QUIET):
                self.work(number)
                for thread in builds:
                    thread.join()
                wait_until("every index is built", self.are_built, SECONDS, 0.5)
                self.judge(number)
            if self.daemon.stop() != 0:
                raise Failed("SIGTERM did not end the daemon well")
        finally:
            self.daemon.kill_if_running()
            for shape in self.shapes:
                shape.drop(self.w)

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
        return [Client(self.w, some, self.tell, pause) for some in lists], total

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

    def aliases(self):
        """{version of an index: alias} of all that have been built."""
        found = self.w.engine.ask("GET", f"/{self.w.schema}-*/_alias")
        return {name: alias for name, entry in found.items() for alias in entry["aliases"] if not alias.endswith("_write")}

    def are_built(self):
        """A build whose index was being made when the daemon was killed wants to be asked for again."""
        self.daemon.check_alive()
        built = set(self.aliases().values())
        left = [t for shape in self.shapes for t in shape.tables if t["index"] not in built]
        for table in left:
            start_build(self.daemon, table["table"])
        return not left

    def actual(self):
        """{index: {_id: document}} of all shapes."""
        aliases = self.aliases()
        found = {t["index"]: {} for shape in self.shapes for t in shape.tables}
        for hit in self.w.engine.hits(f"{self.w.schema}-*"):
            if aliases.get(hit["_index"]) in found:
                found[aliases[hit["_index"]]][hit["_id"]] = oracle.without_ours(hit["_source"])
                self.in_parts += "areas" in hit["_source"].get("_millrace", {})
        return found

    def judge(self, number):
        path = os.path.join(self.daemon.folder, "definitions.yaml")
        expected = {shape: shape.expected(self.w, path) for shape in self.shapes}
        wrong, requests, since = self.shapes, None, time.monotonic()
        before = self.in_parts
        while wrong and time.monotonic() < since + STILL:
            self.daemon.check_alive()
            self.in_parts = before
            actual = self.actual()
            wrong = [shape for shape in wrong if self.reports(expected[shape], actual)]
            if wrong and requests != (now := self.daemon.json("status")["delivery"]["requests"]):
                requests, since = now, time.monotonic()
            time.sleep(0.2 if wrong else 0)
        self.documents += sum(len(documents) for found in expected.values() for documents in found.values())
        if wrong:
            raise Failed(self.standing() + "".join(self.report(s, number, expected[s], actual) for s in wrong))

    def standing(self):
        """What the daemon is at: where it does not come to its end, documents are stale rather than wrong."""
        status = self.daemon.json("status")
        asked = self.w.db.sql("SELECT time, LEFT(info, 3000) FROM information_schema.processlist WHERE user = 'millrace'"
                              " AND info IS NOT NULL AND time > 3")
        return (f"delivery {status['delivery']}, changes {status['changes']}, {status['topics'][0]['lag_bytes']} bytes behind; "
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
        return (f"seed {shape.seed} after phase {number + 1} (run.py --only shapes --seed {shape.seed} --seeds 1; {path}):\n"
                + "".join(self.reports(expected, actual)))


def more_tests(options):
    """A test for each round of the seeds."""
    seeds, tests = list(range(options.seed, options.seed + (options.seeds or 0))), {}
    for number in sorted({seed // SHARED for seed in seeds}):
        mine = [seed for seed in seeds if seed // SHARED == number]
        tests[f"test_seeds_{mine[0]}_to_{mine[-1]}_end_equal_to_the_model"] = make_test(mine)
    return tests


def make_test(seeds):
    def test(w):
        whole = Round(w, seeds)
        whole.run()
        print(f"# {len(seeds)} seeds, {whole.killed} kills, {whole.documents} documents judged, {whole.in_parts} of them "
              "written in parts", flush=True)
        if whole.documents < len(seeds):
            raise Failed(f"{whole.documents} documents of {len(seeds)} seeds: too few to tell anything")
    return test

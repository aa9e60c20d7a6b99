#!/usr/bin/env python3
"""How late others are while Millrace builds an index, and what their haste costs the build.

    beside.py [--rounds 3] [--rows 600000] [--kinds polite greedy] [--alone] [--keep]

A large flat table is built again and again, by turns with each setting of `delivery.builds`.  Meanwhile a client
changes single rows of a small table, one every 50 to 100 ms, and measures each from its COMMIT until the engine gives
the new document by id; and another one writes single documents to an index that is not Millrace's, as often, and
measures the engine's answer.  Both end with the last answer to the build.  Prints their medians and p99 in ms, all
rounds together, and the build's documents a second, the median of the rounds, until its last answer and until its
alias has moved.  `idle`: the same with no build.  --alone: builds with no client beside them, too.  MILLRACE names the
daemon's program; --kinds today: one that has no such setting.
"""
import argparse
import http.client
import json
import random
import statistics
import sys
import threading
import time

import run  # first: it knows where the others are
from bench_world import percentile
from servers import Failed

NOTE = {"table": "bench.note", "index": "bench-note"}
NOTES = 1000
ROWS_AT_SCALE_1 = 500_000
IDLE_SECONDS = 10
FOREIGN = "beside-foreign"


class Client(threading.Thread):
    """Does one thing after another until it is told to end, and keeps how many ms each took."""

    def __init__(self, port):
        super().__init__()
        self.engine = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.n, self.took, self.failed = 0, [], None
        self.is_over = threading.Event()
        self.random = random.Random(1)

    def run(self):
        try:
            while not self.is_over.wait(self.random.uniform(0.05, 0.1)):
                self.n += 1
                self.took.append(self.one() * 1000)
        except Exception as e:  # pylint: disable=broad-exception-caught
            self.failed = e

    def ask(self, method, path, body=None):
        self.engine.request(method, path, body, {"Content-Type": "application/json"})
        answer = self.engine.getresponse()
        return answer.status, answer.read()

    def end(self):
        self.is_over.set()
        self.join()
        if self.failed is not None:
            raise self.failed
        return self.took


class Changes(Client):
    """Single rows of the small table."""

    def __init__(self, bench):
        super().__init__(bench.engine.port)
        self.connection = bench.db.connect(run.SCHEMA)
        self.mark = time.monotonic_ns()

    def one(self):
        key, text = self.n % NOTES + 1, f"{self.mark} {self.n}"
        with self.connection.cursor() as cursor:
            cursor.execute(f"UPDATE note SET text = '{text}' WHERE id = {key}")
        self.connection.commit()
        since = time.monotonic()
        while not self.shows(key, text):
            if time.monotonic() - since > 60:
                raise Failed("a change was not seen within 60 s")
            time.sleep(0.001)
        return time.monotonic() - since

    def shows(self, key, text):
        status, body = self.ask("GET", f"/{NOTE['index']}/_source/{key}")
        return status == 200 and json.loads(body)["text"] == text


class Writes(Client):
    """Single documents of an index that is not Millrace's."""

    def __init__(self, bench):
        super().__init__(bench.engine.port)

    def one(self):
        since = time.monotonic()
        status, body = self.ask("PUT", f"/{FOREIGN}/_doc/{self.n % NOTES}", json.dumps({"text": f"foreign {self.n}"}))
        if status not in (200, 201):
            raise Failed(f"the foreign write was answered {status}: {body[:200]}")
        return time.monotonic() - since


class Beside(run.Bench):
    def __init__(self, options):
        options.quick = False
        super().__init__(options)
        self.scale = options.rows / ROWS_AT_SCALE_1
        self.results["rows"] = options.rows

    def start(self):
        super().start()
        self.db.sql("CREATE TABLE note (id INT NOT NULL PRIMARY KEY, text VARCHAR(80))",
                    f"INSERT INTO note SELECT i, CONCAT('note ', i) FROM number WHERE i <= {NOTES}", schema=run.SCHEMA)
        self.rows = int(self.db.sql("SELECT COUNT(*) FROM flat", schema=run.SCHEMA)[0][0])
        shape = {"number_of_shards": 1, "number_of_replicas": 0}
        self.daemon.apply({
            "topics": [{"name": "bench", "address": f"127.0.0.1:{self.db.port}", "user": "millrace",
                        "password_file": "source.password"}],
            "databases": [{"name": "bench", "topic": "bench"}],
            "tables": [dict(t, settings=dict(shape)) for t in (run.FLAT, NOTE)]})
        self.daemon.build(NOTE["table"])
        self.engine.ask("PUT", f"/{FOREIGN}", json.dumps({"settings": shape}))

    def meanwhile(self, work):
        """What work gives, and the times of both clients while it went on."""
        clients = [Changes(self), Writes(self)]
        for c in clients:
            c.start()
        try:
            return work(clients)
        finally:
            for c in clients:
                c.is_over.set()

    def build_beside(self, clients):
        before = self.leads_to(run.FLAT)
        indexed = self.counted("millrace_indexed_total")
        since = time.monotonic()
        self.daemon.command("index", "create", run.FLAT["table"], "--no-wait")
        self.wait_for("millrace_indexed_total", indexed, self.rows)
        answered = time.monotonic() - since
        took = [c.end() for c in clients]
        while self.leads_to(run.FLAT) in (None, before):
            time.sleep(0.05)
        moved = time.monotonic() - since
        time.sleep(1)
        self.daemon.command("index", "delete", run.FLAT["table"], "--yes", ok=None)
        return took, self.rows / answered, self.rows / moved

    def idle(self, clients):
        time.sleep(IDLE_SECONDS)
        return [c.end() for c in clients]

    def choose(self, kind):
        if kind != "today":
            self.daemon.command("config", "delivery", "set", f"builds={kind}")

    def one(self, kind, has_clients):
        self.choose(kind)
        before = self.cpu()
        done = self.meanwhile(self.build_beside) if has_clients else self.build_beside([])
        after = self.cpu()
        daemon, engine = (after[p] - before.get(p, 0) for p in (self.daemon.process.pid, self.engine.pid()))
        name = kind if has_clients else f"{kind}, alone"
        took = "".join(f"; {what} p50 {percentile(ms, 50):.0f} p99 {percentile(ms, 99):.0f} ms ({len(ms)})"
                       for what, ms in zip(("changes", "foreign writes"), done[0]))
        run.say(f"{name}: {done[1]:,.0f} documents/s, {done[2]:,.0f} until the alias moved{took};"
                f" processor s: engine {engine:.1f}, daemon {daemon:.1f}")
        self.kept.setdefault(name, []).append(done)

    def all(self):
        self.kept = {}
        run.say("warming up")
        self.build(run.FLAT, self.rows)
        idle = self.meanwhile(self.idle)
        kinds = [(k, True) for k in self.options.kinds] + [(k, False) for k in self.options.kinds if self.options.alone]
        for i in range(self.rounds):
            for kind in kinds[i % len(kinds):] + kinds[:i % len(kinds)]:
                self.one(*kind)
        self.results["beside"] = {"idle": {"ms": self.times([idle])}} | {
            name: {"rate": round(statistics.median(r[1] for r in rounds)),
                   "rate_moved": round(statistics.median(r[2] for r in rounds)),
                   "rates": [round(r[1]) for r in rounds], "ms": self.times([r[0] for r in rounds])}
            for name, rounds in self.kept.items()}

    @staticmethod
    def times(rounds):
        """Median, p99 and number of changes and of foreign writes, of all rounds together."""
        return [[round(percentile(ms, 50), 1), round(percentile(ms, 99), 1), len(ms)]
                for ms in (sum(of, []) for of in zip(*rounds))]

    def table(self):
        lines = ["| build | documents/s | until the alias moved | changes: median, p99 ms | foreign writes: median, p99 ms |",
                 "|---|---|---|---|---|"]
        for name, r in self.results["beside"].items():
            ms = [f"{t[0]}, {t[1]}" for t in r["ms"]] or ["", ""]
            lines.append(f"| {name} | {r.get('rate', 0):,} | {r.get('rate_moved', 0):,} | {ms[0]} | {ms[1]} |")
        return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=600_000)
    parser.add_argument("--kinds", nargs="+", choices=["polite", "greedy", "today"], default=["polite", "greedy"])
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--keep", action="store_true")
    run.measure(Beside(parser.parse_args()), ["all"], "bench_beside.json")
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""How fast Millrace is, and how fast the same engine takes the same documents from a raw client.

    run.py [--quick] [--rounds 5] [--only flat|orders|latency ...] [--raw 3x1024] [--keep]

Own servers on own ports under tests/run/, shipped defaults, a warm engine.  Millrace and the raw client
take turns; the median of the rounds counts.  Load: building an index of a warm table.  Stream: a
backlog that was finished while the daemon was away, drained from its start on, with an idle server.
The raw client is tried with every number of connections and size of requests first; the best of them are
tried again, and the one with the best median is what Millrace is measured against.  --raw: connections
and KiB that are known to be best, from an earlier run.
Prints a table and writes tests/run/bench.json.  --quick: a twentieth of the data, one round.
"""
import argparse
import http.client
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "integration"))
import oracle  # noqa: E402
import servers  # noqa: E402
from servers import RUN, Database, Engine, Failed, Millrace, wait_until  # noqa: E402

RAW = os.path.join(os.path.dirname(servers.BINARY), "tests", "bench", "bulk_raw")
SCHEMA, PASSWORD = "bench", "bench"
# What a raw client may choose, the best of these counts: connections, and KiB a request.
RAW_CONNECTIONS, RAW_KIB = (1, 2, 3, 4, 8), (256, 512, 1024, 2048, 4096, 8192)
RAW_FINALISTS, RAW_FINALS = 3, 2  # so many of them are tried so often again
RAW_WARM = 10  # runs in a known shape, as the engine's compiler has hardly begun
TICKS = os.sysconf("SC_CLK_TCK")

FLAT = {"table": "bench.flat", "index": "bench-flat"}
ORDERS = {
    "table": "bench.orders", "index": "bench-orders", "columns": ["id", "status", "created", "total"],
    "relations": [
        {"from": "customer_id", "table": "bench.customer", "to": "id", "as": "customer", "columns": ["id", "name", "city"]},
        {"from": "id", "table": "bench.order_item", "to": "order_id", "as": "items", "many": True, "nested": True,
         "columns": ["id", "qty", "price"],
         "relations": [{"from": "product_id", "table": "bench.product", "to": "id", "as": "product",
                        "columns": ["id", "name"]}]}]}


class Bench:
    def __init__(self, options):
        self.options = options
        self.rounds = 1 if options.quick else options.rounds
        self.scale = 0.05 if options.quick else 1
        self.db, self.engine = Database("mariadb", "bench-database"), Engine("bench-engine")
        self.results = {"machine": machine(), "scale": self.scale, "rounds": self.rounds}
        self.version = 1 << 60  # the raw client's documents are newer every time

    # -- the surroundings

    def start(self):
        self.db.start("--innodb-buffer-pool-size=1G", "--innodb-log-file-size=512M")
        self.engine.heap, self.engine.compiler = "2g", "full"
        self.engine.start()
        user = "millrace@'127.0.0.1'"
        self.db.sql(f"DROP DATABASE IF EXISTS {SCHEMA}", f"CREATE DATABASE {SCHEMA} CHARACTER SET utf8mb4",
                    f"CREATE OR REPLACE USER {user} IDENTIFIED BY '{PASSWORD}'",
                    f"GRANT REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO {user}",
                    f"GRANT SELECT ON {SCHEMA}.* TO {user}")
        say("making the data")
        with open(os.path.join(HERE, "data.sql"), encoding="utf-8") as f:
            self.client(f"SET @scale = {self.scale};\n" + f.read())
        self.db.sql("RESET MASTER")
        self.daemon = Millrace("bench", self.engine)
        self.daemon.write("source.password", PASSWORD)
        self.daemon.start()
        self.daemon.apply({
            "topics": [{"name": "bench", "address": f"127.0.0.1:{self.db.port}", "user": "millrace",
                        "password_file": "source.password"}],
            "databases": [{"name": "bench", "topic": "bench"}],
            "tables": [dict(t, settings={"number_of_shards": 1, "number_of_replicas": 0}) for t in (FLAT, ORDERS)]})

    def client(self, text):
        subprocess.run(["mariadb", f"--defaults-file={self.db.folder}/root.cnf", SCHEMA], input=text.encode(),
                       stdout=subprocess.DEVNULL, check=True)

    def stop(self):
        servers.stop_all()
        if not self.options.keep:
            self.engine.wipe()
            self.db.wipe()

    # -- the two that take turns

    def leads_to(self, table):
        """The index version that the alias of a table leads to, or None."""
        status, text = servers.http("GET", f"{self.engine.url}/_alias/{table['index']}")
        return next(iter(json.loads(text))) if status == 200 else None

    def build(self, table, rows):
        """Rows a second from the request until the alias has moved, and until the last answer."""
        before = self.leads_to(table)
        indexed = self.counted("millrace_indexed_total")
        since = time.monotonic()
        self.daemon.command("index", "create", table["table"], "--no-wait")
        self.wait_for("millrace_indexed_total", indexed, rows)
        answered = time.monotonic() - since
        wait_until("the alias moves", lambda: self.leads_to(table) not in (None, before), 600, 0.05)
        seconds = time.monotonic() - since
        time.sleep(1)
        self.daemon.command("index", "delete", table["table"], "--yes", ok=None)
        have = self.engine.count(table["index"])
        if have != rows:
            raise Failed(f"{have} documents of {rows} rows")
        return rows / seconds, rows / answered

    def drain(self, statements, changes):
        """The daemon is away while the changes are made; from its start until all are done."""
        self.daemon.stop()
        for statement in statements:
            self.db.sql(statement, schema=SCHEMA)
        time.sleep(3)
        since = time.monotonic()
        self.daemon.start(wait=False)
        self.wait_for("millrace_changes_done_total", 0, changes)
        return time.monotonic() - since

    def counted(self, name):
        """The sum of a metric; the rest of the page is not looked at, as both cores are measured."""
        try:
            _, text = servers.http("GET", self.daemon.url + "/metrics")
        except (OSError, Failed):
            return 0
        return sum(float(value) for value in re.findall(rf"^{name}(?:{{.*}})? (\S+)$", text, re.M))

    def wait_for(self, name, since, more):
        """Until a metric has grown by so much; it is asked for seldom until then, and often when it is near."""
        began = time.monotonic()
        while (done := self.counted(name) - since) < more:
            spent = time.monotonic() - began
            if spent > 600:
                raise Failed(f"{name} grew by {done} of {more} only")
            time.sleep(min(max(spent / max(done, 1) * (more - done) / 2, 0.01), 0.5))

    def raw(self, index, path, shape, overwrite=False):
        """Documents a second of the raw client with one shape of requests."""
        if not overwrite:
            self.make_raw_index(index)
        connections, kib = shape
        self.version += 10**7
        done = subprocess.run([RAW, self.engine.url, index, path, str(connections), str(kib), str(self.version)],
                              stdout=subprocess.PIPE, text=True, check=True)
        return float(done.stdout.split()[2])

    def make_raw_index(self, index):
        """The same mapping and settings as the index that Millrace made."""
        table = FLAT if "flat" in index else ORDERS
        name = self.leads_to(table)
        body = self.engine.ask("GET", f"/{name}")[name]
        self.engine.ask("DELETE", f"/{index}", ok=(200, 404))
        mappings = {k: v for k, v in body["mappings"].items() if k != "_meta"}
        index_settings = body["settings"]["index"]
        kept = {k: index_settings[k] for k in ("number_of_shards", "number_of_replicas", "refresh_interval", "translog")
                if k in index_settings}
        self.engine.ask("PUT", f"/{index}", oracle.encode({"settings": {"index": kept}, "mappings": mappings}))

    def save_documents(self, table):
        """The documents that Millrace wrote, as the raw client reads them."""
        path = os.path.join(RUN, table["index"] + ".documents")
        with open(path, "w", encoding="utf-8") as f:
            for key, source, _ in self.engine.documents(table["index"], page=10000):
                f.write(json.dumps(key) + "\n" + oracle.encode(oracle.without_ours(source)) + "\n")
        return path

    # -- the benches

    def table_bench(self, name, table, stream_statements):
        rows = int(self.db.sql(f"SELECT COUNT(*) FROM {name}", schema=SCHEMA)[0][0])
        raw_index = f"raw-{name}"
        say(f"{name}: warming up")
        self.build(table, rows)
        path = self.save_documents(table)
        shape = self.best_shape(name, lambda shape: self.raw(raw_index, path, shape))
        self.turns([f"{name} load, until searches use it", f"{name} load, until its last answer"],
                   rows, lambda i: self.build(table, rows), lambda i: self.raw(raw_index, path, shape))

        def drained(i):
            return [rows / self.drain(stream_statements(i), rows)]

        self.turns([f"{name} stream"], rows, drained, lambda i: self.raw(raw_index, path, shape, overwrite=True))
        self.engine.ask("DELETE", f"/{raw_index}", ok=(200, 404))

    def best_shape(self, name, rate):
        """The shape of the raw client's requests that the engine takes the most documents a second in."""
        if self.options.raw:
            for _ in range(RAW_WARM):
                rate(self.options.raw)
            return self.options.raw
        rates = {(c, k): [rate((c, k))] for c in RAW_CONNECTIONS for k in RAW_KIB}
        finalists = sorted(rates, key=lambda shape: -rates[shape][0])[:RAW_FINALISTS]
        for _ in range(RAW_FINALS):
            for shape in finalists:
                rates[shape].append(rate(shape))
        best = max(finalists, key=lambda shape: statistics.median(rates[shape]))
        self.results[f"{name} shapes"] = {f"{c} x {k} KiB": [round(x) for x in r] for (c, k), r in rates.items()}
        say(f"{name}: the raw client is best with {best[0]} connections and {best[1]} KiB a request")
        return best

    def cpu(self):
        """Seconds of processor time of the daemon that runs, of the engine and of the database, by pid."""
        return {pid: cpu_seconds(pid) for pid in (self.daemon.process.pid, self.engine.pid(), self.db.pid())}

    def cpu_since(self, before):
        """Of each since then; a daemon that was started meanwhile counts from its start."""
        after = self.cpu()
        return {who: after[pid] - before.get(pid, 0)
                for who, pid in (("daemon", self.daemon.process.pid), ("engine", self.engine.pid()),
                                 ("database", self.db.pid()))}

    def turns(self, names, rows, product, raw):
        """The product and the raw client by turns; the product gives a rate for each name."""
        ours, theirs, cpu = [], [], []
        for i in range(self.rounds):
            before = self.cpu()
            ours.append(product(i))
            cpu.append(self.cpu_since(before))
            before, client = self.cpu(), children_seconds()
            theirs.append(raw(i))
            cpu[-1] |= {"raw engine": self.cpu_since(before)["engine"], "raw client": children_seconds() - client}
            for what, rate in zip(names, ours[-1]):
                say(f"{what}, round {i + 1}: Millrace {rate:,.0f}, raw client {theirs[-1]:,.0f} documents/s")
        for what, rates in zip(names, zip(*ours)):
            a, b = statistics.median(rates), statistics.median(theirs)
            self.results[what] = {"millrace": round(a), "raw": round(b), "ratio": round(a / b, 3),
                                  "millrace_rounds": [round(x) for x in rates], "raw_rounds": [round(x) for x in theirs],
                                  "cpu_us_a_document": {who: round(statistics.median(c[who] for c in cpu) / rows * 1e6, 2)
                                                        for who in cpu[0]},
                                  "peak_memory_mib": self.peak_mib()}

    def peak_mib(self):
        with open(f"/proc/{self.daemon.process.pid}/status", encoding="ascii") as f:
            return int(re.search(r"VmHWM:\s+(\d+)", f.read()).group(1)) // 1024

    def flat(self):
        step = int(10000 * max(self.scale, 0.1))
        count = int(self.db.sql("SELECT COUNT(*) FROM flat", schema=SCHEMA)[0][0])
        self.table_bench("flat", FLAT, lambda i: [
            f"UPDATE flat SET a = a + 1 WHERE id > {k} AND id <= {k + step}" for k in range(0, count, step)])

    def orders(self):
        count = int(self.db.sql("SELECT COUNT(*) FROM orders", schema=SCHEMA)[0][0])
        # The first item of each order changes: one change a document.
        self.table_bench("orders", ORDERS, lambda i: [
            f"UPDATE order_item SET qty = qty + 1 WHERE id % 3 = 1 AND order_id > {k} AND order_id <= {k + 2000}"
            for k in range(0, count, 2000)])

    def latency(self):
        """From the end of the commit until a GET by id shows it, on an idle stream."""
        if not self.leads_to(FLAT):
            self.daemon.build(FLAT["table"])
        time.sleep(3)
        connection = self.db.connect(SCHEMA)
        engine = http.client.HTTPConnection("127.0.0.1", self.engine.port, timeout=10)
        took = []
        with connection.cursor() as cursor:
            for i in range(40 if self.options.quick else 300):
                key, value = 1 + i * 7, 5_000_000 + i
                cursor.execute(f"UPDATE flat SET a = {value} WHERE id = {key}")
                since = time.monotonic()
                while not self.shows(engine, key, value):
                    if time.monotonic() - since > 30:
                        raise Failed("a change was not seen within 30 s")
                    time.sleep(0.0005)
                took.append((time.monotonic() - since) * 1000)
                time.sleep(0.05)
        took.sort()
        self.results["latency"] = {"median_ms": round(statistics.median(took), 1),
                                   "p99_ms": round(took[int(len(took) * 0.99)], 1), "max_ms": round(took[-1], 1)}
        say(f"latency: {self.results['latency']}")

    @staticmethod
    def shows(engine, key, value):
        engine.request("GET", f"/{FLAT['index']}/_source/{key}?_source_includes=a")
        answer = engine.getresponse()
        body = answer.read()
        return answer.status == 200 and json.loads(body)["a"] == value

    def table(self):
        lines = ["| | Millrace | raw client | ratio | processor time a document: engine, daemon, database |"
                 " the raw client's: engine, client |", "|---|---|---|---|---|---|"]
        for what, r in self.results.items():
            if isinstance(r, dict) and "ratio" in r:
                us = r["cpu_us_a_document"]
                lines.append(f"| {what} | {r['millrace']:,} docs/s | {r['raw']:,} docs/s | {r['ratio']:.0%} |"
                             f" {us['engine']:.1f}, {us['daemon']:.1f}, {us['database']:.1f} µs |"
                             f" {us['raw engine']:.1f}, {us['raw client']:.1f} µs |")
        if "latency" in self.results:
            r = self.results["latency"]
            lines.append(f"| commit to readable | {r['median_ms']} ms median, {r['p99_ms']} ms p99 | | | | |")
        peaks = [r["peak_memory_mib"] for r in self.results.values() if isinstance(r, dict) and "peak_memory_mib" in r]
        if peaks:
            lines.append(f"| peak resident memory | {max(peaks)} MiB | | | | |")
        return "\n".join(lines)


def machine():
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as f:
        model = re.search(r"model name\s*: (.*)", f.read())
    return f"{os.cpu_count()} cores, {model.group(1) if model else 'unknown'}"


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def children_seconds():
    """Seconds of processor time of the programs that this one ran and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def say(text):
    print(f"[{time.strftime('%H:%M:%S')}] {text}", file=sys.stderr, flush=True)


def measure(bench, parts, name):
    """Runs the parts, methods of the bench; prints what they gave, and writes it to tests/run/NAME."""
    try:
        bench.start()
        for part in parts:
            getattr(bench, part)()
        with open(os.path.join(RUN, name), "w", encoding="utf-8") as f:
            json.dump(bench.results, f, indent=1)
        print(bench.table())
    finally:
        bench.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="+", choices=["flat", "orders", "latency"], default=["flat", "orders", "latency"])
    parser.add_argument("--raw", type=lambda s: tuple(int(n) for n in s.split("x")))
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    measure(Bench(options), options.only, "bench.json")
    return 0


if __name__ == "__main__":
    sys.exit(main())

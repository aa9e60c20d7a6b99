#!/usr/bin/env python3
"""What a change of one related row costs, with `refresh: parent` and with `refresh: area`.

    areas.py [--documents 2000] [--rounds 3] [--only WORD]

A document has some relations of some rows each.  One row of one relation is changed in each document, a
transaction each, while the daemon follows.  Both kinds take turns on the same rows.  Processor time of
database, daemon and engine counts, as it differs less than time on a machine with other work, and what the
database was asked and sent.  Prints a table.
"""
import argparse
import glob
import os
import statistics
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "integration"))
import servers  # noqa: E402
from servers import Database, Engine, Millrace, wait_until  # noqa: E402

SCHEMA, PASSWORD, TICKS = "areas", "areas", os.sysconf("SC_CLK_TCK")
SHAPES = {"small": (1, 3), "middle": (4, 5), "large": (8, 20), "heavy": (12, 60)}  # relations, rows of each in a document


def cpu(pid):
    with open(f"/proc/{pid}/stat") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def pid_of(server):
    with open(glob.glob(os.path.join(server.folder, "**", "*pid*"), recursive=True)[0], encoding="ascii") as f:
        return int(f.read())


class Bench:
    def __init__(self, options):
        self.options = options
        self.db, self.engine = Database("mariadb", "areas-database"), Engine("areas-engine")
        self.n_changes = 0

    def start(self):
        self.db.start("--innodb-buffer-pool-size=512M")
        self.engine.heap, self.engine.compiler = "1g", "full"
        self.engine.start()
        user = "millrace@'127.0.0.1'"
        self.db.sql(f"DROP DATABASE IF EXISTS {SCHEMA}", f"CREATE DATABASE {SCHEMA} CHARACTER SET utf8mb4",
                    f"CREATE OR REPLACE USER {user} IDENTIFIED BY '{PASSWORD}'",
                    f"GRANT REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO {user}", f"GRANT SELECT ON {SCHEMA}.* TO {user}")

    def follow(self, shape, refresh):
        """A daemon whose documents have relations r0, r1 …; r0 is refreshed so."""
        n, _ = SHAPES[shape]
        daemon = Millrace(f"areas-{shape}-{refresh}", self.engine)
        daemon.write("source.password", PASSWORD)
        daemon.start()
        relations = [{"from": "id", "table": f"{SCHEMA}.r{i}", "to": "doc", "many": True,
                      "refresh": refresh if i == 0 else "parent"} for i in range(n)]
        daemon.apply({"topics": [{"name": SCHEMA, "address": f"127.0.0.1:{self.db.port}", "user": "millrace",
                                  "password_file": "source.password"}],
                      "databases": [{"name": SCHEMA, "topic": SCHEMA}],
                      "tables": [{"table": f"{SCHEMA}.doc", "index": f"areas-{shape}-{refresh}", "relations": relations,
                                  "settings": {"number_of_shards": 1, "number_of_replicas": 0}}]})
        daemon.build(f"{SCHEMA}.doc")
        return daemon

    def make(self, shape):
        n, rows = SHAPES[shape]
        documents = self.options.documents
        statements = ["DROP TABLE IF EXISTS doc", "CREATE TABLE doc (id INT PRIMARY KEY, name VARCHAR(60))",
                      f"INSERT INTO doc SELECT seq, CONCAT('document ', seq) FROM seq_1_to_{documents}"]
        for i in range(n):
            statements += [f"DROP TABLE IF EXISTS r{i}",
                           f"CREATE TABLE r{i} (id INT PRIMARY KEY, doc INT, a INT, b VARCHAR(60), KEY (doc))",
                           f"INSERT INTO r{i} SELECT seq, 1 + (seq - 1) DIV {rows}, seq, CONCAT('row ', seq, ' of the relation')"
                           f" FROM seq_1_to_{documents * rows}"]
        self.db.sql(*statements, schema=SCHEMA)

    def state(self, daemon):
        rows = dict(self.db.sql("SHOW GLOBAL STATUS WHERE Variable_name IN ('Com_select', 'Bytes_sent')"))
        return [cpu(pid_of(self.db)), cpu(daemon.process.pid), cpu(pid_of(self.engine)), int(rows["Com_select"]),
                int(rows["Bytes_sent"]), time.monotonic()]

    def change(self, daemon, shape, refresh):
        """One row in each document; what that cost."""
        _, rows = SHAPES[shape]
        self.n_changes += 1
        value = 10 ** 6 * self.n_changes
        documents, index = self.options.documents, f"areas-{shape}-{refresh}"
        before = self.state(daemon)
        connection = self.db.connect(SCHEMA)
        with connection.cursor() as cursor:
            for doc in range(1, documents + 1):
                cursor.execute(f"UPDATE r0 SET a = {value + doc} WHERE id = {(doc - 1) * rows + 1}")
        connection.close()
        wait_until(f"the last document of {index} shows its change",
                   lambda: any(r["a"] == value + documents for r in self.engine.get(index, documents)["r0"]), 120, 0.02)
        return [b - a for a, b in zip(before, self.state(daemon))]

    def run(self, shape):
        self.make(shape)
        costs = {"parent": [], "area": []}
        for round_ in range(1, self.options.rounds + 1):
            for refresh in sorted(costs, reverse=round_ % 2 == 0):
                daemon = self.follow(shape, refresh)
                self.change(daemon, shape, refresh)  # warms
                costs[refresh].append(self.change(daemon, shape, refresh))
                daemon.stop()
        return {k: [statistics.median(x) for x in zip(*v)] for k, v in costs.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--documents", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=list(SHAPES), default=list(SHAPES))
    options = parser.parse_args()
    bench = Bench(options)
    try:
        bench.start()
        print("| document | refresh | database ms | daemon ms | engine ms | all ms | selects | KB sent | wall ms |", flush=True)
        print("|---|---|---|---|---|---|---|---|---|", flush=True)
        for shape in options.only:
            for refresh, (db, daemon, engine, selects, sent, wall) in bench.run(shape).items():
                n = options.documents
                print(f"| {shape} | {refresh} | {db / n * 1000:.2f} | {daemon / n * 1000:.2f} | {engine / n * 1000:.2f} | "
                      f"{(db + daemon + engine) / n * 1000:.2f} | {selects / n:.2f} | {sent / n / 1000:.1f} | {wall / n * 1000:.2f} |",
                      flush=True)
    finally:
        servers.stop_all()
        bench.engine.stop()
        bench.db.stop()


if __name__ == "__main__":
    main()

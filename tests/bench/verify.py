#!/usr/bin/env python3
"""How fast a whole index is verified, as a ratio to the build of the same index in the same run, and what it costs in memory.

    verify.py [--server F] [--rows N] [--rounds N]

Flat rows, then orders with three nested items each.  MILLRACE names the daemon's program.
"""
import argparse
import threading
import time

from bench_world import bench_world  # first: it knows where the others are
from servers import Failed, let_pass

SHAPES = {"flat": {"table": "flat"},
          "nested": {"table": "orders", "relations": [
              {"from": "id", "table": "item", "to": "order_id", "as": "items", "many": True, "columns": ["id", "qty", "price"]}]}}


def fill(w, rows):
    w.sql("CREATE TABLE flat (id INT PRIMARY KEY, name VARCHAR(60), price DECIMAL(10, 2), at DATETIME, note VARCHAR(200))",
          "CREATE TABLE orders (id INT PRIMARY KEY, total DECIMAL(20, 4), note VARCHAR(40))",
          "CREATE TABLE item (id INT PRIMARY KEY, order_id INT, qty INT, price DECIMAL(8, 2), KEY (order_id))",
          f"INSERT INTO flat SELECT seq, CONCAT('name ', seq), seq / 7, NOW(), REPEAT('x', 100) FROM seq_1_to_{rows}",
          f"INSERT INTO orders SELECT seq, seq / 3, CONCAT('order ', seq) FROM seq_1_to_{rows}",
          f"INSERT INTO item SELECT seq, seq DIV 3 + 1, seq % 9, seq / 11 FROM seq_1_to_{rows * 3 - 1}")


class Peak:
    """The most that is resident while something runs, in MiB."""

    def __init__(self, daemon):
        self.daemon, self.stop, self.kib = daemon, threading.Event(), 0

    def __enter__(self):
        self.thread = threading.Thread(target=self.watch, daemon=True)
        self.thread.start()
        return self

    def watch(self):
        while not self.stop.is_set():
            self.kib = max(self.kib, self.daemon.rss_kib())
            let_pass("between two looks", 0.05)

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join()


def measure(w, daemon, shape, table, rounds):
    for _ in range(rounds):
        began = time.monotonic()
        daemon.build(table)
        built, before = time.monotonic() - began, daemon.rss_kib()
        with Peak(daemon) as peak:
            answer = daemon.json("verify", table)
        seconds = float(answer["seconds"])
        if answer["verdict"] != "equal":
            raise Failed(f"{answer}")
        print(f"{shape}: {answer['documents']} documents, built in {built:.1f} s, verified in {seconds:.1f} s:"
              f" {100 * built / seconds:.0f} % of the build's rate, {(peak.kib - before) / 1024:.0f} MiB more", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--server", default="mariadb")
    parser.add_argument("--rows", type=int, default=200000)
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    with bench_world("verify", options.server) as w:
        fill(w, options.rows)
        daemon = w.follow(w.definitions(*SHAPES.values()))
        for shape, table in SHAPES.items():
            measure(w, daemon, shape, table["table"], options.rounds)
        daemon.stop()


if __name__ == "__main__":
    main()

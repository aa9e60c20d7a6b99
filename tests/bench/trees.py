#!/usr/bin/env python3
"""What anti-entropy trees cost the stream: the same backlog with trees and without, in turns, as pairs.

    trees.py [--server F] [--rows N] [--rounds N]

A backlog that was finished while the daemon was away is drained from its start on.  The first pair warms up
and does not count.  MILLRACE names the daemon's program.
"""
import argparse
import statistics
import time

from bench_world import bench_world  # first: it knows where the others are
from servers import wait_until

ON = {"trees": True, "exchange_every": "24h", "verify_every": "never", "verify_rate": 0}
OFF = ON | {"trees": False}
CHUNK = 1000  # rows of a transaction


def fill(w, rows):
    w.sql("CREATE TABLE flat (id INT PRIMARY KEY, name VARCHAR(60), price DECIMAL(10, 2), at DATETIME, note VARCHAR(200))",
          f"INSERT INTO flat SELECT seq, CONCAT('name ', seq), seq / 7, NOW(), REPEAT('x', 100) FROM seq_1_to_{rows}")


def has_trees(w, daemon):
    trees = w.table(daemon, "flat")["trees"]
    return trees is not None and trees["state"] == "complete"


def drained(w, daemon, rows, index):
    """Seconds of the clock and of the daemon's processor for a backlog of a change to each row."""
    daemon.configure(index=index)
    if index["trees"]:
        daemon.start()
        wait_until("the trees are complete", lambda: has_trees(w, daemon), 600)
        daemon.stop()
    w.sql(*(f"UPDATE flat SET price = price + 1 WHERE id BETWEEN {first} AND {first + CHUNK - 1}"
            for first in range(1, rows + 1, CHUNK)))
    began = time.monotonic()
    daemon.start()
    wait_until("the backlog is drained", lambda: (daemon.metric("millrace_indexed_total") or 0) >= rows, 600, 0.05)
    took, cpu = time.monotonic() - began, float(daemon.metric("process_cpu_seconds_total"))
    daemon.stop()
    return took, cpu


def measure(w, daemon, rows, rounds):
    ratios, work = [], []
    for number in range(rounds + 1):
        turns = [OFF, ON] if number % 2 else [ON, OFF]
        took = {index["trees"]: drained(w, daemon, rows, index) for index in turns}
        (on, on_cpu), (off, off_cpu) = took[True], took[False]
        print(f"{'round' if number else 'warm'} {number}: {rows / on:,.0f} a second with trees, {rows / off:,.0f} without:"
              f" {100 * off / on:.1f} %; {1e6 * on_cpu / rows:.1f} and {1e6 * off_cpu / rows:.1f} µs of processor each", flush=True)
        if number:
            ratios.append(off / on)
            work.append(on_cpu / off_cpu)
    print(f"median of {rounds} pairs: {100 * statistics.median(ratios):.1f} % of the rate, "
          f"{statistics.median(work):.2f} times the processor time")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--server", default="mariadb")
    parser.add_argument("--rows", type=int, default=200000)
    parser.add_argument("--rounds", type=int, default=10)
    options = parser.parse_args()
    with bench_world("trees", options.server) as w:
        fill(w, options.rows)
        daemon = w.follow(w.definitions({"table": "flat"}), index=OFF)
        daemon.stop()
        measure(w, daemon, options.rows, options.rounds)


if __name__ == "__main__":
    main()

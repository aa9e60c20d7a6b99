#!/usr/bin/env python3
"""What it costs to read rows again by key instead of taking them from their row images.

    reread.py [--rounds N] [--rows N]

The same table makes two indexes: one of row images, one with a filter that lets every row through, which is read again.
All rows are changed while the daemon is away; from its start until everything is done, in turns.  Prints documents a
second, and how often the one is as fast as the other.  MILLRACE names the daemon's program.
"""
import argparse
import statistics
import time

from bench_world import bench_world  # first: it knows where the others are
import servers

SCHEMA = """
CREATE TABLE digit (d INT PRIMARY KEY);
INSERT INTO digit VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9);
CREATE TABLE goods (id INT PRIMARY KEY, sku CHAR(12), status VARCHAR(10), category VARCHAR(20), quantity INT,
                    price DECIMAL(9, 2), title VARCHAR(60), updated_at DATETIME)
"""


def load(w, rows):
    w.load(SCHEMA)
    n = " + ".join(f"d{i}.d * {10 ** i}" for i in range(5))
    digits = ", ".join(f"digit d{i}" for i in range(5))
    w.sql(f"INSERT INTO goods SELECT {n}, LPAD({n}, 12, 'x'), 'new', CONCAT('category ', ({n}) % 50), ({n}) % 100, 9.99,"
          f" CONCAT('goods of the number ', {n}), '2026-01-01' FROM {digits} WHERE {n} < {rows}")


def drain(w, table, rows):
    daemon = w.follow(w.definitions(table))
    daemon.stop()
    for first in range(0, rows, 100):
        w.sql(f"UPDATE goods SET quantity = quantity + 1 WHERE id BETWEEN {first} AND {first + 99}")
    daemon.start()
    since = time.monotonic()
    servers.wait_until("all is done", lambda: daemon.metric("millrace_changes_done_total") >= rows, 300, 0.02)
    seconds = time.monotonic() - since
    daemon.stop()
    return rows / seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=50000)
    options = parser.parse_args()
    rates = {"row images": [], "read again": []}
    with bench_world("reread") as w:
        load(w, options.rows)
        drain(w, {"table": "goods"}, options.rows)  # the engine warms up
        for _ in range(options.rounds):
            for name, more in (("row images", {}), ("read again", {"filter": "id >= 0"})):
                rates[name].append(drain(w, {"table": "goods"} | more, options.rows))
                print(f"{name}: {rates[name][-1]:,.0f} documents/s", flush=True)
        images, again = (statistics.median(r) for r in rates.values())
        print(f"row images {images:,.0f}, read again {again:,.0f} documents/s: a factor of {images / again:.1f}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""What a cluster costs the stream, and what it writes into its store at rest.

    ownership.py [--rows N] [--rounds N] [--rest SECONDS] [--topics N]

The same backlog is drained by one node that has its store alone (coordination: embedded) and by one node of a cluster
(ZooKeeper), in turns, as pairs, with the same MySQL store on the followed server.  The first pair warms up and does not
count.  Then three nodes share some topics and nothing happens: their store's server counts what is written.  MILLRACE
names the daemon's program.
"""
import argparse
import statistics
import time

from bench_world import bench_world  # first: it knows where the others are
from members import Members
from servers import let_pass, wait_until
from test_one_store import make_store, on_store
from trees import CHUNK, fill
from zookeepers import start_zookeepers

INDEX = {"trees": False, "verify_every": "never", "verify_rate": 0}
WRITES = "insert", "replace", "update", "delete"


def drained(w, daemon, rows, coordination):
    """Seconds of the clock and of the daemon's processor for a backlog of a change to each row."""
    daemon.configure(coordination=coordination)
    w.sql(*(f"UPDATE flat SET price = price + 1 WHERE id BETWEEN {first} AND {first + CHUNK - 1}"
            for first in range(1, rows + 1, CHUNK)))
    daemon.start()
    wait_until("it has the topic", lambda: daemon.metric("millrace_indexed_total"), 60, 0.005)
    began, cpu, had = time.monotonic(), float(daemon.metric("process_cpu_seconds_total")), int(daemon.metric("millrace_indexed_total"))
    wait_until("the backlog is drained", lambda: daemon.metric("millrace_indexed_total") >= rows, 600, 0.05)
    took, cpu = time.monotonic() - began, float(daemon.metric("process_cpu_seconds_total")) - cpu
    daemon.stop()
    return took * rows / (rows - had), cpu * rows / (rows - had)


def measure_stream(w, rows, rounds):
    (zookeeper,) = start_zookeepers(w)
    ways = "embedded", f"zookeeper://127.0.0.1:{zookeeper.port}"
    fill(w, rows)
    make_store(w)
    daemon = w.follow(w.definitions({"table": "flat"}), index=INDEX, **on_store(w))
    daemon.stop()
    rates, work = [], []
    for number in range(rounds + 1):
        took = {way: drained(w, daemon, rows, way) for way in (ways if number % 2 else reversed(ways))}
        (alone, alone_cpu), (member, member_cpu) = took[ways[0]], took[ways[1]]
        print(f"{'round' if number else 'warm'} {number}: {rows / member:,.0f} a second in a cluster, {rows / alone:,.0f} alone: {100 * alone / member:.1f} %;"
              f" {1e6 * member_cpu / rows:.1f} and {1e6 * alone_cpu / rows:.1f} µs of processor each", flush=True)
        if number:
            rates.append(alone / member)
            work.append(member_cpu / alone_cpu)
    print(f"median of {rounds} pairs: {100 * statistics.median(rates):.1f} % of the rate, {statistics.median(work):.2f} times the processor time")


def count_writes(w):
    return sum(int(w.db.sql(f"SHOW GLOBAL STATUS LIKE 'Com_{kind}'")[0][1]) for kind in WRITES)


def measure_rest(w, topics, seconds):
    m = Members(w, topics=topics).start()
    let_pass("the last rebalance ends, and positions are stored", 90)
    before = count_writes(w)
    let_pass("at rest", seconds)
    n = count_writes(w) - before
    print(f"at rest: {n} writes in {seconds} s, {60 * n / seconds / topics:.2f} a minute for each of {topics} topics")
    m.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=200000)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--rest", type=int, default=300)
    parser.add_argument("--topics", type=int, default=6)
    options = parser.parse_args()
    if options.rounds:
        with bench_world("ownership") as w:
            measure_stream(w, options.rows, options.rounds)
    if options.rest:
        with bench_world("ownership.rest") as w:
            measure_rest(w, options.topics, options.rest)


if __name__ == "__main__":
    main()

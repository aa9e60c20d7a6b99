#!/usr/bin/env python3
"""How long a topic stands still when its node goes.

    takeover.py [--rounds 100] [--timeout 4s] [--topics 4]

Three nodes with one store on a MariaDB, one ZooKeeper, one search engine. Each round a row of every topic of one
node is changed right after that node goes, and the time until the last of these rows shows in the engine counts:

    dies    SIGKILL: the others hear of it when its session ends, which is the time-out
    stops   SIGTERM: it gives everything back

MILLRACE names the daemon's program.
"""
import argparse
import statistics
import time

from bench_world import bench_world, percentile  # first: it knows where the others are
from members import Members
from servers import wait_until


def change_and_wait(m, schemas, value):
    """Seconds until the change of every topic shows."""
    since = time.monotonic()
    for schema in schemas:
        m.w.db.sql(f"UPDATE {schema}.thing SET a = {value} WHERE id = 1")
    for schema in schemas:
        wait_until(f"{schema} is taken over", lambda schema=schema: m.w.engine.get(f"{m.w.schema}-{schema}", 1)["a"] == value, 60, 0.01)
    return time.monotonic() - since


def one(m, kind, round_, value):
    i = round_ % len(m.nodes)
    node, schemas = m.nodes[i], m.topics_of(i)
    if kind == "dies":
        node.kill()
    else:
        node.stop()
    went = change_and_wait(m, schemas, value)
    node.start()
    m.wait_shared(*range(len(m.nodes)))
    return went


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--timeout", default="4s")
    parser.add_argument("--topics", type=int, default=4)
    options = parser.parse_args()
    with bench_world("takeover") as w:
        m = Members(w, topics=options.topics, timeout=options.timeout).start()
        for kind in "dies", "stops":
            took = [one(m, kind, i, 1000 * (kind == "stops") + i + 10) for i in range(options.rounds)]
            print(f"{kind}: median {statistics.median(took):.2f} s, 90 % {percentile(took, 90):.2f} s, worst {max(took):.2f} s, of {len(took)}", flush=True)
        m.end()


if __name__ == "__main__":
    main()

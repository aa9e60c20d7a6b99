#!/usr/bin/env python3
"""A label that very many documents show: what its changes cost at once, and by a delayed run.

    delayed.py [--documents N] [--times N...] [--engine real|fake]

One label is in all documents of an index. It is renamed once, and then several times with a while between, as over a
day; its table is delayed or not. Prints the statements to the database and the documents written, until every document
is right; and how long that took: from the last change, and for a delayed table from the order to run.  MILLRACE names
the daemon's program.
"""
import argparse
import time

from bench_world import bench_world, cpu_seconds  # first: it knows where the others are
import test_fan_out
from servers import Failed, wait_until

INDEX = {"trees": False, "verify_every": "never", "verify_rate": 0, "verify_builds": "none"}


def definitions(w, delayed):
    made = test_fan_out.definitions(w)
    made["tables"] += w.definitions({"table": "product", "delayed": delayed})["tables"]
    return made


class Costs:
    """What the daemon has done since then."""

    def __init__(self, daemon):
        self.daemon, self.before = daemon, self.now(daemon)
        self.at = time.monotonic()

    @staticmethod
    def now(daemon):
        return [float(daemon.metric(name)) for name in ("millrace_statements_total", "millrace_indexed_total")] + [cpu_seconds(daemon.process.pid)]

    def since(self):
        return [now - then for then, now in zip(self.before, self.now(self.daemon))]


def wait_name(w, daemon, documents, name):
    """Until the last documents show it, and nothing is under way."""
    index = w.index("orders")

    def is_right():
        return not daemon.metric("millrace_fan_out_jobs") and not daemon.metric("millrace_changes_in_flight") and all(
            w.engine.get(index, key)["items"][0]["product"]["name"] == name for key in (0, documents // 2, documents - 1))
    wait_until(f"all documents show {name}", is_right, 600, 0.1)


def rename(w, daemon, documents, times, delayed):
    """Several times, each of which is worked off before the next, or waits."""
    costs, name = Costs(daemon), ""
    for i in range(times):
        name = f"name {time.monotonic_ns()}"
        began = time.monotonic()
        test_fan_out.rename(w, name)
        if delayed:
            wait_until("the last change waits", lambda name=name: w.engine.get(w.index("product"), 1)["name"] == name and
                       not daemon.metric("millrace_changes_in_flight"), 60, 0.02)
        else:
            wait_name(w, daemon, documents, name)
    at_once = costs.since()
    if delayed:
        began = time.monotonic()
        daemon.command("delayed", "run", f"{w.schema}.product", "--wait", timeout=600)
        wait_name(w, daemon, documents, name)
    took = time.monotonic() - began
    statements, written, cpu = costs.since()
    if written < documents:
        raise Failed(f"{written} documents were written")
    before = f" ({at_once[0]:.0f} and {at_once[1]:.0f} of them before the run)" if delayed else ""
    print(f"{times} changes, {'by a delayed run' if delayed else 'at once'}: {statements:.0f} statements, {written:,.0f} documents{before};"
          f" {took:.1f} s; {cpu:.2f} s of the daemon's processor", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=100000)
    parser.add_argument("--times", type=int, nargs="+", default=[1, 5])
    parser.add_argument("--engine", choices=["fake", "real"], default="real")
    options = parser.parse_args()
    with bench_world("delayed_label", fake=options.engine == "fake") as w:
        test_fan_out.load(w, options.documents)
        daemon = w.follow(definitions(w, False), index=INDEX)
        for delayed in False, True:
            daemon.apply(definitions(w, delayed))
            for times in options.times:
                rename(w, daemon, options.documents, times, delayed)


if __name__ == "__main__":
    main()

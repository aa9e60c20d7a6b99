#!/usr/bin/env python3
"""A delayed run by several nodes: how much sooner it ends.

    delayed_nodes.py [--rows N] [--rounds N] [--delay MS] [--counts N...] [--engine fake|real]

Fifty labels that all documents of an index show are renamed, and a run by 1, 2 and 4 nodes writes these again. The
nodes' ways to the database and the engine delay all bytes by so many ms in each direction, as in `fills.py`, part far.
One node works off fan-out jobs, as any single daemon; several take parts.  The first round does not count.  MILLRACE
names the daemon's program.
"""
import argparse
import statistics
import time

import fills  # first: it knows where the others are
from bench_world import bench_world
from servers import Failed, wait_until


class Labels(fills.Farm):
    """The table that all documents show is delayed."""

    def definitions(self):
        made = super().definitions()
        made["tables"].append({"table": f"{self.schemas[0]}.kind", "index": self.w.index("kind"), "delayed": True})
        return made

    def start(self):
        super().start()
        self.nodes[0].build(f"{self.schemas[0]}.kind")
        self.nodes[0].build(self.big)
        return self

    def shown(self, row):
        return self.w.engine.get(f"{self.w.schema}-{self.schemas[0]}", row)["kind"]["name"]

    def run(self, n, i):
        self.have(n)
        before, table = self.cpu(), f"{self.schemas[0]}.kind"
        self.w.db.sql(f"UPDATE {table} SET name = CONCAT('{n} {i} ', id)")
        wait_until("all labels wait", lambda: sum(w["snapshots"] for w in self.nodes[0].json("delayed", "runs")["waiting"]) == 50, 60, 0.1)
        began = time.monotonic()
        self.nodes[0].command("delayed", "run", table, "--wait", timeout=900)
        took = time.monotonic() - began
        for row in (10, 10 + self.rows // 2, 9 + self.rows):
            if not self.shown(row).startswith(f"{n} {i} "):
                raise Failed(f"document {row} shows {self.shown(row)}")
        spent = [after - then for then, after in zip(before, self.cpu())]
        print(f"  {'round' if i else 'warm'} {i}: {n} nodes: {took:.1f} s; s of processors: nodes {spent[0]:.1f}, database {spent[1]:.1f}", flush=True)
        return took


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--delay", type=float, default=10)
    parser.add_argument("--store-delay", type=float, default=0, help="the same of the store, for all nodes")
    parser.add_argument("--counts", type=int, nargs="+", default=[1, 2, 4], help="of nodes")
    parser.add_argument("--engine", choices=["fake", "real"], default="fake")
    options = parser.parse_args()
    options.builds = "greedy"
    with bench_world("delayed_nodes", fake=options.engine == "fake") as w:
        farm = Labels(w, options, True).start()
        found = {n: [] for n in options.counts}
        for i in range(options.rounds + 1):
            for n in options.counts if i % 2 == 0 else reversed(options.counts):
                took = farm.run(n, i)
                if i or not options.rounds:
                    found[n].append(took)
        for n in options.counts:
            ratio = statistics.median(one / several for one, several in zip(found[min(found)], found[n]))
            print(f"{n} nodes: {statistics.median(found[n]):.1f} s for {options.rows:,} documents, {ratio:.2f} times as fast as {min(found)}", flush=True)
        farm.end()


if __name__ == "__main__":
    main()

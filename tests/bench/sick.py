#!/usr/bin/env python3
"""What a sick index costs the healthy one beside it.

    sick.py [--rounds 3] [--scale 0.4] [--keep]

Two tables with the same rows; backlogs are made while the daemon is away and drained from its start on, as in
run.py.  Three kinds take turns, in another order each round:

    alone   only the healthy index's table has changed
    well    both tables have, by turns, and both indexes take them
    sick    the same, and the other index is closed: its changes are purged, and repaired afterwards, unmeasured

The healthy index's documents a second count, from the daemon's start until its last one is acknowledged.  What the
sickness costs is told from `alone` (with the log of the other table as an extra) and from `unread`: the same log as
in `sick`, where the other table belongs to no index.  Shares of medians; MILLRACE names the daemon's program.
"""
import argparse
import json
import statistics
import sys
import time

import run  # first: it knows where the others are
from servers import Failed, wait_until

OTHER = {"table": "bench.other", "index": "bench-other"}
KINDS = ("alone", "unread", "well", "sick")
STEP = 2000


class Sick(run.Bench):
    def __init__(self, options):
        options.quick = False
        super().__init__(options)
        self.scale = options.scale
        self.results["scale"] = options.scale

    def start(self):
        super().start()
        tables = ("other", "unread")
        for name in tables:
            self.db.sql(f"CREATE OR REPLACE TABLE {name} LIKE flat", f"INSERT INTO {name} SELECT * FROM flat", schema=run.SCHEMA)
        self.rows = int(self.db.sql("SELECT COUNT(*) FROM flat", schema=run.SCHEMA)[0][0])
        self.daemon.apply({
            "topics": [{"name": "bench", "address": f"127.0.0.1:{self.db.port}", "user": "millrace",
                        "password_file": "source.password"}],
            "databases": [{"name": "bench", "topic": "bench"}],
            "tables": [dict(t, settings={"number_of_shards": 1, "number_of_replicas": 0}) for t in (run.FLAT, OTHER)]})
        for table in (run.FLAT, OTHER):
            self.build(table, self.rows)

    def documents(self, table):
        """Written, of its running version, since the daemon's start."""
        try:
            return self.daemon.metric("millrace_documents_total", index=self.version_of[table["index"]], result="ok")
        except (OSError, Failed):
            return 0

    def changes(self, second):
        """Both tables by turns, as a server with two busy tables logs them."""
        for k in range(0, self.rows, STEP):
            for table in ("flat", second):
                if table:
                    yield f"UPDATE {table} SET a = a + 1 WHERE id > {k} AND id <= {k + STEP}"

    def one(self, kind):
        self.version_of = {t["index"]: self.leads_to(t) for t in (run.FLAT, OTHER)}
        second = {"alone": None, "unread": "unread", "well": "other", "sick": "other"}[kind]
        self.daemon.stop()
        for statement in self.changes(second):
            self.db.sql(statement, schema=run.SCHEMA)
        if kind == "sick":
            self.engine.ask("POST", f"/{self.version_of[OTHER['index']]}/_close")
        time.sleep(3)
        since = time.monotonic()
        self.daemon.start(wait=False)
        wait_until("the healthy index has all", lambda: self.documents(run.FLAT) >= self.rows, 600, 0.02)
        rate = self.rows / (time.monotonic() - since)
        purged = self.daemon.json("status")["delivery"]["statistics"]["purged"]["total"]
        if kind == "sick":
            self.heal()
        if kind in ("well", "sick"):
            wait_until("the other one has, too", lambda: self.is_equal(), 600, 0.5)
        return rate, purged

    def heal(self):
        self.engine.ask("POST", f"/{self.version_of[OTHER['index']]}/_open")
        wait_until("nothing purged is left", lambda: not self.outstanding(), 600, 0.5)

    def outstanding(self):
        return sum(p["changes"] for p in self.daemon.json("status")["delivery"]["purged"])

    def is_equal(self):
        """As a sum over the column that changes."""
        self.engine.ask("POST", f"/{OTHER['index']}/_refresh")
        answer = self.engine.ask("POST", f"/{OTHER['index']}/_search",
                                 json.dumps({"size": 0, "aggs": {"a": {"sum": {"field": "a"}}}}))
        have = answer["aggregations"]["a"]["value"]
        return have == float(self.db.sql("SELECT SUM(a) FROM other", schema=run.SCHEMA)[0][0])

    def all(self):
        rates = {kind: [] for kind in KINDS}
        for i in range(self.rounds):
            for kind in KINDS[i % len(KINDS):] + KINDS[:i % len(KINDS)]:
                rate, purged = self.one(kind)
                rates[kind].append(rate)
                run.say(f"round {i + 1}, {kind}: {rate:,.0f} documents/s" + (f", {purged:,} purged" if purged else ""))
        medians = {kind: statistics.median(r) for kind, r in rates.items()}
        self.results["sick"] = {kind: {"rate": round(medians[kind]), "rounds": [round(x) for x in rates[kind]],
                                       "share_of_alone": round(medians[kind] / medians["alone"], 3),
                                       "share_of_unread": round(medians[kind] / medians["unread"], 3)} for kind in KINDS}

    def table(self):
        lines = ["| beside the healthy index | documents/s of the healthy one | of alone | of a table that is not indexed |",
                 "|---|---|---|---|"]
        for kind, r in self.results["sick"].items():
            lines.append(f"| {kind} | {r['rate']:,} | {r['share_of_alone']:.0%} | {r['share_of_unread']:.0%} |")
        return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scale", type=float, default=0.4)
    parser.add_argument("--keep", action="store_true")
    run.measure(Sick(parser.parse_args()), ["all"], "bench_sick.json")
    return 0


if __name__ == "__main__":
    sys.exit(main())

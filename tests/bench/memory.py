#!/usr/bin/env python3
"""The most memory that a daemon has resident while it builds an index, reads documents again, or follows a transaction.

    memory.py [--rounds 1] [--scale 1] [--only narrow nested wide ...] [--set delivery.bytes=64MiB ...]

A new daemon builds one table.  Its peak of resident memory stands beside the limit, 64 MiB and delivery.bytes, and
beside what it held before and after; then documents a second, and the daemon's processor time for each.
`narrow`: rows of 40 bytes; `nested`: 300,000 documents with three rows below each; `wide`: rows of 20 KiB; `wider`: of
200 KiB; `mixed`: 20,000 short rows, then rows of 200 KiB.  `again` and `again_wider`: a row that every document of
`wide` or `wider` shows changes, so all are read again.  `transaction`: one INSERT of a million rows into a flat table;
its time begins at the commit, its processor time before.  MILLRACE names the daemon's program.  Fails where a peak is
above the limit.
"""
import argparse
import re
import sys
import time

from bench_world import bench_world  # first: it knows where the others are
from servers import Failed, wait_until

NUMBERS = "(SELECT (x.i - 1) * 1000 + y.i AS i FROM number x, number y)"
SEEN_ONLY = {"properties": {"text": {"type": "text", "index": False}}}  # the engine is not what is measured


def text(seed, size):
    return f"(SELECT GROUP_CONCAT(MD5(CONCAT({seed}, z.i)) SEPARATOR ' ') FROM number z WHERE z.i <= {size} / 33)"


def make_first(w):
    """What every shape needs, and an empty table."""
    w.load("".join(statement + ";\n" for statement in (
        "SET SESSION sql_log_bin = 0",
        "CREATE TABLE number (i INT PRIMARY KEY)",
        "INSERT INTO number WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT i FROM n",
        "CREATE TABLE streamed (id INT PRIMARY KEY, a INT, text VARCHAR(60), price DECIMAL(10, 2))",
    )))


def make(w, scale):
    def rows(n):
        return f"FROM {NUMBERS} k WHERE k.i <= {max(int(n * scale), 100)}"

    long_text = ", ".join(text(f"i * 1000 + {part}", 25000) for part in range(8))
    w.load("".join(statement + ";\n" for statement in (
        "SET group_concat_max_len = 10000000, SESSION sql_log_bin = 0",
        "CREATE TABLE shown (id INT PRIMARY KEY, a INT)",
        "INSERT INTO shown VALUES (1, 1)",
        "CREATE TABLE narrow (id INT PRIMARY KEY, a INT, text VARCHAR(100))",
        f"INSERT INTO narrow SELECT i, i % 7, CONCAT('row ', i, ' of many narrow ones') {rows(400000)}",
        "CREATE TABLE nested (id INT PRIMARY KEY, name VARCHAR(40))",
        f"INSERT INTO nested SELECT i, CONCAT('order ', i) {rows(300000)}",
        "CREATE TABLE item (id INT PRIMARY KEY, nested_id INT, text VARCHAR(80), KEY (nested_id))",
        "INSERT INTO item SELECT k.i * 3 + n.i, k.i, CONCAT('item ', k.i, ' number ', n.i, ' of an order')"
        f" FROM (SELECT i {rows(300000)}) k JOIN number n WHERE n.i <= 3",
        *(f"CREATE TABLE {name} (id INT PRIMARY KEY, one INT, text MEDIUMTEXT, KEY (one))" for name in ("wide", "wider", "mixed")),
        f"INSERT INTO wide SELECT i, 1, {text('i', 20000)} {rows(15000)}",
        "CREATE TABLE long_text (i INT PRIMARY KEY, text MEDIUMTEXT)",
        f"INSERT INTO long_text SELECT i, CONCAT_WS(' ', {long_text}) FROM number WHERE i <= 100",
        f"INSERT INTO wider SELECT k.i, 1, l.text FROM (SELECT i {rows(1500)}) k JOIN long_text l ON l.i = k.i % 100 + 1",
        f"INSERT INTO mixed SELECT i, 1, 'short' {rows(20000)}",
        "INSERT INTO mixed SELECT 1000000 + id, 1, text FROM wider",
    )))


def one(name):
    return {"table": name, "mapping": SEEN_ONLY, "relations": [{"from": "one", "table": "shown", "to": "id", "as": "shown"}]}


ITEMS = {"from": "id", "table": "item", "to": "nested_id", "as": "items", "many": True, "columns": ["id", "text"]}
CASES = {  # the table, and its definition
    "narrow": ("narrow", lambda: {"table": "narrow"}),
    "nested": ("nested", lambda: {"table": "nested", "relations": [dict(ITEMS)]}),
    "wide": ("wide", lambda: {"table": "wide", "mapping": SEEN_ONLY}),
    "wider": ("wider", lambda: {"table": "wider", "mapping": SEEN_ONLY}),
    "mixed": ("mixed", lambda: {"table": "mixed", "mapping": SEEN_ONLY}),
    "again": ("wide", lambda: one("wide")),
    "again_wider": ("wider", lambda: one("wider")),
    "transaction": ("streamed", lambda: {"table": "streamed"}),
}


def status_mib(daemon, name):
    with open(f"/proc/{daemon.process.pid}/status", encoding="ascii") as f:
        return int(re.search(rf"{name}:\s+(\d+)", f.read()).group(1)) / 1024


def cpu_seconds(daemon):
    return float(daemon.metric("process_cpu_seconds_total"))


def indexed(daemon):
    return int(daemon.metric("millrace_indexed_total"))


def read_again(w, daemon, table):
    """When the work began, and how many documents it has."""
    rows, had, since = w.sql(f"SELECT COUNT(*) FROM {table}")[0][0], indexed(daemon), time.monotonic()
    w.sql("UPDATE shown SET a = a + 1")
    wait_until("all are read again", lambda: indexed(daemon) - had >= rows, 600, 0.1)
    return since, rows


def follow_a_transaction(w, daemon, rows):
    had = indexed(daemon)
    w.sql(f"INSERT INTO streamed SELECT i, i % 1000, CONCAT('some text of row ', i), i * 1.01 FROM {NUMBERS} k WHERE i <= {rows}")
    since = time.monotonic()
    wait_until("all are delivered", lambda: indexed(daemon) - had >= rows, 600, 1)  # each look costs the daemon, too
    return since, rows


def limit_mib(settings):
    queues = settings.get("delivery", {}).get("bytes", "64MiB")
    if not queues.endswith("MiB"):
        raise Failed(f"delivery.bytes in MiB, not {queues}")
    return 64 + int(queues.removesuffix("MiB"))


def measure(w, name, settings, scale):
    """Whether the peak is within the limit."""
    table, definition = CASES[name]
    w.sql("TRUNCATE streamed")
    daemon = w.millrace(**settings)
    daemon.apply(w.definitions(definition()))

    def build():
        since = time.monotonic()
        daemon.build(f"{w.schema}.{table}", "--take-index", timeout=600)
        return since, w.sql(f"SELECT COUNT(*) FROM {table}")[0][0]

    if name.startswith("again") or name == "transaction":
        build()
        daemon.stop()
        daemon.start()
    before, cpu = status_mib(daemon, "VmRSS"), cpu_seconds(daemon)
    if name.startswith("again"):
        since, rows = read_again(w, daemon, table)
    elif name == "transaction":
        since, rows = follow_a_transaction(w, daemon, int(1000000 * scale))
    else:
        since, rows = build()
    seconds = time.monotonic() - since
    peak, after = status_mib(daemon, "VmHWM"), status_mib(daemon, "VmRSS")
    cpu = (cpu_seconds(daemon) - cpu) / rows
    daemon.stop()
    print(f"{name}: {peak:.0f} of {limit_mib(settings)} MiB at most ({before:.0f} before, {after:.0f} after),"
          f" {rows / seconds:,.0f} documents/s, {cpu * 1e6:,.1f} µs each", flush=True)
    return peak <= limit_mib(settings)


def setting(word):
    name, value = word.split("=")
    return (*name.split("."), value)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--only", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--set", nargs="+", type=setting, default=[])
    options = parser.parse_args()
    settings = {}
    for part, name, value in options.set:
        settings.setdefault(part, {})[name] = value
    with bench_world("memory") as w:
        make_first(w)
        if set(options.only) != {"transaction"}:
            make(w, options.scale)
        good = [measure(w, name, settings, options.scale) for _ in range(options.rounds) for name in options.only]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())

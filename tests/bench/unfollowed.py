#!/usr/bin/env python3
"""What tables cost in memory that nobody follows, and that change.

    unfollowed.py [--server F] [--tables N...]

A daemon follows one table of a server that has many others; each of them changes twice.  Prints how much more is
resident after each time.  MILLRACE names the daemon's program.
"""
import argparse

from bench_world import bench_world  # first: it knows where the others are


def for_each(w, statement, numbers):
    w.load("".join(statement.format(i) + ";\n" for i in numbers))


def settled_mib(w, daemon):
    """What is resident when the followed table shows the latest change."""
    w.sql("UPDATE followed SET a = a + 1")
    w.equal(daemon, seconds=600)
    return daemon.rss_kib() / 1024


def measure(w, tables):
    daemon = w.follow(w.definitions({"table": "followed"}))
    resident = [settled_mib(w, daemon)]
    for time in range(2):
        for_each(w, f"INSERT INTO other_{{}} VALUES ({time}, 'x', NOW())", range(tables))
        resident.append(settled_mib(w, daemon))
    daemon.stop()
    before, once, twice = resident
    print(f"{tables} tables: {before:.1f} MiB before, {once - before:.1f} more when each has changed,"
          f" {twice - before:.1f} when each has changed twice", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--server", default="mariadb")
    parser.add_argument("--tables", type=int, nargs="+", default=[500, 5000], help="smaller numbers first")
    options = parser.parse_args()
    with bench_world("unfollowed", options.server) as w:
        w.sql("CREATE TABLE followed (id INT PRIMARY KEY, a INT)", "INSERT INTO followed VALUES (1, 1)")
        there = 0
        for tables in options.tables:
            for_each(w, "CREATE TABLE other_{} (id INT, name VARCHAR(40), at DATETIME) ENGINE=MEMORY", range(there, tables))
            there = tables
            measure(w, tables)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Every column type through the binlog: what `millrace binlog decode` prints equals what SELECT says.

    types_roundtrip.py [--server mariadb|mariadb11|mysql8|mysql9] [--seed N] [--rows N]
    types_roundtrip.py --socket PATH [--root FOLDER] ...

Extreme and random values of every type the server has, as inserts, updates, changes of the key and
deletes, in each row image with each compression, with each amount of metadata, and on MySQL with and
without partial JSON.  Starts a server of its own, or takes the one at a socket; FOLDER is where that
server's file names begin (a chroot).  MILLRACE names the program.
"""
import argparse
import itertools
import json
import os
import random
import subprocess
import sys
import time

import pymysql

import servers
from column_types import FULL, MINIMAL, NO_LOG, Types, parse

BLOCK = 8  # rows of an INSERT
MOVED = 1000  # what a change of the key adds to it
SPECIAL = ("Transaction_payload", "Update_rows_partial", "Write_rows_compressed_v1")


class Server:
    def __init__(self, connection, root=""):
        self.connection, self.root = connection, root
        version = self.rows("SELECT VERSION()")[0][0]
        self.mariadb = "mariadb" in version.lower()
        self.version = tuple(int(n) for n in version.split("-")[0].split(".")[:2])

    def run(self, sql):
        with self.connection.cursor() as cursor:
            cursor.execute(sql)

    def rows(self, sql):
        with self.connection.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetchall()

    def new_log(self):
        """Starts a log file and returns its path."""
        self.run("FLUSH BINARY LOGS")
        name = self.rows("SHOW BINARY LOGS")[-1][0]
        base = self.rows("SELECT @@log_bin_basename")[0][0]
        return self.root + os.path.join(os.path.dirname(base), name)


class Mode:
    """One way to write the log."""

    def __init__(self, image, metadata, compressed, partial_json):
        self.image, self.metadata, self.compressed, self.partial_json = image, metadata, compressed, partial_json

    def __str__(self):
        more = ["compressed"] * self.compressed + ["partial JSON"] * self.partial_json
        return ", ".join([f"image {self.image}", f"metadata {self.metadata}"] + more)

    def set(self, server):
        server.run(f"SET SESSION binlog_row_image={self.image}")
        server.run(f"SET GLOBAL binlog_row_metadata={self.metadata}")
        if server.mariadb:
            server.run(f"SET GLOBAL log_bin_compress={int(self.compressed)}")
        else:
            server.run(f"SET SESSION binlog_transaction_compression={int(self.compressed)}")
            server.run(f"SET SESSION binlog_row_value_options='{'PARTIAL_JSON' if self.partial_json else ''}'")

    def events(self, server):
        """Events that the log has in this mode and in no other."""
        compressed = "Write_rows_compressed_v1" if server.mariadb else "Transaction_payload"
        return sorted([compressed] * self.compressed + ["Update_rows_partial"] * self.partial_json)

    def may_lack(self, column):
        """Whether what an update has changed may be missing: changes to a value that is not in the log."""
        return self.partial_json and self.image != "FULL" and column.sql == "JSON"


def modes(server):
    images = ["FULL", "MINIMAL", "NOBLOB"] + ["FULL_NODUP"] * (server.mariadb and server.version >= (11, 4))
    metadata = [NO_LOG] * server.mariadb + [MINIMAL, FULL]
    return itertools.starmap(Mode, itertools.product(images, metadata, (False, True),
                                                     (False,) if server.mariadb else (False, True)))


class RoundTrip:
    """One table with every type, in one mode."""

    def __init__(self, server, rng, mode):
        self.server, self.rng, self.mode = server, rng, mode
        self.types = Types(rng, server.mariadb, server.version)
        self.wrong = 0

    def run(self, rows):
        server, columns = self.server, self.types.columns
        server.run("SET SESSION sql_mode='ALLOW_INVALID_DATES'")
        server.run("DROP TABLE IF EXISTS t")
        server.run("CREATE TABLE t(id INT PRIMARY KEY," + ",".join(f"{c.name} {c.sql}" for c in columns) + ") CHARACTER SET utf8mb4")
        self.mode.set(server)
        path = server.new_log()
        self.insert(rows)
        inserted = self.image()
        for i in range(0, rows, 2):
            self.update(i)
        updated = self.image()
        server.run("DELETE FROM t WHERE id % 5 = 0")
        self.check(path, inserted, updated)

    # -- what is written

    def insert(self, rows):
        value = lambda c: "NULL" if self.rng.random() < 0.1 else c.values()
        for start in range(0, rows, BLOCK):
            self.server.run("INSERT IGNORE INTO t VALUES" + ",".join(
                f"({i}," + ",".join(map(value, self.types.columns)) + ")" for i in range(start, min(start + BLOCK, rows))))

    def update(self, i):
        columns = self.types.columns
        documents = [c for c in columns if c.sql == "JSON"]
        changed = self.rng.choice([self.rng.sample(columns, 1), self.rng.sample(columns, 3), documents, columns])
        key = [f"id={i + MOVED}"] if self.rng.random() < 0.2 else []
        change = lambda c: "NULL" if self.rng.random() < 0.05 else c.change()
        self.server.run("UPDATE IGNORE t SET " + ",".join([f"{c.name}={change(c)}" for c in changed] + key) + f" WHERE id={i}")

    def image(self):
        """Rows by key as decode should print them."""
        metadata = self.mode.metadata
        select = ",".join(c.select(metadata) for c in self.types.columns)
        return {int(r[0]): {c.name: c.expect(metadata, v) for c, v in zip(self.types.columns, r[1:])}
                for r in self.server.rows(f"SELECT id,{select} FROM t")}

    # -- what is read

    def names(self, row):
        """Names for numbers, where the log has no names."""
        if row is None or self.mode.metadata == FULL:
            return row
        names = ["id"] + [c.name for c in self.types.columns]
        return {names[int(number[1:]) - 1]: value for number, value in row.items()}

    def check(self, path, inserted, updated):
        ops, seen = [], set()
        for change in decode(path):
            if change["table"] != "t":
                continue
            op, before, after = change["op"], self.names(change.get("before")), self.names(change.get("after"))
            ops.append(op)
            self.what = f"{self.mode}: {op} of {int((before or after)['id'])}"
            if op == "insert":
                self.compare(inserted[int(after["id"])], after, self.types.columns)
            elif op == "delete":
                self.compare(updated[int(before["id"])], before, self.types.columns if self.has_all_before() else [])
            else:
                seen.add(int(before["id"]))
                self.check_update(before, after, inserted, updated)
        unseen = [i for i in inserted if i not in seen and (i not in updated or self.changed(inserted[i], updated[i]))]
        if unseen:
            raise servers.Failed(f"{self.mode}: there is no update of {unseen}")
        expected = ["insert"] * len(inserted) + ["delete"] * sum(1 for i in updated if i % 5 == 0)
        if [op for op in ops if op != "update"] != expected:
            raise servers.Failed(f"{self.mode}: the changes are {ops}")
        if self.wrong:
            raise servers.Failed(f"{self.mode}: {self.wrong} cells differ")
        special = sorted(e for e in events_in(path) if e in SPECIAL)
        if special != self.mode.events(self.server):
            raise servers.Failed(f"{self.mode}: the log has {special}")
        print(f"{self.mode}: {len(ops)} changes of {len(self.types.columns)} columns are equal", flush=True)

    def has_all_before(self):
        return self.mode.image.startswith("FULL")

    def check_update(self, before, after, inserted, updated):
        old = inserted[int(before["id"])]
        new = updated[int(after.get("id", before["id"]))]
        self.compare(old, before, self.types.columns if self.has_all_before() else [])
        self.compare(new, after, self.types.columns if self.mode.image == "FULL" else
                     [c for c in self.changed(old, new) if not self.mode.may_lack(c)])

    def changed(self, old, new):
        return [c for c in self.types.columns if not self.same(c, old[c.name], new[c.name])]

    @staticmethod
    def same(column, a, b):
        return a is None and b is None or a is not None and b is not None and column.same(a, b)

    def compare(self, wanted, got, needed):
        """Cells that are there, and that those needed are."""
        for c in self.types.columns:
            if c.name not in got:
                if c in needed:
                    self.differs(c, "is absent")
            elif not self.same(c, wanted[c.name], got[c.name]):
                self.differs(c, f"is {str(got[c.name])[:200]!r}, should be {str(wanted[c.name])[:200]!r}")

    def differs(self, column, how):
        self.wrong += 1
        if self.wrong <= 20:
            print(f"{self.what}: {column.name} {column.sql} {how}")


def run(*args):
    out = subprocess.run([servers.BINARY, *args], capture_output=True, check=False)
    if out.returncode != 0:
        raise servers.Failed(f"{' '.join(args)}: exit {out.returncode}: {out.stderr.decode()[-500:]}")
    return out.stdout.decode()


def decode(path):
    return [parse(line) for line in run("binlog", "decode", path).split("\n") if line]


def events_in(path):
    """The kinds of events that a log has."""
    figures = json.loads(run("binlog", "inspect", path, "-o", "json"))
    return [t["event"] for t in figures["items"][0]["types"]]


def run_all(server, seed, rows):
    rng = random.Random(seed)
    for statement in ("SET NAMES utf8mb4", "SET time_zone='+00:00'", "DROP DATABASE IF EXISTS roundtrip",
                      "CREATE DATABASE roundtrip", "USE roundtrip"):
        server.run(statement)
    if server.mariadb:
        server.run("SET GLOBAL log_bin_compress_min_len=10")
    try:
        for mode in modes(server):
            RoundTrip(server, rng, mode).run(rows)
    finally:
        if server.mariadb:
            server.run("SET GLOBAL log_bin_compress=0")


def text_only(connection_settings):
    """Values as SELECT's text."""
    return pymysql.connect(**connection_settings, conv={}, charset="utf8mb4", autocommit=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--server", default="mariadb", choices=["mariadb", "mariadb11", "mysql8", "mysql9"])
    parser.add_argument("--socket")
    parser.add_argument("--root", default="")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--rows", type=int, default=32)
    options = parser.parse_args()
    print(f"seed {options.seed}")
    if options.socket:
        run_all(Server(text_only({"unix_socket": options.socket, "user": "root"}), options.root), options.seed, options.rows)
        return
    database = servers.Database(options.server, "roundtrip")
    database.start()
    try:
        connection = database.connect(conv={})
        run_all(Server(connection), options.seed, options.rows)
    finally:
        database.stop()


if __name__ == "__main__":
    try:
        main()
    except servers.Failed as e:
        sys.exit(f"failed: {e}")

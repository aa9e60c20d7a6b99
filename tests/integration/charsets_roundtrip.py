#!/usr/bin/env python3
"""Every character of every character set that a server lists, through the binlog.

    charsets_roundtrip.py [--server mariadb|mariadb11|mysql8|mysql9] [--only CHARSET...]

What `millrace binlog decode` prints of a text equals what the server's CONVERT(... USING utf8mb4) says of
it.  All bytes of the sets with one byte a character, all pairs of bytes of those with more (and the
triples that ujis and eucjpms have), all characters of the Unicode sets and of gb18030 (above U+FFFF each
16th).  Where the server knows no character for the bytes it says '?' or U+FFFD and has lost them; decode
gives the character if another standard of that name knows one, else the bytes: as text where they happen to
be UTF-8, else as base64.
"""
import argparse
import base64
import json
import subprocess
import sys

import servers
import types_roundtrip

TRIPLES = ("ujis", "eucjpms")
UNICODE = ("utf8mb4", "utf8mb3", "utf8", "ucs2", "utf16", "utf16le", "utf32", "gb18030")
ROWS = 2000
LOST = ("3F", "3F3F", "EFBFBD")


def code_points():
    yield from range(1, 0xD800)
    yield from range(0xE000, 0x10000)
    yield from range(0x10000, 0x110000, 16)


def texts(charset, most):
    """SQL of every text to try."""
    if charset in UNICODE:
        for c in code_points():
            if c < 0x10000 or charset not in ("utf8mb3", "utf8", "ucs2"):
                yield f"_utf8mb4 x'{chr(c).encode().hex()}'"
        return
    for a in range(256):
        yield f"_{charset} x'{a:02x}'"
    if most == 1:
        return
    for a in range(0x80, 0x100):
        for b in range(256):
            yield f"_{charset} x'{a:02x}{b:02x}'"
    if charset in TRIPLES:
        for a in range(0xa1, 0xff):
            for b in range(0xa1, 0xff):
                yield f"_{charset} x'8f{a:02x}{b:02x}'"


def insert(server, charset, most):
    """Texts that are not even well-formed are refused one by one: a block is halved until they are found."""
    def put(block):
        try:
            server.run("INSERT INTO c VALUES" + ",".join(f"({i},{sql})" for i, sql in block))
        except types_roundtrip.pymysql.Error:
            if len(block) > 1:
                put(block[:len(block) // 2])
                put(block[len(block) // 2:])
    block = []
    for i, sql in enumerate(texts(charset, most)):
        block.append((i, sql))
        if len(block) == ROWS:
            put(block)
            block = []
    if block:
        put(block)


def decoded(path):
    out = subprocess.run([servers.BINARY, "binlog", "decode", "--table", "*.c", path], capture_output=True, check=False)
    if out.returncode != 0:
        raise servers.Failed(f"decode: exit {out.returncode}: {out.stderr.decode()[-500:]}")
    for line in out.stdout.decode().split("\n"):
        if line:
            after = json.loads(line)["after"]
            yield after["id"], after["v"]


def round_trip(server, charset, most):
    server.run("DROP TABLE IF EXISTS c")
    server.run(f"CREATE TABLE c(id INT PRIMARY KEY, v VARCHAR(4) CHARACTER SET {charset})")
    path = server.new_log()
    insert(server, charset, most)
    server.run("FLUSH BINARY LOGS")
    wanted = {int(i): (data, text) for i, data, text in server.rows("SELECT id,HEX(v),HEX(CONVERT(v USING utf8mb4)) FROM c")}
    unknown, wrong, seen = 0, 0, 0
    for i, got in decoded(path):
        data, text = wanted[i]
        seen += 1
        right = isinstance(got, str) and got.encode().hex().upper() == text
        if not right and text in LOST:
            unknown += 1
            right = isinstance(got, str) or base64.b64decode(got["base64"]).hex().upper() == data
        if not right:
            wrong += 1
            if wrong <= 10:
                print(f"{charset} x'{data}': is {got!r}, should be x'{text}'")
    if seen != len(wanted):
        raise servers.Failed(f"{charset}: {seen} of {len(wanted)} texts")
    print(f"{charset}: {seen} texts, {unknown} that the server loses, {wrong} wrong", flush=True)
    return wrong


def run_all(server, only):
    for statement in ("SET NAMES utf8mb4", "SET GLOBAL binlog_row_metadata=FULL", "SET SESSION sql_mode='STRICT_ALL_TABLES'",
                      "DROP DATABASE IF EXISTS charsets", "CREATE DATABASE charsets", "USE charsets"):
        server.run(statement)
    listed = [(row[0], int(row[3])) for row in server.rows("SHOW CHARACTER SET") if row[0] != "binary"]
    wrong = sum(round_trip(server, charset, most) for charset, most in listed if not only or charset in only)
    if wrong:
        raise servers.Failed(f"{wrong} texts differ")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--server", default="mariadb", choices=["mariadb", "mariadb11", "mysql8", "mysql9"])
    parser.add_argument("--only", nargs="+", default=[])
    options = parser.parse_args()
    database = servers.Database(options.server, "charsets")
    database.start()
    try:
        run_all(types_roundtrip.Server(database.connect(conv={})), options.only)
    finally:
        database.stop()


if __name__ == "__main__":
    try:
        main()
    except servers.Failed as e:
        sys.exit(f"failed: {e}")

#!/usr/bin/env python3
"""Every character of every character set that a server lists, through the binlog.

    charsets_roundtrip.py [--server mariadb|mariadb11|mysql8|mysql9] [--only CHARSET...]

What `millrace binlog decode` prints of a text equals what the server's CONVERT(... USING utf8mb4) says of
it.  All bytes of the sets with one byte a character, all pairs of bytes of those with more (and the
triples that ujis and eucjpms have), all characters of the Unicode sets and of gb18030 (above U+FFFF each
16th).  Where the server knows no character for the bytes it says '?' or U+FFFD and has lost them; decode
gives the character if another standard of that name knows one, else the bytes: as text where they happen to
be UTF-8, else as base64.

The server makes the texts itself, from a table of numbers, with a statement for each part of a set.
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
ONE_PLANE = ("utf8mb3", "utf8", "ucs2")
LOST = ("3F", "3F3F", "EFBFBD")


def make_numbers(server):
    """The table n has i from 0 to 65,535."""
    digits = " UNION ALL ".join(f"SELECT {i} AS d" for i in range(16))
    for statement in ("SET sql_log_bin=0", "CREATE TABLE n(i INT PRIMARY KEY)",
                      f"INSERT INTO n WITH h AS ({digits}) SELECT a.d*4096+b.d*256+c.d*16+e.d FROM h a, h b, h c, h e",
                      "SET sql_log_bin=1"):
        server.run(statement)


def parts(charset, most):
    """Key, text and condition by i, as SQL."""
    if charset in UNICODE:
        text = "CONVERT(UNHEX(LPAD(HEX({}),8,'0')) USING utf32)"
        yield "i", text.format("i"), "i BETWEEN 1 AND 0xD7FF OR i >= 0xE000"
        if charset not in ONE_PLANE:
            yield "65536+i*16", text.format("65536+i*16"), "TRUE"
        return
    for key, data, where in bytes_of(charset, most):
        text = f"CONVERT({data} USING {charset})"
        yield key, text, f"({where}) AND HEX({text})=HEX({data})"  # what is not even well-formed is no text


def bytes_of(charset, most):
    yield "i", "UNHEX(LPAD(HEX(i),2,'0'))", "i < 256"
    if most > 1:
        yield "i", "UNHEX(HEX(i))", "i >= 0x8000"
    if charset in TRIPLES:
        yield ("0x8f0000+i", "UNHEX(CONCAT('8F',HEX(i)))",
               "i DIV 256 BETWEEN 0xa1 AND 0xfe AND i % 256 BETWEEN 0xa1 AND 0xfe")


def decoded(path):
    with subprocess.Popen([servers.BINARY, "binlog", "decode", "--table", "*.c", path], stdout=subprocess.PIPE) as decode:
        for line in decode.stdout:
            after = json.loads(line[line.rindex(b'"after":') + len('"after":'):-2])
            yield after["id"], after["v"]
    if decode.returncode != 0:
        raise servers.Failed(f"decode: exit {decode.returncode}")


def wanted(server):
    """By key the bytes of the text and of its UTF-8, in hexadecimal; in one row, which is quicker than many."""
    rows = server.rows("SELECT GROUP_CONCAT(id,',',HEX(v),',',HEX(CONVERT(v USING utf8mb4)) SEPARATOR ';') FROM c")
    for row in rows[0][0].split(";"):
        key, data, text = row.split(",")
        yield int(key), (data, text)


def round_trip(server, charset, most):
    strict = charset in UNICODE
    server.run("DROP TABLE IF EXISTS c")
    server.run(f"CREATE TABLE c(id INT, v VARCHAR(4) CHARACTER SET {charset}) ENGINE=MEMORY")
    server.run(f"SET SESSION sql_mode='{'STRICT_ALL_TABLES' if strict else ''}'")
    path = server.new_log()
    for key, text, where in parts(charset, most):
        server.run(f"INSERT INTO c SELECT {key},{text} FROM n WHERE {where}")
    want = dict(wanted(server))
    if len(want) < (128 if most == 1 else 5000):
        raise servers.Failed(f"{charset}: only {len(want)} texts to try")
    unknown, wrong, seen = 0, 0, 0
    for i, got in decoded(path):
        data, text = want[i]
        seen += 1
        right = isinstance(got, str) and got.encode().hex().upper() == text
        if not right and text in LOST:
            unknown += 1
            right = isinstance(got, str) or base64.b64decode(got["base64"]).hex().upper() == data
        if not right:
            wrong += 1
            if wrong <= 10:
                print(f"{charset} x'{data}': is {got!r}, should be x'{text}'")
    if seen != len(want):
        raise servers.Failed(f"{charset}: {seen} of {len(want)} texts")
    print(f"{charset}: {seen} texts, {unknown} that the server loses, {wrong} wrong", flush=True)
    return wrong


def run_all(server, only):
    for statement in ("SET NAMES utf8mb4", "SET GLOBAL binlog_row_metadata=FULL", "SET SESSION max_heap_table_size=1<<28",
                      "SET SESSION group_concat_max_len=1<<26", "DROP DATABASE IF EXISTS charsets",
                      "CREATE DATABASE charsets", "USE charsets"):
        server.run(statement)
    make_numbers(server)
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

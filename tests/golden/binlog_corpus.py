#!/usr/bin/env python3
"""Binlog files of other projects: what `millrace binlog decode` prints agrees with other decoders.

    binlog_corpus.py [FILE-PART...]

The files and the others' output are the test data beside the checkout (../shared/testdata, or
MILLRACE_TESTDATA); without it everything is skipped.  MILLRACE names the program.  Speaks TAP: a test
for each file and decoder.  Where a decoder is known to be wrong or to give up, KNOWN says so.
"""
import base64
import decimal
import gzip
import json
import os
import re
import struct
import subprocess
import sys
from datetime import datetime, timedelta, timezone

HERE = os.path.dirname(os.path.abspath(__file__))
REPO = os.path.dirname(os.path.dirname(HERE))
DATA = os.path.join(os.environ.get("MILLRACE_TESTDATA", os.path.join(REPO, "..", "shared", "testdata")), "binlog")
PROGRAM = os.environ.get("MILLRACE", "millrace")
FOLDERS = {"PrivateRookie/boxercrab": "PrivateRookie_boxercrab", "alibaba/canal": "alibaba_canal",
           "blackbeam/rust_mysql_common": "blackbeam_rust_mysql_common",
           "osheroff/mysql-binlog-connector-java": "osheroff_mysql-binlog-connector-java", "zalora/binlog-parser": "zalora_binlog-parser"}
MYSQL, MARIADB, JAVA = "mysqlbinlog-9.7.4", "mariadb-binlog-10.11.19", "osheroff-java"
SUFFIX = {MYSQL: ".mysqlbinlog-9.7.4.txt.gz", MARIADB: ".mariadb-binlog-10.11.19.txt.gz", JAVA: ".osheroff-java.txt.gz"}

# Files that end in an error, and its text.
BROKEN = {
    "binlog_truncated_event.000001": "the file ends inside an event's header",
    "binlog_truncated_prev_gtid_event.000001": "the file ends inside an event's header",
    "corrupt-relay-bin.000624": "damaged Query event",
    "ver_5_1-wl2325_r.001": "damaged Table_map event",  # an alpha of 5.1 had other table maps
}
# Events of other types by number: the index was made by a walk over headers.
OTHER_NUMBERS = {"ver_5_1-wl2325_r.001", "ver_5_1-wl2325_s.001"}
# Its first column is of BIT, which is not summed.
BITS_FIRST = "mysql_type_bit.000001"
# (file, decoder): why its rows are not compared.
KNOWN = {
    ("json.binlog.000001", JAVA): "skips partial updates",
    ("vector.binlog", JAVA): "stops at VECTOR",
    ("transaction_compression.000001", JAVA): "does not open payloads",
    ("mysql-bin.compressed", JAVA): "does not open payloads",
    ("transaction_compression.000001", MARIADB): "does not open payloads",
    ("mysql-bin.compressed", MARIADB): "does not open payloads",
    ("json-opaque.binlog", MARIADB): "has no binary JSON",
    ("json.binlog.000001", MARIADB): "has no binary JSON and no partial updates",
    ("vector.binlog", MARIADB): "has no VECTOR",
    ("binlog_transaction_with_GTID_TAG.000001", MARIADB): "does not know the GTID event",
    ("rpl_unfiltered_hidden_gcol.000001", MARIADB): "does not know the hidden column's type",
    ("rpl_unfiltered_hidden_gcol.000001", JAVA): "does not know the hidden column's type",
    ("mysql-bin.sakila", MYSQL): "refuses rows events of version 1",
    ("mysql-bin.000001", MYSQL): "refuses rows events of version 1",
    ("mysql-bin.07", MYSQL): "is a log of MariaDB",
    ("mariadb-bin.000001", MYSQL): "is a log of MariaDB",
    ("ver_5_1_23.001", MYSQL): "refuses rows events of version 1",
    ("update-full-row.binlog", MYSQL): "refuses rows events of version 1",
    ("update-partial-row.binlog", MYSQL): "refuses rows events of version 1",
    ("write-full-row.binlog", MYSQL): "refuses rows events of version 1",
    ("write-partial-row.binlog", MYSQL): "refuses rows events of version 1",
    ("ver_5_1-wl2325_s.001", MARIADB): "stops at the rows events of an alpha",
    ("ver_5_1-wl2325_s.001", MYSQL): "stops at the rows events of an alpha",
}
EVENT_NAMES = {"ANON_GTID": "Anonymous_Gtid", "PREV_GTIDS": "Previous_gtids", "FORMAT_DESC": "Format_desc", "WRITE_V1": "Write_rows_v1",
               "UPDATE_V1": "Update_rows_v1", "DELETE_V1": "Delete_rows_v1", "WRITE_V2": "Write_rows", "UPDATE_V2": "Update_rows",
               "DELETE_V2": "Delete_rows", "PARTIAL_UPDATE": "Update_rows_partial", "TRX_PAYLOAD": "Transaction_payload",
               "MARIA_GTID": "MariaDB_Gtid", "BEGIN_LOAD_QUERY": "Begin_load_query", "EXEC_LOAD_QUERY": "Execute_load_query",
               "PRE_GA_WRITE": "Write_rows_event_old", "PRE_GA_UPDATE": "Update_rows_event_old", "PRE_GA_DELETE": "Delete_rows_event_old",
               "ROWS_QUERY": "Rows_query", "TABLE_MAP": "Table_map", "GTID_TAGGED": "Gtid_tagged", "USER_VAR": "User_var",
               "ANNOTATE_ROWS": "Annotate_rows", "GTID_LIST": "Gtid_list", "BINLOG_CHECKPOINT": "Binlog_checkpoint",
               "APPEND_BLOCK": "Append_block", "T100": "Unknown"}


def decode(path, *options):
    done = subprocess.run([PROGRAM, "binlog", "decode", *options, path], capture_output=True, check=False)
    lines = [json.loads(line, parse_int=decimal.Decimal, parse_float=decimal.Decimal) for line in done.stdout.decode().split("\n") if line]
    return lines, done.returncode, done.stderr.decode(errors="replace")


def as_bytes(value):
    """A string value's bytes, whichever way it is printed."""
    if isinstance(value, dict) and list(value) == ["base64"]:
        return base64.b64decode(value["base64"])
    return value.encode() if isinstance(value, str) else None


# The dump tools: one "### @n=value /* TYPE ... */" a cell.

def unescape(text):
    out = bytearray()
    i = 0
    while i < len(text):
        if text[i:i + 2] == b"\\x":
            out.append(int(text[i + 2:i + 4], 16))
            i += 4
        elif text[i:i + 1] == b"\\" and i + 1 < len(text):
            out += {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"0": b"\0"}.get(text[i + 1:i + 2], text[i + 1:i + 2])
            i += 2
        else:
            out.append(text[i])
            i += 1
    return bytes(out)


CELL = re.compile(rb"###   @(\d+)=(.*?) /\* ([A-Z/]+\d*)(?:\((\d+)(?: bytes?|,\d+)?\))?.* meta=(\d+) nullable=\d is_null=(\d) \*/\n", re.S)


def dump_rows(text):
    """(op, [(number, type, value)] before and after) of every row."""
    rows, image = [], None
    for line in re.split(rb"(?<=\n)(?=### )", text):
        head = re.match(rb"### (INSERT INTO|UPDATE|DELETE FROM) ", line)
        cell = CELL.match(line)
        if head:
            rows.append(({b"I": "insert", b"U": "update", b"D": "delete"}[head[1][:1]], [], []))
            image = None
        elif line.startswith((b"### SET\n", b"### WHERE\n")):
            image = rows[-1][1 if line.startswith(b"### WHERE") else 2]
        elif cell and image is not None:
            image.append((int(cell[1]), cell[3].decode(), None if cell[6] == b"1" else cell[2]))
    return rows


def same_dump(kind, theirs, ours):
    if theirs is None or ours is None:
        return theirs is None and ours is None
    text = theirs.decode(errors="surrogateescape")
    if kind in ("INT", "TINYINT", "SHORTINT", "MEDIUMINT", "LONGINT"):
        return int(ours) in [int(n) for n in re.findall(r"-?\d+", text)]
    if kind == "DECIMAL":
        return ours == decimal.Decimal(text)
    if kind in ("FLOAT", "DOUBLE"):
        return abs(float(ours) - float(text)) <= 1e-5 * max(1e-30, abs(float(text)))
    if kind == "YEAR":
        return int(ours) == int(text) or (int(ours) == 0 and text == "1900")
    if kind == "BIT":
        return int(ours) == int(text[2:-1], 2)
    if kind == "SET":
        return isinstance(ours, list) or int(ours) == int(text[2:-1], 2)
    if kind == "ENUM":
        return isinstance(ours, str) or int(ours) == int(text)
    if kind == "TIMESTAMP":
        return ours.rstrip("Z") == epoch(text) or (text == "0" and ours.startswith("0000"))
    if kind == "DATETIME":
        return ours.replace("T", " ") == text.strip("'")
    if kind == "DATE":
        return ours == text.strip("'").replace(":", "-")
    if kind == "TIME":
        return ours == text.strip("'")
    if kind == "JSON":
        return ours == json.loads(text[1:-1], parse_int=decimal.Decimal, parse_float=decimal.Decimal)
    if kind == "VECTOR":
        return [f"{float(x):.5e}" for x in ours] == text.strip("[]").split(",")
    # Neither tool escapes all that it should: backslashes stand for themselves or not.
    hex_only = re.sub(rb"\\x([0-9a-f]{2})", lambda m: bytes([int(m[1], 16)]), theirs[1:-1])
    return as_bytes(ours) in (unescape(theirs[1:-1]), hex_only, theirs[1:-1])


def epoch(text):
    seconds, _, fraction = text.partition(".")
    moment = datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(seconds=int(seconds))
    return moment.strftime("%Y-%m-%dT%H:%M:%S") + ("." + fraction if fraction else "")


def compare_dump(text, changes):
    rows = dump_rows(text)
    if [r[0] for r in rows] != [c["op"] for c in changes]:
        return f"{len(rows)} rows, but {len(changes)} were decoded"
    for number, (row, change) in enumerate(zip(rows, changes)):
        for image, theirs in (("before", row[1]), ("after", row[2])):
            ours = list(change.get(image, {}).values())
            # Changes to a JSON value that the image before does not have: we leave it out.
            theirs = [t for t in theirs if not (t[2] or b"").startswith(b"JSON_")]
            if len(ours) != len(theirs):
                return f"row {number} {image}: {len(theirs)} cells, but {len(ours)} were decoded"
            for (column, kind, value), mine in zip(theirs, ours):
                if not same_dump(kind, value, mine):
                    return f"row {number} {image} @{column} {kind}: {value!r}, but {mine!r} was decoded"
    return None


# The Java decoder: raw numbers and bytes.

def java_values(text):
    """[1, 0x6162, null, "..."] as Python values."""
    out = []
    for token in re.findall(r"\[[^\]]*\]|[^,\[\]]+", text):
        out.append(token.strip())
    return out


def same_java(kind, meta, theirs, ours):
    if theirs == "NULL" or ours is None:
        return theirs == "NULL" and ours is None
    if kind in (1, 2, 3, 8, 9):
        width = {1: 8, 2: 16, 9: 24, 3: 32, 8: 64}[kind]
        return int(theirs) % (1 << width) == int(ours) % (1 << width)
    if kind in (4, 5):
        return float(ours) == float(theirs) or struct.pack("<f", float(ours)) == struct.pack("<f", float(theirs))
    if kind in (246,):
        return ours == decimal.Decimal(theirs)
    if kind == 13:
        return int(ours) == int(theirs) or (int(ours) == 0 and theirs == "1900")
    if kind in (7, 12, 17, 18):  # microseconds since 1970
        micros = int(theirs)
        if ours.startswith("0000") or "-00" in ours:
            return True  # Java has no zero dates
        mine = datetime.strptime(ours.rstrip("Z")[:26], "%Y-%m-%dT%H:%M:%S.%f" if "." in ours else "%Y-%m-%dT%H:%M:%S")
        return (mine - datetime(1970, 1, 1)) // timedelta(microseconds=1) == micros
    if kind in (10, 11, 19, 245, 255, 16, 242):
        return True  # compared with the dump tools
    if theirs.startswith("0x"):
        data = bytes.fromhex(theirs[2:])
        mine = as_bytes(ours)
        return mine is None or mine == data
    return True


def compare_java(text, changes):
    kinds, meta, n = [], [], 0
    for line in text.decode(errors="replace").splitlines():
        if line.startswith("TABLE_MAP"):
            parts = re.match(r"TABLE_MAP \S+ types ([\d ]+) meta \[(.*)\]", line)
            kinds, meta = [int(k) for k in parts[1].split()], parts[2].split(",")
            continue
        row = re.match(r"(INSERT|UPDATE|DELETE) (.*)", line)
        if not row:
            continue
        if n >= len(changes) or changes[n]["op"] != row[1].lower():
            return f"row {n}: {row[1]}, but {changes[n]['op'] if n < len(changes) else 'nothing'} was decoded"
        images = re.findall(r"\{([\d, ]*)\} (\[.*?\])(?= ->|$| \{)", row[2])
        for (columns, values), image in zip(images, [i for i in ("before", "after") if i in changes[n]]):
            numbers = [int(c) for c in columns.split(",") if c.strip()]
            theirs, ours = java_values(values[1:-1]), list(changes[n][image].values())
            if len(theirs) != len(ours):
                continue  # commas inside of text
            for column, value, mine in zip(numbers, theirs, ours):
                if column < len(kinds) and not same_java(kinds[column], meta, value, mine):
                    return f"row {n} {image} @{column + 1} type {kinds[column]}: {value}, but {mine!r} was decoded"
        n += 1
    return None if n == len(changes) else f"{n} rows, but {len(changes)} were decoded"


# Tests

class Tap:
    def __init__(self):
        self.n = self.failed = 0

    def say(self, name, fault):
        self.n += 1
        self.failed += fault is not None
        print(f"{'ok' if fault is None else 'not ok'} {self.n} - {name}")
        if fault is not None:
            print(f"# {fault[:600]}")


def check_events(tap, name, fields, path):
    lines, code, errors = decode(path, "--events")
    if name in BROKEN:
        tap.say(f"{name}: ends with its fault", None if code == 1 and BROKEN[name] in errors else f"exit {code}: {errors}")
        return
    tap.say(f"{name}: is read to its end", None if code == 0 else f"exit {code}: {errors}")
    if name in OTHER_NUMBERS or code != 0:
        return
    wanted, got = {}, {}
    for part in fields[7].split():
        kind, n = part.replace("in:", "").split("=")
        kind = EVENT_NAMES.get(kind, kind.capitalize())
        wanted[kind] = wanted.get(kind, 0) + int(n)
    for line in lines:
        if "event" in line:
            got[line["event"]] = got.get(line["event"], 0) + 1
    tap.say(f"{name}: has the events of the index", None if got == wanted else f"{wanted}, but {got} were decoded")


def check_inspect(tap, name, path):
    """The figures of a file are those of what decode prints of it."""
    lines, code, _ = decode(path, "--events")
    done = subprocess.run([PROGRAM, "binlog", "inspect", "-o", "json", path], capture_output=True, check=False)
    item = json.loads(done.stdout)["items"][0]
    events, changes = {}, {}
    for line in lines:
        if "event" in line:
            events[line["event"]] = events.get(line["event"], 0) + 1
        else:
            key = (line["database"], line["table"], line["op"] + "s")
            changes[key] = changes.get(key, 0) + 1
    told = {(table["database"], table["table"], op): table[op] for table in item["tables"] for op in ("inserts", "updates", "deletes") if table[op]}
    types = {}
    for kind in item["types"]:
        types[kind["event"]] = types.get(kind["event"], 0) + kind["count"]
    fault = None
    faults = ["damage"] * ("damage" in item) + [table["fault"] for table in item["tables"] if "fault" in table]
    if done.returncode != code or (faults != []) != (code != 0):
        fault = f"exit {done.returncode} with {faults}, but decode's is {code}"
    elif faults and faults != ["damage"]:
        pass  # decode ended there
    elif types != events:
        fault = f"events {types}, but decode has {events}"
    elif told != changes:
        fault = f"changes {told}, but decode has {changes}"
    tap.say(f"{name}: has the figures of what is in it", fault)


def check_count(tap, name, path):
    """The counts are those of what is printed."""
    changes, _, _ = decode(path)
    done = subprocess.run([PROGRAM, "binlog", "decode", "--format", "none", "--count", path], capture_output=True, check=False)
    images = [row[image] for row in changes for image in ("before", "after") if image in row]
    firsts = [next(iter(image.values()), None) for image in images]
    ops = [sum(row["op"] == op for row in changes) for op in ("insert", "update", "delete")]
    wanted = "ins={} upd={} del={} cells={} nulls={} idsum={}\n".format(
        *ops, sum(map(len, images)), sum(value is None for image in images for value in image.values()),
        sum(int(n) for n in firsts if isinstance(n, decimal.Decimal) and n == int(n) and name != BITS_FIRST))
    tap.say(f"{name}: is counted as it is printed", None if done.stdout.decode() == wanted else f"{wanted}, but {done.stdout.decode()}")


def check_rows(tap, name, sha, path):
    changes, code, errors = decode(path)
    for tool in (MYSQL, MARIADB, JAVA):
        expected = os.path.join(DATA, "expected", sha + SUFFIX[tool])
        if not os.path.exists(expected):
            continue
        if (name, tool) in KNOWN:
            print(f"# {name}: {tool} is no judge, it {KNOWN[name, tool]}")
            continue
        with gzip.open(expected) as f:
            text = f.read()
        compare = compare_java if tool == JAVA else compare_dump
        tap.say(f"{name}: agrees with {tool}", compare(text, changes))


def main():
    index = os.path.join(DATA, "INDEX.tsv")
    if not os.path.exists(index):
        print("1..0 # SKIP the test data is not there")
        return 0
    tap = Tap()
    with open(index) as f:
        rows = [line.rstrip("\n").split("\t") for line in f][1:]
    for fields in rows:
        path = os.path.join(DATA, FOLDERS[fields[1]], fields[2])
        name = os.path.basename(path)
        label = name if name != "log.bin" else fields[2].split("/")[2] + "/log.bin"
        if sys.argv[1:] and not any(part in fields[2] for part in sys.argv[1:]):
            continue
        check_events(tap, label, fields, path)
        check_rows(tap, label, fields[4], path)
        check_inspect(tap, label, path)
        check_count(tap, label, path)
    print(f"1..{tap.n}")
    return 1 if tap.failed else 0


if __name__ == "__main__":
    sys.exit(main())

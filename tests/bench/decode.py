#!/usr/bin/env python3
"""How fast `millrace binlog decode` is beside other decoders, on the same files in the same run.

    decode.py [--quick] [--rounds 5] [--scale 1] [--server mariadb|mariadb11|mysql8|mysql9] [--before MILLRACE] [--keep]

A server of the test tools writes three binlogs: narrow rows, wide rows, and transactions of one row.
The decoders take turns.  Peers: the connector that most Java programs use (Maven and a JDK, as the
engine's tools need them anyway), Rust's mysql_cdc where there is cargo, and on MySQL's logs mysql_common,
go-mysql where there is go, on MariaDB's logs mariadb-binlog (a Debian package, unpacked and not
installed).  All decode every cell into values; only mariadb-binlog also writes text, and Millrace checks
checksums.  What counts is processor time, least of the rounds, as other work on the machine disturbs
it less.  The limit is reading and checksumming the same bytes.

Prints a table, writes tests/run/bench-decode.json; fails if counts differ.  --quick: a fifth of the
rows, two rounds.  --scale 4: four times the rows, so that starting the program matters less.
--before: another build of Millrace takes turns with them.
"""
import argparse
import collections
import glob
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "integration"))
import servers  # noqa: E402
from servers import REPO, RUN, Database, Failed  # noqa: E402

LIMIT = os.path.join(os.path.dirname(servers.BINARY), "tests", "bench", "bench_decode")
PEERS = os.path.join(REPO, "tools", "cache", "bench-peers")
VERBOSE = "mariadb-binlog -v"
CHUNK = 500  # rows a statement
DECODE = ["binlog", "decode", "--format", "none", "--count"]

NARROW = """CREATE TABLE {} (
    id BIGINT NOT NULL PRIMARY KEY, device INT NOT NULL, level DECIMAL(12,3) NOT NULL,
    taken DATETIME(3) NOT NULL, label VARCHAR(64) CHARACTER SET utf8mb4 NOT NULL,
    state ENUM('idle','busy','failed','gone') NOT NULL, quality TINYINT NOT NULL,
    seen TIMESTAMP NOT NULL DEFAULT '2020-01-01 00:00:00', code VARCHAR(32) NOT NULL, parent INT NULL)"""
NARROW_ROW = """n, n * 7919 % 1000003, n % 999983 / 8, '2024-02-01' + INTERVAL n * 37001 * 1000 MICROSECOND,
    CONCAT('Zähler ', LEFT(SHA2(n, 224), 6 + n % 20)), 1 + n % 4, n % 200 - 100,
    FROM_UNIXTIME(1700000000 + n), CONCAT('C-', HEX(n * 2654435761 % 4294967296), '-', n % 10),
    IF(n % 4 = 0, NULL, n + 1)"""
WIDE_COLUMNS = [  # type, value of row n
    ("BIGINT NOT NULL PRIMARY KEY", "n"), ("INT UNSIGNED", "n * 31"), ("SMALLINT", "n % 30000 - 15000"),
    ("MEDIUMINT", "n % 8000000"), ("TINYINT UNSIGNED", "n % 256"), ("BIGINT UNSIGNED", "n * 99999999977"),
    ("DECIMAL(20,6)", "(n - 40000) / 977"), ("DECIMAL(10,0)", "n * 13"), ("DECIMAL(30,10)", "IF(n % 3 = 0, NULL, n / 7)"),
    ("FLOAT", "n / 8"), ("DOUBLE", "n / 7"), ("DOUBLE", "IF(n % 5 = 0, NULL, SQRT(n))"), ("BIT(1)", "n % 2"),
    ("BIT(20)", "n % 1000000"), ("SET('r','w','x','s','t')", "n % 32"), ("ENUM('low','mid','high')", "1 + n % 3"),
    ("DATE", "'1980-05-01' + INTERVAL n % 15000 DAY"), ("DATETIME", "'2002-03-04' + INTERVAL n SECOND"),
    ("DATETIME(6)", "'2021-01-01' + INTERVAL n * 1000003 MICROSECOND"), ("TIMESTAMP NULL", "FROM_UNIXTIME(1500000000 + n)"),
    ("TIMESTAMP(3) NULL", "FROM_UNIXTIME(1600000000 + n / 8)"), ("TIME", "SEC_TO_TIME(n % 100000 - 20000)"),
    ("TIME(6)", "SEC_TO_TIME((n % 500000 - 90000) / 7)"), ("YEAR", "1950 + n % 150"),
    ("CHAR(10)", "LEFT(SHA2(n, 224), n % 11)"), ("VARCHAR(100)", "CONCAT('/var/data/', SHA2(n, 224), '.bin')"),
    ("VARCHAR(300)", "CONCAT(SHA2(n + 1, 224), ' ', SHA2(n + 2, 224))"), ("BINARY(16)", "UNHEX(LEFT(SHA2(n, 224), 32))"),
    ("VARBINARY(64)", "UNHEX(LEFT(SHA2(n + 3, 224), 2 * (n % 25)))"), ("TEXT", "CONCAT('a note of some words: ', REPEAT('pq ', n % 40))"),
    ("MEDIUMTEXT", "REPEAT('数据 ', 1 + n % 6)"), ("BLOB", "UNHEX(REPEAT(SHA2(n, 224), 2))"),
    ("JSON", "JSON_OBJECT('n', n, 'name', CONCAT('user ', n), 'tags', JSON_ARRAY('a', 'b', n % 7), 'in', JSON_OBJECT('x', n / 4))"),
    ("INT", "IF(n % 8 = 0, n, NULL)"), ("VARCHAR(50)", "IF(n % 4 = 0, 'there', NULL)"),
]
TINY = """CREATE PROCEDURE one_by_one(total INT) BEGIN
    DECLARE n INT DEFAULT 1;
    WHILE n <= total DO
        IF n % 10 < 5 THEN INSERT INTO tiny SELECT {} FROM (SELECT n) AS one;
        ELSEIF n % 10 < 9 THEN UPDATE tiny SET level = level + 1, state = 1 + n % 4, parent = n WHERE id = n - 5;
        ELSE DELETE FROM tiny WHERE id = n - 5; END IF;
        SET n = n + 1;
    END WHILE; END"""


class Bench:
    def __init__(self, options):
        self.options = options
        self.rounds, self.scale = (2, 0.2) if options.quick else (options.rounds, options.scale)
        self.db = Database(options.server, "bench-decode")
        self.decoders = {"Millrace": [servers.BINARY, *DECODE]}
        if options.before:
            self.decoders["Millrace before"] = [options.before, *DECODE]
        self.results = {}

    # -- the logs

    def start(self):
        self.db.start("--innodb-buffer-pool-size=512M", "--max-binlog-size=1G", "--default-time-zone=+00:00")
        self.db.sql("DROP DATABASE IF EXISTS bench", "CREATE DATABASE bench CHARACTER SET utf8mb4")
        wide = ", ".join(f"c{i} {t}" for i, (t, _) in enumerate(WIDE_COLUMNS))
        doublings = max(19, math.ceil(math.log2(500000 * self.scale)))
        doubling = ["INSERT INTO numbers SELECT n + (SELECT MAX(n) FROM numbers) FROM numbers"] * doublings
        self.db.sql("SET sql_log_bin = 0", NARROW.format("narrow"), NARROW.format("tiny"), f"CREATE TABLE wide ({wide})",
                    "CREATE TABLE numbers (n INT PRIMARY KEY)", "INSERT INTO numbers VALUES (1)", *doubling,
                    TINY.format(NARROW_ROW), schema="bench")

    def chunks(self, rows, statement):
        """The statement for each range of so many rows; it has places for a first and a last n."""
        rows = int(rows * self.scale)
        return [statement.format(k + 1, min(k + CHUNK, rows)) for k in range(0, rows, CHUNK)]

    def narrow(self):
        return (self.chunks(500000, f"INSERT INTO narrow SELECT {NARROW_ROW} FROM numbers WHERE n BETWEEN {{}} AND {{}}")
                + self.chunks(200000, "UPDATE narrow SET level = level + 1, state = 1 + id % 4, "
                              "seen = seen + INTERVAL 1 MINUTE WHERE id BETWEEN {} AND {}")
                + self.chunks(100000, "DELETE FROM narrow WHERE id BETWEEN {} AND {}"))

    def wide(self):
        row = ", ".join(value for _, value in WIDE_COLUMNS)
        return (self.chunks(60000, f"INSERT INTO wide SELECT {row} FROM numbers WHERE n BETWEEN {{}} AND {{}}")
                + self.chunks(25000, "UPDATE wide SET c6 = c6 + 1, c29 = CONCAT(c29, '!'), c33 = c0 WHERE c0 BETWEEN {} AND {}"))

    def tiny(self):
        return [f"CALL one_by_one({int(150000 * self.scale)})"]

    def write_log(self, statements):
        """The binlog file that has what the statements change, and nothing else."""
        self.db.sql("FLUSH BINARY LOGS")
        name = self.db.log_end()[0]
        self.db.sql(*statements, schema="bench")
        self.db.sql("FLUSH BINARY LOGS")
        return os.path.join(self.db.folder, "data", name)

    # -- the decoders

    def make_peers(self):
        os.makedirs(PEERS, exist_ok=True)
        self.make("Java connector", "mvn", self.make_java)
        self.make("Rust mysql_cdc", "cargo", lambda: self.make_rust("mysql_cdc"))
        self.make("go-mysql", "go", self.make_go)
        if self.db.is_mariadb:
            self.make(VERBOSE, "dpkg", self.make_mariadb_binlog)
        else:  # it knows no event that only MariaDB writes
            self.make("Rust mysql_common", "cargo", lambda: self.make_rust("mysql_common"))

    def make(self, name, needs, how):
        """A peer that cannot be had is left out."""
        try:
            if shutil.which(needs):
                self.decoders[name] = how()
            else:
                say(f"without {name}: there is no {needs}")
        except subprocess.CalledProcessError as e:
            say(f"without {name}: {e.output.decode()[-300:]}")

    @staticmethod
    def make_java():
        source, jars = os.path.join(HERE, "peers", "java"), os.path.join(PEERS, "jars")
        tool(["mvn", "-q", "-B", "-f", os.path.join(source, "pom.xml"),
              "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies", f"-DoutputDirectory={jars}"])
        tool(["javac", "-cp", f"{jars}/*", "-d", PEERS, os.path.join(source, "Decode.java")])
        return ["java", "-Xmx1g", "-cp", f"{jars}/*:{PEERS}", "Decode"]

    @staticmethod
    def copy(name):
        source = os.path.join(PEERS, name)
        shutil.rmtree(source, ignore_errors=True)
        shutil.copytree(os.path.join(HERE, "peers", name), source)
        return source

    def make_rust(self, name):
        target = os.path.join(PEERS, "rust-target")  # lives longer than the copy, so it is built once
        tool(["cargo", "build", "--release", "-q", "--bin", name, "--target-dir", target], cwd=self.copy("rust"))
        return [os.path.join(target, "release", name)]

    def make_go(self):
        source = self.copy("go")
        tool(["go", "mod", "tidy"], cwd=source)  # what the pinned version needs
        tool(["go", "build", "-o", "decode", "."], cwd=source)
        return [os.path.join(source, "decode")]

    @staticmethod
    def make_mariadb_binlog():
        unpacked = os.path.join(PEERS, "mariadb-client")
        if not os.path.isdir(unpacked):
            tool(["apt-get", "download", "-q", "mariadb-client"], cwd=PEERS)
            tool(["dpkg", "-x", glob.glob(os.path.join(PEERS, "mariadb-client_*.deb"))[-1], unpacked])
        return [os.path.join(unpacked, "usr", "bin", "mariadb-binlog"), "--no-defaults", "-v", "--base64-output=DECODE-ROWS"]

    # -- measuring

    def measure(self, workload, path):
        counts, runs = {}, {}
        for i in range(self.rounds):
            names = list(self.decoders)[::1 if i % 2 else -1]
            for name in names:
                took = run(self.decoders[name] + [path])
                if took is None:
                    say(f"{name} cannot read the {workload} log")
                    continue
                runs.setdefault(name, []).append(took)
                counts[name] = took["counts"]
        if VERBOSE in counts:
            counts[VERBOSE] = counts_in_text(self.decoders[VERBOSE] + [path])
        told = set(counts.values())
        if len(told) != 1:
            raise Failed(f"{workload}: the decoders count differently: {counts}")
        rows, size = sum(int(n) for n in re.findall(r"=(\d+)", told.pop())[:3]), os.path.getsize(path)
        limit = re.search(r"limit (\d+) MB/s, share (\d+) %", tool([LIMIT, "--repeat", str(self.rounds), path]))
        ours = min(r["cpu_s"] for r in runs["Millrace"])
        for name, all_runs in runs.items():
            cpu = min(r["cpu_s"] for r in all_runs)
            self.results.setdefault(workload, {})[name] = {
                "rows_s": round(rows / cpu), "mb_s": round(size / cpu / 1e6), "ratio": round(cpu / ours, 2),
                "wall_s": round(min(r["wall_s"] for r in all_runs), 3), "peak_mib": max(r["peak_mib"] for r in all_runs),
                "rounds_cpu_s": [round(r["cpu_s"], 3) for r in all_runs]}
        self.results[workload]["Millrace"] |= {"limit_mb_s": int(limit[1]), "share_percent": int(limit[2])}

    def table(self):
        lines = ["| workload | decoder | rows/s | MB/s | peak memory | Millrace is | of the limit |", "|---|---|---|---|---|---|---|"]
        for workload, by_name in self.results.items():
            for name, r in by_name.items():
                ratio = "" if name == "Millrace" else f"{r['ratio']:.1f} times as fast"
                share = f"{r['share_percent']} % of {r['limit_mb_s']:,} MB/s" if "share_percent" in r else ""
                lines.append(f"| {workload} | {name} | {r['rows_s']:,} | {r['mb_s']:,} | {r['peak_mib']} MiB | {ratio} | {share} |")
        return "\n".join(lines)


def tool(command, cwd=None):
    return subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=True).stdout.decode()


def run(command):
    """Processor time, time and memory of a decoder; None: it cannot read this file."""
    peak = 0
    with tempfile.TemporaryFile() as out:
        since = time.monotonic()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL if "-v" in command else out)
        done = (0, 0, None)
        while done[0] == 0:
            # Not that of getrusage, which begins with the peak of whoever started it.
            peak = max(peak, peak_kib(process.pid))
            time.sleep(0.005)
            done = os.wait4(process.pid, os.WNOHANG)
        seconds = time.monotonic() - since
        process.returncode = os.waitstatus_to_exitcode(done[1])
        out.seek(0)
        said = out.read().decode().strip().splitlines()
    if process.returncode != 0:
        return None
    return {"cpu_s": done[2].ru_utime + done[2].ru_stime, "wall_s": seconds, "peak_mib": peak // 1024,
            "counts": said[-1] if said else ""}


def counts_in_text(command):
    """Millrace's count line, of what mariadb-binlog writes."""
    counts = collections.Counter()
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdout=subprocess.PIPE) as process:
        for line in process.stdout:
            if line.startswith(b"###   @"):
                counts["cells"] += 1
                counts["nulls"] += line.endswith(b"=NULL\n")
                if line.startswith(b"###   @1="):
                    counts["idsum"] += int(line[9:])
            elif line.startswith(b"### "):
                counts[line[4:7]] += 1
    return (f"ins={counts[b'INS']} upd={counts[b'UPD']} del={counts[b'DEL']}"
            f" cells={counts['cells']} nulls={counts['nulls']} idsum={counts['idsum']}")


def peak_kib(pid):
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as f:
        found = re.search(r"VmHWM:\s+(\d+)", f.read())
    return int(found.group(1)) if found else 0


def say(text):
    print(text, file=sys.stderr, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--server", default="mariadb")
    parser.add_argument("--before", metavar="MILLRACE")
    parser.add_argument("--keep", action="store_true")
    bench = Bench(parser.parse_args())
    try:
        bench.make_peers()
        bench.start()
        for workload in ("narrow", "wide", "tiny"):
            say(f"{workload}: writing the log")
            path = bench.write_log(getattr(bench, workload)())
            say(f"{workload}: {os.path.getsize(path) // 1000000} MB")
            bench.measure(workload, path)
        with open(os.path.join(RUN, "bench-decode.json"), "w", encoding="utf-8") as f:
            json.dump(bench.results, f, indent=1)
        print(bench.table())
    finally:
        servers.stop_all()
        if not bench.options.keep:
            bench.db.wipe()
    return 0


if __name__ == "__main__":
    sys.exit(main())

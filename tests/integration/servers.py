"""The servers that tests talk to: a database, a search engine, and Millrace itself.

Everything lies under RUN, on ports that nobody else has.
"""
import contextlib
import decimal
import glob
import json
import os
import random
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import time
import urllib.parse
import zlib
from http.client import HTTPConnection, HTTPException

import pymysql
import yaml

HERE = os.path.dirname(os.path.abspath(__file__))
REPO = os.path.dirname(os.path.dirname(HERE))
RUN = os.path.join(REPO, "tests", "run")
BINARY = os.path.abspath(os.environ.get("MILLRACE", os.path.join(REPO, "build-tests", "plain", "millrace")))


class Failed(Exception):
    """A test's expectation that did not hold; its text is what the report shows."""


claims = []  # a name in the kernel for each port given out, which goes with this process


def free_port(*above):
    """A port that nobody listens at, and that no other process gets from here while this one lives.

    Below all that systems take local ends of connections from: a server that is restarted must find
    its port free, and a client that keeps trying must not connect to itself. The ports that are so far
    above it are free, too, and nobody's else."""
    while True:
        port = random.SystemRandom().randrange(4000, 9900)
        got = [claim(port + more) for more in (0, *above)]
        if all(got):
            claims.extend(got)
            return port
        for one in filter(None, got):
            one.close()


def claim(port):
    """A name for the port, or None if somebody has it."""
    name = socket.socket(socket.AF_UNIX)
    try:
        name.bind(f"\0millrace-test-port-{port}")
        with socket.socket() as s:
            s.bind(("127.0.0.1", port))
    except OSError:
        name.close()
        return None
    return name


SLOWEST = 0.2


def wait_until(what, check, seconds=30, pause=0.05, progress=None):
    """Calls check until it gives something true and returns that; Failed after that many seconds.

    They begin anew each time that progress(), where it is given, gives another value than before.
    Most checks start programs: they become rarer than each `pause` seconds, so that who waits takes no
    processor from what it waits for."""
    since, last = time.monotonic(), None
    end = since + seconds
    while True:
        value = check()
        if value:
            return value
        if progress and last != (last := progress()):
            end = time.monotonic() + seconds
        if time.monotonic() > end:
            raise Failed(f"not within {seconds} s: {what() if callable(what) else what}")
        time.sleep(max(pause, min(SLOWEST, (time.monotonic() - since) / 20)))


def while_loaded(least):
    """Rounds for so many seconds, or for LOAD_MINUTES if these are more."""
    until = time.monotonic() + max(least, 60 * float(os.environ.get("LOAD_MINUTES", "0")))
    while time.monotonic() < until:
        yield


def stays(what, check, seconds, pause=0.05):
    """For what must not happen: calls check for that many seconds; Failed when it gives something false."""
    end = time.monotonic() + seconds
    while True:
        if not check():
            raise Failed(f"not for {seconds} s: {what() if callable(what) else what}")
        if time.monotonic() > end:
            return
        time.sleep(pause)


def let_pass(why, seconds):
    """For time that is no waiting, and why: the rhythm of a load, a slow server, the moment of a fault."""
    del why  # it is for the reader
    time.sleep(seconds)


def run_script(*args):
    done = subprocess.run(args, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False)
    if done.returncode != 0:
        raise Failed(f"{' '.join(args[:2])}: exit {done.returncode}\n{done.stdout[-2000:]}")
    return done.stdout


MYSQL, OPENSEARCH = os.path.join(REPO, "tools/mysql/server"), os.path.join(REPO, "tools/opensearch/node")


MEMORY = "/dev/shm"
ROOM = 6 << 30  # bytes that are free there, of which a lane's servers take half a gigabyte


def in_memory(lane):
    """What a lane has there, which goes with it."""
    return os.path.join(MEMORY, f"millrace-{zlib.crc32(lane.encode()):08x}")


def place(name):
    """The folder of a server of this name.

    In a lane it is in memory: servers make and drop files all the time, which costs a disk's file system a
    tenth of all processor time."""
    if os.environ.get("TEST_LANE") == RUN and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ROOM:
        return os.path.join(in_memory(RUN), name)
    return os.path.join(RUN, name)


def parse_json(text):
    """Numbers are Decimals, so that no digit is lost."""
    return json.loads(text, parse_float=decimal.Decimal, parse_int=decimal.Decimal)


class Server:
    """A server with a folder of its own, where a file has its process id."""

    def stop(self):
        raise NotImplementedError

    def pid(self):
        with open(os.path.join(self.folder, "pid")) as f:
            return int(f.read())

    def kill(self):
        pid = self.pid()
        os.kill(pid, signal.SIGKILL)
        wait_until(f"the killed server of {self.folder} is gone", lambda: not running(pid))

    def signal(self, number):
        os.kill(self.pid(), number)

    def wipe(self):
        """Without a farewell: nothing of it is wanted any more."""
        try:
            with open(f"/proc/{self.pid()}/cmdline", encoding="utf-8") as f:
                up = self.folder in f.read()  # and not another process that has its number now
        except OSError:
            up = False
        if up:
            Server.kill(self)
        shutil.rmtree(self.folder, ignore_errors=True)


class Database(Server):
    """One MySQL or MariaDB server of a flavour of tools/mysql/server."""

    always = []  # options that every server of this run gets, before those of its test

    def __init__(self, flavour="mariadb", name="database"):
        self.flavour = flavour
        self.folder = place(f"{name}-{flavour}")
        self.port = free_port()
        self.options = []

    @property
    def is_mariadb(self):
        return self.flavour.startswith("mariadb")

    def start(self, *options):
        self.options = list(options)
        run_script(MYSQL, "start", "--flavour", self.flavour, "--data", self.folder, "--port", str(self.port),
                   "--", *self.always, *options)

    def stop(self):
        run_script(MYSQL, "stop", "--data", self.folder)

    def restart(self, *options):
        self.stop()
        self.start(*options)

    def kill(self):
        super().kill()
        for name in glob.glob(os.path.join(self.folder, "data", "*.sock.lock")):
            os.unlink(name)  # MySQL does not start while its process is not collected, or another has its number

    def connect(self, schema=None, **more):
        with open(os.path.join(self.folder, "password")) as f:
            password = f.read()
        if self.flavour == "mysql9":  # caching_sha2 gives the password only inside TLS
            own = [o.split("=", 1)[1] for o in self.options if o.startswith("--ssl-ca=")]
            ca = own[0] if own else os.path.join(self.folder, "data", "ca.pem")
            more.setdefault("ssl", {"ca": ca, "check_hostname": False})
        settings = dict(host="127.0.0.1", port=self.port, user="root", password=password, database=schema,
                        charset="utf8mb4", autocommit=True, connect_timeout=10)
        return pymysql.connect(**(settings | more))

    def sql(self, *statements, schema=None):
        """Runs the statements in one connection and returns the last one's rows."""
        connection = self.connect(schema)
        try:
            with connection.cursor() as cursor:
                for statement in statements:
                    cursor.execute(statement)
                return cursor.fetchall()
        finally:
            connection.close()

    def session(self, schema=None):
        """A function as sql() whose connection stays, for who asks all the time; of one thread."""
        connection = self.connect(schema)

        def sql(*statements):
            connection.ping(reconnect=True)  # it may have been killed meanwhile
            with connection.cursor() as cursor:
                for statement in statements:
                    cursor.execute(statement)
                return cursor.fetchall()
        return sql

    def kill_connections(self, where):
        """Those of the process list that fit; one that ends by itself meanwhile is as good."""
        for row in self.sql(f"SELECT id FROM information_schema.processlist WHERE {where}"):
            try:
                self.sql(f"KILL {row[0]}")
            except pymysql.err.OperationalError as error:
                if error.args[0] != 1094:  # no such thread
                    raise

    def log_end(self):
        """File and offset where the log ends."""
        for statement in ("SHOW BINARY LOG STATUS", "SHOW MASTER STATUS"):  # MySQL 9 has only the first
            try:
                return self.sql(statement)[0][:2]
            except pymysql.err.MySQLError:
                continue
        raise Failed("the server has no log")


class Engine(Server):
    """One OpenSearch node of tools/opensearch."""

    major = "2"  # its version, the same for all of this run

    def __init__(self, name="engine"):
        self.folder = place(name)
        self.port, self.transport = free_port(), free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.heap, self.compiler = "640m", "quick"

    def start(self, *settings):
        more = [word for setting in settings for word in ("--set", setting)]
        run_script(OPENSEARCH, "start", "--major", self.major, "--data", self.folder, "--port", str(self.port), "--transport",
                   str(self.transport), "--heap", self.heap, "--compiler", self.compiler, *more)

    def stop(self):
        run_script(OPENSEARCH, "stop", "--data", self.folder)

    def ask(self, method, path, body=None, ok=(200, 201), timeout=60):
        """One request; the answer parsed with exact numbers.  ok=None accepts every status."""
        status, text = http(method, self.url + path, body, timeout=timeout)
        if ok is not None and status not in ok:
            raise Failed(f"{method} {path}: {status} {text[:500]}")
        return parse_json(text) if text else None

    def count(self, index):
        self.ask("POST", f"/{index}/_refresh")
        return int(self.ask("GET", f"/{index}/_count")["count"])

    def get(self, index, key):
        """A document's _source, or None."""
        answer = self.ask("GET", f"/{index}/_doc/{urllib.parse.quote(str(key), safe='')}", ok=(200, 404))
        return answer.get("_source") if answer.get("found") else None

    def documents(self, index, page=5000, routing=False):
        """Yields (id, _source, _version) of every document; the last write is visible.

        routing: it stands in the source as `_routing`, where there is one."""
        for hit in self.hits(index, page):
            placed = {"_routing": hit["_routing"]} if routing and "_routing" in hit else {}
            yield hit["_id"], hit["_source"] | placed, int(hit["_version"])

    def hits(self, pattern, page=5000):
        """Yields every document of the indexes as a search shows it."""
        self.ask("POST", f"/{pattern}/_refresh")
        answer = self.ask("POST", f"/{pattern}/_search?scroll=2m",
                          {"size": page, "sort": ["_doc"], "version": True, "query": {"match_all": {}}})
        while answer["hits"]["hits"]:
            yield from answer["hits"]["hits"]
            answer = self.ask("POST", "/_search/scroll", {"scroll": "2m", "scroll_id": answer["_scroll_id"]})
        self.ask("DELETE", "/_search/scroll", {"scroll_id": answer["_scroll_id"]})


def http(method, url, body=None, timeout=60, headers=None):
    """(status, text); a body that is no string is sent as JSON."""
    at = urllib.parse.urlsplit(url)
    connection = HTTPConnection(at.hostname, at.port, timeout=timeout)
    try:
        if body is not None and not isinstance(body, (str, bytes)):
            body = json.dumps(body)
        if isinstance(body, str):
            body = body.encode()
        head = {"Content-Type": "application/json"} | (headers or {})
        connection.request(method, at.path + ("?" + at.query if at.query else ""), body, head)
        answer = connection.getresponse()
        return answer.status, answer.read().decode("utf-8", "replace")
    finally:
        connection.close()


class SocketConnection(HTTPConnection):
    """To a daemon's socket."""

    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def running(pid):
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


class Millrace:
    """One daemon with a data folder and a configuration of its own, and the commands that speak to it."""

    def __init__(self, name, engine, **config):
        self.folder = os.path.join(RUN, "millrace", name)
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.config_file = os.path.join(self.folder, "millrace.yaml")
        self.log = os.path.join(self.folder, "log")
        self.process = None
        self.program = BINARY
        self.is_cluster = False  # of one node, which others need not know
        self.config = {"listen": f"127.0.0.1:{self.port}", "data": os.path.join(self.folder, "data"),
                       "socket": short_socket(self.folder), "search": {"url": [engine.url]}}
        self.configure(**config)

    def configure(self, **config):
        """Changes settings; a running daemon sees them after its next start.

        A blown fuse is tried again soon, as engines here are stopped and started in a moment."""
        self.config |= config
        self.config["delivery"] = {"reset_after": "1s"} | self.config.get("delivery", {})
        with open(self.config_file, "w") as f:
            yaml.safe_dump(self.config, f, sort_keys=False)

    def write(self, name, text, mode=0o600):
        path = os.path.join(self.folder, name)
        with open(path, "w") as f:
            f.write(text)
        os.chmod(path, mode)
        return path

    def start(self, wait=True, environment=None):
        if self.process is None or self.process.poll() is not None:
            with open(self.log, "ab") as log:
                self.process = subprocess.Popen([self.program, "run", "--config", self.config_file],
                                                stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder,
                                                env=os.environ | (environment or {}), start_new_session=True)
            started.append(self)
        if wait:
            wait_until(lambda: "the daemon is ready; its log ends:\n" + self.log_tail(), self.is_ready, 30, 0.02)
            if self.is_cluster:
                self.wait_for_topics()
        return self

    def wait_for_topics(self):
        """The session of the run that was killed ends first.  A topic may have a reason not to come: nothing fails here."""
        with contextlib.suppress(Failed):
            wait_until("it has its topics", lambda: all(topic["told_ms"] == 0 for topic in self.status(ok=(0, 1))["topics"]), 10)

    def is_ready(self):
        self.check_alive()
        try:
            return http("GET", self.url + "/readyz", timeout=5)[0] == 200
        except OSError:
            return False

    def check_alive(self):
        if self.process.poll() is not None:
            raise Failed(f"the daemon ended with {self.process.returncode}; its log ends:\n{self.log_tail()}")

    def kill_if_running(self):
        if self.process is not None and self.process.poll() is None:
            self.kill()

    def log_tail(self, size=1500):
        with open(self.log, "rb") as f:
            return f.read()[-size:].decode("utf-8", "replace")

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self, seconds=70):
        """SIGTERM and wait; returns the exit status."""
        if self.process is None or self.process.poll() is not None:
            return self.process.returncode if self.process else 0
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise Failed(f"the daemon was still there {seconds} s after SIGTERM; its log ends:\n{self.log_tail()}")

    def command(self, *args, ok=(0,), input=None, timeout=120, environment=None):
        """Runs `millrace ARGS`; a CompletedProcess with text.  ok=None accepts every exit status."""
        done = subprocess.run([self.program, *args, "--config", self.config_file], input=input or "", text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.folder,
                              timeout=timeout, check=False, env=os.environ | (environment or {}))
        if ok is not None and done.returncode not in ok:
            raise Failed(f"millrace {' '.join(args)}: exit {done.returncode}\n{done.stdout[-1500:]}{done.stderr[-1500:]}")
        return done

    def json(self, *args, **more):
        """Like command(); what it printed.  None if it printed nothing, as ok=None accepts."""
        printed = self.command(*args, "-o", "json", **more).stdout
        return parse_json(printed) if printed else None

    def status(self, **more):
        """What the command of this name prints, for those who ask all the time, from the socket as the command gets it.

        A command for each look takes twenty times the processor time. Who gets no answer hears from the
        command why; more: see command()."""
        connection = SocketConnection(self.config["socket"], 10)
        with contextlib.closing(connection), contextlib.suppress(OSError, HTTPException):
            connection.request("GET", "/api/v1/status")
            answer = connection.getresponse()
            text = answer.read().decode()
            if answer.status == 200:
                return parse_json(text)
        return self.json("status", **more)

    def apply(self, definitions, *options, **more):
        """definitions: YAML text or the object of it."""
        if not isinstance(definitions, str):
            definitions = yaml.safe_dump(definitions, sort_keys=False, allow_unicode=True)
        return self.command("apply", self.write("definitions.yaml", definitions), *options, **more)

    def build(self, table, *options, **more):
        return self.command("index", "create", table, "--wait", *options, **more)

    def metrics(self):
        """{(name, ((label, value), ...)): value} of /metrics."""
        status, text = http("GET", self.url + "/metrics", timeout=10)
        if status != 200:
            raise Failed(f"/metrics: {status}")
        return parse_metrics(text)

    def has_done_all(self):
        """Whether the topics that it follows have read what their servers have, and all of that is done."""
        status = self.status()
        return status["changes"]["in_flight"] == 0 and all(t["lag_bytes"] == 0 for t in status["topics"] if t.get("told_ms", 0) == 0)

    def metric(self, name, **labels):
        """The sum of a metric's series that have these labels."""
        wanted = set(labels.items())
        return sum((value for (n, pairs), value in self.metrics().items() if n == name and wanted <= set(pairs)),
                   decimal.Decimal(0))

    def rss_kib(self):
        with open(f"/proc/{self.process.pid}/status") as f:
            return int(re.search(r"VmRSS:\s+(\d+)", f.read()).group(1))


def row_sum(*values):
    """As src/store/sqlite_sum.h says; without it SQLite writes to no table of a store."""
    total = 0
    for value in values:
        if value is None:
            part = b"n"
        elif isinstance(value, int):
            part = b"i" + (value % 2**64).to_bytes(8, "little")
        else:
            data = value.encode() if isinstance(value, str) else value
            part = b"t" + len(data).to_bytes(8, "little") + data
        total = zlib.crc32(part, total)
    return total


class RemoteStore:
    """A store on a server, with the statements and values that SQLite knows."""

    def __init__(self, daemon):
        at = urllib.parse.urlsplit(daemon.config["store"])
        with open(os.path.join(daemon.folder, daemon.config["store_password_file"]), "rb") as f:
            self.connection = pymysql.connect(host=at.hostname, port=at.port, user=at.username, password=f.read().rstrip(),
                                              database=at.path[1:], autocommit=True)

    def execute(self, statement, values=()):
        self.cursor = self.connection.cursor()
        self.rowcount = self.cursor.execute(statement.replace("%", "%%").replace("?", "%s"), values)
        return self

    def executemany(self, statement, rows):
        for row in rows:
            self.execute(statement, row)
        return self

    def fetchall(self):
        return [tuple(text_or_bytes(value) for value in row) for row in self.cursor.fetchall()]

    def fetchone(self):
        row = self.cursor.fetchone()
        return row and tuple(text_or_bytes(value) for value in row)

    def __iter__(self):
        return iter(self.fetchall())

    def close(self):
        self.connection.close()


def text_or_bytes(value):
    try:
        return value.decode() if isinstance(value, bytes) else value
    except UnicodeDecodeError:
        return value


def open_store(daemon):
    """The store of a daemon that is dead, or to be read only, to be closed by contextlib's `with`; each statement is a transaction."""
    if "store" in daemon.config:
        return contextlib.closing(RemoteStore(daemon))
    store = sqlite3.connect(os.path.join(daemon.folder, "data", "millrace.db"), timeout=20, isolation_level=None)
    store.create_function("row_sum", -1, row_sum, deterministic=True)
    return contextlib.closing(store)


SERIES = re.compile(r'^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$')
LABEL = re.compile(r'([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"')


def parse_metrics(text):
    series = {}
    for line in text.splitlines():
        if line.startswith("#") or not line:
            continue
        found = SERIES.match(line)
        if not found:
            raise Failed(f"/metrics: not a line of the text format: {line!r}")
        key = found[1], tuple(sorted(LABEL.findall(found[2] or "")))
        if key in series:
            raise Failed(f"/metrics: twice: {line!r}")
        series[key] = decimal.Decimal(found[3]) if found[3] not in ("NaN", "+Inf", "-Inf") else found[3]
    return series


def short_socket(folder):
    """The socket's path, which may have 107 bytes at most: deep checkouts get one under /tmp."""
    path = os.path.join(folder, "millrace.sock")
    if len(path) > 107:
        path = f"/tmp/millrace-{os.getpid()}-{abs(hash(folder)) % 10**8}.sock"
    return path


started = []  # every daemon of this process, for a runner of its own to stop at its end


def stop_all():
    for daemon in started:
        if daemon.process and daemon.process.poll() is None:
            daemon.kill()

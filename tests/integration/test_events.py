"""The stream of the status, the history for plots, and many who read, slowly or not."""
import http.client
import json
import socket
import statistics
import threading
import time
import urllib.parse

from openapi import Api, SocketConnection
from servers import Failed, free_port, wait_until
from servers import http as ask
from test_access import token

PAGES = 64
SLOW = 1000
READS = 25
A_SECOND, SECONDS = 2, 4  # messages, of a load


class Stream:
    """A reader of /api/v1/events."""

    def __init__(self, daemon, last=None, bearer=None):
        if bearer:
            self.connection = http.client.HTTPConnection(urllib.parse.urlsplit(daemon.url).netloc, timeout=60)
        else:
            self.connection = SocketConnection(daemon.config["socket"], 60)
        fields = {"Last-Event-ID": last, "Authorization": bearer and f"Bearer {bearer}"}
        self.connection.request("GET", "/api/v1/events", headers={k: v for k, v in fields.items() if v})
        self.answer = self.connection.getresponse()
        if self.answer.status == 200 and self.answer.readline() != b"retry: 2000\n":
            raise Failed("the stream does not begin with the time after which a page comes back")

    def message(self):
        """(id, status) of the next one; None: the stream has ended."""
        found = {}
        while line := self.answer.readline().decode():
            if line == "\n" and found:
                if found["event"] != "status":
                    raise Failed(f"an event {found['event']}")
                return found["id"], json.loads(found["data"])
            if not line.startswith(":") and line != "\n":
                name, _, value = line.rstrip("\n").partition(": ")
                found[name] = value
        return None

    def until(self, what, check):
        end = time.monotonic() + 60
        while not check(got := self.message()):
            if got is None or time.monotonic() > end:
                raise Failed(f"{what}: the last message is {got}")
        return got

    def close(self):
        self.connection.close()


def follows_things(w, **config):
    w.sql("CREATE TABLE thing (id INT PRIMARY KEY, a BIGINT)", "INSERT INTO thing VALUES (1, 1), (2, 2)")
    return w.follow(w.definitions({"table": "thing"}), **config)


def done(status):
    return status["changes"]["delivered"] + status["changes"]["superseded"]


def writes(w, ended):
    sql = w.db.session(w.schema)
    while not ended.is_set():
        sql("UPDATE thing SET a = a + 1")


def test_a_stream_tells_the_status_at_once_and_what_changes_then_at_most_twice_a_second(w):
    daemon = follows_things(w)
    stream = Stream(daemon)
    first, status = stream.message()
    if set(status) != set(daemon.json("status")):
        raise Failed(f"the first message is {status}")
    api = Api(daemon)
    if wrong := api.problems(api.form("status/1"), status):
        raise Failed(f"the status in the stream: {wrong}")
    before, n, told, ended = done(status), 0, 0, threading.Event()
    writer = threading.Thread(target=writes, args=(w, ended))
    writer.start()
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        told, n = done(stream.message()[1]), n + 1
    ended.set()
    writer.join()
    if not 1 < n <= A_SECOND * SECONDS + 2 or told <= before:
        raise Failed(f"{n} messages in {SECONDS} seconds, which tell of {told - before} changes")
    last, _ = stream.until("all changes are told", lambda got: got[1]["changes"]["in_flight"] == 0)
    if first == last:
        raise Failed(f"two states have the id {first}")
    stream.close()
    # Who has an older state gets the present one at once; so does who has one of another node.
    for known in (first, "0000000000000000-1"):
        again = Stream(daemon, known)
        if again.message()[0] == known:
            raise Failed(f"the state {known} came again")
        again.close()


def test_a_stream_ends_with_its_token_and_with_the_daemon(w):
    daemon = follows_things(w)
    mine, other = Stream(daemon, bearer=token(daemon, "mine", "viewer")), Stream(daemon, bearer=token(daemon, "other", "viewer"))
    for stream in (mine, other):
        stream.message()
    daemon.command("token", "delete", "mine", "--yes")
    since = time.monotonic()
    while mine.message():
        if time.monotonic() - since > 30:
            raise Failed("the stream goes on without its token")
    other.message()
    if Stream(daemon, bearer="mrt_nothing").answer.status != 401:
        raise Failed("a wrong token reads the stream")
    daemon.stop()
    while other.message():
        pass


def test_the_history_has_what_was_measured_and_nothing_else(w):
    daemon = follows_things(w)
    api = Api(daemon)

    def history(query=""):
        answer = api.ask("GET", "/api/v1/history" + query)
        api.check("history", api.document["paths"]["/api/v1/history"]["get"]["responses"], answer)
        return json.loads(answer.text)

    def measured():
        w.sql("UPDATE thing SET a = a + 1")
        topic = next(iter(history(f"?topic={w.schema}")["topics"]), None)
        return topic and topic["lag_seconds"][-1] is not None and any(topic["changes_per_second"][-6:]) and topic

    topic = wait_until("the topic is measured", measured, 60)
    if topic["lag_seconds"][0] is not None or topic["lag_seconds"][-60] is not None:
        raise Failed(f"the time before the start is known: {topic['lag_seconds']}")
    if not any(v for v in topic["commit_to_acknowledged_p99_seconds"] if v is not None):
        raise Failed(f"no latency: {topic['commit_to_acknowledged_p99_seconds']}")
    for hours, step, steps in ((1, 10, 360), (24, 300, 288)):
        found = history(f"?hours={hours}")
        lists = [values for of in [found["delivery"], *found["topics"]] for values in of.values() if isinstance(values, list)]
        if (found["step_seconds"], found["steps"], {len(values) for values in lists}) != (step, steps, {steps}):
            raise Failed(f"{hours} hours: {found['step_seconds']}, {found['steps']}, {[len(v) for v in lists]}")
        if not any(v for v in found["delivery"]["documents_per_second"] if v):
            raise Failed(f"nothing was delivered in {hours} hours")
    for query, status in (("?hours=0", 400), ("?hours=25", 400), ("?topic=no.such", 404)):
        if api.ask("GET", "/api/v1/history" + query).status != status:
            raise Failed(f"{query} is not {status}")


def median_delay(w, sql, n):
    """From a commit until the document can be read, in seconds."""
    took = []
    for _ in range(n):
        since, value = time.monotonic(), time.monotonic_ns()
        sql(f"UPDATE thing SET a = {value} WHERE id = 1")
        wait_until("the change can be read", lambda value=value: w.engine.get(w.index("thing"), 1) == {"id": 1, "a": value}, 30, pause=0.005)
        took.append(time.monotonic() - since)
    return statistics.median(took)


def slow_ones(daemon, n):
    """Connections to the port with half a head each, from four addresses; a tenth has sent nothing."""
    found, (host, port) = [], daemon.url.rsplit("/", 1)[1].split(":")
    for i in range(n):
        connection = socket.create_connection((host, int(port)), 30, (f"127.0.0.{2 + i % 4}", 0))
        if i % 10:
            connection.sendall(b"GET /api/v1/status HTTP/1.1\r\nHost: local")
        found.append(connection)
    return found


def test_a_thousand_slow_connections_and_64_pages_delay_neither_the_api_nor_the_changes(w):
    """Within a generous limit: other tests run beside this one."""
    metrics = f"127.0.0.1:{free_port()}"
    daemon = follows_things(w, metrics={"listen": metrics})
    bearer, sql = token(daemon, "pages", "viewer"), w.db.session(w.schema)
    alone = median_delay(w, sql, READS)
    pages = [Stream(daemon, bearer=bearer) for _ in range(PAGES)]
    for page in pages:
        page.message()
    slow = slow_ones(daemon, SLOW)
    beside = median_delay(w, sql, READS)
    for path in ("/livez", "/readyz", "/metrics"):
        for url in (daemon.url, f"http://{metrics}"):
            if ask("GET", url + path, timeout=10)[0] != 200:
                raise Failed(f"{url}{path} does not answer")
    if ask("GET", daemon.url + "/api/v1/status", headers={"Authorization": f"Bearer {bearer}"}, timeout=10)[0] != 200:
        raise Failed("the port does not answer")
    if daemon.json("status")["schema"] != "millrace/status/1":
        raise Failed("the socket does not answer")
    before = done(daemon.json("status"))
    sql("UPDATE thing SET a = 0 WHERE id = 1")
    for page in pages:
        page.until("each page is told", lambda got: done(got[1]) > before)
        page.close()
    for connection in slow:
        connection.close()
    if beside > 3 * alone + 0.3:
        raise Failed(f"commit to readable: {alone:.3f} s alone, {beside:.3f} s beside them")

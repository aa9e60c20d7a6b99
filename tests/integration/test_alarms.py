"""Alarms: what is not well is posted to a web hook when it begins, while it lasts, and when it is over."""
import hashlib
import hmac
import http.server
import json
import os
import threading
import time

from openapi import Api
from servers import Failed, free_port, wait_until
from test_objects import refused

SECRET = "a secret of alarms"
BAD = "7a-row-value"


class Receiver:
    """A web hook that keeps what it gets; what it answers follows from the path."""

    def __init__(self, port=0):
        self.got = []  # (path, headers, body)
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.got.append((self.path, self.headers, body))
                status = {"/moved": 302, "/broken": 500, "/refuses": 422}.get(self.path, 200)
                self.send_response(status)
                if status == 302:
                    self.send_header("Location", "/elsewhere")
                self.end_headers()
                try:
                    self.wfile.write(b"x" * 10_000_000 if self.path == "/long" else b"it says\n" + self.path.encode())
                except OSError:
                    pass  # it is not read to its end

            def log_message(self, *args):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.port = self.server.server_port
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def url(self, path="/hook"):
        return f"http://127.0.0.1:{self.port}{path}"

    def alarms(self, code=None):
        return [a for a in (json.loads(body) for _, _, body in list(self.got)) if code in (None, a["code"])]

    def states(self, code):
        return [a["state"] for a in self.alarms(code)]


def settings(*urls, **more):
    return {"url": list(urls), "secret_file": "alarms.secret", "after": "300ms", "after_warning": "300ms", "repeat": "1h", "allow_private": True} | more


def prepare(w, alarms):
    daemon = w.millrace(start=False, alarms=alarms)
    os.chmod(daemon.config_file, 0o600)  # addresses of receivers are secrets
    daemon.write("alarms.secret", SECRET + "\n")
    return daemon


def with_alarms(w, *urls, environment=None, **more):
    return prepare(w, settings(*urls, **more)).start(environment=environment)


def is_signed(headers, body):
    """As docs/operations.md says that a receiver checks it."""
    text = headers["Millrace-Timestamp"].encode() + b"." + body
    wanted = "v1=" + hmac.new(SECRET.encode(), text, hashlib.sha256).hexdigest()
    return hmac.compare_digest(headers["Millrace-Signature"], wanted) and abs(time.time() - int(headers["Millrace-Timestamp"])) < 300


def test_an_alarm_begins_lasts_and_is_over_also_through_a_restart(w):
    w.sql("CREATE TABLE thing (id INT PRIMARY KEY, code VARCHAR(20))", f"INSERT INTO thing VALUES (1, '1'), (2, '{BAD}')")
    with Receiver() as hook:
        daemon = with_alarms(w, hook.url(), repeat="1s")
        daemon.apply(w.definitions({"table": "thing", "columns": ["id", {"name": "code", "type": "integer"}]}))
        daemon.build(f"{w.schema}.thing")
        wait_until("the dead letter is repeated as an alarm", lambda: hook.states("dead_letters")[:3] == ["begins", "lasts", "lasts"])
        daemon.stop()
        n = len(hook.states("dead_letters"))
        daemon.start()
        wait_until("the alarm goes on", lambda: len(hook.states("dead_letters")) > n)
        daemon.command("dead-letter", "discard", "--all", "--yes")
        wait_until("the alarm is over", lambda: hook.states("dead_letters")[-1] == "over")
        if hook.states("dead_letters").count("begins") != 1 or hook.states("dead_letters").count("over") != 1:
            raise Failed(f"{hook.states('dead_letters')}")
        first = hook.alarms("dead_letters")[0]
        wanted = {"schema": "millrace/alarm/1", "state": "begins", "code": "dead_letters", "object": f"table {w.schema}.thing", "severity": "warning", "count": 1}
        if {k: first[k] for k in wanted} != wanted or "has 1 dead letter" not in first["text"] or "millrace dead-letter list" not in first["fix"]:
            raise Failed(f"{first}")
        if len({a["id"] for a in hook.alarms("dead_letters")}) != 1:
            raise Failed("each message of an alarm is to have its id")
        for path, headers, body in hook.got:
            if path != "/hook" or headers["Content-Type"] != "application/json" or not is_signed(headers, body):
                raise Failed(f"{path}, {headers}, {body}")
            if BAD.encode() in body or SECRET.encode() in body:
                raise Failed(f"a row value or the secret: {body}")
        if daemon.metric("millrace_alarms_sent_total") < 1:
            raise Failed("what is sent is not counted")


def is_warned(daemon):
    return [c for c in daemon.json("status")["checks"] if c["id"] == "alarms.receiver"]


def test_what_a_receiver_that_is_away_has_missed_comes_when_it_is_back(w):
    port = free_port()
    daemon = with_alarms(w, f"http://127.0.0.1:{port}/hook")
    w.sql("CREATE TABLE thing (id INT PRIMARY KEY)")
    daemon.apply(w.definitions({"table": "thing"}))
    daemon.command("topic", "pause", w.schema)
    wait_until("status says that alarms are not sent", lambda: is_warned(daemon))
    check = is_warned(daemon)[0]
    if f"http://127.0.0.1:{port}" not in check["message"] or "/hook" in check["message"] or "wait" not in check["message"]:
        raise Failed(f"{check}")
    if not any(c["id"] == "alarms.receiver" for c in daemon.json("doctor", ok=(0, 1))["items"]):
        raise Failed("the doctor does not say it")
    if daemon.metric("millrace_alarms_failed_total") < 1:
        raise Failed("failures are not counted")
    with Receiver(port) as hook:
        wait_until("the alarm has come", lambda: "begins" in hook.states("topic.runs"), 60)
        wait_until("status is quiet again", lambda: not is_warned(daemon))
        daemon.command("topic", "resume", w.schema)
        wait_until("the alarm is over", lambda: hook.states("topic.runs")[-1] == "over")


def test_each_receiver_says_what_it_makes_of_a_test(w):
    with Receiver() as hook:
        paths = ("/hook", "/moved", "/broken", "/refuses", "/long")
        daemon = with_alarms(w, *(hook.url(path) for path in paths))
        said = json.loads(daemon.command("alarm", "test", "-o", "json", ok=(1,)).stdout)
        problems = Api(daemon).problems(Api(daemon).form("alarm-test/1"), said)
        if problems:
            raise Failed(f"not as openapi.json describes it: {problems}")
        found = [(one["ok"], one["status"]) for one in said["items"]]
        if said["ok"] or found != [(True, 200), (False, 302), (False, 500), (False, 422), (True, 200)]:
            raise Failed(f"{said}")
        if said["items"][0]["answer"] != "it says /hook" or len(said["items"][4]["answer"]) > 300 or any(one["receiver"] != hook.url("") for one in said["items"]):
            raise Failed(f"{said}")
        if [path for path, _, _ in hook.got] != list(paths) or hook.states("alarms.test") != ["test"] * 5:
            raise Failed(f"a redirect was followed: {hook.got}")
        if not all(is_signed(headers, body) for _, headers, body in hook.got):
            raise Failed("a test is not signed")


def test_no_alarm_goes_to_an_address_inside_unless_that_is_allowed(w):
    with Receiver() as hook:
        urls = hook.url(), f"http://localhost:{hook.port}/", f"http://[::ffff:127.0.0.1]:{hook.port}/"
        proxies = {"http_proxy": hook.url(), "ALL_PROXY": hook.url()}
        daemon = with_alarms(w, *urls, environment=proxies, allow_private=False, allow_http=True)
        said = daemon.json("alarm", "test", ok=(1,))
        if any(one["ok"] or one["status"] is not None or "leads to an address that is " not in one["reason"] for one in said["items"]):
            raise Failed(f"{said}")
        if hook.got:
            raise Failed(f"an alarm went inside: {hook.got}")


def test_settings_of_alarms_that_make_no_sense_are_refused(w):
    with Receiver() as hook:
        for words, more in (("is not encrypted", {"allow_private": False}), ("alarms.secret has 3 bytes", {"secret_file": None, "secret": "abc"}),
                            ("is no address of a receiver", {"url": ["ftp://example.org/a-path"]}), ("alarms.url has 11 receivers", {"url": [hook.url()] * 11})):
            config = {k: v for k, v in settings(hook.url(), **more).items() if v is not None}
            ended = prepare(w, config).command("run", ok=(1,), timeout=30)
            if words not in ended.stderr or "a-path" in ended.stderr:
                raise Failed(f"{words}: {ended.stderr}")
    refused(w.millrace().command("alarm", "test", ok=None), "no receiver of alarms is configured", "alarms.url")

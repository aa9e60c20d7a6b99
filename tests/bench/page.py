#!/usr/bin/env python3
"""How long the page is busy with very much to show: 500 tables, 50 nodes, 10,000 dead letters.

    page.py [--millrace PROGRAM]

A daemon without a database serves the page.  A proxy before it answers what the page asks for with
invented lists.  Chromium opens the page, then filters and sorts; shown is how long the page's scripts,
styles and layout took for each action.  Fails if an action after the first load takes more than 100 ms.
"""
import argparse
import http.client
import http.server
import json
import os
import pathlib
import socketserver
import subprocess
import sys
import tempfile
import threading
import time

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "tests/integration"))
from browser import Browser  # noqa: E402 (needs the path)
from selenium.webdriver.common.by import By  # noqa: E402

LIMIT_MS = 100
TABLES, NODES, LETTERS = 500, 50, 10000


def status(daemon):
    """The daemon's own status with many topics and tables in it."""
    topics = [{"name": f"topic{i}", "state": "running", "reason": "", "fix": "", "lag_seconds": i / 7, "lag_at_most": False, "oldest": None, "lag_of": "",
               "server": f"MariaDB 10.11 at db{i}:3306", "file": "binlog.000412", "position": 88213 + i, "gtid": f"0-1-{i}", "epoch": 1, "lag_bytes": 0,
               "rate": i * 3.5, "retention_seconds": 0, "reconnects": 0, "warnings": []} for i in range(20)]
    tables = [{"table": f"shop{i % 20}.table_{i:03}", "index": f"index_{i:03}", "topic": f"topic{i % 20}", "state": "available", "reason": "", "fix": "",
               "version": 3, "lag_seconds": i / 50, "lag_at_most": False, "documents": i * 1000, "documents_as_of": "2026-11-29T00:00:00Z", "documents_reason": "",
               "rate": i / 3, "dead_letters": i % 7, "delivered": "2026-11-29T00:00:00Z", "verify": "", "compared": None, "verify_due": None, "build": None,
               "wait": None, "pending": False, "runs": {}, "kept": []} for i in range(TABLES)]
    return daemon | {"topics": topics, "tables": tables, "ok": True, "checks": []}


def letters(after, limit):
    ids = range(LETTERS - after, max(0, LETTERS - after - limit), -1)
    items = [{"id": i, "topic": "topic1", "table": f"shop1.table_{i % 500:03}", "index": f"index_{i % 500:03}_v3", "doc_id": str(i), "routing": "", "op": "index",
              "version": "9007199254740993", "position": f"binlog.000012:{i}", "gtid": f"0-1-{i}", "status": 400,
              "reason": f"failed to parse field [price] of type [long] in document with id '{i}'", "attempts": 1,
              "first": "2026-11-29T00:00:00Z", "last": "2026-11-29T00:00:00Z"} for i in ids]
    return {"schema": "millrace/dead-letter/1", "items": items, "next": str(after + limit) if after + limit < LETTERS else None}


def nodes():
    return {"schema": "millrace/node/1", "next": None,
            "cluster": {"normal": True, "nodes": NODES, "waits_for": "", "session": 3, "connected": True, "since": "2026-11-29T00:00:00Z", "reason": "", "open_to_all": False},
            "items": [{"name": f"node{i}", "id": f"{i:08}", "state": "normal", "evacuated": False, "version": "1", "topics": [f"topic{i % 20}"], "moved_here": [],
                       "since": "2026-11-29T00:00:00Z", "told": "2026-11-29T00:00:00Z"} for i in range(NODES)]}


class Proxy(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    port, token = 0, ""

    def log_message(self, *_):
        pass

    def do_GET(self):
        path, _, query = self.path.partition("?")
        asked = dict(pair.split("=", 1) for pair in query.split("&") if "=" in pair)
        if path == "/api/v1/events":
            return self.send(404, b"{}", [("Content-Type", "application/json")])  # the page asks for the status instead
        code, head, body = self.pass_on()
        made = {"/api/v1/status": lambda: status(json.loads(body)), "/api/v1/nodes": nodes,
                "/api/v1/dead-letters": lambda: letters(int(asked.get("after", 0)), int(asked.get("limit", 100)))}.get(path)
        return self.send(code, json.dumps(made()).encode() if made else body, head)

    def pass_on(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("GET", self.path, headers={"Authorization": f"Bearer {self.token}", "Accept-Encoding": self.headers.get("Accept-Encoding", "")})
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, [(n, v) for n, v in answer.getheaders() if n.lower() in ("content-type", "content-encoding", "date", "etag", "content-security-policy")], body

    def send(self, code, body, head):
        self.send_response_only(code)
        for name, value in head:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True


def start_daemon(program, folder):
    config = folder / "millrace.yaml"
    config.write_text(f"listen: 127.0.0.1:0\ndata: {folder}/data\nsearch: {{url: 'http://127.0.0.1:9'}}\n")
    log = open(folder / "log", "w", encoding="utf-8")  # pylint: disable=consider-using-with
    daemon = subprocess.Popen([program, "run", "--config", str(config)], stdout=log, stderr=log)
    for _ in range(600):
        ready = [json.loads(line) for line in (folder / "log").read_text().splitlines() if '"msg":"ready"' in line]
        if ready:
            break
        time.sleep(0.05)
    token = subprocess.run([program, "token", "add", "bench", "--role", "admin", "--config", str(config)], check=True, capture_output=True, text=True).stdout.strip()
    return daemon, int(ready[0]["page"].rsplit(":", 1)[1].strip("/")), token


def busy(browser, action):
    """Milliseconds that scripts, styles and layout took for action, of the browser."""
    def spent():
        found = {m["name"]: m["value"] for m in browser.driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]}
        return 1000 * (found["ScriptDuration"] + found["LayoutDuration"] + found["RecalcStyleDuration"])

    before = spent()
    action()
    browser.settled()
    return spent() - before


def measure(browser, url):
    yield "open the page", busy(browser, lambda: browser.open(url))
    browser.shows("topic19")
    for name, address in (("show 500 tables", "#/tables"), ("filter them", "#/tables?find=table_42"), ("sort them", "#/tables?order=-documents"),
                          ("show 50 nodes", "#/cluster"), ("show dead letters by reason", "#/letters"), ("show them as a list", "#/letters?view=list")):
        yield name, busy(browser, lambda address=address: browser.go(address))
    for n in range(1000, LETTERS + 1, 500):
        browser.driver.execute_script("[...document.querySelectorAll('main button')].find((b) => b.innerText === 'More').click()")
        browser.shows(f"{n:,} rows")
    yield "filter 10,000 dead letters loaded before", busy(browser, lambda: browser.go("#/letters?view=list&order=document"))
    rows = len(browser.driver.find_elements(By.CSS_SELECTOR, "tbody tr"))
    yield f"rows that are drawn (of {LETTERS})", rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--millrace", default=str(REPOSITORY / "build-tests/plain/millrace"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="millrace-page-") as name:
        daemon, Proxy.port, Proxy.token = start_daemon(options.millrace, pathlib.Path(name))
        server = Server(("127.0.0.1", 0), Proxy)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            with Browser() as browser:
                browser.driver.execute_cdp_cmd("Performance.enable", {})
                figures = list(measure(browser, f"http://127.0.0.1:{server.server_port}/"))
        finally:
            daemon.terminate()
            daemon.wait()
            server.shutdown()
    slow = [what for what, ms in figures if ms > LIMIT_MS and not what.startswith(("rows", "open"))]
    for what, ms in figures:
        print(f"{what:45} {ms:8.0f}{'' if what.startswith('rows') else ' ms'}")
    if slow:
        sys.exit(f"more than {LIMIT_MS} ms: {', '.join(slow)}")


if __name__ == "__main__":
    os.environ.setdefault("LANG", "C.UTF-8")
    main()

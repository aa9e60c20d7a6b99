"""Requests that Schemathesis makes of the API's description: what it allows, and what it does not."""
import contextlib
import copy
import json
import os
import re
import subprocess

from openapi import Api
from servers import REPO, Failed, wait_until
from test_access import add_user, token

# Each has its reason.
NEVER = {
    "/api/v1/events": "a stream, which has no end",
}
# Whoever sends these may leave nothing to send the others to.
DESTROYING = {("POST", "/api/v1/apply"), *((method, f"/api/v1/{noun}/{{name}}") for noun in ("topics", "databases", "tables") for method in ("PUT", "DELETE")),
              ("DELETE", "/api/v1/tables/{name}/versions"), ("DELETE", "/api/v1/tables/{name}/versions/{number}")}
CONFIG = """
[checks]
# 411, 413: of a body that must not be, or is announced otherwise.
negative_data_rejection.expected-statuses = [400, 401, 403, 404, 405, 406, 409, 411, 413, 415, 422, 428, 429]
# A server may be away or busy: 503 is described, and says when to ask again.
not_a_server_error.expected-statuses = ["2xx", "3xx", "4xx", 503]
"""
# positive_data_acceptance: no schema says that members exclude one another, or that a table must be there.
# unsupported_method, allow_header_conformance: /dead-letters/replay is also a /dead-letters/{id}; test_openapi
# asks each path for each method.
NOT_JUDGED = "positive_data_acceptance,unsupported_method,allow_header_conformance"


def without(document, wanted):
    """The description of the operations that are wanted, with no answer that it does not name."""
    made = copy.deepcopy(document)
    for pattern, path in made["paths"].items():
        for method in [m for m in path if m != "parameters"]:
            path[method]["responses"].pop("default", None)
            if pattern in NEVER or not wanted(method.upper(), pattern):
                del path[method]
    made["paths"] = {pattern: path for pattern, path in made["paths"].items() if path.keys() - {"parameters"}}
    return made


def with_names(document, names):
    """Half of the names in paths are those of what is there."""
    made = copy.deepcopy(document)
    for pattern, path in made["paths"].items():
        for parameter in path.get("parameters", []):
            noun = pattern.split("/{")[0].rsplit("/", 1)[1]
            if parameter["name"] == "name" and noun in names:
                parameter["schema"] = {"anyOf": [{"enum": names[noun]}, parameter["schema"]]}
    return made


def schemathesis(w, daemon, what, document, *more):
    """Send it, and fail with what it finds."""
    path, config = daemon.write(f"{what}.json", json.dumps(document)), daemon.write("schemathesis.toml", CONFIG)
    log = os.path.join(daemon.folder, f"{what}.log")
    examples = w.options.examples
    with open(log, "w", encoding="utf-8") as out:
        status = subprocess.run([os.path.join(REPO, "tools/openapi/schemathesis"), "--config-file", config, "--no-color", "run", path, "--url", daemon.url,
                                 "--seed", str(w.options.seed), "--max-examples", str(examples), "--phases", "coverage,fuzzing" if examples > 1 else "coverage",
                                 "--checks", "all", "--exclude-checks", NOT_JUDGED, "--warnings", "off", "--request-timeout", "100", "--generation-database", "none",
                                 "--suppress-health-check", "all", "--continue-on-failure", "--no-shrink", *more],
                                cwd=daemon.folder, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, check=False).returncode
    with open(log, encoding="utf-8", errors="replace") as f:
        text = f.read()
    daemon.check_alive()
    if status != 0:
        raise Failed(f"{what}, seed {w.options.seed}, all of it in {log}:\n{text[max(0, text.find('= FAILURES')):][:6000]}")
    count = int(re.search(r"(\d+) generated", text)[1])
    print(f"# {what}: {count} requests, seed {w.options.seed}", flush=True)
    return count


def open_files(daemon):
    folder = f"/proc/{daemon.process.pid}/fd"
    found = []
    for name in os.listdir(folder):
        with contextlib.suppress(OSError):  # it was closed meanwhile
            found.append(os.readlink(os.path.join(folder, name)))
    return sorted(found)


def world(w):
    """A daemon with something of everything, and its definitions."""
    w.sql("CREATE TABLE kind (id INT PRIMARY KEY, name VARCHAR(10))", "CREATE TABLE part (id INT PRIMARY KEY, code VARCHAR(20), kind INT, KEY (kind))",
          "INSERT INTO kind VALUES (1, 'one')", "INSERT INTO part VALUES (1, '10', 1), (2, 'abc', 1)")
    definitions = w.definitions({"table": "part", "columns": ["id", {"name": "code", "type": "integer"}], "relations": [
        {"from": "kind", "table": "kind", "to": "id", "as": "kind", "columns": ["name"]}]}, {"table": "kind"})
    daemon = w.follow(definitions)
    wait_until("the dead letter is stored", lambda: daemon.json("dead-letter", "list")["items"])
    add_user(daemon, "anna", "viewer")
    token(daemon, "ci", "viewer")
    daemon.command("word", "add", "one")
    return daemon, definitions


def names_of(w):
    tables = [f"{w.schema}.part", f"{w.schema}.kind"]
    indexes = [w.index("part"), w.index("kind")]
    return {"topics": [w.schema], "databases": [w.schema], "tables": tables, "relations": tables, "log": tables, "versions": indexes, "indexes": indexes,
            "users": ["anna"], "tokens": ["ci"], "jobs": ["1"], "delivery": ["workers", "rate"]}


def test_whatever_an_admin_sends_is_answered_as_described(w):
    daemon, definitions = world(w)
    document = with_names(Api(daemon).document, names_of(w))
    head = "--header", "Authorization: Bearer " + token(daemon, "robot", "admin")
    before = open_files(daemon)
    count = schemathesis(w, daemon, "changes", without(document, lambda *operation: operation not in DESTROYING), *head)
    daemon.command("topic", "resume", w.schema)
    count += schemathesis(w, daemon, "destroys", without(document, lambda *operation: operation in DESTROYING), *head)
    if count < 4000:
        raise Failed(f"only {count} requests were sent")
    # Connections to servers, which are kept, and trees; requests that leave something open would be thousands.
    wait_until(lambda: f"no request has left a file open: {set(open_files(daemon)) - set(before)}", lambda: len(open_files(daemon)) <= len(before) + 30)
    daemon.apply(definitions)
    for name in ("part", "kind"):
        daemon.build(f"{w.schema}.{name}", "--take-index")
    w.sql("UPDATE part SET code = '7'", "INSERT INTO kind VALUES (2, 'two')")
    w.equal(daemon)


def test_whoever_shows_no_token_changes_nothing_and_reads_what_is_for_all(w):
    daemon = w.millrace()
    document, before = Api(daemon).document, daemon.json("audit", "list")["items"]
    document = without(document, lambda *_: True)
    for path in document["paths"].values():
        for method in path.keys() - {"parameters"}:
            if path[method]["x-millrace-role"] not in ("page", "probe"):
                path[method]["responses"] = {status: answer for status, answer in path[method]["responses"].items() if not status.startswith("2")}
    schemathesis(w, daemon, "stranger", document, "--mode", "positive")
    if daemon.json("audit", "list")["items"] != before:
        raise Failed(f"the audit log has {daemon.json('audit', 'list')}")

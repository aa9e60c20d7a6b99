"""What a person and a monitoring system see: status, metrics, health, logs, explain."""
import decimal
import json
import os
import re

from detour import Detour
from openapi import Api
from servers import REPO, Failed, free_port, http, wait_until
from workload import Workload


def series(metrics, name):
    return {pairs: value for (n, pairs), value in metrics.items() if n == name}


def total(metrics, *names):
    return sum((value for (n, _), value in metrics.items() if n in names), decimal.Decimal(0))


def test_every_row_change_is_accounted_for(w):
    daemon, work, connection = w.work_on_shop()
    for _ in range(20):
        work.run(connection, 20)
        balance(daemon)
    w.equal(daemon)
    balance(daemon)
    wait_until("nothing is in flight", lambda: total(daemon.metrics(), "millrace_changes_in_flight") == 0)
    metrics = daemon.metrics()
    if total(metrics, "millrace_changes_read_total") < 400:
        raise Failed("fewer changes were read than made")
    if not {dict(p).get("outcome") for p in series(metrics, "millrace_changes_done_total")} >= {"delivered", "superseded"}:
        raise Failed("outcomes are missing")


def balance(daemon):
    metrics = daemon.metrics()
    read = total(metrics, "millrace_changes_read_total")
    left = total(metrics, "millrace_changes_done_total", "millrace_changes_in_flight")
    if read != left:
        raise Failed(f"read {read}, but done and in flight are {left}")


def test_status_tells_of_topics_and_tables(w):
    w.load_shop()
    daemon = w.follow(w.shop_definitions())
    status = daemon.json("status")
    if not status["schema"].startswith("millrace/status/"):
        raise Failed(f"schema is {status['schema']!r}")
    program, daemon.program = daemon.program, "false"
    asked = daemon.status()  # as the waits of all tests ask, without the command
    daemon.program = program
    if asked.keys() != status.keys() or asked["topics"][0].keys() != status["topics"][0].keys():
        raise Failed(f"the socket tells {asked} and the command {status}")
    topic = status["topics"][0]
    for field in ("name", "state", "file", "position", "gtid", "lag_seconds", "lag_bytes", "rate"):
        if field not in topic:
            raise Failed(f"no {field} in the topic {topic}")
    tables = {t["table"].split(".")[1]: t for t in status["tables"]}
    for name, documents in (("orders", 200), ("product", 30), ("customer", 40)):
        t = tables[name]
        if t["state"] != "available" or t["version"] != 1 or t["documents"] != documents or t["dead_letters"] != 0:
            raise Failed(f"{name} is shown as {t}")
    plain = daemon.command("status").stdout
    for word in (w.schema, "orders", "available"):
        if word not in plain:
            raise Failed(f"no {word} in:\n{plain}")
    daemon.kill()
    try:
        said = daemon.status()
    except Failed as e:
        said = str(e)
    if "no daemon" not in said:
        raise Failed(f"without a daemon: {said}")


def test_status_metrics_and_page_tell_which_address_of_the_engine_is_up(w):
    w.load_shop()
    with Detour(free_port()) as detour:
        other = f"http://127.0.0.1:{detour.port}"
        daemon = w.follow(w.shop_definitions("orders"), search={"url": [w.engine.url, other]})

        def addresses():
            return {a["address"]: a for a in daemon.json("status")["search"]["addresses"]}

        def up():
            return {dict(pairs)["address"]: value for pairs, value in series(daemon.metrics(), "millrace_search_address_up").items()}

        def page():
            return http("GET", daemon.url + "/status")[1]

        def put_aside():
            w.sql("UPDATE orders SET note = CONCAT(note, '.')")
            return addresses()[other]["state"] == "away"

        wait_until("the address where nobody is is put aside", put_aside)
        away = addresses()
        if away[w.engine.url]["state"] != "up" or away[w.engine.url]["reason"] or not away[w.engine.url]["since"]:
            raise Failed(f"the address that works is shown as {away[w.engine.url]}")
        if other not in away[other]["reason"] or not away[other]["since"] or away[other]["sniffed"] or not away[other]["configured"]:
            raise Failed(f"the address where nobody is is shown as {away[other]}")
        if up() != {w.engine.url: 1, other: 0}:
            raise Failed(f"metrics say {up()}")
        plain = daemon.command("status").stdout
        line = next((line for line in plain.splitlines() if line.startswith(other)), "")
        if "away" not in line or away[other]["since"] not in line:
            raise Failed(f"no line of {other} in:\n{plain}")
        if f"{other} has not answered since" not in page():
            raise Failed("the page does not say so")
        detour.lead_to(w.engine.port)
        wait_until("it is used again", lambda: addresses()[other]["state"] == "up", 60)
        if up() != {w.engine.url: 1, other: 1} or addresses()[other]["reason"] or "has not answered since" in page():
            raise Failed(f"it is used again, and shown as {addresses()[other]}, {up()}")
        w.equal(daemon)


def test_a_node_that_has_its_store_alone_lists_itself_and_moves_nothing(w):
    w.load_shop()
    daemon = w.follow(w.shop_definitions("orders"), node_name="here", coordination="embedded")
    listed = daemon.json("node", "list")
    if listed["cluster"] is not None or [(n["name"], n["state"], n["topics"]) for n in listed["items"]] != [("here", "normal", [w.schema])]:
        raise Failed(f"the nodes are {listed}")
    if daemon.json("node", "get", "here")["items"] != listed["items"] or daemon.json("status")["cluster"] is not None:
        raise Failed("it is shown as one of several")
    for words in (["node", "rebalance"], ["node", "evacuate", "here"], ["node", "admit", "here"], ["node", "forget", "here"], ["topic", "move", w.schema, "--to", "any"]):
        refused = daemon.command(*words, "--yes", ok=(1,)).stderr
        if "has its store alone" not in refused or "fix: set coordination" not in refused:
            raise Failed(f"{words}: {refused}")


def test_health_and_metrics_have_their_forms(w):
    daemon = w.millrace()
    for path, status in (("/livez", 200), ("/readyz", 200), ("/metrics", 200), ("/", 200), ("/status", 200), ("/nothing", 404)):
        have = http("GET", daemon.url + path)[0]
        if have != status:
            raise Failed(f"{path}: {have}")
    if http("POST", daemon.url + "/metrics", "x")[0] not in (404, 405):
        raise Failed("POST /metrics is taken")
    metrics = daemon.metrics()
    for name in ("millrace_build_info", "process_resident_memory_bytes", "process_start_time_seconds"):
        if not series(metrics, name):
            raise Failed(f"no {name}")
    text = http("GET", daemon.url + "/metrics")[1]
    for name in {n for n, _ in metrics}:
        base = name.removesuffix("_bucket").removesuffix("_sum").removesuffix("_count")
        if f"# TYPE {name} " not in text and f"# TYPE {base} " not in text:
            raise Failed(f"{name} has no TYPE")
        if not name.startswith(("millrace_", "process_")):
            raise Failed(f"{name} has a foreign prefix")


def test_ready_is_who_does_its_work_also_while_the_engine_is_away(w):
    daemon = w.millrace(start=False, search={"url": [f"http://127.0.0.1:{free_port()}"]})
    daemon.start(wait=False)
    wait_until("the daemon answers", lambda: answers(daemon, "/livez") == 200)
    wait_until("it is ready", lambda: answers(daemon, "/readyz") == 200)
    ready = json.loads(http("GET", daemon.url + "/readyz")[1])
    if ready["schema"] != "millrace/ready/1" or ready["ready"] is not True or not all(c["ok"] for c in ready["checks"]):
        raise Failed(f"/readyz says {ready}")
    if {c["name"] for c in ready["checks"]} != {"store", "definitions", "started"}:
        raise Failed(f"/readyz checks {ready['checks']}")
    wait_until("status says that the engine is away", lambda: daemon.json("status")["search"]["health"] == "unreachable")
    daemon.stop()
    if answers(daemon, "/readyz") is not None:
        raise Failed("who has ended still answers")


def answers(daemon, path):
    try:
        return http("GET", daemon.url + path, timeout=5)[0]
    except OSError:
        return None


def test_logs_are_json_and_hold_no_rows_and_no_secrets(w):
    w.load_shop()
    daemon = w.follow(w.shop_definitions())
    Workload(w.rng).run(w.db.connect(w.schema), 50)
    w.sql("UPDATE customer SET city = 'Very-Secret-City' WHERE id = 1")
    w.equal(daemon)
    daemon.stop()
    with open(daemon.log, encoding="utf-8") as f:
        for line in f:
            entry = json.loads(line)
            if not {"ts", "level", "msg"} <= entry.keys():
                raise Failed(f"not a log line: {line}")
            if "Very-Secret-City" in line or "mill-race 7" in line:
                raise Failed(f"what must not be logged: {line}")


def test_explain_shows_the_document_and_writes_nothing(w):
    w.load_shop()
    daemon = w.follow(w.shop_definitions())
    said = daemon.command("explain", f"{w.schema}.orders", "7").stdout
    for word in ("SELECT", '"items"', '"customer"', w.index("orders")):
        if word not in said:
            raise Failed(f"no {word} in:\n{said}")


def test_doctor_finds_nothing_wrong_here(w):
    w.load_shop()
    daemon = w.follow(w.shop_definitions())
    daemon.command("doctor")
    w.db.sql("REVOKE REPLICATION SLAVE ON *.* FROM millrace@'127.0.0.1'")
    done = daemon.command("doctor", ok=(1,))
    if "GRANT REPLICATION SLAVE" not in done.stdout + done.stderr:
        raise Failed(f"doctor does not give the statement:\n{done.stdout}{done.stderr}")


def test_doctor_says_how_full_the_disk_of_the_engine_is(w):
    said = [item["message"] for item in w.millrace().json("doctor", ok=None)["items"] if item["id"] == "search.disk"]
    if len(said) != 1 or "% full" not in said[0].replace(" %", "%"):
        raise Failed(f"the doctor says of the engine's disk: {said}")


def test_a_missing_index_is_named_by_apply_and_doctor_with_what_a_change_can_touch(w):
    w.sql("CREATE TABLE kind (id INT PRIMARY KEY, name VARCHAR(20))", "CREATE TABLE thing (id INT PRIMARY KEY, kind INT)",
          "INSERT INTO kind VALUES (1, 'a'), (2, 'b')", "INSERT INTO thing VALUES (1, 1), (2, 1), (3, 1), (4, 2)")
    d = w.definitions({"table": "thing", "relations": [{"from": "kind", "table": "kind", "to": "id", "as": "of",
                                                         "columns": ["name"]}]})
    daemon = w.millrace()
    index = f"CREATE INDEX `thing_kind` ON `{w.schema}`.`thing` (`kind`);"
    for said in (daemon.apply(d), daemon.command("doctor")):
        for words in ("one row is in 3 documents, 2 on average", index):
            if words not in said.stdout + said.stderr:
                raise Failed(f"no {words!r} in {said.stdout}{said.stderr}")
    w.sql(index.rstrip(";"))
    said = daemon.command("doctor")
    if "CREATE INDEX" in said.stdout:
        raise Failed(f"there is the index now: {said.stdout}")


def test_commands_that_need_no_daemon_work_without_one(w):
    w.load_shop()
    daemon = w.follow(w.shop_definitions())
    export = daemon.command("export").stdout
    daemon.stop()
    if daemon.command("export").stdout != export:
        raise Failed("the export differs without the daemon")
    daemon.command("explain", f"{w.schema}.orders", "7")
    daemon.apply(w.shop_definitions())
    daemon.command("config", "show", "--origin")


def documented_forms():
    """{form: names of its fields} as docs/api.md shows them."""
    with open(os.path.join(REPO, "docs/api.md"), encoding="utf-8") as f:
        text = f.read()
    forms = {}
    for found in re.finditer(r'\{"schema":"(millrace/[\w-]+/\d+)".*?(?=`$|`:|` |```|`\.|\n\n)', text, re.S | re.M):
        forms.setdefault(found[1], set()).update(re.findall(r'"(\w+)":', found[0]))
    return forms


def names_in(value):
    if isinstance(value, dict):
        for name, inner in value.items():
            yield name
            yield from names_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from names_in(inner)


def test_every_command_prints_json_of_its_documented_form(w):
    w.sql("CREATE TABLE kind (id INT PRIMARY KEY, name VARCHAR(10), changed DATETIME DEFAULT NOW())",
          "CREATE TABLE part (id INT PRIMARY KEY, code VARCHAR(20), kind INT, KEY (kind))",
          "INSERT INTO part VALUES (1, '10', 1), (2, 'abc', 2)",
          "INSERT INTO part WITH RECURSIVE n(i) AS (SELECT 3 UNION ALL SELECT i + 1 FROM n WHERE i < 60)"
          " SELECT i, '10', 1 FROM n",
          "INSERT INTO kind VALUES (1, 'one', NOW())")  # at one a second the build outlives the commands that look at it
    definitions = w.definitions({"table": "part", "columns": ["id", {"name": "code", "type": "integer"}], "relations": [
        {"from": "kind", "table": "kind", "to": "id", "as": "kind", "columns": ["name"]}]}, {"table": "kind", "daily_check_column": "changed", "delayed": True})
    daemon = w.millrace()
    daemon.write("definitions.yaml", json.dumps(definitions))
    part, forms = f"{w.schema}.part", documented_forms()
    api = Api(daemon)
    letters = lambda: daemon.json("dead-letter", "list")["items"]  # noqa: E731
    letter = lambda: str(letters()[0]["id"]) if letters() else "none"  # noqa: E731

    def snapshot():
        """Of a row of `kind`, which is delayed."""
        w.sql("DELETE FROM kind WHERE id = 1")
        return wait_until("the change waits", lambda: [str(s["id"]) for s in daemon.json("delayed", "list", "--status", "init")["items"]])[0]

    steps = [
        ("apply", ["apply", "definitions.yaml"]), ("index-create", ["index", "create", part, "--rate", "1", "--no-wait"]),
        ("job", ["job", "list"]), ("status", ["status"]), ("index-set", ["index", "set", part, "--rate", "0"]),
        ("index-reset", ["index", "reset", part, "--yes"]), ("version", ["index", "create", part]),
        *([] if daemon.is_cluster else [("backup", ["backup", "copy-of-store"])]),
        ("export", ["export"]), ("doctor", ["doctor"]), ("explain", ["explain", part, "1"]), ("verify", ["verify", part, "--key", "1", "--values"]),
        ("trace", ["trace", part, "1", "--log"]), ("verify", ["verify", part]), ("verify", ["verify", part, "--sample", "5"]), ("verify", ["verify", part, "--where", "id > 0"]), ("version", ["index", "create", f"{w.schema}.kind"]), ("verify", ["check", f"{w.schema}.kind"]), ("replay", ["replay", f"{w.schema}.kind"]), ("replay-start", ["replay", f"{w.schema}.kind", "--no-wait"]), ("report", ["report", "list"]), ("verify", ["index", "refresh", part, "--where", "id < 5"]), ("index-refresh", ["index", "refresh", part, "--key", "1", "--no-wait"]), ("index-refresh-cancel", ["index", "refresh", part, "--cancel"]), ("verify-start", ["verify", part, "--rate", "1", "--no-wait"]),
        ("verify-progress", ["report", "get", lambda: next(j["id"] for j in daemon.json("job", "list")["items"] if j["kind"] == "verify")]),
        ("mapping", ["mapping", part]),
        ("columns", ["table", "columns", "generate", part]),
        ("node", ["node", "list"]), ("node", ["node", "get", lambda: daemon.json("node", "list")["items"][0]["id"]]),
        ("topic", ["topic", "list"]), ("topic", ["topic", "get", w.schema]), ("database", ["database", "list"]),
        ("table", ["table", "list"]), ("table", ["table", "get", part]), ("relation", ["relation", "list"]), ("relation", ["relation", "get", part, "kind"]), ("column", ["column", "list", part]), ("column", ["column", "get", part, "name", "--relation", "kind"]),
        ("version", ["version", "list"]), ("index", ["index", "list"]), ("log", ["log", "list"]), ("log", ["log", "get", lambda: str(next(e["id"] for e in daemon.json("log", "list")["items"] if e["event"] == "built"))]), ("dead-letter", ["dead-letter", "list"]),
        ("dead-letter", ["dead-letter", "show", letter]), ("dead-letter-replay", ["dead-letter", "replay", "--all"]),
        ("dead-letter-discard", ["dead-letter", "discard", "--all", "--yes"]), ("index-delete", ["index", "delete", part, "--yes"]),
        ("delayed-cost", ["delayed", "run", "--one", snapshot, "--dry-run"]), ("delayed-done", ["delayed", "done", snapshot]), ("delayed", ["delayed", "list"]), ("delayed-runs", ["delayed", "runs"]), ("delayed-run", ["delayed", "run", "--all"]),
        ("topic-pause", ["topic", "pause", w.schema]), ("topic-resume", ["topic", "resume", w.schema]),
        ("version", ["index", "create", part, "--keep", "1"]), ("index-rollback", ["index", "rollback", part]),
        ("index-pause", ["index", "pause", part]), ("index-resume", ["index", "resume", part]), ("topic-reset", ["topic", "reset", w.schema, "--yes"]),
        ("delete", ["table", "delete", f"{w.schema}.kind", "--yes"]), ("delete", ["table", "delete", part, "--with-indexes", "--confirm", part]), ("config", ["config", "show"]),
        ("user-set", ["user", "add", "anna", "--role", "viewer"]), ("user", ["user", "list"]), ("user", ["user", "get", "anna"]), ("delete", ["user", "delete", "anna", "--yes"]),
        ("token-add", ["token", "add", "ci", "--role", "viewer"]), ("token", ["token", "list"]), ("token", ["token", "get", "ci"]), ("token-set", ["token", "set", "ci", "--role", "operator"]), ("delete", ["token", "delete", "ci", "--yes"]),
        ("drain", ["drain"]), ("drain-start", ["drain", "--no-wait"]), ("drain-cancel", ["drain", "--cancel"]), ("delivery-settings", ["config", "delivery", "get"]), ("delivery-settings", ["config", "delivery", "set", "workers=20"]), ("program", ["version"]), ("audit", ["audit", "list", "--limit", "1"]),
        ("word-change", ["word", "add", "one", "two"]), ("word-change", ["word", "publish", "one"]), ("word", ["word", "list", "--limit", "1"]), ("word", ["word", "get", "two"]), ("word-export", ["word", "export"]), ("word-status", ["word", "status"]), ("word-try", ["word", "try", "one", "--analyzer", "standard"]),
        ("error", ["table", "get", "no.such"]),
    ]
    wrong = []
    for form, words in steps:
        words = [word() if callable(word) else word for word in words]
        done = daemon.command(*words, "-o", "json", input="a password of a user\n", ok=None)
        said = done.stderr.strip().splitlines()[-1:] if form == "error" else [done.stdout.strip()]
        answer = json.loads(said[0]) if said and said[0].startswith("{") else {}
        if not re.fullmatch(rf"millrace/{form}/\d+", answer.get("schema", "")):
            wrong.append(f"{' '.join(words)}: exit {done.returncode}, {done.stdout[:300]}{done.stderr[:300]}")
            continue
        if form not in ("export", "word-export", "error", "backup", "column"):  # which commands make
            wrong += [f"{' '.join(words)}: not as openapi.json describes it: {problem}" for problem in api.problems(api.form(f"{form}/{answer['schema'].rsplit('/', 1)[1]}"), answer)]
        missing = forms.get(answer["schema"], {"a form that is documented"}) - set(names_in(answer))
        if missing - next((OPTIONAL[name] for name in (" ".join(words[:3]), " ".join(words[:2]), form) if name in OPTIONAL), set()):
            wrong.append(f"{' '.join(words)}: the documented {sorted(missing)} are not in {done.stdout[:700]}")
    if wrong:
        raise Failed("\n".join(wrong))
    for form in forms:
        if form.split("/")[1] not in {name for name, _ in steps} | {"ready", "me", "login", "history", "doctor-start", "index-cutover", "init", "node-change", "node-forget", "alarm-test", *(["backup"] if daemon.is_cluster else [])}:  # of test_worse, test_init, test_members, test_access, test_alarms, test_events
            raise Failed(f"no command here prints the documented {form}")


# Fields that are there only where there is something to tell.
OPTIONAL = {"table delete": {"deleted", "waits_for"}, "user delete": {"deleted", "waits_for"}, "token delete": {"deleted", "waits_for"}, "log list": {"mappings", "settings", "create", "publish"}, "node": {"kind", "table", "index", "bucket", "buckets", "normal", "nodes", "waits_for", "session", "connected", "reason", "open_to_all"}, "error": {"fix", "errors", "severity", "file", "line", "column", "source"}, "dead-letter list": {"body", "more_after"}, "dead-letter show": {"more_after"}, "delayed list": {"more_after"}, "relation": {"definition"}, "delayed-cost": {"documents_of", "statements", "rows_examined"}, "delayed runs": {"run", "one", "put", "waits_for", "begun", "topic", "table", "table_is_gone", "snapshots", "oldest"}, "config delivery get": {"previous"}, "status": {"at", "check", "replay", "last_success", "overdue", "verdict", "equal", "differing", "counts", "repaired_counts", "missing", "detail", "column", "every_seconds", "last", "next", "rows", "documents_done", "remaining", "until"}, "doctor": {"why", "fix"}, "verify": {"id", "reason", "routing", "kind", "repaired", "paths", "n_paths", "path", "wanted", "found"}, "trace": {"first"}, "word": {"more_after"}, "word-change": {"table", "index", "version", "built", "older_than_words"}, "word-status": {"address", "asked", "pulled", "current"},
            "apply": {"severity", "file", "line", "column", "message", "fix", "fields", "path", "before", "after"}}

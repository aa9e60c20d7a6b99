"""Requests that come again with the same key; lists that come in pages."""
import concurrent.futures
import json
import signal
import urllib.parse

from members import Members
from openapi import Api
from servers import Failed, wait_until
from test_access import Port, add_user, code, expect, token


def start(w):
    w.sql("CREATE TABLE thing (id INT PRIMARY KEY, a INT)", "INSERT INTO thing VALUES (1, 1), (2, 2)")
    daemon = w.follow(w.definitions({"table": "thing"}))
    return daemon, f"/api/v1/tables/{w.schema}.thing"


def keyed(port, path, key, body, **headers):
    return port.ask("POST", path, body, Idempotency_Key=key, **headers)


def n_builds(daemon):
    return sum(e["event"] == "building" for e in daemon.json("log", "list")["items"])


def test_a_request_that_comes_again_with_its_key_is_carried_out_once_and_answered_alike(w):
    daemon, table = start(w)
    port, ops = Port(daemon), {"Authorization": "Bearer " + token(daemon, "ops", "operator")}
    before = n_builds(daemon)
    first = keyed(port, f"{table}/index", "one", {}, **ops)
    expect("the first", (first.status, first.headers["Idempotency-Replayed"]), (202, None))
    wait_until("the build has ended", lambda: not daemon.json("job", "list")["items"], 60)

    def again(key="one", body=None, path=f"{table}/index", **headers):
        answer = keyed(port, path, key, body or {}, **(headers or ops))
        return answer.status, answer.text

    expect("the same", again(), (202, first.text))
    daemon.stop()
    daemon.start()
    expect("the same after a start", again(), (202, first.text))
    daemon.process.send_signal(signal.SIGKILL)
    daemon.process.wait()
    daemon.start()
    expect("the same after a kill", again(), (202, first.text))
    expect("how many builds began", n_builds(daemon) - before, 1)
    for what, answer in (("another body", again(body={"rate": 5})), ("another query", again(path=f"{table}/index?"))):
        expect(what, answer[0], 422)
    for what, key in (("no key", ""), ("a space", "a b"), ("too long a key", "x" * 256)):
        expect(what, again(key=key)[0], 400)
    others = {"Authorization": "Bearer " + token(daemon, "others", "operator")}
    if again(**others)[1] == first.text:
        raise Failed("another caller got the answer to somebody else's request")
    # What was refused has started nothing, so its key is as good as new.
    missing = f"/api/v1/tables/{w.schema}.later/index"
    expect("a table that is missing", again("late", path=missing)[0], 404)
    w.sql("CREATE TABLE later (id INT PRIMARY KEY)")
    daemon.apply(w.definitions({"table": "thing"}, {"table": "later"}))
    expect("the same once it is there", again("late", path=missing)[0], 202)
    entries = [e for e in daemon.json("audit", "list")["items"] if e["what"] == "build a new index version" and e["object"].endswith(".thing")]
    expect("how often the audit log has it", len([e for e in entries if e["who"].startswith("token ops")]), 1)


def test_of_many_equal_requests_at_once_one_is_carried_out(w):
    daemon, table = start(w)
    port, ops = Port(daemon), {"Authorization": "Bearer " + token(daemon, "ops", "operator")}
    before = n_builds(daemon)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        answers = list(pool.map(lambda _: keyed(port, f"{table}/index", "at-once", {}, **ops), range(6)))
    for answer in answers:
        if answer.status == 409 and not (answer.headers["Retry-After"] and "still runs" in answer.text) or answer.status not in (202, 409):
            raise Failed(f"one of six: {answer}")
    done = [answer for answer in answers if answer.status == 202]
    expect("the answers that are no refusals", {answer.text for answer in done}, {done[0].text})
    wait_until("the build has ended", lambda: not daemon.json("job", "list")["items"], 60)
    expect("how many builds began", n_builds(daemon) - before, 1)


def test_a_key_is_known_at_every_node(w):
    m = Members(w, nodes=2, topics=2).start()
    first, second = m.nodes
    ops = {"Authorization": "Bearer " + token(first, "ops", "operator")}
    wait_until("each node knows the token", lambda: all(Port(d).role(**ops) == "operator" for d in m.nodes), 30)
    answer = keyed(Port(first), "/api/v1/drain", "one", {"timeout_ms": 0}, **ops)
    expect("the first", answer.status, 202)
    again = keyed(Port(second), "/api/v1/drain", "one", {"timeout_ms": 0}, **ops)
    expect("the same at another node", (again.status, again.text, again.headers["Idempotency-Replayed"]), (202, answer.text, "true"))
    m.end()


def starting(api):
    """(METHOD, pattern) of what starts something: that may answer 202, and apply."""
    return {(method, pattern) for pattern, method, operation in api.operations() if "202" in operation["responses"]} | {("POST", "/api/v1/apply")}


def takes_key(operation):
    return {"$ref": "#/components/parameters/Idempotency-Key"} in operation.get("parameters", [])


ALONE = {"drain": {"timeout_ms": 0}, "doctor": {}, "apply": None, "tables/{name}/verify": {}, "tables/{name}/replay": {}, "tables/{name}/index": {"rate": 1}, "tables/{name}/index/cutover": {"accept_dead_letters": 0},
         "tables/{name}/index/refresh": {"keys": ["1"]}, "delayed/run": {"all": True}}
SHARED = {"topics/{name}/move": {"to": "any"}, "nodes/rebalance": {}, "nodes/{name}/evacuate": {}, "nodes/{name}/admit": {}}


def test_whatever_starts_something_takes_a_key(w):
    api = Api(w.millrace())
    wanting = [pattern for pattern, method, operation in api.operations() if (method, pattern) in starting(api) and not takes_key(operation)]
    expect("what starts something and takes no key", wanting, [])
    expect("what these tests start", {("POST", f"/api/v1/{name}") for name in ALONE | SHARED}, starting(api))


def send_twice(port, name, body, headers, of):
    """The first answer; the second one must be the same, of a request that was not carried out."""
    path = "/api/v1/" + name.format(name=of)
    first, second = (keyed(port, path, f"twice {name}".replace(" ", "-"), body, **headers) for _ in range(2))
    expect(f"the first {path}: {first}", (first.status, first.headers["Idempotency-Replayed"]), (200 if name == "apply" else 202, None))
    expect(f"the second {path}", (second.status, second.text, second.headers["ETag"], second.headers["Idempotency-Replayed"]), (first.status, first.text, first.headers["ETag"], "true"))
    return first


def test_what_starts_something_is_started_once_with_one_key(w):
    w.sql("CREATE TABLE thing (id INT PRIMARY KEY, kind INT, KEY (kind))", "CREATE TABLE kind (id INT PRIMARY KEY, name VARCHAR(10))", "CREATE TABLE held (id INT PRIMARY KEY)",
          "INSERT INTO thing VALUES (1, 1), (2, 1)", "INSERT INTO kind VALUES (1, 'one')", "INSERT INTO held VALUES (1)")
    relation = {"from": "kind", "table": "kind", "to": "id", "as": "of", "columns": ["name"]}
    definitions = w.definitions({"table": "thing", "relations": [relation]}, {"table": "kind", "delayed": True}, {"table": "held"})
    daemon = w.follow(definitions)
    port, admin = Port(daemon), {"Authorization": "Bearer " + token(daemon, "admin", "admin")}
    daemon.command("index", "create", f"{w.schema}.held", "--hold", "--no-wait")
    wait_until("a version waits to be published", lambda: any(v.get("wait") for v in daemon.json("version", "list", w.index("held"))["items"]), 30)
    w.sql("UPDATE kind SET name = 'two'")
    wait_until("a change waits", lambda: daemon.json("delayed", "list", "--status", "init")["items"])
    definitions["tables"][2]["filter"] = "id > 0"
    tables = {"tables/{name}/index/cutover": "held", "tables/{name}/index": "held"}
    for name in sorted(ALONE, key=lambda name: ("cutover" not in name, name == "tables/{name}/index")):  # a build and a run take turns
        body = ALONE[name] if name != "apply" else {"files": [{"name": "a.json", "text": json.dumps(definitions), "folder": daemon.folder}]}
        send_twice(port, name, body, admin, f"{w.schema}.{tables.get(name, 'thing')}")
        wait_until(f"{name} has ended", lambda: not daemon.json("job", "list")["items"], 60)
    if w.table(daemon, "held")["version"] < 2:
        raise Failed(f"the version that waited is not published: {w.table(daemon, 'held')}")


def test_nodes_and_topics_are_moved_once_with_one_key(w):
    m = Members(w, nodes=2, topics=2).start()
    port, ops = Port(m.nodes[0]), {"Authorization": "Bearer " + token(m.nodes[0], "ops", "operator")}
    for name, body in SHARED.items():
        send_twice(port, name, body, ops, m.nodes[1].config["node_name"] if name.startswith("nodes") else m.schemas[0])
    m.wait_shared(0, 1)
    m.end()


def pages(port, path, limit, headers, between=lambda: None):
    items, after = [], None
    while True:
        query = f"?limit={limit}" + (f"&after={urllib.parse.quote(after)}" if after else "")
        answer = json.loads(port.ask("GET", path + query, **headers).text)
        if len(answer["items"]) > limit:
            raise Failed(f"{path}{query}: {len(answer['items'])} items")
        items += answer["items"]
        after = answer["next"]
        if after is None:
            return items
        between()


def test_the_pages_of_every_list_are_the_list(w):
    w.sql("CREATE TABLE kind (id INT PRIMARY KEY)", "CREATE TABLE part (id INT PRIMARY KEY, kind INT, KEY (kind))", "INSERT INTO part VALUES (1, NULL)")
    daemon = w.follow(w.definitions({"table": "part", "relations": [{"from": "kind", "table": "kind", "to": "id", "as": name} for name in ("a", "b", "c")]}, {"table": "kind"}))
    admin = {"Authorization": "Bearer " + token(daemon, "admin", "admin")}
    port = Port(daemon)
    for name in ("ci", "deploy"):
        token(daemon, name, "viewer")
        add_user(daemon, name, "viewer")
    daemon.command("word", "add", "one", "two", "three")
    daemon.command("verify", f"{w.schema}.part")
    daemon.command("index", "create", f"{w.schema}.part", "--wait")
    for name in ("topics", "databases", "tables", "relations", "versions", "indexes", "jobs", "users", "tokens", "nodes", "reports", "log", "audit", "words", "dead-letters", "delayed", "delayed/runs"):
        whole = json.loads(port.ask("GET", f"/api/v1/{name}", **admin).text)
        expect(f"next of all {name}", whole["next"], None)
        parts = pages(port, f"/api/v1/{name}", 1, admin)
        expect(f"the pages of {name}", sorted(map(json.dumps, parts)), sorted(map(json.dumps, whole["items"])))
    for name in ("tables", "relations", "users", "tokens", "versions", "log", "audit", "words"):
        if len(json.loads(port.ask("GET", f"/api/v1/{name}", **admin).text)["items"]) < 2:
            raise Failed(f"the list of {name} has no two pages")
    refused = port.ask("GET", "/api/v1/users?after=x", **admin)
    expect("what no page has said", (refused.status, code(refused)), (400, "bad-request"))


def test_users_that_stay_are_on_a_page_once_while_others_come_and_go(w):
    daemon = w.millrace()
    admin = {"Authorization": "Bearer " + token(daemon, "admin", "admin")}
    port = Port(daemon)
    tokens = [f"t{n}" for n in range(8)]
    for name in tokens:
        token(daemon, name, "viewer")
    changes = iter((("DELETE", "t0"), ("PUT", "a0"), ("DELETE", "t3"), ("PUT", "t35"), ("DELETE", "t7")))

    def change():
        method, name = next(changes, (None, None))
        if method:
            expect(f"{method} {name}", port.ask(method, f"/api/v1/tokens/{name}", {"role": "viewer"} if method == "PUT" else None, **admin).status, 201 if method == "PUT" else 200)

    seen = [item["name"] for item in pages(port, "/api/v1/tokens", 2, admin, change)]
    expect("each once", len(seen), len(set(seen)))
    missing = {"t1", "t2", "t4", "t5", "t6", "admin"} - set(seen)
    if missing:
        raise Failed(f"{missing} stayed, and no page had them: {seen}")

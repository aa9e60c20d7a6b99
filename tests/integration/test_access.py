"""Who may do what at the port: tokens, log-ins, roles."""
import concurrent.futures
import http.client
import json
import os
import pty
import select
import signal
import subprocess
import termios
import time
import urllib.parse
from datetime import datetime

from members import Members
from openapi import Answer, Api
from servers import Failed, open_store, wait_until

ROLES = ("page", "viewer", "operator", "admin")
PASSWORD = "a password for Anna"


class Port:
    """A client of the port, which may show a token or a cookie."""

    def __init__(self, daemon):
        self.host = urllib.parse.urlsplit(daemon.url).netloc

    def ask(self, method, path, body=None, **headers):
        connection = http.client.HTTPConnection(self.host, timeout=60)
        try:
            sent = {name.replace("_", "-"): value for name, value in headers.items() if value is not None}
            if body is not None:
                body, sent["Content-Type"] = json.dumps(body), "application/json"
            connection.request(method, path, body, sent)
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def log_in(self, name, password, **headers):
        """(Answer, cookie)"""
        answer = self.ask("POST", "/api/v1/login", {"name": name, "password": password}, **headers)
        return answer, (answer.headers["Set-Cookie"] or "").split(";")[0]

    def role(self, **headers):
        answer = self.ask("GET", "/api/v1/me", **headers)
        return json.loads(answer.text)["role"] if answer.status == 200 else answer.status


def token(daemon, name, role, *more):
    return daemon.command("token", "add", name, "--role", role, *more).stdout.strip()


def add_user(daemon, name, role, password=PASSWORD):
    return daemon.command("user", "add", name, "--role", role, input=password + "\n")


def code(answer):
    return json.loads(answer.text).get("code")


def expect(what, found, expected):
    if found != expected:
        raise Failed(f"{what}: {found}, not {expected}")


def path_of(pattern):
    return pattern.replace("{name}", "no.such").replace("{number}", "1").replace("{id}", "1").replace("{job}", "1")


def test_each_role_may_use_its_routes_and_no_others(w):
    daemon = w.millrace()
    api, port = Api(daemon), Port(daemon)
    headers = {role: {"Authorization": "Bearer " + token(daemon, role, role)} for role in ROLES[1:]} | {"page": {}}
    headers["viewer who sees rows"] = {"Authorization": "Bearer " + token(daemon, "rows", "viewer", "--rows", "yes")}
    for pattern, method, operation in api.operations():
        needed = operation["x-millrace-role"]
        for role in headers:
            may = needed == "probe" or ROLES.index(role.split()[0]) >= ROLES.index(needed)
            may = may or role == "viewer who sees rows" and operation["x-millrace-shows-rows"]
            answer = port.ask(method, path_of(pattern), **headers[role])
            what = f"{method} {pattern}, which needs {needed}, as {role}"
            refused = answer.status == 403 and code(answer) == "role-too-low" if role != "page" else answer.status == 401
            if may == refused:
                raise Failed(f"{what}: {answer}")
            api.check(what, operation["responses"], answer)


def test_a_log_in_has_its_user_s_role_until_it_ends(w):
    daemon = w.millrace()
    port, me = Port(daemon), "/api/v1/drain/cancel"
    add_user(daemon, "anna", "viewer")
    wrong, _ = port.log_in("anna", "another password")
    nobody, _ = port.log_in("bert", PASSWORD)
    expect("a wrong password and an unknown name are told apart", wrong.text, nobody.text)
    expect("a wrong password", (wrong.status, code(wrong), wrong.headers["Set-Cookie"]), (401, "wrong-password", None))
    with open(daemon.log, encoding="utf-8", errors="replace") as f:
        told = [line for line in f if "somebody gave a" in line]
    expect("the warnings of two failures, and whom they name", (len(told), ["127.0.0.1" in line for line in told], ["anna" in line for line in told], ["bert" in line for line in told]),
           (2, [True] * 2, [True, False], [False] * 2))
    answer, cookie = port.log_in("anna", PASSWORD)
    expect("the log-in", answer.status, 200)
    marks = {mark.strip() for mark in answer.headers["Set-Cookie"].split(";")[1:]}
    if not {"HttpOnly", "SameSite=Strict", "Path=/"} <= marks:
        raise Failed(f"the cookie is {answer.headers['Set-Cookie']}")
    expect("the role", port.role(Cookie=cookie), "viewer")
    expect("a change as a viewer", port.ask("POST", me, Cookie=cookie, Origin=daemon.url).status, 403)
    daemon.command("user", "set", "anna", "--role", "operator")
    expect("the new role", port.role(Cookie=cookie), "operator")
    expect("a change as an operator", port.ask("POST", me, Cookie=cookie, Origin=daemon.url).status, 200)
    for origin in (None, "http://elsewhere.example", "null"):
        refused = port.ask("POST", me, Cookie=cookie, Origin=origin)
        expect(f"a change from {origin}", (refused.status, code(refused)), (403, "cross-site"))
    expect("a log-in from elsewhere", port.log_in("anna", PASSWORD, Origin="http://elsewhere.example")[0].status, 403)
    _, second = port.log_in("anna", PASSWORD, Origin=daemon.url)
    expect("the log-out", port.ask("POST", "/api/v1/logout", Cookie=cookie, Origin=daemon.url).status, 200)
    expect("the roles after the log-out of the first", (port.role(Cookie=cookie), port.role(Cookie=second)), ("page", "operator"))
    daemon.command("user", "set", "anna", "--password", input="another password for her\n")
    expect("the role after a new password", port.role(Cookie=second), "page")
    expect("the old password", port.log_in("anna", PASSWORD)[0].status, 401)
    _, third = port.log_in("anna", "another password for her")
    daemon.stop()
    daemon.start()
    expect("the role after a start", port.role(Cookie=third), "operator")
    daemon.command("user", "delete", "anna", "--yes")
    add_user(daemon, "anna", "admin")
    expect("the role of a user who was deleted and added", port.role(Cookie=third), "page")


def test_a_log_in_through_a_reverse_proxy_changes_things_under_the_name_that_the_configuration_has(w):
    daemon = w.millrace(web={"hosts": ["admin.example.org"]})
    port, known = Port(daemon), {"Host": "admin.example.org", "Origin": "https://admin.example.org"}
    add_user(daemon, "anna", "operator")
    answer, cookie = port.log_in("anna", PASSWORD, **known)
    expect("the log-in", answer.status, 200)
    expect("a change", port.ask("POST", "/api/v1/drain/cancel", Cookie=cookie, **known).status, 200)
    expect("a change from elsewhere", port.ask("POST", "/api/v1/drain/cancel", Cookie=cookie, **known | {"Origin": "https://elsewhere.example.org"}).status, 403)
    expect("another host", port.ask("GET", "/api/v1/me", Cookie=cookie, Host="elsewhere.example.org").status, 421)


def test_a_port_for_looking_takes_no_change_and_a_prefix_is_before_all_its_paths(w):
    daemon = w.millrace(web={"read_only": True, "prefix": "/tools/millrace"})
    port, api = Port(daemon), Api(daemon)
    awaited = json.loads(port.ask("GET", "/tools/millrace/api/v1/me").text)["first_admin"]
    expect("whether a first admin is awaited where nobody can be added", (awaited, os.path.exists(first_admin_file(daemon))), (False, False))
    add_user(daemon, "anna", "admin")
    answer = port.ask("POST", "/tools/millrace/api/v1/login", {"name": "anna", "password": PASSWORD})
    expect("the log-in", answer.status, 200)
    cookie, mark = answer.headers["Set-Cookie"].split(";")[:2]
    expect("the path of the cookie", mark.strip(), "Path=/tools/millrace")
    known = {"Cookie": cookie, "Origin": daemon.url}
    expect("the port in the description", api.document["servers"][0]["url"], "/tools/millrace")
    expect("what me says", json.loads(port.ask("GET", "/tools/millrace/api/v1/me", **known).text)["read_only"], True)
    for path, status in (("/livez", 200), ("/", 404), ("/api/v1/me", 404), ("/tools/millrace", 308), ("/tools/millrace/", 200)):
        expect(path, port.ask("GET", path, **known).status, status)
    for pattern, method, operation in api.operations():
        if method == "GET" or operation["x-millrace-role"] == "page":
            continue
        answer = port.ask(method, "/tools/millrace" + path_of(pattern), **known)
        is_question = pattern.endswith(("/explain", "/mapping", "/try", "/doctor"))
        if (answer.status == 403 and code(answer) == "read-only") == is_question:
            raise Failed(f"{method} {pattern}: {answer}")
    daemon.command("user", "add", "bert", "--role", "viewer", input=PASSWORD + "\n")


def test_whoever_guesses_passwords_is_stopped(w):
    daemon = w.millrace()
    port = Port(daemon)
    add_user(daemon, "anna", "admin")
    answers = [port.log_in("anna", f"guess number {i}")[0].status for i in range(20)]
    expect("the first guesses", answers[:5], [401] * 5)
    if 429 not in answers:
        raise Failed(f"twenty guesses: {answers}")
    # Within a pause the right one does not help either; then it does.
    wait_until("the pause ends", lambda: port.log_in("anna", PASSWORD)[0].status == 200, 30)


def test_a_token_is_refused_once_it_is_deleted_and_a_wrong_one_at_once(w):
    daemon = w.millrace()
    port, ours = Port(daemon), token(daemon, "deploy", "operator", "--days", "1")
    expect("the role", port.role(Authorization=f"Bearer {ours}"), "operator")
    entry, = daemon.json("token", "list")["items"]
    expect("the list", (entry["name"], entry["role"], entry["state"]), ("deploy", "operator", "valid"))
    expect("a log-in of the proxy's own", port.role(Authorization="Basic YTpi"), "page")
    for wrong in ("Bearer", "Bearer x", f"Bearer {ours[:-1]}", f"Bearer {ours}0", "Bearer mrt_" + "0" * 64):
        answer = port.ask("GET", "/", Authorization=wrong)
        expect(wrong, (answer.status, code(answer), answer.headers["WWW-Authenticate"]), (401, "log-in-needed", "Bearer"))
    daemon.command("token", "delete", "deploy", "--yes")
    expect("the role of a token that was deleted", port.role(Authorization=f"Bearer {ours}"), 401)


def test_a_token_gets_another_role_and_end_and_stays_the_same_text(w):
    daemon = w.millrace()
    port, ours = Port(daemon), {"Authorization": "Bearer " + token(daemon, "deploy", "operator", "--days", "1")}
    before, = daemon.json("token", "list")["items"]
    said = daemon.json("token", "set", "deploy", "--role", "viewer", "--rows", "yes", "--days", "30", "--why", "the script only looks")
    after, = daemon.json("token", "list")["items"]
    expect("what the command says", (said["previous_role"], said["role"], said["previous_ends"], said["ends"], "token" in said), ("operator", "viewer", before["ends"], after["ends"], False))
    expect("the role and the sight of the same token", (port.role(**ours), json.loads(port.ask("GET", "/api/v1/me", **ours).text)["sees_rows"]), ("viewer", True))
    if not (datetime.fromisoformat(after["ends"]) - datetime.fromisoformat(before["ends"])).days in (28, 29) or after | {name: before[name] for name in ("role", "ends")} != before:
        raise Failed(f"{before} has become {after}")
    entry = daemon.json("audit", "list", "--limit", "1")["items"][0]
    expect("the audit log", (entry["what"], entry["object"], entry["reason"], entry["answered"]["previous_role"]), ("change the role or the end of a token", "deploy", "the script only looks", "operator"))
    daemon.command("token", "set", "deploy", "--rows", "no")
    expect("what is not named", {name: daemon.json("token", "get", "deploy")["items"][0][name] for name in ("role", "ends", "sees_rows")}, {"role": "viewer", "ends": after["ends"], "sees_rows": False})
    expect("an operator who changes a token", port.ask("PATCH", "/api/v1/tokens/deploy", {"role": "admin"}, Authorization="Bearer " + token(daemon, "ops", "operator")).status, 403)
    expect("nothing to change", port.ask("PATCH", "/api/v1/tokens/deploy", {}, Authorization="Bearer " + token(daemon, "admin", "admin")).status, 422)


def test_a_token_and_a_log_in_whose_time_is_over_open_nothing(w):
    daemon = w.millrace()
    port = Port(daemon)
    add_user(daemon, "anna", "admin")
    bearer = {"Authorization": "Bearer " + token(daemon, "deploy", "admin", "--days", "1")}
    _, cookie = port.log_in("anna", PASSWORD)
    expect("the roles", (port.role(**bearer), port.role(Cookie=cookie)), ("admin", "admin"))
    daemon.stop()
    with open_store(daemon) as store:
        kept = list(store.execute("SELECT name, content FROM setting WHERE name LIKE 'access/token/%'"))
        store.executemany("UPDATE setting SET content = ? WHERE name = ?", [(json.dumps(json.loads(content) | {"ends_ms": int(time.time() * 1000) - 1}), name) for name, content in kept])
    daemon.start()
    expect("how many there are", len(kept), 2)
    expect("the roles after their time", (port.role(**bearer), port.role(Cookie=cookie)), (401, "page"))
    refused = port.ask("GET", "/api/v1/status", **bearer)
    expect("a script", (refused.status, code(refused)), (401, "log-in-needed"))
    expect("a change", port.ask("POST", "/api/v1/drain/cancel", Cookie=cookie, Origin=daemon.url).status, 401)
    expect("the list", [(one["name"], one["state"]) for one in daemon.json("token", "list")["items"]], [("deploy", "ended")])


def test_no_other_site_may_read_an_answer_and_nobody_keeps_one(w):
    daemon = w.millrace()
    api, port = Api(daemon), Port(daemon)
    add_user(daemon, "anna", "viewer")
    _, cookie = port.log_in("anna", PASSWORD)
    known = {"a token": {"Authorization": "Bearer " + token(daemon, "admin", "admin")}, "a log-in": {"Cookie": cookie}, "nothing": {}}
    n = 0
    for pattern, method, _ in list(api.operations()):
        for who, shown in known.items():
            for asked in (method, "OPTIONS"):
                answer = port.ask(asked, path_of(pattern), Origin="http://elsewhere.example", Access_Control_Request_Method=method, Access_Control_Request_Headers="authorization", **shown)
                allowed = [name for name in answer.headers if name.lower().startswith("access-control-")]
                if allowed or asked == "OPTIONS" and answer.status < 400:
                    raise Failed(f"{asked} {pattern} with {who} from another site: {answer.headers}")
                if pattern.startswith("/api/") and answer.headers["Cache-Control"] != "no-store":
                    raise Failed(f"{asked} {pattern} with {who} may be kept: {answer.headers}")
                n += 1
    if n < 600:
        raise Failed(f"only {n} requests were sent")


def test_a_viewer_does_not_learn_where_a_server_s_secrets_are(w):
    w.sql("CREATE TABLE thing (id INT PRIMARY KEY)")
    definitions = w.definitions({"table": "thing"})
    definitions["databases"] = [{"name": w.schema, "topic": w.schema, **{name: definitions["topics"][0][name] for name in ("address", "user", "password_file")}}]
    daemon = w.follow(definitions)
    api, port = Api(daemon), Port(daemon)
    known = {role: {"Authorization": "Bearer " + token(daemon, role, role)} for role in ROLES[1:]}
    shown = {role: "".join(port.ask("GET", f"/api/v1/{path}", **known[role]).text for path in ("topics", f"topics/{w.schema}", "databases", f"databases/{w.schema}", "export")) for role in known}
    expect("how often each role sees the file", {role: text.count("source.password") for role, text in shown.items()}, {"viewer": 0, "operator": 6, "admin": 6})
    for name in ("password_file", "password_env"):
        if name in shown["viewer"]:
            raise Failed(f"a viewer sees {name}: {shown['viewer']}")
    for pattern, method, operation in api.operations():
        if method == "GET" and operation["x-millrace-role"] in ("viewer", "page", "probe"):
            answer = port.ask("GET", pattern.replace("{name}", f"{w.schema}.thing"), **known["viewer"])
            if "source.password" in answer.text:
                raise Failed(f"a viewer sees the file by {pattern}: {answer}")
    if "# for a viewer" not in shown["viewer"] or "# for a viewer" in shown["operator"] or f"address: 127.0.0.1:{w.db.port}" not in shown["viewer"]:
        raise Failed(f"a viewer is not told that something is left out, or too much is: {shown['viewer']}")


def test_health_and_metrics_have_no_secrets_and_no_values_of_rows(w):
    w.sql("CREATE TABLE thing (id VARCHAR(20) PRIMARY KEY, a INT)", "INSERT INTO thing VALUES ('Very-Secret-Id', 1)")
    daemon = w.follow(w.definitions({"table": "thing", "columns": ["id", {"name": "a", "type": "byte"}]}))
    w.sql("INSERT INTO thing VALUES ('Very-Secret-Too', 77777)")
    wait_until("it is a dead letter", lambda: daemon.json("dead-letter", "list")["items"])
    add_user(daemon, "anna", "viewer")
    port, ours = Port(daemon), token(daemon, "deploy", "admin")
    with open(os.path.join(daemon.folder, "source.password"), encoding="utf-8") as f:
        secrets = ["Very-Secret", "77777", PASSWORD, ours, "anna", "deploy", "source.password", f.read().strip()]
    texts = {path: port.ask("GET", path).text for path in ("/livez", "/readyz", "/metrics")}
    shown = [(path, secret) for path, text in texts.items() for secret in secrets if secret in text]
    if shown or "millrace_table_state" not in texts["/metrics"]:
        raise Failed(f"health and metrics show {shown}")


def test_only_an_admin_sends_sql(w):
    w.sql("CREATE TABLE thing (id INT PRIMARY KEY)", "INSERT INTO thing VALUES (1)")
    daemon = w.follow(w.definitions({"table": "thing"}))
    port, table = Port(daemon), f"{w.schema}.thing"
    operator, admin = ({"Authorization": "Bearer " + token(daemon, role, role)} for role in ("operator", "admin"))
    for path in (f"/api/v1/tables/{table}/verify", f"/api/v1/tables/{table}/index/refresh"):
        refused = port.ask("POST", path, {"where": "id = 1"}, **operator)
        expect(f"{path} by an operator", (refused.status, code(refused)), (403, "role-too-low"))
        done = port.ask("POST", path, {"where": "id = 1"}, **admin)
        if done.status not in (202, 503):  # the second may meet the first
            raise Failed(f"{path} by an admin: {done}")
    expect("keys by an operator", port.ask("POST", f"/api/v1/tables/{table}/verify", {"keys": ["1"]}, **operator).status, 200)


def test_a_viewer_sees_rows_only_where_somebody_allows_it(w):
    w.sql("CREATE TABLE thing (id INT PRIMARY KEY, secret VARCHAR(20))", "INSERT INTO thing VALUES (1, 'a value of a row')")
    daemon = w.follow(w.definitions({"table": "thing"}))
    port, table = Port(daemon), f"{w.schema}.thing"
    add_user(daemon, "anna", "viewer")
    _, cookie = port.log_in("anna", PASSWORD)

    def sees():
        """Whether the API says so, and does so."""
        answer = port.ask("GET", f"/api/v1/tables/{table}/explain?key=1", Cookie=cookie)
        if ("a value of a row" in answer.text) != (answer.status == 200):
            raise Failed(f"explain: {answer}")
        said = json.loads(port.ask("GET", "/api/v1/me", Cookie=cookie).text)["sees_rows"]
        expect("what the list says", daemon.json("user", "get", "anna")["items"][0]["sees_rows"], said)
        return said, answer.status

    expect("a viewer", sees(), (False, 403))
    daemon.command("user", "set", "anna", "--rows", "yes")
    expect("one who may see rows", sees(), (True, 200))
    expect("a repair by one who may see rows", port.ask("POST", f"/api/v1/tables/{table}/verify", {"keys": ["1"]}, Cookie=cookie, Origin=daemon.url).status, 403)
    expect("dead letters", port.ask("GET", "/api/v1/dead-letters", Cookie=cookie).status, 200)
    daemon.command("user", "set", "anna", "--role", "viewer")  # says nothing of rows
    expect("after a change of something else", sees(), (True, 200))
    daemon.command("user", "set", "anna", "--rows", "no")
    expect("after it was taken away", sees(), (False, 403))
    daemon.command("user", "set", "anna", "--role", "operator")
    expect("an operator", sees(), (True, 200))
    daemon.command("user", "set", "anna", "--rows", "maybe", ok=(2,))


def change_password(port, daemon, cookie, old, new):
    answer = port.ask("PUT", "/api/v1/me/password", {"old": old, "new": new}, Cookie=cookie, Origin=daemon.url)
    return answer, (answer.headers["Set-Cookie"] or "").split(";")[0]


def test_a_user_who_changes_the_password_has_the_only_log_in_then(w):
    daemon = w.millrace()
    port, other = Port(daemon), "another password for her"
    add_user(daemon, "anna", "viewer")
    _, first = port.log_in("anna", PASSWORD)
    _, second = port.log_in("anna", PASSWORD)
    for what, old, new, status, word in (("a wrong old one", other, "a third password", 403, "forbidden"), ("a short one", PASSWORD, "short", 422, "refused"),
                                         ("the same one", PASSWORD, PASSWORD, 422, "refused"), ("none", PASSWORD, "", 400, "bad-request")):
        answer, cookie = change_password(port, daemon, first, old, new)
        expect(what, (answer.status, code(answer), cookie), (status, word, ""))
    expect("from elsewhere", port.ask("PUT", "/api/v1/me/password", {"old": PASSWORD, "new": other}, Cookie=first, Origin="http://elsewhere.example").status, 403)
    expect("the roles after what was refused", (port.role(Cookie=first), port.role(Cookie=second)), ("viewer", "viewer"))
    answer, third = change_password(port, daemon, first, PASSWORD, other)
    expect("the change", (answer.status, json.loads(answer.text)["user"]), (200, "anna"))
    expect("the roles after it", [port.role(Cookie=cookie) for cookie in (first, second, third)], ["page", "page", "viewer"])
    expect("the log-ins that are listed", int(daemon.json("user", "list")["items"][0]["log_ins"]), 1)
    expect("the old password", port.log_in("anna", PASSWORD)[0].status, 401)
    expect("the new password", port.log_in("anna", other)[0].status, 200)
    told = daemon.command("audit", "list", "-o", "json").stdout
    expect("who changed it", json.loads(told)["items"][0]["who"], "user anna (127.0.0.1)")
    if other in told or PASSWORD in told:
        raise Failed(f"the audit log has {told}")
    ci = {"Authorization": "Bearer " + token(daemon, "ci", "admin")}
    refused = port.ask("PUT", "/api/v1/me/password", {"old": PASSWORD, "new": other}, **ci)
    expect("a script", (refused.status, code(refused)), (403, "no-log-in"))


def test_whoever_guesses_the_old_password_is_stopped(w):
    daemon = w.millrace()
    port = Port(daemon)
    add_user(daemon, "anna", "viewer")
    _, cookie = port.log_in("anna", PASSWORD)
    answers = [change_password(port, daemon, cookie, f"guess number {i}", "another password for her")[0].status for i in range(20)]
    expect("the first guesses", answers[:5], [403] * 5)
    if 429 not in answers:
        raise Failed(f"twenty guesses: {answers}")
    wait_until("the pause ends", lambda: change_password(port, daemon, cookie, PASSWORD, "another password for her")[0].status == 200, 30)


def first_admin_file(daemon):
    return os.path.join(daemon.folder, daemon.config["data"], "first-admin.token")


def first_admin(daemon, token, name="anna"):
    return Port(daemon).ask("POST", "/api/v1/first-admin", {"token": token, "name": name, "password": PASSWORD})


def awaits(daemon):
    return json.loads(Port(daemon).ask("GET", "/api/v1/me").text)["first_admin"]


def test_the_first_admin_is_added_by_a_token_that_counts_once(w):
    daemon = w.millrace()
    port, path = Port(daemon), first_admin_file(daemon)
    expect("the mode of the file", oct(os.stat(path).st_mode & 0o777), "0o600")
    with open(path, encoding="ascii") as f:
        old = f.read().strip()
    daemon.stop()
    with open(path, "w", encoding="ascii") as f:  # as a killed daemon leaves it, but for its mode
        f.write(old)
    os.chmod(path, 0o644)
    daemon.start()
    expect("the mode of the file where there was one", oct(os.stat(path).st_mode & 0o777), "0o600")
    with open(path, encoding="ascii") as f:
        key = f.read().strip()
    with open(daemon.log, encoding="utf-8", errors="replace") as f:
        line, = (line for line in f if key in line)
    if daemon.url + "/" not in line or path not in line:
        raise Failed(f"the log says: {line}")
    expect("whether the page is told", awaits(daemon), True)
    for what, wrong in (("an earlier start's", old), ("a short one", key[:-1]), ("another one", "mrt_" + "0" * 64)):
        refused = first_admin(daemon, wrong)
        expect(what, (refused.status, code(refused)), (401, "wrong-token"))
    expect("a short password", port.ask("POST", "/api/v1/first-admin", {"token": key, "name": "anna", "password": "short"}).status, 422)
    expect("no name", port.ask("POST", "/api/v1/first-admin", {"token": key, "name": "a b", "password": PASSWORD}).status, 422)
    expect("the users after what was refused", daemon.json("user", "list")["items"], [])
    done = first_admin(daemon, key)
    cookie = (done.headers["Set-Cookie"] or "").split(";")[0]
    expect("the first admin", (done.status, port.role(Cookie=cookie)), (201, "admin"))
    expect("whether another is awaited", (awaits(daemon), os.path.exists(path)), (False, False))
    again = first_admin(daemon, key, "bert")
    expect("a second one", (again.status, code(again)), (409, "conflict"))
    expect("who was added", [user["name"] for user in daemon.json("user", "list")["items"]], ["anna"])
    told = daemon.command("audit", "list", "-o", "json").stdout
    expect("who added the admin", [entry["who"] for entry in json.loads(told)["items"]], ["somebody (127.0.0.1)"])
    if key in told or PASSWORD in told:
        raise Failed(f"the audit log has {told}")
    daemon.stop()
    daemon.start()
    expect("after a start with a user", (awaits(daemon), os.path.exists(path)), (False, False))


def test_whoever_guesses_the_token_of_the_first_admin_is_stopped(w):
    daemon = w.millrace()
    answers = [first_admin(daemon, "mrt_" + "0" * 64).status for i in range(20)]
    if answers[0] != 401 or 429 not in answers:
        raise Failed(f"twenty guesses: {answers}")
    if not any("wrong token for the first admin" in line and "127.0.0.1" in line for line in daemon.log_tail(20000).splitlines()):
        raise Failed("the log tells nobody of the guesses")


def test_the_token_of_the_first_admin_ends_with_a_user_or_token_that_is_added_otherwise(w):
    for words in (("user", "add", "anna", "--role", "viewer"), ("token", "add", "ci", "--role", "viewer")):
        daemon = w.millrace()
        with open(first_admin_file(daemon), encoding="ascii") as f:
            key = f.read().strip()
        daemon.command(*words, input=PASSWORD + "\n")
        expect("the token", first_admin(daemon, key).status, 409)
        wait_until("the file is gone", lambda daemon=daemon: not os.path.exists(first_admin_file(daemon)), 30)
        expect("whether somebody is awaited", awaits(daemon), False)
        daemon.stop()


def test_of_first_admins_at_two_nodes_at_the_same_moment_one_is_added(w):
    m = Members(w, nodes=2, topics=2).start()
    keys = []
    for daemon in m.nodes:
        with open(first_admin_file(daemon), encoding="ascii") as f:
            keys.append(f.read().strip())
    expect("the other node's token", first_admin(m.nodes[0], keys[1]).status, 401)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        answers = list(pool.map(first_admin, m.nodes, keys, ("anna", "bert")))
    expect("the answers", sorted(answer.status for answer in answers), [201, 409])
    for daemon in m.nodes:
        wait_until("the file is gone", lambda daemon=daemon: not os.path.exists(first_admin_file(daemon)), 30)
        expect("how many users there are", len(daemon.json("user", "list")["items"]), 1)
    m.end()


def test_of_a_user_s_log_ins_the_newest_twenty_count(w):
    daemon = w.millrace()
    port = Port(daemon)
    add_user(daemon, "anna", "viewer")
    cookies = [port.log_in("anna", PASSWORD)[1] for _ in range(22)]
    roles = [port.role(Cookie=cookie) for cookie in cookies]
    expect("the roles", roles, ["page"] * 2 + ["viewer"] * 20)
    expect("the log-ins that are listed", int(daemon.json("user", "list")["items"][0]["log_ins"]), 20)


def test_no_password_and_no_token_can_be_read_anywhere(w):
    daemon = w.millrace()
    port = Port(daemon)
    add_user(daemon, "anna", "admin")
    secrets = [PASSWORD, token(daemon, "deploy", "admin")]
    _, cookie = port.log_in("anna", PASSWORD)
    secrets.append(cookie.split("=")[1])
    told = "".join(daemon.command(*words, "-o", "json").stdout for words in (("user", "list"), ("token", "list"), ("audit", "list"), ("config", "show"), ("export",)))
    with open(daemon.log, encoding="utf-8", errors="replace") as f:
        told += f.read()
    if "anna" not in told or "deploy" not in told:
        raise Failed(f"neither anna nor deploy is told of: {told}")
    for secret in (*secrets, "$y$"):
        if secret in told:
            raise Failed(f"{secret} can be read")
    if not daemon.is_cluster:
        daemon.command("backup", "copy-of-store")
        with open(f"{daemon.folder}/copy-of-store", "rb") as f:
            stored = f.read()
        if any(secret.encode() in stored for secret in secrets):
            raise Failed("the store has a secret")
    who = [(e["who"].split(" (")[0], e["what"]) for e in daemon.json("audit", "list")["items"]]
    if len(who) != 2 or not all(name.startswith("uid ") for name, _ in who):
        raise Failed(f"the audit log has {who}")
    port.ask("PUT", "/api/v1/users/bert?new=true", {"role": "viewer", "password": PASSWORD}, Cookie=cookie, Origin=daemon.url)
    expect("who added bert", daemon.json("audit", "list")["items"][0]["who"], "user anna (127.0.0.1)")


def test_bad_users_and_tokens_are_refused_and_change_nothing(w):
    daemon = w.millrace()
    add_user(daemon, "anna", "viewer")
    token(daemon, "ci", "viewer")
    before = daemon.json("user", "list"), daemon.json("token", "list")
    for words, input in (
            (("user", "add", "anna", "--role", "admin"), PASSWORD), (("user", "add", "bert", "--role", "king"), PASSWORD), (("user", "add", "bert"), PASSWORD),
            (("user", "add", "b t", "--role", "viewer"), PASSWORD), (("user", "add", "bert", "--role", "viewer"), "too short"), (("user", "add", "bert", "--role", "viewer"), ""),
            (("user", "set", "anna", "--password"), ""), (("user", "set", "bert", "--role", "viewer"), ""), (("user", "set", "anna"), ""), (("user", "set", "anna", "--password"), "x" * 300),
            (("user", "delete", "bert", "--yes"), ""), (("user", "get", "bert"), ""), (("token", "add", "ci", "--role", "viewer"), ""), (("token", "add", "x", "--role", "page"), ""),
            (("token", "add", "x", "--role", "viewer", "--days", "0"), ""), (("token", "add", "x", "--role", "viewer", "--days", "4000"), ""), (("token", "delete", "x", "--yes"), ""),
            (("token", "set", "x", "--role", "viewer"), ""), (("token", "set", "ci"), ""), (("token", "set", "ci", "--role", "king"), ""), (("token", "set", "ci", "--days", "0"), ""), (("token", "set", "ci", "--days", "4000"), "")):
        done = daemon.command(*words, input=input, ok=(1, 2))
        if not done.stderr.strip():
            raise Failed(f"{words}: no word why")
    expect("users and tokens", (daemon.json("user", "list"), daemon.json("token", "list")), before)


def test_every_node_knows_users_tokens_and_log_ins(w):
    m = Members(w, nodes=2, topics=2).start()
    first, second = m.nodes
    add_user(first, "anna", "operator")
    ours = token(second, "ci", "viewer")
    wait_until("each node knows the token", lambda: all(Port(d).role(Authorization=f"Bearer {ours}") == "viewer" for d in m.nodes), 30)
    wait_until("the second node knows the user", lambda: second.json("user", "list")["items"], 30)
    _, cookie = Port(second).log_in("anna", PASSWORD)
    wait_until("each node knows the log-in", lambda: all(Port(d).role(Cookie=cookie) == "operator" for d in m.nodes), 30)
    first.command("user", "delete", "anna", "--yes")
    wait_until("no node knows it any more", lambda: all(Port(d).role(Cookie=cookie) == "page" for d in m.nodes), 30)
    no_change_of_a_user_undoes_another(m.nodes)
    m.end()


def no_change_of_a_user_undoes_another(nodes):
    """Both nodes change one user at the same moment, again and again: what was told to be done is there."""
    add_user(nodes[0], "bert", "viewer")
    wait_until("both nodes know the user", lambda: all(d.json("user", "list")["items"] for d in nodes), 30)
    apis, refused = [Api(d) for d in nodes], 0
    with concurrent.futures.ThreadPoolExecutor() as pool:
        for i in range(40):
            wanted = {"role": "admin"}, {"sees_rows": i % 2 == 0}
            answers = list(pool.map(lambda api, body: api.ask("PUT", "/api/v1/users/bert", body), apis, wanted))
            if {answer.status for answer in answers} - {200, 409}:
                raise Failed(f"a change is answered {[str(answer) for answer in answers]}")
            refused += any(answer.status == 409 for answer in answers)
            wait_until("one can change it alone", lambda: apis[0].ask("PUT", "/api/v1/users/bert", {"role": "viewer"}).status == 200, 10)
            is_ = nodes[0].json("user", "get", "bert")["items"][0]
            if answers[1].status == 200 and is_["sees_rows"] != wanted[1]["sees_rows"]:
                raise Failed(f"round {i}: a change that was told to be done is undone: {is_}, {[str(answer) for answer in answers]}")
            if answers[0].status == 200:
                roles = [entry["answered"] for entry in nodes[0].json("audit", "list", "--limit", "3")["items"]]
                if "admin" not in {r["previous_role"] for r in roles if r}:
                    raise Failed(f"round {i}: the role that was told to be set is undone: {roles}")
    return refused


def test_users_can_be_added_before_the_first_start(w):
    daemon = w.millrace(start=False)
    add_user(daemon, "bert", "admin")
    daemon.start()
    expect("the log-in of a user who was added before the start", Port(daemon).log_in("bert", PASSWORD)[0].status, 200)


class Terminal:
    """A command that is typed at a terminal."""

    def __init__(self, daemon, *words):
        self.master, self.slave = pty.openpty()
        self.shown = ""
        self.process = subprocess.Popen([daemon.program, *words, "--config", daemon.config_file], stdin=self.slave, stdout=self.slave,
                                        stderr=self.slave, cwd=daemon.folder)

    def await_(self, text):
        """What it shows next has the text."""
        while text not in self.shown:
            if not select.select([self.master], [], [], 60)[0]:
                raise Failed(f"no {text!r} within 60 s: {self.shown}")
            self.shown += os.read(self.master, 1000).decode()
        before, self.shown = self.shown.split(text, 1)
        return before

    def type(self, text):
        os.write(self.master, text.encode())

    def is_quiet(self):
        return not termios.tcgetattr(self.slave)[3] & termios.ECHO

    def end(self):
        status = self.process.wait(timeout=60)
        os.close(self.slave)
        try:
            while piece := os.read(self.master, 1000):
                self.shown += piece.decode()
        except OSError:  # nobody has the other end any more
            pass
        os.close(self.master)
        return status


def test_a_password_that_is_typed_is_not_shown_and_typed_twice(w):
    daemon = w.millrace()
    terminal = Terminal(daemon, "user", "add", "anna", "--role", "admin")
    shown = ""
    for text in (PASSWORD, "another one than this", PASSWORD, PASSWORD):
        shown += terminal.await_("password: ")
        wait_until("the terminal shows nothing", terminal.is_quiet)
        terminal.type(text + "\n")
    status = terminal.end()
    shown += terminal.shown
    if status != 0 or "different" not in shown or PASSWORD in shown or "another one" in shown:
        raise Failed(f"exit {status}: {shown}")
    expect("the log-in", Port(daemon).log_in("anna", PASSWORD)[0].status, 200)
    terminal = Terminal(daemon, "user", "set", "anna", "--password")
    terminal.await_("password: ")
    wait_until("the terminal shows nothing", terminal.is_quiet)
    terminal.process.send_signal(signal.SIGINT)
    status = terminal.process.wait(timeout=60)
    if status != -signal.SIGINT or terminal.is_quiet():
        raise Failed(f"exit {status}, and the terminal is {'still quiet' if terminal.is_quiet() else 'as before'}")
    terminal.end()

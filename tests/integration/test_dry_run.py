"""A dry run says what would be changed, refuses what would be refused, and changes nothing."""
import json

from openapi import Api
from servers import Failed, wait_until


def world(w):
    """A daemon with a version that is history, one that is kept, one that waits, a dead letter, a user and a token."""
    w.sql("CREATE TABLE thing (id INT PRIMARY KEY, code VARCHAR(20))", "INSERT INTO thing VALUES (1, '10'), (2, 'abc')", "CREATE TABLE bare (id INT PRIMARY KEY)")
    daemon = w.follow(w.definitions({"table": "thing", "columns": ["id", {"name": "code", "type": "integer"}]}, {"table": "bare"}), index={"verify_every": "never", "trees": False})  # the log stays as it is
    table = f"{w.schema}.thing"
    daemon.command("index", "create", table, "--accept-dead-letters", "1", ok=None)
    wait_until("the dead letter is stored", lambda: daemon.json("dead-letter", "list")["items"])
    for _ in range(2):
        daemon.command("index", "create", f"{w.schema}.bare", "--keep", "1")
    daemon.command("index", "create", f"{w.schema}.bare", "--hold", "--no-wait")
    wait_until("it waits", lambda: any(v["state"] == "waiting" or v.get("wait") for v in daemon.json("version", "list", w.index("bare"))["items"]), 30)
    daemon.command("user", "add", "anna", "--role", "viewer", input="a password for Anna\n")
    daemon.command("token", "add", "ci", "--role", "viewer")
    daemon.command("word", "add", "one")
    return daemon


def state(daemon):
    """All that a change could change."""
    found = {noun: daemon.json(noun, "list")["items"] for noun in ("topic", "database", "table", "version", "index", "user", "token", "dead-letter", "log", "audit", "word")}
    found["settings"] = daemon.json("config", "delivery", "get")["items"]
    for version in found["version"] + found["index"]:
        version.pop("documents", None)
    return found


def calls(w):
    """(method, path, body, the same of what is not there: its status)"""
    thing, bare = f"{w.schema}.thing", f"{w.schema}.bare"
    return [("DELETE", f"/tables/{bare}/versions", None, "/tables/no.such/versions", 404),
            ("DELETE", f"/tables/{bare}/versions/1", None, f"/tables/{bare}/versions/77", 404),
            ("POST", f"/tables/{bare}/index/cutover", {}, f"/tables/{thing}/index/cutover", 409),
            ("POST", f"/tables/{bare}/index/reset", {}, "/tables/no.such/index/reset", 404),
            ("POST", f"/topics/{w.schema}/reset", {}, "/topics/no.such/reset", 404),
            ("POST", "/dead-letters/discard", {"all": True}, None, 0),
            ("DELETE", "/users/anna", None, "/users/no.such", 404),
            ("DELETE", "/tokens/ci", None, "/tokens/no.such", 404),
            ("PUT", "/users/anna", {"role": "operator"}, "/users/no.such", 404),
            ("PUT", "/tokens/another", {"role": "viewer"}, "/tokens/ci", 409),
            ("PATCH", "/tokens/ci", {"role": "admin", "days": 1}, "/tokens/no.such", 404),
            ("PATCH", "/config/delivery", {"workers": "17"}, None, 0),
            ("POST", "/config/delivery/reset", {}, None, 0),
            ("POST", "/words", {"words": ["龙井茶"], "publish": True}, None, 0),
            ("POST", "/words/import", {"text": "one\nthree"}, None, 0),
            ("POST", "/words/publish", {"words": ["one"]}, None, 0),
            ("POST", "/words/delete", {"words": ["one"]}, None, 0),
            ("PATCH", "/words/ext/one", {"word": "four"}, "/words/ext/two", 404),
            ("DELETE", "/words/ext/one", None, "/words/ext/two", 404),
            ("POST", f"/topics/{w.schema}/pause", {"reason": "no more"}, "/topics/no.such/pause", 404),
            ("POST", f"/topics/{w.schema}/resume", {}, "/topics/no.such/resume", 404),
            ("POST", f"/tables/{bare}/index/pause", {}, "/tables/no.such/index/pause", 404),
            ("POST", f"/tables/{bare}/index/resume", {}, "/tables/no.such/index/resume", 404),
            ("POST", "/dead-letters/replay", {"all": True}, None, 0),
            ("POST", f"/tables/{bare}/replay", {}, "/tables/no.such/replay", 404),
            ("POST", f"/tables/{thing}/index/refresh", {"keys": ["1"]}, "/tables/no.such/index/refresh", 404),
            ("POST", f"/tables/{thing}/index/refresh/cancel", {}, "/tables/no.such/index/refresh/cancel", 404),
            ("POST", "/drain", {"worker": 0}, None, 0),
            ("POST", "/drain/cancel", {}, None, 0),
            ("DELETE", f"/tables/{thing}", None, "/tables/no.such", 404),
            ("POST", f"/tables/{thing}/delete", {"confirm": thing}, None, 0)]


# What changes nothing that could be tried before: it asks, or concerns who asks, or is a test itself.
CANNOT_BE_TRIED = {"post /login", "post /logout", "put /me/password", "post /first-admin", "post /alarms/test", "post /doctor",
                   "post /words/try", "post /tables/{name}/explain", "post /tables/{name}/mapping"}


def takes_dry_run(operation):
    body = operation.get("requestBody", {"content": {"application/json": {"schema": {}}}})["content"]["application/json"]["schema"]
    forms = body.get("oneOf", [body])
    return any(p.get("name") == "dry_run" for p in operation["parameters"]) or all("dry_run" in form.get("properties", {}) for form in forms)


def test_whatever_changes_something_can_be_tried(w):
    changes = {f"{method.lower()} {pattern.removeprefix('/api/v1')}": operation for pattern, method, operation in Api(w.millrace()).operations() if method != "GET"}
    untried = {name for name, operation in changes.items() if not takes_dry_run(operation)}
    if untried != CANNOT_BE_TRIED or len(changes) < 50:
        raise Failed(f"of {len(changes)} these have no dry run: {untried - CANNOT_BE_TRIED}, and these have one: {CANNOT_BE_TRIED - untried}")


def test_what_is_only_tried_is_checked_and_told_and_changes_nothing(w):
    daemon = world(w)
    api, before = Api(daemon), state(daemon)
    for method, path, body, other, status in calls(w):
        answer = api.ask(method, f"/api/v1{path}?dry_run=true", body=body)
        if answer.status != 200 or json.loads(answer.text).get("dry_run") is not True:
            raise Failed(f"{method} {path}: {answer}")
        if other and (refused := api.ask(method, f"/api/v1{other}?dry_run=true", body=body)).status != status:
            raise Failed(f"{method} {other}: {status} was expected: {refused}")
    told = {path: json.loads(api.ask(method, f"/api/v1{path}?dry_run=true", body=body).text) for method, path, body, _, _ in calls(w)}
    if told["/words/import"]["added"] != 1 or told["/words/publish"]["published"] != 1 or told["/config/delivery"]["items"][0]["value"] != "17" or told["/tokens/another"]["token"]:
        raise Failed(f"the dry runs say {told}")
    if "midnights" not in told[f"/tables/{w.schema}.bare/replay"]["why"]:
        raise Failed(f"the log does not have yesterday, and the dry run of its replay says {told[f'/tables/{w.schema}.bare/replay']}")
    if (after := state(daemon)) != before:
        raise Failed(f"a dry run has changed {[(noun, before[noun], after[noun]) for noun in before if before[noun] != after[noun]]}")
    w.sql("INSERT INTO thing VALUES (3, '30')")
    wait_until("the topic still delivers", lambda: w.engine.get(w.index("thing"), 3) == {"id": 3, "code": "30"})


def test_a_refresh_of_a_key_that_can_be_none_is_refused_when_it_is_tried(w):
    w.sql("CREATE TABLE thing (id INT PRIMARY KEY, a INT)", "INSERT INTO thing VALUES (1, 1)")
    daemon, table = w.follow(w.definitions({"table": "thing"})), f"{w.schema}.thing"
    said = [daemon.command("index", "refresh", table, "--key", "abc", *more, ok=(2,)).stderr for more in ((), ("--dry-run",))]
    if said[0] != said[1]:
        raise Failed(f"the refresh says {said[0]}, and the dry run {said[1]}")


def test_a_roll_back_that_is_only_tried_moves_no_alias(w):
    w.sql("CREATE TABLE thing (id INT PRIMARY KEY, a INT)", "INSERT INTO thing VALUES (1, 1)")
    daemon, table = w.follow(w.definitions({"table": "thing"})), f"{w.schema}.thing"
    if daemon.command("index", "rollback", table, "--dry-run", ok=None).returncode == 0:
        raise Failed("it would return to a version that nothing keeps")
    daemon.command("index", "create", table, "--keep", "1")
    said = daemon.json("index", "rollback", table, "--dry-run")
    if (said["version"], said["from"], said["dry_run"]) != (1, 2, True) or w.table(daemon, "thing")["version"] != 2:
        raise Failed(f"searches use version {w.table(daemon, 'thing')['version']}, and it said {said}")
    if "nothing was changed" not in daemon.command("index", "rollback", table, "--dry-run").stderr:
        raise Failed("a person is not told that it was a dry run")
    daemon.command("index", "rollback", table)
    if w.table(daemon, "thing")["version"] != 1:
        raise Failed("the roll-back itself has not moved the alias")


def commands(w):
    """Those that change something and are no definition: what each needs besides --dry-run."""
    thing, bare = f"{w.schema}.thing", f"{w.schema}.bare"
    return [("topic", "pause", w.schema, "--reason", "none"), ("topic", "resume", w.schema), ("topic", "reset", w.schema), ("index", "pause", bare),
            ("index", "resume", bare), ("index", "cutover", bare), ("index", "refresh", thing, "--key", "1"), ("index", "refresh", thing, "--cancel"),
            ("index", "reset", bare), ("index", "delete", bare), ("replay", bare), ("drain",), ("drain", "--cancel"), ("dead-letter", "replay", "--all"),
            ("dead-letter", "discard", "--all"), ("delayed", "done", "7"), ("config", "delivery", "set", "workers=5"), ("user", "delete", "anna"), ("token", "set", "ci", "--days", "3"), ("token", "delete", "ci"),
            ("word", "delete", "one"), ("table", "delete", thing)]


def test_each_command_can_be_tried(w):
    daemon = world(w)
    before = state(daemon)
    for words in commands(w):
        done = daemon.command(*words, "--dry-run", ok=None)
        if done.returncode != (1 if words[:2] == ("delayed", "done") else 0) or "nothing was changed" not in done.stderr and done.returncode == 0:
            raise Failed(f"{' '.join(words)}: {done}")
        if (after := state(daemon)) != before:
            raise Failed(f"{' '.join(words)} --dry-run has changed {[(noun, before[noun], after[noun]) for noun in before if before[noun] != after[noun]]}")

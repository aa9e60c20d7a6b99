"""A build that a person publishes, and builds of every index by one command."""
import json

from servers import Failed, wait_until
from test_worse import check_searched, check_waits, leads_to, state

PART = "CREATE TABLE part (id INT PRIMARY KEY, a INT)", "INSERT INTO part VALUES (1, 1), (2, 2), (3, 3)"


def is_in_both(w, key):
    return all(w.engine.ask("GET", f"/{w.index('part')}_v{v}/_doc/{key}", ok=(200, 404)).get("found") for v in (1, 2))


def test_a_build_with_hold_waits_over_a_kill_until_a_person_publishes_it(w):
    w.sql(*PART)
    daemon = w.follow(w.definitions({"table": "part"}))
    part = f"{w.schema}.part"
    said = daemon.command("index", "create", part, "--hold").stdout
    if f"millrace index cutover {part}" not in said or "--accept-dead-letters" in said:
        raise Failed(f"index create --hold says {said!r}")
    if check_waits(w, daemon)["wait"]["reason"] != "person":
        raise Failed(f"it waits for {w.table(daemon, 'part')['wait']}")
    daemon.kill()
    daemon.start()
    w.sql("UPDATE part SET a = 7 WHERE id = 1", "DELETE FROM part WHERE id = 2", "INSERT INTO part VALUES (4, 4)")
    wait_until("both versions are written", lambda: is_in_both(w, 4))
    check_waits(w, daemon)
    daemon.command("index", "cutover", part)
    check_searched(w, daemon, 2)
    w.equal(daemon)


def test_a_first_version_with_hold_has_no_alias_until_it_is_published(w):
    w.sql(*PART)
    daemon = w.millrace()
    daemon.apply(w.definitions({"table": "part"}))
    daemon.command("index", "create", f"{w.schema}.part", "--hold")
    if state(w, daemon, 1) != "waiting" or "error" not in w.engine.ask("GET", f"/_alias/{w.index('part')}", ok=(200, 404)):
        raise Failed("searches use it already")
    daemon.command("index", "cutover", f"{w.schema}.part")
    if not leads_to(w, 1):
        raise Failed("searches do not use it")
    w.equal(daemon)


def test_all_builds_every_index_once_and_goes_on_after_one_that_cannot_be_built(w):
    w.sql("CREATE TABLE a (id INT PRIMARY KEY)", "CREATE TABLE b (id INT PRIMARY KEY)", "CREATE TABLE c (id INT PRIMARY KEY, a INT, KEY (a))",
          "INSERT INTO a VALUES (1)", "INSERT INTO b VALUES (1)", "INSERT INTO c VALUES (1, 1)")
    daemon = w.follow(w.definitions({"table": "a", "index": "family", "join": {"name": "a"}}, {"table": "b"}, {
        "table": "c", "index": "family", "join": {"name": "c", "parent": "a", "parent_column": "a"}}))
    daemon.command("index", "pause", f"{w.schema}.b", "--reason", "the disk is full")
    done = daemon.command("index", "create", "--all", "-o", "json", ok=(1,))
    built = [json.loads(line)["items"][0] for line in done.stdout.splitlines()]
    if [(v["index"], v["version"]) for v in built] != [(w.index("family"), 2)] or "the disk is full" not in done.stderr:
        raise Failed(f"it built {built} and said {done.stderr}")
    daemon.command("index", "resume", f"{w.schema}.b")
    daemon.command("index", "create", "--all")
    versions = {v["index"]: v["version"] for v in daemon.json("version", "list")["items"] if v["state"] == "available"}
    if versions != {w.index("family"): 3, w.index("b"): 2}:
        raise Failed(f"the versions are {versions}")
    for wrong in (["--all", f"{w.schema}.b"], []):
        if "give a TABLE, or --all" not in daemon.command("index", "create", *wrong, ok=(2,)).stderr:
            raise Failed(f"index create {wrong} does not say what to give")
    w.equal(daemon)

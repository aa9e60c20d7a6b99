"""What searches see is what is written: an alias or an index that is not as it should be is told, and put right where that is safe."""
import os
import shutil

from gate import Gate
from servers import Engine, Failed, wait_until

OFTEN = "300ms"
NEVER = "1h"


def follow(w, every=OFTEN, **config):
    """A daemon that follows a table `busy`, whose changes the tests make, and `idle`, which has none."""
    w.sql("CREATE TABLE busy (id INT PRIMARY KEY, a INT)", "INSERT INTO busy VALUES (1, 1), (2, 2)",
          "CREATE TABLE idle (id INT PRIMARY KEY, a INT)", "INSERT INTO idle VALUES (1, 1), (2, 2)")
    return w.follow(definitions(w), **looks(w, every), **config)


def definitions(w):
    return w.definitions({"table": "busy"}, {"table": "idle"})


def looks(w, every=OFTEN, url=None):
    return {"search": {"url": [url or w.engine.url], "check_every": every}}


def has_alias(w, alias):
    return "error" not in w.engine.ask("GET", f"/_alias/{alias}", ok=(200, 404))


def aliases(w, *actions):
    w.engine.ask("POST", "/_aliases", {"actions": [{verb: {"index": index, "alias": alias}} for verb, index, alias in actions]})


def wait_astray(w, daemon, name, *words):
    """The table says so, with its reason, and doctor does."""
    def state():
        found = w.table(daemon, name)
        return found if found["state"] == "astray" and all(word in found["reason"] for word in words) else None
    found = wait_until(f"{name} is astray for {words}", state)
    said = daemon.command("doctor", ok=(1,)).stdout
    if found["fix"] not in said:
        raise Failed(f"doctor says {said}, and not {found['fix']!r}")
    return found


def wait_available(w, daemon, name):
    return wait_until(f"{name} is available", lambda: w.table(daemon, name)["state"] == "available" and w.table(daemon, name))


def says(what, *words):
    missing = [word for word in words if word not in what]
    if missing:
        raise Failed(f"{missing} is not in {what!r}")


def follows_fix(daemon, found, *extra):
    """The one command of the fix, as it is written."""
    words = found["fix"].split()
    if words[:3] != ["millrace", "index", "create"]:
        raise Failed(f"the fix is {found['fix']!r}")
    return daemon.command(*words[1:], *extra)


def test_an_older_copy_of_the_data_folder_that_is_put_back_is_told(w):
    daemon = follow(w, coordination="embedded")  # with its store in the data folder
    data, copy = daemon.config["data"], os.path.join(daemon.folder, "copy")
    daemon.stop()
    shutil.copytree(data, copy)
    daemon.start()
    daemon.build(f"{w.schema}.idle")
    daemon.stop()
    shutil.rmtree(data)
    shutil.copytree(copy, data)
    daemon.start()
    found = wait_astray(w, daemon, "idle", f"{w.index('idle')}_v2", "data folder")
    if w.table(daemon, "busy")["state"] != "available":
        raise Failed(f"the other is {w.table(daemon, 'busy')}")
    follows_fix(daemon, found)
    if wait_available(w, daemon, "idle")["version"] != 3:
        raise Failed(f"it is {w.table(daemon, 'idle')}")
    w.sql("UPDATE idle SET a = 9")
    w.equal(daemon)


def test_an_alias_that_is_deleted_is_put_back_at_once(w):
    daemon = follow(w)
    index, alias = f"{w.index('idle')}_v1", w.index("idle")
    aliases(w, ("remove", index, alias))
    wait_until("the alias is back", lambda: has_alias(w, alias))
    wait_available(w, daemon, "idle")
    wait_until("the log of the table tells it", lambda: any(
        line["event"] == "mended" and "alias is gone" in line["detail"]["text"]
        for line in daemon.json("log", "list", f"{w.schema}.idle")["items"]))
    aliases(w, ("remove", index, f"{index}_write"))
    wait_until("the write alias is back", lambda: has_alias(w, f"{index}_write"))
    w.sql("UPDATE idle SET a = 5")
    w.equal(daemon)


def test_an_alias_that_goes_while_the_engine_is_away_is_put_back_when_it_is_there_again(w):
    with Gate(w.engine) as gate:
        daemon = follow(w, NEVER)
        daemon.stop()
        daemon.configure(**looks(w, NEVER, gate.url))
        daemon.start()
        gate.refuse = lambda method, path: 503
        w.sql("UPDATE busy SET a = 7")
        wait_until("the engine is known to be away", lambda: '"code":503' in daemon.log_tail(10**6))
        aliases(w, ("remove", f"{w.index('idle')}_v1", w.index("idle")))
        gate.refuse = None
        wait_until("the alias is back", lambda: has_alias(w, w.index("idle")))


def test_of_two_stores_that_want_one_index_the_second_does_not_build_it(w):
    first = follow(w)
    second = w.millrace(**looks(w))
    said = second.apply(definitions(w))
    says(said.stderr, "belongs to another store", "--take-index")
    table = f"{w.schema}.idle"
    refused = second.command("index", "create", table, ok=(1,))
    says(refused.stderr, "belongs to another store", f"topic {w.schema}", f"millrace index create {table} --take-index")
    w.sql("UPDATE idle SET a = 3")
    w.equal(first)
    if w.table(first, "idle")["state"] != "available" or w.table(second, "idle")["state"] != "unavailable":
        raise Failed(f"the first is {w.table(first, 'idle')}, the second {w.table(second, 'idle')}")
    taken = second.command("index", "create", table, "--take-index")
    says(taken.stderr, f"{w.index('idle')}_v1", "belongs to another store", f"topic {w.schema}")
    wait_available(w, second, "idle")
    found = wait_astray(w, first, "idle", f"{w.index('idle')}_v2", "belongs to another store")
    says(found["fix"], f"millrace index create {table} --take-index")
    refused = first.command("index", "create", table, ok=(1,))
    says(refused.stderr, "--take-index")
    # Once it is taken it is the second's, as any other.
    second.build(table)
    wait_available(w, second, "idle")


def test_what_another_store_is_building_is_not_built_beside_it(w):
    w.sql("CREATE TABLE busy (id INT PRIMARY KEY, a INT)", "INSERT INTO busy SELECT seq, 1 FROM seq_1_to_2000" if w.db.is_mariadb else
          "INSERT INTO busy WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900) SELECT i, 0 FROM n")
    text = w.definitions({"table": "busy"})
    first, second = w.millrace(**looks(w)), w.millrace(**looks(w))
    first.apply(text)
    second.apply(text)
    first.command("index", "create", f"{w.schema}.busy", "--no-wait", "--rate", "20")
    refused = second.command("index", "create", f"{w.schema}.busy", ok=(1,))
    says(refused.stderr, "belongs to another store")
    first.command("index", "set", f"{w.schema}.busy", "--rate", "0")
    wait_available(w, first, "busy")
    w.equal(first)


def test_after_a_lost_store_an_index_is_taken_and_it_is_said_whose_it_was(w):
    daemon = follow(w, coordination="embedded")  # with its store in the data folder
    daemon.stop()
    shutil.rmtree(daemon.config["data"])
    daemon.start()
    daemon.apply(definitions(w))
    for name in "busy", "idle":
        table = f"{w.schema}.{name}"
        says(daemon.command("index", "create", table, ok=(1,)).stderr, "belongs to another store")
        says(daemon.command("index", "create", table, "--take-index").stderr, f"{w.index(name)}_v1", f"topic {w.schema}")
    w.sql("UPDATE idle SET a = 9", "DELETE FROM busy WHERE id = 1")
    w.equal(daemon)
    if any(t["state"] != "available" or t["version"] != 2 for t in daemon.json("status")["tables"]):
        raise Failed(f"status says {daemon.json('status')['tables']}")


def test_an_index_that_is_deleted_is_told_though_its_table_has_no_changes(w):
    daemon = follow(w)
    index = f"{w.index('idle')}_v1"
    w.engine.ask("DELETE", f"/{index}")
    found = wait_astray(w, daemon, "idle", "no such index", index)
    w.sql("UPDATE busy SET a = 4")
    w.equal(daemon, [f"{w.schema}.busy"])
    follows_fix(daemon, found)
    wait_available(w, daemon, "idle")
    w.equal(daemon)


def test_an_address_that_leads_to_an_empty_engine_is_told_and_nothing_is_made_there(w):
    daemon = follow(w)
    daemon.stop()
    empty = w.also(Engine("empty"))
    empty.start()
    daemon.configure(**looks(w, NEVER, empty.url))
    daemon.start()
    for name in "busy", "idle":
        wait_astray(w, daemon, name, "no such index", "search.url")
    if [name for name in empty.ask("GET", "/_alias") if not name.startswith(".")]:
        raise Failed(f"it made {list(empty.ask('GET', '/_alias'))}")
    daemon.stop()
    daemon.configure(**looks(w))
    daemon.start()
    for name in "busy", "idle":
        wait_available(w, daemon, name)
    w.sql("UPDATE idle SET a = 2")
    w.equal(daemon)


def test_an_alias_that_leads_to_an_index_of_somebody_else_is_not_taken_without_a_word(w):
    w.sql("CREATE TABLE busy (id INT PRIMARY KEY, a INT)", "INSERT INTO busy VALUES (1, 1)",
          "CREATE TABLE idle (id INT PRIMARY KEY, a INT)", "INSERT INTO idle VALUES (1, 1)")
    theirs, alias, table = f"{w.schema}-theirs", w.index("idle"), f"{w.schema}.idle"
    w.engine.ask("PUT", f"/{theirs}", {"aliases": {alias: {}}})
    daemon = w.millrace(**looks(w))
    text = definitions(w)
    refused = daemon.apply(text, ok=(1,))
    says(refused.stderr, theirs, "was not made by Millrace", "--take-alias")
    if daemon.json("table", "list")["items"]:
        raise Failed("something was stored")
    daemon.apply(text, "--take-alias")
    refused = daemon.command("index", "create", table, ok=(1,))
    says(refused.stderr, theirs, f"millrace index create {table} --take-alias")
    if list(w.engine.ask("GET", f"/_alias/{alias}")) != [theirs]:
        raise Failed("the alias was moved")
    says(daemon.command("index", "create", table, "--take-alias").stderr, theirs)
    if list(w.engine.ask("GET", f"/_alias/{alias}")) != [f"{alias}_v1"]:
        raise Failed("the alias was not taken")
    daemon.build(f"{w.schema}.busy")
    # And taken back by hand.
    aliases(w, ("remove", f"{alias}_v1", alias), ("add", theirs, alias))
    found = wait_astray(w, daemon, "idle", theirs, "was not made by Millrace")
    says(found["fix"], "--take-alias")
    follows_fix(daemon, found)
    wait_available(w, daemon, "idle")
    w.equal(daemon)


def test_an_alias_that_somebody_makes_while_an_index_is_built_is_not_taken_at_its_end(w):
    w.sql("CREATE TABLE busy (id INT PRIMARY KEY, a INT)", "INSERT INTO busy SELECT seq, 1 FROM seq_1_to_500" if w.db.is_mariadb else
          "INSERT INTO busy WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) SELECT i, 0 FROM n")
    daemon = w.millrace(**looks(w))
    daemon.apply(w.definitions({"table": "busy"}))
    theirs, alias = f"{w.schema}-theirs", w.index("busy")
    daemon.command("index", "create", f"{w.schema}.busy", "--no-wait", "--rate", "20")
    w.engine.ask("PUT", f"/{theirs}", {"aliases": {alias: {}}})
    daemon.command("index", "set", f"{w.schema}.busy", "--rate", "0")

    def waits():
        build = w.table(daemon, "busy")["build"]
        return build and theirs in build["waits_for"]
    wait_until("the build says what it waits for", waits)
    if list(w.engine.ask("GET", f"/_alias/{alias}")) != [theirs]:
        raise Failed("the alias was taken")
    aliases(w, ("remove", theirs, alias))
    wait_available(w, daemon, "busy")
    w.equal(daemon)


def test_an_older_version_beside_the_one_that_is_written_is_taken_out_of_the_alias(w):
    daemon = follow(w)
    daemon.build(f"{w.schema}.idle")
    alias = w.index("idle")
    aliases(w, ("add", f"{alias}_v1", alias))
    wait_until("searches use one version", lambda: list(w.engine.ask("GET", f"/_alias/{alias}")) == [f"{alias}_v2"])
    aliases(w, ("remove", f"{alias}_v2", alias), ("add", f"{alias}_v1", alias))
    # Alone it may be somebody's wish: it is told.
    found = wait_astray(w, daemon, "idle", f"{alias}_v1", "older version")
    follows_fix(daemon, found)
    wait_available(w, daemon, "idle")


def test_an_index_from_before_owners_were_marked_is_marked_and_stays_its_stores(w):
    daemon = follow(w)
    index = f"{w.index('idle')}_v1"

    def mark():
        meta = w.engine.ask("GET", f"/{index}/_mapping")[index]["mappings"]["_meta"]
        ours = {name: int(v) if name in ("epoch", "version") else v for name, v in meta["_millrace"].items()}
        return meta | {"_millrace": ours} | ({"theirs": {"a": 1}} if "theirs" in meta else {})
    before = mark()
    unmarked = {k: v for k, v in before["_millrace"].items() if k != "owner"}
    w.engine.ask("PUT", f"/{index}/_mapping", {"_meta": {"theirs": {"a": 1}, "_millrace": unmarked}})
    wait_until("the owner is marked", lambda: mark() == before | {"theirs": {"a": 1}})
    other = dict(before["_millrace"], owner="0000")
    w.engine.ask("PUT", f"/{index}/_mapping", {"_meta": {"_millrace": other}})
    wait_astray(w, daemon, "idle", "0000", "two daemons")
    w.engine.ask("PUT", f"/{index}/_mapping", {"_meta": before})
    wait_available(w, daemon, "idle")

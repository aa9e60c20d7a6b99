"""One definition is read, changed, checked and stored by itself: by command, and by the API."""
import json
import os
import threading

import yaml
from servers import Failed
from test_revisions import ask, expect


def follow(w):
    w.sql("CREATE TABLE thing (id INT PRIMARY KEY, a INT, title VARCHAR(20), secret INT)", "INSERT INTO thing VALUES (1, 2, 'one', 3)",
          "CREATE TABLE part (id INT PRIMARY KEY, thing INT, kind INT, n INT, KEY (thing))", "INSERT INTO part VALUES (7, 1, 5, 8)",
          "CREATE TABLE kind (id INT PRIMARY KEY, name VARCHAR(20))", "INSERT INTO kind VALUES (5, 'five')")
    return w.follow(w.definitions({"table": "thing", "settings": {"number_of_shards": 1, "number_of_replicas": 0}}))


def stored(daemon, table):
    return next(one for one in yaml.safe_load(daemon.command("export").stdout)["tables"] if one["table"] == table)


def is_stored(daemon, table, **fields):
    found = stored(daemon, table)
    if {name: found.get(name) for name in fields} != fields:
        raise Failed(f"{fields} was to be stored, and it is {found}")


def refused(done, *texts, code=1):
    if done.returncode != code or any(text not in done.stderr for text in texts):
        raise Failed(f"{texts} with {code} was expected: {done.returncode}, {done.stderr}")


def test_a_table_is_added_changed_and_built_without_a_file(w):
    daemon, table = follow(w), f"{w.schema}.thing"
    new = f"{w.schema}.kind"
    daemon.command("table", "add", new, f"index={w.schema}-kind", "settings={number_of_shards: 1, number_of_replicas: 0}", "--dry-run")
    if new in daemon.command("export").stdout:
        raise Failed("a dry run has stored a table")
    daemon.command("table", "add", new, f"index={w.schema}-kind", "settings={number_of_shards: 1, number_of_replicas: 0}")
    refused(daemon.command("table", "add", new, f"index={w.schema}-other", ok=None), "is defined already", "table set")
    refused(daemon.command("table", "add", new, f"index={w.schema}-kind", "settings={number_of_shards: 1, number_of_replicas: 0}", ok=None), "defined already")
    refused(daemon.command("table", "add", f"{w.schema}.none", ok=None), "none")
    daemon.command("table", "set", table, "filter=a > 1 AND title <> 'x: y # z'", "settings.refresh_interval=5s")
    is_stored(daemon, table, filter="a > 1 AND title <> 'x: y # z'", settings={"number_of_shards": 1, "number_of_replicas": 0, "refresh_interval": "5s"})
    refused(daemon.command("table", "set", table, "fliter=a > 1", ok=None), "fliter", "filter")
    refused(daemon.command("table", "set", table, "filter", ok=None), "FIELD=VALUE")
    refused(daemon.command("table", "set", f"{w.schema}.none", "filter=a > 1", ok=None), "there is no table")
    daemon.command("table", "set", table, "filter=", "settings.refresh_interval=")
    is_stored(daemon, table, filter=None, settings={"number_of_shards": 1, "number_of_replicas": 0})
    daemon.write("definitions.yaml", daemon.command("export").stdout)
    for one in table, new:
        daemon.build(one)
    w.equal(daemon)


def test_columns_and_relations_are_added_changed_and_deleted(w):
    daemon, table = follow(w), f"{w.schema}.thing"
    before = daemon.command("export").stdout
    daemon.command("column", "set", table, "title", "type=text", "keyword=true")
    daemon.command("column", "delete", table, "secret")
    is_stored(daemon, table, columns=["*", {"name": "title", "type": "text", "keyword": True}, {"name": "secret", "skip": True}])
    refused(daemon.command("column", "add", table, "a", ok=None), "every column")
    daemon.command("relation", "add", table, "parts", "from=id", f"table={w.schema}.part", "to=thing", "many=true", "columns=[id, n]")
    refused(daemon.command("relation", "add", table, "parts", "from=id", ok=None), "exists")
    daemon.command("relation", "add", table, "parts.kind", "from=kind", f"table={w.schema}.kind", "to=id", "as=kind")
    daemon.command("relation", "set", table, "parts", "limit=10", "order_by=id")
    daemon.command("column", "add", table, "thing", "as=owner", "--relation", "parts")
    refused(daemon.command("column", "add", table, "no_such", "--relation", "parts", ok=None), "no_such")
    refused(daemon.command("relation", "set", table, "pats", "limit=10", ok=None), "there is no relation pats")
    daemon.write("definitions.yaml", daemon.command("export").stdout)
    daemon.build(table)
    w.equal(daemon)
    shown = w.engine.get(daemon.json("table", "get", table)["items"][0]["index"], 1)
    if shown["parts"] != [{"id": 7, "n": 8, "owner": 1, "kind": {"id": 5, "name": "five"}}] or "secret" in shown:
        raise Failed(f"the document is {shown}")
    daemon.command("relation", "delete", table, "parts")
    daemon.command("column", "add", table, "secret")
    daemon.command("table", "set", table, "columns=")
    if daemon.command("export").stdout != before:
        raise Failed(f"{before} was to be back, and it is {daemon.command('export').stdout}")


def test_columns_and_relations_are_shown_as_they_are_defined(w):
    daemon, table = follow(w), f"{w.schema}.thing"

    def shown(*words):
        return daemon.json(*words)["items"]

    if shown("column", "list", table) != [{"name": "*"}] or "*" not in daemon.command("column", "list", table).stdout:
        raise Failed(f"of a definition without columns: {shown('column', 'list', table)}")
    refused(daemon.command("column", "get", table, "title", ok=None), "lists no column title")
    parts = {"from": "id", "table": f"{w.schema}.part", "to": "thing", "many": True, "limit": 5, "as": "parts", "columns": ["id", {"name": "n", "as": "number"}]}
    daemon.command("relation", "add", table, "parts", "from=id", f"table={w.schema}.part", "to=thing", "many=true", "limit=5", "columns=[id, {name: n, as: number}]")
    daemon.command("relation", "add", table, "parts.of", "from=kind", f"table={w.schema}.kind", "to=id")
    daemon.command("column", "delete", table, "secret")
    nested = {"from": "kind", "table": f"{w.schema}.kind", "to": "id", "as": "of"}
    item, = shown("relation", "get", table, "parts.of")
    if item != {"in": table, "as": "of", "table": f"{w.schema}.kind", "many": False, "nested": False, "definition": nested} or {name: item[name] for name in ("as", "table", "many")} not in [
            {name: one[name] for name in ("as", "table", "many")} for one in shown("relation", "list", table)]:
        raise Failed(f"the inner relation is {item}")
    item, = shown("relation", "get", table, "parts")
    if item["definition"] != parts | {"relations": [nested]} or "limit: 5" not in daemon.command("relation", "get", table, "parts").stdout:
        raise Failed(f"the relation is {item}")
    if shown("column", "list", table, "--relation", "parts") != [{"name": "id"}, {"name": "n", "as": "number"}] or shown("column", "get", table, "N", "--relation", "parts") != [{"name": "n", "as": "number"}]:
        raise Failed(f"the columns of the relation are {shown('column', 'list', table, '--relation', 'parts')}")
    if shown("column", "get", table, "secret") != [{"name": "secret", "skip": True}]:
        raise Failed(f"what is not shown is {shown('column', 'get', table, 'secret')}")
    for words, text in ((("column", "get", table, "kind", "--relation", "parts"), "column kind is not shown"), (("column", "list", table, "--relation", "none"), "there is no relation none"),
                        (("relation", "get", table, "parts.none"), "there is no relation parts.none"), (("relation", "get", f"{w.schema}.none", "parts"), "there is no table")):
        refused(daemon.command(*words, ok=None), text)
    daemon.stop()
    if shown("relation", "get", table, "parts")[0] != item:
        raise Failed("without the daemon it is another one")


def test_a_password_stays_when_something_else_of_its_topic_is_changed(w):
    daemon = follow(w)
    topic = daemon.json("topic", "list")["items"][0]["name"]
    with open(os.path.join(daemon.folder, "source.password"), encoding="utf-8") as f:
        password = f.read().strip()
    daemon.command("topic", "set", topic, "password_file=", f"password={password}")
    daemon.command("topic", "set", topic, "description=a text")
    shown = daemon.command("topic", "get", topic, "-o", "json").stdout
    if password in shown or '"password":"***"' not in shown:
        raise Failed(f"the topic has no literal password, or shows it: {shown}")
    daemon.stop()
    os.unlink(os.path.join(daemon.folder, "source.password"))
    daemon.start()
    w.sql("INSERT INTO thing VALUES (2, 2, 'two', 3)")
    daemon.build(f"{w.schema}.thing")
    w.equal(daemon)
    refused(daemon.command("database", "set", w.schema, "topic=none", ok=None), "none")


def test_put_stores_one_definition_as_it_was_read_or_refuses(w):
    daemon, table = follow(w), f"{w.schema}.thing"
    status, seen, text = ask(daemon, "GET", f"tables/{table}")
    answer = json.loads(text)
    if status != 200 or seen != f'"{answer["revision"]}"' or ask(daemon, "GET", "export")[1] != seen:
        raise Failed(f"{seen} is not the revision of {text}")
    one = answer["items"][0]
    if expect(ask(daemon, "PUT", f"tables/{table}", one, seen), 200, text='"items":\\[\\]') != seen:
        raise Failed("what was read and is stored again is a change")
    one["filter"] = "title <> '${HOME} 9007199254740993'"
    expect(ask(daemon, "PUT", f"tables/{table}?dry_run=true", one, seen), 200, seen, '"change"')
    now = expect(ask(daemon, "PUT", f"tables/{table}", one, seen), 200, text='"change"')
    is_stored(daemon, table, filter="title <> '$${HOME} 9007199254740993'")
    expect(ask(daemon, "PUT", f"tables/{table}", one, seen), 412, text="changed them last")
    expect(ask(daemon, "PUT", f"tables/{table}?new=true", one | {"filter": "a = 1"}, now), 409, text="defined already")
    expect(ask(daemon, "PUT", f"tables/{table}", one | {"fliter": "a = 1"}, now), 422, text="fliter")
    expect(ask(daemon, "PUT", f"tables/{table}", one | {"table": f"{w.schema}.part"}), 400, text="the name in the path")
    expect(ask(daemon, "PUT", f"tables/{table}", []), 400)
    expect(ask(daemon, "PUT", f"tables/{table}?prune=true", one), 400, text="prune")
    expect(ask(daemon, "PUT", f"relations/{table}", {}), 405)
    expect(ask(daemon, "PUT", f"tables/{w.schema}.part?new=true", {"table": f"{w.schema}.part", "index": f"{w.schema}-part"}), 200, text='"add"')
    expect(ask(daemon, "GET", "export"), 200)


def test_of_many_who_change_one_table_at_once_nobody_undoes_what_another_one_was_told_is_stored(w):
    daemon, table = follow(w), f"{w.schema}.thing"
    told = {}

    def change(name, value):
        told[name] = daemon.command("table", "set", table, f"settings.{name}={value}", ok=None)

    values = {"refresh_interval": "7s", "max_ngram_diff": 7, "max_result_window": 7000, "max_inner_result_window": 7000}
    threads = [threading.Thread(target=change, args=both) for both in values.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    done = [name for name, one in told.items() if one.returncode == 0]
    kept = stored(daemon, table)["settings"]
    if not done or not kept.keys() >= set(done):
        raise Failed(f"of {done} is left {kept}; {[one.stderr for one in told.values()]}")
    for one in told.values():
        if one.returncode:
            refused(one, "changed them last")


def test_apply_takes_the_revision_that_a_script_has_seen(w):
    daemon = follow(w)
    seen = daemon.json("table", "list")["revision"]
    text = daemon.command("export").stdout
    daemon.command("table", "set", f"{w.schema}.thing", "filter=a > 0")
    refused(daemon.command("apply", daemon.write("old.yaml", text), "--if-revision", str(seen), ok=None), "changed them last")
    daemon.command("apply", daemon.write("old.yaml", text), "--if-revision", str(seen + 1))


def test_five_hundred_tables_are_stored_at_once_and_one_of_them_is_changed_or_refused_by_itself(w):
    names = [f"t{i:03}" for i in range(500)]
    w.sql(*(f"CREATE TABLE {name} (id INT PRIMARY KEY, a INT)" for name in names))
    daemon, definitions = w.millrace(), w.definitions(*({"table": name, "columns": ["id", "a"]} for name in names))

    def apply(status, **more):
        answer = ask(daemon, "POST", "apply", {"files": [{"name": "a.json", "text": json.dumps(definitions), "folder": daemon.folder}]} | more)
        expect(answer, status)
        return json.loads(answer[2])

    definitions["tables"][321]["columns"][1] = "none"
    wrong, = apply(422)["errors"]
    if "none" not in wrong["message"] or names[321] not in json.dumps(wrong) or daemon.json("table", "list")["items"]:
        raise Failed(f"of the wrong one of 500: {wrong}")
    definitions["tables"][321]["columns"][1] = "a"
    would, did = apply(200, dry_run=True)["items"], apply(200)["items"]
    if len(would) != 502 or would != did:
        raise Failed(f"a dry run says {len(would)}, and it is {len(did)}")
    found, after = [], ""
    while after is not None:
        page = json.loads(ask(daemon, "GET", f"tables?limit=64&after={after}")[2])
        found, after = found + [one["table"] for one in page["items"]], page["next"]
    if found != [f"{w.schema}.{name}" for name in names]:
        raise Failed(f"the pages of the list have {len(found)}: {found[:5]}")
    table = f"{w.schema}.t321"
    changed = ask(daemon, "PUT", f"tables/{table}", definitions["tables"][321] | {"columns": ["id", {"name": "a", "type": "long"}]})
    expect(changed, 200)
    if [item["name"] for item in json.loads(changed[2])["items"]] != [table]:
        raise Failed(f"one of 500 was changed: {changed}")
    daemon.build(table)
    if [one["table"] for one in daemon.status()["tables"] if one["version"]] != [table]:
        raise Failed("another one is searched")

"""An index that no definition names any more: it stays as it is, is written by nobody and holds up nobody, until it is
deleted.  And what changes several stored things changes all of them, or none, wherever the daemon dies."""
import json
import threading

import yaml

from servers import Failed, open_store, wait_until
from test_failpoints import armed, until_dead


def tables(w, *names):
    w.sql(*(s for name in names for s in (f"CREATE TABLE {name} (id INT PRIMARY KEY, a INT)",
                                          f"INSERT INTO {name} VALUES (1, 1), (2, 2)")))
    return w.definitions(*({"table": name} for name in names))


def without(definitions, *names):
    return dict(definitions, tables=[t for t in definitions["tables"] if t["table"].split(".")[1] not in names])


def states(daemon, alias):
    """{number: state} of an alias, by the list of indexes."""
    return {i["version"]: i["state"] for i in daemon.json("index", "list")["items"] if i["index"] == alias}


def expect(what, is_, wanted):
    if is_ != wanted:
        raise Failed(f"{what}: {is_}, and not {wanted}")


def sources(w, index):
    return {key: source["a"] for key, source, _ in w.engine.documents(index)}


def written_by_nobody(w, daemon, name, good="good"):
    """A change of both tables comes to the one that is followed, and not to the other."""
    index = w.index(name)
    before = sources(w, index)
    w.sql(f"UPDATE {name} SET a = a + 100", f"UPDATE {good} SET a = a + 1")
    w.equal(daemon, [f"{w.schema}.{good}"])
    wait_until("everything is done", lambda: daemon.metric("millrace_changes_in_flight") == 0)
    expect(f"documents of {index}", sources(w, index), before)


def apply_pruned(w, daemon, definitions):
    return daemon.apply(definitions, "--prune", "--yes")


def take_long(w, table):
    """A build of the table at one row a second takes a minute."""
    w.sql(f"INSERT INTO {table} VALUES " + ", ".join(f"({i}, 0)" for i in range(3, 60)))


def test_a_pruned_table_is_written_no_more_and_neither_after_a_restart(w):
    definitions = tables(w, "good", "gone")
    daemon = w.follow(definitions)
    said = apply_pruned(w, daemon, without(definitions, "gone"))
    if "is retired" not in said.stderr + said.stdout or "index delete" not in said.stderr + said.stdout:
        raise Failed(f"apply does not say what becomes of the index: {said.stdout}{said.stderr}")
    expect("states", states(daemon, w.index("gone")), {1: "retired"})
    written_by_nobody(w, daemon, "gone")
    daemon.kill()
    daemon.start()
    written_by_nobody(w, daemon, "gone")
    expect("states after a restart", states(daemon, w.index("gone")), {1: "retired"})


def test_a_table_whose_index_has_another_name_leaves_a_retired_one_and_stays_healthy(w):
    definitions = tables(w, "good", "moved")
    daemon = w.follow(definitions)
    old = w.index("moved")
    definitions["tables"][1]["index"] = w.index("elsewhere")
    daemon.apply(definitions)
    daemon.build(f"{w.schema}.moved")
    expect("states", (states(daemon, old), states(daemon, w.index("elsewhere"))), ({1: "retired"}, {1: "available"}))
    w.engine.ask("DELETE", f"/{old}_v1")
    w.sql("UPDATE moved SET a = a + 1", "UPDATE good SET a = a + 1")
    daemon.build(f"{w.schema}.good")  # of another table: it waits for nothing that the old index would take
    w.sql("UPDATE moved SET a = a + 1", "UPDATE good SET a = a + 1")
    w.equal(daemon)
    expect("state", w.table(daemon, "moved")["state"], "available")
    wait_until("no change is pinned", lambda: daemon.metric("millrace_changes_in_flight") == 0)


def test_a_retired_index_that_is_deleted_in_the_engine_does_not_pin_the_position(w):
    definitions = tables(w, "good", "gone")
    daemon = w.follow(definitions)
    w.engine.ask("DELETE", f"/{w.index('gone')}_v1")
    w.sql("UPDATE gone SET a = a + 1")
    wait_until("its index is held", lambda: w.table(daemon, "gone")["state"] == "held")
    apply_pruned(w, daemon, without(definitions, "gone"))
    w.sql("UPDATE gone SET a = a + 1", "UPDATE good SET a = a + 1")
    w.equal(daemon, [f"{w.schema}.good"])
    end = tuple(w.db.log_end())

    def passed():
        topic = daemon.status()["topics"][0]
        return (topic["file"], topic["position"]) >= end

    wait_until("the position has passed all of it", passed)
    daemon.command("index", "delete", w.index("gone"), "--yes")
    expect("states", states(daemon, w.index("gone")), {})


def test_every_version_of_a_table_is_retired_and_deleted_by_the_name_of_index_or_table(w):
    definitions = tables(w, "good", "gone", "other")
    daemon = w.follow(definitions)
    for name in ("gone", "other"):
        daemon.build(f"{w.schema}.{name}")
        daemon.command("table", "delete", f"{w.schema}.{name}", "--yes")
        expect("states", states(daemon, w.index(name)), {1: "retired", 2: "retired"})
    daemon.command("index", "delete", w.index("gone"), "--yes")
    daemon.command("index", "delete", f"{w.schema}.other", "--yes")
    for name in ("gone", "other"):
        expect("states", states(daemon, w.index(name)), {})
        expect("indexes", w.engine.ask("GET", f"/{w.index(name)}_v*/_alias"), {})
    done = daemon.command("index", "delete", w.index("gone"), "--yes", ok=(1,))
    if "no table or index" not in done.stderr:
        raise Failed(f"it said {done.stderr}")
    w.equal(daemon, [f"{w.schema}.good"])


def test_an_index_that_somebody_elses_alias_leads_to_is_not_deleted(w):
    definitions = tables(w, "good", "gone")
    daemon = w.follow(definitions, index={"retire_after": "200ms"})
    index = f"{w.index('gone')}_v1"
    alias = lambda what, name: w.engine.ask("POST", "/_aliases", {"actions": [{what: {"index": index, "alias": name}}]})  # noqa: E731
    alias("add", w.index("theirs"))
    apply_pruned(w, daemon, without(definitions, "gone"))
    reason = lambda: next(i["reason"] for i in daemon.json("index", "list")["items"] if i["name"] == index)  # noqa: E731
    wait_until(lambda: f"both aliases keep it: {reason()}", lambda: w.index("theirs") in reason() and w.index("gone") + ", " in reason() + ", ")
    done = daemon.command("index", "delete", w.index("gone"), "--yes", ok=(1,))
    if w.index("theirs") not in done.stderr or "remove the alias" not in done.stderr:
        raise Failed(f"it said {done.stderr}")
    alias("remove", w.index("theirs"))
    wait_until(lambda: f"the search alias keeps it: {reason()}", lambda: w.index("theirs") not in reason() and "an alias points to it" in reason())
    alias("remove", w.index("gone"))
    wait_until("it is deleted when no alias leads to it", lambda: not w.engine.ask("GET", f"/{w.index('gone')}_v*/_alias"))
    wait_until("it is in no list", lambda: not states(daemon, w.index("gone")))


def test_a_retired_index_stays_for_ever_by_default(w):
    definitions = tables(w, "good", "gone")
    daemon = w.follow(definitions)
    w.engine.ask("POST", "/_aliases", {"actions": [{"remove": {"index": f"{w.index('gone')}_v1", "alias": w.index("gone")}}]})
    apply_pruned(w, daemon, without(definitions, "gone"))
    item = next(i for i in daemon.json("index", "list", w.index("gone"))["items"])
    expect("it", (item["state"], item["deleted_after"], item["table"]), ("retired", None, ""))
    daemon.build(f"{w.schema}.good")
    expect("states", states(daemon, w.index("gone")), {1: "retired"})


def test_a_build_of_a_table_that_is_pruned_ends_and_searches_use_what_they_used(w):
    definitions = tables(w, "good", "gone")
    daemon = w.follow(definitions)
    take_long(w, "gone")
    daemon.command("index", "create", f"{w.schema}.gone", "--rate", "1", "--no-wait")
    wait_until("it is built", lambda: w.table(daemon, "gone")["build"])
    apply_pruned(w, daemon, without(definitions, "gone"))
    wait_until("what was built is gone", lambda: list(w.engine.ask("GET", f"/{w.index('gone')}_v*/_alias")) == [f"{w.index('gone')}_v1"])
    wait_until("and forgotten", lambda: states(daemon, w.index("gone")) == {1: "retired"})
    expect("the alias", list(w.engine.ask("GET", f"/_alias/{w.index('gone')}")), [f"{w.index('gone')}_v1"])
    expect("jobs", daemon.json("job", "list")["items"], [])
    written_by_nobody(w, daemon, "gone")


def test_a_build_that_had_moved_the_alias_when_its_table_is_pruned_gives_it_back(w):
    definitions = tables(w, "good", "gone")
    daemon = w.follow(definitions)
    daemon.kill()
    daemon.start(environment=armed("alias_moved"))
    daemon.command("index", "create", f"{w.schema}.gone", "--no-wait", ok=None)
    until_dead(daemon, "alias_moved")
    expect("the alias", list(w.engine.ask("GET", f"/_alias/{w.index('gone')}")), [f"{w.index('gone')}_v2"])
    w.db.stop()  # so that the build does not go on before its table is pruned
    try:
        daemon.start()
        daemon.write("pruned.json", json.dumps({"topics": [], "databases": [], "tables": []}))
        daemon.command("apply", "pruned.json", "--prune", "--yes")
    finally:
        w.db.start()
    wait_until("searches use what they used", lambda: list(w.engine.ask("GET", f"/{w.index('gone')}_v*/_alias")) == [f"{w.index('gone')}_v1"])
    expect("the alias", list(w.engine.ask("GET", f"/_alias/{w.index('gone')}")), [f"{w.index('gone')}_v1"])


def test_a_table_that_is_built_is_not_deleted_and_nothing_else_of_it_is(w):
    definitions = tables(w, "good", "built")
    daemon = w.follow(definitions)
    daemon.build(f"{w.schema}.built")
    take_long(w, "built")
    daemon.command("index", "create", f"{w.schema}.built", "--rate", "1", "--no-wait")
    wait_until("it is built", lambda: w.table(daemon, "built")["build"])
    done = daemon.command("table", "delete", f"{w.schema}.built", "--yes", ok=(1,))
    if "index reset" not in done.stderr:
        raise Failed(f"it said {done.stderr}")
    daemon.kill()  # the next one knows what is stored
    daemon.start()
    expect("states", states(daemon, w.index("built")), {1: "history", 2: "available", 3: "changing"})
    w.sql("UPDATE built SET a = a + 1")
    w.equal(daemon)
    daemon.command("index", "reset", f"{w.schema}.built", "--yes")
    daemon.command("table", "delete", f"{w.schema}.built", "--yes")
    expect("states", states(daemon, w.index("built")), {1: "retired", 2: "retired"})
    written_by_nobody(w, daemon, "built")


def test_an_index_that_is_named_again_is_history_until_it_is_built(w):
    definitions = tables(w, "good", "back")
    daemon = w.follow(definitions)
    apply_pruned(w, daemon, without(definitions, "back"))
    w.sql("UPDATE back SET a = 7")
    daemon.apply(definitions)
    expect("states", states(daemon, w.index("back")), {1: "history"})
    expect("state", w.table(daemon, "back")["state"], "unavailable")
    daemon.build(f"{w.schema}.back")
    w.sql("UPDATE back SET a = a + 1")
    w.equal(daemon)
    expect("states", states(daemon, w.index("back")), {1: "history", 2: "available"})


def test_a_table_that_takes_an_index_over_is_built_before_it_has_documents(w):
    definitions = tables(w, "good", "old", "new")
    new = definitions["tables"].pop()
    daemon = w.follow(definitions)
    alias = w.index("old")
    definitions["tables"][1] = new | {"index": alias}
    apply_pruned(w, daemon, definitions)
    expect("states", states(daemon, alias), {1: "retired"})
    expect("state", w.table(daemon, "new")["state"], "unavailable")
    before = sources(w, alias)
    w.sql("UPDATE old SET a = 77", "UPDATE good SET a = a + 1")
    w.equal(daemon, [f"{w.schema}.good"])
    expect("documents", sources(w, alias), before)
    daemon.build(f"{w.schema}.new")
    w.sql("UPDATE new SET a = 8")
    w.equal(daemon)
    expect("states", states(daemon, alias), {1: "retired", 2: "available"})
    daemon.command("index", "delete", f"{w.schema}.new", "--yes")
    expect("states", states(daemon, alias), {2: "available"})


def test_a_table_of_another_database_that_is_not_defined_any_more_holds_up_no_others(w):
    other = f"{w.schema}_x"
    w.db.sql(f"DROP DATABASE IF EXISTS {other}", f"CREATE DATABASE {other}", f"GRANT SELECT ON {other}.* TO millrace@'127.0.0.1'",
             f"CREATE TABLE {other}.kind (id INT PRIMARY KEY, name VARCHAR(9))", f"INSERT INTO {other}.kind VALUES (1, 'k')")
    definitions = tables(w, "good", "thing")
    definitions["databases"].append({"name": other, "topic": w.schema})
    thing = dict(definitions["tables"][1])
    definitions["tables"][1] = thing | {"relations": [{"from": "a", "table": f"{other}.kind", "to": "id", "as": "kind"}]}
    daemon = w.follow(definitions)
    definitions["tables"][1] = thing
    definitions["databases"].pop()
    apply_pruned(w, daemon, definitions)  # the version of thing still shows the other database
    w.sql("UPDATE good SET a = a + 1")
    w.equal(daemon, [f"{w.schema}.good"])
    daemon.kill()
    daemon.start()
    w.sql("UPDATE good SET a = a + 1", "INSERT INTO good VALUES (7, 7)")
    w.equal(daemon, [f"{w.schema}.good"])
    daemon.build(f"{w.schema}.thing")
    w.sql("UPDATE thing SET a = a + 1")
    w.equal(daemon)
    w.db.sql(f"DROP DATABASE {other}")


def test_what_stopped_a_table_goes_with_it(w):
    daemon = w.follow_good_and_bad(schema_changes="stop")
    with open(f"{daemon.folder}/definitions.yaml", encoding="utf-8") as f:
        definitions = yaml.safe_load(f)
    w.sql("TRUNCATE TABLE bad")
    wait_until("it stops", lambda: w.table(daemon, "bad")["state"] == "stopped")
    apply_pruned(w, daemon, without(definitions, "bad"))
    daemon.apply(definitions)
    expect("state", w.table(daemon, "bad")["state"], "unavailable")
    daemon.build(f"{w.schema}.bad")
    w.sql("INSERT INTO bad VALUES (6, 6)", "UPDATE good SET a = 8")
    w.equal(daemon)


def test_what_an_earlier_program_has_left_behind_is_retired_at_the_start(w):
    definitions = tables(w, "good", "gone")
    daemon = w.follow(definitions)
    apply_pruned(w, daemon, without(definitions, "gone"))
    daemon.kill()
    with open_store(daemon) as db:
        db.execute("UPDATE index_version SET state = 'available', retired_ms = NULL WHERE index_name = ?", (w.index("gone"),))
    daemon.start()
    expect("states", states(daemon, w.index("gone")), {1: "retired"})
    written_by_nobody(w, daemon, "gone")


def test_members_of_one_index_go_one_by_one_and_the_index_is_retired_with_the_last(w):
    w.sql("CREATE TABLE good (id INT PRIMARY KEY, a INT)", "INSERT INTO good VALUES (1, 1)",
          "CREATE TABLE question (id INT PRIMARY KEY, a INT)", "INSERT INTO question VALUES (1, 1)",
          "CREATE TABLE answer (id INT PRIMARY KEY, question_id INT, a INT, KEY (question_id))", "INSERT INTO answer VALUES (5, 1, 1)")
    definitions = w.definitions({"table": "good"}, {"table": "question", "index": "forum", "join": {"name": "question"}},
                                {"table": "answer", "index": "forum",
                                 "join": {"name": "answer", "parent": "question", "parent_column": "question_id"}})
    daemon = w.follow(definitions)
    daemon.command("table", "delete", f"{w.schema}.answer", "--yes")
    expect("states", states(daemon, w.index("forum")), {1: "available"})
    expect("pending", w.table(daemon, "question")["pending"], True)
    daemon.build(f"{w.schema}.question")
    expect("pending", w.table(daemon, "question")["pending"], False)
    expect("documents", w.engine.count(f"{w.index('forum')}_v2"), 1)
    w.sql("UPDATE question SET a = 2")
    w.equal(daemon, [f"{w.schema}.good"])
    apply_pruned(w, daemon, without(definitions, "question", "answer"))
    expect("states", states(daemon, w.index("forum")), {1: "retired", 2: "retired"})
    daemon.command("index", "delete", w.index("forum"), "--yes")
    expect("indexes", w.engine.ask("GET", f"/{w.index('forum')}_v*/_alias"), {})
    w.equal(daemon, [f"{w.schema}.good"])


def test_the_tables_of_a_pattern_go_with_it(w):
    definitions = tables(w, "good", "part_1", "part_2")
    definitions["tables"] = definitions["tables"][:1] + w.definitions({"pattern": "part_[0-9]+", "index": "parts"})["tables"]
    daemon = w.follow(definitions)
    before = w.engine.documents(w.index("parts"), routing=True)
    apply_pruned(w, daemon, dict(definitions, tables=definitions["tables"][:1]))
    expect("states", states(daemon, w.index("parts")), {1: "retired"})
    w.sql("UPDATE part_1 SET a = 9", "CREATE TABLE part_3 (id INT PRIMARY KEY, a INT)", "INSERT INTO part_3 VALUES (1, 1)",
          "UPDATE good SET a = a + 1")
    w.equal(daemon, [f"{w.schema}.good"])
    expect("documents", sorted(map(str, w.engine.documents(w.index("parts"), routing=True))), sorted(map(str, before)))


def test_everything_can_be_pruned_at_once(w):
    daemon = w.follow(tables(w, "one", "two"))
    daemon.write("nothing.json", json.dumps({"topics": [], "databases": [], "tables": []}))
    daemon.command("apply", "nothing.json", "--prune", "--yes")
    expect("states", [states(daemon, w.index(name)) for name in ("one", "two")], [{1: "retired"}] * 2)
    daemon.kill()
    daemon.start()
    expect("topics", daemon.json("status")["topics"], [])
    expect("states", [states(daemon, w.index(name)) for name in ("one", "two")], [{1: "retired"}] * 2)


# -- all or nothing


def killed_at(w, daemon, point, *words, nth=1):
    daemon.kill()
    daemon.start(environment=armed(point, nth))
    daemon.command(*words, ok=None)
    until_dead(daemon, point)
    daemon.start()


def test_a_kill_in_the_middle_of_new_definitions_leaves_those_before_with_all_that_is_theirs(w):
    definitions = tables(w, "good", "gone")
    daemon = w.follow(definitions)
    daemon.build(f"{w.schema}.gone")
    killed_at(w, daemon, "definitions_replaced", "table", "delete", f"{w.schema}.gone", "--yes")
    expect("states", states(daemon, w.index("gone")), {1: "history", 2: "available"})
    w.sql("UPDATE gone SET a = a + 1", "UPDATE good SET a = a + 1")
    w.equal(daemon)
    killed_at(w, daemon, "definitions_stored", "table", "delete", f"{w.schema}.gone", "--yes")
    expect("states", states(daemon, w.index("gone")), {1: "retired", 2: "retired"})
    written_by_nobody(w, daemon, "gone")


def test_a_kill_in_the_middle_of_a_prune_leaves_a_build_that_goes_on_or_is_gone(w):
    definitions = tables(w, "good", "gone")
    daemon = w.follow(definitions)
    daemon.write("pruned.json", json.dumps(without(definitions, "gone")))
    daemon.command("index", "create", f"{w.schema}.gone", "--rate", "1", "--no-wait")
    killed_at(w, daemon, "definitions_replaced", "apply", "pruned.json", "--prune", "--yes")
    wait_until("it is built all the same", lambda: w.table(daemon, "gone")["version"] == 2, 30)
    w.equal(daemon)
    take_long(w, "gone")
    daemon.command("index", "create", f"{w.schema}.gone", "--rate", "1", "--no-wait")
    killed_at(w, daemon, "definitions_stored", "apply", "pruned.json", "--prune", "--yes")
    wait_until(lambda: f"what was built is gone: {states(daemon, w.index('gone'))}",
               lambda: states(daemon, w.index("gone")) == {1: "retired", 2: "retired"})
    expect("indexes", len(w.engine.ask("GET", f"/{w.index('gone')}_v*/_alias")), 2)


def test_a_kill_in_the_middle_of_index_delete_leaves_all_versions_or_none(w):
    daemon = w.follow(tables(w, "good"))
    for _ in range(2):
        daemon.build(f"{w.schema}.good")
    there = lambda: sorted(w.engine.ask("GET", f"/{w.index('good')}_v*/_alias"))  # noqa: E731
    killed_at(w, daemon, "version_dropped", "index", "delete", f"{w.schema}.good", "--yes")
    expect("states", states(daemon, w.index("good")), {1: "history", 2: "history", 3: "available"})
    expect("indexes", len(there()), 3)
    killed_at(w, daemon, "version_forgotten", "index", "delete", f"{w.schema}.good", "--yes")
    wait_until(lambda: f"their indexes are deleted: {states(daemon, w.index('good'))}",
               lambda: states(daemon, w.index("good")) == {3: "available"})
    expect("indexes", there(), [f"{w.index('good')}_v3"])
    w.equal(daemon)


def test_a_kill_in_the_middle_of_a_topics_reset_leaves_it_as_it_was(w):
    daemon = w.follow(tables(w, "good", "other"))
    killed_at(w, daemon, "topic_stopped", "topic", "reset", w.schema, "--yes")
    w.sql("UPDATE good SET a = a + 1", "UPDATE other SET a = a + 1")
    w.equal(daemon)
    expect("states", [w.table(daemon, name)["state"] for name in ("good", "other")], ["available"] * 2)
    daemon.command("topic", "reset", w.schema, "--yes")
    expect("states", [w.table(daemon, name)["state"] for name in ("good", "other")], ["stopped"] * 2)
    for name in ("good", "other"):
        daemon.build(f"{w.schema}.{name}")
    w.equal(daemon)


def test_dead_letters_are_discarded_together(w):
    daemon = w.follow(tables(w, "good"))
    daemon.kill()
    with open_store(daemon) as db:  # more of them than are read at a time
        db.executemany("INSERT INTO dead_letter (topic, table_name, index_name, doc_id, routing, key_text, op, reason, body, version, status,"
                       " attempts, first_ms, last_ms) VALUES (?, ?, ?, ?, '', '', 'index', 'refused', '', 5, 400, 1, 1, 1)",
                       [(w.schema, f"{w.schema}.good", f"{w.index('good')}_v1", str(i)) for i in range(600)])
    kept = lambda: w.table(daemon, "good")["dead_letters"]  # noqa: E731
    daemon.start()
    expect("letters", kept(), 600)
    killed_at(w, daemon, "letters_discarded", "dead-letter", "discard", "--all", "--yes")
    expect("letters", kept(), 600)
    daemon.kill()
    daemon.start(environment=armed("letters_discarded", 2))  # there is no second transaction
    daemon.command("dead-letter", "discard", "--all", "--yes")
    expect("letters", kept(), 0)


def test_definitions_that_are_stored_as_the_store_goes_away_take_effect_when_it_is_back(w):
    definitions = tables(w, "good", "gone")
    store = f"{w.schema}_store"
    w.db.sql(f"DROP DATABASE IF EXISTS {store}", f"CREATE DATABASE {store}", f"GRANT ALL ON {store}.* TO millrace@'127.0.0.1'")
    daemon = w.millrace(start=False, store=f"mysql://millrace@127.0.0.1:{w.db.port}/{store}", store_password_file="source.password")
    daemon.start().apply(definitions)
    for name in ("good", "gone"):
        daemon.build(f"{w.schema}.{name}")
    daemon.kill()
    daemon.start(environment={"MILLRACE_FAILPOINT": "definitions_stored:1:wait=6000"})
    said = []
    applied = threading.Thread(target=lambda: said.append(daemon.apply(without(definitions, "gone"), "--prune", "--yes", ok=None)))
    applied.start()
    wait_until("they are stored", lambda: "a failpoint is reached" in daemon.log_tail(3000))
    w.db.stop()
    try:
        applied.join()
    finally:
        w.db.start()
    if said[0].returncode != 75 or "are stored" not in said[0].stderr:
        raise Failed(f"it said {said[0]}")
    wait_until(lambda: f"they take effect: {states(daemon, w.index('gone'))}",
               lambda: states(daemon, w.index("gone")) == {1: "retired"}, 60)
    w.sql("UPDATE good SET a = a + 1")
    w.equal(daemon, [f"{w.schema}.good"])
    daemon.stop()
    w.db.sql(f"DROP DATABASE {store}")

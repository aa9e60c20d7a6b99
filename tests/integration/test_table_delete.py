"""A table's definition and all its indexes go together: only if nobody builds or searches them, or if a person says so twice."""
from gate import Gate
from members import Load, Members
from servers import Failed, wait_until
from test_join import FORUM, forum
from test_retired import expect, killed_at, states, tables, take_long


def delete(w, daemon, name, *options, ok=(0,)):
    return daemon.command("table", "delete", f"{w.schema}.{name}", "--with-indexes", "--yes", *options, ok=ok)


def confirmed(w, daemon, name, ok=(0,)):
    return delete(w, daemon, name, "--confirm", f"{w.schema}.{name}", ok=ok)


def said(done, *words):
    for word in words:
        if word not in done.stdout + done.stderr:
            raise Failed(f"no {word!r} in {done.stdout}{done.stderr}")


def indexes(w, name):
    return sorted(w.engine.ask("GET", f"/{w.index(name)}_v*/_alias"))


def defined(w, daemon, name):
    return f"{w.schema}.{name}" in [item["table"] for item in daemon.json("table", "list")["items"]]


def nothing_is_left(w, daemon, name):
    expect("the definition", defined(w, daemon, name), False)
    expect("versions", states(daemon, w.index(name)), {})
    expect("indexes", indexes(w, name), [])
    expect("jobs", [j["id"] for j in daemon.json("job", "list")["items"] if j["index"] == w.index(name)], [])


def the_rest_goes_on(w, daemon, name="good"):
    w.sql(f"UPDATE {name} SET a = a + 1")
    w.equal(daemon, [f"{w.schema}.{name}"])
    wait_until("everything is done", lambda: daemon.metric("millrace_changes_in_flight") == 0)


def test_a_table_that_searches_use_goes_with_its_indexes_only_if_it_is_named_twice(w):
    daemon = w.follow(tables(w, "good", "gone"))
    daemon.build(f"{w.schema}.gone")
    said(delete(w, daemon, "gone", ok=(1,)), "searches of index", "nothing was changed", f"--confirm {w.schema}.gone")
    said(delete(w, daemon, "gone", "--confirm", f"{w.schema}.good", ok=(1, 2)), "nothing was changed")
    said(daemon.command("table", "delete", f"{w.schema}.gone", "--confirm", f"{w.schema}.gone", ok=(2,)), "--with-indexes")
    expect("states", states(daemon, w.index("gone")), {1: "history", 2: "available"})
    expect("the definition", defined(w, daemon, "gone"), True)
    w.sql("UPDATE gone SET a = a + 1")
    w.equal(daemon)
    said(confirmed(w, daemon, "gone"), f"{w.index('gone')}_v1", f"{w.index('gone')}_v2")
    nothing_is_left(w, daemon, "gone")
    w.sql("UPDATE gone SET a = a + 1")
    the_rest_goes_on(w, daemon)
    events = [e["event"] for e in daemon.json("log", "list", f"{w.schema}.gone")["items"]]
    expect("events", events.count("dropped"), 2)


def test_a_second_time_says_that_there_is_nothing_left(w):
    daemon = w.follow(tables(w, "good", "gone"))
    confirmed(w, daemon, "gone")
    for again in (confirmed(w, daemon, "gone", ok=(1,)), delete(w, daemon, "gone", ok=(1,))):
        said(again, "nothing to delete", "millrace table list")
    daemon.apply(w.definitions({"table": "good"}, {"table": "gone"}))
    daemon.build(f"{w.schema}.gone")
    expect("a new index has a new number", states(daemon, w.index("gone")), {2: "available"})
    w.equal(daemon)


def test_a_table_that_was_never_built_goes_at_once(w):
    daemon = w.millrace()
    daemon.apply(tables(w, "good", "gone"))
    daemon.build(f"{w.schema}.good")
    delete(w, daemon, "gone")
    nothing_is_left(w, daemon, "gone")
    the_rest_goes_on(w, daemon)


def test_a_table_that_is_being_built_goes_only_if_it_is_named_twice_and_its_build_ends(w):
    daemon = w.follow(tables(w, "good", "gone"))
    take_long(w, "gone")
    daemon.command("index", "create", f"{w.schema}.gone", "--rate", "1", "--no-wait")
    said(delete(w, daemon, "gone", ok=(1,)), "is being built", "millrace index reset", "--confirm")
    expect("states", states(daemon, w.index("gone")), {1: "available", 2: "changing"})
    confirmed(w, daemon, "gone")
    nothing_is_left(w, daemon, "gone")
    the_rest_goes_on(w, daemon)
    begun = [e for e in daemon.json("log", "list", f"{w.schema}.gone")["items"] if e["event"] == "building" and e["version"] == 2]
    expect("the end of its build", [e["build"]["end"] for e in begun], ["reset"])


def test_retired_indexes_go_by_the_name_of_their_table_if_no_alias_leads_there(w):
    daemon = w.follow(tables(w, "good", "gone"))
    daemon.build(f"{w.schema}.gone")
    daemon.command("table", "delete", f"{w.schema}.gone", "--yes")
    said(delete(w, daemon, "gone", ok=(1,)), "an alias points to", w.index("gone"), "--confirm")
    expect("states", states(daemon, w.index("gone")), {1: "retired", 2: "retired"})
    w.engine.ask("POST", "/_aliases", {"actions": [{"remove": {"index": f"{w.index('gone')}_v2", "alias": w.index("gone")}}]})
    delete(w, daemon, "gone")
    nothing_is_left(w, daemon, "gone")
    the_rest_goes_on(w, daemon)


def test_an_index_under_an_earlier_alias_goes_as_well(w):
    definitions = tables(w, "good", "moved")
    daemon = w.follow(definitions)
    old = w.index("moved")
    definitions["tables"][1]["index"] = w.index("elsewhere")
    daemon.apply(definitions)
    daemon.build(f"{w.schema}.moved")
    expect("states", (states(daemon, old), states(daemon, w.index("elsewhere"))), ({1: "retired"}, {1: "available"}))
    confirmed(w, daemon, "moved")
    nothing_is_left(w, daemon, "moved")
    expect("indexes", indexes(w, "elsewhere"), [])
    the_rest_goes_on(w, daemon)


def test_an_index_that_tables_share_stays_until_the_last_of_them_goes(w):
    w.sql(*FORUM, "INSERT INTO question VALUES (1, 'a')", "INSERT INTO answer VALUES (10, 1, 'x')",
          "INSERT INTO remark VALUES (5, 1, 10, 1, 'why')")
    daemon = w.follow(forum(w))
    for name in ("question", "answer", "remark"):
        said(confirmed(w, daemon, name, ok=(1,)), "also has the documents of", "nothing was changed", "millrace table delete")
    w.equal(daemon)
    for name in ("remark", "answer"):
        daemon.command("table", "delete", f"{w.schema}.{name}", "--yes")
    confirmed(w, daemon, "question")
    expect("tables", daemon.json("table", "list")["items"], [])
    expect("indexes", (states(daemon, w.index("forum")), indexes(w, "forum")), ({}, []))


def test_a_kill_in_between_leaves_all_or_nothing_of_a_table_with_its_indexes(w):
    daemon = w.follow(tables(w, "good", "gone", "later"))
    daemon.build(f"{w.schema}.gone")
    table = f"{w.schema}.gone"
    killed_at(w, daemon, "definitions_replaced", "table", "delete", table, "--with-indexes", "--confirm", table)
    expect("states", states(daemon, w.index("gone")), {1: "history", 2: "available"})
    w.sql("UPDATE gone SET a = a + 1")
    w.equal(daemon)
    for name, point in ("gone", "definitions_stored"), ("later", "table_forgotten"):
        table = f"{w.schema}.{name}"
        killed_at(w, daemon, point, "table", "delete", table, "--with-indexes", "--confirm", table)
        wait_until(lambda name=name: f"its indexes are deleted: {states(daemon, w.index(name))}", lambda name=name: not states(daemon, w.index(name)))
        nothing_is_left(w, daemon, name)
    the_rest_goes_on(w, daemon)


def test_an_engine_that_refuses_for_now_deletes_the_indexes_later_and_the_answer_says_so(w):
    with Gate(w.engine) as gate:
        daemon = w.follow(tables(w, "good", "gone"), search={"url": [gate.url]})
        gate.refuse = lambda method, path: 503 if method == "DELETE" else None
        said(confirmed(w, daemon, "gone"), f"{w.index('gone')}_v1", "later", "millrace index list")
        expect("the definition", defined(w, daemon, "gone"), False)
        expect("versions", states(daemon, w.index("gone")), {1: "dropped"})
        the_rest_goes_on(w, daemon)
        gate.refuse = None
        daemon.stop()
        daemon.start()  # its next attempt: else one a minute
        wait_until("its index is deleted", lambda: not states(daemon, w.index("gone")))
        nothing_is_left(w, daemon, "gone")


def test_any_node_of_a_cluster_deletes_a_table_with_its_indexes(w):
    m = Members(w, nodes=2).start()
    first, second = m.nodes
    schema = m.topics_of(1)[0]
    table, index = f"{schema}.thing", f"{w.schema}-{schema}"
    done = first.command("table", "delete", table, "--with-indexes", "--yes", ok=(1,))
    said(done, "searches of index", f"--confirm {table}")
    load = Load(m)
    deleted = first.json("table", "delete", table, "--with-indexes", "--confirm", table)
    load.end()
    expect("the answer", (deleted["deleted"], deleted["waits_for"]), ([f"{index}_v1"], ""))
    expect("indexes", w.engine.ask("GET", f"/{index}_v*/_alias"), {})
    for node in m.nodes:
        wait_until("each node knows", lambda node=node: table not in [t["table"] for t in node.json("table", "list")["items"]]
                   and index not in [i["index"] for i in node.json("index", "list")["items"]])
    said(first.command("table", "delete", table, "--with-indexes", "--yes", ok=(1,)), "nothing to delete")
    wait_until("nothing of it holds up its topic", lambda: second.metric("millrace_changes_in_flight") == 0)
    w.equal(first, [f"{other}.thing" for other in m.schemas if other != schema], seconds=40)
    m.end()

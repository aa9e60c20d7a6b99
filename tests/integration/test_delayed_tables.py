"""Delayed tables that a statement changes as a whole: their run has what shows them built again."""
from gate import Gate, Hold
from members import Members
from servers import Failed, wait_until
from test_delayed import SCHEMA, Shelf, apart, definitions, delivered, follow, name_in, run, snapshots, waits
from test_failpoints import armed, until_dead
from test_turns import Asked, follow_slowly, is_built, let_go, slow_build

AFRESH = "DROP COLUMN name, ADD COLUMN name VARCHAR(40) NOT NULL DEFAULT 'none'"


def version(w, daemon, table="goods"):
    return w.table(daemon, table)["version"]


def kept(snapshot):
    return snapshot.get("kept", {})


def is_the_one(w, snapshot, statement):
    wanted = ("table", "*", f"{w.schema}.label", "init")
    if tuple(snapshot[k] for k in ("op", "row", "table", "status")) != wanted or statement not in kept(snapshot)["statement"]:
        raise Failed(f"the snapshot is {snapshot}")


def truncated(w, daemon):
    """What shows the label waits; its own index is built at once."""
    w.sql("TRUNCATE TABLE label")
    one, = waits(daemon, 1)
    wait_until("the label's own index is built", lambda: version(w, daemon, "label") == 2)
    return one


def is_over(w, daemon):
    """All that waited has been run, by a build."""
    if [s["status"] for s in snapshots(daemon)] != ["done"] or version(w, daemon) != 2:
        raise Failed(f"after the run version {version(w, daemon)} has {snapshots(daemon)}")
    w.equal(daemon)


def test_a_truncate_leaves_one_snapshot_and_its_run_has_the_index_built(w):
    daemon = follow(w, "label")
    is_the_one(w, truncated(w, daemon), "truncate table")
    w.equal(daemon, [f"{w.schema}.label"])
    delivered(w, daemon)
    if name_in(w, 10) != "red" or version(w, daemon) != 1 or w.table(daemon, "goods")["state"] != "available":
        raise Failed(f"documents did not wait for the run: {w.table(daemon, 'goods')}")
    w.sql("UPDATE goods SET note = 'y' WHERE id = 11", "TRUNCATE TABLE label")
    wait_until("what is read again shows no label", lambda: not w.engine.get(w.index("goods"), 11).get("label"))
    if len(snapshots(daemon, "--op", "table", "--row", "*")) != 1 or len(snapshots(daemon)) != 1:
        raise Failed(f"a second statement of the day left {snapshots(daemon)}")
    run(daemon, f"{w.schema}.label")
    is_over(w, daemon)


def test_an_alter_that_changes_rows_waits_for_the_run_too_and_new_columns_follow_at_once(w):
    daemon = follow(w, "label")
    w.sql(f"ALTER TABLE label {AFRESH}")
    snapshot, = waits(daemon, 1)
    is_the_one(w, snapshot, "`name` of")
    delivered(w, daemon)
    if name_in(w, 10) != "red" or version(w, daemon) != 1:
        raise Failed("documents did not wait for the run")
    w.sql("UPDATE goods SET note = 'y' WHERE id = 11", "UPDATE label SET name = 'rouge' WHERE id = 1")
    wait_until("what is read again shows the new column", lambda: name_in(w, 11) in ("none", "rouge"))
    waits(daemon, 2)
    run(daemon)
    if {s["status"] for s in snapshots(daemon)} != {"done"} or version(w, daemon) != 2:
        raise Failed(f"after the run there are {snapshots(daemon)}")
    w.equal(daemon)


def test_an_alter_that_changes_the_field_is_not_put_off_as_documents_would_be_refused(w):
    daemon = follow(w, "label")
    w.sql("ALTER TABLE label DROP COLUMN name, ADD COLUMN name INT NOT NULL DEFAULT 7")
    wait_until("the index is built at once", lambda: version(w, daemon) == 2)
    if snapshots(daemon):
        raise Failed(f"there are {snapshots(daemon)}")
    w.equal(daemon)


def test_dropped_partitions_wait_and_rows_that_come_after_a_truncate_are_run_with_it(w):
    w.load(SCHEMA)
    w.sql("ALTER TABLE label PARTITION BY RANGE (id) (PARTITION a VALUES LESS THAN (2), PARTITION b VALUES LESS THAN MAXVALUE)")
    daemon = w.follow(definitions(w, "label", "part"))
    w.sql("ALTER TABLE label DROP PARTITION a", "TRUNCATE TABLE part", "INSERT INTO part VALUES (104, 13, 2, 'new')",
          "INSERT INTO label VALUES (5, 'late', '')", "UPDATE goods SET label_id = 5 WHERE id = 12")
    found = {(s["op"], s["table"].split(".")[1]) for s in waits(daemon, 4)}
    if found != {("table", "label"), ("table", "part"), ("insert", "part"), ("insert", "label")}:
        raise Failed(f"the snapshots are {found}")
    delivered(w, daemon)
    if name_in(w, 10) != "red" or version(w, daemon) != 1:
        raise Failed("documents did not wait for the run")
    run(daemon)
    if {s["status"] for s in snapshots(daemon)} != {"done"} or version(w, daemon) != 2:
        raise Failed(f"after the run version {version(w, daemon)} has {snapshots(daemon)}")
    w.equal(daemon)


def test_between_the_statement_and_the_run_differences_count_apart_and_are_not_repaired(w):
    daemon = follow(w, "label")
    truncated(w, daemon)
    delivered(w, daemon)
    for options in ((), ("--repair", "--yes"), ("--key", "10", "--key", "12", "--repair")):
        found, repaired = apart(w, daemon, *options)
        if found < 2 or repaired != 0:
            raise Failed(f"{options}: {found} apart, {repaired} repaired")
    if daemon.json("trace", f"{w.schema}.goods", "10")["code"] != "delayed":
        raise Failed(f"a trace says {daemon.json('trace', f'{w.schema}.goods', '10')}")
    run(daemon)
    if apart(w, daemon) != (0, 0):
        raise Failed("after the run something is apart")


def test_one_is_run_alone_and_still_waits_and_the_next_run_builds_nothing(w):
    daemon = follow(w, "label")
    one = truncated(w, daemon)
    run(daemon, "--one", str(one["id"]))
    w.equal(daemon)
    waits(daemon, 1)
    if version(w, daemon) != 2:
        raise Failed("nothing was built")
    run(daemon)
    is_over(w, daemon)


def test_one_that_is_marked_as_done_has_nothing_built(w):
    daemon = follow(w, "label")
    one = truncated(w, daemon)
    daemon.command("delayed", "done", str(one["id"]))
    run(daemon)
    delivered(w, daemon)
    if version(w, daemon) != 1 or name_in(w, 10) != "red":
        raise Failed("it was run all the same")


def test_a_build_by_hand_before_the_run_is_enough_and_keeps_no_version_that_shows_old_rows(w):
    daemon = follow(w, "label")
    truncated(w, daemon)
    daemon.build(f"{w.schema}.goods")
    states = {v["version"]: v["state"] for v in daemon.json("version", "list", w.index("goods"))["items"]}
    if states.get(1) == "kept":
        raise Failed(f"the versions are {states}")
    run(daemon)
    is_over(w, daemon)


def test_a_truncate_ends_no_build_of_what_shows_the_table_and_the_new_version_waits_too(w):
    daemon = follow_slowly(w)
    slow_build(w, daemon)
    w.sql("TRUNCATE TABLE label")
    waits(daemon, 1)
    let_go(w, daemon)
    wait_until("the build has ended", lambda: version(w, daemon) == 2)
    delivered(w, daemon)
    apart(w, daemon)  # and nothing differs
    run(daemon)
    if [s["status"] for s in snapshots(daemon)] != ["done"] or version(w, daemon) != 3:
        raise Failed(f"after the run version {version(w, daemon)} has {snapshots(daemon)}")
    w.equal(daemon)


def test_what_waits_is_built_when_the_table_is_not_delayed_any_more(w):
    daemon = follow(w, "label")
    truncated(w, daemon)
    daemon.apply(definitions(w))
    wait_until("nothing waits", lambda: not snapshots(daemon, "--status", "init"), 60)
    wait_until("it is built", lambda: version(w, daemon) == 2, 60)
    w.equal(daemon)
    w.sql("INSERT INTO label VALUES (1, 'again', '')")
    w.equal(daemon)


def test_a_snapshot_whose_table_is_gone_is_run(w):
    daemon = follow(w, "label")
    truncated(w, daemon)
    daemon.command("table", "delete", f"{w.schema}.label", "--yes")
    if not waits(daemon, 1)[0]["table_is_gone"]:
        raise Failed("nothing tells that its table is gone")
    run(daemon)
    if version(w, daemon) != 2 or snapshots(daemon, "--status", "init"):
        raise Failed(f"after the run there are {snapshots(daemon)}")
    w.equal(daemon, [f"{w.schema}.goods"])


def test_with_schema_changes_stop_the_index_stops(w):
    w.load(SCHEMA)
    made = definitions(w, "label")
    made["tables"][0]["schema_changes"] = "stop"
    daemon = w.follow(made)
    w.sql("TRUNCATE TABLE label")
    wait_until("it stops", lambda: w.table(daemon, "goods")["state"] == "stopped")
    if snapshots(daemon):
        raise Failed(f"there are {snapshots(daemon)}")


def test_a_kill_between_snapshot_and_position_and_one_between_question_and_build_lose_nothing(w):
    daemon = follow(w, "label")
    delivered(w, daemon)
    daemon.kill()
    daemon.start(environment=armed("table_put_off"))
    w.sql("TRUNCATE TABLE label")
    until_dead(daemon, "table_put_off")
    daemon.start(environment=armed("delayed_asked"))
    is_the_one(w, waits(daemon, 1)[0], "truncate table")
    wait_until("the label's own index is built", lambda: version(w, daemon, "label") == 2)
    daemon.command("delayed", "run", "--all", ok=None)
    until_dead(daemon, "delayed_asked")
    daemon.start()
    wait_until("the run ends", lambda: not daemon.json("delayed", "runs")["items"], 60)
    is_over(w, daemon)


def test_a_kill_between_snapshot_and_shape_keeps_an_alter(w):
    daemon = follow(w, "label")
    delivered(w, daemon)
    daemon.kill()
    daemon.start(environment=armed("table_put_off"))
    w.sql(f"ALTER TABLE label {AFRESH}")
    until_dead(daemon, "table_put_off")
    daemon.start()
    is_the_one(w, waits(daemon, 1)[0], "`name` of")
    wait_until("the statement is read again", daemon.has_done_all)
    run(daemon)
    is_over(w, daemon)


def test_a_build_that_a_person_ends_leaves_the_snapshot_to_the_next_run_and_says_why(w):
    with Gate(w.engine) as gate:
        daemon = follow(w, "label", "part", search={"url": [gate.url]})
        truncated(w, daemon)
        w.sql("UPDATE part SET note = 'n' WHERE id = 100")
        waits(daemon, 2)
        delivered(w, daemon)
        gate.watch = hold = Hold()
        hold.open.clear()
        daemon.command("delayed", "run", "--all")
        wait_until("it is being built", lambda: is_built(w, daemon))
        told = wait_until("the run says for what it waits", lambda: (r := daemon.json("delayed", "runs")["items"]) and r[0]["waits_for"])
        if "the build of index" not in told:
            raise Failed(f"it waits for {told!r}")
        second = daemon.command("delayed", "run", "--all", ok=None)
        if second.returncode != 75 or "goes on since" not in second.stderr:
            raise Failed(f"a second run: {second.returncode} {second.stderr}")
        daemon.command("index", "reset", f"{w.schema}.goods", "--yes")
        hold.open.set()
        wait_until("the run ends", lambda: not daemon.json("delayed", "runs")["items"])
        again, = waits(daemon, 1)
        if "was not built" not in kept(again)["waits_again"] or "truncate table" not in kept(again)["statement"]:
            raise Failed(f"the snapshot says {again}")
        if w.engine.get(w.index("goods"), 10)["parts"][0]["note"] != "n":
            raise Failed("what needed no build was not run")
        daemon.build(f"{w.schema}.goods")
        run(daemon)
        w.equal(daemon)
        if snapshots(daemon, "--status", "init"):
            raise Failed(f"after the next run there are {snapshots(daemon)}")


def test_a_build_that_fails_ends_the_run_without_success_and_the_next_run_finds_nothing_left(w):
    with Gate(w.engine) as gate:
        daemon = follow(w, "label", search={"url": [gate.url]}, delayed={"expect_every": "1s"})
        truncated(w, daemon)
        delivered(w, daemon)
        gate.watch = hold = Hold()
        hold.open.clear()
        asked = Asked(daemon, "delayed", "run", "--all", "--wait")
        wait_until("it is being built", lambda: is_built(w, daemon))
        w.sql("ALTER TABLE goods ADD COLUMN extra INT NOT NULL DEFAULT 5")  # no build goes on over that
        hold.open.set()
        asked.done(1, "waits for the next run: index", "was not built")
        if "was not built" not in kept(waits(daemon, 1)[0])["waits_again"]:
            raise Failed(f"the snapshot says {snapshots(daemon)}")
        if w.table(daemon, "label")["runs"]["delayed"] != {"last_success": None, "overdue": True}:
            raise Failed(f"the run counts as a success: {w.table(daemon, 'label')['runs']}")
        w.equal(daemon)  # the build that the statement asked for does the run's work, too
        run(daemon)
        if [s["status"] for s in snapshots(daemon)] != ["done"]:
            raise Failed(f"after the next run there are {snapshots(daemon)}")


def test_on_two_nodes_a_run_has_the_index_built_wherever_it_is_asked_for(w):
    m = Shelf(w, nodes=2, topics=2)
    for statement in SCHEMA.split(";"):
        w.db.sql(f"USE {m.schemas[0]}", statement)
    m.start()
    other = next(node for node in m.nodes if node is not m.owner(m.schemas[0]))
    w.db.sql(f"TRUNCATE TABLE {m.schemas[0]}.label")
    waits(other, 1)
    run(other)
    if [s["status"] for s in snapshots(other)] != ["done"]:
        raise Failed(f"after the run there are {snapshots(other)}")
    m.equal()
    m.end()


class Across(Shelf):
    """The labels are of the second topic; documents that show tables of both have one node read both."""

    def definitions(self):
        made = super().definitions()
        label = next(t for t in made["tables"] if t["table"] == f"{self.schemas[0]}.label")
        label["table"] = f"{self.schemas[1]}.label"
        goods = next(t for t in made["tables"] if t["table"] == f"{self.schemas[0]}.goods")
        goods["relations"][0]["table"] = goods["relations"][1]["relations"][0]["table"] = label["table"]
        return made

    def start_topics(self):
        Members.start_topics(self)
        for schema, table in ((0, "goods"), (1, "label"), (0, "part")):
            self.nodes[0].build(f"{self.schemas[schema]}.{table}")
        return self


def test_a_delayed_table_of_another_topic_has_the_index_built(w):
    m = Across(w, nodes=1, topics=2)
    for statement in SCHEMA.split(";"):
        w.db.sql(f"USE {m.schemas['label' in statement.split('(')[0]]}", statement)
    m.start()
    w.db.sql(f"TRUNCATE TABLE {m.schemas[1]}.label")
    one, = waits(m.nodes[0], 1)
    if one["topic"] != m.schemas[1]:
        raise Failed(f"the snapshot is {one}")
    run(m.nodes[0])
    if [s["status"] for s in snapshots(m.nodes[0])] != ["done"]:
        raise Failed(f"after the run there are {snapshots(m.nodes[0])}")
    m.equal()
    m.end()

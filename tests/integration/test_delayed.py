"""Delayed tables: their changes wait for a run, which writes the documents that show their rows again."""

import random
import re

import exchanging
from gate import Gate, Hold
from members import Members
from servers import Failed, parse_json, wait_until
from test_fills import numbers

SCHEMA = """
CREATE TABLE label (id INT PRIMARY KEY, name VARCHAR(40), colour VARCHAR(40));
CREATE TABLE goods (id INT PRIMARY KEY, label_id INT, note VARCHAR(40), KEY (label_id));
CREATE TABLE part (id INT PRIMARY KEY, goods_id INT, label_id INT, note VARCHAR(40), KEY (goods_id), KEY (label_id));
INSERT INTO label VALUES (1, 'red', 'a'), (2, 'blue', 'b'), (3, 'green', 'c');
INSERT INTO goods VALUES (10, 1, 'x'), (11, 1, 'x'), (12, 2, 'x'), (13, NULL, 'x');
INSERT INTO part VALUES (100, 10, 1, 'p'), (101, 10, 2, 'p'), (102, 12, 3, 'p')
"""


def relations():
    def label():
        return {"from": "label_id", "table": "label", "to": "id", "as": "label", "columns": ["id", "name"]}

    return [label(), {"from": "id", "table": "part", "to": "goods_id", "as": "parts", "many": True, "columns": ["id", "note"],
                      "relations": [label()]}]


def definitions(w, *delayed, **label):
    """goods show a label, and parts that show labels; the tables named are delayed."""
    return w.definitions({"table": "goods", "relations": relations()},
                         {"table": "label", "delayed": "label" in delayed} | label,
                         {"table": "part", "delayed": "part" in delayed})


def follow(w, *delayed, **config):
    w.load(SCHEMA)
    return w.follow(definitions(w, *delayed), **config)


def snapshots(daemon, *options):
    return daemon.json("delayed", "list", *options)["items"]


def waits(daemon, n, *options):
    return wait_until(f"{n} snapshots wait", lambda: (s := snapshots(daemon, "--status", "init", *options)) and len(s) == n and s)


def run(daemon, *which):
    daemon.command("delayed", "run", *(which or ["--all"]), "--wait", timeout=120)


def name_in(w, goods):
    return w.engine.get(w.index("goods"), goods)["label"]["name"]


def delivered(w, daemon):
    """Whatever was changed before is done."""
    number = w.sql("SELECT COALESCE(MAX(id), 0) + 1 FROM goods WHERE id >= 1000000")[0][0]
    number = max(number, 1000000)
    w.sql(f"INSERT INTO goods VALUES ({number}, NULL, 'last')")
    wait_until("what was changed is delivered", lambda: w.engine.ask("GET", f"/{w.index('goods')}/_doc/{number}", ok=(200, 404))["found"])
    w.sql(f"DELETE FROM goods WHERE id = {number}")
    wait_until("nothing is under way", lambda: daemon.metric("millrace_changes_in_flight") == 0)


def test_documents_show_the_old_label_until_a_run_and_its_own_document_the_new_one(w):
    daemon = follow(w, "label")
    w.sql("UPDATE label SET name = 'rouge' WHERE id = 1")
    snapshot, = waits(daemon, 1)
    if (snapshot["op"], snapshot["row"], snapshot["table"]) != ("update", "1", f"{w.schema}.label"):
        raise Failed(f"the snapshot is {snapshot}")
    w.equal(daemon, [f"{w.schema}.label"])
    delivered(w, daemon)
    if name_in(w, 10) != "red" or name_in(w, 11) != "red":
        raise Failed("documents were written again before the run")
    if daemon.metric("millrace_changes_done_total", outcome="deferred") < 1:
        raise Failed("the change is not counted as deferred")
    w.sql("UPDATE goods SET note = 'y' WHERE id = 11")  # read again for another reason
    wait_until("the document shows the new label", lambda: name_in(w, 11) == "rouge")
    run(daemon, f"{w.schema}.label")
    w.equal(daemon)
    if snapshots(daemon, "--status", "init") or [s["status"] for s in snapshots(daemon)] != ["done"]:
        raise Failed(f"after the run there are {snapshots(daemon)}")


def test_a_change_of_what_documents_do_not_show_leaves_no_snapshot(w):
    daemon = follow(w, "label")
    w.sql("UPDATE label SET colour = 'z' WHERE id = 1")
    delivered(w, daemon)
    if snapshots(daemon):
        raise Failed(f"there are {snapshots(daemon)}")
    w.equal(daemon)


def test_a_link_that_moved_is_right_in_all_documents_that_showed_it(w):
    daemon = follow(w, "part")
    w.sql("UPDATE part SET goods_id = 11 WHERE id = 100", "UPDATE part SET goods_id = 12 WHERE id = 100",
          "DELETE FROM part WHERE id = 101", "UPDATE part SET id = 103 WHERE id = 102",
          "INSERT INTO part VALUES (104, 13, 1, 'new')")
    waits(daemon, 5)
    kept = {s["row"]: s["kept"]["goods_id"] for s in snapshots(daemon, "--op", "delete")}
    if kept != {"101": 10, "102": 12}:
        raise Failed(f"the rows that are gone were kept as {kept}")
    run(daemon)
    w.equal(daemon)


def test_rows_of_both_ends_of_a_chain_that_are_gone_are_gone_from_the_documents(w):
    daemon = follow(w, "part", "label")
    w.sql("DELETE FROM part WHERE id = 102", "DELETE FROM label WHERE id IN (1, 3)", "UPDATE label SET name = 'azur' WHERE id = 2")
    waits(daemon, 4)
    run(daemon)
    w.equal(daemon)


def test_rows_that_the_log_has_in_part_are_put_off_as_whole_ones(w):
    daemon = follow(w, "label", "part")
    w.sql("SET SESSION binlog_row_image = MINIMAL", "UPDATE label SET name = 'rouge' WHERE id = 1",
          "UPDATE part SET note = 'n' WHERE id = 100", "INSERT INTO part VALUES (104, 13, 1, 'new')")
    found = {(s["op"], s["row"]) for s in waits(daemon, 3)}
    if found != {("update", "1"), ("update", "100"), ("insert", "104")}:
        raise Failed(f"the snapshots are {found}")
    run(daemon)
    w.equal(daemon)


def glue(w, **more):
    return {"top_relations": [{"table": f"{w.schema}.goods", "column": "id", "business_id": "label", "target_key": "goods",
                               "level_sql": more.get("sql") or
                               f"SELECT l.id AS label, g.id AS goods FROM {w.schema}.goods g"
                               f" RIGHT JOIN {w.schema}.label l ON g.label_id = l.id UNION ALL"
                               f" SELECT p.label_id, p.goods_id FROM {w.schema}.part p"}]}


def with_glue(w, **more):
    made = definitions(w, "label")
    made["tables"][1] |= glue(w, **more)
    return made


def test_level_sql_with_null_ids_and_duplicates_finds_the_documents(w):
    w.load(SCHEMA)
    daemon = w.follow(with_glue(w))
    w.sql("INSERT INTO label VALUES (4, 'unused', '')", "UPDATE label SET name = 'rouge' WHERE id = 1",
          "UPDATE label SET name = 'azur' WHERE id = 2", "DELETE FROM label WHERE id = 3",
          "UPDATE label SET name = 'still unused' WHERE id = 4")
    waits(daemon, 5)
    run(daemon)
    w.equal(daemon)


def test_level_sql_leads_to_more_keys_than_a_page_has(w):
    w.load(SCHEMA)
    w.sql("INSERT INTO goods SELECT 1000 + seq, 1, 'many' FROM (WITH RECURSIVE s(seq) AS (SELECT 1 UNION ALL SELECT seq + 1"
          " FROM s WHERE seq < 900) SELECT seq FROM s) n", "INSERT INTO goods SELECT id + 10000, 1, 'more' FROM goods WHERE id >= 1000",
          "INSERT INTO goods SELECT id + 100000, 1, 'most' FROM goods WHERE id >= 1000",
          "INSERT INTO goods SELECT id + 200000, 1, 'all' FROM goods WHERE id >= 1000")
    daemon = w.follow(with_glue(w))
    w.sql("UPDATE label SET name = 'rouge' WHERE id = 1")
    waits(daemon, 1)
    run(daemon)
    w.equal(daemon)


def cost(daemon, *which):
    """What a dry run says; it begins nothing."""
    said = daemon.json("delayed", "run", *(which or ["--all"]), "--dry-run")["items"]
    if daemon.json("delayed", "runs")["items"] or snapshots(daemon, "--status", "done"):
        raise Failed("a dry run has begun")
    return said


def test_a_dry_run_says_how_many_rows_the_server_will_read_for_level_sql(w):
    w.load(SCHEMA)
    w.sql(f"INSERT INTO goods SELECT n + 1000, n % 3000 + 10, 'many' FROM {numbers(4)} WHERE n < 3000", "ANALYZE TABLE goods, part, label")
    by = "SELECT {0} AS label, id AS goods FROM " + f"{w.schema}.goods"
    daemon = w.follow(with_glue(w, sql=by.format("label_id + 0")))
    w.sql("UPDATE label SET name = 'rouge' WHERE id = 1", "DELETE FROM label WHERE id = 3")
    waits(daemon, 2)
    whole, = cost(daemon)
    if (whole["snapshots"], whole["found_by"], whole["statements"], whole["documents_of"]) != (2, "level_sql", 1, f"{w.schema}.goods") or \
            not 2000 < whole["rows_examined"] < 12000:
        raise Failed(f"{whole}")
    one, = cost(daemon, "--one", str(snapshots(daemon, "--op", "update")[0]["id"]))
    gone, = cost(daemon, "--one", str(snapshots(daemon, "--op", "delete")[0]["id"]))
    if one != whole | {"snapshots": 1} or gone != whole | {"snapshots": 1, "statements": 0, "rows_examined": 0}:
        raise Failed(f"{one} {gone}")
    daemon.apply(with_glue(w, sql=by.format("label_id")))
    few, = cost(daemon, f"{w.schema}.label")
    if not 0 < few["rows_examined"] < 100:
        raise Failed(f"{few}")
    said = daemon.command("delayed", "run", f"{w.schema}.label", "--wait").stderr
    if "is asked 1 times or more; the server will read about" not in said:
        raise Failed(said)
    w.equal(daemon)
    if cost_of_nothing := daemon.json("delayed", "run", "--all", "--dry-run")["items"]:
        raise Failed(f"{cost_of_nothing}")


def test_a_dry_run_of_a_table_without_a_top_relation_says_that_relations_find_its_documents(w):
    daemon = follow(w, "label")
    w.sql("UPDATE label SET name = 'rouge' WHERE id = 1")
    waits(daemon, 1)
    if cost(daemon) != [{"table": f"{w.schema}.label", "snapshots": 1, "found_by": "relations"}]:
        raise Failed(f"{cost(daemon)}")
    said = daemon.command("delayed", "run", f"{w.schema}.goods", "--dry-run", ok=(1,)).stderr
    if "is no delayed table" not in said:
        raise Failed(said)


def test_level_sql_that_the_server_does_not_understand_is_refused(w):
    w.load(SCHEMA)
    daemon = w.millrace()
    for sql, why in (("SELECT 1 AS label, nothing AS goods FROM goods", "refuses `level_sql`"),
                     (f"SELECT id AS label FROM {w.schema}.label", "refuses `level_sql`"),
                     (f"SELECT id AS label, id AS goods FROM {w.schema}.nothing", "refuses `level_sql`"),
                     ("SELECT 1 AS label, sleep(100) AS goods", "SLEEP|sleep"),
                     ("SELECT 1 AS label, 2 AS goods; DELETE FROM label", "ends a statement")):
        done = daemon.apply(with_glue(w, sql=sql), ok=None)
        if done.returncode != 1 or not re.search(why, done.stdout + done.stderr):
            raise Failed(f"{sql}: {done.returncode} {done.stdout} {done.stderr}")
    made = with_glue(w)
    made["tables"][1]["top_relations"][0]["column"] = "note"
    done = daemon.apply(made, ok=None)
    if done.returncode != 1 or "is no key column" not in done.stdout + done.stderr:
        raise Failed(f"a column that is no key: {done.stdout} {done.stderr}")


def test_snapshots_are_listed_by_what_they_are_and_page_by_page(w):
    daemon = follow(w, "label", "part")
    w.sql("INSERT INTO label VALUES (4, 'n', '')", "UPDATE label SET name = 'n' WHERE id = 1", "DELETE FROM label WHERE id = 2",
          "UPDATE part SET note = 'n' WHERE id = 100", "INSERT INTO goods VALUES (14, 4, '')")
    all_of = waits(daemon, 4)
    day = all_of[0]["day"]
    for options, n in ((("--op", "insert"), 1), (("--op", "delete"), 1), (("--row", "1"), 1), (("--day", day), 4),
                       (("--day", "2000-01-01"), 0), (("--table", f"{w.schema}.part"), 1), (("--status", "done"), 0)):
        if len(snapshots(daemon, *options)) != n:
            raise Failed(f"{options}: {snapshots(daemon, *options)}")
    page = daemon.json("delayed", "list", "--limit", "3")
    rest = daemon.json("delayed", "list", "--limit", "3", "--after", str(page["more_after"]))
    if [s["id"] for s in page["items"] + rest["items"]] != [s["id"] for s in all_of] or "more_after" in rest:
        raise Failed(f"the pages are {page} and {rest}")


def test_one_snapshot_is_run_alone_and_still_waits(w):
    daemon = follow(w, "label")
    w.sql("UPDATE label SET name = 'rouge' WHERE id = 1", "UPDATE label SET name = 'azur' WHERE id = 2")
    one = next(s for s in waits(daemon, 2) if s["row"] == "1")
    run(daemon, "--one", str(one["id"]))
    wait_until("its documents show the new label", lambda: (name_in(w, 10), name_in(w, 11)) == ("rouge", "rouge"))
    if name_in(w, 12) != "blue":
        raise Failed("another snapshot was run, too")
    waits(daemon, 2)
    run(daemon)
    w.equal(daemon)


def test_one_that_is_marked_as_done_is_not_run(w):
    daemon = follow(w, "label")
    w.sql("UPDATE label SET name = 'rouge' WHERE id = 1", "UPDATE label SET name = 'azur' WHERE id = 2")
    ids = {s["row"]: str(s["id"]) for s in waits(daemon, 2)}
    if daemon.json("delayed", "done", ids["1"])["count"] != 1:
        raise Failed("it was not marked")
    run(daemon)
    wait_until("the other one is run", lambda: name_in(w, 12) == "azur")
    if name_in(w, 11) != "red":
        raise Failed("what was marked as done was run")
    if daemon.command("delayed", "done", "99999", ok=None).returncode != 1:
        raise Failed("a snapshot that is not there was marked")


def test_a_second_run_ends_with_75_and_says_which_one_goes_on(w):
    with Gate(w.engine) as gate:
        daemon = follow(w, "label", search={"url": [gate.url]})
        w.sql("UPDATE label SET name = 'rouge' WHERE id = 1")
        waits(daemon, 1)
        delivered(w, daemon)
        gate.watch = hold = Hold()
        hold.open.clear()
        begun = daemon.json("delayed", "run", "--all")
        if [daemon.json("job", "get", job)["items"][0]["kind"] for job in begun["jobs"]] != ["delayed"]:
            raise Failed(f"the run is no job at once: {begun}")
        w.sql("UPDATE label SET name = 'azur' WHERE id = 2")
        waits(daemon, 1)
        done = daemon.command("delayed", "run", "--all", ok=None)
        if done.returncode != 75 or "goes on since" not in done.stderr:
            raise Failed(f"{done.returncode}: {done.stderr}")
        shown = daemon.json("delayed", "runs")
        job, = [j for j in daemon.json("job", "list")["items"] if j["kind"] == "delayed"]
        if job["rows_done"] > job["rows_total"] or daemon.json("job", "get", job["id"])["items"] == []:
            raise Failed(f"{job}")
        if len(shown["items"]) != 1 or shown["waiting"][0]["snapshots"] != 1:
            raise Failed(f"the runs are {shown}")
        hold.open.set()
        wait_until("the first run ends", lambda: daemon.command("job", "get", *begun["jobs"], ok=None).returncode == 1)
        if daemon.json("delayed", "runs")["items"]:
            raise Failed("the job is not there any more, and its run goes on")
        waits(daemon, 1)  # what came during a run belongs to the next
        run(daemon)
        w.equal(daemon)


def test_a_run_goes_on_after_a_kill(w):
    with Gate(w.engine) as gate:
        daemon = follow(w, "label", search={"url": [gate.url]})
        w.sql("UPDATE label SET name = 'rouge' WHERE id = 1")
        waits(daemon, 1)
        delivered(w, daemon)
        gate.watch = hold = Hold()
        hold.open.clear()
        daemon.command("delayed", "run", "--all")
        daemon.kill()
        hold.open.set()
        daemon.start()
        wait_until("the run ends", lambda: not daemon.json("delayed", "runs")["items"])
        w.equal(daemon)
        if [s["status"] for s in snapshots(daemon)] != ["done"]:
            raise Failed(f"after the run there are {snapshots(daemon)}")


def test_what_was_changed_before_a_kill_is_not_forgotten(w):
    daemon = follow(w, "label", "part")
    for turn in range(3):
        w.sql(f"UPDATE label SET name = 'turn {turn}'", f"UPDATE part SET note = 'turn {turn}'",
              f"UPDATE part SET goods_id = {10 + turn} WHERE id = 100")
        daemon.kill()
        daemon.start()
    waits(daemon, 6)
    run(daemon)
    w.equal(daemon)


def test_what_waits_is_run_when_a_table_is_not_delayed_any_more(w):
    daemon = follow(w, "label")
    w.sql("UPDATE label SET name = 'rouge' WHERE id = 1")
    waits(daemon, 1)
    made = definitions(w)
    daemon.apply(made)
    w.equal(daemon)
    wait_until("nothing waits", lambda: not snapshots(daemon, "--status", "init"))
    w.sql("UPDATE label SET name = 'vermilion' WHERE id = 1")
    w.equal(daemon)
    daemon.apply(definitions(w, "label"))
    w.sql("UPDATE label SET name = 'carmine' WHERE id = 1")
    waits(daemon, 1)


def test_many_rows_of_one_transaction_are_kept_and_run(w):
    w.load(SCHEMA)
    w.sql("INSERT INTO label SELECT 1000 + seq, 'n', '' FROM (WITH RECURSIVE s(seq) AS (SELECT 1 UNION ALL SELECT seq + 1"
          " FROM s WHERE seq < 900) SELECT seq FROM s) n", "INSERT INTO label SELECT id + 10000, 'n', '' FROM label WHERE id >= 1000",
          "INSERT INTO label SELECT id + 100000, 'n', '' FROM label WHERE id >= 1000", "UPDATE goods SET label_id = 1000 + id")
    daemon = w.follow(definitions(w, "label"))
    w.sql("UPDATE label SET name = CONCAT('new ', id)")
    wait_until("all snapshots wait", lambda: sum(c["snapshots"] for c in daemon.json("delayed", "runs")["waiting"]) == 3603)
    delivered(w, daemon)
    run(daemon)
    w.equal(daemon)


def test_a_snapshot_whose_table_is_gone_is_told_and_can_be_marked(w):
    daemon = follow(w, "label")
    w.sql("UPDATE label SET name = 'rouge' WHERE id = 1")
    snapshot, = waits(daemon, 1)
    if snapshot["table_is_gone"]:
        raise Failed("its table is there")
    daemon.command("table", "delete", f"{w.schema}.label", "--yes")
    snapshot, = waits(daemon, 1)
    if not snapshot["table_is_gone"]:
        raise Failed(f"nothing tells that its table is gone: {snapshot}")
    daemon.command("delayed", "done", str(snapshot["id"]))
    if snapshots(daemon, "--status", "init"):
        raise Failed("it still waits")


def test_which_run_is_asked_for_must_be_clear(w):
    daemon = follow(w, "label")
    for words, code in (((), 2), (("--all", f"{w.schema}.label"), 2), ((f"{w.schema}.goods",), 1), (("--one", "x"), 2)):
        done = daemon.command("delayed", "run", *words, ok=None)
        if done.returncode != code:
            raise Failed(f"{words}: {done.returncode} {done.stderr}")
    if daemon.json("delayed", "run", "--all")["count"] != 0:
        raise Failed("something was run where nothing waits")


def apart(w, daemon, *options, verdict="equal"):
    """The report of a verification of goods: how many documents are apart as delayed, of how many."""
    done = daemon.command("verify", f"{w.schema}.goods", *options, "-o", "json", ok=None)
    report = parse_json(done.stdout)
    if report["verdict"] != verdict:
        raise Failed(f"the verdict is {report['verdict']}: {done.stdout}")
    return report["apart_counts"]["delayed"], report["repaired"]


def test_between_change_and_run_a_difference_counts_apart_and_is_not_repaired(w):
    daemon = follow(w, "label", "part")
    w.sql("UPDATE label SET name = 'rouge' WHERE id = 1", "DELETE FROM part WHERE id = 102")
    waits(daemon, 2)
    delivered(w, daemon)
    for options in ((), ("--repair", "--yes"), ("--key", "10", "--key", "12"), ("--key", "10", "--key", "12", "--repair"),
                    ("--sample", "100")):
        found, repaired = apart(w, daemon, *options)
        if found < 2 or repaired != 0:
            raise Failed(f"{options}: {found} apart, {repaired} repaired")
    told = daemon.json("trace", f"{w.schema}.goods", "10")
    if told["code"] != "delayed":
        raise Failed(f"a trace says {told['code']}: {told['sentence']}")
    if name_in(w, 10) != "red":
        raise Failed("it was repaired all the same")
    w.engine.ask("POST", f"/{w.index('goods')}/_update/11?refresh=true", {"doc": {"note": "damage"}})
    found, repaired = apart(w, daemon, verdict="different")
    if repaired != 0:
        raise Failed(f"{repaired} documents were repaired")
    run(daemon)
    daemon.command("verify", f"{w.schema}.goods", "--repair", "--yes", ok=None)
    w.equal(daemon)
    if apart(w, daemon) != (0, 0):
        raise Failed("after the run something is apart")


def test_exchanges_of_trees_leave_what_waits_for_a_run(w):
    daemon = follow(w, "label", "part", index=dict(exchanging.ON))
    exchanging.exchanged(daemon)
    since = len(daemon.log_tail(10**9).encode())
    w.sql("UPDATE label SET name = 'rouge' WHERE id = 1", "DELETE FROM part WHERE id = 102", "UPDATE part SET goods_id = 13 WHERE id = 101")
    waits(daemon, 3)
    exchanging.exchanged(daemon)
    if name_in(w, 10) != "red" or exchanging.alarms(daemon, since):
        raise Failed(f"exchanges repaired what waits: {exchanging.alarms(daemon, since)}")
    run(daemon)
    w.equal(daemon)
    exchanging.exchanged(daemon)
    if exchanging.alarms(daemon, since):
        raise Failed(f"after the run exchanges found something: {exchanging.alarms(daemon, since)}")


def test_a_build_between_change_and_run_shows_the_new_rows(w):
    daemon = follow(w, "label")
    w.sql("UPDATE label SET name = 'rouge' WHERE id = 1")
    waits(daemon, 1)
    daemon.build(f"{w.schema}.goods")
    w.equal(daemon)
    w.sql("UPDATE label SET name = 'carmine' WHERE id = 1")
    delivered(w, daemon)
    run(daemon)
    w.equal(daemon)


class Shelf(Members):
    """Two nodes; the first topic has goods with labels, which are delayed."""

    def definitions(self):
        made = super().definitions()
        for table in ("goods", "label", "part"):
            made["tables"].append({"table": f"{self.schemas[0]}.{table}", "index": self.w.index(table),
                                   "settings": {"number_of_shards": 1, "number_of_replicas": 0}})
        goods, label, _ = made["tables"][-3:]
        label["delayed"], goods["relations"] = True, relations()
        for relation in goods["relations"] + goods["relations"][1]["relations"]:
            relation["table"] = f"{self.schemas[0]}.{relation['table']}"
        return made

    def start_topics(self):
        super().start_topics()
        for table in ("goods", "label", "part"):
            self.nodes[0].build(f"{self.schemas[0]}.{table}")
        return self


def test_a_run_is_asked_for_at_any_node_and_goes_on_where_its_topic_goes(w):
    m = Shelf(w, nodes=2, topics=2)
    for statement in SCHEMA.split(";"):
        w.db.sql(f"USE {m.schemas[0]}", statement)
    m.start()
    owner = m.owner(m.schemas[0])
    other = next(node for node in m.nodes if node is not owner)
    label = f"{m.schemas[0]}.label"
    for turn in range(3):
        w.db.sql(f"UPDATE {label} SET name = 'turn {turn}'")
        waits(other, 3)
        if turn == 0:
            run(other, label)
        elif turn == 1:
            other.command("delayed", "run", "--all")
            owner.kill()
            m.wait_shared(m.nodes.index(other))
        else:
            done = snapshots(other, "--status", "init")
            if other.json("delayed", "done", *[str(s["id"]) for s in done[:1]])["count"] != 1:
                raise Failed("nothing was marked")
            w.db.sql(f"UPDATE {m.schemas[0]}.goods SET note = 'again'", f"UPDATE {m.schemas[0]}.part SET note = 'again'")
            run(other)
        wait_until("the run ends", lambda: not other.json("delayed", "runs")["items"])
        m.equal()
    m.end()


class Model:
    """What documents of goods may show: what SQL said when they were read last for a reason that counts."""

    def __init__(self, w, rng):
        self.w, self.rng, self.next = w, rng, 1000

    def key(self, table):
        rows = self.w.sql(f"SELECT id FROM {table}")
        return self.rng.choice(rows)[0] if rows else 0

    def label_or_null(self):
        return "NULL" if self.rng.random() < 0.2 else str(self.key("label"))

    def change(self):
        kind = self.rng.randrange(10)
        self.next += 1
        if self.rng.random() < 0.03:
            return f"TRUNCATE TABLE {self.rng.choice(['label', 'part'])}"
        if kind == 0:
            return f"INSERT INTO label VALUES ({self.next}, 'l{self.next}', '')"
        if kind == 1:
            return f"DELETE FROM label WHERE id = {self.key('label')}"
        if kind in (2, 3):
            return f"UPDATE label SET name = 'l{self.next}' WHERE id = {self.key('label')}"
        if kind == 4:
            return f"INSERT INTO part VALUES ({self.next}, {self.key('goods')}, {self.label_or_null()}, 'p{self.next}')"
        if kind == 5:
            return f"DELETE FROM part WHERE id = {self.key('part')}"
        if kind == 6:
            return f"UPDATE part SET goods_id = {self.key('goods')} WHERE id = {self.key('part')}"
        if kind == 7:
            return f"UPDATE part SET label_id = {self.label_or_null()}, note = 'p{self.next}' WHERE id = {self.key('part')}"
        if kind == 8:
            return f"UPDATE IGNORE part SET id = {self.next} WHERE id = {self.key('part')}"
        return f"UPDATE label SET name = 'all {self.next}'"

    def read_again(self, daemon, before, seed):
        """Some documents change for a reason of their own: these show labels and parts as they are now, and no other does."""
        touched = {str(self.key("goods")) for _ in range(self.rng.randrange(3))} - {"0"}
        for key in touched:
            self.next += 1
            self.w.sql(f"UPDATE goods SET label_id = {self.label_or_null()}, note = 'g{self.next}' WHERE id = {key}")
        delivered(self.w, daemon)
        wait_until("the last document is gone", lambda: "1000000" not in self.documents())
        now = self.documents()
        for key in before:
            if key not in touched and now[key] != before[key]:
                raise Failed(f"document {key} was written again before a run, with seed {seed}")
            if key in touched and self.shown(now[key]) != self.rows(key):
                raise Failed(f"document {key} was read again and shows {now[key]}, with seed {seed}: {self.rows(key)}")

    def rows(self, key):
        """By SQL: the document's note and label, and its parts with theirs."""
        note, label = self.w.sql(f"SELECT g.note, l.name FROM goods g LEFT JOIN label l ON l.id = g.label_id WHERE g.id = {key}")[0]
        parts = self.w.sql(f"SELECT p.id, p.note, l.name FROM part p LEFT JOIN label l ON l.id = p.label_id WHERE p.goods_id = {key} ORDER BY p.id")
        return note, label, [tuple(part) for part in parts]

    @staticmethod
    def shown(doc):
        def name(of):
            return (of.get("label") or {}).get("name")

        return doc["note"], name(doc), sorted((part["id"], part["note"], name(part)) for part in doc.get("parts") or [])

    def documents(self):
        return {key: doc for key, doc, _ in self.w.engine.documents(self.w.index("goods"))}


def play(w, daemon, seed, turns):
    rng = random.Random(seed)
    model = Model(w, rng)
    for _ in range(turns):
        before = model.documents()
        for _ in range(rng.randrange(1, 12)):
            w.sql(model.change())
        delivered(w, daemon)
        wait_until("the last document is gone", lambda: "1000000" not in model.documents())
        if model.documents() != before:
            raise Failed(f"documents were written again before a run, with seed {seed}")
        model.read_again(daemon, before, seed)
        what = rng.random()
        if what < 0.6:
            daemon.command("delayed", "run", "--all", *(["--wait"] if what < 0.2 else []), ok=(0, 75), timeout=120)
            if 0.2 < what < 0.4:
                daemon.kill()
                daemon.start()
            wait_until("the run ends", lambda: not daemon.json("delayed", "runs")["items"])
            w.equal(daemon)
            if snapshots(daemon, "--status", "init") or snapshots(daemon, "--status", "running"):
                raise Failed(f"snapshots are left, with seed {seed}")
    run(daemon)
    w.equal(daemon)


def test_after_the_last_run_every_document_equals_sql_and_before_it_none_has_changed(w):
    daemon = follow(w, "label", "part")
    play(w, daemon, w.rng.random(), 12)


def test_with_level_sql_every_document_equals_sql_after_the_last_run(w):
    w.load(SCHEMA)
    made = with_glue(w)
    made["tables"][2]["delayed"] = True
    daemon = w.follow(made)
    play(w, daemon, w.rng.random(), 8)


class Chain(Shelf):
    """Parts are delayed, too."""

    def definitions(self):
        made = super().definitions()
        made["tables"][-1]["delayed"] = True
        return made


class Together:
    """The nodes of a shelf, as play() sees a world and its daemon: any of them is asked, and who owns the topic is killed."""

    def __init__(self, m):
        self.m, self.engine, self.rng, self.killed = m, m.w.engine, random.Random(m.w.rng.random()), None

    def sql(self, *statements):
        return self.m.w.db.sql(*statements, schema=self.m.schemas[0])

    def index(self, table):
        return self.m.w.index(table)

    def equal(self, _):
        self.m.equal()

    def any(self):
        return self.rng.choice([node for node in self.m.nodes if node is not self.killed])

    def command(self, *words, **more):
        return self.any().command(*words, **more)

    def json(self, *words, **more):
        return self.any().json(*words, **more)

    def metric(self, name):
        return sum(node.metric(name) for node in self.m.nodes if node is not self.killed)

    def kill(self):
        name, = wait_until("a node has the topic", lambda: len(at := self.m.owners().get(self.m.schemas[0], [])) == 1 and at, 60, 0.1)
        self.killed = next(node for node in self.m.nodes if node.config["node_name"] == name)
        self.killed.kill()

    def start(self):
        """It comes back when another one has the topic."""
        wait_until("another node has the topic", lambda: len(self.m.owners().get(self.m.schemas[0], [])) == 1, 60, 0.2)
        self.killed.start()
        self.killed = None


def test_of_three_nodes_that_are_killed_during_runs_every_document_equals_sql_after_the_last_one(w):
    m = Chain(w, nodes=3, topics=3)
    for statement in SCHEMA.split(";"):
        w.db.sql(f"USE {m.schemas[0]}", statement)
    m.start()
    nodes = Together(m)
    nodes.kill()
    nodes.start()
    play(nodes, nodes, w.rng.random(), 5)
    m.end()


def test_a_delayed_run_that_is_overdue_is_told_until_it_was_good_also_when_nothing_waits(w):
    daemon = follow(w, "label", delayed={"expect_every": "1s"})

    def found():
        return w.table(daemon, "label")["runs"]["delayed"]
    wait_until("the run is overdue", lambda: found() == {"last_success": None, "overdue": True})
    daemon.stop()
    daemon.configure(delayed={"expect_every": "1000h"})
    daemon.start()
    run(daemon)  # nothing waits
    first = wait_until("the run is told", lambda: (f := found()) and not f["overdue"] and f["last_success"])
    if f"{w.schema}.label: last good delayed run {first}" not in " ".join(daemon.command("status").stdout.split()):
        raise Failed(daemon.command("status").stdout)
    w.sql("UPDATE label SET name = 'new' WHERE id = 1")
    waits(daemon, 1)
    wait_until("the next second's run is told", lambda: (run(daemon), found()["last_success"] > first)[1])
    w.equal(daemon)

"""Delayed runs over several nodes: any of them asks `level_sql`, reads and writes documents of a run."""
import yaml

from members import Load
from servers import Failed, wait_until
from test_delayed import SCHEMA, Shelf, run, snapshots, waits
from test_failpoints import armed, until_dead
from test_fills import numbers


class Label(Shelf):
    """One label that very many goods show; each node has a way of its own to the engine."""

    def __init__(self, w, rows=6000, nodes=3, definition=None, schema=(), **more):
        self.change_definition = definition or (lambda goods, label: None)
        super().__init__(w, nodes=nodes, topics=nodes, cut=True, **more)
        for statement in (*SCHEMA.split(";"), *schema):
            w.db.sql(f"USE {self.schemas[0]}", statement)
        w.db.sql(f"INSERT INTO {self.schemas[0]}.goods (id, label_id, note) SELECT n + 1000, 1, 'many' FROM {numbers(5)} WHERE n < {rows}",
                 f"INSERT INTO {self.schemas[0]}.part SELECT n + 1000, n + 1000, 1, 'many' FROM {numbers(3)} WHERE n < {rows}")
        self.label = f"{self.schemas[0]}.label"

    def definitions(self):
        made = super().definitions()
        self.change_definition(*made["tables"][-3:-1])
        return made

    def apply(self, made):
        node = self.owner(self.schemas[0])
        node.write("definitions.yaml", yaml.safe_dump(made, sort_keys=False))
        node.command("apply", "definitions.yaml", "--yes")

    def others(self):
        owner = self.owner(self.schemas[0])
        return [node for node in self.nodes if node is not owner]

    def way(self, node):
        return self.ways[self.nodes.index(node)]["engine"]

    def change(self, name, other=None):
        changes = {1: name} | ({2: other} if other else {})
        self.w.db.sql(*(f"UPDATE {self.label} SET name = '{to}' WHERE id = {label}" for label, to in changes.items()))
        waits(self.alive(), len(changes))

    def parts(self):
        items = self.alive().json("job", "get", self.label, ok=None) or {}
        return [item for item in items.get("items", []) if item["kind"] == "part"]

    def freeze(self):
        for node in self.nodes:
            self.way(node).freeze()

    def thaw(self, *but):
        for node in self.nodes:
            if node not in but:
                self.way(node).thaw()

    def taken(self):
        """A part that a node has that does not follow the topic."""
        others = [self.id_of(node) for node in self.others()]
        return next((part for part in self.parts() if part["state"] == "running" and part["node"] in others), None)

    def begin(self, *names):
        """A run of which a node that does not follow the topic has a part, which it cannot write."""
        self.change(*names or ["rouge"])
        self.freeze()
        self.alive().command("delayed", "run", self.label)
        self.of_slow = wait_until("another node has a part", self.taken, 30, 0.05)
        self.slow = next(node for node in self.nodes if self.id_of(node) == self.of_slow["node"])
        self.thaw(self.slow)
        return self

    def changes(self):
        """As a load wants its members: rows of goods come, go and move."""
        m, goods = self, f"{self.schemas[0]}.goods"

        class Changes:
            @staticmethod
            def change(value):
                m.w.db.sql(f"REPLACE INTO {goods} VALUES ({value + 2000}, 1, 'new {value}')", f"DELETE FROM {goods} WHERE id = {value + 1000}")
        return Changes

    def id_of(self, node):
        return self.listed(node.config["node_name"])["id"]

    def ends_well(self):
        run_ends(self)
        self.equal()
        self.nothing_is_left()
        self.end()

    def nothing_is_left(self):
        if self.stored("SELECT id FROM job WHERE kind = 'part'"):
            raise Failed("parts are left")
        if snapshots(self.alive(), "--status", "init") or snapshots(self.alive(), "--status", "running"):
            raise Failed("snapshots are left")

    def written(self, node):
        """Documents that this node has sent to the engine."""
        return node.metric("millrace_bulk_request_documents_sum")


def run_ends(m):
    wait_until(lambda: f"the run ends: {m.parts()}", lambda: not m.alive().json("delayed", "runs")["items"], 60, 0.1)


def test_several_nodes_write_the_documents_of_one_label(w):
    m = Label(w).start()
    before = [m.written(node) for node in m.nodes]
    m.begin().thaw()
    run_ends(m)
    m.equal()
    shares = [m.written(node) - n for node, n in zip(m.nodes, before)]
    if sum(share > 1500 for share in shares) < 2 or sum(shares) > 10000:
        raise Failed(f"the nodes wrote {shares} documents")
    m.nothing_is_left()
    m.end()


def test_many_labels_make_parts_of_pages_and_each_document_is_right(w):
    m = Label(w, rows=3000, schema=[f"INSERT INTO label SELECT n + 100, CONCAT('label ', n), '' FROM {numbers(4)} WHERE n < 1500",
                                    "UPDATE goods SET label_id = 100 + id % 1500"])
    m.w.db.sql(f"UPDATE {m.schemas[0]}.goods SET label_id = 100 + id % 1500")
    m.start()
    m.w.db.sql(f"UPDATE {m.label} SET name = CONCAT(name, ' new')", f"DELETE FROM {m.label} WHERE id % 100 = 7",
               f"UPDATE {m.schemas[0]}.goods SET label_id = 1 WHERE id % 10 = 3")
    wait_until("all wait", lambda: sum(found["snapshots"] for found in m.alive().json("delayed", "runs")["waiting"]) > 1500)
    run(m.nodes[1], m.label)
    m.ends_well()


def test_the_run_waits_for_a_part_that_its_node_cannot_write_and_says_so(w):
    m = Label(w).start().begin()
    wait_until("all others are done", lambda: {part["state"] for part in m.parts() if part["node"] != m.of_slow["node"]} <= {"done"}, 30, 0.1)
    if m.of_slow["delayed_table"] != m.label or not m.of_slow["by"].startswith("hash mod 3"):
        raise Failed(f"{m.of_slow}")
    if not m.alive().json("delayed", "runs")["items"]:
        raise Failed("the run did not wait for it")
    m.way(m.slow).thaw()
    m.ends_well()


def test_a_part_whose_node_is_lost_goes_on_elsewhere(w):
    m = Label(w).start().begin()
    m.slow.kill()
    m.way(m.slow).thaw()
    m.ends_well()


def test_parts_whose_run_has_ended_without_them_are_written_all_the_same(w):
    m = Label(w, rows=600, nodes=2, timeout="2s").start().begin()
    m.stored("UPDATE snapshot SET status = 'done' WHERE status = 'running'", "DELETE FROM snapshot_run")  # as an older owner does
    m.slow.kill()
    m.way(m.slow).thaw()
    wait_until(lambda: f"no part is open: {m.parts()}", lambda: not m.stored("SELECT id FROM job WHERE kind = 'part' AND state <> 'done'"), 30, 0.1)
    m.equal()
    run(m.alive(), m.label)  # forgets them
    m.ends_well()


def test_parts_go_on_when_the_topic_goes_to_another_node(w):
    m = Label(w).start().begin()
    owner = m.owner(m.schemas[0])
    owner.kill()
    m.way(m.slow).thaw()
    m.wait_shared(*(m.nodes.index(node) for node in m.nodes if node is not owner))
    run_ends(m)
    m.equal()
    run(m.alive(), m.label)  # the change is read once more, as no position could be stored behind it while nobody could write
    m.ends_well()


def test_what_is_changed_and_deleted_during_a_run_is_as_its_rows_afterwards(w):
    m = Label(w).start().begin()
    goods = f"{m.schemas[0]}.goods"
    load = Load(m.changes(), pause=0.05)
    m.w.db.sql(f"DELETE FROM {goods} WHERE id % 7 = 1", f"UPDATE {goods} SET note = 'other' WHERE id % 7 = 2",
               f"UPDATE {goods} SET label_id = 2 WHERE id % 7 = 3", f"UPDATE {goods} SET id = id + 100000 WHERE id % 7 = 4")
    m.way(m.slow).thaw()
    load.end()
    m.ends_well()


def leads(**more):
    """A top relation of the label, and what it needs."""
    def change(goods, label):
        goods.update(more)
        schema = goods["table"].split(".")[0]
        label["top_relations"] = [{"table": goods["table"], "column": "id", "business_id": "label", "target_key": "goods",
                                   "level_sql": f"SELECT g.label_id AS label, g.id AS goods FROM {schema}.goods g UNION ALL"
                                                f" SELECT p.label_id, p.goods_id FROM {schema}.part p"}]
    return change


def test_any_node_asks_level_sql_for_its_part_of_the_keys(w):
    m = Label(w, definition=leads()).start().begin()
    if not m.of_slow["by"].startswith("hash mod 3"):
        raise Failed(f"{m.of_slow}")
    m.thaw()
    m.ends_well()


def test_a_dry_run_on_any_node_counts_the_statements_of_all_nodes(w):
    m = Label(w, definition=leads()).start()
    m.change("rouge")
    said = [node.json("delayed", "run", m.label, "--dry-run")["items"] for node in m.nodes]
    if any(items != said[0] for items in said) or said[0][0]["statements"] != 3 or said[0][0]["rows_examined"] < 3 * 6000:
        raise Failed(f"{said}")
    run(m.alive(), m.label)
    m.ends_well()


def test_level_sql_is_bucketed_by_the_time_of_the_bucket_column(w):
    m = Label(w, definition=leads(bucket_column="made"), schema=["ALTER TABLE goods ADD made DATETIME, ADD KEY (made)"])
    m.w.db.sql(f"UPDATE {m.schemas[0]}.goods SET made = TIMESTAMPADD(SECOND, id, '2026-01-01') WHERE id % 5 > 0")
    m.start().begin()
    if not m.of_slow["by"].startswith("made mod 3"):
        raise Failed(f"{m.of_slow}")
    m.thaw()
    m.ends_well()


def level_that_fails(w, correct):
    """A run whose `level_sql` fails, until other definitions are applied."""
    m = Label(w, rows=600, definition=leads()).start()
    m.w.db.sql(f"CREATE VIEW {m.schemas[0]}.lost AS SELECT id, label_id FROM {m.schemas[0]}.goods")
    made = m.definitions()
    label, goods = made["tables"][-2], f"{m.schemas[0]}.goods"
    top = label["top_relations"][0]
    right = top["level_sql"]
    top["level_sql"] = right.replace(f"{goods} g", f"{m.schemas[0]}.lost g")
    m.apply(made)
    m.w.db.sql(f"DROP VIEW {m.schemas[0]}.lost")
    m.change("rouge")
    m.alive().command("delayed", "run", "--all")
    wait_until("a part says what it waits for", lambda: any("lost" in part["waits_for"] for part in m.parts()), 30, 0.2)
    wait_until("the run says it, too, whichever node is asked", lambda: all(
        any("lost" in item["waits_for"] for item in node.json("delayed", "runs")["items"]) for node in m.nodes), 30, 0.2)
    top["level_sql"] = right
    correct(label)
    m.apply(made)
    m.ends_well()


def test_a_run_goes_on_by_a_statement_that_is_applied_meanwhile(w):
    level_that_fails(w, lambda label: None)


def test_a_run_goes_on_by_the_relations_when_its_statement_is_taken_away(w):
    level_that_fails(w, lambda label: label.pop("top_relations"))


def stays(m):
    """A run whose documents only the owner may write."""
    m.start()
    others = [(node, m.written(node)) for node in m.others()]
    m.change("rouge")
    run(m.others()[0], m.label)
    m.equal()
    if any(m.written(node) != n for node, n in others):
        raise Failed("another node wrote documents")
    m.nothing_is_left()
    m.end()


def area(goods, label):
    goods["relations"][1]["refresh"] = "area"


def test_documents_whose_areas_are_written_alone_stay_with_the_owner(w):
    stays(Label(w, definition=area, rows=100))


def test_documents_whose_rows_foreign_keys_change_stay_with_the_owner(w):
    stays(Label(w, rows=100, schema=["ALTER TABLE part ADD FOREIGN KEY (goods_id) REFERENCES goods (id) ON DELETE CASCADE"]))


def numbered(goods, label):
    goods["relations"][0]["columns"] = ["id", {"name": "name", "type": "integer"}]
    del goods["relations"][1]["relations"]


def test_dead_letters_of_a_run_go_when_a_later_run_corrects_their_documents(w):
    m = Label(w, rows=300, definition=numbered, schema=["UPDATE label SET name = id"])
    m.w.db.sql(f"UPDATE {m.schemas[0]}.goods SET label_id = 2 WHERE id % 10 > 0")  # an index that takes none is held

    def letters():
        return m.alive().json("dead-letter", "list", "--limit", "1000")["items"]
    m.start().begin("rouge", "22").thaw()
    run_ends(m)
    wait_until(lambda: f"the engine refuses the documents: {len(letters())}", lambda: len(letters()) == 31, 30, 0.2)
    m.begin("7", "23").thaw()
    run_ends(m)
    wait_until(lambda: f"no letters are left: {len(letters())}", lambda: not letters(), 40, 0.2)
    m.ends_well()


OF_OWNER = ("delayed_put", "parts_done", "delayed_ended")
OF_ANY = ("bucket_taken", "chunk_submitted", "chunk_saved", "bucket_ended")


def dies(m, point):
    """A node dies at this instant of a run, and the others end it."""
    node = m.owner(m.schemas[0]) if point in OF_OWNER else m.others()[0]
    node.stop()
    node.start(environment=armed(point))
    m.wait_shared(*range(len(m.nodes)))
    if point in OF_OWNER and m.owner(m.schemas[0]) is not node:
        m.nodes[0].command("topic", "move", m.schemas[0], "--to", node.config["node_name"], "--yes")
        wait_until("it has the topic", lambda: m.owners().get(m.schemas[0]) == [node.config["node_name"]], 30, 0.1)
    asked = next(one for one in m.nodes if one is not node)
    m.w.db.sql(f"UPDATE {m.label} SET name = '{point}' WHERE id = 1")
    waits(asked, 1)
    if point in OF_ANY:
        m.freeze()
        m.way(node).thaw()
    asked.command("delayed", "run", m.label, ok=None)  # its owner may die before it has answered
    until_dead(node, point)
    m.thaw()
    m.wait_shared(*(i for i, one in enumerate(m.nodes) if one is not node))
    run_ends(m)
    node.start()
    m.wait_shared(*range(len(m.nodes)))
    wait_until("what waits is run", lambda: asked.command("delayed", "run", m.label, "--wait", ok=None).returncode == 0, 60, 0.2)
    m.equal()
    m.nothing_is_left()
    print(f"# killed at {point}")


def test_a_run_goes_on_when_a_node_dies_at_any_instant(w):
    m = Label(w, rows=3000, timeout="2s").start()
    for point in w.rng.sample(OF_OWNER, 1) + w.rng.sample(OF_ANY, 2):
        dies(m, point)
    m.end()


def more_tests(options):
    def every(w):
        m = Label(w, rows=3000, timeout="2s").start()
        for point in OF_OWNER + OF_ANY:
            dies(m, point)
        m.end()
    return {"test_a_run_goes_on_when_a_node_dies_at_each_instant": every} if "each_instant" in str(options.only) else {}

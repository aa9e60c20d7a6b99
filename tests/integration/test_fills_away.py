"""Buckets of an index whose documents show tables of several topics, filled by nodes that follow none of them."""
import json
import os

import judge
from abroad import Abroad
from members import Load
from servers import Failed, let_pass, wait_until
from test_fills import Fills


class Away(Fills):
    """Of two nodes, one does not follow the first topic."""

    def __init__(self, w, rows=4000, **more):
        super().__init__(w, rows=rows, nodes=2, topics=2, **more)

    def add(self, name, *ports, **config):
        """After a kill Millrace waits until no late request can come any more."""
        return super().add(name, *ports, delivery={"request_timeout": "3s"}, **config)

    def begin(self, rate=500, buckets=12):
        self.start()
        self.create("--buckets", str(buckets), "--rate", str(rate))
        wait_until(lambda: f"both nodes fill buckets: {self.build()}", lambda: len({b["node"] for b in self.buckets("running")}) == 2, 30, 0.05)
        return self

    def other(self):
        """The node that does not follow the first topic."""
        owner = self.owner(self.schemas[0])
        return next(node for node in self.nodes if node is not owner)

    def ends_well_by_both(self):
        if self.build()[0] is not None:
            self.set_rate(0)
        self.wait_over()
        self.equal()
        if self.version() != 2 or len(self.log()["nodes"]) != 2:
            raise Failed(f"version {self.version()}, {self.log()}")
        self.end()


class TwoTopics(Away):
    """The first topic's documents show rows of another server, too, which topic `abroad` follows."""

    def __init__(self, w):
        self.abroad = Abroad(w, kind=w.options.server)
        self.abroad.sql("CREATE TABLE label (id INT PRIMARY KEY, name VARCHAR(20))",
                        *(f"INSERT INTO label VALUES ({i}, 'label {i}')" for i in range(50)))
        super().__init__(w)

    def definitions(self):
        made = super().definitions()
        made["tables"][0]["relations"].append({"from": "a", "table": "abroad.label", "to": "id", "as": "label", "columns": ["name"]})
        made["topics"].append({"name": "abroad", "address": f"127.0.0.1:{self.abroad.server.port}", "user": "millrace",
                               "password_file": "source.password"})
        made["databases"].append({"name": "abroad", "topic": "abroad", "schema": self.w.schema})
        return made

    def owners(self):
        """Without the other topic, which is where the first one is."""
        return {topic: at for topic, at in super().owners().items() if topic != "abroad"}

    def change(self, value):
        self.abroad.sql(f"UPDATE label SET name = 'now {value}' WHERE id = {value % 50}",
                        f"REPLACE INTO label VALUES ({value % 70}, 'new {value}')", f"DELETE FROM label WHERE id = {(value + 7) % 70}")
        schema = self.schemas[0]
        self.w.db.sql(f"UPDATE {schema}.thing SET a = {value % 70} WHERE id % 97 = {value % 97}",
                      f"UPDATE {schema}.kind SET name = 'kind {value}' WHERE id = {value % 50}")

    def equal(self, seconds=40):
        node = self.alive()
        judge.wait_equal(self.w.db, self.w.engine, os.path.join(self.nodes[0].folder, "definitions.yaml"), None, seconds,
                         alive=node.check_alive, others={"abroad": self.abroad.server})

    def note(self):
        """What the owner has stored for other nodes."""
        name = f"fill/{self.w.schema}-{self.schemas[0]}_v2"
        (text,), = self.stored(f"SELECT content FROM setting WHERE name = '{name}'")
        return name, json.loads(text)


def test_documents_of_two_topics_are_filled_by_all_nodes_while_both_servers_change(w):
    m = TwoTopics(w).begin(1500)
    load = Load(m, pause=0.1)
    wait_until("some are done and others not", lambda: m.buckets("done") and (m.buckets("running") or m.buckets("init")), 30, 0.05)
    load.end()
    m.ends_well_by_both()


def test_documents_of_two_topics_are_right_when_whoever_fills_them_and_who_follows_them_are_killed(w):
    m = TwoTopics(w).begin()
    load = Load(m, pause=0.1)
    owner = m.owner(m.schemas[0])
    bucket = m.at_work(without=(m.id_of(owner),))
    other = m.node_of(bucket)
    let_pass("killed at any moment", w.rng.random())
    other.kill()
    m.goes_on(bucket)
    other.start()
    m.at_work(without=(m.id_of(owner),))
    let_pass("killed at any moment", w.rng.random())
    owner.kill()
    owner.start()
    load.end()
    m.ends_well_by_both()


def test_a_node_that_cannot_see_yet_what_another_topic_had_read_fills_nothing(w):
    m = TwoTopics(w).begin(buckets=20)
    other = m.other()
    name, note = m.note()
    if not note["anywhere"] or [o["topic"] for o in note["others"]] != ["abroad"]:
        raise Failed(f"{note}")
    begun_with = {b["id"] for b in m.buckets() if b["state"] != "init"}
    note["others"][0]["version"] += 1 << 24  # further than the other server's log goes
    m.stored(f"UPDATE setting SET content = '{json.dumps(note)}' WHERE name = '{name}'")
    m.set_rate(0)
    wait_until(lambda: f"the other node gives up: {m.build()}", lambda: "as this node cannot go on" in other.log_tail(10**6), 60, 0.2)
    m.wait_over()
    m.equal()
    if any(b["rows_done"] and b["node"] == m.id_of(other) for b in m.buckets() if b["id"] not in begun_with) or m.version() != 2:
        raise Failed(f"{m.buckets()}")
    m.end()

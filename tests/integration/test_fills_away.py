"""Buckets filled by nodes that do not follow the topic: documents of several topics, rows that foreign keys change."""
import json
import os
import re

import judge
import yaml
from abroad import Abroad
from members import Load
from servers import Failed, let_pass, wait_until
from test_failpoints import armed, until_dead
from test_fills import Fills, numbers


class Away(Fills):
    """Of two nodes, one does not follow the first topic."""

    def __init__(self, w, rows=3000, **more):
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
    m = TwoTopics(w).begin(400)
    load = Load(m, pause=0.3)
    wait_until("some are done and others not", lambda: m.buckets("done") and (m.buckets("running") or m.buckets("init")), 30, 0.05)
    load.end()
    m.ends_well_by_both()


def test_documents_of_two_topics_are_right_when_whoever_fills_them_and_who_follows_them_are_killed(w):
    m = TwoTopics(w).begin(150)
    load = Load(m, pause=0.3)
    owner = m.owner(m.schemas[0])
    bucket = m.at_work(without=(m.id_of(owner),))
    other = m.node_of(bucket)
    let_pass("killed at any moment", w.rng.random())
    other.kill()
    m.goes_on(bucket)
    other.start()
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
    other_topic = note["others"][0]
    other_topic["version"] += 1 << 24  # further than the other server's log goes: MariaDB is asked for its place, MySQL for GTIDs
    other_topic["gtids"] = re.sub(r"\d+$", lambda last: str(int(last[0]) + 10 ** 6), other_topic["gtids"])
    m.stored(f"UPDATE setting SET content = '{json.dumps(note)}' WHERE name = '{name}'")
    begun_with = {b["id"] for b in m.buckets() if b["state"] != "init"}
    of_other = lambda: [b for b in m.buckets() if b["node"] == m.id_of(other) and b["id"] not in begun_with]  # noqa: E731
    wait_until(lambda: f"the other node takes another bucket: {m.build()}", of_other, 30, 0.1)

    def gives_up():
        if any(b["rows_done"] for b in of_other()):
            raise Failed(f"{m.id_of(other)} fills what it cannot read: {of_other()}")
        return "as this node cannot go on" in other.log_tail(10**6)

    wait_until(lambda: f"the other node gives up: {m.build()}", gives_up, 60, 0.2)
    m.set_rate(0)
    m.wait_over()
    m.equal()
    if m.version() != 2:
        raise Failed(f"version {m.version()}")
    m.end()


# -- what foreign keys change without an event


class Family(Away):
    """Rows of the first topic's `child` go with those of `parent`, and forget or follow those of `friend`."""

    def __init__(self, w, **more):
        super().__init__(w, **more)
        schema = self.schemas[0]
        self.big = f"{schema}.child"
        self.tables.append((schema, "child"))
        for node in self.nodes:
            node.write("definitions.yaml", yaml.safe_dump(self.definitions(), sort_keys=False))

    def start(self):
        schema = self.schemas[0]
        self.w.db.sql(f"CREATE TABLE {schema}.parent (id INT PRIMARY KEY, n INT)", f"CREATE TABLE {schema}.friend (id INT PRIMARY KEY, n INT)",
                      f"CREATE TABLE {schema}.child (id INT PRIMARY KEY, parent_id INT, friend_id INT, n INT,"
                      f" FOREIGN KEY (parent_id) REFERENCES {schema}.parent (id) ON DELETE CASCADE ON UPDATE CASCADE,"
                      f" FOREIGN KEY (friend_id) REFERENCES {schema}.friend (id) ON DELETE SET NULL ON UPDATE CASCADE)",
                      *(f"INSERT INTO {schema}.{table} SELECT n, 0 FROM {numbers(3)} WHERE n < 400" for table in ("parent", "friend")))
        super().start()
        self.nodes[0].build(self.big)
        return self

    def fill(self, rows):
        self.w.db.sql(f"INSERT INTO {self.schemas[0]}.child SELECT n, n % 400, n % 399, 0 FROM {numbers(4)} WHERE n < {rows}")

    def version(self):
        name, = self.w.engine.ask("GET", f"/_alias/{self.w.schema}-{self.schemas[0]}-child")
        return int(name.rsplit("_v", 1)[1])

    def change(self, value):
        schema, i = self.schemas[0], value * 7 % 400
        self.w.db.sql(f"DELETE FROM {schema}.parent WHERE id = {i}", f"DELETE FROM {schema}.friend WHERE id = {i}",
                      f"UPDATE {schema}.parent SET id = {1000 + value} WHERE id = {i + 1}",
                      f"UPDATE {schema}.friend SET id = {1000 + value} WHERE id = {i + 2}",
                      f"INSERT INTO {schema}.parent VALUES ({5000 + value}, 0)",
                      f"REPLACE INTO {schema}.child VALUES ({value * 31 % 6000}, {5000 + value}, NULL, {value})")

    def is_followed(self):
        return self.owner(self.schemas[0]).has_done_all()

    def kept(self):
        return self.stored("SELECT COUNT(*) FROM kept_search")[0][0]


def test_rows_that_foreign_keys_change_are_filled_by_all_nodes_however_late_they_are_written(w):
    m = Family(w, cut=True).begin()
    other = m.other()
    way = m.ways[m.nodes.index(other)]["engine"]
    m.at_work(without=(m.id_of(m.owner(m.schemas[0])),))
    way.freeze(back=False)  # what it has read by now comes later
    let_pass("it reads more", 1)
    for value in range(1, 60):
        m.change(value)
    wait_until("the owner has followed all", m.is_followed, 30, 0.1)
    if not m.kept():
        raise Failed("nothing is kept")
    way.thaw()
    m.ends_well_by_both()


def test_rows_that_foreign_keys_change_are_right_when_whoever_fills_them_and_who_follows_them_are_killed(w):
    m = Family(w).begin(150)
    load = Load(m, pause=0.1)
    owner = m.owner(m.schemas[0])
    bucket = m.at_work(without=(m.id_of(owner),))
    other = m.node_of(bucket)
    let_pass("killed at any moment", w.rng.random())
    other.kill()
    m.goes_on(bucket)
    other.start()
    let_pass("killed at any moment", w.rng.random())
    owner.kill()
    owner.start()
    load.end()
    m.ends_well_by_both()


def test_searches_that_are_kept_outlive_whoever_kept_them_and_whoever_repeats_them(w):
    m = Family(w).begin(300)
    for node in m.nodes:
        node.kill()
    for node in m.nodes:
        node.start(environment=armed("searches_kept"))
    m.wait_shared(0, 1)
    m.at_work()
    value, first = iter(range(1, 10000)), m.owner(m.schemas[0])
    for node in first, next(node for node in m.nodes if node is not first):  # it has the topic then
        until_dead(node, "searches_kept", lambda: m.change(next(value)))
    for node in m.nodes:
        node.start(wait=False, environment=armed("searches_due"))
    for node in m.nodes:
        until_dead(node, "searches_due")
    for node in m.nodes:
        node.start()
    m.ends_well_by_both()

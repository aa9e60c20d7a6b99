"""Several daemons with one store, and a ZooKeeper that tells them of each other."""
import contextlib
import datetime
import json
import os
import signal
import threading

import yaml
from kazoo.client import KazooClient

from detour import Detour
from servers import Failed, let_pass, wait_until
from test_one_store import make_store, on_store, store_of
from zookeepers import ZooKeeper


class Way(Detour):
    """To a server; it can be cut so that neither end hears of it."""

    def __init__(self, port):
        self.is_open = threading.Event()
        self.is_open.set()
        super().__init__(port)

    def pump(self, one, other):
        try:
            while data := one.recv(65536):
                self.is_open.wait()
                other.sendall(data)
        except OSError:
            pass  # it ended
        for end in one, other:
            with contextlib.suppress(OSError):
                end.shutdown(2)

    def freeze(self):
        self.is_open.clear()

    def thaw(self):
        self.is_open.set()


def is_stopped(pid):
    with open(f"/proc/{pid}/stat") as f:
        return f.read().rsplit(")", 1)[1].split()[0] == "T"


class Positions(threading.Thread):
    """Looks at the stored positions all the time: none may go back."""

    def __init__(self, w):
        super().__init__(daemon=True)
        self.w, self.last, self.wrong, self.done = w, {}, [], threading.Event()
        self.start()

    def run(self):
        while not self.done.wait(0.05):
            for topic, epoch, name, offset in self.w.db.sql(f"SELECT topic, epoch, log_file, log_offset FROM {store_of(self.w)}.checkpoint"):
                now = epoch, name, offset
                if now < self.last.get(topic, now):
                    self.wrong.append(f"{topic}: from {self.last[topic]} to {now}")
                self.last[topic] = now

    def end(self):
        self.done.set()
        self.join()
        if self.wrong:
            raise Failed("stored positions went back: " + "; ".join(self.wrong))


class Changes:
    """While rows of all topics change, nothing that the store has as delivered is read again.

    A trigger notes each position that is stored, and when."""

    def __init__(self, m):
        self.m = m
        self.notes = f"{store_of(m.w)}_notes"
        self.stop = threading.Event()
        self.failures = []
        self.thread = threading.Thread(target=self.run)

    def __enter__(self):
        note = f"INSERT INTO {self.notes}.place (at, topic, file, place) VALUES (UTC_TIMESTAMP(6), NEW.topic, NEW.log_file, NEW.log_offset)"
        self.m.w.db.sql(f"DROP DATABASE IF EXISTS {self.notes}", f"CREATE DATABASE {self.notes}",
                        f"CREATE TABLE {self.notes}.place (id INT AUTO_INCREMENT PRIMARY KEY, at DATETIME(6), topic VARCHAR(200), file TEXT, place BIGINT)",
                        *(f"CREATE TRIGGER {store_of(self.m.w)}.note_{when} AFTER {when} ON checkpoint FOR EACH ROW {note}" for when in ("INSERT", "UPDATE")),
                        schema=store_of(self.m.w))
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join()
        for topic in self.m.schemas:
            places = [place for _, place in self.places(topic)]
            if not places or places != sorted(places):
                raise Failed(f"the positions of {topic} went back: {places}")
        self.m.w.db.sql(f"DROP DATABASE {self.notes}", *(f"DROP TRIGGER {store_of(self.m.w)}.note_{when}" for when in ("INSERT", "UPDATE")))
        if self.failures:
            raise self.failures[0]

    def run(self):
        value = 1000
        try:
            while not self.stop.wait(0.01):
                value += 1
                self.m.change(value)
        except Exception as e:  # the main thread tells
            self.failures.append(e)

    def places(self, topic):
        """[(when, (file, offset))] as they were stored."""
        rows = self.m.w.db.sql(f"SELECT at, file, place FROM {self.notes}.place WHERE topic = '{topic}' ORDER BY id")
        return [(at, (file, offset)) for at, file, offset in rows]

    def goes_on(self, node, topic):
        """The node began to read the topic with the last transaction that the store has as done, which it skips."""
        line = [line for line in log_of(node) if line.get("msg") == "following the binlog" and line.get("topic") == topic][-1]
        began = datetime.datetime.fromisoformat(line["ts"].removesuffix("Z"))
        file, done = [place for at, place in self.places(topic) if at <= began][-1]
        events = self.m.w.db.sql(f"SHOW BINLOG EVENTS IN '{file}' FROM {line['offset']} LIMIT 100") if line["file"] == file else []
        if len([kind for _, at, kind, *_ in events if at < done and "gtid" in kind.lower()]) != 1:
            raise Failed(f"{topic} was done up to {file}:{done}, and is read from {line['file']}:{line['offset']}: {events}")


def log_of(node):
    with open(node.log, encoding="utf-8") as f:
        return [json.loads(line) for line in f if line.startswith("{")]


class Members:
    """Nodes that share topics; each topic has a schema with a table `thing`."""

    def __init__(self, w, nodes=3, topics=4, timeout="4s", cut=False, **topic):
        """cut: each node has a way of its own to ZooKeeper and to the store, self.ways[i] = (ZooKeeper's, the store's)."""
        self.w, self.timeout = w, timeout
        self.topic = topic  # what each topic has besides its server
        self.zookeeper = w.also(ZooKeeper()).start()
        self.schemas = [f"{w.schema[:50]}_{i}" for i in range(topics)]
        for schema in self.schemas:
            w.db.sql(f"DROP DATABASE IF EXISTS {schema}", f"CREATE DATABASE {schema}",
                     f"CREATE TABLE {schema}.thing (id INT PRIMARY KEY, a INT)",
                     f"INSERT INTO {schema}.thing VALUES (1, 1), (2, 2)",
                     f"GRANT SELECT ON {schema}.* TO millrace@'127.0.0.1'")
        make_store(w)
        self.ways = [(Way(self.zookeeper.port), Way(w.db.port)) for _ in range(nodes)] if cut else []
        self.nodes = []
        for i in range(nodes):
            self.add(f"node-{i}", *(way.port for way in self.ways[i]) if cut else ())
        self.positions = None

    def add(self, name, zookeeper_port=None, store_port=None, **config):
        w = self.w
        node = w.millrace(start=False, **on_store(w, store_port), node_name=name, coordination_timeout=self.timeout,
                          coordination=f"zookeeper://127.0.0.1:{zookeeper_port or self.zookeeper.port}")
        node.configure(secret_file=os.path.join(w.daemons[0].folder, "secret.key"), **config)
        node.write("definitions.yaml", yaml.safe_dump(self.definitions(), sort_keys=False))
        self.nodes.append(node)
        return node

    def definitions(self):
        topic = self.w.definitions({"table": "thing"})["topics"][0]
        return {"topics": [topic | self.topic | {"name": schema} for schema in self.schemas],
                "databases": [{"name": schema, "topic": schema} for schema in self.schemas],
                "tables": [{"table": f"{schema}.thing", "index": f"{self.w.schema}-{schema}",
                            "settings": {"number_of_shards": 1, "number_of_replicas": 0}} for schema in self.schemas]}

    def start(self):
        """All nodes run, and every index is built."""
        for node in self.nodes:
            node.start()
        self.nodes[0].command("apply", "definitions.yaml")
        self.wait_shared(*range(len(self.nodes)))
        for schema in self.schemas:
            self.nodes[0].build(f"{schema}.thing")  # whoever owns it does it
        self.positions = Positions(self.w)
        return self

    def owners(self):
        """{topic: names of the nodes that say that they run it}."""
        owners = {}
        for node in self.nodes:
            if node.process is None or node.process.poll() is not None or is_stopped(node.process.pid):
                continue
            for topic in node.json("status", ok=(0, 1))["topics"]:
                if topic["state"] == "running" and topic["told_ms"] == 0:
                    owners.setdefault(topic["name"], []).append(node.config["node_name"])
        return owners

    def are_shared(self, names):
        owners = self.owners()
        return len(owners) == len(self.schemas) and all(len(at) == 1 for at in owners.values()) and \
            {at[0] for at in owners.values()} == names

    def wait_shared(self, *nodes, seconds=40):
        """Until each topic runs at one of these nodes, and each of them has one."""
        names = {self.nodes[i].config["node_name"] for i in nodes}
        wait_until(lambda: f"{names} share the topics; they have {self.owners()}", lambda: self.are_shared(names), seconds, 0.2)

    def owner(self, schema):
        name, = self.owners()[schema]
        return next(node for node in self.nodes if node.config["node_name"] == name)

    def hang(self, node):
        node.process.send_signal(signal.SIGSTOP)
        wait_until("it stands still", lambda: is_stopped(node.process.pid))

    def node(self, name):
        return next(node for node in self.nodes if node.config["node_name"] == name)

    def has(self, name):
        """The topics that run at this node, and at no other one."""
        return sorted(topic for topic, at in self.owners().items() if at == [name])

    def listed(self, name):
        """What `node list` says of the node of this name or id."""
        return next(node for node in self.alive().json("node", "list")["items"] if name in (node["name"], node["id"]))

    def topics_of(self, i):
        return [topic for topic, at in self.owners().items() if self.nodes[i].config["node_name"] in at]

    def change(self, value):
        for schema in self.schemas:
            self.w.db.sql(f"UPDATE {schema}.thing SET a = {value} WHERE id = 1", f"REPLACE INTO {schema}.thing VALUES ({value}, 0)")

    def equal(self, seconds=40):
        self.w.equal(self.alive(), seconds=seconds)

    def alive(self):
        return next(node for node in self.nodes if node.process is not None and node.process.poll() is None)

    @contextlib.contextmanager
    def kazoo(self):
        """An independent client."""
        client = KazooClient(f"127.0.0.1:{self.zookeeper.port}")
        client.start()
        try:
            yield client
        finally:
            client.stop()
            client.close()

    def end(self):
        self.positions.end()
        for node in self.nodes:
            node.stop()
        for schema in self.schemas:
            self.w.db.sql(f"DROP DATABASE {schema}")
        self.w.db.sql(f"DROP DATABASE {store_of(self.w)}")


class Load(threading.Thread):
    """Changes rows of all topics until it ends."""

    def __init__(self, members, pause=0.02):
        super().__init__(daemon=True)
        self.members, self.pause, self.done, self.n = members, pause, threading.Event(), 100
        self.go = threading.Event()
        self.turn = threading.Lock()
        self.go.set()
        self.start()

    def run(self):
        while not self.done.is_set():
            self.go.wait()
            with self.turn:
                if self.go.is_set():
                    self.n += 1
                    self.members.change(self.n)
            let_pass("a load that a node can follow", self.pause)

    def rest(self):
        self.go.clear()
        with self.turn:
            pass  # its last change is made

    def resume(self):
        self.go.set()

    def end(self):
        self.done.set()
        self.join()

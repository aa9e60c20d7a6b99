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
from zookeepers import start_zookeepers


def close(*ends):
    for end in ends:
        with contextlib.suppress(OSError):  # it went by itself
            end.shutdown(2)


class Gate:
    """Connections can be held up here, in one direction or both, so that neither end hears of it."""

    def __init__(self):
        self.lock = threading.Lock()
        self.there, self.back = threading.Event(), threading.Event()
        self.open = set()  # (the client's end, the server's)
        self.half = set()  # those of which one direction has ended
        self.lost = set()
        self.thaw()

    def freeze(self, there=True, back=True):
        for held, way in (there, self.there), (back, self.back):
            if held:
                way.clear()

    def lose(self):
        """Connections end for the client, and the server does not hear of it before thaw(); new ones pass."""
        for pair in list(self.open):
            self.lost.add(pair)
            close(pair[0])

    def thaw(self):
        self.there.set()
        self.back.set()
        while self.lost:
            close(*self.lost.pop())

    def pump(self, pair, is_there):
        """Passes on what comes in one direction until it ends; tells whether it was the last one of the two."""
        one, other = pair if is_there else pair[::-1]
        way = self.there if is_there else self.back
        self.open.add(pair)
        try:
            while data := one.recv(65536):
                way.wait()
                other.sendall(data)
        except OSError:
            pass  # it ended
        self.open.discard(pair)
        if pair not in self.lost:
            close(*pair)
        return self.is_last(pair)

    def is_last(self, pair):
        with self.lock:
            self.half ^= {pair}
            return pair not in self.half


class Gates:
    """Those of one node to several servers, which open and shut together."""

    def __init__(self, gates):
        self.gates = gates

    def freeze(self, there=True, back=True):
        for gate in self.gates:
            gate.freeze(there, back)

    def lose(self):
        for gate in self.gates:
            gate.lose()

    def thaw(self):
        for gate in self.gates:
            gate.thaw()


class Way(Detour, Gate):
    """To a server."""

    def __init__(self, port):
        Gate.__init__(self)
        Detour.__init__(self, port)

    def gate_of(self, near):
        """What a connection passes through, by its client's end."""
        del near
        return self

    def pump(self, one, other):
        with self.lock:
            is_there = (one, other) in self.pairs
        pair = (one, other) if is_there else (other, one)
        if Gate.pump(self.gate_of(pair[0]), pair, is_there):
            with self.lock:
                self.pairs.discard(pair)
            for end in pair:
                end.close()


class Crossing(Way):
    """To a server that all nodes know by one address; each passes through a gate of its own."""

    def __init__(self, port, nodes):
        self.nodes = nodes  # those of this list, which may grow
        self.gates = {}
        super().__init__(port)

    def gate(self, node):
        return self.gates.setdefault(node.config["node_name"], Gate())

    def gate_of(self, near):
        """Who connects is one of the nodes, or is gone already."""
        for _ in range(50):
            with contextlib.suppress(OSError):
                inode = socket_of(near.getpeername()[1], self.port)
                for node in self.nodes:
                    if node.process is not None and inode in sockets_of(node.process.pid):
                        return self.gate(node)
            let_pass("the kernel's lists change while they are read", 0.01)
        return self


def socket_of(port, to):
    """The inode of the socket that connects these ports of 127.0.0.1, as the kernel lists it; others may have one of them, too."""
    ends = [f"0100007F:{port:04X}", f"0100007F:{to:04X}"]
    with open("/proc/net/tcp", encoding="ascii") as f:
        before, found, after = f.read().partition(" " + " ".join(ends) + " ")
    return after.split("\n", 1)[0].split()[6] if found else None


def sockets_of(pid):
    folder, found = f"/proc/{pid}/fd", set()
    with contextlib.suppress(OSError):  # it is gone
        for name in os.listdir(folder):
            with contextlib.suppress(OSError):
                found.add(os.readlink(f"{folder}/{name}").removeprefix("socket:[").rstrip("]"))
    return found


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
        sql = self.w.db.session()
        while not self.done.wait(0.05):
            for topic, epoch, name, offset in sql(f"SELECT topic, epoch, log_file, log_offset FROM {store_of(self.w)}.checkpoint"):
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

    def __init__(self, w, nodes=3, topics=4, timeout="4s", cut=False, zookeepers=1, **topic):
        """cut: each node has a way of its own to each party, self.ways[i] = {"zookeeper", "store", "source", "engine": gate}."""
        self.w, self.timeout = w, timeout
        self.topic = topic  # what each topic has besides its server
        self.zookeepers = start_zookeepers(w, zookeepers)
        self.zookeeper = self.zookeepers[0]
        self.schemas = [f"{w.schema[:50]}_{i}" for i in range(topics)]
        for schema in self.schemas:
            w.db.sql(f"DROP DATABASE IF EXISTS {schema}", f"CREATE DATABASE {schema}",
                     f"CREATE TABLE {schema}.thing (id INT PRIMARY KEY, a INT)",
                     f"INSERT INTO {schema}.thing VALUES (1, 1), (2, 2)",
                     f"GRANT SELECT ON {schema}.* TO millrace@'127.0.0.1'")
        make_store(w)
        self.tables = [(schema, "thing") for schema in self.schemas]
        self.ways, self.nodes = [], []
        source = Crossing(w.db.port, self.nodes) if cut else None
        if cut:
            self.topic["address"] = f"127.0.0.1:{source.port}"
        for i in range(nodes):
            if cut:
                self.add_apart(f"node-{i}", source)
            else:
                self.add(f"node-{i}")
        self.positions = None
        self.here = threading.local()  # a session of each thread that changes rows

    def add_apart(self, name, source):
        servers, store, engine = [Way(server.port) for server in self.zookeepers], Way(self.w.db.port), Way(self.w.engine.port)
        node = self.add(name, [way.port for way in servers], store.port, search={"url": [f"http://127.0.0.1:{engine.port}"]})
        self.ways.append({"zookeeper": Gates(servers), "store": store, "source": source.gate(node), "engine": engine})

    def add(self, name, zookeeper_ports=None, store_port=None, **config):
        w = self.w
        ports = zookeeper_ports or [server.port for server in self.zookeepers]
        node = w.millrace(start=False, **on_store(w, store_port), node_name=name, coordination_timeout=self.timeout,
                          coordination="zookeeper://" + ",".join(f"127.0.0.1:{port}" for port in ports))
        node.configure(secret_file=os.path.join(w.daemons[0].folder, "secret.key"), **config)
        node.write("definitions.yaml", yaml.safe_dump(self.definitions(), sort_keys=False))
        self.nodes.append(node)
        return node

    def definitions(self):
        topic = self.w.definitions({"table": "thing"})["topics"][0]
        return {"topics": [topic | self.topic | {"name": schema} for schema in self.schemas],
                "databases": [{"name": schema, "topic": schema} for schema in self.schemas],
                "tables": [{"table": f"{schema}.{table}", "index": f"{self.w.schema}-{schema}" + f"-{table}" * (table != "thing"),
                            "settings": {"number_of_shards": 1, "number_of_replicas": 0}} for schema, table in self.tables]}

    def start(self):
        """All nodes run, and every index is built."""
        for node in self.nodes:
            node.start()
        return self.start_topics()

    def start_topics(self):
        """The nodes run already."""
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
            for topic in node.status(ok=(0, 1))["topics"]:
                if topic["state"] in ("running", "waiting") and topic["told_ms"] == 0:
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
        if not hasattr(self.here, "sql"):
            self.here.sql = self.w.db.session()
        for schema in self.schemas:
            self.here.sql(f"UPDATE {schema}.thing SET a = {value} WHERE id = 1", f"REPLACE INTO {schema}.thing VALUES ({value}, 0)")

    def equal(self, seconds=40):
        self.w.equal(self.alive(), seconds=seconds)

    def stored(self, *statements):
        """What the store says."""
        return self.w.db.sql(*statements, schema=store_of(self.w))

    def alive(self):
        """One that answers, so none that was told to stand still."""
        return next(node for node in self.nodes if node.process is not None and node.process.poll() is None and not is_stopped(node.process.pid))

    @contextlib.contextmanager
    def kazoo(self):
        """An independent client."""
        client = KazooClient(",".join(f"127.0.0.1:{server.port}" for server in self.zookeepers))
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

    def __init__(self, members, pause=0.04):
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
                    self.change(self.n)
            let_pass("a load that a node can follow", self.pause)

    def change(self, value):
        self.members.change(value)

    def rest(self):
        self.go.clear()
        with self.turn:
            pass  # its last change is made

    def resume(self):
        self.go.set()

    def end(self):
        self.done.set()
        self.join()

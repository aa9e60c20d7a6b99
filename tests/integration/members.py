"""Several daemons with one store, and a ZooKeeper that tells them of each other."""
import os

import yaml

from test_one_store import make_store, on_store, store_of
from zookeepers import ZooKeeper


def is_stopped(pid):
    with open(f"/proc/{pid}/stat") as f:
        return f.read().rsplit(")", 1)[1].split()[0] == "T"


class Members:
    """Nodes that share topics; each topic has a schema with a table `thing`."""

    def __init__(self, w, nodes=3, topics=4, timeout="4s"):
        self.w = w
        self.zookeeper = w.also(ZooKeeper()).start()
        self.schemas = [f"{w.schema}_{i}" for i in range(topics)]
        for schema in self.schemas:
            w.db.sql(f"DROP DATABASE IF EXISTS {schema}", f"CREATE DATABASE {schema}",
                     f"CREATE TABLE {schema}.thing (id INT PRIMARY KEY, a INT)",
                     f"INSERT INTO {schema}.thing VALUES (1, 1), (2, 2)",
                     f"GRANT SELECT ON {schema}.* TO millrace@'127.0.0.1'")
        make_store(w)
        self.timeout = timeout
        self.nodes = [self.add(i) for i in range(nodes)]

    def add(self, i, **config):
        w = self.w
        node = w.millrace(start=False, **on_store(w), node_name=f"node-{i}", coordination=f"zookeeper://127.0.0.1:{self.zookeeper.port}",
                          coordination_timeout=self.timeout, secret_file=os.path.join(w.daemons[0].folder if w.daemons else "", "secret.key"))
        if i == 0:
            node.configure(secret_file=os.path.join(node.folder, "secret.key"), **config)
        return node

    def definitions(self):
        topic = self.w.definitions({"table": "thing"})["topics"][0]
        return {"topics": [topic | {"name": schema} for schema in self.schemas],
                "databases": [{"name": schema, "topic": schema} for schema in self.schemas],
                "tables": [{"table": f"{schema}.thing", "index": f"{self.w.schema}-{schema}",
                            "settings": {"number_of_shards": 1, "number_of_replicas": 0}} for schema in self.schemas]}

    def start(self):
        for node in self.nodes:
            node.start()
        text = yaml.safe_dump(self.definitions(), sort_keys=False)
        for node in self.nodes:
            node.write("definitions.yaml", text)
        self.nodes[0].command("apply", "definitions.yaml")
        return self

    def owners(self):
        """{topic: names of the nodes that say that they run it}."""
        owners = {}
        for node in self.nodes:
            if node.process is None or node.process.poll() is not None or is_stopped(node.process.pid):
                continue
            for topic in node.json("status", ok=(0, 1))["topics"]:
                if topic["state"] == "running":
                    owners.setdefault(topic["name"], []).append(node.config["node_name"])
        return owners

    def owner(self, schema):
        names = self.owners()[schema]
        return next(node for node in self.nodes if node.config["node_name"] == names[0])

    def build(self):
        for schema in self.schemas:
            self.owner(schema).build(f"{schema}.thing")

    def change(self, value):
        for schema in self.schemas:
            self.w.db.sql(f"UPDATE {schema}.thing SET a = {value} WHERE id = 1", f"REPLACE INTO {schema}.thing VALUES ({value}, 0)")

    def alive(self):
        return next(node for node in self.nodes if node.process is not None and node.process.poll() is None)

    def equal(self):
        self.w.equal(self.alive())

    def end(self):
        for node in self.nodes:
            node.stop()
        for schema in self.schemas:
            self.w.db.sql(f"DROP DATABASE {schema}")
        self.w.db.sql(f"DROP DATABASE {store_of(self.w)}")

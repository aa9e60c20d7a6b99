"""What one test stands in: a schema and indexes of its own, and daemons that end with it."""
import os
import random
import subprocess
import zlib

import yaml

import judge
import servers
from cluster import Cluster
from servers import REPO, Engine, Database, Failed, Millrace
from workload import Workload
from zookeepers import ZooKeeper

PASSWORD = "mill-race 7%,ü"  # nothing in it may need care on the way

_shared = {}


def shared_database(flavour):
    """The server that most tests of a lane use; a test that needs other options restarts it with them."""
    if ("database", flavour) not in _shared:
        database = Database(flavour)
        database.start()
        _shared["database", flavour] = database
    return _shared["database", flavour]


def shared_engine(nodes=1):
    """One node or a cluster of so many; a lane has one of them at a time."""
    for key in [key for key in _shared if key[0] == "engine" and key[1] != nodes]:
        _shared.pop(key).wipe()
    if ("engine", nodes) not in _shared:
        engine = Engine() if nodes == 1 else Cluster(nodes)
        engine.start()
        _shared["engine", nodes] = engine
    elif nodes > 1:
        _shared["engine", nodes].start()  # whichever a test left down
    return _shared["engine", nodes]


def share_engine(engine):
    """Worlds from now on use this one, which is started here."""
    engine.start()
    _shared["engine", 1] = engine


def shared_zookeeper():
    if "zookeeper" not in _shared:
        _shared["zookeeper"] = ZooKeeper("zookeeper-shared").start()  # beside a test's own
    return _shared["zookeeper"]


def shared_store():
    """The server of the stores, if they are not in files: tests stop and restart the other one."""
    if "store" not in _shared:
        _shared["store"] = Database(name="store-shared")
        _shared["store"].start()
        _shared["store"].sql(f"CREATE USER IF NOT EXISTS millrace@'127.0.0.1' IDENTIFIED BY '{PASSWORD}'")
    return _shared["store"]


def wipe_shared():
    """For a runner without lanes, at its end."""
    while _shared:
        _shared.popitem()[1].wipe()


# What these do to documents must stay until they look for it themselves.
BY_HAND = {"check", "damage", "delayed", "large_build", "refresh", "replay", "sample", "trace", "untold", "verify", "verify_all", "verify_faults"}


class World:
    def __init__(self, name, options, nodes=1):
        self.name, self.options = name, options
        self.schema = "t_" + "".join(c for c in name.split(".")[-1] if c.isalnum() or c == "_")[:40].lower()
        self.rng = random.Random(options.seed ^ zlib.crc32(name.encode()))
        self.db = shared_database(options.server)
        self.engine = shared_engine(nodes)
        self.home = self.db, self.engine  # a test may look at others meanwhile
        self.daemons, self.extra, self.stores = [], [], []
        self.path = None
        self.make_schema()

    # -- the database

    def make_schema(self):
        user = "millrace@'127.0.0.1'"
        self.drop_schema()
        self.db.sql(f"CREATE DATABASE {self.schema} CHARACTER SET utf8mb4",
                    f"CREATE USER IF NOT EXISTS {user} IDENTIFIED BY '{PASSWORD}'",
                    f"ALTER USER {user} IDENTIFIED BY '{PASSWORD}'",
                    f"GRANT REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO {user}",
                    f"GRANT SELECT ON {self.schema}.* TO {user}")

    def drop_schema(self):
        """Also when a test that failed has left a transaction open."""
        self.db.kill_connections("user = 'root' AND id <> CONNECTION_ID()")
        servers.wait_until("no XA transaction is prepared", self.end_prepared)
        self.db.sql("SET lock_wait_timeout = 20", f"DROP DATABASE IF EXISTS {self.schema}")

    def end_prepared(self):
        """Those of a session that ends just now are not to be had yet."""
        prepared = self.db.sql("XA RECOVER")
        for form, gtrid, _, data in prepared:
            data = data if isinstance(data, bytes) else data.encode()
            try:
                self.db.sql(f"XA ROLLBACK X'{data[:gtrid].hex()}',X'{data[gtrid:].hex()}',{form}")
            except Exception:
                pass
        return not prepared

    def sql(self, *statements):
        return self.db.sql(*statements, schema=self.schema)

    def has_gtids(self):
        return self.db.is_mariadb or self.sql("SELECT @@gtid_mode")[0][0] == "ON"

    def load(self, text):
        """A script of any length through the command line client."""
        subprocess.run(["mariadb", f"--defaults-file={self.db.folder}/root.cnf", "--default-character-set=utf8mb4",
                        self.schema], input=text.encode(), check=True)

    def load_shop(self, customers=40, products=30, orders=200):
        """The sample shop in this test's schema."""
        with open(os.path.join(REPO, "tools/shop/schema.sql"), encoding="utf-8") as f:
            schema = f.read()
        rows = subprocess.run([os.path.join(REPO, "tools/shop/generate"), "--customers", str(customers), "--products",
                               str(products), "--orders", str(orders)], stdout=subprocess.PIPE, check=True).stdout
        self.load(schema + rows.decode())

    # -- definitions

    def index(self, name):
        return f"{self.schema}-{name}"

    def definitions(self, *tables, **topic):
        """Definitions of tables given as dictionaries; table and index get this test's names."""
        for table in tables:
            if "pattern" in table:
                table["pattern"] = rf"{self.schema}\.{table['pattern']}"
                table["index"] = self.index(table["index"])
            for thing in self.walk(table):
                if "table" in thing:
                    thing["table"] = f"{self.schema}.{thing['table']}"
            if "join" in table:
                table["index"] = self.index(table["index"])
                if "parent" in table["join"]:
                    table["join"]["parent"] = f"{self.schema}.{table['join']['parent']}"
            if "index" not in table:
                table["index"] = self.index(table["table"].split(".")[1])
            table.setdefault("settings", {"number_of_shards": 1, "number_of_replicas": 0})
        source = {"name": self.schema, "address": f"127.0.0.1:{self.db.port}", "user": "millrace",
                  "password_file": "source.password"} | topic
        return {"topics": [{k: v for k, v in source.items() if v is not None}],
                "databases": [{"name": self.schema, "topic": self.schema}], "tables": list(tables)}

    def walk(self, thing):
        yield thing
        if "through" in thing:
            yield thing["through"]
        for relation in thing.get("relations", []):
            yield from self.walk(relation)

    def shop_definitions(self, *names, **topic):
        """Those of tools/shop/shop.yaml (all, or the named tables)."""
        with open(os.path.join(REPO, "tools/shop/shop.yaml"), encoding="utf-8") as f:
            tables = yaml.safe_load(f)["tables"]
        for table in tables:
            for thing in self.walk(table):
                thing["table"] = thing["table"].split(".", 1)[1]
            del table["index"]
        return self.definitions(*[t for t in tables if not names or t["table"] in names], **topic)

    # -- Millrace

    def millrace(self, start=True, **config):
        """A daemon with a data folder of its own."""
        if self.name.split(".")[0] in BY_HAND:
            config["index"] = {"trees": False} | config.get("index", {})
        is_cluster = self.options.coordination == "zookeeper" and not config.keys() & {"store", "coordination"}
        if is_cluster:
            config |= self.cluster_of_one()
        daemon = Millrace(f"{self.schema}-{len(self.daemons)}", self.engine, **config)
        daemon.is_cluster = is_cluster
        daemon.write("zookeeper.login", f"millrace:{PASSWORD}\n")
        daemon.write("source.password", PASSWORD + "\n")
        daemon.write("store.password", PASSWORD + "\n")  # the same user's, but a test may take the other away
        self.daemons.append(daemon)
        return daemon.start() if start else daemon

    def cluster_of_one(self):
        store = f"{self.schema}_s{len(self.daemons)}"
        server = shared_store()
        self.stores.append(store)
        server.sql(f"DROP DATABASE IF EXISTS {store}", f"CREATE DATABASE {store}", f"GRANT ALL ON {store}.* TO millrace@'127.0.0.1'")
        return {"store": f"mysql://millrace@127.0.0.1:{server.port}/{store}", "store_password_file": "store.password",
                "coordination": f"zookeeper://127.0.0.1:{shared_zookeeper().port}/{store}_{os.urandom(4).hex()}", "coordination_timeout": "4s",
                "coordination_auth_file": "zookeeper.login"}

    def follow(self, definitions, **config):
        """A daemon that follows these definitions, with every index built."""
        daemon = self.millrace(**config)
        daemon.apply(definitions)
        for index in dict.fromkeys(t["index"] for t in definitions["tables"]):
            # What an earlier daemon of this test left in the engine is not its subject.
            daemon.build(next(t.get("table") or index for t in definitions["tables"] if t["index"] == index), "--take-index")
        return daemon

    def follow_good_and_bad(self, **bad):
        """A daemon that follows two tables: what happens to `bad` must not touch `good`."""
        self.sql("CREATE TABLE good (id INT PRIMARY KEY, a INT)", "CREATE TABLE bad (id INT PRIMARY KEY, a INT)",
                 "INSERT INTO good VALUES (1, 1), (2, 2)", "INSERT INTO bad VALUES (1, 1), (2, 2)")
        return self.follow(self.definitions({"table": "good"}, {"table": "bad"} | bad))

    def work_on_shop(self, **config):
        """A daemon that follows the shop, work to do on it, and a connection to do it on."""
        self.load_shop()
        daemon = self.follow(self.shop_definitions(), **config)
        return daemon, Workload(self.rng), self.db.connect(self.schema)

    def table(self, daemon, name):
        """What status says of a table."""
        return next(t for t in daemon.status()["tables"] if t["table"] == f"{self.schema}.{name}")

    def equal(self, daemon, tables=None, seconds=30, absent=()):
        """Wait until the judge finds every document equal; the database must be still.

        absent: fields that came after documents, which need not have them where they are null."""
        judge.wait_equal(self.db, self.engine, os.path.join(daemon.folder, "definitions.yaml"), tables, seconds,
                         alive=daemon.check_alive, absent=absent)

    def also(self, server):
        """A server only for this test."""
        self.extra.append(server)
        return server

    # -- the end

    def leave(self, passed):
        """Ends everything of the test; a daemon that does not end well fails a test that had passed."""
        failure = None
        for daemon in self.daemons:
            try:
                status = daemon.stop() if passed else daemon.kill_if_running()
                if passed and status not in (0, None, -9):
                    failure = Failed(f"the daemon ended with {status}; its log ends:\n{daemon.log_tail()}")
            except Failed as e:
                failure = e
        for server in self.extra:
            server.wipe()
        self.db, self.engine = self.home
        if self.db.options:
            self.db.restart()
        self.drop_schema()
        for store in self.stores:
            shared_store().sql(f"DROP DATABASE IF EXISTS {store}")
        self.engine.ask("DELETE", f"/{self.schema}-*", ok=(200, 404))
        if failure:
            raise failure

"""A random shape: the databases, definitions, rows and transactions of one seed of test_shapes."""
import random

import random_alters
import random_families
from random_case import Case
from random_tables import APPLIED, quote
from random_work import Work

PHASES = 3  # of work and kills, each judged
QUIET = 2  # after these: of a few changes, which nothing that is under way makes good
ALTERS = 3  # after these: of one ALTER of what documents depend on, which nothing else makes good


def some_areas(rng, table):
    """Some relations are written alone; documents are the same."""
    for relation in table.get("relations", []):
        if rng.random() < 0.4:
            relation["refresh"] = "area"
        some_areas(rng, relation)


class Shape:
    """What stands in the servers, what is done to it, and of what there are documents; the seed says all of it.

    two: some of its tables are on another server."""

    def __init__(self, seed, name_index, two):
        self.seed = seed
        home, away = [f"s{seed}", f"s{seed}b"], f"s{seed}x" if two else None
        case = self.case = Case(seed, home, APPLIED, away)
        rng = case.rng
        self.databases = [("", name) for name in case.databases] + [("abroad", away)] * two
        self.kind = rng.choices(["own", "join", "pattern"], [65, 22, 13])[0]
        if self.kind == "own":
            self.tables = case.definitions(rng.choice([1, 1, 1, 1, 2]))
        else:
            others = case.definitions(1) if rng.random() < 0.2 else []
            self.tables = (random_families.join(case) if self.kind == "join" else random_families.alike(case, home)) + others
        self.give_indexes(name_index)
        self.schema = [(t.server, t.create()) for t in case.tables if t not in case.later]
        self.rows = [(t.server, row) for t, row in case.first_rows() if t not in case.later]
        self.work = Work(rng, case.tables)
        self.phases = [[self.work.transaction() for _ in range(rng.randint(4, 20))] for _ in range(PHASES)]
        self.phases[1][:0] = [("", [t.create(), *(t.insert() for _ in range(3))]) for t in case.later]
        named = case.named(self.tables)
        self.phases += [[self.work.small_transaction(named) for _ in range(8)] for _ in range(QUIET)]
        self.clients = rng.choice([1, 1, 2])
        self.altered = random_alters.some(random.Random(f"alters of {seed}"), case, self.tables, ALTERS)
        self.phases += [[(table.server, ["SET lock_wait_timeout = 60", alter])] for table, alter, _ in self.altered]
        self.phases += [[] for _ in range(ALTERS - len(self.altered))]

    def give_indexes(self, name_index):
        shards = self.case.rng.choice([1, 1, 3])
        for number, table in enumerate(self.tables):
            shared = "join" in table or "pattern" in table
            table["index"] = name_index(f"{self.seed}-{0 if shared else number}")
            table["settings"] = {"number_of_shards": shards if shared else 1, "number_of_replicas": 0}
            some_areas(random.Random(f"areas of {self.seed}"), table)

    def indexes(self):
        """{index: the name that it is built by}"""
        return {t["index"]: t.get("table", t["index"]) for t in self.tables}

    def create(self, servers):
        """servers: {name: the server}"""
        for name, server in servers.items():
            mine = [database for at, database in self.databases if at == name]
            server.sql(*(f"CREATE DATABASE {quote(database)} CHARACTER SET utf8mb4" for database in mine),
                       *(f"GRANT SELECT ON {quote(database)}.* TO millrace@'127.0.0.1'" for database in mine),
                       "SET sql_mode = '', time_zone = '+00:00'", *(s for at, s in self.schema + self.rows if at == name))

    def drop(self, servers):
        for name, server in servers.items():
            server.sql("SET lock_wait_timeout = 20",
                       *(f"DROP DATABASE IF EXISTS {quote(database)}" for at, database in self.databases if at == name))

    def script(self):
        """Everything that its clients send, for the report."""
        def on(server, statements):
            return f"-- on {server or 'the first server'}\n" + ";\n".join(statements) + ";\n"
        phases = [f"-- phase {n}\n" + "".join(on(*transaction) for transaction in phase)
                  for n, phase in enumerate(self.phases, 1)]
        return "".join(on(at, [s]) for at, s in self.schema + self.rows) + "".join(phases)

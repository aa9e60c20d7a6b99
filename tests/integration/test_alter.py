"""Tables change their shape while they are written to: followed, or stopped with a way out, never wrong."""
from beside import Beside
from servers import Failed, wait_until

# Of every row: a is below 1000, b is above; whoever takes one column for another writes what no row ever had.
SHAPE = ("id INT PRIMARY KEY, a INT, b INT, spare INT, name VARCHAR(20), parent INT, KEY (parent)")
KEPT = ["id", "a", "b", "name"]


class Writer(Beside):
    """Changes rows of three tables without pause, in statements that every shape of `thing` understands."""

    def __init__(self, w):
        super().__init__()
        self.rng, self.connection, self.n = w.rng, w.db.connect(w.schema), 0

    def step(self):
        key, a, b = self.rng.randrange(1, 300), self.rng.randrange(1000), 5000 + self.rng.randrange(1000)
        with self.connection.cursor() as cursor:
            cursor.execute(f"REPLACE INTO thing (id, a, b, name, parent) VALUES ({key}, {a}, {b}, 'n{a}', {key % 20})")
            cursor.execute(f"UPDATE thing SET a = {a}, b = {b} WHERE id = {key + 1}")
            cursor.execute(f"DELETE FROM thing WHERE id = {self.rng.randrange(1, 300)}")
            cursor.execute(f"UPDATE good SET a = {a} WHERE id = {key}")
        self.n += 1

    def end(self):
        self.connection.close()

    def more(self, n):
        """Waits until so much more was written."""
        until = self.n + n
        wait_until("the writer goes on", lambda: self.n >= until or self.error, 20, 0.01)


def tables(w, metadata):
    w.db.sql(f"SET GLOBAL binlog_row_metadata = {metadata}")
    w.sql(f"CREATE TABLE thing ({SHAPE})", "CREATE TABLE good (id INT PRIMARY KEY, a INT)",
          "CREATE TABLE parent (id INT PRIMARY KEY, name VARCHAR(20))",
          *(f"INSERT INTO {table} WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)"
            f" SELECT i, {rest} FROM n"
            for table, rest in (("thing", "i, 5000 + i, 0, 'n', i % 20"), ("good", "i"), ("parent", "'p'"))))
    return w.definitions({"table": "thing", "columns": list(KEPT)}, {"table": "good"},
                         {"table": "parent", "relations": [{"from": "id", "table": "thing", "to": "parent", "as": "things",
                                                            "many": True, "columns": ["id", "a", "b"]}]})


def never_wrong(w):
    """No document has a value in the wrong place, whatever else it lacks."""
    wrong = [source for _, source, _ in w.engine.documents(w.index("thing"))
             if not (source["a"] < 1000 <= source["b"])]
    for _, source, _ in w.engine.documents(w.index("parent")):
        wrong += [item for item in source["things"] if not item["a"] < 1000 <= item["b"]]
    if wrong:
        raise Failed(f"{len(wrong)} documents with values of another column, such as {wrong[0]}")


def stops(daemon, *names):
    """How often these were stopped so far."""
    return sum(entry["event"] == "stopped" for name in names for entry in daemon.json("log", "list", name)["items"])


def followed(w, daemon):
    """Everything is followed, or built again by itself, and equal in the end; nothing is wrong meanwhile."""
    w.equal(daemon, [f"{w.schema}.good"])  # written last: the stream has come to its end
    never_wrong(w)
    w.equal(daemon, seconds=60)


def never_stopped(w, daemon):
    followed(w, daemon)
    if stops(daemon, f"{w.schema}.thing", f"{w.schema}.parent"):
        raise Failed("stopped, though the shape from before was known")


def alter_under_load(w, metadata):
    daemon = w.follow(tables(w, metadata))
    try:
        for alter in ("ADD COLUMN first INT FIRST, ADD COLUMN mid VARCHAR(9) AFTER a", "DROP COLUMN spare, MODIFY a BIGINT",
                      "RENAME COLUMN mid TO middle", "MODIFY a BIGINT AFTER b"):
            with Writer(w) as writer:
                writer.more(100)
                w.sql(f"ALTER TABLE thing {alter}")
                writer.more(100)
            followed(w, daemon)
    finally:
        w.db.sql("SET GLOBAL binlog_row_metadata = DEFAULT")


def test_alter_under_load_is_followed_with_full_metadata(w):
    alter_under_load(w, "FULL")


def test_alter_under_load_is_followed_with_minimal_metadata(w):
    alter_under_load(w, "MINIMAL")


def alter_meanwhile(w, metadata, check, *alters):
    """The shape changes while the daemon is away, between rows that it has not read yet."""
    daemon = w.follow(tables(w, metadata))
    daemon.stop()
    try:
        with Writer(w) as writer:
            for alter in alters:
                writer.more(40)
                w.sql(f"ALTER TABLE thing {alter}")
            writer.more(40)
        daemon.start()
        check(w, daemon)
    finally:
        w.db.sql("SET GLOBAL binlog_row_metadata = DEFAULT")


def test_columns_that_change_places_while_the_daemon_is_away_are_never_mixed_up(w):
    alter_meanwhile(w, "MINIMAL", never_stopped, "MODIFY a INT AFTER b")


def test_columns_that_change_places_and_back_are_never_mixed_up(w):
    alter_meanwhile(w, "MINIMAL", followed, "MODIFY a INT AFTER b", "MODIFY b INT AFTER a")


def test_full_metadata_needs_no_stop(w):
    alter_meanwhile(w, "FULL", never_stopped, "MODIFY a INT AFTER b", "ADD COLUMN z INT FIRST", "DROP COLUMN spare")


def test_a_dropped_column_of_the_definition_stops_its_tables_and_a_new_definition_is_the_way_out(w):
    definitions = tables(w, "DEFAULT")
    daemon = w.follow(definitions)
    w.sql("UPDATE thing SET a = 1 WHERE id = 1", "ALTER TABLE thing DROP COLUMN b", "UPDATE thing SET a = 2 WHERE id = 2",
          "UPDATE good SET a = 3 WHERE id = 3")
    w.equal(daemon, [f"{w.schema}.good"])
    for name in ("thing", "parent"):
        found = wait_until("the table stops", lambda name=name: w.table(daemon, name)["state"] == "stopped"
                           and w.table(daemon, name))
        if "`b`" not in found["reason"] or "rebuilt automatically" not in found["fix"]:
            raise Failed(f"reason or fix is missing: {found}")
    definitions["tables"][0]["columns"].remove("b")
    definitions["tables"][2]["relations"][0]["columns"].remove("b")
    daemon.apply(definitions)
    w.sql("UPDATE thing SET a = 4 WHERE id = 4")
    w.equal(daemon, seconds=60)


def alter_unseen(w, meanwhile):
    """Columns change their places, rows follow, and the ALTER is met while the server lets nobody in to ask."""
    daemon = w.follow(tables(w, "MINIMAL"))
    w.equal(daemon)
    try:
        w.db.sql("ALTER USER millrace@'127.0.0.1' ACCOUNT LOCK")
        w.db.kill_connections("user = 'millrace' AND command <> 'Binlog Dump'")
        w.sql("ALTER TABLE thing MODIFY a INT AFTER b", "UPDATE thing SET a = 7, b = 5007", "UPDATE good SET a = 3 WHERE id = 3")
        wait_until("the ALTER is met in vain", lambda: "after a change of their shape" in daemon.log_tail(100000))
        meanwhile(daemon)
        w.db.sql("ALTER USER millrace@'127.0.0.1' ACCOUNT UNLOCK")
        daemon.start()
        never_stopped(w, daemon)
    finally:
        w.db.sql("ALTER USER millrace@'127.0.0.1' ACCOUNT UNLOCK", "SET GLOBAL binlog_row_metadata = DEFAULT")


def test_columns_that_change_places_while_the_server_cannot_be_asked_are_never_mixed_up(w):
    alter_unseen(w, lambda daemon: None)


def test_columns_that_change_places_while_a_daemon_that_stops_cannot_ask_are_never_mixed_up(w):
    alter_unseen(w, lambda daemon: daemon.stop())


def test_columns_that_change_places_by_an_ALTER_that_is_slow_to_commit_are_never_mixed_up(w):
    """The log shows it a second before information_schema does."""
    daemon = w.follow(tables(w, "MINIMAL"))
    w.equal(daemon)
    try:
        w.db.sql("SET GLOBAL binlog_group_commit_sync_delay = 1000000")
        w.sql("UPDATE good SET a = 5 WHERE id = 1", "ALTER TABLE thing MODIFY a INT AFTER b",
              "UPDATE thing SET a = 7, b = 5007", "UPDATE good SET a = 3 WHERE id = 3")
        never_stopped(w, daemon)
    finally:
        w.db.sql("SET GLOBAL binlog_group_commit_sync_delay = 0", "SET GLOBAL binlog_row_metadata = DEFAULT")


test_columns_that_change_places_by_an_ALTER_that_is_slow_to_commit_are_never_mixed_up.servers = ("mysql8", "mysql9")
test_columns_that_change_places_by_an_ALTER_that_is_slow_to_commit_are_never_mixed_up.why = "has no such delay to set"


def test_what_a_restart_reads_again_stops_nothing_again(w):
    """The last transaction before the position is read once more, to see that the log is the same."""
    daemon = w.follow(tables(w, "DEFAULT"))
    w.sql("TRUNCATE TABLE thing")
    for name in ("thing", "parent"):
        wait_until(f"{name} is built again", lambda name=name: w.table(daemon, name)["version"] == 2)
    daemon.stop()
    daemon.start()
    w.sql("INSERT INTO thing (id, a, b) VALUES (1, 1, 5001)")
    w.equal(daemon)
    if w.table(daemon, "thing")["state"] != "available" or w.table(daemon, "thing")["version"] != 2:
        raise Failed(f"it is {w.table(daemon, 'thing')}")

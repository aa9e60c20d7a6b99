"""Tables change by DDL, and their indexes follow by themselves: new fields come in, and what says something else is built again."""

import json

import pymysql

from beside import Beside
from online_change import gh_ost, pt_osc, real_pt_osc
from servers import Failed, open_store, wait_until

DEADLOCK, LOCK_WAIT, NO_TABLE = 1213, 1205, 1146


class Writer(Beside):
    """Changes rows of `bad` and `good` without pause, whatever other columns they have."""

    def __init__(self, w, tables=("bad", "good"), n=400):
        super().__init__()
        self.rng, self.connection, self.tables, self.n_keys, self.n = w.rng, w.db.connect(w.schema), tables, n, 0

    def step(self):
        key, a = self.rng.randrange(1, self.n_keys), self.rng.randrange(10**6)
        for table in self.tables:
            self.run_one(f"REPLACE INTO {table} (id, a) VALUES ({key}, {a})")
            self.run_one(f"UPDATE {table} SET a = {a + 1} WHERE id = {key + 1}")
            self.run_one(f"DELETE FROM {table} WHERE id = {self.rng.randrange(1, self.n_keys)}")
        self.n += 1

    def run_one(self, statement):
        """A copy of rows that is made beside it may be in its way, or its table away for a moment."""
        try:
            with self.connection.cursor() as cursor:
                cursor.execute(statement)
        except pymysql.err.MySQLError as e:
            if e.args[0] not in (DEADLOCK, LOCK_WAIT, NO_TABLE):
                raise

    def end(self):
        self.connection.close()

    def more(self, n):
        """Waits until so much more was written."""
        until = self.n + n
        wait_until("the writer goes on", lambda: self.n >= until or self.error, 30, 0.01)


def rows(n, values="n, n"):
    return f"WITH RECURSIVE i(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < {n}) SELECT {values} FROM i"


def good_and_bad(w, n=300, **bad):
    """A daemon that follows two tables: what happens to `bad` must not touch `good`."""
    w.sql("CREATE TABLE good (id INT PRIMARY KEY, a INT)", "CREATE TABLE bad (id INT PRIMARY KEY, a INT)",
          f"INSERT INTO good {rows(n)}", f"INSERT INTO bad {rows(n)}")
    return w.follow(w.definitions({"table": "good"}, {"table": "bad"} | bad))


def version(w, daemon, name):
    return w.table(daemon, name)["version"]


def rebuilt(w, daemon, name, since):
    """Waits until searches use a version after `since`, built by nobody's command."""
    wait_until(lambda: f"{name} is built again: {w.table(daemon, name)}",
               lambda: (version(w, daemon, name) or 0) > since and w.table(daemon, name)["state"] == "available", 60)


def log_of(w, daemon, name, event):
    return [entry for entry in daemon.json("log", "list", f"{w.schema}.{name}")["items"] if entry["event"] == event]


# -- columns that come


def test_a_column_that_comes_is_in_the_index_without_a_build(w):
    daemon = good_and_bad(w)
    w.sql("ALTER TABLE bad ADD COLUMN note VARCHAR(20)", "UPDATE bad SET note = 'later' WHERE id = 3",
          "INSERT INTO bad VALUES (1000, 1, 'new')")
    w.equal(daemon, absent={"note"})
    if version(w, daemon, "bad") != 1 or w.table(daemon, "bad")["reason"]:
        raise Failed(f"it is {w.table(daemon, 'bad')}")
    if not log_of(w, daemon, "bad", "fields"):
        raise Failed("the log does not say that a field came")
    found = w.engine.ask("POST", f"/{w.index('bad')}/_search", {"query": {"term": {"note": "later"}}})
    if [hit["_id"] for hit in found["hits"]["hits"]] != ["3"]:
        raise Failed(f"a search by the new column finds {found}")


def test_a_column_that_comes_while_the_daemon_is_away_is_in_the_index(w):
    daemon = good_and_bad(w)
    daemon.stop()
    w.sql("UPDATE bad SET a = 7 WHERE id = 1", "ALTER TABLE bad ADD COLUMN note VARCHAR(20)",
          "UPDATE bad SET note = 'later' WHERE id = 3")
    daemon.start()
    w.equal(daemon, absent={"note"})
    if version(w, daemon, "bad") != 1:
        raise Failed(f"it is {w.table(daemon, 'bad')}")


def test_a_column_that_comes_is_in_related_documents(w):
    w.sql("CREATE TABLE parent (id INT PRIMARY KEY, name VARCHAR(20))",
          "CREATE TABLE child (id INT PRIMARY KEY, a INT, parent INT, KEY (parent))",
          f"INSERT INTO parent {rows(20)}", f"INSERT INTO child {rows(60, 'n, n, n % 20 + 1')}")
    daemon = w.follow(w.definitions({"table": "parent", "relations": [
        {"from": "id", "table": "child", "to": "parent", "as": "children", "many": True, "nested": True},
        {"from": "id", "table": "child", "to": "id", "as": "first"}]}))
    w.sql("ALTER TABLE child ADD COLUMN note INT", "UPDATE child SET note = 5 WHERE id = 3",
          "INSERT INTO child VALUES (100, 1, 2, 6)")
    w.equal(daemon, absent={"note"})
    if version(w, daemon, "parent") != 1:
        raise Failed(f"it is {w.table(daemon, 'parent')}")


def test_a_column_that_comes_under_load_is_followed(w):
    daemon = good_and_bad(w)
    with Writer(w) as writer:
        writer.more(50)
        w.sql("ALTER TABLE bad ADD COLUMN note VARCHAR(20)")
        w.sql("UPDATE bad SET note = CONCAT('n', id) WHERE id % 3 = 0")
        writer.more(50)
    w.equal(daemon, absent={"note"})
    if version(w, daemon, "bad") != 1:
        raise Failed(f"it is {w.table(daemon, 'bad')}")


def test_a_column_whose_field_the_index_refuses_is_there_after_a_build(w):
    daemon = good_and_bad(w, settings={"number_of_shards": 1, "number_of_replicas": 0,
                                       "index.mapping.total_fields.limit": 2})
    w.sql("ALTER TABLE bad ADD COLUMN note INT", "UPDATE good SET a = 1")
    wait_until("the table stops", lambda: w.table(daemon, "bad")["reason"])
    w.equal(daemon, [f"{w.schema}.good"])


# -- rows that change


def changed(w, alter, *after):
    """What an ALTER does to rows that are there is in the index by itself, under load."""
    daemon = good_and_bad(w)
    with Writer(w) as writer:
        writer.more(20)
        w.sql(alter, *after)
        writer.more(20)
        rebuilt(w, daemon, "bad", 1)
        writer.more(20)
    w.equal(daemon)
    if version(w, daemon, "good") != 1:
        raise Failed("the other table was built again as well")
    return daemon


def test_a_column_with_a_default_is_in_every_document_after_a_build_that_begins_by_itself(w):
    daemon = changed(w, "ALTER TABLE bad ADD COLUMN kind VARCHAR(9) DEFAULT 'old'")
    entries = log_of(w, daemon, "bad", "rebuilding")
    if not entries or "`kind`" not in entries[0]["detail"]["text"]:
        raise Failed(f"the log does not say why: {entries}")


def test_a_generated_column_is_in_every_document_after_a_build_that_begins_by_itself(w):
    changed(w, "ALTER TABLE bad ADD COLUMN twice BIGINT AS (a * 2) STORED")


def test_a_type_that_writes_values_otherwise_is_built_again_by_itself(w):
    changed(w, "ALTER TABLE bad MODIFY a DECIMAL(12,2)")


def test_a_wider_type_is_built_again_by_itself(w):
    changed(w, "ALTER TABLE bad MODIFY a BIGINT", "INSERT INTO bad VALUES (5000, 5000000000)")


def test_a_dropped_column_is_gone_after_a_build_that_begins_by_itself(w):
    w.sql("CREATE TABLE more (id INT PRIMARY KEY, a INT, b INT)", "INSERT INTO more VALUES (1, 1, 1), (2, 2, 2)")
    daemon = w.follow(w.definitions({"table": "more"}))
    w.sql("ALTER TABLE more DROP COLUMN b", "UPDATE more SET a = 5 WHERE id = 1")
    rebuilt(w, daemon, "more", 1)
    w.equal(daemon)


def test_a_renamed_column_has_its_new_name_after_a_build_that_begins_by_itself(w):
    w.sql("CREATE TABLE more (id INT PRIMARY KEY, a INT, b INT)", "INSERT INTO more VALUES (1, 1, 1), (2, 2, 2)")
    daemon = w.follow(w.definitions({"table": "more"}))
    w.sql("ALTER TABLE more CHANGE b c INT", "UPDATE more SET a = 5 WHERE id = 1")
    rebuilt(w, daemon, "more", 1)
    w.equal(daemon)


def test_a_renamed_column_that_the_definition_names_says_to_correct_the_definition(w):
    w.sql("CREATE TABLE more (id INT PRIMARY KEY, a INT, b INT)", "INSERT INTO more VALUES (1, 1, 1), (2, 2, 2)")
    daemon = w.follow(w.definitions({"table": "more", "columns": ["id", "b"]}))
    w.sql("ALTER TABLE more CHANGE b c INT", "UPDATE more SET a = 5 WHERE id = 1")
    state = wait_until("an attempt has failed", lambda: "`b`" in w.table(daemon, "more")["fix"] and w.table(daemon, "more"))
    wanted = "has no column `b`, which the definition names (was it renamed or dropped?); fix: correct the definition"
    if wanted not in state["reason"] or wanted not in state["fix"] or "index create" in state["fix"]:
        raise Failed(f"reason and fix are {state['reason']!r} and {state['fix']!r}")
    daemon.apply(w.definitions({"table": "more", "columns": ["id", "c"]}))
    rebuilt(w, daemon, "more", 1)
    w.equal(daemon)


def test_a_column_that_takes_anothers_name_is_built_again_by_itself(w):
    """The shapes before and after are the same."""
    w.sql("CREATE TABLE more (id INT PRIMARY KEY, a INT, b INT)", "INSERT INTO more VALUES (1, 1, 2), (2, 3, 4)")
    daemon = w.follow(w.definitions({"table": "more"}))
    for since, alter in enumerate(("CHANGE a b INT, CHANGE b a INT", "DROP COLUMN b, ADD COLUMN b INT"), 1):
        w.sql(f"ALTER TABLE more {alter}", "UPDATE more SET a = 5 WHERE id = 1")
        rebuilt(w, daemon, "more", since)
        w.equal(daemon)


def test_changes_that_undo_each_other_while_the_daemon_is_away_are_built_again(w):
    daemon = good_and_bad(w)
    daemon.stop()
    w.sql("SET sql_mode = ''", "ALTER TABLE bad MODIFY a TINYINT", "ALTER TABLE bad MODIFY a INT", "UPDATE bad SET a = 5 WHERE id = 1")
    daemon.start()
    rebuilt(w, daemon, "bad", 1)
    w.equal(daemon)


def test_another_primary_key_names_documents_anew(w):
    daemon = good_and_bad(w)
    w.sql("ALTER TABLE bad DROP PRIMARY KEY, ADD COLUMN k INT PRIMARY KEY AUTO_INCREMENT FIRST",
          "INSERT INTO bad (id, a) VALUES (700, 7)")
    rebuilt(w, daemon, "bad", 1)
    w.equal(daemon)


def test_a_change_of_a_related_table_builds_every_index_that_embeds_it(w):
    w.sql("CREATE TABLE parent (id INT PRIMARY KEY, name VARCHAR(20))",
          "CREATE TABLE child (id INT PRIMARY KEY, a INT, parent INT, KEY (parent))",
          f"INSERT INTO parent {rows(20)}", f"INSERT INTO child {rows(60, 'n, n, n % 20 + 1')}")
    daemon = w.follow(w.definitions({"table": "child"}, {"table": "parent", "relations": [
        {"from": "id", "table": "child", "to": "parent", "as": "children", "many": True}]}))
    w.sql("ALTER TABLE child ADD COLUMN kind INT NOT NULL DEFAULT 4")
    for name in ("child", "parent"):
        rebuilt(w, daemon, name, 1)
    w.equal(daemon)
    w.sql("TRUNCATE TABLE child", "INSERT INTO child VALUES (1, 1, 1, 1)")
    for name in ("child", "parent"):
        rebuilt(w, daemon, name, 2)
    w.equal(daemon)


def test_what_changes_nothing_of_values_builds_nothing(w):
    w.sql("CREATE TABLE more (id INT PRIMARY KEY, t VARCHAR(20), e ENUM('a','b'))", "INSERT INTO more VALUES (1, 'x', 'a')")
    daemon = w.follow(w.definitions({"table": "more"}))
    w.sql("ALTER TABLE more MODIFY t VARCHAR(200) AFTER e", "ALTER TABLE more MODIFY e ENUM('a','b','c')",
          "ALTER TABLE more ADD INDEX (t)", "ALTER TABLE more COMMENT 'x'", "INSERT INTO more VALUES (2, 'c', 'y')")
    w.equal(daemon)
    if version(w, daemon, "more") != 1 or w.table(daemon, "more")["reason"]:
        raise Failed(f"it is {w.table(daemon, 'more')}")


def test_a_generated_invisible_key_names_documents_and_is_not_shown(w):
    w.sql("SET sql_generate_invisible_primary_key = ON", "CREATE TABLE more (a INT, hidden INT INVISIBLE)",
          "INSERT INTO more (a, hidden) VALUES (1, 1), (2, 2), (3, 3)")
    daemon = w.follow(w.definitions({"table": "more"}))
    w.sql("INSERT INTO more (a) VALUES (4)", "UPDATE more SET a = 5, hidden = 6 WHERE a = 2", "DELETE FROM more WHERE a = 1")
    w.equal(daemon)
    if [_id for _id, _, _ in sorted(w.engine.documents(w.index("more")))] != ["2", "3", "4"]:
        raise Failed("the documents have other names than their keys")
    w.sql("ALTER TABLE more ALTER COLUMN hidden SET VISIBLE")
    rebuilt(w, daemon, "more", 1)
    w.equal(daemon)


test_a_generated_invisible_key_names_documents_and_is_not_shown.servers = ("mysql8", "mysql9")
test_a_generated_invisible_key_names_documents_and_is_not_shown.why = "generates no keys"


def test_a_type_that_was_widened_and_cuts_values_then_is_built_again(w):
    """What changed nothing is where the next change starts from."""
    w.sql("CREATE TABLE more (id INT PRIMARY KEY, t VARCHAR(9))", "INSERT INTO more VALUES (1, 'short')")
    daemon = w.follow(w.definitions({"table": "more"}))
    w.sql("ALTER TABLE more MODIFY t VARCHAR(90)", f"INSERT INTO more VALUES (2, '{'long' * 20}')")
    w.equal(daemon)
    if version(w, daemon, "more") != 1:
        raise Failed("it was built again for a wider column")
    w.sql("SET sql_mode = ''", "ALTER TABLE more MODIFY t VARCHAR(20)")
    rebuilt(w, daemon, "more", 1)
    w.equal(daemon)


# -- rows that go without events


def test_truncate_under_load_is_built_again_by_itself(w):
    daemon = good_and_bad(w)
    with Writer(w) as writer:
        writer.more(20)
        w.sql("TRUNCATE TABLE bad")
        writer.more(20)
        rebuilt(w, daemon, "bad", 1)
        writer.more(20)
    w.equal(daemon)


def test_a_table_that_is_dropped_and_comes_back_is_built_again_by_itself(w):
    daemon = good_and_bad(w)
    w.sql("DROP TABLE bad", "UPDATE good SET a = 7")
    stopped = wait_until("the table stops", lambda: w.table(daemon, "bad")["state"] == "stopped" and w.table(daemon, "bad"))
    if "drop table" not in stopped["reason"] or "rebuilt automatically" not in stopped["fix"]:
        raise Failed(f"it is {stopped}")
    w.equal(daemon, [f"{w.schema}.good"])
    wait_until("the build is tried in vain", lambda: "no build can begin" in w.table(daemon, "bad")["fix"])
    named = [item for item in daemon.json("doctor", ok=None)["items"] if item["id"] == "table.runs"]
    if not named or "rebuilt automatically" not in named[0]["fix"]:
        raise Failed(f"doctor does not say what happens: {named}")
    w.sql("CREATE TABLE bad (id INT PRIMARY KEY, a INT, b INT)", "INSERT INTO bad VALUES (9, 9, 9)")
    rebuilt(w, daemon, "bad", 1)
    w.sql("INSERT INTO bad VALUES (6, 6, 6)")
    w.equal(daemon)


def test_dropped_partitions_are_built_again_by_themselves(w):
    w.sql("CREATE TABLE part (id INT PRIMARY KEY, a INT) PARTITION BY RANGE (id) (PARTITION p0 VALUES LESS THAN (10),"
          " PARTITION p1 VALUES LESS THAN (20), PARTITION p2 VALUES LESS THAN MAXVALUE)", f"INSERT INTO part {rows(30)}")
    daemon = w.follow(w.definitions({"table": "part"}))
    w.sql("ALTER TABLE part DROP PARTITION p0", "UPDATE part SET a = 5 WHERE id = 12")
    rebuilt(w, daemon, "part", 1)
    w.sql("ALTER TABLE part TRUNCATE PARTITION p1")
    rebuilt(w, daemon, "part", 2)
    w.equal(daemon)


def test_create_or_replace_is_built_again_by_itself(w):
    daemon = good_and_bad(w)
    w.sql("CREATE OR REPLACE TABLE bad (id INT PRIMARY KEY, c VARCHAR(9))", "INSERT INTO bad VALUES (1, 'one')")
    rebuilt(w, daemon, "bad", 1)
    w.equal(daemon)


test_create_or_replace_is_built_again_by_itself.servers = ("mariadb", "mariadb11")
test_create_or_replace_is_built_again_by_itself.why = "knows no CREATE OR REPLACE TABLE"


# -- tools for online schema changes


def changed_online(w, change, alter, **more):
    """A swap of tables under load: the table goes on.  The daemon, and its version of `bad`."""
    daemon = good_and_bad(w)
    with Writer(w) as writer:
        writer.more(20)
        change(w, "bad", alter, **more)
        writer.more(20)
    w.equal(daemon, [f"{w.schema}.good"])
    return daemon


def not_stopped(w, daemon):
    if log_of(w, daemon, "bad", "stopped"):
        raise Failed(f"it stopped: {log_of(w, daemon, 'bad', 'stopped')}")


def goes_on(w, change, **more):
    daemon = changed_online(w, change, "ADD COLUMN note VARCHAR(20)", **more)
    w.sql("UPDATE bad SET note = 'later' WHERE id % 3 = 0")
    w.equal(daemon, absent={"note"})
    not_stopped(w, daemon)
    if version(w, daemon, "bad") != 1:
        raise Failed(f"it was built again: {log_of(w, daemon, 'bad', 'rebuilding')}")


def is_built_again(w, change, **more):
    daemon = changed_online(w, change, "ADD COLUMN kind INT NOT NULL DEFAULT 4, MODIFY a BIGINT", **more)
    rebuilt(w, daemon, "bad", 1)
    w.equal(daemon)
    not_stopped(w, daemon)


def test_a_table_goes_on_when_gh_ost_swaps_it(w):
    goes_on(w, gh_ost)


def test_a_table_goes_on_when_pt_online_schema_change_swaps_it(w):
    goes_on(w, pt_osc)


def test_a_table_is_followed_and_built_again_when_gh_ost_changes_its_rows(w):
    is_built_again(w, gh_ost)


def test_a_table_is_followed_and_built_again_when_pt_online_schema_change_changes_its_rows(w):
    is_built_again(w, pt_osc)


def test_a_table_goes_on_when_the_real_pt_online_schema_change_swaps_it(w):
    goes_on(w, real_pt_osc)


def test_a_table_is_followed_and_built_again_when_the_real_pt_online_schema_change_changes_its_rows(w):
    is_built_again(w, real_pt_osc)


def test_a_swap_in_two_steps_is_equal_in_the_end(w):
    daemon = changed_online(w, gh_ost, "ADD COLUMN note VARCHAR(20)", two_steps=True)
    w.sql("UPDATE bad SET note = 'later' WHERE id % 3 = 0")
    w.equal(daemon, absent={"note"}, seconds=60)


def test_a_swap_that_happens_while_the_daemon_is_away_goes_on(w):
    daemon = good_and_bad(w)
    daemon.stop()
    with Writer(w) as writer:
        writer.more(20)
        gh_ost(w, "bad", "ADD COLUMN note VARCHAR(20)")
        writer.more(20)
    daemon.start()
    w.equal(daemon, absent={"note"})
    not_stopped(w, daemon)


def test_a_table_that_another_takes_the_place_of_is_built_again_by_itself(w):
    daemon = good_and_bad(w)
    w.sql("CREATE TABLE other (id INT PRIMARY KEY, a INT)", "INSERT INTO other VALUES (1, 77), (2000, 5)",
          "RENAME TABLE bad TO bad_old, other TO bad", "UPDATE bad SET a = 6 WHERE id = 2000", "UPDATE good SET a = 3")
    rebuilt(w, daemon, "bad", 1)
    w.equal(daemon)
    w.sql("RENAME TABLE bad TO gone", "INSERT INTO gone VALUES (3, 3)")
    wait_until("the table stops", lambda: w.table(daemon, "bad")["state"] == "stopped")
    w.sql("RENAME TABLE gone TO bad", "INSERT INTO bad VALUES (4, 4)")
    rebuilt(w, daemon, "bad", 2)
    w.equal(daemon)


# -- builds that are met by DDL, and ends of the daemon


def test_a_build_that_ddl_meets_begins_from_nothing(w):
    w.sql("CREATE TABLE good (id INT PRIMARY KEY, a INT)", "CREATE TABLE bad (id INT PRIMARY KEY, a INT)",
          f"INSERT INTO bad {rows(900)}")
    daemon = w.millrace()
    daemon.apply(w.definitions({"table": "good"}, {"table": "bad"}))
    daemon.build(f"{w.schema}.good")
    for ddl in ("ALTER TABLE bad ADD COLUMN b INT DEFAULT 5", "TRUNCATE TABLE bad"):
        since = version(w, daemon, "bad") or 0
        daemon.command("index", "create", f"{w.schema}.bad", "--rate", "100", "--chunk", "20", "--no-wait")
        wait_until("rows are read", lambda: (w.table(daemon, "bad")["build"] or {}).get("rows_done", 0) > 50)
        w.sql(ddl, "UPDATE good SET a = 1")
        rebuilt(w, daemon, "bad", since + 1)
        w.equal(daemon)
        w.sql(f"INSERT INTO bad {rows(900, 'n + 1000, n, n')}")


def test_a_build_is_stopped_once_however_often_its_table_is_emptied(w):
    daemon = good_and_bad(w)
    daemon.command("index", "create", f"{w.schema}.bad", "--rate", "100", "--chunk", "20", "--no-wait")
    wait_until("rows are read", lambda: (w.table(daemon, "bad")["build"] or {}).get("rows_done", 0) > 50)
    for _ in range(60):
        w.sql("TRUNCATE TABLE bad", f"INSERT INTO bad {rows(20)}")
    rebuilt(w, daemon, "bad", 1)
    w.equal(daemon)
    lines = [json.loads(line) for line in daemon.log_tail(10**7).splitlines() if "index build stopped" in line]
    stopped = [(line["index"], line["version"]) for line in lines]
    again = {build for build in stopped if stopped.count(build) > 1}
    if again:
        raise Failed(f"stopped more than once: {again} of {stopped}")


def test_a_build_that_waits_for_a_held_index_ends_when_its_table_is_emptied(w):
    daemon = good_and_bad(w)
    daemon.command("index", "create", f"{w.schema}.bad", "--rate", "100", "--chunk", "20", "--no-wait")
    wait_until("rows are read", lambda: (w.table(daemon, "bad")["build"] or {}).get("rows_done", 0) > 50)
    w.engine.ask("PUT", f"/{w.index('bad')}_v2/_settings", {"index.blocks.write": True})
    wait_until("the index is held", lambda: "index held" in daemon.log_tail(10**6))
    w.sql("TRUNCATE TABLE bad", f"INSERT INTO bad {rows(20)}")
    rebuilt(w, daemon, "bad", 2)
    w.equal(daemon)


def test_a_build_that_ends_as_its_table_stopped_says_why_it_stopped(w):
    w.sql("CREATE TABLE bad (id INT PRIMARY KEY, a INT)", f"INSERT INTO bad {rows(900)}")
    daemon = w.millrace()
    daemon.apply(w.definitions({"table": "bad", "schema_changes": "stop"}))
    daemon.command("index", "create", f"{w.schema}.bad", "--rate", "100", "--chunk", "20", "--no-wait")
    wait_until("rows are read", lambda: (w.table(daemon, "bad")["build"] or {}).get("rows_done", 0) > 50)
    w.sql("TRUNCATE TABLE bad")
    failed = wait_until("the build fails", lambda: log_of(w, daemon, "bad", "failed"))
    if "truncate table of" not in failed[0]["detail"]["text"]:
        raise Failed(f"the build failed with {failed}")


def test_a_column_that_comes_during_a_build_does_not_end_it(w):
    daemon = good_and_bad(w)
    daemon.command("index", "create", f"{w.schema}.bad", "--rate", "150", "--chunk", "20", "--no-wait")
    wait_until("rows are read", lambda: (w.table(daemon, "bad")["build"] or {}).get("rows_done", 0) > 50)
    w.sql("ALTER TABLE bad ADD COLUMN note INT", "UPDATE bad SET note = 1 WHERE id IN (1, 290)")
    wait_until("it is built", lambda: w.table(daemon, "bad")["state"] == "available")
    w.equal(daemon, absent={"note"})


def test_many_changes_are_built_once_or_twice(w):
    daemon = good_and_bad(w)
    for i in range(8):
        w.sql(f"ALTER TABLE bad ADD COLUMN c{i} INT DEFAULT {i}")
    rebuilt(w, daemon, "bad", 1)
    w.equal(daemon)
    if version(w, daemon, "bad") > 4:
        raise Failed(f"version {version(w, daemon, 'bad')} after eight changes at once")


def test_a_rebuild_outlives_a_kill(w):
    for ddl in ("ALTER TABLE bad ADD COLUMN kind INT DEFAULT 3", "TRUNCATE TABLE bad"):
        daemon = good_and_bad(w)
        w.sql(ddl, "UPDATE good SET a = 9 WHERE id = 9")
        w.equal(daemon, [f"{w.schema}.good"])
        daemon.kill()
        daemon.start()
        rebuilt(w, daemon, "bad", 1)
        w.equal(daemon)
        daemon.stop()
        w.sql("DROP TABLE good, bad")


def test_kills_among_changes_of_shape_leave_the_documents_equal(w):
    """Whatever was durable when the daemon died, the next one finds what is to be done."""
    daemon = good_and_bad(w)
    added = set()
    with Writer(w) as writer:
        for i in range(10):
            alter = w.rng.choice([f"ADD COLUMN n{i} INT", f"ADD COLUMN d{i} INT DEFAULT {i}", f"ADD COLUMN g{i} INT AS (id + {i})",
                                  "MODIFY a BIGINT", "MODIFY a DECIMAL(14,2)", "TRUNCATE"])
            w.sql("TRUNCATE TABLE bad" if alter == "TRUNCATE" else f"ALTER TABLE bad {alter}")
            added.add(f"n{i}")
            if alter.startswith(f"ADD COLUMN n{i}"):
                w.sql(f"UPDATE bad SET n{i} = id WHERE id % 2 = 0")
            writer.more(w.rng.randrange(20))
            daemon.kill()
            daemon.start()
            writer.more(w.rng.randrange(20))
    wait_until(lambda: f"it comes to rest: {w.table(daemon, 'bad')}",
               lambda: w.table(daemon, "bad")["state"] == "available" and not w.table(daemon, "bad")["reason"], 60)
    w.equal(daemon, absent=added)


# -- the switch


def test_where_changes_are_not_followed_new_columns_wait_for_a_build(w):
    daemon = good_and_bad(w, schema_changes="stop")
    w.sql("ALTER TABLE bad ADD COLUMN note INT DEFAULT 5", "UPDATE bad SET a = 5, note = 6 WHERE id = 3", "UPDATE good SET a = 7 WHERE id = 1")
    w.equal(daemon, [f"{w.schema}.good"])
    found = w.table(daemon, "bad")
    if found["state"] != "available" or found["version"] != 1:
        raise Failed(f"it is {found}")
    document = wait_until("the row is followed", lambda: next((
        source for _id, source, _ in w.engine.documents(w.index("bad")) if _id == "3" and source["a"] == 5), None))
    if "note" in document:
        raise Failed(f"the document has the new column: {document}")
    daemon.stop()
    daemon.start()
    w.sql("UPDATE bad SET a = 6 WHERE id = 4")
    daemon.build(f"{w.schema}.bad")
    w.equal(daemon)


def test_where_changes_are_not_followed_changed_rows_stop_the_table(w):
    daemon = good_and_bad(w, schema_changes="stop")
    for ddl in ("ALTER TABLE bad MODIFY a DECIMAL(12,2)", "TRUNCATE TABLE bad"):
        since = version(w, daemon, "bad")
        w.sql(ddl, "UPDATE good SET a = a + 7")
        found = wait_until("the table stops", lambda: w.table(daemon, "bad")["state"] == "stopped" and w.table(daemon, "bad"))
        if found["fix"] != f"millrace index create {w.schema}.bad" or not found["reason"]:
            raise Failed(f"it is {found}")
        w.equal(daemon, [f"{w.schema}.good"])
        daemon.build(f"{w.schema}.bad")
        w.equal(daemon)
        if version(w, daemon, "bad") != since + 1:
            raise Failed("it was built by itself as well")


def test_a_table_whose_columns_are_stored_in_an_unknown_form_stops_and_others_go_on(w):
    daemon = good_and_bad(w, schema_changes="stop")
    daemon.kill()
    with open_store(daemon) as store:
        store.execute("UPDATE version_shape SET shapes = '{}' WHERE index_name LIKE '%bad'")
    daemon.start()
    w.sql("UPDATE bad SET a = 99 WHERE id = 3", "UPDATE good SET a = 7 WHERE id = 1")
    found = wait_until("the table stops", lambda: w.table(daemon, "bad")["state"] == "stopped" and w.table(daemon, "bad"))
    if "unknown form" not in found["reason"] or found["fix"] != f"millrace index create {w.schema}.bad":
        raise Failed(f"it is {found}")
    w.equal(daemon, [f"{w.schema}.good"])
    daemon.build(f"{w.schema}.bad")
    w.equal(daemon)


def test_the_switch_takes_effect_at_once(w):
    definitions = w.definitions({"table": "bad", "schema_changes": "stop"})
    w.sql("CREATE TABLE bad (id INT PRIMARY KEY, a INT)", f"INSERT INTO bad {rows(30)}")
    daemon = w.follow(definitions)
    w.sql("ALTER TABLE bad ADD COLUMN note INT", "UPDATE bad SET note = 6 WHERE id = 3", "UPDATE bad SET a = 99 WHERE id = 4")
    wait_until("the stream has passed it", lambda: any(source["a"] == 99 for _, source, _ in w.engine.documents(w.index("bad"))))
    definitions["tables"][0]["schema_changes"] = "follow"
    daemon.apply(definitions)
    rebuilt(w, daemon, "bad", 1)  # row 3 had a value that nobody followed
    w.equal(daemon)
    w.sql("TRUNCATE TABLE bad")
    rebuilt(w, daemon, "bad", 2)
    w.equal(daemon)

"""A right that the topic's user has lost is not taken for a table, or a column, that is gone."""
from servers import Failed, wait_until
from test_refusals import expect
from test_relations import grant_alone

USER = "millrace@'127.0.0.1'"


def parts(w, *more):
    """An index of all tables that a pattern names."""
    for name in ("part_1", "part_2"):
        w.sql(f"CREATE TABLE {name} (id INT PRIMARY KEY, name VARCHAR(20))",
              f"INSERT INTO {name} VALUES (1, '{name}'), (2, 'two')")
    made = w.definitions({"pattern": "part_[0-9]+", "index": "parts", "source_field": "origin"}, *more)
    made["tables"][0]["pattern"] = rf"{w.schema}\.part_[0-9]+"
    return made


def of_parts(w, daemon):
    return next(t for t in daemon.status()["tables"] if t["index"] == w.index("parts"))


def says_why(w, daemon, find=of_parts, *words):
    """The table goes on, and status names what is missing and the way to give it back."""
    said = wait_until("status says which right is missing", lambda: (
        lambda t: "GRANT SELECT ON" in t["reason"] and "TO 'millrace'@'127.0.0.1'" in t["reason"] and t)(find(w, daemon)))
    if said["state"] != "available" or not all(word in said["reason"] for word in words):
        raise Failed(f"status says {said}")


def says_nothing(w, daemon, find=of_parts):
    wait_until("status has nothing to say", lambda: not find(w, daemon)["reason"], 60)


def look_again(w):
    """Any DDL has all tables looked at."""
    w.sql("CREATE TABLE IF NOT EXISTS other (id INT PRIMARY KEY)", "ALTER TABLE other ADD COLUMN a INT", "DROP TABLE other")


def same_version(w, daemon):
    """What stays is not built anew."""
    if of_parts(w, daemon)["version"] != 1:
        raise Failed(f"it is another version: {of_parts(w, daemon)}")


def ways(w):
    """How a right is given to begin with, and taken away and given back."""
    s = w.schema
    both = [f"ON {s}.part_{n}" for n in (1, 2)]
    yield "tables", [f"GRANT SELECT {on} TO {USER}" for on in both], f"SELECT ON {s}.part_2", USER
    yield "columns", [f"GRANT SELECT (id, name) {on} TO {USER}" for on in both], f"SELECT (name) ON {s}.part_2", USER
    yield "the database", [f"GRANT SELECT ON {s}.* TO {USER}"], f"SELECT ON {s}.*", USER
    role = f"reads_{s}"[:32]
    whose = "FOR" if w.db.is_mariadb else "TO"
    yield "a role", [f"DROP ROLE IF EXISTS {role}", f"CREATE ROLE {role}", f"GRANT SELECT ON {s}.* TO {role}",
                     f"GRANT {role} TO {USER}", f"SET DEFAULT ROLE {role} {whose} {USER}"], f"SELECT ON {s}.*", role
    if not w.db.is_mariadb:
        yield "all but a database", ["SET GLOBAL partial_revokes = ON", f"GRANT SELECT ON *.* TO {USER}"], f"SELECT ON {s}.*", USER


def no_rights(w):
    """But to follow the log."""
    w.sql(f"REVOKE ALL PRIVILEGES, GRANT OPTION FROM {USER}",
          f"GRANT REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO {USER}")


def lose_and_regain(w, daemon, n, right, who):
    w.sql(f"INSERT INTO part_2 VALUES (10 + {n}, 'before')")
    w.equal(daemon)
    look_again(w)
    says_nothing(w, daemon)
    w.sql(f"REVOKE {right} FROM {who}")
    look_again(w)
    w.sql(f"INSERT INTO part_2 VALUES (20 + {n}, 'while running')")
    says_why(w, daemon, of_parts, "part_")
    w.equal(daemon)
    daemon.stop()
    w.sql(f"INSERT INTO part_2 VALUES (30 + {n}, 'while away')")
    daemon.start()
    w.equal(daemon)
    says_why(w, daemon, of_parts, "part_")
    w.sql(f"GRANT {right} TO {who}")
    says_nothing(w, daemon)
    w.sql(f"INSERT INTO part_2 VALUES (40 + {n}, 'given back')")
    w.equal(daemon)
    same_version(w, daemon)


def test_tables_of_a_pattern_stay_however_their_right_is_lost_and_whenever(w):
    daemon = w.follow(parts(w))
    for n, (what, begin, right, who) in enumerate(ways(w)):
        daemon.stop()  # roles are those of a log-in
        no_rights(w)
        w.sql(*begin)
        daemon.start()
        try:
            lose_and_regain(w, daemon, n, right, who)
        except Failed as e:
            raise Failed(f"with a right on {what}: {e}")
    no_rights(w)
    w.sql(f"GRANT SELECT ON {w.schema}.* TO {USER}")


def test_no_build_leaves_out_a_table_that_may_not_be_read(w):
    definitions = parts(w)
    grant_alone(w, USER, "part_1", "part_2")
    daemon = w.follow(definitions)
    w.equal(daemon)
    w.sql(f"REVOKE SELECT ON {w.schema}.part_2 FROM {USER}")
    table = of_parts(w, daemon)["table"]
    expect(daemon.command("index", "create", table, ok=None), 1, "part_2", "may not read", "GRANT SELECT")
    w.equal(daemon)
    same_version(w, daemon)
    w.sql(f"GRANT SELECT ON {w.schema}.part_2 TO {USER}")
    daemon.build(table)
    w.equal(daemon)


def test_a_table_that_may_not_be_read_and_is_dropped_goes_by_the_log(w):
    definitions = parts(w)
    grant_alone(w, USER, "part_1", "part_2")
    daemon = w.follow(definitions)
    w.equal(daemon)
    w.sql(f"REVOKE SELECT ON {w.schema}.part_2 FROM {USER}")
    look_again(w)
    says_why(w, daemon, of_parts, "part_2")
    w.sql("DROP TABLE part_2")
    w.equal(daemon, seconds=60)
    says_nothing(w, daemon)


def test_a_table_that_is_altered_while_it_may_not_be_read_stops_until_it_may(w):
    definitions = parts(w)
    grant_alone(w, USER, "part_1", "part_2")
    daemon = w.follow(definitions)
    w.equal(daemon)
    w.sql(f"REVOKE SELECT ON {w.schema}.part_2 FROM {USER}", "ALTER TABLE part_2 ADD COLUMN more INT DEFAULT 7")
    stopped = wait_until("the table is stopped", lambda: (lambda t: t["state"] == "stopped" and t)(of_parts(w, daemon)))
    if "may not read" not in stopped["reason"] or "part_2" not in stopped["reason"]:
        raise Failed(f"the reason is {stopped['reason']!r}")
    if w.engine.count(w.index("parts")) != 4:
        raise Failed("documents went with the right")
    w.sql(f"GRANT SELECT ON {w.schema}.part_2 TO {USER}")
    daemon.build(stopped["table"])
    w.equal(daemon)


def test_related_tables_whose_right_is_lost_are_as_they_were(w):
    w.sql("CREATE TABLE a (id INT PRIMARY KEY, part INT, KEY (part))", "CREATE TABLE b (id INT PRIMARY KEY, n INT)",
          "CREATE TABLE a_part (id INT PRIMARY KEY, name VARCHAR(20))", "INSERT INTO a VALUES (1, 7), (2, 7)",
          "INSERT INTO b VALUES (1, 1)", "INSERT INTO a_part VALUES (7, 'old')")
    grant_alone(w, USER, "a", "a_part", "b")
    daemon = w.follow(w.definitions({"table": "b"}, {"table": "a", "relations": [
        {"from": "part", "table": "a_part", "to": "id", "as": "shown", "columns": ["name"]}]}))
    w.equal(daemon)
    daemon.stop()
    w.sql(f"REVOKE SELECT ON {w.schema}.a_part FROM {USER}", "UPDATE a_part SET name = 'new'", "UPDATE b SET n = 2")
    daemon.start()
    w.equal(daemon, tables=[f"{w.schema}.b"])
    says_why(w, daemon, lambda w, daemon: w.table(daemon, "a"), "a_part")
    w.sql(f"GRANT SELECT ON {w.schema}.a_part TO {USER}")
    w.equal(daemon)
    says_nothing(w, daemon, lambda w, daemon: w.table(daemon, "a"))


def test_a_table_that_may_not_be_read_is_told_from_one_that_is_not_there(w):
    w.sql("CREATE TABLE a (id INT PRIMARY KEY)", "CREATE TABLE b (id INT PRIMARY KEY)",
          f"GRANT SELECT ON {w.schema}.a TO {USER}", f"REVOKE SELECT ON {w.schema}.* FROM {USER}")
    daemon = w.millrace()
    expect(daemon.apply(w.definitions({"table": "a"}, {"table": "b"}), ok=None), 1, "may not read", "GRANT SELECT ON")
    w.sql(f"GRANT SELECT ON {w.schema}.* TO {USER}")
    expect(daemon.apply(w.definitions({"table": "a"}, {"table": "c"}), ok=None), 1, "there is no table")

"""Many tables alike in one index: a pattern of their names."""
from servers import Failed
from workload import text


def definition(w, **more):
    made = w.definitions({"pattern": r"part_[0-9]+", "index": "parts", "source_field": "origin"} | more)
    made["databases"].append({"name": w.schema + "_b", "topic": w.schema})
    made["tables"][0]["pattern"] = rf"{w.schema}(_b)?\.part_[0-9]+"
    return made


def make(w, *names):
    other = w.schema + "_b"
    w.sql(f"DROP DATABASE IF EXISTS {other}", f"CREATE DATABASE {other} CHARACTER SET utf8mb4",
          f"GRANT SELECT ON {other}.* TO millrace@'127.0.0.1'")
    for name in names:
        w.sql(f"CREATE TABLE {name} (id INT PRIMARY KEY, name VARCHAR(40)) CHARSET utf8mb4",
              f"INSERT INTO {name} VALUES (1, '{name[-20:]}'), (2, 'two')")


def sources(w):
    return {source["origin"].split(".")[1] for _, source, _ in w.engine.documents(w.index("parts"))}


def test_tables_of_a_pattern_are_one_index_and_new_ones_come_in_by_themselves(w):
    make(w, "part_1", "part_2", f"{w.schema}_b.part_1", "partly_3")
    daemon = w.follow(definition(w))
    w.equal(daemon)
    w.sql("INSERT INTO part_1 VALUES (3, 'three')", "UPDATE part_2 SET id = 7 WHERE id = 1",
          f"DELETE FROM {w.schema}_b.part_1 WHERE id = 1",
          "CREATE TABLE part_10 LIKE part_1", "INSERT INTO part_10 VALUES (1, 'new'), (2, 'two')",
          "CREATE TABLE other (id INT PRIMARY KEY)", "INSERT INTO other VALUES (1)",
          f"CREATE TABLE {w.schema}_b.part_5 (id INT PRIMARY KEY) AS SELECT 9 AS id, 'as' AS name")
    w.equal(daemon)
    if sources(w) != {"part_1", "part_2", "part_10", "part_5"}:
        raise Failed(f"documents are of {sources(w)}")
    told = daemon.command("doctor", ok=None).stdout
    if "part_10" not in told:
        raise Failed(f"doctor does not look at the tables of the pattern: {told}")
    daemon.kill()
    w.sql("CREATE TABLE part_11 LIKE part_1", "INSERT INTO part_11 VALUES (4, 'while away')", "DELETE FROM part_1 WHERE id = 3",
          "DROP TABLE part_2", "RENAME TABLE partly_3 TO part_3")
    daemon.start()
    w.equal(daemon, seconds=60)
    w.sql("CREATE TABLE part_12 (id INT PRIMARY KEY, name VARCHAR(40), extra INT)", "INSERT INTO part_12 VALUES (1, 'a', 2)",
          "ALTER TABLE part_1 ADD extra INT", "UPDATE part_1 SET name = 'wider'")
    w.equal(daemon, seconds=60, absent=("extra",))
    if daemon.metric("millrace_dead_letters"):
        raise Failed("documents of a table with a column of its own are refused")


def test_a_table_that_gets_a_name_of_the_pattern_or_loses_it_is_followed_by_a_build(w):
    make(w, "part_1", "part_2", "later")
    daemon = w.follow(definition(w))
    for statement in ("RENAME TABLE later TO part_3", "DROP TABLE part_2", "RENAME TABLE part_1 TO gone", "TRUNCATE part_3"):
        w.sql(statement)
        w.equal(daemon, seconds=60)
    daemon.command("index", "create", w.index("parts"), "--wait")
    w.equal(daemon)


def test_random_work_on_tables_of_a_pattern_is_right_over_builds_and_kills(w):
    names = [f"part_{i}" for i in range(5)] + [f"{w.schema}_b.part_{i}" for i in range(3)]
    make(w, *names)
    daemon, connection, rng = w.follow(definition(w)), w.db.connect(w.schema), w.rng
    with connection.cursor() as cursor:
        for round_ in range(3):
            for i in range(200):
                name, key = rng.choice(names), rng.randrange(20)
                cursor.execute(rng.choice([
                    f"REPLACE INTO {name} VALUES ({key}, {text('ü' * rng.randrange(9))})",
                    f"UPDATE {name} SET name = 'x' WHERE id < {key}",
                    f"UPDATE IGNORE {name} SET id = {rng.randrange(20)} WHERE id = {key}",
                    f"DELETE FROM {name} WHERE id = {key}"]))
                if i == 100:
                    names.append(f"part_{20 + round_}")
                    cursor.execute(f"CREATE TABLE {names[-1]} LIKE part_0")
            daemon.command("index", "create", w.index("parts"), "--no-wait", ok=None)
            if round_ == 1:
                daemon.kill()
                daemon.start()
    w.equal(daemon, seconds=60)

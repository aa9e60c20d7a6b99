"""What a document depends on without showing it changes by ALTER: the index is built again, and is right."""
from servers import Failed, wait_until


def is_built_again(w, daemon, alter, *tables):
    """After the ALTER documents are as their rows are, with no other change."""
    versions = {name: w.table(daemon, name)["version"] for name in tables}
    w.sql("SET sql_mode = ''", alter)
    w.equal(daemon, seconds=60)
    for name, version in versions.items():
        wait_until(f"{name} is built again", lambda n=name, v=version: w.table(daemon, n)["version"] > v, 60)


def test_what_a_generated_column_is_made_of_builds_what_shows_it_again(w):
    w.sql("CREATE TABLE thing (id INT PRIMARY KEY, a DECIMAL(10,2), g DECIMAL(20,4) AS (a * 2) STORED,"
          " h DECIMAL(20,4) AS (g + 1) VIRTUAL)", "INSERT INTO thing (id, a) VALUES (1, 2.5), (2, 2.4), (3, 100)")
    daemon = w.follow(w.definitions({"table": "thing", "columns": ["id", "h"]}))
    is_built_again(w, daemon, "ALTER TABLE thing MODIFY a DECIMAL(10,0)", "thing")


def test_what_a_filter_is_made_of_builds_the_table_again(w):
    w.sql("CREATE TABLE direct (id INT PRIMARY KEY, a DECIMAL(10,2))", "INSERT INTO direct VALUES (1, 4.4), (2, 5)",
          "CREATE TABLE made (id INT PRIMARY KEY, a DECIMAL(10,2), g DECIMAL(20,4) AS (a * 2) STORED)",
          "INSERT INTO made (id, a) VALUES (1, 2.4), (2, 3)")
    daemon = w.follow(w.definitions({"table": "direct", "columns": ["id"], "filter": "a > 4"},
                                    {"table": "made", "columns": ["id"], "filter": "g > 4"}))
    is_built_again(w, daemon, "ALTER TABLE direct MODIFY a DECIMAL(10,0)", "direct")
    is_built_again(w, daemon, "ALTER TABLE made MODIFY a DECIMAL(10,0)", "made")


def parents(w, key, first, second, **relation):
    w.sql("CREATE TABLE parent (id INT PRIMARY KEY)",
          f"CREATE TABLE child (code {key} PRIMARY KEY, parent INT, name VARCHAR(9), KEY (parent))",
          "INSERT INTO parent VALUES (1)", f"INSERT INTO child VALUES ('{first}', 1, 'first'), ('{second}', 1, 'second')")
    return w.follow(w.definitions({"table": "parent", "relations": [
        {"from": "id", "table": "child", "to": "parent", "as": "children", "columns": ["name"]} | relation]}))


def test_another_type_of_a_key_that_is_not_shown_puts_related_rows_in_their_order(w):
    daemon = parents(w, "VARCHAR(9)", 10, 9, many=True, limit=1)
    is_built_again(w, daemon, "ALTER TABLE child MODIFY code INT", "parent")


def test_another_collation_of_a_key_that_is_not_shown_shows_its_first_row(w):
    daemon = parents(w, "VARCHAR(9) COLLATE utf8mb4_general_ci", "B", "a")
    is_built_again(w, daemon, "ALTER TABLE child MODIFY code VARCHAR(9) COLLATE utf8mb4_bin", "parent")


def test_what_orders_related_rows_by_an_expression_builds_the_table_again(w):
    w.sql("CREATE TABLE parent (id INT PRIMARY KEY)",
          "CREATE TABLE child (id INT PRIMARY KEY, parent INT, weight VARCHAR(9), rank_of INT AS (LENGTH(weight)) VIRTUAL, KEY (parent))",
          "INSERT INTO parent VALUES (1)", "INSERT INTO child (id, parent, weight) VALUES (1, 1, '5.00'), (2, 1, '7')")
    daemon = w.follow(w.definitions({"table": "parent", "relations": [
        {"from": "id", "table": "child", "to": "parent", "as": "children", "columns": ["id"], "many": True, "order_by": "rank_of"}]}))
    is_built_again(w, daemon, "ALTER TABLE child MODIFY weight INT", "parent")


def test_what_nothing_depends_on_builds_nothing_again(w):
    w.sql("CREATE TABLE thing (id INT PRIMARY KEY, a DECIMAL(10,2), b INT, g INT AS (b + 1) STORED)",
          "INSERT INTO thing (id, a, b) VALUES (1, 2.5, 1)")
    daemon = w.follow(w.definitions({"table": "thing", "columns": ["id", "g"]}))
    version = w.table(daemon, "thing")["version"]
    w.sql("ALTER TABLE thing MODIFY a DECIMAL(10,0)", "UPDATE thing SET b = 7")
    w.equal(daemon)
    w.sql("ALTER TABLE thing MODIFY b BIGINT", "UPDATE thing SET b = 8")
    w.equal(daemon)
    events = [entry["event"] for entry in daemon.json("log", "list", f"{w.schema}.thing")["items"]]
    if w.table(daemon, "thing")["version"] != version or "outdated" in events:
        raise Failed(f"built again for nothing: {events}")

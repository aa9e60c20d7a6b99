"""Definitions that cannot be right: refused by `apply` with file, line, caret, what is wrong, and nothing stored."""
import re

from servers import Failed
from world import PASSWORD

TABLES = ("CREATE TABLE orders (id INT PRIMARY KEY, customer_id INT, parent_id INT, total DECIMAL(10,2), place POINT, "
          "made DATETIME, doc JSON, KEY (customer_id), KEY (parent_id))",
          "CREATE TABLE customer (id INT PRIMARY KEY, name VARCHAR(20), born DATE)",
          "CREATE TABLE kinds (id INT PRIMARY KEY, official ENUM('T','F'))",
          "CREATE TABLE bare (a INT, b INT)", "CREATE VIEW seen AS SELECT id, total FROM orders")

# What stands under `tables`, with § where the caret points, and what is said.  D is the test's database.
CASES = (
    # -- what is not there
    ("- table: §D.ordrs", "did you mean `orders`"),
    ("- table: §D2.orders", "there is no database"),
    ("- {table: D.orders, columns: [id, §totl]}", "did you mean `total`"),
    ("- {table: D.orders, key: [§ident]}", "no column `ident`"),
    ("- {table: D.orders, daily_check_column: §changed}", "no column `changed`"),
    ("- {table: D.orders, soft_delete: {column: §gone, deleted: 1}}", "no column `gone`"),
    ("- {table: D.orders, filter: §totl > 1}", "refuses this condition"),
    ("- {table: D.orders, columns: [id], relations: [{from: §customer, table: D.customer, to: id}]}", "no column `customer`"),
    ("- {table: D.orders, columns: [id], relations: [{from: customer_id, table: D.customer, to: §ident}]}", "no column `ident`"),
    ("- {table: D.orders, columns: [id], relations: [{from: customer_id, table: §D.custmer, to: id}]}", "did you mean `customer`"),
    ("- {table: D.orders, columns: [id], relations: [{from: customer_id, table: D.customer, to: id, columns: [§nam]}]}",
     "did you mean `name`"),
    ("- {table: D.orders, columns: [id], relations: [{from: customer_id, table: D.customer, to: id, where: §gone = 0}]}",
     "refuses this condition"),
    ("- {table: D.orders, columns: [id], relations: [{from: customer_id, table: §secret_D.customer, to: id}]}",
     "may not read"),
    # -- names
    ("- {table: D.orders, columns: [id, {name: total, as: §id}]}", "two fields of one document are called `id`"),
    ("- {table: D.orders, columns: [id, {name: total, as: customer}], relations: [§{from: customer_id, table: D.customer, to: id}]}",
     "two fields of one document are called `customer`"),
    ("- {table: §D.orders, relations: [{from: customer_id, table: D.customer, to: id, as: total}]}", "name of a relation"),
    ("- {table: D.orders, columns: [{name: id, as: §_id}]}", "the engines reserve"),
    ("- {table: D.orders}\n- {table: §D.orders}", "defined twice"),
    # -- indexes
    ("- {table: D.orders, index: §orders_v2}", "mark the versions"),
    ("- {table: D.orders, index: §Orders}", "lower case"),
    ("- {table: D.orders, index: §D-taken}", "is the name of an index that Millrace did not make"),
    ("- {table: D.customer, index: x}\n- {table: D.orders, index: §x}", "belongs to table"),
    ("- {table: D.orders, index: x, join: {name: o, parent: §D.custmer, parent_column: id}}", "is not defined"),
    ("- {table: D.customer, index: x, join: {name: c}}\n- {table: D.orders, index: x, join: {name: o, parent: §D.customer}}",
     "needs `parent_column`"),
    ("- {pattern: §'D.[', index: x}", "not a regular expression"),
    # -- keys
    ("- table: §D.bare", "no primary key"),
    ("- {table: D.orders, key: [§customer_id]}", "may be NULL"),
    ("- {table: D.orders, unique_keys: [[§customer_id]]}", "no unique index on exactly these columns"),
    ("- table: §D.seen", "is a view"),
    # -- relations
    ("- {table: D.orders, columns: [id], relations: [§{from: parent_id, table: D.orders, to: id, as: parent}]}",
     "leads to itself without a limit"),
    ("- {table: D.orders, columns: [id], relations: [§{from: parent_id, table: D.orders, to: id, as: parent, max_depth: 11}]}",
     "10 at most"),
    ("- {table: D.orders, columns: [id], relations: [{from: made, table: D.customer, to: §id}]}", "cannot be joined"),
    ("- {table: D.orders, columns: [id], relations: [{from: doc, table: D.customer, to: §name}]}", "cannot be joined"),
    ("- {table: D.orders, columns: [id], relations: [{from: [id, customer_id], table: D.customer, to: [§id]}]}",
     "`to` has 1 column"),
    ("- {table: D.orders, columns: [id], relations: [§{from: customer_id, table: D.customer, to: id, limit: 3}]}",
     "need an array"),
    # -- fields
    ("- {table: D.orders, columns: [{name: total, default: §none}]}", "cannot take the default"),
    ("- {table: D.orders, columns: [{name: made, default: §soon}]}", "cannot take the default"),
    ("- {table: D.orders, columns: [{name: id, type: byte, default: §300}]}", "cannot take the default"),
    ("- {table: D.orders, columns: [{name: kind, type: integer, value: §some}]}", "cannot take the value"),
    ("- {table: D.orders, columns: [{name: total, type: §nummer}]}", "no field type `nummer`"),
    ("- {table: D.orders, columns: [{name: place, type: §long}]}", "cannot take what column"),
    ("- {table: D.orders, columns: [§{name: total, analyzer: standard}]}", "needs a text field"),
    ("- {table: D.orders, columns: [§{name: total, format: epoch_millis}]}", "needs a date field"),
    ("- {table: D.orders, columns: [{name: id, transform: §[{kind: spilt}]}]}", "did you mean `split`"),
    ("- {table: D.orders, columns: [{name: id, transform: §[{kind: split}]}]}", "needs `by`"),
    ("- {table: D.orders, columns: [{name: id, vaule: 1}]}", "did you mean `value`"),
    ("- {table: D.orders, columns: [{name: made, transform: §[{kind: date, format: dd.MM.yyyy}]}]}", "not a format of strptime"),
    ("- {table: D.orders, settings: §{gc_deletes: 1s}}", "cannot be set"),
    ("- {table: D.kinds, columns: [id, {name: official, type: §boolean}]}", "add `transform: [{kind: boolean}]`"),
    # -- what depends on more than the row
    ("- {table: D.orders, filter: §made > NOW() - INTERVAL 7 HOUR}", "`NOW` in `filter` is not known to give the same value"),
    ("- {table: D.orders, filter: §made > LOCALTIME}", "changes while its row stays"),
    ("- {table: D.orders, filter: §D.counted(id) = 1}", "is a stored function"),
    ("- {table: D.orders, filter: §'id IN (SELECT id FROM D.customer)'}", "reads other rows"),
    ("- {table: D.orders, columns: [id], relations: [{from: customer_id, table: D.customer, to: id, where: §SLEEP(1) = 0}]}",
     "`SLEEP` in `where` is not known to give the same value"),
    ("- {table: D.orders, soft_delete: {column: total, deleted: §gone}}", "is never"),
    ("- {table: D.orders, mapping: §[x]}", "must be a map"),
)


def test_each_bad_definition_is_refused_at_its_place_and_nothing_is_stored(w):
    w.sql(*TABLES)
    w.engine.ask("PUT", f"/{w.schema}-taken")
    secret = f"secret_{w.schema}"
    w.db.sql(f"DROP DATABASE IF EXISTS {secret}", f"CREATE DATABASE {secret}", f"CREATE TABLE {secret}.customer (id INT PRIMARY KEY)")
    daemon = w.millrace()
    head = (f"topics: [{{name: t, address: '127.0.0.1:{w.db.port}', user: millrace, password: '{PASSWORD}'}}]\n"
            f"databases: [{{name: {w.schema}, topic: t}}, {{name: {secret}, topic: t}}]\ntables:\n")
    wrong = []
    try:
        for tables, words in CASES:
            text = head + "".join(f"  {line}\n" for line in tables.replace("D", w.schema).splitlines())
            at = text.find("§")
            place = f"{text.count(chr(10), 0, at) + 1}:{at - text.rfind(chr(10), 0, at)}" if at >= 0 else r"\d+:\d+"
            file = daemon.write("bad.yaml", text.replace("§", ""))
            done = daemon.command("apply", file, ok=None)
            said = done.stdout + done.stderr
            if done.returncode != 1 or not re.search(rf"bad\.yaml:{place}: error: .*{re.escape(words)}", said) \
                    or not re.search(r"^ *\^$", said, re.M) or "nothing was stored" not in said:
                wrong.append(f"{tables}\n  wanted {words!r} at {place}; exit {done.returncode}: {said}")
        if re.search(r"^\s*- ", daemon.command("export").stdout, re.M):
            wrong.append("something was stored")
    finally:
        w.db.sql(f"DROP DATABASE {secret}")
    if wrong:
        raise Failed("\n".join(wrong))


def test_a_relation_to_a_table_of_a_server_that_lets_nobody_in_is_refused_where_it_is_named(w):
    w.sql(*TABLES)
    daemon = w.millrace()
    d = w.definitions({"table": "orders", "columns": ["id"], "relations": [
        {"from": "customer_id", "table": "customer", "to": "id", "columns": ["name"]}]})
    d["topics"].append(d["topics"][0] | {"name": "far", "user": "nobody", "password_file": None, "password": "wrong"})
    d["topics"][1].pop("password_file")
    d["databases"].append({"name": "far", "topic": "far", "schema": w.schema})
    d["tables"][0]["relations"][0]["table"] = "far.customer"
    done = daemon.apply(d, ok=None)
    said = done.stdout + done.stderr
    if done.returncode != 1 or not re.search(r"definitions\.yaml:\d+:\d+: error: .*(access denied|Access denied).*nobody", said, re.S):
        raise Failed(f"exit {done.returncode}: {said}")
    if re.search(r"^\s*- ", daemon.command("export").stdout, re.M):
        raise Failed("something was stored")

"""`table columns generate`: a definition with every column, which means what no columns mean; and unique keys."""
import yaml

from servers import Failed, wait_until
from test_types import columns_for


def generated(w, daemon, table):
    return daemon.command("table", "columns", "generate", f"{w.schema}.{table}").stdout


def body(w, daemon, table):
    return daemon.json("mapping", f"{w.schema}.{table}")["body"]


def test_a_generated_definition_has_the_mapping_that_no_columns_have_whatever_the_types(w):
    # Not GEOMETRY: the test engine has no geo_shape, and apply asks it (test_mapping.c has that type).
    columns = columns_for(w) | {"place": ("POINT", []), "huge": ("VARCHAR(9000)", [])}
    w.sql("SET sql_mode = ''", "CREATE TABLE every (id INT PRIMARY KEY, "
          + ", ".join(f"`{name}` {sql}" for name, (sql, _) in columns.items()) + ") CHARSET utf8mb4")
    daemon = w.millrace()
    d = w.definitions({"table": "every"})
    daemon.apply(d)
    before = body(w, daemon, "every")
    text = generated(w, daemon, "every")
    table = yaml.safe_load(text)["tables"][0]
    if [c["name"] for c in table["columns"]] != ["id", *columns]:
        raise Failed(f"not every column is there: {text}")
    for name, words in (("id", "int(11), primary key" if w.db.is_mariadb else "int, primary key"), ("moment6", "milliseconds"),
                        ("dec_wide", "sorts as text"), ("blob", "cannot be searched"), ("huge", "longer values")):
        line = next(line for line in text.splitlines() if f"name: {name}," in line)
        if words not in line:
            raise Failed(f"no {words!r} in {line!r}")
    table |= {key: d["tables"][0][key] for key in ("index", "settings")}
    daemon.apply(d | {"tables": [table]})
    if body(w, daemon, "every") != before:
        raise Failed(f"the mapping was {before}, with the generated columns it is {body(w, daemon, 'every')}")


def test_a_table_that_is_not_defined_is_generated_with_its_keys_and_relations(w):
    w.sql("CREATE TABLE parent (a INT, b INT, PRIMARY KEY (a, b))",
          "CREATE TABLE loose (`a.b` INT NOT NULL, `_id` INT, `true` INT, `ü \"x\"` INT, c INT NOT NULL, pa INT, pb INT, "
          "UNIQUE u (`a.b`, c), FOREIGN KEY (pa, pb) REFERENCES parent (a, b))",
          "INSERT INTO loose VALUES (1, 2, 3, 4, 5, NULL, NULL)")
    daemon = w.millrace()
    d = w.definitions({"table": "parent"})
    daemon.apply(d)
    text = generated(w, daemon, "loose")
    if f'#   - {{from: [pa, pb], table: "{w.schema}.parent", to: [a, b]}}' not in text:
        raise Failed(f"no relation in {text}")
    table = yaml.safe_load(text)["tables"][0] | {"index": w.index("loose")}
    if table["key"] != ["a.b", "c"]:
        raise Failed(f"the key is {table['key']}")
    file = daemon.write("generated.yaml", text.replace("    columns:", f"    index: {w.index('loose')}\n    columns:"))
    daemon.command("apply", file)
    daemon.build(f"{w.schema}.loose")
    (_, document, _), = w.engine.documents(w.index("loose"))
    if {**document, "pa": 0, "pb": 0} != {"a_b": 1, "id": 2, "true": 3, 'ü "x"': 4, "c": 5, "pa": 0, "pb": 0}:
        raise Failed(f"the document is {document}")
    for wrong in ("nothing.loose", "loose", f"{w.schema}.nothing"):
        done = daemon.command("table", "columns", "generate", wrong, ok=(1,))
        if "there is no table" not in done.stderr and "is not DATABASE.TABLE with a defined database" not in done.stderr:
            raise Failed(f"{wrong}: {done.stderr}")


def test_documents_of_a_table_without_a_primary_key_are_named_by_its_first_unique_key_without_nulls(w):
    w.sql("CREATE TABLE bare (maybe INT, code VARCHAR(10) NOT NULL, part INT NOT NULL, name VARCHAR(20), UNIQUE (maybe), "
          "UNIQUE (code, part)) CHARSET utf8mb4", "INSERT INTO bare VALUES (1, 'a', 1, 'x'), (NULL, 'a', 2, 'y')")
    daemon = w.follow(w.definitions({"table": "bare", "unique_keys": [["maybe"], ["code", "part"]]}))
    w.sql("UPDATE bare SET part = 3, name = 'z' WHERE part = 2", "INSERT INTO bare VALUES (NULL, 'b,c', 1, 'n')",
          "DELETE FROM bare WHERE part = 1 AND code = 'a'")
    wait_until("the changes are there", lambda: {key for key, _, _ in w.engine.documents(w.index("bare"))} == {"a,3", "b%2Cc,1"})
    row = daemon.json("explain", f"{w.schema}.bare", "a,3")
    if row["document"]["name"] != "z":
        raise Failed(f"{row}")

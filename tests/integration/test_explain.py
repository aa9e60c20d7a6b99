"""What `explain` says of one row: statements, document, bulk lines, and where the document comes from."""
from servers import Failed


def definition(w):
    return w.definitions({
        "table": "orders", "filter": "state <> 'draft'", "soft_delete": {"column": "gone", "deleted": 1},
        "columns": ["id", "state"],
        "relations": [
            {"from": "id", "table": "item", "to": "order_id", "as": "items", "many": True, "columns": ["qty"],
             "relations": [{"from": "product", "table": "product", "to": "code", "as": "product", "columns": ["name"]}]},
            {"from": "id", "through": {"table": "order_tag", "from": "order_id", "to": "tag_id"}, "table": "tag",
             "to": "id", "as": "tags", "many": True, "values": "name", "where": "hidden = 0"},
            {"from": "customer", "table": "customer", "to": "id", "as": "customer", "columns": ["name"],
             "refresh": "none"}]})


def make(w):
    w.sql("CREATE TABLE orders (id INT PRIMARY KEY, state VARCHAR(10), gone TINYINT, customer INT, KEY (customer))",
          "CREATE TABLE item (id INT PRIMARY KEY, order_id INT, product VARCHAR(20), qty INT, KEY (order_id), KEY (product))",
          "CREATE TABLE product (code VARCHAR(20) PRIMARY KEY, name VARCHAR(20), price INT)",
          "CREATE TABLE order_tag (order_id INT, tag_id INT, PRIMARY KEY (order_id, tag_id), KEY (tag_id))",
          "CREATE TABLE tag (id INT PRIMARY KEY, name VARCHAR(20), hidden TINYINT)",
          "CREATE TABLE customer (id INT PRIMARY KEY, name VARCHAR(20))",
          "INSERT INTO orders VALUES (1, 'new', 0, 5), (2, 'draft', 0, 5), (3, 'new', 1, 5), (4, 'new', 0, NULL)",
          "INSERT INTO item VALUES (10, 1, 'a', 2), (11, 1, 'b', 3), (12, 2, 'a', 9), (13, 1, 'a', 1)",
          "INSERT INTO product VALUES ('a', 'pen', 1), ('b', 'ink', 2)",
          "INSERT INTO order_tag VALUES (1, 7), (1, 8), (4, 7)", "INSERT INTO tag VALUES (7, 'hot', 0), (8, 'old', 1)",
          "INSERT INTO customer VALUES (5, 'Ann')")


def explained(w, daemon, key):
    return daemon.json("explain", f"{w.schema}.orders", str(key))


def test_explain_names_every_row_that_a_document_is_made_of_and_what_of_it_matters(w):
    make(w)
    daemon = w.follow(definition(w))
    said = explained(w, daemon, 1)
    have = {(o["path"], o["table"].split(".")[1]): o for o in said["origins"]}
    expected = {  # place: rows, key, way, any column
        ("", "orders"): (["1"], ["id"], "row", True),
        ("items", "item"): (["10", "11", "13"], ["id"], "key", False),
        ("items.product", "product"): (["a", "b"], ["code"], "sql", False),
        ("tags", "order_tag"): (["1,7", "1,8"], ["order_id", "tag_id"], "key", False),
        ("tags", "tag"): (["7"], ["id"], "sql", True),
        ("customer", "customer"): (["5"], ["id"], "none", False)}
    if set(have) != set(expected):
        raise Failed(f"places are {sorted(have)}")
    for place, (rows, key, way, any_column) in expected.items():
        o = have[place]
        if (sorted(o["rows"]), o["key"], o["way"], o["any_column"]) != (rows, key, way, any_column):
            raise Failed(f"{place}: {o}")
        if (o["sql"] is None) != (way != "sql"):
            raise Failed(f"{place} has the statement {o['sql']}")
        if o["sql"] and [str(row[1]) for row in w.sql(o["sql"])] != ["1"] + ["2"] * (place == ("items.product", "product")) \
                + ["4"] * (place == ("tags", "tag")):
            raise Failed(f"{place}: {o['sql']} finds {w.sql(o['sql'])}")
    if set(have["items.product", "product"]["columns"]) != {"code", "name"}:
        raise Failed(f"of a product matter {have['items.product', 'product']['columns']}")
    if said["document"]["tags"] != ["hot"] or said["found"] is not True or said["version"] != 1:
        raise Failed(f"{said}")
    plain = daemon.command("explain", f"{w.schema}.orders", "1").stdout
    for word in ("10, 11, 13", "rows: ", "ms: ", "which links tags", "`refresh: none`"):
        if word not in plain:
            raise Failed(f"no {word!r} in:\n{plain}")


def test_explain_counts_the_rows_of_each_statement(w):
    make(w)
    daemon = w.follow(definition(w))
    rows = {}
    for s in explained(w, daemon, 1)["sql"]:
        table = next(t for t in ("product", "order_tag", "customer", "item", "orders") if f"`{w.schema}`.`{t}`" in s["statement"])
        rows[table] = s["rows"]
        if not 0 <= s["ms"] < 60000:
            raise Failed(f"took {s['ms']} ms: {s['statement']}")
    if rows != {"orders": 1, "item": 3, "product": 2, "order_tag": 1, "customer": 1}:
        raise Failed(f"statements gave {rows}")


def test_explain_says_why_a_row_has_no_document_and_that_it_is_deleted(w):
    make(w)
    daemon = w.follow(definition(w))
    for key, row, words in ((1, "shown", "Document"), (2, "filtered", "`filter` leaves it out"),
                            (3, "soft_deleted", "marked as deleted"), (9, "absent", "no such row")):
        said = explained(w, daemon, key)
        if said["row"] != row or said["found"] != (row == "shown") or len(said["bulk"]) != (2 if row == "shown" else 1):
            raise Failed(f"of row {key}: {said}")
        if (row == "shown") == ('"delete"' in said["bulk"][0]):
            raise Failed(f"of row {key} is sent {said['bulk']}")
        if words not in daemon.command("explain", f"{w.schema}.orders", str(key)).stdout:
            raise Failed(f"of row {key} people are not told {words!r}")
    documents = {key for key, _, _ in w.engine.documents(w.index("orders"))}
    if documents != {"1", "4"}:
        raise Failed(f"the index has {documents}")

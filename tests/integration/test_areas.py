"""Areas: relations of which only their part of a document is read and written when rows of them change."""

import oracle
from servers import Engine, Failed, wait_until
from test_cost import settle
from test_kill import Writer, start_build
from test_relations import SCHEMA, Catalogue, tables, work_builds_and_kills
from workload import Workload


def in_areas(definitions):
    """With every relation an area."""
    def walk(thing):
        for relation in thing.get("relations", []):
            relation["refresh"] = "area"
            walk(relation)
    for table in definitions["tables"]:
        walk(table)
    return definitions


def written(daemon, result="ok", **labels):
    """Updates of areas by their result, since the daemon's start."""
    return int(daemon.metric("millrace_documents_total", op="update", result=result, **labels))


def stored(w, name, key):
    """(version, _millrace) of a document as the engine has it."""
    answer = w.engine.ask("GET", f"/{w.index(name)}/_doc/{key}")
    return int(answer["_version"]), answer["_source"].get("_millrace")


def simple(w, columns="name VARCHAR(40)"):
    """A product with offers and a maker, each an area; `columns` are more of its own."""
    w.sql(f"CREATE TABLE product (id INT PRIMARY KEY, maker INT, {columns})",
          "CREATE TABLE maker (id INT PRIMARY KEY, name VARCHAR(40))",
          "CREATE TABLE offer (id INT PRIMARY KEY, product_id INT, price DECIMAL(8, 2), KEY (product_id))",
          "INSERT INTO maker VALUES (1, 'oak'), (2, 'elm')",
          "INSERT INTO offer VALUES (1, 1, 1.50), (2, 1, 2.10), (3, 2, 3)")
    return w.definitions({"table": "product", "relations": [
        {"from": "maker", "table": "maker", "to": "id", "as": "maker_", "columns": ["name"], "refresh": "area"},
        {"from": "id", "table": "offer", "to": "product_id", "as": "offers", "many": True, "columns": ["id", "price"],
         "refresh": "area"}]})


def touch(w, daemon):
    """Every document is written once more: no earlier daemon can have a newer one under way."""
    w.sql("UPDATE product SET name = CONCAT(name, '!')")
    w.equal(daemon)


def follow_simple(w):
    definitions = simple(w)
    w.sql("INSERT INTO product VALUES (1, 1, 'tea'), (2, 2, 'cup')")
    daemon = w.follow(definitions)
    touch(w, daemon)
    return daemon


def follow_price(w, daemon, price):
    """Change an offer, and wait until the document shows it."""
    w.sql(f"UPDATE offer SET price = {price} WHERE id = 1")
    wait_until(lambda: f"the offer costs {price}; the document is {w.engine.get(w.index('product'), 1)}",
               lambda: w.engine.get(w.index("product"), 1)["offers"][0]["price"] == price, 20, 0.01)
    daemon.check_alive()


def test_a_change_of_an_area_is_an_update_of_that_part_alone(w):
    daemon = follow_simple(w)
    before, ours = stored(w, "product", 1)
    if ours != {"version": before}:
        raise Failed(f"the document says of itself {ours} at version {before}")
    for statement in ("UPDATE offer SET price = 9 WHERE id = 1", "DELETE FROM offer WHERE id = 2",
                      "INSERT INTO offer VALUES (7, 1, 7)", "UPDATE offer SET product_id = 2 WHERE id = 7",
                      "UPDATE offer SET id = 8 WHERE id = 7", "UPDATE maker SET name = 'ash' WHERE id = 1"):
        w.sql(statement)
        w.equal(daemon)
    version, ours = stored(w, "product", 1)
    if version != before + 5 or ours["version"] != before or set(ours["areas"]) != {"offers", "maker_"}:
        raise Failed(f"after five changes of its areas the document of version {before} says {ours} at {version}")
    checks = {c["id"]: c["status"] for c in daemon.json("doctor", ok=None)["items"]}
    if checks.get("search.scripts") != "ok":
        raise Failed(f"doctor says of scripts: {checks.get('search.scripts')}")
    if written(daemon) != 7 or written(daemon, "whole") != 0:
        raise Failed(f"{written(daemon)} updates of areas, {written(daemon, 'whole')} turned into whole documents")


def test_more_updates_than_fit_below_the_next_version_lose_no_later_write(w):
    daemon = follow_simple(w)
    for price in range(100, 145):
        follow_price(w, daemon, price)
    if written(daemon, "whole") < 2 or written(daemon) < 40:
        raise Failed(f"of 45 changes {written(daemon)} were updates, and {written(daemon, 'whole')} whole documents")
    w.sql("UPDATE product SET name = 'coffee' WHERE id = 1")
    w.equal(daemon)
    for price in range(200, 210):
        follow_price(w, daemon, price)
    daemon.kill()  # what is read again has older stamps than the areas
    w.sql("UPDATE product SET name = 'milk' WHERE id = 1")
    daemon.start()
    w.equal(daemon)
    for price in range(300, 310):
        follow_price(w, daemon, price)
    w.sql("DELETE FROM product WHERE id = 1")
    w.equal(daemon)


def test_what_an_earlier_daemon_has_under_way_undoes_no_area(w):
    daemon = follow_simple(w)
    version, _ = stored(w, "product", 1)
    old = oracle.encode(w.engine.get(w.index("product"), 1))
    w.sql("INSERT INTO maker VALUES (7, 'read and told nobody')")
    daemon.kill()
    daemon.start()
    w.sql("INSERT INTO product VALUES (3, 2, 'new')")
    w.equal(daemon)  # what came before the kill was read again, and is not one with what follows
    w.sql("UPDATE offer SET price = 4 WHERE id = 1")
    w.equal(daemon)
    w.engine.ask("PUT", f"/{w.index('product')}/_doc/1?version={version + 50}&version_type=external_gte", old, ok=(409,))
    settle(daemon)
    # Where the position was not stored yet, the document was read again, and is above what was under way.
    if written(daemon) + written(daemon, "whole") != 1:
        raise Failed(f"{written(daemon)} updates of areas, {written(daemon, 'whole')} turned into whole documents")


def test_an_area_of_a_document_that_is_not_there_makes_it_whole(w):
    daemon = follow_simple(w)
    w.engine.ask("DELETE", f"/{w.index('product')}/_doc/1")
    w.sql("UPDATE offer SET price = 4 WHERE id = 1")
    w.equal(daemon)
    settle(daemon)
    if written(daemon, "whole") != 1:
        raise Failed(f"{written(daemon, 'whole')} updates became whole documents")


def test_a_document_made_without_areas_is_made_whole_when_one_changes(w):
    daemon = follow_simple(w)
    w.engine.ask("POST", f"/{w.index('product')}/_update/1", {"script": "ctx._source.remove('_millrace')"})
    w.sql("UPDATE offer SET price = 4 WHERE id = 1")
    w.equal(daemon)
    if stored(w, "product", 1)[1] is None:
        raise Failed("the document does not say what it is made of")


EXACT = """name VARCHAR(40) CHARSET utf8mb4, a DECIMAL(15, 4), b DOUBLE, c FLOAT, d BIGINT UNSIGNED, e BIGINT, f BIT(9),
 g DATETIME(6), h DATE, i TIME(3), j YEAR, k ENUM('x', 'ä'), l SET('p', 'q'), m BLOB, n POINT, o TEXT CHARSET utf8mb4"""


def test_what_an_area_leaves_alone_stays_as_it_was_to_the_last_digit(w):
    definitions = simple(w, EXACT)
    rows = []
    for i in range(1, 60):
        number = "".join(w.rng.choices("0123456789", k=15))
        rows.append(f"({i}, 1, 'n{i} \"\\\\ \\n 🎁 日本', {number[:11]}.{number[11:]}, {w.rng.uniform(-1, 1):.17f}e{w.rng.randrange(-300, 300)}, "
                    f"{w.rng.uniform(-1, 1):.17f}e{w.rng.randrange(-30, 30)}, {2**64 - i}, {-2**63 + i}, b'1{i % 2}1', "
                    f"'2024-02-29 23:59:59.{number[:6]}', '1000-01-01', '-838:59:58.{number[:3]}', {1901 + i}, 'ä', 'p,q', "
                    f"X'00FF{i:02x}', POINT({w.rng.uniform(-180, 180)}, {w.rng.uniform(-90, 90)}), '{'long ' * i}')")
    w.sql("SET sql_mode = ''", f"INSERT INTO product VALUES {', '.join(rows)}",
          "INSERT INTO offer SELECT id + 100, id, id / 8 FROM product")
    daemon = w.follow(definitions)
    touch(w, daemon)
    w.sql("UPDATE offer SET price = price + 1")
    w.equal(daemon)
    settle(daemon)
    if written(daemon) < 59 or written(daemon, "whole") != 0:
        raise Failed(f"{written(daemon)} updates of areas, {written(daemon, 'whole')} turned into whole documents")


def test_documents_with_numbers_that_an_engine_would_round_are_written_whole(w):
    definitions = simple(w, "amount DECIMAL(18, 4)")
    w.sql("INSERT INTO product VALUES (1, 1, 12345678901234.5678), (2, 2, 99999999999999.9999)")
    daemon = w.millrace()
    done = daemon.apply(definitions)
    if "refresh: area" not in done.stderr or '"amount" of table product' not in done.stderr:
        raise Failed(f"apply does not say that areas have no effect, and why:\n{done.stdout}{done.stderr}")
    daemon.build(f"{w.schema}.product")
    w.sql("UPDATE offer SET price = price + 1")
    w.equal(daemon)
    if written(daemon) + written(daemon, "whole") != 0:
        raise Failed("a document was written in parts")


def test_areas_of_tables_that_share_an_index_are_written_without_what_the_index_adds(w):
    """A name of the source, and the join field, stand behind the row's own members."""
    person = {"from": "by_id", "table": "person", "to": "id", "as": "by", "refresh": "area"}
    w.sql("CREATE TABLE person (id INT PRIMARY KEY, name VARCHAR(20))", "INSERT INTO person VALUES (1, 'Ada')",
          "CREATE TABLE part_1 (id INT PRIMARY KEY, by_id INT)", "CREATE TABLE part_2 LIKE part_1",
          "INSERT INTO part_1 VALUES (1, 1)", "INSERT INTO part_2 VALUES (1, 1)",
          "CREATE TABLE question (id INT PRIMARY KEY, by_id INT)", "INSERT INTO question VALUES (1, 1)",
          "CREATE TABLE answer (id INT PRIMARY KEY, question_id INT, by_id INT)", "INSERT INTO answer VALUES (1, 1, 1)")
    daemon = w.follow(w.definitions(
        {"pattern": "part_[0-9]", "index": "parts", "source_field": "origin", "relations": [dict(person)]},
        {"table": "question", "index": "forum", "join": {"name": "question"}, "relations": [dict(person)]},
        {"table": "answer", "index": "forum", "join": {"name": "answer", "parent": "question", "parent_column": "question_id"},
         "relations": [dict(person)]}))
    for name in ("Eve", "Zoe", "Kim"):  # the first after a start is written whole
        w.sql(f"UPDATE person SET name = '{name}'")
        w.equal(daemon)
    settle(daemon)
    if written(daemon) < 6 or written(daemon, "refused"):
        raise Failed(f"{written(daemon)} updates of areas, and {written(daemon, 'refused')} refused")


def test_where_the_engine_runs_no_scripts_documents_are_written_whole(w):
    w.engine = w.also(Engine("engine-without-scripts"))
    w.engine.start("script.allowed_types=none")
    daemon = follow_simple(w)
    for price in range(50, 55):
        follow_price(w, daemon, price)
    w.equal(daemon)
    if written(daemon) != 0 or written(daemon, "whole") != 1:
        raise Failed(f"{written(daemon)} updates of areas, {written(daemon, 'whole')} turned into whole documents")
    with open(daemon.log, encoding="utf-8") as log:
        if "does not run the script" not in log.read():
            raise Failed("the log does not say that scripts are off")
    checks = {c["id"]: c["status"] for c in daemon.json("doctor", ok=None)["items"]}
    if checks.get("search.scripts") != "warn":
        raise Failed(f"doctor says of scripts: {checks.get('search.scripts')}")


def test_a_version_that_is_built_while_areas_change_is_right_and_so_is_the_one_that_is_searched(w):
    w.load(SCHEMA)
    work, connection = Catalogue(w.rng), w.db.connect(w.schema)
    work.run(connection, 200)
    daemon = w.follow(in_areas(w.definitions(*tables())))
    writer = Writer(w, Catalogue(w.rng))
    for _ in range(3):
        start_build(daemon, f"{w.schema}.product")
        enough = writer.transactions + 20
        wait_until("areas change meanwhile", lambda: writer.error or writer.transactions >= enough)
        writer.rest()
        w.equal(daemon, seconds=60)
        writer.resume()
    writer.end()
    w.equal(daemon, seconds=60)


def test_areas_are_right_under_random_work_builds_and_kills(w):
    w.load(SCHEMA)
    work, connection = Catalogue(w.rng), w.db.connect(w.schema)
    work.run(connection, 200)
    daemon = w.follow(in_areas(w.definitions(*tables())), delivery={"read_window": "0s"})  # else few changes stay alone
    work_builds_and_kills(w, daemon, work, connection, 6)
    w.equal(daemon, seconds=60)
    for _ in range(20):  # it is not for nothing: areas are written
        if written(daemon) >= 20:
            return
        work.run(connection, 20)
        w.equal(daemon, seconds=60)
    raise Failed(f"{written(daemon)} updates of areas: too few to tell anything")


def test_areas_of_the_shop_are_right_under_random_work_and_kills(w):
    w.load_shop()
    work, connection = Workload(w.rng), w.db.connect(w.schema)
    daemon = w.follow(in_areas(w.shop_definitions("orders")))
    for _ in range(5):
        work.run(connection, 40)
        daemon.kill()
        work.run(connection, 10)
        daemon.start()
    w.equal(daemon, seconds=60)

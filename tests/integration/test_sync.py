"""Sync by time: views and tables whose changes the binlog does not tell."""
from servers import Failed, wait_until


def make(w):
    w.sql("CREATE TABLE customer (id INT PRIMARY KEY, name VARCHAR(20))",
          "CREATE TABLE sale (id INT PRIMARY KEY, customer INT, qty INT, gone TINYINT DEFAULT 0, "
          "changed TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6), KEY (changed), KEY (customer))",
          "CREATE VIEW sold AS SELECT s.id, s.customer, s.qty * 2 AS twice, s.gone, s.changed FROM sale s",
          "INSERT INTO customer VALUES (1, 'Ann'), (2, 'Bob')",
          "INSERT INTO sale (id, customer, qty) VALUES " + ", ".join(f"({i}, {1 + i % 2}, {i})" for i in range(1, 1201)))


def definition(w, every="1s", **more):
    return w.definitions({"table": "sold", "key": ["id"], "sync_every": every, "daily_check_column": "changed",
                          "soft_delete": {"column": "gone", "deleted": 1}, "columns": ["id", "twice"],
                          "relations": [{"from": "customer", "table": "customer", "to": "id", "as": "customer",
                                         "columns": ["name"]}]} | more)


def shown(w):
    return {key: (source["twice"], source["customer"] and source["customer"]["name"])
            for key, source, _ in w.engine.documents(w.index("sold"))}


def rows(w):
    return {str(i): (twice, name) for i, twice, name in w.sql(
        "SELECT v.id, v.twice, c.name FROM sold v LEFT JOIN customer c ON c.id = v.customer WHERE v.gone = 0")}


def equal(w, daemon, seconds=60):
    """The index is the view, but for rows that are gone."""
    def look():
        daemon.check_alive()
        return shown(w) == rows(w)
    try:
        wait_until("the index is what the view is", look, seconds)
    except Failed:
        have, want = shown(w), rows(w)
        wrong = {k: (have.get(k), want.get(k)) for k in have.keys() | want.keys() if have.get(k) != want.get(k)}
        raise Failed(f"{len(wrong)} documents differ, such as {dict(list(wrong.items())[:3])}; status: {daemon.json('status')['tables']}")


def test_a_view_is_built_and_follows_its_changes_and_those_of_its_relations(w):
    make(w)
    daemon = w.follow(definition(w))
    equal(w, daemon)
    w.sql("UPDATE sale SET qty = 5000 WHERE id % 100 = 7", "INSERT INTO sale (id, customer, qty) VALUES (5000, 2, 1)",
          "UPDATE customer SET name = 'Eve' WHERE id = 2", "UPDATE sale SET gone = 1 WHERE id BETWEEN 10 AND 700",
          "UPDATE sale SET gone = 0 WHERE id = 15")
    equal(w, daemon)
    w.sql("UPDATE sale SET gone = 0")
    equal(w, daemon)
    daemon.build(f"{w.schema}.sold")
    equal(w, daemon)
    if w.table(daemon, "sold")["version"] != 2:
        raise Failed(f"{w.table(daemon, 'sold')}")


def test_a_change_that_commits_late_is_not_missed(w):
    make(w)
    daemon = w.follow(definition(w))
    late = w.db.connect(w.schema)
    late.autocommit(False)
    with late.cursor() as late_cursor:
        late_cursor.execute("UPDATE sale SET qty = 777 WHERE id = 3")
        w.sql("UPDATE sale SET qty = 888 WHERE id = 4")
        wait_until("the later change is there", lambda: shown(w)["4"][0] == 1776)
        late.commit()
    equal(w, daemon)


def test_nothing_is_missed_over_kills_and_nothing_old_comes_back(w):
    make(w)
    daemon = w.follow(definition(w))
    for round_ in range(3):
        for i in range(10):
            w.sql(f"UPDATE sale SET qty = qty + {round_ + 1} WHERE id % 40 = {i}")
        if round_ < 2:
            daemon.kill()
            w.sql(f"UPDATE sale SET qty = {9000 + round_} WHERE id % 50 = {round_}")
            daemon.start()
    equal(w, daemon)


def test_status_tells_of_the_last_run_and_of_the_next(w):
    make(w)
    daemon = w.follow(definition(w, every="2s"))
    wait_until("it has run", lambda: (w.table(daemon, "sold")["sync"] or {}).get("last") is not None)
    sync = w.table(daemon, "sold")["sync"]
    if sync["every_seconds"] != 2 or sync["column"] != "changed" or sync["reason"] or not sync["next"] > sync["last"]:
        raise Failed(f"{sync}")
    w.sql("RENAME TABLE sale TO sale_away")
    wait_until("what is wrong is told", lambda: w.table(daemon, "sold")["sync"]["reason"])
    if not w.table(daemon, "sold")["reason"]:
        raise Failed(f"{w.table(daemon, 'sold')}")
    w.sql("RENAME TABLE sale_away TO sale", "UPDATE sale SET qty = 31 WHERE id = 31")
    equal(w, daemon)
    wait_until("nothing is wrong any more", lambda: (w.table(daemon, "sold")["sync"] or {}).get("reason") == "")


def test_rows_that_did_not_change_are_seldom_read_again(w):
    make(w)
    daemon = w.follow(definition(w))
    equal(w, daemon)

    def sync():
        return w.table(daemon, "sold")["sync"]
    wait_until("rows are read again for late commits",
               lambda: daemon.metric("millrace_documents_read_total", topic=w.schema) >= 1200)
    wait_until("rows that did not change are not read at every run", lambda: sync()["rows"] == 0)
    w.sql("UPDATE sale SET qty = 61000 WHERE id = 61")
    equal(w, daemon)


def test_a_view_without_what_a_sync_needs_is_refused(w):
    make(w)
    daemon = w.millrace()
    good = definition(w)
    for change, words in (({"key": None}, "name unique columns with `key`"),
                          ({"sync_every": None}, "is a view: the binlog does not say"),
                          ({"daily_check_column": None}, "`sync_every` needs `daily_check_column`"),
                          ({"daily_check_column": "twice"}, "of type DATETIME or TIMESTAMP"),
                          ({"key": ["idd"]}, "no column `idd`")):
        table = {k: v for k, v in (good["tables"][0] | change).items() if v is not None}
        done = daemon.apply(good | {"tables": [table]}, ok=(1,))
        if words not in done.stdout + done.stderr:
            raise Failed(f"{change}: {done.stdout}{done.stderr}")
    daemon.apply(good)
    done = daemon.command("doctor", ok=(0, 1))
    if "is a view that Millrace reads by modification time" not in done.stdout:
        raise Failed(f"doctor says: {done.stdout}")


def test_changes_are_followed_for_as_long_as_the_log_stands_still(w):
    """More of them than versions fit above one position."""
    make(w)
    daemon = w.follow(definition(w))
    with w.db.connect(w.schema) as connection, connection.cursor() as cursor:
        cursor.execute("SET sql_log_bin = 0")
        for i in range(22):
            cursor.execute(f"UPDATE sale SET qty = {3000 + i} WHERE id = 77")
            connection.commit()
            wait_until("the change is there", lambda: shown(w)["77"][0] == 2 * (3000 + i))
    equal(w, daemon)

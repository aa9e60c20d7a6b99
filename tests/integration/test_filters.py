"""Rows that have no document: left out by a condition, or marked as deleted."""
from servers import Failed, wait_until
from workload import text


def definition(w, **more):
    return w.definitions({"table": "thing", "filter": "kind <> 'draft' OR kind IS NULL",
                          "soft_delete": {"column": "gone", "deleted": 1}} | more)


def make(w):
    w.sql("CREATE TABLE thing (id INT PRIMARY KEY, kind VARCHAR(10), gone TINYINT, name VARCHAR(40)) CHARSET utf8mb4",
          *(f"INSERT INTO thing VALUES ({i}, {k}, {g}, 'n{i}')" for i, (k, g) in enumerate(
              (k, g) for k in ("'draft'", "'final'", "NULL") for g in (0, 1, "NULL"))))


def keys(w):
    return sorted(int(key) for key, _, _ in w.engine.documents(w.index("thing")))


def test_rows_that_are_filtered_or_marked_as_deleted_have_no_document_until_they_count_again(w):
    make(w)
    daemon = w.follow(definition(w))
    for statement, expected in (
            (None, [3, 5, 6, 8]),
            ("UPDATE thing SET kind = 'draft' WHERE id = 3", [5, 6, 8]),
            ("UPDATE thing SET kind = 'final' WHERE id = 0", [0, 5, 6, 8]),
            ("UPDATE thing SET gone = 1 WHERE id = 5", [0, 6, 8]),
            ("UPDATE thing SET gone = NULL WHERE id = 4", [0, 4, 6, 8]),
            ("UPDATE thing SET gone = 1, id = 20 WHERE id = 6", [0, 4, 8]),
            ("UPDATE thing SET gone = 0, id = 6 WHERE id = 20", [0, 4, 6, 8]),
            ("DELETE FROM thing WHERE kind = 'draft' OR id = 8", [0, 4, 6])):
        if statement:
            w.sql(statement)
        w.equal(daemon)
        if keys(w) != expected:
            raise Failed(f"after {statement} there are {keys(w)} instead of {expected}")


def test_a_row_that_the_filter_leaves_out_is_no_dead_letter_though_its_key_makes_no_id(w):
    """A letter is there when the row counts, and goes when it does not, or is gone."""
    w.sql("CREATE TABLE word (id VARCHAR(600) PRIMARY KEY, shown TINYINT, v INT) CHARSET latin1",
          "INSERT INTO word VALUES ('', 0, 1), (REPEAT('x', 600), 0, 1), ('a', 1, 1)")
    daemon = w.follow(w.definitions({"table": "word", "filter": "shown = 1"}))

    def letters():
        return "".join(sorted(letter["doc_id"][:1] or "-" for letter in daemon.json("dead-letter", "list")["items"]))

    for statement, expected in (("UPDATE word SET v = v + 1", ""),
                                ("UPDATE word SET shown = 1", "-x"),
                                ("UPDATE word SET v = v + 1", "-x"),
                                ("UPDATE word SET shown = 0 WHERE id = ''", "x"),
                                ("UPDATE word SET id = 'b' WHERE id > 'a'", ""),
                                ("UPDATE word SET shown = 1", "-"),
                                ("DELETE FROM word WHERE id = ''", ""),
                                ("INSERT INTO word VALUES ('', 0, 1)", "")):
        w.sql(statement, "UPDATE word SET v = v + 1 WHERE id = 'a'")
        w.equal(daemon)
        wait_until("what was read is done", lambda: daemon.metric("millrace_changes_in_flight") == 0)
        if letters() != expected:
            raise Failed(f"after {statement} the dead letters are {letters()}, not {expected}")


def test_random_work_on_rows_that_come_and_go_is_right_over_builds_and_kills(w):
    make(w)
    daemon, connection, rng = w.follow(definition(w)), w.db.connect(w.schema), w.rng
    with connection.cursor() as cursor:
        for round_ in range(3):
            for _ in range(120):
                key, kind = rng.randrange(60), rng.choice(["'draft'", "'final'", "NULL"])
                cursor.execute(rng.choice([
                    f"REPLACE INTO thing VALUES ({key}, {kind}, {rng.randrange(2)}, {text('ü' * rng.randrange(9))})",
                    f"UPDATE thing SET kind = {kind} WHERE id BETWEEN {key} AND {key + 9}",
                    f"UPDATE thing SET gone = 1 - gone WHERE id = {key}",
                    f"UPDATE IGNORE thing SET id = {rng.randrange(60)} WHERE id = {key}",
                    f"DELETE FROM thing WHERE id = {key}"]))
            daemon.command("index", "create", f"{w.schema}.thing", "--no-wait", ok=None)
            if round_ == 1:
                daemon.kill()
                daemon.start()
    w.equal(daemon, seconds=60)

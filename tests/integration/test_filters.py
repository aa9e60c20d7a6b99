"""Rows that have no document: left out by a condition, or marked as deleted."""
from servers import Failed
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

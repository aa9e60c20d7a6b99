"""An index build ends while writes go on, and only when every row has its document."""
from beside import Beside
from servers import Failed, wait_until

ROWS = 3000


class Writer(Beside):
    """Inserts, updates and deletes rows of its own, steadily, until it is left."""

    pause = 0.005

    def __init__(self, w):
        super().__init__()
        self.connection, self.key = w.db.connect(w.schema), 1_000_000

    def step(self):
        self.key += 1
        with self.connection.cursor() as cursor:
            cursor.execute(f"INSERT INTO thing VALUES ({self.key}, 0), (-{self.key}, 0)")
            cursor.execute(f"UPDATE thing SET a = a + 1 WHERE id = {self.key - 5}")
            cursor.execute(f"DELETE FROM thing WHERE id = -{self.key - 10}")


def things(w):
    w.sql("CREATE TABLE thing (id INT PRIMARY KEY, a INT)",
          "INSERT INTO thing WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)"
          f" SELECT x.i * 1000 + y.i, 0 FROM n x, n y WHERE x.i <= {ROWS // 1000}")
    return w.follow(w.definitions({"table": "thing"}))


def test_builds_end_while_rows_come_and_go(w):
    daemon = things(w)
    with Writer(w):
        for _ in range(3):
            daemon.build(f"{w.schema}.thing")
    w.equal(daemon)


def test_a_build_with_a_document_missing_is_refused_also_while_rows_come_and_go(w):
    daemon, index = things(w), w.index("thing")
    with Writer(w):
        daemon.command("index", "create", f"{w.schema}.thing", "--no-wait", "--rate", "1000")
        wait_until("the new version has the first rows",
                   lambda: w.engine.ask("GET", f"/{index}_v2/_doc/1001", ok=(200, 404)).get("found"))
        w.engine.ask("DELETE", f"/{index}_v2/_doc/1001")
        wait_until("the build ends", lambda: not daemon.json("job", "list")["items"])
    if list(w.engine.ask("GET", f"/_alias/{index}")) != [f"{index}_v1"]:
        raise Failed("the alias was moved to a version that lacks a row")
    if "the alias was not moved" not in daemon.log_tail(100000):
        raise Failed("nothing says that the alias was not moved")
    w.equal(daemon)


def test_a_count_that_does_not_come_keeps_no_daemon_from_stopping(w):
    daemon = things(w)
    locker = w.db.connect(w.schema)
    with locker.cursor() as cursor:
        cursor.execute("LOCK TABLES thing WRITE")
    daemon.command("index", "create", f"{w.schema}.thing", "--no-wait")
    wait_until("the build counts rows", lambda: any("COUNT(*)" in str(row) and "lock" in str(row)
                                                    for row in w.db.sql("SHOW FULL PROCESSLIST")))
    daemon.process.terminate()
    daemon.process.wait(30)
    locker.close()
    daemon.start()
    wait_until("the build ends", lambda: not daemon.json("job", "list")["items"])
    w.equal(daemon)


def test_a_build_of_fewer_rows_than_were_counted_says_that_all_are_written_and_its_step(w):
    """Nobody sees a share that stands still while the alias moves."""
    w.sql("CREATE TABLE many (id INT PRIMARY KEY)")
    w.load("".join(f"INSERT INTO many VALUES ({i});" for i in range(600)))
    daemon = w.millrace()
    daemon.apply(w.definitions({"table": "many"}))
    daemon.stop()
    daemon.start(environment={"MILLRACE_FAILPOINT": "alias_moved:1:wait=8000"})
    daemon.command("index", "create", f"{w.schema}.many", "--rate", "200", "--no-wait")
    build = lambda: w.table(daemon, "many")["build"] or {}
    wait_until("some rows are written", lambda: 0 < build().get("rows_done", 0) < 300)
    w.sql("DELETE FROM many WHERE id >= 400")
    wait_until("the alias moves", lambda: build().get("waits_for") == "publishing the version")
    at_end = build()
    if at_end["phase"] != "finishing" or at_end["rows_done"] != at_end["rows_total"] or not 300 <= at_end["rows_done"] < 600:
        raise Failed(f"the build says {at_end}")
    said = daemon.command("status").stdout
    if "all rows are written" not in said or "waits: publishing the version" not in said or "of about" in said:
        raise Failed(f"status says {said}")
    wait_until("the build ends", lambda: not daemon.json("job", "list")["items"])
    w.equal(daemon)


def test_a_build_that_is_given_up_while_it_ends_has_ended(w):
    """Its version is what searches use, and stays that."""
    daemon, index = things(w), w.index("thing")
    w.equal(daemon)
    daemon.stop()
    daemon.start(environment={"MILLRACE_FAILPOINT": "alias_moved:1:wait=2000"})
    daemon.command("index", "create", f"{w.schema}.thing", "--no-wait")
    wait_until("the alias has moved", lambda: f"{index}_v2" in w.engine.ask("GET", f"/_alias/{index}", ok=(200, 404)))
    daemon.command("index", "reset", f"{w.schema}.thing", "-y", ok=None)
    if list(w.engine.ask("GET", f"/_alias/{index}")) != [f"{index}_v2"] or w.table(daemon, "thing")["version"] != 2:
        raise Failed(f"searches use {w.engine.ask('GET', f'/_alias/{index}')}, the table {w.table(daemon, 'thing')}")
    w.sql("UPDATE thing SET a = a + 1")
    w.equal(daemon)

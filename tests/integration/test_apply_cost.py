"""What `apply` costs the database: statements, and with a long way to it time."""
import time

from detour import Detour
from servers import Failed, wait_until

LIMIT = 100  # statements, whatever the number of tables
LATE_TABLES, LATE_MS, LATE_LIMIT = 500, 5, 3.0


def make_tables(w, n):
    """Tables of which each but the first refers to another one."""
    w.sql(*(f"CREATE TABLE t{i} (id INT PRIMARY KEY, name VARCHAR(30), code INT NOT NULL, doc JSON, UNIQUE (code), up INT"
            + (f", FOREIGN KEY (up) REFERENCES t{i // 2} (id) ON DELETE CASCADE)" if i else ")") for i in range(n)))


def definitions(w, n, **topic):
    return w.definitions(*({"table": f"t{i}"} for i in range(n)), **topic)


def rich_definitions(w, n, **topic):
    """Each table has a condition, and shows another one with a condition and an order; of that one many may lead to a row."""
    return w.definitions(*({"table": f"t{i}", "filter": f"code <> {i} AND name NOT IN ('(', 'a')", "relations": [
        {"from": "up", "table": f"t{(i + 1) % n}", "to": "id", "as": "above", "where": "id > -1 OR (id < -5)",
         "order_by": "name DESC, id"}]} for i in range(n)), **topic)


class Counter:
    """The statements of Millrace's user."""

    def __init__(self, w):
        self.w = w
        self.before = {name: w.sql(f"SELECT @@GLOBAL.{name}")[0][0] for name in ("log_output", "general_log")}
        w.sql("SET GLOBAL log_output = 'TABLE'", "SET GLOBAL general_log = ON")
        self.begin()

    def begin(self):
        self.w.sql("SET GLOBAL general_log = OFF", "TRUNCATE TABLE mysql.general_log", "SET GLOBAL general_log = ON")

    def end(self):
        self.w.sql("SET GLOBAL general_log = OFF", f"SET GLOBAL log_output = '{self.before['log_output']}'",
                   f"SET GLOBAL general_log = {self.before['general_log']}")

    def count(self):
        return self.w.sql("SELECT COUNT(*) FROM mysql.general_log WHERE command_type = 'Query'"
                          " AND user_host LIKE 'millrace%'")[0][0]



def test_apply_of_many_tables_takes_few_statements(w):
    make_tables(w, 200)
    daemon, counter, taken = w.millrace(), Counter(w), []
    try:
        for n in (100, 200):
            counter.begin()
            daemon.apply(definitions(w, n), "-n")
            taken.append(counter.count())
        counter.begin()
        daemon.apply(definitions(w, 200))
        wait_until("the log is followed", lambda: "following the binlog" in daemon.log_tail())
        taken.append(counter.count())
    finally:
        counter.end()
    if max(taken) >= LIMIT or taken[0] != taken[1]:
        raise Failed(f"dry runs of 100 and 200 tables and an apply took {taken} statements")


def test_apply_asks_about_conditions_orders_and_shared_values_of_many_tables_together(w):
    make_tables(w, LATE_TABLES)
    daemon, counter, taken = w.millrace(), Counter(w), []
    try:
        counter.begin()
        daemon.apply(rich_definitions(w, LATE_TABLES), "-n")
        taken.append(counter.count())
        wrong = rich_definitions(w, 100)
        wrong["tables"][40]["filter"] = "cod = 1"
        wrong["tables"][70]["relations"][0]["order_by"] = "nam"
        counter.begin()
        said = daemon.apply(wrong, "-n", ok=(1,)).stderr
        taken.append(counter.count())
        counter.begin()
        gone = w.definitions(*({"table": f"gone{i}"} for i in range(100)))
        missing = daemon.apply(gone, "-n", ok=(1,)).stderr.count("there is no table `gone")
        taken.append(counter.count())
    finally:
        counter.end()
    if max(taken) >= LIMIT:
        raise Failed(f"dry runs of {LATE_TABLES} tables, of 100 with two mistakes and of 100 that are missing took {taken} statements")
    if said.count("the server refuses") != 2 or "'cod'" not in said or "'nam'" not in said:
        raise Failed(f"it does not say what is wrong with which table: {said}")
    if missing != 100:
        raise Failed(f"only {missing} of 100 tables are said to be missing")


def test_apply_is_quick_and_takes_few_statements_though_the_database_is_far_away(w):
    make_tables(w, LATE_TABLES)
    daemon, counter = w.millrace(), Counter(w)
    try:
        with Detour(w.db.port, delay=LATE_MS / 2000) as detour:
            begun = time.monotonic()
            daemon.apply(definitions(w, LATE_TABLES, address=f"127.0.0.1:{detour.port}"))
            seconds = time.monotonic() - begun
            wait_until("the log is followed", lambda: "following the binlog" in daemon.log_tail())
            taken = counter.count()
    finally:
        counter.end()
    if seconds > LATE_LIMIT or taken >= LIMIT:
        raise Failed(f"apply of {LATE_TABLES} tables at {LATE_MS} ms took {seconds:.1f} s and {taken} statements")

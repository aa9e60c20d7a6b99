"""What rows that go by foreign keys cost the database: how often each is read, and who waits for them."""

from servers import Failed, let_pass, open_store, wait_until
from test_cascades import changes_add_up, logs_cascades, marks, right
from test_cost import counted, settle
from test_failpoints import armed, until_dead
from test_kill import start_build

READS = 3  # of a row that goes or changes, at most


def insert(w, table, first, count, each):
    """Rows first..first+count-1; each: so many of them have one parent."""
    rows = [f"({i}, {i // each}, 0)" if each else f"({i}, 0)" for i in range(first, first + count)]
    w.load("".join(f"INSERT INTO {table} VALUES {', '.join(rows[n:n + 2000])};\n" for n in range(0, count, 2000)))


def make_levels(w, parents):
    """a; five b below each; four c below each b; four d below each c."""
    w.sql("CREATE TABLE a (id INT PRIMARY KEY, n INT)",
          *(f"CREATE TABLE {t} (id INT PRIMARY KEY, {up} INT, n INT, FOREIGN KEY ({up}) REFERENCES {up} (id) ON DELETE CASCADE)"
            for t, up in ("ba", "cb", "dc")))
    insert(w, "a", 0, parents, 0)
    for table, count, each in (("b", 5, 5), ("c", 20, 4), ("d", 80, 4)):
        insert(w, table, 0, parents * count, each)


def plain(w):
    return w.definitions({"table": "a"}, {"table": "b"}, {"table": "c"}, {"table": "d"})


def deep(w):
    """Each shows all that is below it, and all that is above."""
    def below(tables):
        return [{"from": "id", "table": tables[1], "to": tables[0], "as": f"{tables[1]}s", "many": True,
                 "relations": below(tables[1:])}] if len(tables) > 1 else []

    def above(tables):
        return [{"from": tables[1], "table": tables[1], "to": "id", "as": "of", "relations": above(tables[1:])}] if len(tables) > 1 else []
    return w.definitions(*({"table": t, "relations": below("abcd"[i:]) + above("dcba"[3 - i:])} for i, t in enumerate("abcd")))


def rows(w):
    return sum(w.sql(f"SELECT COUNT(*) FROM {table}")[0][0] for table in "bcd")


def read(daemon):
    return counted(daemon, "millrace_documents_read_total")


def stay(daemon):
    return daemon.metric("millrace_cascade_documents")


def test_rows_that_go_over_three_levels_are_read_at_most_three_times_however_deep_documents_show_them(w):
    for definitions in (plain, deep):
        w.make_schema()
        make_levels(w, 60)
        daemon = w.follow(definitions(w))
        for deletes in (["DELETE FROM a WHERE id < 20"], [f"DELETE FROM a WHERE id = {i}" for i in range(20, 40)]):
            settle(daemon)
            before, there = read(daemon), rows(w)
            w.sql(*deletes)
            right(w, daemon)
            wait_until("none stays", lambda: stay(daemon) == 0)
            gone = there - rows(w)
            print(f"# {definitions.__name__}: {read(daemon) - before:.0f} documents read for {gone} rows that are gone")
            if gone != 20 * 105 or read(daemon) - before > READS * gone:
                raise Failed(f"{definitions.__name__}: {gone} rows are gone, {read(daemon) - before} documents were read for that")
        changes_add_up(w, daemon)
        daemon.stop()
        w.engine.ask("DELETE", f"/{w.schema}-*", ok=(200, 404))


class Families:
    """Random transactions: families go, come as a whole and change at their ends.  Keys do not come again."""

    def __init__(self, w, parents):
        self.w, self.rng, self.next, self.there = w, w.rng, parents, list(range(parents))
        self.concerned = 0  # documents that rows which come, change or go are in

    def run(self, cursor):
        cursor.execute("BEGIN")
        for _ in range(self.rng.choice([1, 1, 2, 5])):
            self.rng.choice([self.go, self.go, self.come, self.change])(cursor)
        cursor.execute("COMMIT")

    def go(self, cursor):
        if self.there:
            cursor.execute(f"DELETE FROM a WHERE id = {self.there.pop(self.rng.randrange(len(self.there)))}")
            self.concerned += 106

    def come(self, cursor):
        a, self.next = self.next, self.next + 1
        cursor.execute(f"INSERT INTO a VALUES ({a}, 0)")
        for table, up, count in (("b", 5, 5), ("c", 4, 20), ("d", 4, 80)):
            cursor.execute(f"INSERT INTO {table} VALUES " + ", ".join(f"({i}, {i // up}, 0)" for i in range(a * count, (a + 1) * count)))
        self.there.append(a)
        self.concerned += 106

    def change(self, cursor):
        d = self.rng.choice(self.there) * 80 + self.rng.randrange(80)
        cursor.execute(f"UPDATE d SET n = n + 1 WHERE id = {d}")
        self.concerned += 4


class Counting:
    """Documents read by one daemon after the other."""

    def __init__(self, daemon):
        self.daemon, self.total, self.last = daemon, 0, read(daemon)

    def look(self):
        now = read(self.daemon)
        self.total, self.last = self.total + now - self.last, now

    def kill(self):
        self.look()
        self.daemon.kill()
        self.last = 0


def test_random_cascades_with_a_build_and_kills_cost_at_most_three_reads_of_a_row(w):
    make_levels(w, 200)
    daemon = w.follow(deep(w))
    settle(daemon)
    work, reads = Families(w, 200), Counting(daemon)
    with w.db.connect(w.schema).cursor() as cursor:
        for i in range(4):
            for _ in range(20):
                work.run(cursor)
            if i == 1:
                start_build(daemon, f"{w.schema}.c")
            if i in (1, 2):
                wait_until("some of it is done", lambda: read(daemon) > reads.last)
                reads.kill()
                for _ in range(10):
                    work.run(cursor)
                daemon.start()
    right(w, daemon, seconds=200)
    wait_until("the build ends, and nothing stays", lambda: stay(daemon) == 0 and w.table(daemon, "c")["state"] == "available", 100)
    reads.look()
    print(f"# {reads.total:.0f} documents read for {work.concerned}")
    if reads.total > READS * work.concerned:
        raise Failed(f"{reads.total} documents were read for {work.concerned}")
    changes_add_up(w, daemon)


def stored(daemon):
    """How many documents the store keeps that stay."""
    with open_store(daemon) as store:
        return store.execute("SELECT COUNT(*) FROM gone").fetchone()[0]


def test_the_position_passes_what_goes_along_and_a_kill_takes_it_up_again(w):
    make_levels(w, 20)
    daemon = w.follow(plain(w))
    settle(daemon)
    w.engine.ask("PUT", f"/{w.index('d')}_v1/_settings", {"index.blocks.write": True})
    w.sql("DELETE FROM a WHERE id = 3")  # of several some could wait for the next sweep
    if logs_cascades(w):
        return
    wait_until("documents stay", lambda: stay(daemon) == 25)
    settle(daemon)
    if not any(t["cascades"] for t in daemon.json("status")["tables"]) or "foreign keys" not in daemon.command("status").stdout:
        raise Failed("status does not tell that documents stay")
    wait_until("all that stay are stored", lambda: stored(daemon) == 25)
    daemon.kill()
    if stored(daemon) != 25:
        raise Failed(f"{stored(daemon)} are stored")
    w.engine.ask("PUT", f"/{w.index('d')}_v1/_settings", {"index.blocks.write": None})
    daemon.start()
    right(w, daemon)
    wait_until("none stays", lambda: stay(daemon) == 0)
    daemon.stop()
    if stored(daemon) != 0:
        raise Failed(f"{stored(daemon)} are left in the store")


def test_a_kill_at_each_instant_of_a_sweep_loses_nothing(w):
    make_levels(w, 60)
    daemon = w.follow(plain(w))
    if logs_cascades(w):
        return
    settle(daemon)
    for i, (point, nth) in enumerate((p, n) for p in ("gone_found", "gone_stored", "gone_deleted") for n in (1, 2)):
        daemon.kill()
        daemon.start(wait=False, environment=armed(point, nth))
        deletes = iter(range(10 * i, 10 * i + 10))

        def delete_one(deletes=deletes):
            let_pass("so that not all go in one sweep", 0.3)
            w.sql(f"DELETE FROM a WHERE id = {next(deletes, 0)}")

        until_dead(daemon, point, delete_one)
        daemon.start()
        right(w, daemon)
    if marks(w, daemon):
        raise Failed(f"to be verified: {marks(w, daemon)}")


for test in (test_random_cascades_with_a_build_and_kills_cost_at_most_three_reads_of_a_row,):
    test.servers = ("mariadb", "mariadb11", "mysql8")
    test.why = "logs what foreign keys change"

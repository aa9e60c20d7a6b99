"""A changed row that leads to very many documents, worked off beside the stream."""

from beside import Beside
from gate import Gate, Hold
from servers import Failed, open_store, wait_until

ORDERS = 5000

SCHEMA = """
CREATE TABLE product (id INT PRIMARY KEY, name VARCHAR(40));
CREATE TABLE orders (id INT PRIMARY KEY, note VARCHAR(40));
CREATE TABLE item (id INT PRIMARY KEY, order_id INT, product_id INT, KEY (order_id), KEY (product_id));
CREATE TABLE digit (d INT PRIMARY KEY);
INSERT INTO digit VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)
"""


def load(w, orders=ORDERS):
    """One product in all orders, another one in the first hundred."""
    w.load(SCHEMA)
    n = " + ".join(f"d{i}.d * {10 ** i}" for i in range(5))
    digits = ", ".join(f"digit d{i}" for i in range(5))
    w.sql("INSERT INTO product VALUES (1, 'cup'), (2, 'tea')",
          f"INSERT INTO orders SELECT {n}, 'as it was' FROM {digits} WHERE {n} < {orders}",
          "INSERT INTO item SELECT id, id, 1 FROM orders",
          "INSERT INTO item SELECT id + 1000000, id, 2 FROM orders WHERE id < 100")


def definitions(w):
    product = {"from": "product_id", "table": "product", "to": "id", "as": "product", "columns": ["id", "name"]}
    items = {"from": "id", "table": "item", "to": "order_id", "as": "items", "many": True, "columns": ["id"],
             "relations": [product]}
    return w.definitions({"table": "orders", "relations": [items]})


def follow(w, **config):
    return w.follow(definitions(w), **config)


def runs(daemon):
    return daemon.metric("millrace_fan_out_runs_total")


def rename(w, name):
    w.sql(f"UPDATE product SET name = '{name}' WHERE id = 1")


def test_a_row_in_very_many_documents_changes_all_of_them(w):
    load(w)
    daemon = follow(w)
    w.sql("UPDATE product SET name = 'pot' WHERE id = 2")
    w.equal(daemon)
    if runs(daemon) != 0:
        raise Failed("a row in a hundred documents is worked off as one in very many")
    rename(w, "mug")
    wait_until("the row is worked off", lambda: runs(daemon) == 1)
    w.equal(daemon)
    if daemon.metric("millrace_changes_done_total", outcome="deferred") != 1:
        raise Failed("the change was not done when its job was stored")
    if daemon.metric("millrace_fan_out_documents_total") != ORDERS:
        raise Failed("not every document was read again once")


def progress(daemon):
    return daemon.metric("millrace_fan_out_documents_total")


def begin(w, daemon, documents=0):
    """The product has another name, and more documents than that are right, but not all: the number of times before."""
    for attempt in range(20):
        before, done = runs(daemon), progress(daemon)
        rename(w, f"name {before} {attempt}")
        wait_until("the job runs", lambda: progress(daemon) > done + documents, pause=0.01)
        if runs(daemon) == before:
            return before
        wait_until("the row is worked off", lambda: daemon.metric("millrace_fan_out_jobs") == 0)
    raise Failed("it is always worked off before anybody can look")


def test_single_changes_are_done_while_a_row_in_very_many_documents_is_worked_off(w):
    load(w)
    daemon = follow(w)
    for attempt in range(20):
        before = begin(w, daemon)
        w.sql(f"UPDATE orders SET note = 'new {attempt}' WHERE id = {ORDERS - 1}",
              f"UPDATE product SET name = 'pot {attempt}' WHERE id = 2")
        wait_until("the changes are done", lambda: daemon.metric("millrace_changes_in_flight") == 0, pause=0.01)
        if runs(daemon) == before:
            break
    else:
        raise Failed("single changes are done only after all documents of the row")
    w.equal(daemon)


def test_pages_go_in_the_order_of_the_key_and_a_kill_goes_on_at_the_cursor(w):
    load(w)
    daemon = follow(w)
    begin(w, daemon, ORDERS // 3)
    daemon.kill()
    with open_store(daemon) as store:  # the kill may have come between a slice and its cursor
        (saved,), = store.execute("SELECT documents FROM fan_out").fetchall()
    documents = list(w.engine.documents(w.index("orders")))
    newest = max(version for _, _, version in documents)
    latest = w.sql("SELECT name FROM product WHERE id = 1")[0][0]
    done = {int(key) for key, doc, _ in documents if doc["items"][0]["product"]["name"] == latest}
    holes = set(range(max(done))) - done
    if holes and max(done) - min(holes) > 1000:  # the largest slice: in it any order will do
        raise Failed(f"documents were not written in the order of their keys: {max(done)} before {min(holes)}")
    w.sql("UPDATE orders SET note = 'a later stamp' WHERE id = 0")
    daemon.start()
    wait_until("the row is worked off", lambda: runs(daemon) == 1)
    w.equal(daemon)
    again = sum(1 for key, _, version in w.engine.documents(w.index("orders")) if 0 < int(key) < max(done) and version > newest)
    if saved < ORDERS // 3 - 1000 or progress(daemon) > ORDERS - saved or again > 1000:
        raise Failed(f"after the kill {progress(daemon)} documents were read again, {again} of those that had been done")


def test_what_is_worked_off_is_shown_with_how_far_it_is(w):
    load(w)
    with Gate(w.engine) as gate:
        daemon = follow(w, search={"url": [gate.url]})
        gate.watch = hold = Hold()
        hold.open.clear()
        rename(w, "mug")

        def counted():
            jobs = daemon.json("job", "list")["items"]
            return jobs if jobs and jobs[0]["remaining"] is not None else None

        jobs = wait_until("the job is listed and counted", counted)
        if [(j["kind"], j["table"], j["rows"]) for j in jobs] != [("fan_out", f"{w.schema}.product", 1)]:
            raise Failed(f"the jobs are {jobs}")
        table = w.table(daemon, "orders")
        if not 0 < jobs[0]["documents_done"] + jobs[0]["remaining"] <= ORDERS or table["fan_out"]["rows"] != 1:
            raise Failed(f"the job is {jobs[0]}, the table says {table['fan_out']}")
        if not daemon.json("job", "get", jobs[0]["id"]):
            raise Failed("a job that is listed cannot be asked for")
        text = daemon.command("status").stdout
        if "changed rows that lead to very many again" not in text:
            raise Failed(f"nobody can see that documents are worked off:\n{text}")
        hold.open.set()
        w.equal(daemon)
        wait_until("nothing is left", lambda: w.table(daemon, "orders")["fan_out"] is None)
        wait_until("the job is over", lambda: not daemon.json("job", "list")["items"])  # shown up to a second later


def test_a_row_that_changes_all_the_time_is_worked_off_once_more_at_most(w):
    load(w)
    daemon = follow(w)
    before = begin(w, daemon)
    for i in range(50):
        rename(w, f"mug {i}")
    w.equal(daemon)
    wait_until("the row is worked off", lambda: daemon.metric("millrace_fan_out_jobs") == 0)
    times = runs(daemon) - before
    if not 2 <= times <= 5:
        raise Failed(f"51 changes of one row were worked off {times} times")


def test_documents_that_come_to_a_row_or_leave_it_while_it_is_worked_off_are_right(w):
    load(w)
    daemon = follow(w)
    begin(w, daemon)
    w.sql(f"UPDATE item SET product_id = 2 WHERE id = {ORDERS - 1}", "UPDATE item SET product_id = 2 WHERE id = 0",
          f"DELETE FROM item WHERE id = {ORDERS - 2}", f"DELETE FROM orders WHERE id = {ORDERS - 3}",
          f"INSERT INTO orders VALUES ({ORDERS + 1}, 'new')", f"INSERT INTO item VALUES ({ORDERS + 1}, {ORDERS + 1}, 1)",
          f"UPDATE orders SET id = {ORDERS + 2} WHERE id = {ORDERS - 4}", "UPDATE product SET name = 'kettle' WHERE id = 1")
    w.equal(daemon)


def test_a_version_is_searched_only_when_what_leads_to_very_many_documents_is_in_it(w):
    load(w)
    daemon = follow(w)
    begin(w, daemon)
    daemon.build(f"{w.schema}.orders")
    w.equal(daemon)


def test_jobs_of_a_table_that_stopped_go_with_its_version(w):
    load(w)
    daemon = follow(w)
    begin(w, daemon)
    w.sql("TRUNCATE TABLE item", "INSERT INTO item SELECT id, id, 2 FROM orders WHERE id < 2000")
    w.equal(daemon, seconds=60)
    wait_until("nothing is left", lambda: daemon.metric("millrace_fan_out_jobs") == 0)


def test_a_topic_that_begins_anew_works_off_what_it_had_begun(w):
    load(w)
    made = definitions(w)
    daemon, turn = w.follow(made), 0
    for on_gap in ("rebuild", "stop", "rebuild"):
        done, turn = progress(daemon), turn + 1
        rename(w, f"turn {turn}")
        wait_until("the job runs", lambda done=done: progress(daemon) > done, pause=0.01)
        made["topics"][0]["on_gap"] = on_gap
        daemon.apply(made)
        w.equal(daemon, seconds=60)
    wait_until("nothing is left", lambda: daemon.metric("millrace_fan_out_jobs") == 0)


def test_a_row_whose_documents_a_statement_looks_for_longer_than_a_minute_holds_up_no_other(w):
    w.sql("CREATE TABLE customer (id INT PRIMARY KEY, name VARCHAR(40))", "INSERT INTO customer VALUES (1, 'Ada'), (2, 'Bob')",
          *(f"CREATE TABLE {name} (id INT PRIMARY KEY, customer_id INT, KEY (customer_id))" for name in ("slow", "quick")),
          "INSERT INTO slow VALUES (1, 1), (2, 2)", "INSERT INTO quick VALUES (1, 1), (2, 2)")
    customer = {"from": "customer_id", "table": "customer", "to": "id", "as": "customer"}
    daemon = w.follow(w.definitions({"table": "slow", "relations": [dict(customer)]}, {"table": "quick", "relations": [dict(customer)]}))
    blocker = w.db.connect(w.schema)
    with blocker.cursor() as cursor:
        cursor.execute("LOCK TABLES slow WRITE")
    w.sql("UPDATE customer SET name = 'Eve' WHERE id = 1")
    wait_until("the row is a job", lambda: daemon.metric("millrace_fan_out_jobs") == 1, 90)
    wait_until("the other index has the change", lambda: w.engine.get(w.index("quick"), 1)["customer"]["name"] == "Eve", 30)
    blocker.close()
    w.equal(daemon, seconds=90)


class Work(Beside):
    """Random changes of rows two of which lead to more documents than are told at once."""

    pause = 0.02

    def __init__(self, w):
        super().__init__()
        self.rng, self.connection, self.n = w.rng, w.db.connect(w.schema), 0

    def step(self):
        n, product, order = self.n, self.rng.randrange(1, 5), self.rng.randrange(ORDERS_OF_WORK)
        statement = self.rng.choice((
            f"UPDATE product SET name = 'name {n}' WHERE id = {product}",
            f"UPDATE product SET name = 'name {n}'",
            f"UPDATE item SET product_id = {product} WHERE order_id = {order}",
            f"UPDATE item SET product_id = {product} WHERE order_id % 50 = {n % 50}",
            f"UPDATE orders SET note = 'note {n}' WHERE id = {order}",
            f"DELETE FROM orders WHERE id = {order}",
            f"DELETE FROM item WHERE order_id = {order}",
            f"REPLACE INTO orders VALUES ({order}, 'again {n}')",
            f"REPLACE INTO item VALUES ({order}, {self.rng.randrange(ORDERS_OF_WORK)}, {product})",
            f"DELETE FROM product WHERE id = {product}",
            f"REPLACE INTO product VALUES ({product}, 'again {n}')"))
        with self.connection.cursor() as cursor:
            cursor.execute(statement)
        self.n += 1

    def more(self, n):
        until = self.n + n
        wait_until("the work goes on", lambda: self.error or self.n >= until)


ORDERS_OF_WORK = 1500


def test_random_work_on_rows_in_very_many_documents_with_builds_and_kills(w):
    load(w, ORDERS_OF_WORK)
    w.sql("INSERT INTO product VALUES (3, 'pan'), (4, 'jar')",
          "INSERT INTO item SELECT id + 2000000, id, 3 FROM orders WHERE id % 5 > 0")
    daemon, n_runs = follow(w), 0
    with Work(w) as work:
        for turn in range(3):
            work.more(w.rng.randrange(5, 25))
            if turn % 2 == 1:
                daemon.command("index", "create", f"{w.schema}.orders", ok=None)
            work.more(w.rng.randrange(1, 10))
            n_runs += runs(daemon)
            daemon.kill()
            daemon.start()
    wait_until("no build is left", lambda: not w.table(daemon, "orders")["build"], 60)
    w.equal(daemon, seconds=60)
    if n_runs + runs(daemon) == 0:
        raise Failed("no row led to very many documents")


BACKLOG = 60000


def written(w, daemon):
    """Documents but for those of the row that leads to very many."""
    return daemon.metric("millrace_documents_total", op="index", result="ok") - progress(daemon)


def share_behind_a_backlog(w, share):
    """Of all documents that are written while the topic is behind, in percent, those of a row that leads to very many."""
    w.make_schema()
    load(w, 20000)
    w.sql("CREATE TABLE note (id INT PRIMARY KEY, product_id INT)")
    both = definitions(w)
    both["tables"] += w.definitions({"table": "note", "relations": [
        {"from": "product_id", "table": "product", "to": "id", "as": "product", "columns": ["id"]}]})["tables"]
    slow = {"helpers": 1, "batch_max": 100, "load_batch": 100, "loads": 1}
    daemon = w.follow(both, delivery=slow | {"fan_out_share": share})
    daemon.kill()
    rename(w, "behind")
    w.load("".join(f"INSERT INTO note VALUES {', '.join(f'({i}, 2)' for i in range(n, n + 1000))};\n"
                   for n in range(0, BACKLOG, 1000)))
    daemon.start()
    # The first slice takes as long as there is to do before it, and tells how much that is.
    wait_until("the first slice is written", lambda: progress(daemon) >= 50, 100, 0.01)
    before = progress(daemon), written(w, daemon)
    wait_until("the row is worked off, or the backlog", lambda: runs(daemon) == 1 or written(w, daemon) >= BACKLOG, 100, 0.01)
    done, others = progress(daemon) - before[0], written(w, daemon) - before[1]
    w.equal(daemon, seconds=120)
    daemon.stop()
    w.engine.ask("DELETE", f"/{w.schema}-*", ok=(200, 404))
    print(f"# {share} percent wanted: {done} documents of the row, {others} others")
    if done + others == 0:
        raise Failed("the backlog was over before the first slice: nothing can be told")
    return float(100 * done / (done + others))


def test_behind_a_backlog_of_another_index_a_row_in_very_many_documents_has_its_share(w):
    for share in (10, 50):
        found = share_behind_a_backlog(w, share)
        if found < share / 2:
            raise Failed(f"{found:.1f} percent of what was written while the topic was behind, of {share}")


OWN_BACKLOG, OWN_SHARE = 6000, 25


def test_behind_a_backlog_of_its_own_index_a_row_in_very_many_documents_has_its_share(w):
    load(w)
    slow = {"workers": 2, "helpers": 1, "batch_max": 100, "load_batch": 100, "loads": 1, "read_window": "0ms"}
    daemon = follow(w, delivery=slow | {"fan_out_share": OWN_SHARE})
    daemon.kill()
    w.load("".join(f"INSERT INTO orders VALUES {', '.join(f'({i}, 2)' for i in range(n, n + 1000))};\n"
                   for n in range(100000, 100000 + OWN_BACKLOG, 1000)))
    rename(w, "behind")
    daemon.start()
    wait_until("the row is to be worked off", lambda: daemon.metric("millrace_fan_out_jobs") > 0, 60, 0.01)
    before = progress(daemon), written(w, daemon)
    wait_until("the row is worked off, or the backlog",
               lambda: runs(daemon) == 1 or written(w, daemon) >= OWN_BACKLOG, 100, 0.01)
    done, others = progress(daemon) - before[0], written(w, daemon) - before[1]
    print(f"# {OWN_SHARE} percent wanted: {done} documents of the row, {others} others")
    if others < OWN_BACKLOG / 10:
        raise Failed("there was no backlog")
    # The first slices are small; without a share of the queue one of them is written.
    if done < (done + others) * OWN_SHARE / 400:
        raise Failed(f"{done} documents of the row were written while {others} others were")
    w.equal(daemon, seconds=120)

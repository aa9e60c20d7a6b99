"""A server that documents show tables of, and that does not answer: who needs it waits, and nobody else."""
import signal

from servers import Failed, wait_until
from test_servers import orders, two_servers

NEIGHBOURS = ("CREATE TABLE kind (id INT PRIMARY KEY, name VARCHAR(40))",
              "CREATE TABLE thing (id INT PRIMARY KEY, kind_id INT, KEY (kind_id))",
              "INSERT INTO kind VALUES (1, 'as it was')", "INSERT INTO thing VALUES (1, 1), (2, 1)")


def things():
    return {"table": "thing", "relations": [
        {"from": "kind_id", "table": "kind", "to": "id", "as": "kind", "refresh": "parent"}]}


def many_changes(w, sql, n):
    connection = w.db.connect(w.schema)
    with connection.cursor() as cursor:
        for i in range(n):
            cursor.execute(sql, (f"n{i}",))
    connection.close()


def goes_on(w, what):
    """Documents that are found and read again at the documents' own server alone.

    Who waits for the other one does so for good, or for a minute where it hangs."""
    for turn in range(3):
        w.sql(f"UPDATE kind SET name = '{what} {turn}'")
        wait_until("a related change of a neighbour is shown", lambda: (
            w.engine.get(w.index("thing"), 1)["kind"]["name"] == f"{what} {turn}"), 45)


def begin(w):
    abroad = two_servers(w)
    w.sql(*NEIGHBOURS)
    daemon = w.follow(abroad.definitions(orders("parent"), things()))
    abroad.equal(daemon)
    return abroad, daemon


def test_related_changes_of_other_tables_do_not_wait_for_a_server_that_is_away(w):
    abroad, daemon = begin(w)
    abroad.server.kill()
    w.sql("UPDATE country SET name = 'moved' WHERE id = 1")  # leads to documents over the server that is away
    goes_on(w, "away")
    # More than wait for being looked for at a time.
    many_changes(w, "UPDATE country SET name = %s WHERE id = 2", 3000)
    goes_on(w, "still")
    daemon.kill()
    daemon.start()
    goes_on(w, "anew")
    abroad.server.start(*abroad.server.options)
    abroad.equal(daemon, seconds=60)
    wait_until("nothing is left to be worked off", lambda: daemon.metric("millrace_fan_out_jobs") == 0)


def test_related_changes_of_other_tables_do_not_wait_for_a_server_that_hangs(w):
    abroad, daemon = begin(w)
    abroad.server.signal(signal.SIGSTOP)
    try:
        w.sql("UPDATE country SET name = 'moved'", "UPDATE orders SET code = 'x'")
        goes_on(w, "hung")
        many_changes(w, "UPDATE orders SET code = %s WHERE id = 1", 300)
        w.sql("INSERT INTO thing VALUES (3, 1)")
        goes_on(w, "still")
        if w.engine.get(w.index("orders"), 1)["code"] != "a":
            raise Failed("the test shows nothing: the server answers")
    finally:
        abroad.server.signal(signal.SIGCONT)
    abroad.equal(daemon, seconds=60)

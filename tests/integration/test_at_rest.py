"""The store lies on the server that is followed: each position that is saved there comes back in the log."""
from servers import Failed, stays, wait_until


def rests(w):
    """A daemon that follows a table, and keeps what it knows in a database of the same server."""
    w.sql("CREATE TABLE thing (id INT PRIMARY KEY, a INT)", "INSERT INTO thing VALUES (1, 1), (2, 2)",
          "CREATE TABLE other (id INT PRIMARY KEY AUTO_INCREMENT, a INT)")
    store = store_of(w)
    w.db.sql(f"DROP DATABASE IF EXISTS {store}", f"CREATE DATABASE {store}", f"GRANT ALL ON {store}.* TO millrace@'127.0.0.1'")
    daemon = w.follow(w.definitions({"table": "thing"}), store=f"mysql://millrace@127.0.0.1:{w.db.port}/{store}",
                      store_password_file="source.password")
    w.equal(daemon)
    change(w)
    return daemon


def store_of(w):
    return f"{w.schema}_store"


def leaves(w, daemon):
    daemon.stop()
    w.db.sql(f"DROP DATABASE {store_of(w)}")


def log_end(w):
    name, offset = w.db.log_end()
    return number(name), int(offset)


def number(name):
    return int((name.decode() if isinstance(name, bytes) else name).rsplit(".", 1)[1])


def saved(w):
    (name, offset), = w.db.sql(f"SELECT log_file, log_offset FROM {store_of(w)}.checkpoint")
    return number(name), int(offset)


def saves(w, since):
    """How many transactions the log has from there."""
    name, offset = since
    return sum(1 for event in w.db.sql(f"SHOW BINLOG EVENTS IN '{name}' FROM {offset}") if event[2] == "Xid")


def change(w, statement="UPDATE thing SET a = a + 1"):
    """A change of the table that is followed; when this ends, a position behind it is saved."""
    before = log_end(w)
    w.sql(statement)
    wait_until(lambda: f"a position behind {before} is saved; it is {saved(w)}", lambda: saved(w) > before)


def works_aside(w, transactions=20):
    w.sql(*["INSERT INTO other (a) VALUES (1)"] * transactions)
    return log_end(w)


def test_at_rest_a_store_on_the_followed_server_is_not_written_for_its_own_writes(w):
    daemon = rests(w)
    since = w.db.log_end()
    stays(lambda: f"at most 3 transactions at rest, there are {saves(w, since)}", lambda: saves(w, since) <= 3, 5)
    change(w)
    w.equal(daemon)
    leaves(w, daemon)


def test_a_position_that_moved_aside_is_saved_with_the_next_change_the_next_file_and_a_clean_end(w):
    daemon = rests(w)
    before, aside = saved(w), works_aside(w)
    read = lambda: next((number(t["file"]), int(t["position"])) for t in daemon.json("status")["topics"])
    wait_until(lambda: f"status shows what was read, {read()} of {aside}", lambda: read() >= aside)
    if saved(w) >= aside:
        raise Failed(f"{saved(w)} was saved for transactions that concern nothing; it was {before}")
    change(w)
    change(w, "ALTER TABLE thing ADD COLUMN b INT")
    w.db.sql("FLUSH BINARY LOGS")
    file = log_end(w)[0]
    wait_until(lambda: f"a position in file {file} is saved; it is {saved(w)}", lambda: saved(w)[0] >= file)
    aside = works_aside(w)
    wait_until(lambda: f"status shows what was read, {read()} of {aside}", lambda: read() >= aside)
    daemon.stop()
    if saved(w) < aside:
        raise Failed(f"the last position that was saved, {saved(w)}, is not that of the end, {aside}")
    daemon.start()
    change(w)
    w.equal(daemon)
    leaves(w, daemon)


def test_killed_at_rest_it_goes_on_from_where_it_saved(w):
    daemon = rests(w)
    for _ in range(3):
        works_aside(w)
        daemon.kill()
        w.sql("DELETE FROM thing WHERE id = 2", "INSERT INTO thing VALUES (2, 20)")
        daemon.start()
        w.equal(daemon)
    change(w)
    leaves(w, daemon)

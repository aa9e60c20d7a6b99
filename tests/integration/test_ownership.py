"""A topic that another node takes: what this node stores for it is refused, and nobody needs to do anything."""
import signal

from abroad import Abroad
from members import Way, is_stopped
from servers import Failed, wait_until
from test_dead_letters import letters
from test_one_store import change, follow, make_store, on_store, store_of


def term(w):
    return int(w.db.sql(f"SELECT term FROM {store_of(w)}.term WHERE thing LIKE 'topic/%'")[0][0])


def take(w):
    """As another node would."""
    w.db.sql(f"UPDATE {store_of(w)}.term SET term = term + 1 WHERE thing LIKE 'topic/%'")


def topic(daemon):
    return daemon.status(ok=(0, 1))["topics"][0]


def position(w):
    return w.db.sql(f"SELECT log_file, log_offset FROM {store_of(w)}.checkpoint")[0]


def end(w, daemon):
    daemon.stop()
    w.db.sql(f"DROP DATABASE {store_of(w)}")


def test_a_topic_that_was_taken_is_left_without_storing_anything_and_comes_back_by_itself(w):
    daemon = follow(w)
    for value in 11, 12, 13:
        before = term(w)
        stored = position(w)
        take(w)
        w.sql(f"UPDATE thing SET a = {value} WHERE id = 1")
        wait_until("the node takes it again", lambda: term(w) == before + 2, 60)
        if position(w) < stored:
            raise Failed(f"the position went back from {stored} to {position(w)}")
        change(w, daemon, value + 100)
        wait_until("the topic runs", lambda: topic(daemon)["state"] == "running", 30)
    log = daemon.log_tail(10**6)
    if log.count("another node has taken the topic") != 3 or "resume" in log:
        raise Failed(f"a person was needed:\n{log[-3000:]}")
    end(w, daemon)


def test_a_lost_topic_without_a_position_comes_back_too(w):
    """It chooses an epoch, and stores it, before it reads anything."""
    daemon = follow(w)
    before = term(w)
    take(w)
    w.db.sql(f"DELETE FROM {store_of(w)}.checkpoint")
    w.sql("UPDATE thing SET a = 3 WHERE id = 1")
    wait_until("the node takes it again", lambda: term(w) >= before + 2, 60)
    wait_until("the topic runs", lambda: topic(daemon)["state"] == "running", 30)
    change(w, daemon, 4)
    end(w, daemon)


def test_what_a_lost_topic_cannot_store_is_stored_once_it_is_back(w):
    """A dead letter and a stopped table must keep no thread waiting, nor be forgotten."""
    w.sql("CREATE TABLE other (id INT PRIMARY KEY, code VARCHAR(20))", "INSERT INTO other VALUES (1, '1')",
          "CREATE TABLE third (id INT PRIMARY KEY)", "INSERT INTO third VALUES (1)")
    daemon = follow(w, {"table": "other", "columns": ["id", {"name": "code", "type": "integer"}]}, {"table": "third"})
    take(w)
    w.sql("INSERT INTO other VALUES (2, 'no number')")
    wait_until("the letter is stored", lambda: len(letters(daemon)) == 1, 60)
    take(w)
    w.sql("DROP TABLE third")
    wait_until("the table is stopped", lambda: w.table(daemon, "third")["state"] == "stopped", 60)
    end(w, daemon)


def other_reader(w):
    """A daemon with a store of its own, which reads with the server id of our topic."""
    server_id = w.db.sql(f"SELECT content FROM {store_of(w)}.setting WHERE name LIKE 'server_id/%'")[0][0]
    definitions = w.definitions({"table": "thing"})
    definitions["topics"][0]["server_id"] = int(server_id.decode() if isinstance(server_id, bytes) else server_id)
    other = w.millrace()
    other.apply(definitions)
    return other


def test_a_reader_that_the_new_owners_replaced_is_no_failure(w):
    daemon = follow(w)
    wait_until("the topic runs", lambda: topic(daemon)["state"] == "running", 30)
    take(w)
    other = other_reader(w)  # no change comes, so only the end of its reader tells the first that the topic is another's
    wait_until("the topic is lost", lambda: "another node has taken the topic" in daemon.log_tail(10**6), 60)
    other.stop()
    change(w, daemon, 7)
    end(w, daemon)


def test_a_reader_that_a_former_owners_replaced_reads_on_by_itself(w):
    daemon = follow(w)
    wait_until("the topic runs", lambda: topic(daemon)["state"] == "running", 30)
    other = other_reader(w)
    wait_until("its reader has ended", lambda: "the source is stopped" in daemon.log_tail(10**6), 60)
    other.kill()
    change(w, daemon, 7)
    wait_until("the topic runs", lambda: topic(daemon)["state"] == "running", 30)
    end(w, daemon)


def test_what_held_an_index_before_the_topic_was_lost_does_not_once_it_is_back(w):
    """A node hangs while a write is on its way; the answer tells of the next owner's version, which it never read of."""
    w.sql("CREATE TABLE third (id INT PRIMARY KEY)", "INSERT INTO third VALUES (1)")
    with Way(w.engine.port) as engine:
        daemon = follow(w, {"table": "third"}, search={"url": [f"http://127.0.0.1:{engine.port}"]})
        change(w, daemon, 2)
        path = f"/{w.index('thing')}/_doc/1"
        version = int(w.engine.ask("GET", path)["_version"])
        engine.freeze()
        w.sql("UPDATE thing SET a = 3 WHERE id = 1")
        wait_until("the write is on its way", lambda: daemon.status(ok=(0, 1))["delivery"]["in_flight"] > 0)
        daemon.process.send_signal(signal.SIGSTOP)
        wait_until("it stands still", lambda: is_stopped(daemon.process.pid))
        w.db.kill_connections("command LIKE 'Binlog Dump%'")
        w.sql("UPDATE thing SET a = 4 WHERE id = 1")
        take(w)
        version = (version >> 32 << 32) + int(w.db.sql("SHOW BINARY LOGS")[-1][1])
        w.engine.ask("PUT", f"{path}?version={version}&version_type=external", {"id": 1, "a": 4})
        engine.thaw()
        daemon.process.send_signal(signal.SIGCONT)
        wait_until("the index is held, or the loss is noticed before the answer", lambda: "outside our lineage" in daemon.log_tail(10**6) or
                   "another node has taken the topic" in daemon.log_tail(10**6), 20)
        w.sql("UPDATE thing SET a = 5 WHERE id = 1", "DROP TABLE third")  # what follows from it cannot be stored
        wait_until("the topic is lost", lambda: "another node has taken the topic" in daemon.log_tail(10**6), 60)
        wait_until("its changes arrive", lambda: w.engine.get(w.index("thing"), 1)["a"] == 5, 30)
        daemon.stop()
    w.db.sql(f"DROP DATABASE {store_of(w)}")


def test_a_topic_that_meets_what_the_lost_one_must_store_starts_again_by_itself(w):
    """The log abroad says that a table of these documents is gone, which only their own topic's owner stores."""
    w.sql("CREATE TABLE orders (id INT PRIMARY KEY, customer_id INT)", "INSERT INTO orders VALUES (1, 1)")
    abroad = Abroad(w)
    abroad.sql("CREATE TABLE customer (id INT PRIMARY KEY, name VARCHAR(40))", "INSERT INTO customer VALUES (1, 'Ada')",
               "CREATE TABLE shown (id INT PRIMARY KEY, a INT)", "INSERT INTO shown VALUES (1, 1)")
    make_store(w)
    definitions = abroad.definitions(
        {"table": "orders", "relations": [
            {"from": "customer_id", "table": "abroad.customer", "to": "id", "as": "customer", "refresh": "parent"}]},
        {"table": "abroad.shown"})
    daemon = w.follow(definitions, **on_store(w))
    abroad.equal(daemon)
    home = definitions["topics"][0]["name"]
    w.db.sql(f"UPDATE {store_of(w)}.term SET term = term + 1 WHERE thing = 'topic/{home}'")
    abroad.sql("DROP TABLE customer")
    wait_until("the table is stopped", lambda: w.table(daemon, "orders")["state"] == "stopped", 60)
    abroad.sql("UPDATE shown SET a = 2")
    abroad.equal(daemon, ["abroad.shown"], 60)
    log = daemon.log_tail(10**6)
    if "the topic met what only the owner of another topic may store" not in log:
        raise Failed(f"abroad met nothing:\n{log[-3000:]}")
    end(w, daemon)


def test_a_paused_topic_that_was_taken_is_taken_back_so_that_its_versions_can_be_deleted(w):
    daemon = follow(w)
    daemon.build(f"{w.schema}.thing", "--keep", "1")
    name = topic(daemon)["name"]
    daemon.command("topic", "pause", name)
    take(w)
    said = daemon.command("index", "delete", f"{w.schema}.thing", "1", "--yes", ok=(75,))
    if "is owned by another node now" not in said.stderr or "try again in a few seconds" not in said.stderr:
        raise Failed(f"no fix is named: {said.stderr}")
    wait_until("version 1 is deleted", lambda: daemon.command(
        "index", "delete", f"{w.schema}.thing", "1", "--yes", ok=(0, 75)).returncode == 0, 30)
    daemon.command("topic", "resume", name)
    change(w, daemon, 9)
    end(w, daemon)


def lose(w, *changes):
    """Another node takes the topic; ours hears of it from what it stores next, and takes it again."""
    before = term(w)
    take(w)
    for statement in changes:
        w.sql(statement)
    wait_until("the node takes it again", lambda: term(w) == before + 2, 60)


def fill(w):
    w.sql("INSERT INTO thing SELECT 10 + seq, seq FROM seq_1_to_3000")


def test_a_build_of_a_topic_that_is_taken_goes_on_from_its_cursor_when_the_topic_is_back(w):
    daemon = follow(w)
    fill(w)
    w.equal(daemon)
    daemon.command("index", "create", f"{w.schema}.thing", "--rate", "500", "--no-wait")
    index = f"{w.index('thing')}_v2"
    wait_until("rows are read", lambda: w.engine.count(index) >= 1000, 30)
    lose(w)
    if w.engine.count(index) < 1000:
        raise Failed("the build began again")
    daemon.command("index", "set", f"{w.schema}.thing", "--rate", "0", ok=None)
    wait_until("the build ends", lambda: w.table(daemon, "thing")["version"] == 2, 60)
    change(w, daemon, 9)
    if "index build failed" in daemon.log_tail(10**6):
        raise Failed(daemon.log_tail(3000))
    end(w, daemon)


def test_a_verification_of_a_topic_that_is_taken_goes_on_when_the_topic_is_back(w):
    daemon = follow(w)
    fill(w)
    w.equal(daemon)
    job = daemon.json("verify", f"{w.schema}.thing", "--rate", "400", "--no-wait")["job"]
    report = lambda: daemon.json("report", "get", job, ok=None)
    wait_until("it has read some rows", lambda: report().get("rows_done", 0) > 500, 30)
    lose(w)
    answer = wait_until("it has ended", lambda: (r := report()).get("verdict") and r, 60)
    if answer["verdict"] != "equal" or answer["documents"] != 3002:
        raise Failed(f"{answer}")
    log = daemon.log_tail(10**6)
    if log.count("a verification has ended") != 1 or "a verification cannot go on yet" in log:
        raise Failed(log[-3000:])
    end(w, daemon)


def test_a_purged_key_whose_document_was_written_before_the_topic_was_taken_stays(w):
    """The engine may have refused the document after the loss, which left no dead letter."""
    daemon = follow(w)
    index = f"{w.index('thing')}_v1"
    w.equal(daemon)
    daemon.kill()
    w.db.sql(f"INSERT INTO {store_of(w)}.purged (topic, table_name, index_name, doc_id, routing, key_bytes, version, unanswered, times, at_ms)"
             f" VALUES ('{w.schema}', '{w.schema}.thing', '{index}', '1', '', X'0100000031', 1, 0, 1, 1)")
    w.engine.ask("DELETE", f"/{index}/_doc/1")
    daemon.start(environment={"MILLRACE_FAILPOINT": "purged_written:1:wait=15000"})
    wait_until("the document is written", lambda: w.engine.get(index, 1), 30)
    lose(w, "UPDATE thing SET a = a + 1 WHERE id = 2")
    w.engine.ask("DELETE", f"/{index}/_doc/1")
    wait_until("the document is written again", lambda: w.engine.get(index, 1), 60)
    wait_until("the key is gone", lambda: not daemon.status()["delivery"]["purged"], 60)
    end(w, daemon)

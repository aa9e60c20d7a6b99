"""A document that the engine refuses is kept with its reason; the rest goes through."""
import os

from servers import Engine, Failed, wait_until
from world import PASSWORD


def followed(w, **config):
    w.sql("CREATE TABLE part (id INT PRIMARY KEY, code VARCHAR(20), a INT)",
          "INSERT INTO part VALUES (1, '10', 1), (2, '20', 1), (3, '30', 1)")
    return w.follow(w.definitions({"table": "part", "columns": ["id", {"name": "code", "type": "integer"}, "a"]}), **config)


def letters(daemon):
    return daemon.json("dead-letter", "list")["items"]


def check_pages(daemon):
    """What is listed says whether there is more, and where that begins."""
    ids, page, after = [x["id"] for x in letters(daemon)], [], 0
    while after is not None:
        listed = daemon.json("dead-letter", "list", "--limit", "16", "--after", str(after))
        page, after = page + [x["id"] for x in listed["items"]], listed.get("more_after")
    if page != ids:
        raise Failed(f"page by page they are {page}, and all at once {ids}")
    said = daemon.command("dead-letter", "list", "--limit", "39").stdout
    if f"there are more: --after {ids[38]}" not in said or "there are more" in daemon.command("dead-letter", "list", "--limit", "40").stdout:
        raise Failed(f"the list of 39 of 40 ends with {said[-100:]}")


def broken(w, daemon):
    w.sql("UPDATE part SET a = 2 WHERE id = 1", "UPDATE part SET code = 'abc' WHERE id = 2",
          "UPDATE part SET a = 2 WHERE id = 3")
    wait_until("a dead letter", lambda: len(letters(daemon)) == 1)
    letter = letters(daemon)[0]
    wait_until("the others go through", lambda: (w.engine.get(w.index("part"), 3) or {}).get("a") == 2)
    return letter


def test_a_value_that_does_not_fit_its_field_is_kept_with_its_reason(w):
    daemon = followed(w)
    letter = broken(w, daemon)
    if letter["doc_id"] != "2" or "code" not in letter["reason"] + str(letter):
        raise Failed(f"the letter is {letter}")
    shown = daemon.command("dead-letter", "show", str(letter["id"])).stdout
    if "abc" not in shown:
        raise Failed(f"show does not give the document: {shown}")
    wait_until("the metric millrace_dead_letters is 1", lambda: daemon.metric("millrace_dead_letters") == 1)
    if daemon.metric("millrace_dead_letters_total", reason="refused") != 1:
        raise Failed("the letter is not counted as one that the engine refused")
    daemon.kill()
    daemon.start()
    if len(letters(daemon)) != 1:
        raise Failed("a restart changed the number of dead letters")


def test_a_letter_says_where_its_row_is_in_the_log(w):
    daemon = followed(w)
    letter = broken(w, daemon)
    file, offset = letter["position"].rsplit(":", 1)
    events = w.db.sql(f"SHOW BINLOG EVENTS IN '{file}'")
    ends = [event[4] for event in events if "Update_rows" in event[2]]
    if int(offset) not in ends:
        raise Failed(f"no UPDATE of {file} ends at {offset}, but at {ends}")
    begins = [event[5] for event in events if "Gtid" in event[2] and event[1] < int(offset)]
    anonymous = "ANONYMOUS" in begins[-1]
    if (letter["gtid"] != "") == anonymous or letter["gtid"] not in begins[-1]:
        raise Failed(f"it is of {letter['gtid']}, and its transaction begins with {begins[-1]}")


def test_a_build_says_that_it_lacks_documents(w):
    daemon = followed(w)
    w.sql("UPDATE part SET code = 'abc' WHERE id = 2")
    done = daemon.build(f"{w.schema}.part")
    if f"dead-letter list --index {w.index('part')}_v2" not in done.stderr:
        raise Failed(f"nothing is said of the dead letter: {done.stdout}{done.stderr}")
    w.sql("UPDATE part SET code = '78' WHERE id = 2")
    done = daemon.build(f"{w.schema}.part")
    if "dead-letter" in done.stderr:
        raise Failed(f"there is no dead letter, but {done.stderr}")


def test_the_repaired_row_goes_through_and_its_letter_is_gone(w):
    daemon = followed(w)
    broken(w, daemon)
    w.sql("UPDATE part SET code = '77' WHERE id = 2")
    w.equal(daemon)
    wait_until("the letter is gone", lambda: not letters(daemon), 10)


def test_replay_reads_the_row_again(w):
    daemon = followed(w)
    letter = broken(w, daemon)
    daemon.command("dead-letter", "replay", str(letter["id"]))
    wait_until("it fails again and is kept", lambda: letters(daemon) and letters(daemon)[0]["attempts"] >= 2, 10)


def test_very_many_letters_are_replayed_while_nothing_happens_in_the_log(w):
    daemon = followed(w)
    w.sql("DELETE FROM part", *(f"INSERT INTO part VALUES ({i}, '1', 1)" for i in range(200)))
    w.equal(daemon)
    w.sql("UPDATE part SET a = 2, code = IF(id % 5 = 0, 'abc', code)")
    wait_until("forty dead letters", lambda: len(letters(daemon)) == 40)
    check_pages(daemon)
    for attempts in (2, 3):
        if daemon.json("dead-letter", "replay", "--all")["count"] != 40:
            raise Failed("not all of them are replayed")
        wait_until("each fails again and is kept", lambda: [x["attempts"] >= attempts for x in letters(daemon)] == [True] * 40, 20)


def test_where_no_more_letters_are_kept_the_index_is_held_until_there_is_room(w):
    daemon = followed(w, dead_letters={"max": 3})
    w.sql("CREATE TABLE other (id VARCHAR(10) PRIMARY KEY)")
    daemon.apply(w.definitions({"table": "other"}))
    daemon.command("index", "create", f"{w.schema}.other", "--wait")
    w.sql("DELETE FROM part", *(f"INSERT INTO part VALUES ({i}, '1', 1)" for i in range(8)))
    w.equal(daemon)
    for i in range(6):
        w.sql(f"UPDATE part SET code = 'abc' WHERE id = {i}")
        wait_until("a letter, or no room for it", lambda: len(letters(daemon)) == min(i + 1, 3), 20)
    wait_until("the index is held", lambda: "dead_letters.max" in w.table(daemon, "part")["reason"], 20)
    if "dead_letters.max" not in str(daemon.json("doctor", ok=None)):
        raise Failed("doctor does not tell of it")
    w.sql("INSERT INTO other VALUES ('')", "INSERT INTO other VALUES ('1')", "UPDATE part SET a = 7 WHERE id = 7")
    wait_until("other indexes go on", lambda: w.engine.get(w.index("other"), 1) is not None, 20)
    daemon.command("dead-letter", "discard", "--all", "--yes")
    wait_until("the index goes on", lambda: (w.engine.get(w.index("part"), 7) or {}).get("a") == 7, 60)
    wait_until("those that had to wait are kept", lambda: sorted(x["doc_id"] for x in letters(daemon)) == ["3", "4", "5"], 30)


def test_letters_are_replayed_when_the_running_index_gets_a_mapping_that_takes_them(w):
    daemon = followed(w)
    broken(w, daemon)
    daemon.apply(w.definitions({"table": "part", "columns": ["id", {"name": "code", "type": "integer"}, "a"],
                                "mapping": {"properties": {"code": {"ignore_malformed": True}}}}))
    wait_until("the letter is gone", lambda: not letters(daemon), 30)
    if w.table(daemon, "part")["version"] != 1 or (w.engine.get(w.index("part"), 2) or {}).get("code") != "abc":
        raise Failed("the document is not in the index that refused it")


def test_a_kill_before_letters_are_replayed_has_the_next_daemon_replay_them(w):
    daemon = followed(w)
    broken(w, daemon)
    daemon.stop()
    daemon.start(environment={"MILLRACE_FAILPOINT": "replay_wanted:1:kill"})
    daemon.apply(w.definitions({"table": "part", "columns": ["id", {"name": "code", "type": "integer"}, "a"],
                                "mapping": {"properties": {"code": {"ignore_malformed": True}}}}), ok=None)
    wait_until("it is killed", lambda: daemon.process.poll() is not None, 30)
    daemon.start()
    wait_until("the letter is gone", lambda: not letters(daemon), 30)
    if w.table(daemon, "part")["version"] != 1 or (w.engine.get(w.index("part"), 2) or {}).get("code") != "abc":
        raise Failed("the document is not in the index that refused it")


def test_a_replay_while_its_topic_is_not_followed_says_that_it_is_too_early(w):
    """And does not say that the letter can be discarded."""
    daemon = followed(w)
    broken(w, daemon)
    daemon.stop()
    password = os.path.join(daemon.folder, "source.password")
    os.rename(password, password + ".away")
    daemon.start()
    said = daemon.command("dead-letter", "replay", "--all", ok=None)
    if said.returncode == 0 or "not running yet" not in said.stderr or "discard" in said.stderr:
        raise Failed(f"it says {said.stderr}")
    os.rename(password + ".away", password)
    w.sql("UPDATE part SET code = '25' WHERE id = 2")
    w.equal(daemon)
    wait_until("the letter is gone", lambda: not letters(daemon), 10)


def test_discard_forgets_the_letter(w):
    daemon = followed(w)
    letter = broken(w, daemon)
    daemon.command("dead-letter", "discard", str(letter["id"]), "--yes")
    if letters(daemon):
        raise Failed("it is still there")


def test_a_refused_row_in_a_build_is_kept_and_the_build_ends(w):
    w.sql("CREATE TABLE part (id INT PRIMARY KEY, code VARCHAR(20))",
          "INSERT INTO part VALUES (1, '10'), (2, 'abc'), (3, '30')")
    daemon = w.follow(w.definitions({"table": "part", "columns": ["id", {"name": "code", "type": "integer"}]}))
    wait_until("a dead letter", lambda: [x["doc_id"] for x in letters(daemon)] == ["2"])
    if w.engine.count(w.index("part")) != 2:
        raise Failed("the other rows are not there")


def test_a_document_that_is_too_large_is_kept_and_the_rest_goes_through(w):
    w.engine = w.also(Engine("small-requests"))
    w.engine.start("http.max_content_length=4mb")
    w.sql("CREATE TABLE part (id INT PRIMARY KEY, body LONGTEXT)")
    daemon = w.follow(w.definitions({"table": "part", "columns": ["id", {"name": "body", "type": "text"}]}))
    w.sql("INSERT INTO part VALUES (1, 'small'), (2, REPEAT('large ', 1000000)), (3, 'small')")
    wait_until("a dead letter", lambda: [x["doc_id"] for x in letters(daemon)] == ["2"])
    wait_until("the others", lambda: w.engine.count(w.index("part")) == 2)


def test_a_document_that_the_engine_has_no_room_for_is_kept_and_no_other_table_waits(w):
    """It answers 429, as if it were busy, to what is above its indexing pressure, or above its heap."""
    w.engine = w.also(Engine("small-heap"))
    w.engine.heap = "256m"
    w.engine.start("indexing_pressure.memory.limit=5mb")
    w.sql("SET GLOBAL max_allowed_packet = 1 << 30")
    w.sql("CREATE TABLE part (id INT PRIMARY KEY, body LONGTEXT)", "CREATE TABLE other (id INT PRIMARY KEY, a INT)")
    daemon = w.follow(w.definitions({"table": "part", "columns": ["id", {"name": "body", "type": "text"}]}, {"table": "other"}),
                      source={"event_max": "256MiB"}, delivery={"bytes": "16MiB"})
    for mebibytes, key in ((6, 2), (80, 3)):
        w.sql(f"INSERT INTO part VALUES ({key}, REPEAT('large ', {(mebibytes << 20) // 6}))",
              f"INSERT INTO part VALUES ({key}0, 'small')",
              *(f"REPLACE INTO other VALUES ({i}, {key})" for i in range(20)))
        w.equal(daemon, [f"{w.schema}.other"], seconds=60)
        found = wait_until("a dead letter", lambda k=str(key): [x for x in letters(daemon) if x["doc_id"] == k], 90)
        if found[0]["status"] != 429 or "a request of" not in found[0]["reason"]:
            raise Failed(f"the dead letter is {found[0]}")
    wait_until("the others", lambda: w.engine.count(w.index("part")) == 2)
    for table in ("part", "other"):
        if w.table(daemon, table)["state"] != "available":
            raise Failed(f"{table} is {w.table(daemon, table)}")


def test_a_dead_letter_whose_row_stands_in_other_documents_as_well_builds_these_again(w):
    """An empty key is no _id; the row is below the other one all the same."""
    w.sql("CREATE TABLE node (id VARCHAR(10) PRIMARY KEY, above VARCHAR(10), a INT, KEY (above))",
          "INSERT INTO node VALUES ('', NULL, 1), ('x', '', 1)")
    daemon = w.follow(w.definitions({"table": "node", "relations": [
        {"from": "above", "table": "node", "to": "id", "as": "over", "max_depth": 1, "columns": ["a"]}]}))
    w.sql("UPDATE node SET a = 2 WHERE id = ''")
    w.equal(daemon)
    if w.engine.get(w.index("node"), "x")["over"] != {"a": 2}:
        raise Failed("the other document has the old row")


def test_a_row_leaves_its_document_when_its_new_key_makes_no_id_and_gets_one_when_it_does_again(w):
    w.sql("CREATE TABLE part (id VARCHAR(10) PRIMARY KEY, a INT)", "INSERT INTO part VALUES ('x', 1), ('y', 1)")
    daemon = w.follow(w.definitions({"table": "part"}))
    for statement, found in (("UPDATE part SET id = '' WHERE id = 'x'", ["y"]),
                             ("UPDATE part SET a = 2", ["y"]),
                             ("UPDATE part SET id = 'z' WHERE id = ''", ["y", "z"]),
                             ("UPDATE part SET id = '' WHERE id = 'z'", ["y"]), ("DELETE FROM part WHERE id = ''", ["y"])):
        w.sql(statement)
        w.equal(daemon)
        if sorted(key for key, _, _ in w.engine.documents(w.index("part"))) != found:
            raise Failed(f"after {statement} there are other documents than {found}")


def test_a_row_that_cannot_be_read_takes_no_other_documents_with_it(w):
    """The server refuses the whole statement for one row: unsigned numbers have nothing below 0."""
    w.sql("CREATE TABLE part (id INT PRIMARY KEY, had INT UNSIGNED, used INT UNSIGNED)",
          "INSERT INTO part VALUES " + ",".join(f"({i}, 10, 0)" for i in range(20)))
    daemon = w.follow(w.definitions({"table": "part", "filter": "had - used > 0"}))
    w.sql("UPDATE part SET used = IF(id = 7, 11, 1)")
    wait_until("the others", lambda: sum(d["used"] == 1 for _, d, _ in w.engine.documents(w.index("part"))) == 19)
    wait_until("a dead letter", lambda: letters(daemon))
    if [x["doc_id"] for x in letters(daemon)] != ["7"] or "out of range" not in str(letters(daemon)):
        raise Failed(f"the dead letters are {letters(daemon)}")
    w.sql("UPDATE part SET used = 2 WHERE id = 7")
    w.equal(daemon)
    wait_until("the letter is gone", lambda: not letters(daemon), 10)


def test_while_the_server_does_not_let_us_in_documents_wait(w):
    w.sql("CREATE TABLE part (id INT PRIMARY KEY, a INT)", "INSERT INTO part VALUES (1, 1), (2, 1)")
    daemon = w.follow(w.definitions({"table": "part", "filter": "a < 9"}))
    w.sql("UPDATE part SET a = 2")
    w.equal(daemon)
    w.sql("ALTER USER millrace@'127.0.0.1' IDENTIFIED BY 'another'")
    w.db.kill_connections("user = 'millrace' AND command NOT LIKE 'Binlog%'")
    w.sql("UPDATE part SET a = 3 WHERE id = 1")
    wait_until("a read fails", lambda: "could not read documents again" in daemon.log_tail(10**6))
    w.sql(f"ALTER USER millrace@'127.0.0.1' IDENTIFIED BY '{PASSWORD}'", "UPDATE part SET a = 3 WHERE id = 2")
    w.equal(daemon)
    if letters(daemon):
        raise Failed(f"there are dead letters: {letters(daemon)}")

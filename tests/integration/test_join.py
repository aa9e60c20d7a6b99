"""Parents and children in one index: the join field, routing, builds, moves, kills."""

from servers import Failed, open_store, wait_until
from workload import text

FORUM = ("CREATE TABLE question (id INT PRIMARY KEY, title VARCHAR(40)) CHARSET utf8mb4",
         "CREATE TABLE answer (id BIGINT PRIMARY KEY, question_id INT, body VARCHAR(40), KEY (question_id)) CHARSET utf8mb4",
         "CREATE TABLE remark (n INT, part SMALLINT, answer_id BIGINT, question_id INT, words VARCHAR(40), "
         "PRIMARY KEY (n, part), KEY (answer_id), KEY (question_id)) CHARSET utf8mb4")


def forum(w, shards=3):
    settings = {"number_of_shards": shards, "number_of_replicas": 0}
    return w.definitions(
        {"table": "question", "index": "forum", "settings": dict(settings), "join": {"name": "question"}},
        {"table": "answer", "index": "forum", "settings": dict(settings),
         "join": {"name": "answer", "parent": "question", "parent_column": "question_id"}},
        {"table": "remark", "index": "forum", "settings": dict(settings), "root_column": "question_id",
         "join": {"name": "remark", "parent": "answer", "parent_column": "answer_id"}})


# Below the remarks: the fourth level.
NOTE = ("CREATE TABLE note (id INT PRIMARY KEY, n INT, part SMALLINT, question_id INT, said VARCHAR(40), "
        "KEY (n, part), KEY (question_id)) CHARSET utf8mb4",)


def deep_forum(w, shards=3):
    definitions, settings = forum(w, shards), {"number_of_shards": shards, "number_of_replicas": 0}
    note = w.definitions({"table": "note", "index": "forum", "settings": settings, "root_column": "question_id",
                          "join": {"name": "note", "parent": "remark", "parent_column": ["n", "part"]}})
    return definitions | {"tables": definitions["tables"] + note["tables"]}


def found(w, index="forum"):
    """{_id: routing}"""
    return {key: source.get("_routing") for key, source, _ in w.engine.documents(w.index(index), routing=True)}


def test_children_lie_where_their_root_does_and_move_with_it(w):
    w.sql(*FORUM,
          "INSERT INTO question VALUES (1, 'a'), (2, 'b')",
          "INSERT INTO answer VALUES (10, 1, 'x'), (11, 2, 'y'), (12, NULL, 'nobody asked'), (13, 99, 'too early')",
          "INSERT INTO remark VALUES (5, 1, 10, 1, 'why'), (5, 2, 11, 2, 'how'), (6, 1, 10, NULL, 'by its path'), "
          "(7, 1, NULL, 1, 'lost'), (8, 1, 77, NULL, 'lost')")
    daemon = w.follow(forum(w))
    w.equal(daemon)
    expected = {"question:1": "question:1", "question:2": "question:2", "answer:10": "question:1",
                "answer:11": "question:2", "answer:13": "question:99", "remark:5,1": "question:1", "remark:5,2": "question:2", "remark:6,1": "question:1"}
    if found(w) != expected:
        raise Failed(f"built {found(w)}")
    for statements in (
            ["INSERT INTO question VALUES (99, 'late')"],
            ["UPDATE answer SET question_id = 2 WHERE id = 10", "UPDATE remark SET question_id = 1 WHERE answer_id = 10"],
            ["UPDATE answer SET question_id = 1 WHERE id = 12"],
            ["UPDATE answer SET question_id = NULL WHERE id = 11"],
            ["UPDATE remark SET answer_id = 11, question_id = 1 WHERE n = 7"],
            ["UPDATE answer SET id = 20, question_id = 1 WHERE id = 10"],
            ["UPDATE question SET id = 3 WHERE id = 1"],
            ["DELETE FROM answer WHERE id = 13", "DELETE FROM remark WHERE part = 2"]):
        w.sql(*statements)
        w.equal(daemon)
    has = w.engine.ask("POST", f"/{w.index('forum')}/_search", {"query": {"has_child": {
        "type": "answer", "query": {"match_all": {}}}}})
    if [hit["_id"] for hit in has["hits"]["hits"]]:
        raise Failed(f"no question has the key of an answer any more, but {has}")
    left_out = daemon.metric("millrace_rows_without_root_total")
    if left_out != 1:
        raise Failed(f"one change left a row without a root, but {left_out} are counted")


def test_a_row_in_the_middle_that_moves_takes_along_what_is_below_it(w):
    w.sql(*FORUM, *NOTE,
          f"INSERT INTO question VALUES {', '.join(f'({i}, {i})' for i in range(1, 7))}",
          "INSERT INTO answer VALUES (10, 1, 'x'), (11, 2, 'y')",
          "INSERT INTO remark VALUES (1, 1, 10, 1, 'a'), (2, 1, 10, NULL, 'b'), (3, 1, 11, 4, 'says another')",
          "INSERT INTO note VALUES (1, 1, 1, 1, 'a'), (2, 2, 1, NULL, 'b'), (3, 3, 1, 5, 'c'), (4, 9, 1, 6, 'no remark')")
    daemon, connection = w.follow(deep_forum(w)), w.db.connect(w.schema)
    w.equal(daemon)
    expected = {"remark:1,1": 1, "remark:2,1": 1, "remark:3,1": 2, "note:1": 1, "note:2": 1, "note:3": 2, "note:4": 6}
    below = {key: routing for key, routing in found(w).items() if key.startswith(("remark", "note"))}
    if below != {key: f"question:{n}" for key, n in expected.items()}:
        raise Failed(f"built {below}")
    with connection.cursor() as cursor:
        for statements in (
                ["UPDATE answer SET question_id = 3 WHERE id = 10"],
                ["UPDATE remark SET answer_id = 11 WHERE n = 1"],
                ["UPDATE remark SET answer_id = 10 WHERE n = 1", "UPDATE answer SET question_id = 4 WHERE id = 11"],  # both in the middle
                ["UPDATE answer SET question_id = 5 WHERE id = 11", "UPDATE remark SET answer_id = 11 WHERE n = 2",
                 "UPDATE answer SET question_id = 6 WHERE id = 10", "UPDATE note SET n = 1 WHERE id = 3"],
                ["UPDATE answer SET question_id = 77 WHERE id = 10"],  # that is not there
                ["UPDATE answer SET id = 20 WHERE id = 10"], ["UPDATE answer SET id = 10 WHERE id = 20"],
                ["DELETE FROM answer WHERE id = 10"], ["INSERT INTO answer VALUES (10, 3, 'again')"],
                ["DELETE FROM answer WHERE id = 10", "INSERT INTO answer VALUES (10, 1, 'and again')"],
                ["UPDATE answer SET question_id = NULL WHERE id = 11"], ["UPDATE remark SET question_id = NULL"],
                ["UPDATE answer SET question_id = 2"], ["DELETE FROM remark WHERE n = 2", "UPDATE answer SET question_id = 1"],
                ["UPDATE remark SET n = 9 WHERE n = 1"], ["DELETE FROM answer"], ["DELETE FROM remark"], ["DELETE FROM note"]):
            for statement in ["BEGIN", *statements, "COMMIT"]:
                cursor.execute(statement)
            w.equal(daemon)


def test_a_row_that_the_filter_leaves_out_has_no_document_wherever_it_lay(w):
    """Its root_column says another place, and a read does not find the row."""
    w.sql(*FORUM, f"INSERT INTO question VALUES {', '.join(f'({i}, {i})' for i in range(1, 7))}",
          f"INSERT INTO answer VALUES {', '.join(f'({i}, {i}, {i})' for i in range(1, 7))}",
          f"INSERT INTO remark VALUES {', '.join(f'({i}, 1, {i}, {i % 6 + 1}, {i})' for i in range(1, 7))}")
    definitions = forum(w)
    definitions["tables"][2]["filter"] = "words <> 'left out'"
    daemon = w.follow(definitions)
    for words, n in (("left out", 0), ("shown", 6), ("left out", 0)):
        w.sql(f"UPDATE remark SET words = '{words}'")
        w.equal(daemon)
        if sum(key.startswith("remark") for key in found(w)) != n:
            raise Failed(f"there are {found(w)}")


def left_out(daemon):
    return daemon.metric("millrace_rows_without_root_total")


def test_a_row_whose_root_nobody_knows_is_counted_and_written_when_its_parents_come(w):
    w.sql(*FORUM, *NOTE, "INSERT INTO question VALUES (1, 'a')")
    daemon, counted = w.follow(deep_forum(w)), 0
    for statement, more in (("INSERT INTO remark VALUES (5, 1, 77, NULL, 'no answer')", 1),
                            ("INSERT INTO note VALUES (1, 5, 1, NULL, 'below')", 1),
                            ("UPDATE remark SET words = 'still none'", 1),
                            ("INSERT INTO answer VALUES (77, NULL, 'no question')", 3),  # and what is below it again
                            ("UPDATE answer SET question_id = 1", 0)):
        w.sql(statement)
        w.equal(daemon)
        counted += more
        wait_until(f"{counted} rows were left out after {statement}", lambda: left_out(daemon) == counted)
    all_of_them = {key: "question:1" for key in ("question:1", "answer:77", "remark:5,1", "note:1")}
    if found(w) != all_of_them:
        raise Failed(f"there are {found(w)}")
    w.sql("DELETE FROM answer")
    w.equal(daemon)
    wait_until("both rows below were left out", lambda: left_out(daemon) == counted + 2)
    daemon.command("index", "create", f"{w.schema}.question", "--wait")
    if found(w) != {"question:1": "question:1"}:
        raise Failed(f"built {found(w)}")
    w.sql("INSERT INTO answer VALUES (77, 1, 'after a build')")
    w.equal(daemon)
    if found(w) != all_of_them:
        raise Failed(f"there are {found(w)}")


# Keys that may make no _id.
WORDS = ("CREATE TABLE question (id VARCHAR(600) PRIMARY KEY, title VARCHAR(40)) CHARSET latin1",
         "CREATE TABLE answer (id VARCHAR(600) PRIMARY KEY, question_id VARCHAR(600), body VARCHAR(40), KEY (question_id)) CHARSET latin1",
         "CREATE TABLE remark (n INT PRIMARY KEY, answer_id VARCHAR(600), question_id VARCHAR(600), words VARCHAR(40), "
         "KEY (answer_id)) CHARSET latin1")


def letters(daemon):
    return sorted(letter["doc_id"] for letter in daemon.json("dead-letter", "list")["items"])


def test_a_row_whose_parent_makes_no_id_is_a_dead_letter_and_leaves_no_document(w):
    """By its own column in the place that it has, or by a column above it."""
    w.sql(*WORDS, "INSERT INTO question VALUES ('q', 'a'), ('p', 'b')", "INSERT INTO answer VALUES ('a', 'q', 'x'), ('b', 'p', 'y')",
          "INSERT INTO remark VALUES (1, 'a', 'q', 'own root'), (2, 'a', NULL, 'none'), (3, 'b', 'q', 'another')")
    daemon = w.follow(forum(w))
    w.equal(daemon)

    def see(statement, *expected):
        w.sql(statement)
        w.equal(daemon)
        wait_until(lambda: f"the dead letters are {expected} after {statement}, but {letters(daemon)}",
                   lambda: letters(daemon) == sorted(expected))

    for bad in ("''", "REPEAT('x', 600)"):
        see(f"UPDATE remark SET answer_id = {bad}", "remark:1", "remark:3")  # the second has no root then
        see("UPDATE remark SET words = 'still'", "remark:1", "remark:3")
        see("UPDATE remark SET answer_id = IF(n = 3, 'b', 'a')")
        see(f"INSERT INTO remark VALUES (4, {bad}, 'q', 'new')", "remark:4")
        see("DELETE FROM remark WHERE n = 4")
        see(f"UPDATE answer SET question_id = {bad} WHERE id = 'a'", "answer:a", "remark:1", "remark:2")
        see("UPDATE answer SET question_id = 'p' WHERE id = 'a'", "remark:1", "remark:2")  # nothing tells that these were
        daemon.command("dead-letter", "replay", "--all")
        wait_until("the dead letters are taken back", lambda: not letters(daemon))
        w.equal(daemon)
        see(f"UPDATE answer SET question_id = {bad} WHERE id = 'b'", "answer:b", "remark:3")
        see("DELETE FROM answer WHERE id = 'b'", "remark:3")
        daemon.command("dead-letter", "replay", "--all")
        wait_until("the dead letters are taken back", lambda: not letters(daemon))
        see("INSERT INTO answer VALUES ('b', 'p', 'y')")


def test_random_work_on_keys_that_make_no_id_leaves_no_document_at_an_old_place(w):
    w.sql(*WORDS)
    daemon, connection, rng = w.follow(forum(w, shards=w.rng.choice([1, 3]))), w.db.connect(w.schema), w.rng
    with connection.cursor() as cursor:
        for round_ in range(3):
            for _ in range(200):
                if rng.random() < .3:
                    cursor.execute(rng.choice(["BEGIN", "COMMIT"]))
                q, a, some, up = (rng.choice(["''", "REPEAT('x', 600)", *(f"'{x}'" for x in "abcd"), *["NULL"] * null]) for null in (0, 0, 1, 1))
                n, words = rng.randrange(30), text("w" * rng.randrange(9))
                cursor.execute(rng.choice([
                    f"REPLACE INTO question VALUES ({q}, {words})",
                    f"REPLACE INTO answer VALUES ({a}, {some}, {words})",
                    f"UPDATE answer SET question_id = {some} WHERE id = {a}",
                    f"UPDATE IGNORE answer SET id = {q} WHERE id = {a}",
                    f"DELETE FROM answer WHERE id = {a}",
                    f"REPLACE INTO remark VALUES ({n}, {up}, {some}, {words})",
                    f"UPDATE remark SET answer_id = {up} WHERE n BETWEEN {n} AND {n + 3}",
                    f"UPDATE remark SET words = {words}, question_id = {some} WHERE answer_id = {a}",
                    f"DELETE FROM remark WHERE n = {n}"]))
            cursor.execute("COMMIT")
            if round_ == 0:  # a build leaves nothing of what was before it
                daemon.command("index", "create", f"{w.schema}.answer", "--no-wait", ok=None)
                daemon.kill()
                daemon.start()
            w.equal(daemon, seconds=60)


KEYS = {"BIT(9)": ("b'1'", "b'100000011'"), "DECIMAL(8,2) UNSIGNED ZEROFILL": ("1.50", "20.05"), "DATETIME(3)": ("'2024-02-29 01:02:03.004'", "'1999-12-31'"),
        "TIME": ("'-01:00:00'", "'800:00:00'"), "DOUBLE": ("0.1", "1e100"), "YEAR": ("1999", "2024"), "VARBINARY(8)": ("x'00ff'", "x'61'"),
        "VARCHAR(9) CHARACTER SET latin1": ("'ä'", "'b'"), "ENUM('a','b,%')": ("'a'", "'b,%'"), "INT UNSIGNED": ("4000000000", "0")}


def columns_of(name, kinds, also=""):
    return ", ".join(f"{name}{i} {kind}{also}" for i, kind in enumerate(kinds))


def names_of(name, kinds):
    return [f"{name}{i}" for i in range(len(kinds))]


def given(names, values):
    return ", ".join(f"{name} = {value}" for name, value in zip(names, values))


def test_a_root_of_any_type_is_looked_up_over_the_parents(w):
    """Alone, and as a part of a composite key."""
    definitions, settings = w.definitions(), {"number_of_shards": 1, "number_of_replicas": 0}
    definitions["tables"], changes, types = [], [], list(KEYS)
    for n, kinds in enumerate([[kind] for kind in types] + [types[::2], types[1::2]]):
        one, other, none = zip(*((*KEYS[kind], "NULL") for kind in kinds))
        ids, up, root = (names_of(name, kinds) for name in ("id", "up", "root"))
        key, ups = f"PRIMARY KEY ({', '.join(ids)})", f"KEY ({', '.join(up)})"
        w.sql(f"CREATE TABLE top{n} ({columns_of('id', kinds)}, x INT, {key}) CHARSET utf8mb4",
              f"CREATE TABLE mid{n} ({columns_of('id', kinds)}, {columns_of('up', kinds, ' NULL')}, {key}, {ups}) CHARSET utf8mb4",
              f"CREATE TABLE low{n} (n INT PRIMARY KEY, {columns_of('up', kinds, ' NULL')}, {columns_of('root', kinds, ' NULL')}, {ups}) CHARSET utf8mb4",
              *(f"INSERT INTO top{n} VALUES ({', '.join((*values, '1'))})" for values in (one, other)),
              *(f"INSERT INTO mid{n} VALUES ({', '.join(values)})" for values in (one + other, other + one)),
              *(f"INSERT INTO low{n} VALUES ({', '.join(values)})" for values in (("1",) + one + one, ("2",) + other + none, ("3",) + none + one)))
        changes += [f"UPDATE mid{n} SET {given(up, one)} WHERE id0 = {one[0]}", f"DELETE FROM mid{n} WHERE id0 = {other[0]}",
                    f"UPDATE low{n} SET {given(root, other)} WHERE n = 2"]
        for name, above in ((f"top{n}", None), (f"mid{n}", f"top{n}"), (f"low{n}", f"mid{n}")):
            join = {"name": name} | ({"parent": above, "parent_column": list(up)} if above else {})
            definitions["tables"] += w.definitions({"table": name, "index": f"f{n}", "settings": dict(settings), "join": join}
                                                   | ({"root_column": root} if name == f"low{n}" else {}))["tables"]
    daemon = w.follow(definitions)
    w.equal(daemon)
    w.sql(*changes)
    w.equal(daemon)


def test_a_row_above_very_many_takes_them_along_over_a_kill(w):
    w.sql(*FORUM, "INSERT INTO question VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd')", "INSERT INTO answer VALUES (10, 1, 'x'), (11, 2, 'y')",
          *(f"INSERT INTO remark VALUES {', '.join(f'({i}, 1, 10, 1, {i})' for i in range(n, n + 500))}" for n in (0, 500, 1000)))
    daemon = w.follow(forum(w))
    w.equal(daemon)
    w.sql("UPDATE answer SET question_id = 3 WHERE id = 10", "UPDATE remark SET answer_id = 11 WHERE n < 100", "UPDATE answer SET question_id = 4")
    daemon.kill()
    daemon.start()
    w.equal(daemon, seconds=60)


def test_random_work_on_parents_and_children_is_right_over_builds_and_kills(w):
    w.sql(*FORUM, *NOTE)
    # In one shard an _id is one document, whatever its routing.
    daemon, connection, rng = w.follow(deep_forum(w, shards=w.rng.choice([1, 3]))), w.db.connect(w.schema), w.rng
    with connection.cursor() as cursor:
        for round_ in range(4):
            if not w.db.is_mariadb:  # all changes of such a transaction have one version
                cursor.execute(f"SET binlog_transaction_compression = {round_ % 2}")
            for _ in range(300):
                if rng.random() < .3:
                    cursor.execute(rng.choice(["BEGIN", "COMMIT"]))
                q, a, n = rng.randrange(12), rng.randrange(30), rng.randrange(30)
                some = rng.choice([str(rng.randrange(12)), str(rng.randrange(12)), "NULL"])
                words = text("ü" * rng.randrange(9))
                cursor.execute(rng.choice([
                    f"REPLACE INTO question VALUES ({q}, {words})",
                    f"DELETE FROM question WHERE id = {q}",
                    f"REPLACE INTO answer VALUES ({a}, {some}, {words})",
                    f"UPDATE answer SET question_id = {some} WHERE id BETWEEN {a} AND {a + 3}",
                    f"UPDATE IGNORE answer SET id = {rng.randrange(30)} WHERE id = {a}",
                    f"DELETE FROM answer WHERE id = {a}",
                    f"REPLACE INTO remark VALUES ({n}, 1, {a}, {some}, {words})",
                    f"UPDATE remark SET question_id = {some} WHERE answer_id = {a}",
                    f"UPDATE IGNORE remark SET n = n + 1, question_id = {some} WHERE n = {n}",
                    f"REPLACE INTO note VALUES ({q}, {n}, 1, {some}, {words})",
                    f"UPDATE note SET n = {n} WHERE id = {q}",
                    f"UPDATE remark SET answer_id = {a} WHERE n BETWEEN {n} AND {n + 3}",
                    f"UPDATE remark SET answer_id = answer_id + 1 WHERE answer_id = {a}",
                    f"DELETE FROM note WHERE id = {q}",
                    f"DELETE FROM remark WHERE n = {n}"]))
            cursor.execute("COMMIT")
            daemon.command("index", "create", f"{w.schema}.{rng.choice(['question', 'answer', 'remark'])}", "--no-wait", ok=None)
            if round_ == 1:
                daemon.kill()
                daemon.start()
    w.equal(daemon, seconds=60)


def test_relations_of_parents_and_children_are_followed_where_they_lie(w):
    w.sql("CREATE TABLE person (id INT PRIMARY KEY, name VARCHAR(20)) CHARSET utf8mb4",
          "CREATE TABLE tag (answer_id BIGINT, word VARCHAR(20), PRIMARY KEY (answer_id, word)) CHARSET utf8mb4", *FORUM,
          "ALTER TABLE answer ADD person_id INT, ADD KEY (person_id)", "ALTER TABLE question ADD person_id INT, ADD KEY (person_id)",
          "INSERT INTO person VALUES (1, 'Ada'), (2, 'Bob')",
          "INSERT INTO question VALUES (1, 'a', 1), (2, 'b', 2)",
          "INSERT INTO answer VALUES (10, 1, 'x', 1), (11, 2, 'y', 1), (12, NULL, 'z', 1)",
          "INSERT INTO tag VALUES (10, 'red'), (11, 'blue')")
    definitions = forum(w)
    person = {"from": "person_id", "table": f"{w.schema}.person", "to": "id", "as": "by"}
    definitions["tables"][0]["relations"] = [dict(person)]
    definitions["tables"][1]["relations"] = [dict(person), {"from": "id", "table": f"{w.schema}.tag", "to": "answer_id",
                                                           "as": "tags", "many": True, "values": "word"}]
    daemon = w.follow(definitions)
    w.equal(daemon)
    for statements in (["UPDATE person SET name = 'Eve' WHERE id = 1"], ["DELETE FROM tag WHERE answer_id = 10"],
                       ["UPDATE answer SET question_id = 2 WHERE id = 10", "INSERT INTO tag VALUES (10, 'green')"],
                       ["UPDATE answer SET question_id = 1 WHERE id = 12", "UPDATE person SET name = 'Zoe' WHERE id = 1",
                        "UPDATE answer SET question_id = 1 WHERE id = 11"]):
        w.sql(*statements)
        w.equal(daemon)
    connection, rng = w.db.connect(w.schema), w.rng
    with connection.cursor() as cursor:
        for round_ in range(2):
            for _ in range(150):
                some, a = rng.choice([str(rng.randrange(6)), str(rng.randrange(6)), "NULL"]), rng.randrange(20)
                cursor.execute(rng.choice([
                    f"REPLACE INTO person VALUES ({rng.randrange(4)}, 'n{rng.randrange(99)}')",
                    f"REPLACE INTO question VALUES ({rng.randrange(6)}, 'q', {rng.randrange(4)})",
                    f"REPLACE INTO answer VALUES ({a}, {some}, 'b', {rng.randrange(4)})",
                    f"UPDATE answer SET question_id = {some} WHERE person_id = {rng.randrange(4)}",
                    f"REPLACE INTO tag VALUES ({a}, 'w{rng.randrange(3)}')",
                    f"UPDATE IGNORE tag SET answer_id = {rng.randrange(20)} WHERE answer_id = {a}",
                    f"DELETE FROM answer WHERE id = {a}"]))
            if round_ == 0:
                daemon.kill()
                daemon.start()
    w.equal(daemon, seconds=60)


def test_children_that_foreign_keys_delete_or_move_leave_no_document_behind(w):
    w.sql(*FORUM, "ALTER TABLE answer ADD FOREIGN KEY (question_id) REFERENCES question (id) ON DELETE CASCADE ON UPDATE CASCADE",
          "ALTER TABLE remark ADD FOREIGN KEY (answer_id) REFERENCES answer (id) ON DELETE CASCADE ON UPDATE CASCADE, "
          "ADD FOREIGN KEY (question_id) REFERENCES question (id) ON DELETE SET NULL ON UPDATE CASCADE",
          "INSERT INTO question VALUES (1, 'a'), (2, 'b'), (3, 'c')",
          "INSERT INTO answer VALUES (10, 1, 'x'), (11, 2, 'y'), (12, 1, 'z'), (13, 3, 'w')",
          "INSERT INTO remark VALUES (5, 1, 10, 1, 'a'), (5, 2, 11, 2, 'b'), (6, 1, 13, 3, 'c'), (7, 1, 12, 3, 'elsewhere')")
    daemon = w.follow(forum(w))
    w.equal(daemon)
    for statement in ("UPDATE question SET id = 4 WHERE id = 2", "DELETE FROM answer WHERE id = 12",
                      "DELETE FROM question WHERE id = 3", "UPDATE answer SET id = 20 WHERE id = 10",
                      "DELETE FROM question WHERE id = 1"):
        w.sql(statement)
        w.equal(daemon)


def test_children_whose_own_key_is_their_parents_move_with_it(w):
    w.sql("CREATE TABLE top (id INT PRIMARY KEY)",
          "CREATE TABLE mid (top INT, id INT, PRIMARY KEY (top, id), FOREIGN KEY (top) REFERENCES top (id) ON DELETE CASCADE ON UPDATE CASCADE)",
          "CREATE TABLE low (top INT, mid INT, id INT, PRIMARY KEY (id, top, mid),"
          " FOREIGN KEY (top, mid) REFERENCES mid (top, id) ON DELETE CASCADE ON UPDATE CASCADE)",
          "INSERT INTO top VALUES (1), (2), (3)",
          f"INSERT INTO mid VALUES {', '.join(f'({t}, {m})' for t in (1, 2, 3) for m in (1, 2))}",
          f"INSERT INTO low VALUES {', '.join(f'({t}, {m}, {i})' for t in (1, 2, 3) for m in (1, 2) for i in (1, 2))}")
    daemon = w.follow(w.definitions(
        {"table": "top", "index": "family", "join": {"name": "top"}},
        {"table": "mid", "index": "family", "join": {"name": "mid", "parent": "top", "parent_column": "top"}},
        {"table": "low", "index": "family", "root_column": "top",
         "join": {"name": "low", "parent": "mid", "parent_column": ["top", "mid"]}}))
    for statement in ("UPDATE top SET id = 7 WHERE id = 2", "UPDATE mid SET top = 7, id = 9 WHERE top = 3 AND id = 1", "UPDATE top SET id = id + 20",
                      "DELETE FROM top WHERE id = 27"):
        w.sql(statement)
        w.equal(daemon)


def test_what_is_below_a_row_that_a_foreign_key_moves_or_deletes_goes_where_its_path_leads(w):
    """Nothing but their path ties these to the row, and their own columns say nothing or another root."""
    w.sql(*FORUM, *NOTE, "ALTER TABLE answer ADD FOREIGN KEY (question_id) REFERENCES question (id) ON DELETE SET NULL ON UPDATE CASCADE",
          "CREATE TABLE person (id INT PRIMARY KEY)", "INSERT INTO person VALUES (1), (2)",
          "ALTER TABLE answer ADD person_id INT, ADD FOREIGN KEY (person_id) REFERENCES person (id) ON DELETE CASCADE",
          "ALTER TABLE remark ADD FOREIGN KEY (answer_id) REFERENCES answer (id) ON DELETE CASCADE ON UPDATE CASCADE",
          f"INSERT INTO question VALUES {', '.join(f'({i}, {i})' for i in range(1, 6))}",
          "INSERT INTO answer VALUES (10, 1, 'x', 1), (11, 2, 'y', 2), (12, 1, 'z', 2), (13, 3, 'w', NULL)",
          "INSERT INTO remark VALUES (5, 1, 10, 5, 'a'), (5, 2, 11, NULL, 'b'), (6, 1, 13, 3, 'c'), (7, 1, 12, NULL, 'd'), (8, 1, 13, 4, 'e')",
          "INSERT INTO note VALUES (1, 5, 1, NULL, 'a'), (2, 5, 2, 4, 'b'), (3, 6, 1, NULL, 'c'), (4, 7, 1, 5, 'd'), (5, 8, 1, NULL, 'e'), (6, 8, 1, 2, 'f')")
    daemon = w.follow(deep_forum(w))
    w.equal(daemon)
    for statement in ("UPDATE question SET id = 21 WHERE id = 2", "UPDATE question SET id = 22 WHERE id = 1", "DELETE FROM question WHERE id = 22",
                      "UPDATE answer SET question_id = 4 WHERE id = 10", "DELETE FROM person WHERE id = 2", "DELETE FROM answer WHERE id = 13",
                      "UPDATE question SET id = 23 WHERE id = 4"):
        w.sql(statement)
        w.equal(daemon)


def test_commands_take_any_table_of_a_join_and_explain_takes_its_ids(w):
    w.sql(*FORUM, "INSERT INTO question VALUES (1, 'a')", "INSERT INTO answer VALUES (10, 1, 'x'), (11, NULL, 'y')")
    daemon = w.follow(forum(w))
    for table, key in (("answer", "10"), ("answer", "answer:10"), (w.index("forum"), "answer:10")):
        table = table if table.startswith("t_") else f"{w.schema}.{table}"
        told = daemon.json("explain", table, key)
        if told["document"] != {"id": 10, "question_id": 1, "body": "x", "join": {"name": "answer", "parent": "question:1"}} or \
                '"routing":"question:1"' not in told["bulk"][0] or told["row"] != "shown":
            raise Failed(f"explain {table} {key}: {told}")
    if daemon.json("explain", f"{w.schema}.answer", "11")["row"] != "unrooted":
        raise Failed("a row without a parent has a document")
    mapping = daemon.json("mapping", f"{w.schema}.remark")["body"]["mappings"]["properties"]
    if mapping["join"] != {"type": "join", "relations": {"question": ["answer"], "answer": ["remark"]}}:
        raise Failed(f"mapping: {mapping}")
    daemon.command("index", "create", f"{w.schema}.remark", "--wait")
    for name in ("question", "answer", "remark"):
        if (w.table(daemon, name)["version"], w.table(daemon, name)["state"]) != (2, "available"):
            raise Failed(f"after a build of remark: {w.table(daemon, name)}")
    w.sql("TRUNCATE answer")
    w.equal(daemon, seconds=60)


def test_a_row_that_very_many_children_hold_leads_to_each_of_them(w):
    w.sql("CREATE TABLE person (id INT PRIMARY KEY, name VARCHAR(20)) CHARSET utf8mb4", *FORUM,
          *(f"ALTER TABLE {t} ADD person_id INT, ADD KEY (person_id)" for t in ("question", "answer")),
          "INSERT INTO person VALUES (1, 'Ada'), (2, 'Bob')",
          *(f"INSERT INTO question VALUES {', '.join(f'({i}, {i}, 1)' for i in range(n, n + 500))}" for n in (1, 501, 1001)),
          "INSERT INTO answer SELECT id, 1 + id % 50, 'a', 1 FROM question")
    definitions = forum(w)
    for table in definitions["tables"][:2]:
        table["relations"] = [{"from": "person_id", "table": f"{w.schema}.person", "to": "id", "as": "by"}]
    daemon = w.follow(definitions)
    w.sql("UPDATE person SET name = 'Eve' WHERE id = 1", "UPDATE answer SET question_id = 7 WHERE id < 20")
    daemon.kill()
    daemon.start()
    w.equal(daemon, seconds=60)


def test_what_cannot_be_parent_and_child_is_refused_and_a_table_that_joins_later_waits_for_a_build(w):
    w.sql(*FORUM, "CREATE TABLE vote (id INT PRIMARY KEY, question_id VARCHAR(9), note TEXT, title INT)", "INSERT INTO question VALUES (1, 'a')")
    definitions = forum(w)
    daemon = w.follow(definitions)
    vote = w.definitions({"table": "vote", "index": "forum", "settings": {"number_of_shards": 3, "number_of_replicas": 0},
                          "join": {"name": "vote", "parent": "question", "parent_column": "question_id"}})["tables"]
    for message, change in (("make different ids", {}),
                            ("another table of index", {"table": "ALTER TABLE vote MODIFY question_id INT"}),
                            ("has no column", {"column": "nothing"})):
        if "table" in change:
            w.sql(change["table"])
        vote[0]["join"]["parent_column"] = change.get("column", "question_id")
        done = daemon.apply({"tables": vote}, ok=None)
        if done.returncode != 1 or message not in done.stdout + done.stderr:
            raise Failed(f"not refused for {message}: {done}")
    w.sql("ALTER TABLE vote DROP title")
    vote[0]["join"]["parent_column"] = "question_id"
    definitions["tables"] += vote
    daemon.apply(definitions)
    if not w.table(daemon, "vote")["pending"]:
        raise Failed(f"the index is said to have votes: {w.table(daemon, 'vote')}")
    w.sql("INSERT INTO vote VALUES (1, 1, 'x'), (2, NULL, 'y')", "INSERT INTO question VALUES (2, 'b')")
    daemon.command("index", "create", f"{w.schema}.vote", "--wait")
    w.equal(daemon)
    if daemon.command("table", "delete", f"{w.schema}.question", "--yes", ok=None).returncode != 1:
        raise Failed("a parent was deleted before its children")
    daemon.command("table", "delete", f"{w.schema}.vote", "--yes")
    w.sql("INSERT INTO question VALUES (3, 'c')")
    if w.table(daemon, "question")["state"] != "available":
        raise Failed("the index went with one of its tables")


def test_a_root_without_children_yet_is_an_index(w):
    w.sql(*FORUM, "INSERT INTO question VALUES (1, 'a')")
    definitions = forum(w)
    daemon = w.follow(definitions | {"tables": definitions["tables"][:1]})
    w.sql("INSERT INTO question VALUES (2, 'b')")
    w.equal(daemon)


def forget_shards(daemon):
    """As a version was stored that is older than the shards in the store; the daemon is dead."""
    with open_store(daemon) as store:
        if store.execute("DELETE FROM setting WHERE name LIKE 'shards/%'").rowcount != 1:
            raise Failed("the shards of the version are not stored")


def test_a_version_whose_shards_were_never_asked_for_learns_them_when_its_topic_starts(w):
    w.sql(*FORUM, *NOTE, f"INSERT INTO question VALUES {', '.join(f'({i}, {i})' for i in range(1, 20))}",
          "INSERT INTO answer VALUES (10, 1, 'x')", "INSERT INTO remark VALUES (1, 1, 10, NULL, 'a')",
          "INSERT INTO note VALUES (1, 1, 1, NULL, 'a')")
    daemon = w.follow(deep_forum(w))
    w.equal(daemon)
    daemon.kill()
    forget_shards(daemon)
    daemon.start()
    for i in range(2, 8):
        w.sql(f"UPDATE answer SET question_id = {i} WHERE id = 10")
        w.equal(daemon)
    daemon.kill()
    forget_shards(daemon)  # they were stored again


def test_an_index_that_is_gone_and_whose_shards_nobody_knows_stops_its_table(w):
    w.sql(*FORUM, "INSERT INTO question VALUES (1, 'a'), (2, 'b')", "INSERT INTO answer VALUES (10, 1, 'x')",
          "INSERT INTO remark VALUES (1, 1, 10, NULL, 'a')")
    daemon = w.follow(forum(w))
    daemon.kill()
    forget_shards(daemon)
    w.engine.ask("DELETE", f"/{w.index('forum')}_v1")
    daemon.start()
    found = wait_until("the table stops", lambda: next(
        (t for t in [w.table(daemon, "question")] if t["state"] == "stopped"), None), 30)
    if "shards" not in found["reason"] or found["fix"] != f"millrace index create {w.schema}.question":
        raise Failed(f"it says {found}")
    w.sql("UPDATE answer SET question_id = 2")
    daemon.build(f"{w.schema}.question")
    w.equal(daemon)

"""Bad input: one clear message with the fix, an exit status, and nothing lost or stored."""
import os
import re

from gate import Gate
from servers import Failed, free_port, wait_until
from world import PASSWORD


def expect(done, status, *patterns):
    """The command ended so, and said all of this (regular expressions, any case)."""
    said = done.stdout + done.stderr
    if done.returncode != status:
        raise Failed(f"exit {done.returncode}, wanted {status}; it says:\n{said}")
    for pattern in patterns:
        if not re.search(pattern, said, re.I | re.S):
            raise Failed(f"no {pattern!r} in what it says:\n{said}")
    if re.search(r"assert|segmentation|stack", said, re.I):
        raise Failed(f"that is no message for a person:\n{said}")


def nothing_stored(daemon):
    if re.search(r"^\s*- ", daemon.command("export").stdout, re.M):
        raise Failed("something of the refused file was stored")


def small(w, **topic):
    w.sql("CREATE TABLE thing (id INT PRIMARY KEY, name VARCHAR(40))", "INSERT INTO thing VALUES (1, 'one')")
    return w.definitions({"table": "thing"}, **topic)


def test_a_wrong_password_is_said(w):
    definitions = small(w)
    daemon = w.millrace()
    daemon.write("source.password", "wrong\n")
    expect(daemon.apply(definitions, ok=None), 1, "access denied|password", "millrace", "password_file|source.password")
    nothing_stored(daemon)


def test_an_unreachable_server_is_said(w):
    port = free_port()
    daemon = w.millrace()
    expect(daemon.apply(small(w, address=f"127.0.0.1:{port}"), ok=None), 1, str(port), "connect|reach|refused")
    nothing_stored(daemon)


def test_the_port_of_the_engine_given_as_that_of_the_database_is_said_and_the_other_way_round(w):
    daemon = w.millrace()
    expect(daemon.apply(small(w, address=f"127.0.0.1:{w.engine.port}"), ok=None), 1, str(w.engine.port),
           "does not greet as MySQL does: give the database's address, not the search engine's")
    nothing_stored(daemon)
    daemon = w.millrace(start=False, search={"url": [f"http://127.0.0.1:{w.db.port}"]})
    daemon.start(wait=False)
    wait_until("the daemon answers commands", lambda: daemon.command("status", ok=None).returncode == 0)
    mistake = f"{w.db.port}.*does not speak HTTP: give the search engine's address, not the database's"
    for how in (["-n"], []):  # definitions can be stored while the engine is away
        expect(daemon.apply(w.definitions({"table": "thing"}), *how), 0, f"warning: search engine: .*{mistake}.*fix: .*correct search.url")
    expect(daemon.command("doctor", ok=None), 1, f"search engine: .*{mistake}")
    wait_until("the topic waits for the engine", lambda: daemon.json("status")["topics"][0]["reason"])
    expect(daemon.build(f"{w.schema}.thing", ok=None), 75, mistake)


def test_a_missing_privilege_is_said_with_the_statement_that_gives_it(w):
    definitions = small(w)
    w.db.sql("CREATE USER IF NOT EXISTS poor@'127.0.0.1' IDENTIFIED BY 'poor'",
             f"GRANT SELECT ON {w.schema}.* TO poor@'127.0.0.1'")
    definitions["topics"][0] |= {"user": "poor", "password_file": "poor.password"}
    daemon = w.millrace()
    daemon.write("poor.password", "poor")
    expect(daemon.apply(definitions, ok=None), 1, "GRANT REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO 'poor'@'127.0.0.1'")
    w.db.sql("GRANT REPLICATION CLIENT ON *.* TO poor@'127.0.0.1'")  # BINLOG MONITOR on MariaDB
    expect(daemon.apply(definitions, ok=None), 1, "; GRANT REPLICATION SLAVE ON *.* TO 'poor'@'127.0.0.1'")
    nothing_stored(daemon)
    w.db.sql("DROP USER poor@'127.0.0.1'")


def test_a_table_that_may_not_be_read_is_said(w):
    definitions = small(w)
    w.db.sql(f"REVOKE SELECT ON {w.schema}.* FROM millrace@'127.0.0.1'")
    daemon = w.millrace()
    expect(daemon.apply(definitions, ok=None), 1, "thing", "SELECT|denied|privilege|unknown")


def test_tables_of_a_pattern_that_may_not_be_seen_are_said_with_the_statement_that_shows_them(w):
    definitions = w.definitions({"pattern": "part_[0-9]+", "index": "parts"})
    daemon = w.millrace()
    expect(daemon.apply(definitions, "-n", ok=None), 1, "GRANT SELECT on it TO 'millrace'@'127.0.0.1'")
    w.sql("CREATE TABLE part_1 (id INT PRIMARY KEY)")
    definitions["databases"].append({"name": f"{w.schema}_b", "topic": w.schema})
    definitions["tables"][0]["pattern"] = rf"{w.schema}(_b)?\.part_[0-9]+"
    expect(daemon.apply(definitions, "-n"), 0, f"GRANT SELECT ON `{w.schema}_b`.* TO 'millrace'@'127.0.0.1'")


def test_a_field_of_a_type_that_the_engine_lacks_is_said(w):
    definitions = small(w)
    daemon = w.millrace()
    for kind, *how in ("no_such_type",), ("no_such_type", "-n"), ("knn_vector", "-n"), ("geo_shape", "-n"):  # the test engine has no plugins
        definitions["tables"][0]["mapping"] = {"properties": {"extra": {"type": kind}}}
        expect(daemon.apply(definitions, *how, ok=None), 1, rf"thing`: .*\[{kind}\].*extra", "install the engine's plugin")
    nothing_stored(daemon)


def test_more_fields_than_the_engine_allows_are_said(w):
    daemon = w.millrace()
    w.sql(f"CREATE TABLE wide (id INT PRIMARY KEY, {', '.join(f'c{i} INT' for i in range(1000))})",
          "CREATE TABLE narrow (id INT PRIMARY KEY, a INT)")
    narrow = {"table": "narrow", "settings": {"index.mapping.total_fields.limit": 1}}
    for table, limit in ({"table": "wide"}, 1000), (narrow, 1):
        expect(daemon.apply(w.definitions(table), "-n", ok=None), 1, rf"{table['table']}`: .*Limit of total fields \[{limit}\]",
               "raise index.mapping.total_fields.limit")
    raised = {"table": "wide", "settings": {"index.mapping.total_fields.limit": 2000}}
    expect(daemon.apply(w.definitions(raised), "-n"), 0)


def test_an_engine_that_does_not_answer_keeps_no_definition_out(w):
    definitions = small(w)
    definitions["tables"][0]["mapping"] = {"properties": {"extra": {"type": "no_such_type"}}}
    daemon = w.millrace(search={"url": [f"http://127.0.0.1:{free_port()}"]})
    expect(daemon.apply(definitions, "-n"), 0)


def test_an_engine_that_may_not_be_asked_about_fields_is_a_note_and_one_that_cannot_be_is_not(w):
    definitions = small(w)
    definitions["tables"][0]["mapping"] = {"properties": {"extra": {"type": "no_such_type"}}}
    with Gate(w.engine) as gate:
        daemon = w.millrace(search={"url": [gate.url]})
        for status in 403, 404, 405:
            gate.refuse = lambda method, path, status=status: status if "_simulate" in path else None
            done = daemon.apply(definitions, "-n")
            if ("note: Millrace may not ask" in done.stdout + done.stderr) != (status == 403):
                raise Failed(f"at {status} it says:\n{done.stdout}{done.stderr}")


def test_a_statement_binlog_is_refused(w):
    w.db.restart("--binlog-format=STATEMENT")
    daemon = w.millrace()
    expect(daemon.apply(small(w), ok=None), 1, "binlog_format", "ROW")


def test_a_minimal_row_image_is_warned_of_where_there_are_relations(w):
    w.db.restart("--binlog-row-image=MINIMAL")
    w.sql("CREATE TABLE a (id INT PRIMARY KEY)", "CREATE TABLE b (id INT PRIMARY KEY, a_id INT, KEY (a_id))")
    daemon = w.millrace()
    done = daemon.apply(small(w), ok=None)
    if done.returncode != 0 or "binlog_row_image" in done.stdout + done.stderr:
        raise Failed(f"a flat table needs no whole rows: {done.stdout}{done.stderr}")
    done = daemon.apply(w.definitions({"table": "a", "relations": [
        {"from": "id", "table": "b", "to": "a_id", "as": "bs", "many": True}]}))
    expect(done, 0, "warn", "binlog_row_image", "FULL")


def test_a_server_without_binlog_is_refused(w):
    w.db.restart("--skip-log-bin")
    daemon = w.millrace()
    expect(daemon.apply(small(w), ok=None), 1, "log.bin")


def test_a_table_without_a_key_is_refused(w):
    w.sql("CREATE TABLE bare (a INT, b INT)")
    daemon = w.millrace()
    expect(daemon.apply(w.definitions({"table": "bare"}), ok=None), 1, "bare", "key")
    nothing_stored(daemon)


def test_an_unknown_table_or_column_is_named_with_its_place(w):
    w.load_shop(orders=1)
    daemon = w.millrace()
    definitions = w.shop_definitions("product")
    definitions["tables"][0]["columns"] = ["id", "nmae"]
    expect(daemon.apply(definitions, ok=None), 1, r"definitions\.yaml:\d+", "nmae", "name")
    expect(daemon.apply(w.definitions({"table": "prodcut"}), ok=None), 1, r"definitions\.yaml:\d+", "prodcut")
    nothing_stored(daemon)


def test_a_relation_without_an_index_is_warned_of_with_the_statement(w):
    w.sql("CREATE TABLE a (id INT PRIMARY KEY)", "CREATE TABLE b (id INT PRIMARY KEY, a_id INT)")
    daemon = w.millrace()
    done = daemon.apply(w.definitions({"table": "a", "relations": [
        {"from": "id", "table": "b", "to": "a_id", "as": "bs", "many": True}]}))
    expect(done, 0, "warn", r"(CREATE INDEX|ADD (INDEX|KEY)).*a_id")


def test_typos_in_definitions_are_shown_with_line_caret_and_nearest_name(w):
    daemon = w.millrace()
    for text, *patterns in (
            ("topics:\n  - name: a\n    adress: 127.0.0.1\n", r"definitions\.yaml:3:\d+", "adress", "address", r"\^"),
            ("topics:\n\t- name: a\n", r"definitions\.yaml:2", "tab"),
            ("topics: [\n", r"definitions\.yaml:\d"),
            ("tables:\n  - table: orders\n", r"definitions\.yaml:2:\d+", "DATABASE.TABLE|database"),
            ("tables:\n  - {table: a.b, relations: [{from: x, tabel: a.c, to: y}]}\n", r"definitions\.yaml:2", "tabel", "table"),
            ("databases:\n  - {name: d, topic: nowhere}\n", "nowhere"),
            ("tables:\n  - {table: a.b, delayed: perhaps}\n", r"definitions\.yaml:2", "delayed", "true|false|boolean")):
        expect(daemon.apply(text, ok=None), 1, *patterns)
    nothing_stored(daemon)


def test_typos_in_the_configuration_are_shown_with_line_caret_and_nearest_name(w):
    for text, *patterns in (
            ("lisen: 127.0.0.1:1\n", r"millrace\.yaml:\d+:\d+", "lisen", "listen", r"\^"),
            ("delivery: {batch_mix: 3}\n", "batch_mix", "batch_m(in|ax)"),
            ("delivery: {batch_min: 0}\n", "batch_min"),
            ("search:\n\turl: [x]\n", r"millrace\.yaml:\d+", "tab"),
            ("listen: nonsense\n", "listen")):
        daemon = w.millrace(start=False)
        with open(daemon.config_file, "w", encoding="utf-8") as f:
            f.write(f"data: {daemon.folder}/data\n" + text)
        done = daemon.command("config", "show", ok=None)
        expect(done, done.returncode or 99, *patterns)


def test_an_alias_name_taken_by_an_index_is_said(w):
    definitions = small(w)
    daemon = w.millrace()
    daemon.apply(definitions)
    w.engine.ask("PUT", f"/{w.index('thing')}")
    done = daemon.build(f"{w.schema}.thing", ok=None)
    expect(done, 1, re.escape(w.index("thing")), "index", "alias|delete|rename")


def test_an_unreachable_engine_fails_a_build_with_its_address(w):
    definitions = small(w)
    daemon = w.millrace(start=False, search={"url": [f"http://127.0.0.1:{free_port()}"]})
    daemon.start(wait=False)
    wait_until("the daemon answers commands", lambda: daemon.command("status", ok=None).returncode == 0)
    daemon.apply(definitions, ok=None)
    done = daemon.command("doctor", ok=None)
    expect(done, 1, "127.0.0.1:", "search|engine")


def test_two_daemons_do_not_share_a_data_folder(w):
    daemon = w.millrace()
    other = w.millrace(start=False, data=daemon.config["data"])
    other.start(wait=False)
    if other.process.wait(20) == 0:
        raise Failed("the second daemon started and ended without an error")
    if not re.search("lock|in use|already|another", other.log_tail()):
        raise Failed(f"its log says: {other.log_tail()}")
    other.process = None


def test_what_is_not_there_is_named_as_what_was_asked_for(w):
    daemon = w.follow(small(w))
    for arguments, words in ((("relation", "list", "no.thing"), "there is no table no.thing"),
                             (("version", "list", "nothing"), "there is no version of index nothing"),
                             (("topic", "resume", "nothing"), "millrace topic list")):
        expect(daemon.command(*arguments, ok=None), 1, re.escape(words))


def test_wrong_usage_is_exit_2_with_a_hint(w):
    daemon = w.millrace(start=False)
    for args in (["aply"], ["apply"], ["index", "crate", "a.b"], ["status", "--colour"], ["status", "-o", "xml"]):
        expect(daemon.command(*args, ok=None), 2, "help|usage|did you mean|nearest|unknown")
    expect(daemon.command("aply", ok=None), 2, "apply")


def test_a_command_without_its_daemon_says_so(w):
    daemon = w.millrace(start=False)
    done = daemon.command("status", ok=None)
    expect(done, done.returncode or 99, "millrace run|not running|no daemon")


def test_a_password_file_that_others_may_read_is_refused(w):
    definitions = small(w)
    daemon = w.millrace()
    daemon.write("source.password", PASSWORD, mode=0o644)
    expect(daemon.apply(definitions, ok=None), 1, "source.password", "others may read", "chmod 600")
    nothing_stored(daemon)
    daemon.write("source.password", PASSWORD, mode=0o600)
    daemon.apply(definitions)


def test_a_data_folder_that_is_open_to_others_or_has_links_is_refused(w):
    daemon = w.millrace(start=False)
    folder = os.path.join(daemon.folder, "data")
    os.mkdir(folder)
    os.chmod(folder, 0o755)
    expect(daemon.command("run", ok=None), 1, "data folder", "open to others", "chmod 700")
    os.chmod(folder, 0o700)
    os.symlink("/etc/passwd", os.path.join(folder, "millrace.db"))
    expect(daemon.command("run", ok=None), 1, "symbolic link", "millrace.db", "fix:")
    os.remove(os.path.join(folder, "millrace.db"))
    daemon.start()

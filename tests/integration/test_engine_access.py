"""Ways to the engine: TLS, log-in, several addresses; and what is said when it lets nobody in."""
import os
import re

import servers
from gate import Gate
from servers import Failed, free_port, wait_until
from test_secure import certificates

PASSWORD = 'gate 7%:,"ü'


def keys():
    return certificates(os.path.join(servers.RUN, "engine-keys"))


def thing(w):
    w.sql("CREATE TABLE thing (id INT PRIMARY KEY, a INT)", "INSERT INTO thing VALUES (1, 1), (2, 2)")
    return w.definitions({"table": "thing"})


def state(daemon):
    return daemon.json("status")["tables"][0]


def says(daemon, *words):
    """doctor fails and says all of this."""
    done = daemon.command("doctor", ok=(1,))
    for word in words:
        if not re.search(word, done.stdout + done.stderr, re.I):
            raise Failed(f"doctor does not say {word!r}:\n{done.stdout}{done.stderr}")
    if PASSWORD in done.stdout + done.stderr:
        raise Failed("doctor tells the password")


def test_an_engine_behind_tls_and_a_password_is_followed_also_when_the_password_changes(w):
    folder = keys()
    with Gate(w.engine, users={"mill": PASSWORD}, certificates=folder) as gate:
        daemon = w.millrace(start=False, search={"url": [gate.url], "user": "mill", "password_file": "engine.password",
                                                 "ca_file": f"{folder}/ca.pem", "compress": True})
        daemon.write("engine.password", PASSWORD + "\n")
        daemon.start().apply(thing(w))
        daemon.build(f"{w.schema}.thing")
        w.sql("UPDATE thing SET a = 3", "INSERT INTO thing VALUES " + ", ".join(f"({i}, {i})" for i in range(10, 300)))
        w.equal(daemon)
        if not gate.packed:
            raise Failed("nothing came compressed")
        gate.users["mill"] = "another"
        w.sql("UPDATE thing SET a = 4")
        wait_until("it is refused", lambda: gate.refused > 0)
        says(daemon, "401", "password")
        daemon.check_alive()
        gate.users["mill"] = PASSWORD
        w.equal(daemon, seconds=60)
        if PASSWORD in daemon.log_tail(10**7):
            raise Failed("the log has the password")


def test_an_api_key_is_taken_and_a_missing_right_holds_its_index_until_it_is_given(w):
    with Gate(w.engine, keys=["c2VjcmV0OmtleQ=="]) as gate:
        daemon = w.millrace(start=False, search={"url": [gate.url], "api_key_file": "engine.key"})
        daemon.write("engine.key", "c2VjcmV0OmtleQ==\n")
        daemon.start().apply(thing(w))
        daemon.build(f"{w.schema}.thing")
        gate.refuse = lambda method, path: 403 if "_bulk" in path else None
        w.sql("UPDATE thing SET a = 3")
        held = wait_until("it is held", lambda: state(daemon)["state"] == "held" and state(daemon), 30)
        if "403" not in held["reason"] or "right" not in held["reason"] + held["fix"]:
            raise Failed(f"reason and fix are {held['reason']!r} and {held['fix']!r}")
        gate.refuse = None
        w.equal(daemon, seconds=90)
        wait_until("it is shown as available", lambda: state(daemon)["state"] == "available")


def test_a_version_that_the_engine_does_not_delete_is_not_said_to_be_deleted(w):
    with Gate(w.engine) as gate:
        daemon = w.millrace(search={"url": [gate.url]})
        daemon.apply(thing(w))
        for _ in range(2):
            daemon.build(f"{w.schema}.thing")
        gate.refuse = lambda method, path: 403 if method == "DELETE" else None
        done = daemon.command("index", "delete", f"{w.schema}.thing", "--yes", ok=(1,))
        if "cannot delete" not in done.stderr or "right" not in done.stderr:
            raise Failed(f"it said {done.stderr}")
        gate.refuse = None
        daemon.command("index", "delete", f"{w.schema}.thing", "--yes")
        if list(w.engine.ask("GET", f"/{w.index('thing')}_v*")) != [f"{w.index('thing')}_v2"]:
            raise Failed("the version of before is still there")


def test_an_engine_of_an_unknown_authority_is_refused_with_the_setting_that_names_it(w):
    other = certificates(os.path.join(servers.RUN, "other-engine-keys"))
    with Gate(w.engine, certificates=keys()) as gate:
        daemon = w.millrace(start=False, search={"url": [gate.url], "ca_file": f"{other}/ca.pem"})
        daemon.start(wait=False)
        wait_until("the daemon answers", lambda: daemon.command("status", ok=None).returncode == 0)
        says(daemon, "certificate", r"search\.ca_file")
        daemon.apply(thing(w))
        done = daemon.build(f"{w.schema}.thing", ok=None)
        if done.returncode not in (1, 75) or "certificate" not in done.stderr:
            raise Failed(f"index create: exit {done.returncode}: {done.stderr}")
        if gate.passed:
            raise Failed("something was sent to an engine that nobody knows")


def test_of_several_addresses_one_may_be_dead(w):
    daemon = w.millrace(start=False, search={"url": [f"http://127.0.0.1:{free_port()}", w.engine.url]})
    daemon.start().apply(thing(w))
    daemon.build(f"{w.schema}.thing")
    with Gate(w.engine) as gate:
        daemon.stop()
        daemon.configure(search={"url": [gate.url, w.engine.url]})
        daemon.start()
        w.sql("UPDATE thing SET a = 5")
        w.equal(daemon)
    for value in range(6, 10):
        w.sql(f"UPDATE thing SET a = {value}")
        w.equal(daemon, seconds=60)

"""An address that leads elsewhere, and an engine that is away when it does: what is said, and what is not believed."""
import threading
import time

from gate import Gate
from servers import Failed, wait_until
from test_failover import Stage


def test_a_topic_that_waits_for_the_engine_before_it_follows_another_server_says_so(w):
    with Gate(w.engine) as gate, Stage(w, search={"url": gate.url}) as s:
        s.equal()
        s.pair.switch(s.pair.second, s.pair.first)
        gate.refuse = lambda method, path: 503 if method == "PUT" and "_mapping" in path else None
        s.lead(s.pair.second)
        state = s.wait_for_state("connecting", ["the address leads to another server", "503"])
        if "retries by itself" not in state["fix"]:
            raise Failed(f"the fix is {state['fix']!r}")
        gate.refuse = None
        s.run(20)
        s.equal()
        if s.state()["reason"]:
            raise Failed(f"it still says {s.state()['reason']!r}")


def test_a_topic_whose_address_led_to_a_wrong_server_goes_on_when_it_is_asked_to(w):
    with Stage(w) as s:
        s.run(20)
        s.equal()
        s.pair.promote(s.pair.second)
        w.sql("UPDATE customer SET city = 'of the first' WHERE id = 1")
        s.equal()
        s.pair.second.sql(f"UPDATE {w.schema}.customer SET city = 'of the second'")
        s.lead(s.pair.second)
        state = s.wait_for_state("fail", ["the address leads to another server"])
        if f"millrace topic resume {w.schema}" not in state["fix"]:
            raise Failed(f"the fix is {state['fix']!r}")
        s.lead(s.pair.first)
        s.daemon.command("topic", "resume", w.schema)
        s.run(20)
        s.equal()


test_a_topic_whose_address_led_to_a_wrong_server_goes_on_when_it_is_asked_to.servers = ("mariadb", "mariadb11")
test_a_topic_whose_address_led_to_a_wrong_server_goes_on_when_it_is_asked_to.why = "cannot tell it from one that lags"


def test_a_build_that_waits_does_not_say_why_its_table_had_stopped(w):
    with Gate(w.engine) as gate:
        w.sql("CREATE TABLE good (id INT PRIMARY KEY, a INT)", "INSERT INTO good VALUES (1, 1)")
        daemon = w.follow(w.definitions({"table": "good"}), search={"url": gate.url})
        daemon.command("topic", "reset", w.schema, "--yes")
        gate.refuse = lambda method, path: 403 if "_bulk" in path else None
        said = []
        build = threading.Thread(target=lambda: said.append(daemon.build(f"{w.schema}.good").stderr))
        build.start()
        since = time.monotonic()
        wait_until("it has stood still for longer than a command waits before it says why", lambda: time.monotonic() - since > 8, 30, 0.5)
        gate.refuse = None
        build.join()
        if "topic was reset" in said[0] or "403" not in said[0]:
            raise Failed(f"index create said {said[0]!r}")
        w.sql("UPDATE good SET a = 2")
        w.equal(daemon)


def test_documents_are_not_read_at_a_server_that_an_address_leads_to_meanwhile(w):
    """It lags, and its log has higher numbers: what is read there looks newer than all that the log of the first has."""
    with Stage(w) as s:
        s.run(20)
        s.equal()
        s.lead_new_ones_astray(9)
        before = s.daemon.status()["changes"]["read"]
        w.sql("UPDATE customer SET name = CONCAT(name, ' of the first')")

        def over():
            """They were to be read again and again, and the lag was to be asked for; or all were read."""
            changes = s.daemon.status()["changes"]
            return (s.daemon.log_tail(10**6).count("leads to another server") > 8
                    or changes["read"] > before and changes["in_flight"] == 0)
        wait_until("documents were to be read", over)
        s.lead(s.pair.first, cut=False)
        s.equal()
        s.run(5)
        s.equal()
        if "does not hold the position" in s.daemon.log_tail(10**6):
            raise Failed("the other server was asked how far the log of the first one goes")

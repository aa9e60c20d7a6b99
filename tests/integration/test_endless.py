"""A server that never ends keeps nobody else waiting, and is given up (C2)."""
import threading

from endless import Endless
from servers import Failed, wait_until


def applies_beside(w, honest):
    """While `apply` asks a server without an end others change things, and a stop ends it."""
    w.sql("CREATE TABLE thing (id INT PRIMARY KEY)", "INSERT INTO thing VALUES (1)")
    daemon = w.follow(w.definitions({"table": "thing"}))
    with Endless(honest) as server:
        away = {"topics": [{"name": "endless", "address": f"127.0.0.1:{server.port}", "user": "u", "password_file": "source.password"}]}
        ended = []
        asker = threading.Thread(target=lambda: ended.append(daemon.apply(away, ok=None, timeout=300)))
        asker.start()
        try:
            wait_until("the server is asked", lambda: server.asked > honest)
            daemon.build(f"{w.schema}.thing")
            daemon.json("status")
            if ended:
                raise Failed(f"it was given up before the others had their answers: {ended[0]}")
            daemon.stop(seconds=40)  # sooner than an answer is given up by itself
        finally:
            asker.join(300)
        if not ended or ended[0].returncode == 0:
            raise Failed(f"apply was not refused: {ended}")


def test_a_server_that_never_ends_an_answer_keeps_nobody_waiting_and_a_stop_ends_it(w):
    applies_beside(w, honest=3)  # who it is, and what is set; then what it is asked for


def test_a_server_that_never_tells_who_it_is_is_given_up(w):
    w.sql("CREATE TABLE thing (id INT PRIMARY KEY)")
    daemon = w.millrace()
    with Endless() as server:
        done = daemon.apply(w.definitions({"table": "thing"}, address=f"127.0.0.1:{server.port}"), ok=None, timeout=200)
        if done.returncode != 1 or "does not report its version" not in done.stdout + done.stderr:
            raise Failed(f"exit {done.returncode}: {done.stdout}{done.stderr}")

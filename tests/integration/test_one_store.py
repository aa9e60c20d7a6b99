"""A store on a server is one daemon's: a second one does not start on it."""
import os
import shutil

from detour import Detour
from servers import Failed, wait_until


def on_store(w, port=None):
    return {"store": f"mysql://millrace@127.0.0.1:{port or w.db.port}/{store_of(w)}", "store_password_file": "source.password"}


def store_of(w):
    return f"{w.schema}_store"


def make_store(w):
    w.db.sql(f"DROP DATABASE IF EXISTS {store_of(w)}", f"CREATE DATABASE {store_of(w)}",
             f"GRANT ALL ON {store_of(w)}.* TO millrace@'127.0.0.1'")


def follow(w, *more, port=None, **config):
    w.sql("CREATE TABLE thing (id INT PRIMARY KEY, a INT)", "INSERT INTO thing VALUES (1, 1), (2, 2)")
    make_store(w)
    return w.follow(w.definitions({"table": "thing"}, *more), **on_store(w, port), **config)


def refuses(daemon):
    daemon.start(wait=False)
    if daemon.process.wait(40) != 75 or "another Millrace uses this store" not in daemon.log_tail() or "KILL " not in daemon.log_tail():
        raise Failed(f"it ended with {daemon.process.returncode}:\n{daemon.log_tail()}")
    daemon.process = None  # that it ended is as it should be


def change(w, daemon, value):
    w.sql(f"UPDATE thing SET a = {value} WHERE id = 1")
    w.equal(daemon)


class Deaf(Detour):
    """Does not tell the server that a client is gone, as a network that is cut does not."""

    def pump(self, one, other):
        try:
            while data := one.recv(65536):
                other.sendall(data)
        except OSError:
            pass  # cut


def test_a_second_daemon_does_not_start_on_the_store_of_another_nor_does_a_copy_of_the_first(w):
    first = follow(w)
    second = w.millrace(start=False, **on_store(w))
    copy = w.millrace(start=False, **on_store(w))
    os.makedirs(copy.config["data"], mode=0o700)
    shutil.copy(os.path.join(first.config["data"], "node"), copy.config["data"])
    for daemon in second, copy:
        refuses(daemon)
        change(w, first, len(daemon.folder))
    if second.command("table", "list", ok=(75,)).stdout:
        raise Failed("a command of the second took the store of the first")
    node = first.json("status")["node"]
    first.stop()
    shutil.copy(os.path.join(first.folder, "definitions.yaml"), second.folder)  # the judge's; the store has its own
    second.start()
    change(w, second, 1)
    if second.json("status")["node"] == node:
        raise Failed("two data folders are one node")
    refuses(first)
    second.stop()
    w.db.sql(f"DROP DATABASE {store_of(w)}")


def test_a_daemon_that_starts_again_ends_the_connection_that_its_last_one_left_at_the_server(w):
    with Deaf(w.db.port) as lost:
        daemon = follow(w, port=lost.port)
        node = daemon.json("status")["node"]
        daemon.kill()
        daemon.configure(**on_store(w))
        daemon.start()
        change(w, daemon, 7)
        if daemon.json("status")["node"] != node:
            raise Failed("it is another node now")
    daemon.stop()
    w.db.sql(f"DROP DATABASE {store_of(w)}")


def test_a_daemon_whose_connection_to_the_store_is_lost_without_a_word_takes_it_again(w):
    with Deaf(w.db.port) as lost:
        daemon = follow(w, port=lost.port)
        change(w, daemon, 8)
        with lost.lock:
            nears = [near for near, _ in lost.pairs]
        for near in nears:
            near.shutdown(2)
        change(w, daemon, 9)
        wait_until("its position is stored", lambda: daemon.json("status")["topics"][0]["state"] == "running")
        w.equal(daemon)
    daemon.stop()
    w.db.sql(f"DROP DATABASE {store_of(w)}")

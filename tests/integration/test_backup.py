"""`millrace backup`: a copy of the store while it is used, and a daemon that goes on from the copy."""
import contextlib
import os
import shutil
import signal
import sqlite3
import stat
import subprocess

from beside import Beside
from servers import Failed, open_store, row_sum, wait_until
from test_faults import no_dump_threads, purged_to_the_last, topic_state
from test_held import two_tables
from test_local_machine import Disk, changes, preload
from test_one_store import make_store, on_store, store_of
from workload import Workload
from world import PASSWORD


class Load(Beside):
    """Changes the shop as long as the `with` lasts."""

    pause = 0.2

    def __init__(self, w, work):
        super().__init__()
        self.work, self.connection, self.steps = work, w.db.connect(w.schema), 0

    def step(self):
        self.work.run(self.connection, 2)
        self.steps += 1

    def goes_on(self):
        seen = self.steps
        wait_until(lambda: f"the load goes on, and not {self.error}", lambda: self.steps > seen + 5, 60)


def store_file(daemon):
    return os.path.join(daemon.folder, "data", "millrace.db")


def beside(daemon):
    """Files that a backup may have left in the daemon's folder."""
    return sorted(name for name in os.listdir(daemon.folder) if name.startswith("copy"))


def back_up(daemon, name="copy", *options):
    """What the command says of its copy, which is looked at."""
    said = daemon.json("backup", name, *options)
    path = os.path.join(daemon.folder, name)
    if said["file"] != path or said["bytes"] != os.path.getsize(path) or said["store"] != store_file(daemon):
        raise Failed(f"of {path} of {os.path.getsize(path)} bytes it says {said}")
    if stat.S_IMODE(os.stat(path).st_mode) != 0o600:
        raise Failed(f"others may read {path}")
    with contextlib.closing(sqlite3.connect(path)) as copy:
        copy.create_function("row_sum", -1, row_sum, deterministic=True)
        for pragma in ("quick_check", "integrity_check"):
            found = copy.execute(f"PRAGMA {pragma}").fetchall()
            if found != [("ok",)]:
                raise Failed(f"{pragma} of {path}: {found}")
        positions = copy.execute("SELECT topic, log_file, log_offset FROM checkpoint").fetchall()
    if positions != [(t["name"], t["file"], t["position"]) for t in said["topics"]]:
        raise Failed(f"the copy has the positions {positions}, and {said['topics']} is told")
    return said


def empty_data(daemon):
    data = os.path.dirname(store_file(daemon))
    for left in set(os.listdir(data)) - {"secret.key", "node"}:
        path = os.path.join(data, left)
        shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)


def put_back(daemon, name="copy"):
    """As docs/operations.md says; the daemon is stopped."""
    empty_data(daemon)
    shutil.copy(os.path.join(daemon.folder, name), store_file(daemon))


def go_on(daemon, load, name):
    """From a copy, while the load goes on all the time."""
    load.goes_on()
    daemon.stop()
    load.goes_on()
    put_back(daemon, name)
    daemon.start()
    load.goes_on()


def test_a_daemon_goes_on_from_copies_that_were_made_under_load_and_while_a_build_ran(w):
    w.load_shop()
    daemon = w.follow(w.shop_definitions(), coordination="embedded")  # with its store in the data folder
    orders, work, positions = f"{w.schema}.orders", Workload(w.rng), set()

    def copy_once_more():
        positions.add(back_up(daemon, "copy-again", "--force")["topics"][0]["position"])
        return len(positions) > 3

    with Load(w, work) as load:
        back_up(daemon, "copy-without-version")
        wait_until(lambda: f"copies have four positions, and not {positions}", copy_once_more, 60)
        daemon.command("index", "create", orders, "--rate", "20", "--no-wait")
        wait_until("the build reads rows", lambda: any(j["rows_done"] > 0 for j in daemon.json("job", "list")["items"]))
        back_up(daemon, "copy-of-build")
        load.goes_on()
        daemon.command("index", "set", orders, "--rate", "0")
        wait_until("it is built", lambda: w.table(daemon, "orders")["version"] == 2, 120)
        back_up(daemon, "copy-after-build")
        go_on(daemon, load, "copy-after-build")
    w.equal(daemon)
    with Load(w, work) as load:
        go_on(daemon, load, "copy-of-build")
        daemon.command("index", "set", orders, "--rate", "0")
        wait_until("it is built once more", lambda: w.table(daemon, "orders")["version"] == 2, 120)
    w.equal(daemon)
    with Load(w, work) as load:
        go_on(daemon, load, "copy-without-version")
        found = wait_until("the index that the copy does not know is told", lambda: w.table(daemon, "orders")["state"] == "astray" and w.table(daemon, "orders"))
        if "older copy of the data folder" not in found["reason"] or found["fix"] != f"millrace index create {orders}":
            raise Failed(f"status says {found}")
        daemon.command(*found["fix"].split()[1:])
    w.equal(daemon)
    if w.table(daemon, "orders")["version"] != 3:
        raise Failed(f"the new version is that of {w.table(daemon, 'orders')}")
    if [name for name in beside(daemon) if ".new." in name or "-wal" in name or "-shm" in name or "-journal" in name]:
        raise Failed(f"the copies have left {beside(daemon)}")


def test_where_the_log_behind_a_copy_is_gone_the_topic_says_so_and_all_is_built_anew(w):
    daemon = two_tables(w, coordination="embedded")
    changes(w, 1)
    w.equal(daemon)
    back_up(daemon)
    changes(w, 2)
    w.sql("FLUSH BINARY LOGS")
    changes(w, 3)
    w.equal(daemon)
    daemon.stop()
    no_dump_threads(w)
    wait_until("the server purges its log", lambda: purged_to_the_last(w))
    put_back(daemon)
    daemon.start()
    state = wait_until("the topic stops", lambda: topic_state(daemon)["state"] == "fail" and topic_state(daemon))
    if "topic reset" not in state["fix"]:
        raise Failed(f"status says {state}")
    daemon.command("topic", "reset", w.schema, "--yes")
    daemon.command("index", "create", "--all")
    changes(w, 4)
    w.equal(daemon)


def test_a_store_that_no_daemon_uses_is_copied(w):
    daemon = two_tables(w, coordination="embedded")
    daemon.stop()
    back_up(daemon, "copy-of-stopped")
    if os.path.exists(store_file(daemon) + "-wal"):
        raise Failed("the copy has left a log beside the store")
    daemon.start()
    changes(w, 1)
    w.equal(daemon)
    daemon.kill()
    if not os.path.getsize(store_file(daemon) + "-wal"):
        raise Failed("the daemon that was killed has left no log")
    said = back_up(daemon)
    with open_store(daemon) as store:
        if [(t["file"], t["position"]) for t in said["topics"]] != store.execute("SELECT log_file, log_offset FROM checkpoint").fetchall():
            raise Failed(f"the copy goes on from {said['topics']}")
    put_back(daemon)
    daemon.start()
    changes(w, 2)
    w.equal(daemon)


def refused(daemon, name, words, *options, code=1, environment=None):
    before = beside(daemon)
    said = daemon.command("backup", name, *options, ok=(code,), environment=environment)
    if words not in said.stderr or said.stdout:
        raise Failed(f"{name} {options}: not {words!r} in {said.stdout}{said.stderr}")
    if beside(daemon) != before:
        raise Failed(f"before there were {before}, and {beside(daemon)} after it")


def test_a_copy_replaces_only_what_it_is_told_to_and_nothing_of_the_daemon(w):
    daemon = w.millrace(coordination="embedded")
    path = daemon.write("copy", "mine")
    refused(daemon, "copy", "replace it with --force")
    with open(path, encoding="utf-8") as f:
        if f.read() != "mine":
            raise Failed("the file has changed")
    back_up(daemon, "copy", "--force")
    os.symlink(path, path + "-link")
    os.mkdir(path + "-folder")
    for name, words in (("copy-link", "is not a file that could be replaced"), ("copy-folder", "is not a file that could be replaced"),
                        ("nowhere/copy", "No such file or directory"), ("data/millrace.db", "is in the data folder"), ("data/copy", "is in the data folder")):
        refused(daemon, name, words, "--force")
    daemon.command("backup", ok=(2,))
    daemon.stop()
    os.rename(store_file(daemon), store_file(daemon) + ".away")
    refused(daemon, "copy-of-nothing", "there is no store at")
    if os.path.exists(store_file(daemon)):
        raise Failed("the command has made a store")
    os.rename(store_file(daemon) + ".away", store_file(daemon))
    daemon.start()


def test_a_full_disk_leaves_what_was_there_and_nothing_else(w):
    daemon, disk = w.millrace(coordination="embedded"), Disk(w)
    back_up(daemon)
    with open(os.path.join(daemon.folder, "copy"), "rb") as f:
        before = f.read()
    disk.fill(os.path.join(daemon.folder, "copy"))
    environment = preload(full=disk.control)
    refused(daemon, "copy-on-full", "make room on the disk", code=75, environment=environment)
    refused(daemon, "copy", "make room on the disk", "--force", code=75, environment=environment)
    with open(os.path.join(daemon.folder, "copy"), "rb") as f:
        if f.read() != before:
            raise Failed("the earlier copy is not as it was")
    disk.free()
    daemon.command("backup", "copy", "--force", environment=environment)
    back_up(daemon, "copy", "--force")


def test_an_interrupted_copy_leaves_nothing(w):
    daemon = w.millrace(start=False, coordination="embedded")
    daemon.command("table", "list")  # makes the store
    with open_store(daemon) as store:
        store.execute("BEGIN")
        store.executemany("INSERT INTO setting (name, content) VALUES (?, ?)", [(f"large/{i}", "x" * 10**6) for i in range(100)])
        store.execute("COMMIT")
    copy = subprocess.Popen([daemon.program, "backup", "copy", "--config", daemon.config_file], cwd=daemon.folder,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_until("it copies", lambda: copy.poll() is not None or any(os.path.getsize(os.path.join(daemon.folder, name)) for name in beside(daemon)), 60, 0.001)
    copy.send_signal(signal.SIGTERM)
    said = copy.communicate(timeout=60)
    if copy.returncode != 1 or said != ("", "millrace: interrupted\n") or beside(daemon):
        raise Failed(f"it ended with {copy.returncode}, said {said}, and left {beside(daemon)}")


def test_of_a_store_in_mysql_the_command_for_its_own_tools_is_told(w):
    make_store(w)
    daemon = w.millrace(**on_store(w))
    refused(daemon, "copy of it", f"fix: mysqldump --single-transaction --no-tablespaces --hex-blob -h 127.0.0.1 -P {w.db.port} -u millrace "
            f"-p {store_of(w)} > 'copy of it'")


def told_command(daemon, w, name):
    """What `backup` prints for a store in MySQL, as it can be run without a terminal: without the question for the password."""
    said = daemon.command("backup", name, ok=(1,)).stderr
    command = said[said.index("fix: ") + len("fix: "):].strip()
    if f" -p {store_of(w)} > " not in command:
        raise Failed(f"backup says {said}")
    return command.replace(" -p ", " ")


def test_a_daemon_goes_on_from_what_the_told_command_copied_of_a_store_in_mysql(w):
    w.load_shop()
    make_store(w)
    daemon = w.follow(w.shop_definitions("orders"), **on_store(w))
    shell = {"cwd": daemon.folder, "env": os.environ | {"MYSQL_PWD": PASSWORD}, "shell": True, "check": True, "timeout": 120}
    w.sql("UPDATE customer SET city = 'Before' WHERE id = 1")
    w.equal(daemon)
    subprocess.run(told_command(daemon, w, "copy"), **shell)
    w.sql("UPDATE customer SET city = 'After' WHERE id = 1", "DELETE FROM order_item WHERE order_id = 1",
          "DELETE FROM orders WHERE id = 1")
    w.equal(daemon)
    daemon.stop()
    make_store(w)  # all is lost
    empty_data(daemon)
    subprocess.run(f"mariadb -h 127.0.0.1 -P {w.db.port} -u millrace {store_of(w)} < copy", **shell)
    w.sql("UPDATE orders SET title = 'While it was away' WHERE id = 2")
    daemon.start()
    w.equal(daemon)
    if w.table(daemon, "orders")["version"] != 1:
        raise Failed(f"it was built again: {w.table(daemon, 'orders')}")

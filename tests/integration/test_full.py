"""What is full or red stops what needs it, says so, loses nothing, and goes on by itself."""
import os
import subprocess
import threading

import servers
from servers import Failed, wait_until


def held_and_goes_on(w, daemon, *words):
    """Changes of `bad` wait with a reason while `good` goes on."""
    w.sql("UPDATE bad SET a = a + 10", "DELETE FROM bad WHERE id = 2", "UPDATE good SET a = a + 10")
    w.equal(daemon, [f"{w.schema}.good"])
    held = wait_until("the table is held", lambda: w.table(daemon, "bad")["state"] == "held" and w.table(daemon, "bad"), 60)
    if not any(word in held["reason"] for word in words) or not held["fix"]:
        raise Failed(f"reason and fix are {held['reason']!r} and {held['fix']!r}")
    w.sql("UPDATE good SET a = a + 10")
    w.equal(daemon, [f"{w.schema}.good"])


def test_a_full_disk_at_the_engine_holds_its_index_until_there_is_room(w):
    daemon = w.follow_good_and_bad()
    # What the engine does at its flood stage.
    w.engine.ask("PUT", f"/{w.index('bad')}_v1/_settings", {"index.blocks.read_only_allow_delete": True})
    held_and_goes_on(w, daemon, "flood", "disk", "read-only")
    daemon.kill()
    daemon.start()
    w.sql("UPDATE bad SET a = a + 1")
    w.engine.ask("PUT", f"/{w.index('bad')}_v1/_settings", {"index.blocks.read_only_allow_delete": None})
    w.equal(daemon, seconds=90)


def test_a_red_index_holds_its_own_build_only_and_goes_on_when_it_is_green(w):
    w.sql("CREATE TABLE good (id INT PRIMARY KEY, a INT)", "CREATE TABLE bad (id INT PRIMARY KEY, a INT)",
          "INSERT INTO good VALUES (1, 1), (2, 2)", "INSERT INTO bad VALUES (1, 1), (2, 2)")
    placed = "index.routing.allocation.require._name"
    settings = {"number_of_shards": 1, "number_of_replicas": 0, "routing.allocation.require._name": "nowhere"}
    daemon = w.millrace()
    daemon.apply(w.definitions({"table": "good"}, {"table": "bad", "settings": settings}))
    daemon.build(f"{w.schema}.good")
    build = threading.Thread(target=daemon.command, args=("index", "create", f"{w.schema}.bad", "--no-wait"),
                             kwargs={"ok": None})
    build.start()
    try:
        wait_until("the engine is red", lambda: daemon.json("status")["search"]["health"] == "red")
        w.sql("UPDATE bad SET a = a + 10", "UPDATE good SET a = a + 10")
        w.equal(daemon, [f"{w.schema}.good"])
        said = daemon.command("doctor", ok=None)
        if "red" not in said.stdout + said.stderr:
            raise Failed(f"doctor says nothing of a red engine:\n{said.stdout}{said.stderr}")
    finally:
        w.engine.ask("PUT", f"/{w.index('bad')}_v1/_settings", {placed: None})
        build.join()
    wait_until("the build ends", lambda: w.table(daemon, "bad")["state"] == "available", 60)
    w.sql("UPDATE bad SET a = a + 10")
    w.equal(daemon, seconds=90)


class SmallDisk:
    """A file system of its own with so many MiB; of use only to root."""

    def __init__(self, size, folder=None):
        self.folder = folder or os.path.join(servers.RUN, "small-disk")
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}m,mode=700", "millrace-test", self.folder],
                              capture_output=True, check=False)
        self.mounted = done.returncode == 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.mounted:
            subprocess.run(["umount", "-l", self.folder], check=True)

    def fill(self):
        with open(os.path.join(self.folder, "ballast"), "wb", buffering=0) as f:
            try:
                while True:
                    f.write(b"x" * 4096)
            except OSError:
                pass

    def free(self):
        os.remove(os.path.join(self.folder, "ballast"))


def test_a_full_disk_under_the_store_loses_nothing_and_goes_on_by_itself(w):
    with SmallDisk(8) as disk:
        if not disk.mounted:
            print("# no right to mount a file system: not tested", flush=True)
            return
        daemon, work, connection = w.work_on_shop(data=os.path.join(disk.folder, "data"))
        for stopped in (False, True):
            disk.fill()
            work.run(connection, 300)
            said = wait_until("the log says that the disk is full", lambda: "full" in daemon.log_tail(10**6).lower(), 30)
            if not said:
                raise Failed("nothing was said")
            work.run(connection, 100)
            daemon.check_alive()
            if stopped:
                daemon.kill()
                work.run(connection, 50)
            disk.free()
            if stopped:
                daemon.start()
            w.equal(daemon, seconds=60)
            w.sql("UPDATE orders SET note = 'after'")
            w.equal(daemon)
        daemon.stop()

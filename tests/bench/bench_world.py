"""What benches in a world of their own share: a database, an engine and daemons, as integration tests have them.

Import it before anything of tests/integration, which it puts on the path.
"""
import contextlib
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "integration"))

import servers  # noqa: E402
import world  # noqa: E402

FAKE = os.path.join(os.path.dirname(servers.BINARY), "tests", "fakes", "fake_search")
TICKS = os.sysconf("SC_CLK_TCK")


class FakeEngine(servers.Engine):
    """The search engine in memory of tests/fakes, which is never the limit; `make check` builds it."""

    def __init__(self):
        super().__init__("fake-engine")
        self.process = None

    def start(self, *settings):
        os.makedirs(self.folder, exist_ok=True)
        self.process = subprocess.Popen([os.environ.get("FAKE_SEARCH", FAKE), str(self.port)], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, text=True)
        self.process.stdout.readline()  # it listens

    def pid(self):
        return self.process.pid

    def stop(self):
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()

    def wipe(self):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


@contextlib.contextmanager
def bench_world(name, server="mariadb", fake=False):
    """A World, thrown away at the end; all that it started ends, however that comes.  fake: with the engine in memory."""
    class Options:
        seed, coordination = 1, "embedded"

    Options.server = server
    passed = False
    try:
        if fake:
            world.share_engine(FakeEngine())
        w = world.World(f"bench.{name}", Options)
        try:
            yield w
            passed = True
        finally:
            w.leave(passed)
    finally:
        servers.stop_all()
        world.wipe_shared()


def percentile(values, p):
    return sorted(values)[min(len(values) - 1, int(len(values) * p / 100))]


def cpu_seconds(pid):
    """Of processor time that a process has used."""
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS

"""Lanes: processes that run tests side by side, each with servers, ports and a folder of its own.

The runner gives a lane one test after another by name and hears as JSON how it went.  Whoever is
started in a lane has the lane's folder in its environment and is killed when the lane ends, however it
ends: by a test that takes the process along, by a signal to the runner, or by its kill -9.
"""
import contextlib
import io
import itertools
import json
import os
import queue
import selectors
import shutil
import signal
import subprocess
import sys
import threading
import time

import servers

MARK = "TEST_LANE"


def marked(folder):
    """The processes that were started in a lane and live."""
    mark = f"{MARK}={folder}".encode()
    for name in os.listdir("/proc"):
        try:
            with open(f"/proc/{name}/environ", "rb") as f:
                if mark in f.read().split(b"\0"):
                    yield int(name)
        except OSError:
            pass  # it has gone, is none of ours, or no process at all


def sweep(folder, seconds=20):
    """Kills whoever was started in a lane, and lets go of the file systems that were mounted there.

    A program that is just being started shows no mark for a moment: it is looked for once more."""
    end, looks = time.monotonic() + seconds, 2
    while looks > 0 and time.monotonic() < end:
        left = list(marked(folder))
        looks = 2 if left else looks - 1
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        servers.let_pass("one that is being started shows no mark", 0.02)
    shutil.rmtree(servers.in_memory(folder), ignore_errors=True)
    with open("/proc/self/mounts", encoding="utf-8", errors="replace") as f:
        for place in [line.split()[1] for line in f]:
            if place.startswith(folder + "/"):
                subprocess.run(["umount", "-l", place], check=False)


class Lane:
    """The runner's end of one lane.  It has at most one test at a time."""

    def __init__(self, folder, command):
        self.folder, self.test, self.rest = folder, None, []
        os.makedirs(folder)
        self.output = os.path.join(folder, "output")
        with open(self.output, "wb") as output:
            self.process = subprocess.Popen([*command, "--lane", folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=output, text=True, env=os.environ | {MARK: folder},
                                            start_new_session=True)

    def give(self, tests):
        """A list: the first one now, the others stay with this lane."""
        (test, *self.rest), self.since = tests, time.monotonic()
        self.test = test
        with contextlib.suppress(BrokenPipeError):  # hear tells
            os.write(self.process.stdin.fileno(), f"{test}\n".encode())

    def hear(self):
        """How its test went; blocks until it has ended.  A lane that is broken is given nothing more."""
        line = self.process.stdout.readline()
        outcome = json.loads(line) if line else {"failure": self.last_words(), "notes": "", "broken": True}
        return outcome | {"test": self.test, "seconds": time.monotonic() - self.since}

    def last_words(self):
        status = self.process.wait()
        with open(self.output, encoding="utf-8", errors="replace") as f:
            return f"its process ended with {status}; what that said ({self.output}) ends:\n{f.read()[-4000:]}"

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
        sweep(self.folder)


class Lanes:
    """So many lanes under a folder; a context whose end is theirs, with everything in them.

    command: that of a process that calls serve, less its --lane FOLDER."""

    def __init__(self, folder, jobs, command, keep=False):
        self.folder, self.jobs, self.command, self.keep = folder, jobs, command, keep
        self.lanes, self.numbers = [], itertools.count(1)
        os.makedirs(folder, exist_ok=True)
        for name in os.listdir(folder):
            if name.startswith("lane"):  # of an earlier run
                sweep(os.path.join(folder, name))
                shutil.rmtree(os.path.join(folder, name), ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        for lane in self.lanes:
            if self.keep and kind is None:
                lane.process.kill()
            else:
                lane.end()

    def run(self, bundles):
        """Yields how each test went, as it ends: a dictionary of test, failure or None, notes and seconds.

        The tests of a bundle, a list, run one after another in one lane."""
        waiting, ears = list(reversed(bundles)), selectors.DefaultSelector()
        while waiting or ears.get_map():
            while waiting and len(ears.get_map()) < self.jobs:
                lane = Lane(os.path.join(self.folder, f"lane{next(self.numbers)}"), self.command)
                self.lanes.append(lane)
                ears.register(lane.process.stdout, selectors.EVENT_READ, lane)
                lane.give(waiting.pop())
            for key, _ in ears.select():
                lane, outcome = key.data, key.data.hear()
                if lane.rest:
                    waiting.append(lane.rest)
                if waiting and not outcome["broken"]:
                    lane.give(waiting.pop())
                else:
                    ears.unregister(key.fileobj)
                    if not self.keep:
                        self.lanes.remove(lane)
                        lane.end()
                yield outcome


def serve(folder, run_one):
    """A lane's own process: runs what it is told to, until the runner ends it or has gone itself.

    run_one(name) gives None for a test that passed or the report, and whether the lane's servers may be
    in a state that is no good for another test."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what tests and their programs say is no answer
    tests = queue.SimpleQueue()

    def listen():
        for line in sys.stdin:
            tests.put(line.rstrip("\n"))
        # The runner has gone: this process becomes one that sweeps, so that its tests start nothing more.
        rest = {name: value for name, value in os.environ.items() if name != MARK}
        os.execve(sys.executable, [sys.executable, os.path.abspath(__file__), folder], rest)

    threading.Thread(target=listen, daemon=True).start()
    while True:
        notes = io.StringIO()
        test = tests.get()
        with contextlib.redirect_stdout(notes):
            failure, broken = run_one(test)
        print(json.dumps({"failure": failure, "broken": broken, "notes": notes.getvalue()}), file=answers, flush=True)


if __name__ == "__main__":
    sweep(sys.argv[1])

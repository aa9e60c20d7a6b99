#!/usr/bin/python3
"""One-line mutations of the program: do its tests see them?

    tests/mutate/run.py [--jobs N] [--only WORD...] [--list] [--check]

Each mutation of tests/mutate/list is made in a copy of the tree, what changes is built, and the
tests that should see it are run until one fails: that one has killed it.  A mutation that no test
kills survives, and fails the run unless the list has the reason why it may live.  Speaks TAP.

    --only WORD...  those whose file, line or tests contain a word, or list:NUMBER, the line of its OLD
    --jobs N        copies of the tree, each with a build of its own
    --list          shows them
    --check         only looks whether each can still be made: its line is there, once
"""
import argparse
import contextlib
import os
import queue
import re
import signal
import subprocess
import sys
import threading

here = os.path.dirname(os.path.abspath(__file__))
repo = os.path.dirname(os.path.dirname(here))
AT_LEAST = 150
TEST_MAX_S = 120  # a test that takes longer hangs, so it has seen something


class Mutation:
    def __init__(self, file, tests, line):
        self.file, self.tests, self.line = file, tests, line
        self.old, self.new, self.reason = None, None, None

    def __str__(self):
        return f"{self.file}: {self.old.strip()} -> {self.new.strip() or 'nothing'}"


def load():
    """Those of the list, whose form its head says."""
    found, file, tests = [], None, None
    with open(os.path.join(here, "list"), encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            kind, text = line[:1], line.rstrip("\n")[2:]
            if kind == "@":
                file, _, names = text.partition(": ")
                tests = names.split()
            elif kind == "-":
                found.append(Mutation(file, tests, number))
                found[-1].old = text
            elif kind == "+":
                found[-1].new = text
            elif kind == "=":
                found[-1].reason = text
            elif line.strip() and kind != "#":
                sys.exit(f"tests/mutate/list:{number}: begins with none of @ - + = #")
    return found


def source_of(tree, test):
    """A test's program and, where it needs a server beside it, the script that starts both."""
    for folder in ("unit", "component"):
        at = f"tests/{folder}/test_{test}"
        if os.path.exists(os.path.join(tree, at + ".c")):
            script = os.path.join(tree, at + ".tap")
            return at, script if os.path.exists(script) else None
    return None, None


def fault_of(mutation):
    """Why it cannot be made; None: it can."""
    try:
        with open(os.path.join(repo, mutation.file), encoding="utf-8") as f:
            n = f.read().count(mutation.old)
    except (OSError, TypeError):
        return f"there is no file {mutation.file}"
    if mutation.new is None or mutation.new == mutation.old:
        return "it says not what comes in the line's place (+)"
    if n != 1:
        return f"this is in {mutation.file} {n} times, not once: {mutation.old.strip()}"
    for test in mutation.tests:
        if source_of(repo, test)[0] is None:
            return f"there is no test_{test}"
    return None if mutation.tests else "it names no test"


def check(mutations):
    bad = [(m, fault_of(m)) for m in mutations]
    bad = [f"tests/mutate/list:{m.line}: {fault}" for m, fault in bad if fault]
    if len(mutations) < AT_LEAST:
        bad.append(f"tests/mutate/list: {len(mutations)} mutations, there should be {AT_LEAST}")
    for line in bad:
        print(line)
    return bad


def copy_changed(source, copy):
    """True: the copy is another file now.  What is equal keeps its time, so that it is not built again."""
    with open(source, "rb") as f:
        data = f.read()
    try:
        with open(copy, "rb") as f:
            if f.read() == data:
                return
    except OSError:
        os.makedirs(os.path.dirname(copy), exist_ok=True)
    with open(copy, "wb") as f:
        f.write(data)
    os.chmod(copy, os.stat(source).st_mode)


class Tree:
    """A copy of the tree with its own build."""

    def __init__(self, number):
        folder = os.path.join(repo, "build-tests", "mutate", str(number))
        self.source, self.build = os.path.join(folder, "source"), os.path.join(folder, "build")
        self.changed = None  # the file that a mutation is in

    def run(self, command, folder, **options):
        return subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", **options)

    def prepare(self):
        names = self.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                         repo).stdout.split("\0")
        for name in filter(None, names):
            if os.path.isfile(os.path.join(repo, name)):
                copy_changed(os.path.join(repo, name), os.path.join(self.source, name))
        os.makedirs(self.build, exist_ok=True)
        if not os.path.exists(os.path.join(self.source, "configure")):
            self.must(["sh", "autogen.sh"], self.source)
        if not os.path.exists(os.path.join(self.build, "Makefile")):
            self.must(["../source/configure", "-q", "CFLAGS=-O0"], self.build)
        self.must(["make", "-s", "all"], self.build)

    def must(self, command, folder):
        done = self.run(command, folder)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)} fails in {folder}:\n{done.stdout[-3000:]}")

    def make(self, *tests):
        made = self.run(["make", "-s"] + [source_of(self.source, t)[0] for t in tests], self.build)
        if made.returncode != 0:
            raise ValueError("does not compile: " + made.stdout[-600:])

    def passes(self, test):
        """Does the test pass?"""
        program, script = source_of(self.source, test)
        env = dict(os.environ, top_srcdir=self.source, top_builddir=self.build,
                   CMOCKA_MESSAGE_OUTPUT="TAP")
        p = subprocess.Popen(["sh", script] if script else ["./" + program], cwd=self.build, env=env,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            said = p.communicate(timeout=TEST_MAX_S)[0].decode(errors="replace")
            return p.returncode == 0 and not re.search(r"^not ok (?!.*# SKIP)", said, re.M)
        except subprocess.TimeoutExpired:
            return False
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(p.pid, signal.SIGKILL)

    def restore(self):
        if self.changed is not None:
            copy_changed(os.path.join(repo, self.changed), os.path.join(self.source, self.changed))
        self.changed = None

    def change(self, m):
        if self.changed != m.file:
            self.restore()
        with open(os.path.join(repo, m.file), encoding="utf-8") as f:
            text = f.read()
        self.changed = m.file
        with open(os.path.join(self.source, m.file), "w", encoding="utf-8") as f:
            f.write(text.replace(m.old, m.new))

    def try_one(self, m):
        """The test that kills it; None: it survives.  It must compile."""
        self.change(m)
        for test in m.tests:
            self.make(test)
            if not self.passes(test):
                return test
        return None

    def try_nothing(self, tests):
        """What fails without any mutation says nothing of them."""
        self.make(*tests)
        bad = [t for t in tests if not self.passes(t)]
        if bad:
            sys.exit(f"these fail without any mutation: {' '.join(bad)}")


class Report:
    def __init__(self, n):
        self.n, self.killed, self.bad, self.lives, self.lock = 0, 0, 0, 0, threading.Lock()
        print(f"1..{n}", flush=True)

    def say(self, ok, text):
        self.n += 1
        self.bad += not ok
        print(f"{'ok' if ok else 'not ok'} {self.n} - {text}", flush=True)

    def tell(self, m, killer, fault):
        with self.lock:
            if fault is not None:
                self.say(False, f"{m}\n# tests/mutate/list:{m.line}: {fault}")
            elif killer is not None:
                self.killed += 1
                self.say(True, f"{m} # killed by {killer}" + (", and may live" if m.reason else ""))
            else:
                self.lives += 1
                self.say(m.reason is not None, f"{m} # SURVIVES" + (f": {m.reason}" if m.reason else ""))


def work(tree, left, report):
    while True:
        try:
            m = left.get_nowait()
        except queue.Empty:
            return tree.restore()
        try:
            report.tell(m, tree.try_one(m), None)
        except ValueError as e:
            report.tell(m, None, " ".join(str(e).split()))


def run(mutations, jobs):
    trees = [Tree(i) for i in range(1, jobs + 1)]
    for tree in trees:
        tree.prepare()
    trees[0].try_nothing(sorted({t for m in mutations for t in m.tests}))
    left, report = queue.Queue(), Report(len(mutations))
    for m in mutations:
        left.put(m)
    threads = [threading.Thread(target=work, args=(t, left, report)) for t in trees]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    print(f"# {report.killed} killed, {report.lives} survived")
    return report.bad == 0 and report.n == len(mutations)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", nargs="+", default=[])
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--check", action="store_true")
    opt = parser.parse_args()
    mutations = load()
    if check(mutations):
        return 1
    mutations = [m for m in mutations
                 if not opt.only or any(w == f"list:{m.line}" or w in f"{m} {m.tests}"
                                            for w in opt.only)]
    if opt.list:
        for m in mutations:
            print(m)
    if opt.list or opt.check:
        return 0
    return 0 if run(mutations, opt.jobs) else 1


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Runs the integration tests and says how it went, in TAP.

    run.py [--server mariadb|mariadb11|mysql8|mysql9] [--option=--NAME=VALUE...] [--engine opensearch2|opensearch3]
           [--coordination zookeeper] [--seed N] [--jobs N] [--only WORD...] [--kills N] [--failpoints N] [--seeds N] [--damage N] [--slow SECONDS]
           [--minutes N] [--rows N] [--examples N] [--pictures] [--list]

A test is a function test_... of a module test_....py beside this file, or one that its more_tests(options)
gives by name; it gets a World.  --only takes
tests whose name (module.function) contains one of the words; the modules test_kill and test_campaign run
only so, or where --kills says how often the daemon is killed at random moments, and --failpoints how
often at failpoints.  --seeds makes tests of so many random schemas, from --seed on (test_shapes); --damage
has verify find so many damaged documents of each kind; --slow has the engine be slow for so long (faults.f61);
--minutes makes tests that go on for so long (members_full), and has delayed_input make the largest numbers; --rows has
five nodes build so many rows (large_build); --examples sends so many requests of each kind more to each operation (schemathesis); --pictures shows every screen of the page in each language, width and
theme at once, where a run shows each in some (screens).
A module with NODES = n has its tests run one after another against a search cluster of n nodes.
With --coordination zookeeper each daemon is the only node of a cluster, with its store on the server that it follows.
Every database server is started with the --option given.  --jobs tests run at a time, each in a lane
with servers and a folder of its own, tests/run/laneN.  MILLRACE names the daemon's program.  With KEEP
set, the shared servers stay up after the run.
"""
import argparse
import contextlib
import faulthandler
import fcntl
import glob
import importlib
import os
import signal
import sys
import time
import traceback

import lanes
import servers
import world

HERE = os.path.dirname(os.path.abspath(__file__))
LIMIT = 900  # seconds; a test that takes longer hangs
# Modules whose tests load the machine for as long as they last.  One of them at a time is at work: side by side they
# take twice the processor time, as each goes on with its load while it waits for the others.
HEAVY = "campaign", "kill", "members_kill", "large_build", "shapes", "nodes"
# Modules with long tests, which begin first, so that no lane is left with one at the end.
LONG = *HEAVY, "memory", "held", "servers", "faults", "failover", "builds", "alter", "cascades", "log_faults", "images", "hidden"


class Interrupted(BaseException):
    """By a signal, which is the argument."""


def no_more(_):
    return {}


def find_tests(options):
    words, tests = options.only, {}
    wanted = {"test_kill": options.kills, "test_campaign": options.failpoints, "test_members_kill": options.kills}
    for path in sorted(glob.glob(os.path.join(HERE, "test_*.py"))):
        module = importlib.import_module(os.path.basename(path)[:-3])
        for name, function in [*vars(module).items(), *getattr(module, "more_tests", no_more)(options).items()]:
            if not name.startswith("test_") or not callable(function):  # a module may be imported
                continue
            full = f"{module.__name__[5:]}.{name[5:]}"
            if any(word in full for word in words) if words else wanted.get(module.__name__, True):
                tests[full] = function
    return dict(sorted(tests.items(), key=lambda test: rank(test[0].split(".")[0])))


def rank(module):
    return LONG.index(module) if module in LONG else len(LONG)


def arguments(given):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--server", default="mariadb", choices=["mariadb", "mariadb11", "mysql8", "mysql9"])
    parser.add_argument("--engine", default="opensearch2", choices=["opensearch2", "opensearch3"])
    parser.add_argument("--coordination", default="embedded", choices=["embedded", "zookeeper"])
    parser.add_argument("--option", action="append", default=[])
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", nargs="+", default=[])
    parser.add_argument("--kills", type=int)
    parser.add_argument("--failpoints", type=int)
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--damage", type=int, default=20)
    parser.add_argument("--slow", type=int, default=20)
    parser.add_argument("--minutes", type=int, default=0)
    parser.add_argument("--rows", type=int, default=0)
    parser.add_argument("--examples", type=int, default=1)
    parser.add_argument("--pictures", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--lane", help=argparse.SUPPRESS)  # be that of this folder
    return parser.parse_args(given)


# -- in a lane


def run_one(name, function, options):
    """The report or None when it passed, and whether what it leaves is unfit for another test."""
    kills = {"kill": options.kills, "members_kill": 4 * (options.kills or 40), "campaign": options.failpoints}.get(name.split(".")[0], 0)
    faulthandler.dump_traceback_later(getattr(function, "limit", LIMIT) + 3 * kills + 2 * options.slow + 2 * options.damage + 120 * options.minutes, exit=True)
    stage, failure = world.World(name, options, nodes_of(function)), None
    try:
        function(stage)
    except servers.Failed as e:
        failure = str(e)
    except Exception:
        failure = traceback.format_exc(limit=-6)
    if failure:
        failure += "".join(f"\nlog of the daemon ({daemon.log}) ends:\n{daemon.log_tail(2500)}" for daemon in stage.daemons)
    try:
        stage.leave(passed=failure is None)
    except Exception as e:
        return (f"{failure}\nand then: {e}" if failure else str(e)), True
    finally:
        faulthandler.cancel_dump_traceback_later()
    return failure, False


def be_a_lane(options, tests):
    servers.RUN = options.lane
    servers.Database.always = options.option
    servers.Engine.major = options.engine[-1]
    lanes.serve(options.lane, lambda name: run_one(name, tests[name], options))


# -- the runner


def nodes_of(function):
    return getattr(sys.modules[function.__module__], "NODES", 1)


def bundles(tests):
    """Lists of names: those that are heavy take turns, which those that want a cluster of the engine are, too."""
    apart = [name for name, function in tests.items() if nodes_of(function) > 1 or name.split(".")[0] in HEAVY]
    return ([apart] if apart else []) + [[name] for name in tests if name not in apart]


def skipped(function, options):
    """A test may say for which servers it is, function.servers, and why not for others, function.why."""
    return options.server not in getattr(function, "servers", (options.server,))


def comment(text):
    return "".join(f"#   {line}\n" for line in text.splitlines())


class Report:
    """The TAP stream: numbered in the order in which tests end, each test's lines together."""

    def __init__(self, count):
        self.number, self.failures = 0, 0
        print(f"1..{count}", flush=True)

    def skip(self, name, why):
        self.line("ok", name, f"# SKIP {why}")

    def outcome(self, outcome):
        failure = outcome["failure"]
        self.failures += failure is not None
        self.line("ok" if failure is None else "not ok", outcome["test"], f"({outcome['seconds']:.1f} s)",
                  outcome["notes"] + comment(failure or ""))

    def line(self, verdict, name, more, text=""):
        self.number += 1
        print(f"{verdict} {self.number} - {name.replace('_', ' ')} {more}\n{text}", end="", flush=True)


@contextlib.contextmanager
def alone():
    """Two runs in one checkout would end each other's servers."""
    os.makedirs(servers.RUN, exist_ok=True)
    with open(os.path.join(servers.RUN, "lock"), "w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sys.exit("error: another run.py is at work in this checkout")
        yield


def run(options, given, tests):
    server = " ".join([options.server, options.engine] + options.option)
    print(f"# seed {options.seed}, server {server}, {servers.BINARY}", flush=True)
    report = Report(len(tests))
    for name, function in tests.items():
        if skipped(function, options):
            report.skip(name, f"{options.server}: {function.why}")
    command = [sys.executable, os.path.abspath(__file__), *given, "--seed", str(options.seed)]
    with lanes.Lanes(servers.RUN, options.jobs, command, keep="KEEP" in os.environ) as all_lanes:
        able = {name: function for name, function in tests.items() if not skipped(function, options)}
        for outcome in all_lanes.run(bundles(able)):
            report.outcome(outcome)
    return 1 if report.failures else 0


SIGNALS = signal.SIGINT, signal.SIGTERM, signal.SIGHUP


def interrupt(number, _):
    for other in SIGNALS:
        signal.signal(other, signal.SIG_IGN)  # what is done about it is not interrupted
    raise Interrupted(number)


def main(given):
    options = arguments(given)
    tests = find_tests(options)
    options.kills, options.failpoints = options.kills or 100, options.failpoints or 300
    if options.list:
        print("\n".join(tests))
        return 0
    if options.lane:
        return be_a_lane(options, tests)
    for number in SIGNALS:
        signal.signal(number, interrupt)
    try:
        with alone():
            return run(options, given, tests)
    except Interrupted as e:
        print("Bail out! interrupted", flush=True)
        signal.signal(e.args[0], signal.SIG_DFL)  # whoever waits for this process sees why it ended
        os.kill(os.getpid(), e.args[0])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

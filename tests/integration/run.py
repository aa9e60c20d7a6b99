#!/usr/bin/env python3
"""Runs the integration tests and says how it went, in TAP.

    run.py [--server mariadb|mariadb11|mysql8|mysql9] [--option=--NAME=VALUE...] [--seed N]
           [--only WORD...] [--kills N] [--list]

A test is a function test_... of a module test_....py beside this file; it gets a World.  --only takes
tests whose name (module.function) contains one of the words; the module test_kill runs only so.
Every database server is started with the --option given.  MILLRACE names the daemon's program.  With KEEP set, servers stay up after the run.
"""
import argparse
import glob
import importlib
import os
import sys
import time
import traceback

import servers
import world

HERE = os.path.dirname(os.path.abspath(__file__))


def find_tests(words):
    tests = []
    for path in sorted(glob.glob(os.path.join(HERE, "test_*.py"))):
        module = importlib.import_module(os.path.basename(path)[:-3])
        for name, function in vars(module).items():
            if not name.startswith("test_"):
                continue
            full = f"{module.__name__[5:]}.{name[5:]}"
            if any(word in full for word in words) if words else module.__name__ != "test_kill":
                tests.append((full, function))
    return tests


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--server", default="mariadb", choices=["mariadb", "mariadb11", "mysql8", "mysql9"])
    parser.add_argument("--option", action="append", default=[])
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--only", nargs="+", default=[])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--list", action="store_true")
    return parser.parse_args()


def run_one(name, function, options):
    """None when it passed, else the report."""
    stage = world.World(name, options)
    try:
        function(stage)
    except servers.Failed as e:
        return report(stage, str(e))
    except Exception:
        return report(stage, traceback.format_exc(limit=-6))
    try:
        stage.leave(passed=True)
    except Exception as e:
        return str(e)
    return None


def report(stage, text):
    for daemon in stage.daemons:
        text += f"\nlog of the daemon ({daemon.log}) ends:\n{daemon.log_tail(2500)}"
    try:
        stage.leave(passed=False)
    except Exception as e:
        text += f"\nand then: {e}"
    return text


def skipped(function, options):
    """A test may say for which servers it is, function.servers, and why not for others, function.why."""
    return options.server not in getattr(function, "servers", (options.server,))


def main():
    options = arguments()
    tests = find_tests(options.only)
    if options.list:
        print("\n".join(name for name, _ in tests))
        return 0
    server = " ".join([options.server] + options.option)
    print(f"# seed {options.seed}, server {server}, {servers.BINARY}\n1..{len(tests)}", flush=True)
    failures = 0
    servers.Database.always = options.option
    try:
        for number, (name, function) in enumerate(tests, 1):
            sentence = name.replace("_", " ")
            if skipped(function, options):
                print(f"ok {number} - {sentence} # SKIP {options.server}: {function.why}", flush=True)
                continue
            since = time.monotonic()
            failure = run_one(name, function, options)
            took = f"{time.monotonic() - since:.1f} s"
            if failure is None:
                print(f"ok {number} - {sentence} ({took})", flush=True)
            else:
                failures += 1
                print(f"not ok {number} - {sentence} ({took})", flush=True)
                print("".join(f"#   {line}\n" for line in failure.splitlines()), end="", flush=True)
    finally:
        servers.stop_all()
        if not os.environ.get("KEEP"):
            world.stop_shared()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

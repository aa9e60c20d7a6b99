"""The lanes that tests run in: what is started in one ends with it, however it ends."""
import os
import signal
import subprocess
import sys
import textwrap

import lanes
import servers
from servers import Failed, wait_until

# A lane whose tests are their names: each leaves a program behind that would run for ever.
LANE = """
    import os, signal, subprocess, sys
    sys.path.insert(0, {here!r})
    import lanes

    def run_one(name):
        subprocess.Popen(["sleep", "1000"], start_new_session=True)
        if name == "dies":
            print("last words", file=sys.stderr, flush=True)
            os._exit(3)
        if name == "hangs":
            signal.pause()
        print("# a note of", name)
        return ("a report" if name == "fails" else None), name == "breaks"

    lanes.serve(sys.argv[2], run_one)
"""

# A runner of two such lanes, which says how tests went.
RUNNER = """
    import sys
    sys.path.insert(0, {here!r})
    import lanes

    with lanes.Lanes({folder!r}, 2, [sys.executable, {lane!r}]) as both:
        for outcome in both.run([[test] for test in {tests!r}]):
            print(outcome, flush=True)
        sys.stdin.read()
"""


def run(w, tests):
    """A runner that waits for the end of its standard input when all tests are done; and where its lanes are."""
    folder = os.path.join(servers.RUN, w.schema)
    os.makedirs(folder)
    lane = os.path.join(folder, "lane.py")
    with open(lane, "w", encoding="utf-8") as f:
        f.write(textwrap.dedent(LANE.format(here=servers.HERE)))
    text = textwrap.dedent(RUNNER.format(here=servers.HERE, folder=folder, lane=lane, tests=tests))
    return folder, subprocess.Popen([sys.executable, "-c", text], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def left(folder):
    return [pid for name in os.listdir(folder) if name != "lane.py"
            for pid in lanes.marked(os.path.join(folder, name))]


def test_a_lane_that_dies_fails_its_test_and_the_others_go_on(w):
    tests = ["one", "dies", "two", "fails", "breaks", "three"]
    folder, runner = run(w, tests)
    said, _ = runner.communicate("", timeout=60)
    outcomes = {outcome["test"]: outcome for outcome in map(eval, said.splitlines())}
    if sorted(outcomes) != sorted(tests):
        raise Failed(f"of {tests} these were heard of: {said}")
    failed = {name: outcome["failure"] for name, outcome in outcomes.items() if outcome["failure"]}
    if set(failed) != {"dies", "fails"} or failed["fails"] != "a report":
        raise Failed(f"these failed: {failed}")
    if "ended with 3" not in failed["dies"] or "last words" not in failed["dies"]:
        raise Failed(f"of the lane that died is said: {failed['dies']}")
    if any(outcome["notes"] != f"# a note of {name}\n" for name, outcome in outcomes.items() if name != "dies"):
        raise Failed(f"the notes are {said}")
    if left(folder):
        raise Failed(f"these were left behind: {left(folder)}")


def test_a_runner_that_is_killed_leaves_nothing_behind(w):
    folder, runner = run(w, ["hangs", "hangs"])
    wait_until("two lanes and their programs run", lambda: len(left(folder)) == 4)
    runner.send_signal(signal.SIGKILL)
    runner.wait()
    wait_until("nothing is left", lambda: not left(folder))

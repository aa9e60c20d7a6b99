"""A daemon at rest sleeps: each of its threads waits for a signal or a deadline, and none looks around."""
import time
from pathlib import Path

from servers import let_pass, wait_until

WATCHED = 20  # seconds


def wakeups(daemon):
    """How often each thread went to sleep so far, by name and id."""
    found = {}
    for task in Path(f"/proc/{daemon.process.pid}/task").iterdir():
        lines = (line.split(":", 1) for line in (task / "status").read_text().splitlines())
        fields = {name: value.strip() for name, value in lines}
        found[fields["Name"], task.name] = int(fields["voluntary_ctxt_switches"])
    return found


def rates(daemon):
    """Wake-ups a second of the threads of each name, the most first."""
    before, since = wakeups(daemon), time.monotonic()
    let_pass("wake-ups are counted for a while", WATCHED)
    after, seconds = wakeups(daemon), time.monotonic() - since
    each = {}
    for key, n in after.items():
        each[key[0]] = each.get(key[0], 0) + (n - before.get(key, 0)) / seconds
    return dict(sorted(each.items(), key=lambda of: -of[1]))


def test_wakeups_at_rest_a_daemon_wakes_fewer_than_three_times_a_second(w):
    """And the change that comes then is followed."""
    w.sql("CREATE TABLE thing (id INT PRIMARY KEY, a INT)", "INSERT INTO thing VALUES (1, 1), (2, 2)")
    daemon = w.follow(w.definitions({"table": "thing"}), delivery={"request_timeout": "2s"})
    w.equal(daemon)
    seen = {}

    def rests():
        seen.clear()
        seen.update(rates(daemon))
        return sum(seen.values()) < 3

    wait_until(lambda: "fewer than 3 wake-ups a second: " + ", ".join(f"{name} {n:.2f}" for name, n in seen.items()),
               rests, 120)
    w.sql("UPDATE thing SET a = a + 1")
    w.equal(daemon)

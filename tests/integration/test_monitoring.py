"""What watches over a daemon: the port for metrics and health, and `status` for scripts and terminals."""
import datetime
import fcntl
import json
import os
import pty
import re
import signal
import socket
import struct
import subprocess
import termios
import time

from servers import BINARY, Failed, free_port, http, wait_until


def ask(port, path, method="GET", host="127.0.0.1", name="millrace.example"):
    """The status and text of an answer; the Host header has a name that is not this machine's."""
    return http(method, f"http://{host}:{port}{path}", headers={"Host": name}, timeout=10)


def test_metrics_have_a_port_of_their_own_on_any_address_that_serves_nothing_else(w):
    port = free_port()
    daemon = w.millrace(metrics={"listen": f"0.0.0.0:{port}"}, listen="off", start=False)
    daemon.start(wait=False)
    wait_until("the probe says ready", lambda: is_ready(daemon, port))
    for path, status in (("/livez", 200), ("/readyz", 200), ("/metrics", 200), ("/", 404), ("/status", 404), ("/ui/licences.txt", 404), ("/api/v1/status", 404), ("/api/v1/doctor", 404)):
        have, text = ask(port, path)
        if have != status:
            raise Failed(f"{path}: {have} {text}")
    if "millrace_build_info" not in ask(port, "/metrics")[1]:
        raise Failed("the metrics are not there")
    if ask(port, "/api/v1/drain", "POST")[0] != 404 or ask(port, "/metrics", "DELETE")[0] != 405:
        raise Failed("something else is served")
    daemon.command("status")


def is_ready(daemon, port):
    daemon.check_alive()
    try:
        return ask(port, "/readyz")[0] == 200
    except OSError:
        return False


def test_a_port_for_metrics_that_cannot_be_had_is_named_with_its_setting(w):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        for where, words in ((f"127.0.0.1:{taken.getsockname()[1]}", "is taken (ss -ltnp shows by whom)"),
                             ("*:7701", "neither localhost nor the number of an address"),
                             ("192.0.2.1:7701", "cannot listen on")):
            daemon = w.millrace(metrics={"listen": where}, start=False)
            ended = daemon.command("run", ok=(1,), timeout=30)
            if words not in ended.stderr or "metrics.listen" not in ended.stderr:
                raise Failed(f"{where}: the daemon says {ended.stderr}")


def checked(daemon, code, *words, **more):
    done = daemon.command("status", "--check", ok=(code,), **more)
    for word in words:
        if word not in done.stdout + done.stderr:
            raise Failed(f"no {word!r} in:\n{done.stdout}{done.stderr}")


def test_status_says_by_its_exit_code_whether_all_is_well_as_the_doctor_does(w):
    daemon = w.follow_good_and_bad()
    index = f"{w.index('bad')}_v1"
    checked(daemon, 0)
    daemon.command("doctor")
    w.engine.ask("PUT", f"/{index}/_settings", {"index.blocks.write": True})
    w.sql("UPDATE bad SET a = 2")
    wait_until("the index is held", lambda: w.table(daemon, "bad")["state"] == "held")
    checked(daemon, 1, "Something needs fixing.", f"table {w.schema}.bad: ")
    known = [c for c in daemon.json("status")["checks"] if c["status"] != "ok"]
    found = [c for c in daemon.json("doctor", ok=(1,))["items"] if c["id"] == "table.runs"]
    if daemon.json("status")["ok"] is not False or [c["id"] for c in known] != ["table.runs"] or [c["why"] for c in found] != [known[0]["why"]]:
        raise Failed(f"status says {known}, the doctor {found}")
    if daemon.metric("millrace_ok") != 0 or daemon.metric("millrace_checks", check="table.runs", status="fail") != 1:
        raise Failed("the metrics do not say it")
    if daemon.metric("millrace_table_state", table=f"{w.schema}.bad", state="held") != 1:
        raise Failed("the metrics do not say its state")
    w.engine.ask("PUT", f"/{index}/_settings", {"index.blocks.write": None})
    w.equal(daemon, seconds=60)
    wait_until("all is well again", lambda: daemon.json("status")["ok"])
    checked(daemon, 0)


def test_status_says_by_its_exit_code_that_nobody_can_say(w):
    daemon = w.millrace()
    daemon.process.send_signal(signal.SIGSTOP)
    checked(daemon, 75, "gave no answer")
    daemon.process.send_signal(signal.SIGCONT)
    daemon.stop()
    checked(daemon, 75, "no daemon listens")
    if daemon.command("status", "--check", "--watch", ok=None).returncode != 2:
        raise Failed("it watches for an exit code")


def watching(daemon, *options, **more):
    return subprocess.Popen([BINARY, "status", "--watch", "--config", daemon.config_file, *options], stdin=subprocess.DEVNULL,
                            stderr=subprocess.PIPE, start_new_session=True, **more)


def interrupt(process):
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=30)[1]
    if process.returncode != 0 or said:
        raise Failed(f"an interrupt ends it with {process.returncode}: {said}")


def test_a_watch_is_drawn_over_in_a_narrow_window_and_ends_with_an_interrupt(w):
    name = "a_table_whose_name_is_far_too_long_for_a_window"
    w.sql(f"CREATE TABLE {name} (id INT PRIMARY KEY)", f"INSERT INTO {name} VALUES (1)")
    daemon = w.follow(w.definitions({"table": name}))
    ours, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 80, 0, 0))
    process = watching(daemon, stdout=terminal, env=os.environ | {"TERM": "xterm", "LC_ALL": "C.UTF-8"})
    os.close(terminal)
    text = b""
    while text.count(b"\x1b[J") < 2:
        text += os.read(ours, 4096)
    interrupt(process)
    os.close(ours)
    screens = text.decode().split("\x1b[H")[1:]
    for screen in screens[:2]:
        lines = re.sub(r"\x1b\[[0-9;]*[mKJ]", "", screen).splitlines()
        wide = [line for line in lines if len(line) > 80]
        if wide or len(lines) > 40 or not any("…" in line and "available" in line for line in lines):
            raise Failed(f"lines too wide {wide}, or the table is not shown:\n{screen}")


def test_a_watch_on_a_pipe_prints_one_status_after_another(w):
    daemon = w.millrace()
    process = watching(daemon, "-o", "json", stdout=subprocess.PIPE)
    for _ in range(2):
        line = process.stdout.readline()
        if json.loads(line)["schema"] != "millrace/status/1":
            raise Failed(f"it printed {line!r}")
    interrupt(process)
    process = watching(daemon, stdout=subprocess.PIPE)
    heads = 0
    while heads < 2:
        line = process.stdout.readline().decode()
        if not line or "\x1b" in line:
            raise Failed(f"it printed {line!r}")
        heads += line.startswith("Millrace ")
    interrupt(process)


def test_each_table_has_its_rate_its_oldest_change_and_its_metrics(w):
    odd = 'odd"name\\'
    w.sql(f"CREATE TABLE `{odd}` (id INT PRIMARY KEY, a INT)", f"INSERT INTO `{odd}` VALUES (1, 1), (2, 2)",
          "CREATE TABLE part (id INT PRIMARY KEY, a INT)", "INSERT INTO part VALUES (1, 1)")
    daemon = w.follow(w.definitions({"table": odd, "index": w.index("odd")}, {"table": "part", "mapping": {"dynamic": "strict"}}))
    w.sql(f"UPDATE `{odd}` SET a = a + 1", f"DELETE FROM `{odd}` WHERE id = 2")
    w.equal(daemon)

    def documents(table, result):
        return daemon.metric("millrace_table_documents_total", table=f"{w.schema}.{table}", result=result)

    escaped = odd.replace("\\", "\\\\").replace('"', '\\"')
    if documents(escaped, "written") < 3 or documents(escaped, "deleted") != 1 or documents(escaped, "failed") != 0:
        raise Failed(f"the metrics of the table are {documents(escaped, 'written')}, {documents(escaped, 'deleted')}")
    wait_until("a table that has everything has no lag, once its server was asked again",
               lambda: daemon.metric("millrace_table_lag_seconds", table=f"{w.schema}.part") == 0)
    state = {t["table"]: t for t in daemon.json("status")["tables"]}
    if state[f"{w.schema}.{odd}"]["rate"] <= 0 or state[f"{w.schema}.{odd}"]["oldest"] is not None:
        raise Failed(f"it is shown as {state}")
    if abs(time.time() - float(daemon.metric("millrace_table_delivered_timestamp_seconds", table=f"{w.schema}.{escaped}"))) > 60:
        raise Failed("the time of the last delivered document is not that")
    if state[f"{w.schema}.{odd}"]["delivered"] is None or state[f"{w.schema}.{odd}"]["compared"] is not None:
        raise Failed(f"it is shown as {state}")
    families_are_whole(http("GET", daemon.url + "/metrics")[1])
    daemon.command("index", "pause", f"{w.schema}.part")
    begun = time.time()
    w.sql("UPDATE part SET a = 2")
    part = wait_until("the change that waits is shown", lambda: w.table(daemon, "part")["oldest"] and w.table(daemon, "part"))
    oldest = datetime.datetime.fromisoformat(part["oldest"].replace("Z", "+00:00")).timestamp()
    if not begun - 10 < oldest <= time.time() or part["lag_seconds"] <= 0:
        raise Failed(f"a row was changed at {begun:.0f}, and the table is shown as {part}")
    topic = daemon.json("status")["topics"][0]
    if topic["lag_of"] != f"{w.schema}.part" or w.table(daemon, odd)["oldest"] is not None:
        raise Failed(f"only the paused table lacks a change, and the topic is {topic}, the other table {w.table(daemon, odd)}")
    if not 0 < daemon.metric("millrace_table_lag_seconds", table=f"{w.schema}.part") < 60:
        raise Failed("the metrics do not show the lag of the table that lacks a change")
    daemon.command("index", "resume", f"{w.schema}.part")
    w.equal(daemon)
    wait_until("no change is shown as waiting", lambda: w.table(daemon, "part")["oldest"] is None)


def families_are_whole(text):
    """Each family has one HELP and one TYPE, before its samples, which stand together."""
    family, seen = None, set()
    for line in text.splitlines():
        if line.startswith("# HELP "):
            family = line.split()[2]
            if family in seen:
                raise Failed(f"{family} comes twice")
            seen.add(family)
        elif line.startswith("# TYPE "):
            if line.split()[2] != family:
                raise Failed(f"{line} stands in {family}")
        elif not re.fullmatch(rf"{family}(_bucket|_sum|_count)?({{.*}})? \S+", line):
            raise Failed(f"{line} stands in {family}")

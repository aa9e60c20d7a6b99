"""What the commands take from their surroundings, and how they say what is wrong."""
import json
import os
import pty
import re
import subprocess

from servers import BINARY, Failed


def said(done, *words):
    for word in words:
        if word not in done.stdout + done.stderr:
            raise Failed(f"no {word!r} in:\n{done.stdout}{done.stderr}")


def test_definition_files_take_variables_of_the_command_that_applies_them(w):
    w.sql("CREATE TABLE thing (id INT PRIMARY KEY, a VARCHAR(20))", "INSERT INTO thing VALUES (1, 'a: [b]'), (2, 'c')")
    daemon = w.millrace()
    definitions = w.definitions({"table": "thing", "filter": "a <> ${UNWANTED}"})
    missing = daemon.apply(definitions, ok=(1,))
    said(missing, "definitions.yaml:", "`${UNWANTED}`: the variable UNWANTED is not set", "^", "${UNWANTED:-...}")
    daemon.apply(definitions, environment={"UNWANTED": "'a: [b]'"})
    daemon.build(f"{w.schema}.thing")
    if [key for key, _, _ in w.engine.documents(w.index("thing"))] != ["2"]:
        raise Failed("the filter with the variable's value was not applied")
    unchanged = daemon.apply(daemon.command("export").stdout)
    said(unchanged, "nothing changes")


def test_commands_need_no_variable_of_a_setting_that_only_the_daemon_uses(w):
    daemon = w.millrace(start=False, delivery={"workers": "${WORKERS}"})
    alone = daemon.command("topic", "list", ok=(1,))
    said(alone, "millrace.yaml:", "the variable WORKERS is not set", "^", "${WORKERS:-...}")
    daemon.start(environment={"WORKERS": "3"})
    daemon.command("status")
    daemon.command("topic", "list")
    shown = daemon.command("config", "show", "--origin", environment={"WORKERS": "3"})
    said(shown, 'workers: "3"  #', ", environment WORKERS")


def test_config_show_says_what_the_daemon_was_told_at_run_time(w):
    daemon = w.millrace()
    daemon.command("config", "delivery", "set", "helpers=4")
    shown = daemon.command("config", "show", "--origin")
    said(shown, 'helpers: "10"  # default', "the running daemon still has delivery.helpers: 4 (set at run time)")


def error(done, kind, code, *words):
    """The object that a failed command with -o json ends with, on standard error."""
    found = json.loads(done.stderr.splitlines()[-1])
    if found["schema"] != "millrace/error/1" or found["kind"] != kind or found["exit"] != code or done.returncode != code:
        raise Failed(f"expected {kind} and exit {code}, got exit {done.returncode} and {found}")
    if done.stdout:
        raise Failed(f"standard output has {done.stdout!r}")
    said(done, *words)
    return found


def test_errors_are_json_objects_where_the_output_is_json(w):
    daemon = w.millrace(start=False)

    def failed(*args):
        return daemon.command(*args, "-o", "json", ok=None)

    found = error(failed("status"), "retry", 75, "no daemon listens")
    if "millrace run" not in found["fix"]:
        raise Failed(f"the fix is not by itself: {found}")
    for words in (["drain"], ["drain", "--cancel"], ["drain", "--worker", "1"]):
        error(failed(*words), "retry", 75, "no daemon listens")
    error(failed("drain", "--worker", "one"), "reject", 2, "worker")
    error(failed("statsu"), "reject", 2, 'did you mean \\"status\\"?')
    error(failed("index", "create"), "reject", 2, "give a TABLE, or --all")
    error(failed("index", "rollback"), "reject", 2, "needs TABLE")
    error(failed("table", "delete", "a.b"), "reject", 2, "needs --yes")
    error(failed(), "reject", 2, "no command is named")
    error(failed("apply", "missing.yaml"), "reject", 1, "cannot open missing.yaml")
    error(failed("binlog", "decode", "missing.log"), "reject", 1, "missing.log")
    bad = daemon.command("topic", "list", "--set", "delivery.workers=no", "-o", "json", ok=(1,))
    if "a whole number" not in error(bad, "reject", 1)["errors"][0]["message"]:
        raise Failed(f"the setting is not named: {bad.stderr}")
    daemon.start()
    found = error(daemon.apply("tables: [{tabel: a.b}]", "-o", "json", ok=None), "reject", 1, "nothing was stored")
    if (found["errors"][0]["line"], found["errors"][0]["column"]) != (1, 11):
        raise Failed(f"the mistake has no place: {found}")
    error(failed("table", "get", "a.b"), "reject", 1)


ARGUMENTS = {"TABLE": "a.b", "DATABASE.TABLE": "a.b", "KEY": "1", "ID": "1", "FILE...": "missing.yaml", "NAME": "none", "TOPIC": "none",
             "JOB": "none", "NAME=VALUE...": "workers=no", "SHELL": "csh", "mysql://USER@HOST[:PORT]/DATABASE": "mysql://u@127.0.0.1:1/d"}
COMMAND = re.compile(r"  (\S.*?)(?:  .*)?")


def all_commands(daemon):
    """As `millrace --help` lists them, with arguments of which nothing is there."""
    text = daemon.command("--help").stdout.split("Options of every command")[0]
    listed = [found[1].split() for found in map(COMMAND.fullmatch, text.splitlines()) if found]
    return [[ARGUMENTS.get(word, word) for word in words if not word.startswith("[")] for words in listed]


def test_every_command_that_fails_says_so_as_a_json_object(w):
    """Without a daemon, definitions and files; what succeeds then is no subject here."""
    daemon = w.millrace(start=False)
    commands, failed = all_commands(daemon), []
    for words in commands:
        error(daemon.command(*words, "--no-such", "-o", "json", ok=None), "reject", 2, "there is no option --no-such")
        if words == ["run"]:  # its errors are lines of the log
            continue
        done = daemon.command(*words, "-o", "json", ok=None)
        if "needs --yes" in done.stderr:
            error(done, "reject", 2)
            done = daemon.command(*words, "--yes", "-o", "json", ok=None)
        if words == ["doctor"]:  # whose findings are its output
            json.loads(done.stdout)
        elif done.returncode != 0:
            failed.append(error(done, "retry" if done.returncode == 75 else "reject", done.returncode))
    if len(commands) < 50 or len(failed) < 30 or not all(found["message"] for found in failed):
        raise Failed(f"{len(failed)} of {len(commands)} commands failed, and said {[found['message'] for found in failed]}")


def start_of_log(daemon, *options, **environment):
    """What a daemon prints on a terminal until it is ready."""
    ours, terminal = pty.openpty()
    surroundings = {k: v for k, v in os.environ.items() if k != "NO_COLOR"} | {"TERM": "xterm"} | environment
    process = subprocess.Popen([BINARY, "run", "--config", daemon.config_file, *options], stdin=subprocess.DEVNULL,
                               stderr=terminal, env=surroundings, start_new_session=True)
    os.close(terminal)
    text = ""
    try:
        while "ready" not in text or not text.endswith("\n"):
            text += os.read(ours, 4096).decode()
    except OSError as e:
        raise Failed(f"the daemon ended:\n{text}") from e
    finally:
        process.terminate()
        os.close(ours)
        process.wait(70)
    return text.splitlines()[-1]


def test_the_log_is_for_people_on_a_terminal_and_json_elsewhere(w):
    daemon = w.millrace()
    daemon.stop()
    with open(daemon.log) as f:
        if not any(json.loads(line)["msg"] == "ready" for line in f):
            raise Failed("the log in a file does not say that the daemon is ready")
    plain = start_of_log(daemon, NO_COLOR="1")
    if "Z INFO  ready  version=" not in plain or "\x1b" in plain:
        raise Failed(f"without colours a terminal shows {plain!r}")
    coloured = start_of_log(daemon)
    if "\x1b[32mINFO \x1b[0m ready" not in coloured:
        raise Failed(f"a terminal shows {coloured!r}")
    json.loads(start_of_log(daemon, "--set", "log.format=json"))


def test_completion_offers_the_names_of_indexes_and_versions(w):
    w.sql("CREATE TABLE thing (id INT PRIMARY KEY)")
    daemon = w.follow(w.definitions({"table": "thing"}))
    daemon.build(f"{w.schema}.thing")
    index = w.index("thing")
    for line, names in (("version list", [index]), ("dead-letter list --index", [f"{index}_v1", f"{index}_v2"]),
                        ("explain", [f"{w.schema}.thing"])):
        offered = subprocess.run([BINARY, "complete", "--", "--config", daemon.config_file, *line.split(), ""],
                                 capture_output=True, text=True, check=True).stdout.split()
        if sorted(offered) != names:
            raise Failed(f"{line}: offered {offered}, expected {names}")

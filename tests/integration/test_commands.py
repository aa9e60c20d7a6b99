"""What the commands take from their surroundings, and how they say what is wrong."""
from servers import Failed


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

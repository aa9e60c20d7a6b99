"""Settings of an index that change with its definition."""
from servers import Failed, wait_until


def settings(w, index):
    return w.engine.ask("GET", f"/{index}/_settings?flat_settings=true")[index]["settings"]


def wait_for(w, index, **wanted):
    names = {f"index.{name}": value for name, value in wanted.items()}
    wait_until(lambda: f"{names} of {settings(w, index)}",
               lambda: all(settings(w, index).get(name) == value for name, value in names.items()), 20)


def definitions(w, **changed):
    return w.definitions({"table": "thing", "settings": {"number_of_shards": 1, "number_of_replicas": 0} | changed})


def test_changed_settings_reach_the_index_that_is_searched_without_a_build(w):
    w.sql("CREATE TABLE thing (id INT PRIMARY KEY, a INT)", "INSERT INTO thing VALUES (1, 1), (2, 2)")
    daemon = w.follow(definitions(w, refresh_interval="7s"))
    index = f"{w.index('thing')}_v1"
    wait_for(w, index, refresh_interval="7s", number_of_replicas="0")
    daemon.apply(definitions(w, refresh_interval="3s", max_result_window=500))
    wait_for(w, index, refresh_interval="3s", max_result_window="500")
    if daemon.json("table", "list")["items"][0].get("pending"):
        raise Failed("a build is said to be pending")
    daemon.apply(definitions(w, number_of_replicas=1))
    wait_for(w, index, refresh_interval=None, max_result_window=None, number_of_replicas="1")
    daemon.apply(definitions(w))
    w.sql("UPDATE thing SET a = 3")
    w.equal(daemon)


def test_settings_that_were_changed_while_nothing_ran_are_brought_at_the_start(w):
    w.sql("CREATE TABLE thing (id INT PRIMARY KEY, a INT)", "INSERT INTO thing VALUES (1, 1)")
    daemon = w.follow(definitions(w))
    daemon.stop()
    daemon.apply(definitions(w, refresh_interval="9s"))
    daemon.start()
    wait_for(w, f"{w.index('thing')}_v1", refresh_interval="9s")


def test_a_setting_that_the_engine_refuses_is_warned_of_with_its_words(w):
    w.sql("CREATE TABLE thing (id INT PRIMARY KEY, a INT)", "INSERT INTO thing VALUES (1, 1)")
    daemon = w.follow(definitions(w))
    done = daemon.apply(definitions(w, refresh_interval="soon"))
    if "refresh_interval" not in done.stdout + done.stderr or w.index("thing") not in done.stdout + done.stderr:
        raise Failed(f"apply said:\n{done.stdout}{done.stderr}")
    daemon.apply(definitions(w, refresh_interval="5s"))
    wait_for(w, f"{w.index('thing')}_v1", refresh_interval="5s")

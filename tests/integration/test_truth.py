"""When the engine, the topic's server, the store or ZooKeeper is away, hangs or takes no writes, every screen says so."""
import functools
import re
import socket
import threading

from browser import Browser
from gate import Gate
from members import Way
from servers import Failed, let_pass, wait_until
from test_access import add_user
from test_local_machine import Disk
from test_one_store import make_store, on_store, store_of
from test_screens import SCREENS, log_in
from zookeepers import start_zookeepers

OPENS_S = 8  # a screen: the daemon waits five seconds for a server that people ask for
SCREEN_TURNS = 3  # of the screens each fault sees one part; all with --pictures


class Road(Way):
    """To a server.  It may be closed, so that nobody listens at its end, or frozen: then it takes connections and nothing comes."""

    def shut(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.cut()

    def reopen(self):
        self.listener = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self.accept, daemon=True).start()


class Fault:
    """check, group: of the status check that names what is away, in these words.  stands: the topic's state, as nothing moves; None: it runs."""

    def __init__(self, name, begin, end, check, names, group, stands=None):
        self.name, self.begin, self.end, self.check, self.names, self.group, self.stands = name, begin, end, check, names, group, stands


def world(w):
    """A daemon that reaches all parties over roads, with the shop; {name: road}."""
    w.load_shop()
    make_store(w)
    servers = {"engine": w.engine.port, "source": w.db.port, "store": w.db.port, "zookeeper": start_zookeepers(w)[0].port}
    roads = {name: Road(port) for name, port in servers.items()}
    daemon = w.follow(w.shop_definitions(address=f"127.0.0.1:{roads['source'].port}"), **on_store(w, roads["store"].port),
                      search={"url": [f"http://127.0.0.1:{roads['engine'].port}"]}, node_name="one", coordination_auth_file="zookeeper.login",
                      coordination=f"zookeeper://127.0.0.1:{roads['zookeeper'].port}", coordination_timeout="4s")
    return daemon, roads


def block(w, value):
    w.engine.ask("PUT", f"/{w.schema}-*/_settings", {"index.blocks.read_only_allow_delete": value})


def reopen_late(daemon, road):
    """The session is over by then, and the client of the next one has tried in vain to connect."""
    wait_until("the session is over", lambda: "the session at the coordination is over" in daemon.log_tail(100000), 20, 0.2)
    let_pass("a try to connect", 1)
    road.reopen()


def faults(w, daemon, roads):
    parties = {"engine": ("search.reach", "search engine|127.0.0.1:", "search engine", "waiting"),
               "source": ("topic.runs", "127.0.0.1:", f"topic {w.schema}", "connecting|waiting"),
               "store": ("store.write", "store", "store"),
               "zookeeper": ("cluster.reach", "ZooKeeper|coordination", "cluster", "unknown")}
    for name, what in parties.items():
        reopen = functools.partial(reopen_late, daemon, roads[name]) if name == "zookeeper" else roads[name].reopen
        yield Fault(f"{name}-away", roads[name].shut, reopen, *what)
        yield Fault(f"{name}-frozen", roads[name].freeze, roads[name].thaw, *what)
    yield Fault("source-hangs", lambda: hang(roads["source"]), roads["source"].thaw, *parties["source"])
    yield Fault("engine-takes-no-writes", lambda: block(w, True), lambda: block(w, None), "table.runs", "read.only|flood", f"table {w.schema}.product", "waiting")
    with Gate(w.engine) as gate:
        gate.refuse = lambda *_: 503
        yield Fault("engine-refuses-all", lambda: roads["engine"].lead_to(gate.server.server_port), lambda: roads["engine"].lead_to(w.engine.port), "table.runs",
                    "503", f"table {w.schema}.product", "waiting")
    yield Fault("store-takes-no-writes", lambda: w.db.sql("SET GLOBAL read_only = 1"), lambda: w.db.sql("SET GLOBAL read_only = 0"), "store.write", "read.only",
                "store")


def found(daemon, fault):
    return next((c for c in daemon.status(ok=(0, 1))["checks"] if (c["id"], c["status"], c["group"]) == (fault.check, "fail", fault.group)), None)


def says_what_is_wrong(daemon, browser, fault):
    """The status, the command and the overview: what, since when, what it means, what to do."""
    check = wait_until(lambda: f"status names it: {daemon.status(ok=(0, 1))['checks']}", lambda: found(daemon, fault), 20, 0.2)
    if not re.search(fault.names, check["message"]) or not all(check[part] for part in ("since", "why", "fix")):
        raise Failed(f"{fault.name}: status says {check}")
    browser.wait("the title says it", lambda: re.match("[■▲]", browser.driver.title), 10)
    browser.wait(f"{fault.name}: the overview says what, since when, and what to do", lambda: re.search(
        f"■ trouble.*■ failed\\s+since [^\\n]*ago\\)\\s+{fault.group}\s.*({fault.names}).*What to do: [^\n]{{9}}", browser.text(), re.S), 10)
    browser.picture(f"truth-{fault.name}")
    browser.set_size(400)
    if found_wrong := browser.violations() or [over for over in [browser.overflow()] if over > 0]:
        raise Failed(f"{fault.name}: the overview is not whole: {found_wrong}")
    browser.set_size(1280)
    printed = daemon.command("status").stdout
    if "Something needs fixing" not in printed or not re.search(f"fail  {fault.group}: .*\n      since: .*\n      why: .*\n      fix: ", printed):
        raise Failed(f"{fault.name}: `millrace status` says\n{printed}")


def state_of(daemon):
    topic, = daemon.status(ok=(0, 1))["topics"]
    return topic


def shows_nothing_as_running(w, daemon, browser, fault):
    wait_until(lambda: f"{fault.name}: the topic does not seem to run: {state_of(daemon)}",
               lambda: re.fullmatch(fault.stands, state_of(daemon)["state"]) and state_of(daemon)["since"], 15, 0.2)
    for screen in "overview", "topics", f"topics/{w.schema}", "tables", f"tables/{w.schema}.product?tab=state":
        browser.go(f"#/{screen}")
        browser.wait(f"{fault.name}: {screen} shows nothing as running", lambda: not re.search("● (running|available)", browser.text()), 10)
        browser.set_size(400)
        browser.wait(f"{fault.name}: {screen} is no wider than a window of 400", lambda: browser.overflow() <= 0, 5)
        browser.set_size(1280)
        if not re.search("since .* ago", browser.text()):
            raise Failed(f"{fault.name}: {screen} does not say since when: {browser.text()[:1500]}")


def open_screens(w, browser, fault, screens):
    """Each shows something soon, and whatever it cannot show names what is away."""
    for screen in screens:
        screen = screen.format(schema=w.schema)
        browser.driver.execute_script("location.hash = arguments[0]", f"#/{screen}")
        browser.wait(f"{fault.name}: {screen} opens", lambda: browser.driver.execute_script(
            "return document.querySelector('h1') !== null && document.querySelector('[aria-busy=true]') === null"), OPENS_S)
        for problem in browser.driver.execute_script("return [...document.querySelectorAll('main .problem')].map((e) => e.innerText)"):
            if not re.search(fault.names + "|did not answer within", problem):
                raise Failed(f"{fault.name}: {screen} shows {problem!r}")
        if w.options.pictures:
            browser.picture(f"truth-{fault.name}-" + re.sub(r"\W+", "-", screen.replace(w.schema, "shop")))


def asks_the_doctor(daemon, fault):
    done = daemon.command("doctor", ok=(1,), timeout=30)
    if not re.search(f"fail  {fault.group}: .*\n(      since: .*\n)?      why: .+\n      fix: .+", done.stdout):
        raise Failed(f"{fault.name}: doctor says\n{done.stdout}{done.stderr}")


def hang(road):
    """What connects anew is taken, too, and hears nothing."""
    road.freeze()
    road.cut()


def look_at_faults(w, daemon, browser, list_of_faults):
    def is_well():
        return browser.driver.title == "Millrace"

    browser.wait("all is well", is_well, 30)
    for turn, fault in enumerate(list_of_faults):
        fault.begin()
        try:
            w.sql(f"UPDATE product SET stock = {turn}")
            says_what_is_wrong(daemon, browser, fault)
            if fault.stands:
                shows_nothing_as_running(w, daemon, browser, fault)
            open_screens(w, browser, fault, SCREENS if w.options.pictures else SCREENS[turn % SCREEN_TURNS::SCREEN_TURNS])
            asks_the_doctor(daemon, fault)
        finally:
            fault.end()
        browser.go("#/overview")
        browser.wait(f"after {fault.name} all is well again", is_well, 40)
        wait_until(lambda: f"after {fault.name} the topic runs: {daemon.status()['topics']}", lambda: state_of(daemon)["state"] == "running", 20)


def test_whatever_is_away_hangs_or_takes_no_writes_each_screen_says_so(w):
    daemon, roads = world(w)
    add_user(daemon, "anna", "admin")
    with Browser() as browser:
        log_in(browser, daemon)
        look_at_faults(w, daemon, browser, faults(w, daemon, roads))
    w.equal(daemon)
    daemon.stop()
    w.db.sql(f"DROP DATABASE {store_of(w)}")


def test_a_full_disk_below_the_store_is_said_by_each_screen(w):
    w.load_shop()
    daemon = w.follow(w.shop_definitions(), coordination="embedded")
    add_user(daemon, "anna", "admin")
    disk = Disk(w)
    disk.put_below(daemon)
    fault = Fault("disk-full", lambda: disk.fill(daemon.config["data"]), disk.free, "store.write", "full|No space", "store")
    with Browser() as browser:
        log_in(browser, daemon)
        look_at_faults(w, daemon, browser, [fault])
    w.equal(daemon)

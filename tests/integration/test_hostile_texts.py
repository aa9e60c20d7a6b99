"""The page with names, values and errors that somebody chose to do harm; and in a browser whose clock is wrong."""
import datetime
import re
import time
import urllib.parse

from browser import Browser
from servers import Failed, wait_until
from test_access import Port, add_user, token
from test_screens import SCREENS, WIDTHS, log_in

# Markup that would run; a control; what turns the line around, and an isolate that does not end; a long word.
EVIL = "<img src=x onerror=alert(1)><script>alert(2)</script>'\"&lt;${alert(3)}{{4}}"
HIDDEN = "\u0007\u001b[2J\u202e\u2066\u200b"
VALUE = EVIL + HIDDEN + "W" * 300
# As a part of a name, where not all of these may be.
NAME = "<img src=x onerror=alert(5)>\u202e\u2066"
KEY, WORD = VALUE[:300], EVIL + "\u202e" + "w" * 100
HIDDEN_PATTERN = "[\u0000-\u0008\u200b\u202a-\u202e\u2066-\u2069]"
LOOK = r"""
const wrong = [];
if (document.querySelector('main img, dialog img, main script, [onerror], main iframe') ||
    [...document.querySelectorAll('main b')].some((b) => b.textContent === 'one')) wrong.push('an element of a value');
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
for (let node; (node = walker.nextNode());)
  if (/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u202a-\u202e\u2060-\u2069]/.test(node.data) && !node.parentElement.closest('script,style'))
    wrong.push('hidden characters in ' + node.parentElement.outerHTML.slice(0, 200));
return wrong;
"""


def add_rows(w, *rows):
    """Values as they are, whatever is in them."""
    with w.db.connect(w.schema) as connection, connection.cursor() as cursor:
        cursor.executemany(f"INSERT INTO orders (id, code, `{NAME}`, kind) VALUES (%s, %s, %s, 1)", rows)
        connection.commit()


def hostile_world(w):
    """A daemon with all of that wherever it can be."""
    w.sql(f"CREATE TABLE orders (id VARCHAR(400) PRIMARY KEY, code TEXT, `{NAME}` TEXT, kind INT, KEY (kind))",
          f"CREATE TABLE `{NAME}` (id INT PRIMARY KEY, name TEXT)", f"INSERT INTO `{NAME}` VALUES (1, '<b>one</b>')")
    add_rows(w, ("1", "7", VALUE), (KEY, VALUE, VALUE), ("2", VALUE, VALUE))
    daemon = w.follow(w.definitions(
        {"table": "orders", "columns": ["id", {"name": "code", "type": "integer"}, {"name": NAME, "type": "text"}, "kind"],
         "relations": [{"from": "kind", "table": NAME, "to": "id", "as": NAME + "of", "columns": ["name"]}]},
        {"table": NAME, "index": w.index("evil")}), node_name="evil")
    wait_until("both dead letters are stored", lambda: len(daemon.json("dead-letter", "list")["items"]) == 2)
    daemon.command("word", "add", WORD, "--publish")
    w.engine.ask("PUT", f"/{w.index('orders')}/_doc/{urllib.parse.quote(KEY + 'no row', safe='')}?refresh=true", {"id": VALUE}, ok=(201,))
    daemon.command("verify", f"{w.schema}.orders", ok=(0, 1))
    done = Port(daemon).ask("POST", f"/api/v1/topics/{w.schema}/pause?why={urllib.parse.quote(VALUE)}", {"reason": VALUE},
                            Authorization="Bearer " + token(daemon, "robot", "admin"))
    if done.status != 200:
        raise Failed(f"the pause: {done}")
    return daemon


def screens(w):
    """Those that all tables have, and those of what has a name of that kind."""
    evil, key = urllib.parse.quote(f"{w.schema}.{NAME}", safe=""), urllib.parse.quote(KEY, safe="")
    more = ["tables/{evil}?tab=" + tab for tab in ("state", "columns", "relations", "text")] + [
        "tables/{evil}?tab=document&key=1", "tables/{schema}.orders?tab=document&key={key}", "trace?table={schema}.orders&key={key}", "trace?table={evil}&key={key}",
        "tables/{key}?tab=state", "versions/{key}", "jobs/1", "topics/{key}"]
    return [screen.format(schema=w.schema, evil=evil, key=key) for screen in (*SCREENS, *more)]


def test_no_name_value_or_error_is_more_than_text_on_any_screen(w):
    daemon = hostile_world(w)
    add_user(daemon, "anna", "admin")
    wrong, seen = [], ""
    with Browser() as browser:
        log_in(browser, daemon)
        for screen in screens(w):
            browser.go(f"#/{screen}")
            browser.driver.execute_script("document.querySelectorAll('main details').forEach((d) => { d.open = true; })")
            browser.settled()
            for width in WIDTHS:
                browser.set_size(width)
                if (over := browser.overflow()) > 0:
                    wrong.append(f"{screen} is {over} pixels wider than a window of {width}")
            wrong += [f"{screen} shows {what}" for what in browser.driver.execute_script(LOOK)]
            seen += browser.text()
            if w.options.pictures:
                browser.picture("hostile-" + re.sub(r"\W+", "-", screen.replace(w.schema, "shop"))[:60])
        if browser.driver.title and re.search(HIDDEN_PATTERN, browser.driver.title):
            wrong.append(f"the title is {browser.driver.title!r}")
        wrong += [c for c in browser.complaints() if "404" not in c]  # of what there is not
    for shown in (EVIL, NAME[:28] + "\\u202e\\u2066", "\\u0007", "\\u200b", WORD[:20]):
        if shown not in seen:
            wrong.append(f"nothing shows {shown!r}")
    if wrong:
        raise Failed(f"{len(wrong)} are wrong: " + "\n".join(wrong[:25]))


DAY = 86400
WRONG_CLOCK = """
const Right = Date, shift = SHIFT * 1000;
window.Date = class extends Right {
  constructor(...given) { super(...(given.length > 0 ? given : [Right.now() + shift])); }
  static now() { return Right.now() + shift; }
};
"""
# Those that say "ago"; the others have the time of the daemon itself as their title.
AGES = "return [...document.querySelectorAll('main time')].filter((e) => e.title !== e.dateTime).map((e) => [e.dateTime, e.textContent]);"
OLD = "return [...document.querySelectorAll('p.stale, main .state')].map((e) => e.innerText).filter((text) => /stale|overdue|not answered|expired/.test(text));"


def age_is_right(at, text):
    """As of now, give or take the time that looking takes."""
    age = time.time() - datetime.datetime.fromisoformat(at.replace("Z", "+00:00")).timestamp()
    parts = re.findall(r"(\d+) ?(s|m|h|d)", text)
    return bool(parts) and abs(sum(int(number) * {"s": 1, "m": 60, "h": 3600, "d": DAY}[unit] for number, unit in parts) - age) <= 4


def look_with_wrong_clock(w, daemon, shift, wrong):
    n = 0
    with Browser() as browser:
        browser.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WRONG_CLOCK.replace("SHIFT", str(shift))})
        log_in(browser, daemon)
        for screen in ("overview", "jobs", "versions", "verify", f"tables/{w.schema}.orders?tab=state", "cluster", "settings?tab=users"):
            browser.go(f"#/{screen}")
            ages = browser.driver.execute_script(AGES)
            n += len(ages)
            wrong += [f"{shift} s: {screen} says {text!r} of {at}" for at, text in ages if not age_is_right(at, text)]
            if found := browser.driver.execute_script(OLD):
                wrong.append(f"{shift} s: {screen} says {found}")
        browser.shows("● live")
        wrong += browser.complaints()
    if n < 8:
        raise Failed(f"only {n} ages were shown")


def test_a_browser_whose_clock_is_a_day_off_shows_ages_by_the_daemon_s(w):
    w.load_shop(10, 10, 10)
    daemon = w.follow(w.shop_definitions("orders"))
    daemon.command("verify", f"{w.schema}.orders")
    add_user(daemon, "anna", "admin")
    wrong = []
    for shift in (DAY, -DAY):
        look_with_wrong_clock(w, daemon, shift, wrong)
    if wrong:
        raise Failed(f"{len(wrong)} are wrong: " + "\n".join(wrong[:20]))

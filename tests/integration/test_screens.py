"""The admin page in a real browser: every screen, width, theme and language; and what people do with it."""
import itertools
import json
import os
import re
import signal

from browser import REPOSITORY, Browser
from gate import Gate
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from servers import Failed
from tasks import Task, log_in, person
from test_access import PASSWORD, add_user

# How each language calls the theme of the system; the page of another language shows none of these.
LANGUAGES = {"en": "Overview", "zh": "概览", "ru": "Обзор"}
THEMES = ("light", "dark")
WIDTHS = (1280, 400)
SCREENS = ("overview", "topics", "topics/{schema}", "databases", "tables", "tables/{schema}.orders?tab=state", "tables/{schema}.orders?tab=columns",
           "tables/{schema}.orders?tab=relations", "tables/{schema}.orders?tab=document&key=1", "tables/{schema}.orders?tab=settings", "tables/{schema}.orders?tab=text",
           "versions", "versions/{schema}-orders", "jobs", "delivery", "delivery?tab=statistics", "delivery?tab=settings", "cluster", "delayed", "words", "letters",
           "verify", "trace?table={schema}.orders&key=1", "doctor", "activity", "activity?tab=audit", "settings", "settings?tab=users",
           "settings?tab=tokens", "settings?tab=config", "settings?tab=about")

# What else a screen can show; a fault finds nothing there that it does not find above.
TABS = ("versions/{schema}-orders?tab=mapping", "versions/{schema}-orders?tab=settings", "versions/{schema}-orders?tab=log", "verify?tab=reports",
        "verify?tab=documents", "letters?view=list", "delayed?tab=snapshots", "delayed?tab=runs", "words?tab=stop", "words?tab=pulls", "words?tab=try")


def choose(browser, label, value):
    """Choose in the head of the page: the theme or the language."""
    browser.driver.execute_script(
        "const s = [...document.querySelectorAll('.tools select')][arguments[0]]; s.value = arguments[1];"
        "s.dispatchEvent(new Event('change', {bubbles: true}));", ("theme", "language").index(label), value)


def untranslated(browser):
    """Names of texts that stand where a text should be; settings have such names, too."""
    settings = (REPOSITORY / "docs/configuration.md").read_text()
    known = {name.split(".")[0] for file in (REPOSITORY / "web/ui/texts").glob("*.json") for name in json.loads(file.read_text())}
    return [name for name in re.findall(r"(?<![\w./-])[a-z_]+(?:\.[a-z_]+)+(?![\w./:-])", browser.driver.execute_script(
        "return [...document.querySelectorAll('h1,h2,h3,button,label,th,caption,dt,nav a,.soft,.state')].filter((e) => !e.closest('code,pre'))"
        ".map((e) => e.innerText).join('\\n')")) if name.split(".")[0] in known and f"`{name}`" not in settings]


def looks(w):
    """How each screen is shown: in all ways with --pictures, else each in a few, all ways in turn."""
    ways = list(itertools.product(LANGUAGES, WIDTHS, THEMES))
    # A language and a theme with both widths; the next screen has the next ones.
    turns = [[(language, width, THEMES[i % 2]) for width in WIDTHS] for i, language in enumerate([*LANGUAGES, *LANGUAGES])]
    for i, screen in enumerate((*SCREENS, *TABS)):
        yield screen.format(schema=w.schema), ways if w.options.pictures else turns[i % len(turns)]


def look_at(browser, screen, ways, wrong):
    browser.go(f"#/{screen}")
    judged = set()
    for language, width, theme in ways:
        choose(browser, "language", language)
        choose(browser, "theme", theme)
        browser.wait(f"the page speaks {language}", lambda: LANGUAGES[language] in browser.text())
        browser.set_size(width)
        browser.picture("-".join([re.sub(r"\W+", "-", screen.replace(browser.schema, "shop")), language, str(width), theme]))
        if (over := browser.overflow()) > 0:
            wrong.append(f"{screen} in {language} is {over} pixels wider than a window of {width}")
        if theme not in judged:
            wrong += [f"{screen}, {language}, {width}, {theme}: {violation}" for violation in browser.violations()]
            judged.add(theme)
    if found := untranslated(browser):
        wrong.append(f"{screen} shows {found} instead of texts")
    browser.set_size(WIDTHS[0])
    choose(browser, "language", "en")


def test_every_screen_is_whole_in_each_language_width_and_theme(w):
    daemon, _, _ = w.work_on_shop()
    add_user(daemon, "anna", "admin")
    wrong = []
    with Browser() as browser:
        browser.schema = w.schema
        log_in(browser, daemon)
        for screen, ways in looks(w):
            look_at(browser, screen, ways, wrong)
        wrong += browser.complaints()
    if wrong:
        raise Failed(f"{len(wrong)} are wrong: " + "\n".join(wrong[:20]))


def test_from_an_empty_daemon_to_the_first_search_without_a_manual(w):
    w.sql("CREATE TABLE tea (id INT PRIMARY KEY, name VARCHAR(40))", "INSERT INTO tea VALUES (1, '龙井茶'), (2, '<b>oolong</b>')")
    daemon = w.millrace()
    with open(os.path.join(daemon.folder, "data", "first-admin.token"), encoding="utf-8") as f:
        token = f.read().strip()
    with Browser() as browser:
        with Task(browser, "T1", 300, start=None):
            browser.open(daemon.url)
            browser.fill("One-time token", token)
            browser.fill("Your name", "anna")
            browser.fill("A new password", PASSWORD)
            browser.click("Become the first admin", within="main form")
            browser.click("Add a topic")
            browser.fill("Name", w.schema)
            browser.fill("Address", f"127.0.0.1:{w.db.port}")
            browser.fill("User", "millrace")
            browser.fill("File with the password", os.path.join(daemon.folder, "source.password"))
            browser.click("Add a topic", within="dialog")
            browser.click("Add a database", within="main")
            browser.fill("Name", w.schema)
            browser.click("Add a database", within="dialog")
            browser.click("Add a table", within="main")
            browser.fill("Table, as DATABASE.TABLE", f"{w.schema}.tea")
            browser.fill("Name of the index that searches use", w.index("tea"))
            browser.click("Add a table", within="dialog")
            browser.shows("varchar(40)")
            browser.go("#/overview")
            browser.click("Build a new index version", within="main")
            browser.click("Build a new index version", within="dialog")
            browser.go("#/overview")
            browser.wait("searches use the index", lambda: w.table(daemon, "tea")["version"] == 1, 60)
            browser.go(f"#/tables/{w.schema}.tea?tab=document&key=2")
            browser.shows("<b>oolong</b>")
        if browser.clicks > 30:
            raise Failed(f"{browser.clicks} clicks and fields")
        complaints = browser.complaints()
    if complaints:
        raise Failed(f"the console says {complaints}")


def test_who_has_only_a_browser_types_the_password_and_sees_what_the_server_lacks(w):
    secret, grant = "tee-und-salz", "GRANT REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO 'typist'@'127.0.0.1'"
    w.db.sql(f"CREATE USER IF NOT EXISTS typist@'127.0.0.1' IDENTIFIED BY '{secret}'")
    daemon = w.millrace()
    try:
        with person(daemon, "admin", expected=("topics/",)) as browser:
            browser.click("Add a topic", within="main")
            browser.fill("Name", w.schema)
            browser.fill("Address", f"127.0.0.1:{w.db.port}")
            browser.fill("User", "typist")
            browser.choose("Password", "type it")
            browser.fill("The password itself", "wrong")
            browser.click("Add a topic", within="dialog")
            browser.shows("correct user and password_file")
            browser.fill("The password itself", secret)
            browser.click("Try without changing anything", within="dialog")
            browser.shows(grant)
            w.db.sql(grant)
            browser.click("Try without changing anything", within="dialog")
            browser.shows("This would happen")
            if secret in browser.text() or 'password="$PASSWORD"' not in browser.text():
                raise Failed(f"the dialog shows the password: {browser.text()}")
            browser.click("Add a topic", within="dialog")
            browser.shows("● fine Server answers")  # nobody has clicked a test
            browser.go(f"#/topics/{w.schema}")
            browser.click("Edit", within="main")
            browser.fill("Note", "typed by hand")
            browser.click("Edit the topic", within="dialog")
            browser.shows("typed by hand")
            browser.wait("the topic follows with the password that stayed", lambda: daemon.status()["topics"][0]["state"] == "running")
    finally:
        w.db.sql("DROP USER typist@'127.0.0.1'")


def test_the_palette_answers_why_a_row_is_not_in_search(w):
    daemon, _, _ = w.work_on_shop()
    add_user(daemon, "anna", "operator")
    w.sql("DELETE FROM order_item WHERE order_id = 7", "DELETE FROM orders WHERE id = 7")
    with Browser() as browser:
        log_in(browser, daemon)
        with Task(browser, "T2", 30):
            browser.palette()
            browser.keys("orders:7")
            browser.shows(f"{w.schema}.orders 7")
            browser.keys(Keys.ENTER)
            browser.wait("the trace is shown", lambda: "/trace" in browser.driver.current_url and "7" in browser.text())
            browser.settled()
        browser.picture("trace-of-a-deleted-row")


def test_a_screen_follows_its_address(w):
    daemon, _, _ = w.work_on_shop()
    add_user(daemon, "anna", "operator")
    fields = "return [...document.querySelectorAll('main .filters input:not([type=checkbox])')].map((e) => e.value)"
    with Browser() as browser:
        log_in(browser, daemon)
        browser.go("#/trace")
        for key in "1", "2":
            browser.driver.execute_script("location.hash = arguments[0]", f"#/trace?table={w.schema}.orders&key={key}")
            browser.wait(f"the form says which row it is: {key}", lambda key=key: browser.driver.execute_script(fields) == [f"{w.schema}.orders", key])
        browser.driver.back()
        browser.wait("Back leads to the row before", lambda: browser.driver.execute_script(fields) == [f"{w.schema}.orders", "1"])
        for key in "1", "2":
            browser.driver.execute_script("location.hash = arguments[0]", f"#/tables/{w.schema}.orders?tab=document&key={key}")
            browser.wait(f"its document is shown: {key}", lambda key=key: browser.driver.execute_script(fields) == [key] and re.search(
                rf'"id": {key},', browser.text()))


def tried(browser, wanted="This would happen"):
    """Try the dialog that is open, and leave it."""
    browser.click("Try without changing anything", within="dialog")
    browser.shows(wanted)
    browser.click("Cancel", within="dialog")
    browser.wait("the dialog is gone", lambda: not browser.driver.find_elements(By.CSS_SELECTOR, "dialog[open]"))


def test_what_a_dialog_sends_can_be_tried_and_changes_nothing(w):
    daemon, _, _ = w.work_on_shop()
    table = f"{w.schema}.orders"
    kept = (("token", "list"), ("word", "list"), ("config", "delivery", "get"))
    before = [daemon.command(*words).stdout for words in kept]
    with person(daemon, "admin") as browser:
        browser.go("#/delivery")
        browser.click("Drain", within="main")
        tried(browser)
        browser.click("Cancel the drain", within="main")
        tried(browser)
        browser.go("#/delivery?tab=settings")
        browser.click("Change", within="main")
        tried(browser)
        browser.click("Return to the configuration", within="main")
        tried(browser)
        browser.go("#/settings?tab=users")
        browser.click("Add a user", within="main")
        browser.fill("Name", "boris")
        browser.fill("A new password", PASSWORD)
        tried(browser)
        browser.go("#/settings?tab=tokens")
        browser.click("Make a token", within="main")
        browser.fill("Name", "night")
        tried(browser)
        browser.go("#/words")
        browser.click("Add words", within="main")
        browser.fill("One word a line", "龙井茶")
        tried(browser)
        browser.go(f"#/trace?table={table}&key=1")
        browser.click("Write this document again", within="main")
        tried(browser)
        browser.go("#/verify")
        browser.click("Verify", within="main", beside=table)
        if "The reason" in browser.text():
            raise Failed("a comparison that writes nothing asks for a reason")
        browser.tick("Repair what differs")
        browser.fill("The reason (the audit log keeps it)", "a doubt")
        if "--why 'a doubt'" not in browser.text():
            raise Failed(f"the command lacks the reason: {browser.text()}")
        tried(browser, "nothing is written")
    if "boris" in daemon.command("user", "list").stdout or [daemon.command(*words).stdout for words in kept] != before:
        raise Failed("a try has changed something")


def test_words_come_from_a_file_and_single_keys_can_be_switched_off(w):
    daemon = w.millrace()
    daemon.write("words.dic", "\ufeff龙井茶\n碧螺春\n")
    with person(daemon, "operator") as browser:
        browser.go("#/words")
        browser.click("Import", within="main")
        browser.use("A file", lambda field: field.send_keys(os.path.join(daemon.folder, "words.dic")))
        browser.wait("the text is in the field", lambda: browser.field("One word a line").get_attribute("value") == "龙井茶\n碧螺春\n")
        tried(browser)
        browser.click("Import", within="main")
        browser.use("A file", lambda field: field.send_keys(os.path.join(daemon.folder, "words.dic")))
        browser.wait("the text is in the field", lambda: "碧螺春" in browser.field("One word a line").get_attribute("value"))
        browser.click("Import", within="dialog")
        browser.wait("the words are in the list", lambda: len(daemon.json("word", "list")["items"]) == 2)
        body = browser.element("body")
        body.send_keys("?")
        browser.shows("Keys without Ctrl can be switched off")
        browser.click("Close", within="dialog")
        browser.go("#/settings")
        browser.element("main label input[type=checkbox]").click()
        browser.element("body").send_keys("?", "/")
        browser.element("body").send_keys(Keys.CONTROL, "k", Keys.CONTROL)
        browser.element("dialog.palette")
        if "switched off" in browser.driver.find_elements(By.CSS_SELECTOR, "dialog")[0].text or len(browser.driver.find_elements(By.CSS_SELECTOR, "dialog")) != 1:
            raise Failed(f"a single key still opens something: {browser.text()}")


def test_a_viewer_is_offered_nothing_that_is_refused(w):
    daemon, _, _ = w.work_on_shop()
    add_user(daemon, "anna", "viewer")
    with Browser() as browser:
        log_in(browser, daemon)
        for screen in SCREENS:
            browser.go("#/" + screen.format(schema=w.schema))
            for button in browser.driver.find_elements(By.CSS_SELECTOR, "main button.primary, main button.danger"):
                if button.is_displayed() and button.is_enabled() and button.get_attribute("aria-disabled") is None:
                    raise Failed(f"{screen} offers a viewer {button.text!r}")
        refused = [c for c in browser.complaints() if "403" in c]
        if refused:
            raise Failed(f"the page asks for what a viewer may not have: {refused[:5]}")


def test_the_page_says_what_is_away(w):
    with Gate(w.engine) as gate:
        w.load_shop()
        daemon = w.follow(w.shop_definitions("product"), search={"url": [gate.url]})
        add_user(daemon, "anna", "admin")
        with Browser() as browser:
            log_in(browser, daemon)
            browser.shows("running")
            gate.refuse = lambda *_: 503
            w.sql("UPDATE product SET stock = stock + 1")
            browser.wait("the overview names the engine", lambda: re.search(r"(attention|failed)[^\n]*(search engine|product)", browser.text()), 60)
            if browser.driver.title == "Millrace":
                raise Failed("the title says that all is well")
            browser.picture("engine-away")
            browser.shows("The search engine answers with errors.")
            for language, words in (("zh", ("搜索引擎", "搜索引擎应答错误。", "无法写入索引", "其索引被挂起", "请确认引擎有应答且未过载", "守护进程说明：", "503")),
                                    ("ru", ("поисковая система", "Поисковая система отвечает ошибками.", "Индексировать нельзя", "Демон сообщает:", "503"))):
                choose(browser, "language", language)
                browser.wait(f"the page says it in {language}", lambda: all(word in browser.text() for word in words), 60)
            choose(browser, "language", "en")
            gate.refuse = None
            browser.wait("all is well again", lambda: browser.driver.title == "Millrace", 60)
            daemon.process.send_signal(signal.SIGSTOP)  # nothing is closed, and nothing comes any more
            try:
                browser.wait("the page is stale", lambda: "has not answered for" in browser.text(), 90)
                browser.picture("daemon-frozen")
            finally:
                daemon.process.send_signal(signal.SIGCONT)
            browser.wait("the page is live again", lambda: "● live" in browser.text() and "has not answered for" not in browser.text(), 60)

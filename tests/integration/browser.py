"""A real Chromium that looks at the page, with the tools of its tests: waits, pictures, axe-core."""
import os
import pathlib
import shutil
import tempfile

from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException, WebDriverException
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from servers import Failed, wait_until

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
PICTURES = REPOSITORY / "tests" / "run" / "pictures"
# What the browser says of answers that a test asks for, such as a log-in that is refused.
NETWORK = "Failed to load resource"


def axe_source():
    """axe-core as npm has fetched it for the build."""
    found = sorted(REPOSITORY.glob("build*/*/web/ui/made/node_modules/axe-core/axe.min.js"))
    if not found:
        raise Failed("the page was not built here: there is no axe-core beside it")
    return found[0].read_text()


class Browser:
    """One window.  Use it in a with statement."""

    def __init__(self, language="en", width=1280):
        self.profile = tempfile.mkdtemp(prefix="millrace-browser-")
        options = Options()
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", f"--window-size={width},900",
                         f"--lang={language}", f"--user-data-dir={self.profile}", "--no-first-run", "--disable-background-networking"):
            options.add_argument(argument)
        self.downloads = pathlib.Path(self.profile, "downloads")
        options.add_experimental_option("prefs", {"intl.accept_languages": language, "download.default_directory": str(self.downloads)})
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        os.environ.setdefault("HOME", self.profile)
        self.driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
        self.clicks = 0  # also fields
        self.typed = 0
        self.axe = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.driver.quit()
        shutil.rmtree(self.profile, ignore_errors=True)

    # ---- looking ----

    def text(self):
        return self.driver.execute_script("return document.body ? document.body.innerText : ''")

    def wait(self, what, condition, seconds=20):
        """Wait until condition() holds; elements that the page replaces meanwhile are looked up again."""

        def holds():
            try:
                return condition()
            except (StaleElementReferenceException, WebDriverException):
                return None

        try:
            return wait_until(what, holds, seconds)
        except Failed as e:
            raise Failed(f"{e}; the page shows: {self.text()[:1500]!r}") from None

    def shows(self, text, seconds=20):
        self.wait(f"the page shows {text!r}", lambda: text in self.text(), seconds)

    def shows_not(self, text, seconds=20):
        self.wait(f"the page shows {text!r} no more", lambda: text not in self.text(), seconds)

    def settled(self):
        """Nothing is being loaded."""
        self.wait("the screen has loaded", lambda: self.driver.execute_script(
            "return document.querySelector('h1') !== null && document.querySelector('[aria-busy=true]') === null"))

    # ---- acting ----

    def open(self, url):
        self.driver.get(url)

    def go(self, address):
        self.driver.execute_script("location.hash = arguments[0]", address)
        self.settled()

    def element(self, css):
        return self.wait(f"there is {css}", lambda: self.driver.find_element(By.CSS_SELECTOR, css))

    def click(self, name, within="body", beside=None):
        """Click the button or link with this name, once it can be clicked; of several the one in the row that has the text `beside`."""

        def clicked():
            for element in self.driver.find_elements(By.CSS_SELECTOR, f"{within} button, {within} a"):
                if element.text.strip() == name and element.is_displayed() and element.get_attribute("aria-disabled") is None and element.is_enabled():
                    if beside and beside not in self.driver.execute_script("return arguments[0].closest('tr, li').innerText", element):
                        continue
                    element.click()
                    return True
            return False

        self.wait(f"{name!r} can be clicked", clicked)
        self.clicks += 1

    def field(self, label):
        """What this label is for, or None."""
        for element in self.driver.find_elements(By.CSS_SELECTOR, f"label, [aria-label='{label}']"):
            if element.is_displayed() and label in (element.text.strip(), element.get_attribute("aria-label")):
                of = element.get_attribute("for")
                inside = element.find_elements(By.CSS_SELECTOR, "input, select")
                return self.driver.find_element(By.ID, of) if of else inside[0] if inside else element
        return None

    def use(self, label, do):
        """do(field) with the field of this label, once there is one."""

        def done():
            field = self.field(label)
            if field is None or not field.is_enabled():
                return False
            do(field)
            return True

        self.wait(f"the field {label!r} can be filled", done)
        self.clicks += 1

    def fill(self, label, value):
        """Type into the field with this label."""

        def fill(field):
            field.clear()
            field.send_keys(value)

        self.use(label, fill)
        self.typed += len(value)

    def tick(self, label):
        self.use(label, lambda field: field.click())

    def choose(self, label, option):
        self.use(label, lambda field: Select(field).select_by_visible_text(option))

    def keys(self, *keys):
        self.driver.switch_to.active_element.send_keys(*keys)
        self.typed += sum(len(key) for key in keys)

    def downloaded(self):
        """The file that the page has given: its name and its bytes."""
        file = self.wait("there is a file", lambda: next((f for f in self.downloads.glob("*") if f.suffix != ".crdownload"), None))
        return file.name, file.read_bytes()

    def palette(self):
        self.element("body").send_keys(Keys.CONTROL, "k", Keys.CONTROL)
        self.element("dialog.palette")
        self.clicks += 1

    def set_size(self, width):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                    {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600})

    # ---- judging ----

    def picture(self, name):
        PICTURES.mkdir(parents=True, exist_ok=True)
        self.driver.save_screenshot(str(PICTURES / f"{name}.png"))

    def violations(self):
        """What axe-core finds wrong on the page: a line for each."""
        if self.axe is None:
            self.axe = axe_source()
        self.driver.execute_script(self.axe + "; window.axe = axe;")
        found = self.driver.execute_async_script(
            "const done = arguments[0]; axe.run(document, {resultTypes: ['violations']}).then((r) => done(r.violations.map((v) =>"
            " `${v.id}: ${v.help}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 200)).join(' | ')}`)), (e) => done([String(e)]));")
        return found

    def overflow(self):
        """By how many pixels the page is wider than the window."""
        return self.driver.execute_script("return document.documentElement.scrollWidth - document.documentElement.clientWidth")

    def complaints(self, expected=()):
        """What the console says, but for failed requests that the test meant (a part of their address)."""
        return [e["message"] for e in self.driver.get_log("browser") if not any(part in e["message"] for part in expected)]

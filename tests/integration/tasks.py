"""What people do at the page, and how long it may take them: the clicks and the time of each task are judged."""
import contextlib
import time

from browser import Browser
from servers import Failed
from test_access import PASSWORD, add_user

# What a person needs beside the time that the page and the daemon take: to find, to point and to press; and for each key.
# The keystroke-level model has 1.35 s, 1.1 s and 0.2 s, and 0.28 s for each key of somebody who types without practice.
A_CLICK, A_KEY = 3, 0.3


def log_in(browser, daemon, name="anna"):
    browser.open(daemon.url)
    browser.fill("Name", name)
    browser.fill("Password", PASSWORD)
    browser.click("Log in", within="main form")
    browser.element("nav.site")
    browser.settled()


@contextlib.contextmanager
def person(daemon, role="operator", expected=()):
    """The browser of one who has logged in; at the end its console must be silent, but for requests that the test has refused.

    A page of a job hears by a 404 that the job has ended."""
    add_user(daemon, "anna", role)
    with Browser() as browser:
        log_in(browser, daemon)
        yield browser
        complaints = browser.complaints((*expected, "/api/v1/jobs/"))
    if complaints:
        raise Failed(f"the console says {complaints}")


class Task:
    """In a with statement: all that is done with the browser in it, from the overview on."""

    def __init__(self, browser, name, seconds, start="#/overview"):
        self.browser, self.name, self.seconds, self.start = browser, name, seconds, start

    def __enter__(self):
        if self.start:
            self.browser.go(self.start)
        self.clicks, self.typed, self.began = self.browser.clicks, self.browser.typed, time.monotonic()
        return self

    def __exit__(self, failure, *_):
        if failure:
            return
        took, clicks, typed = time.monotonic() - self.began, self.browser.clicks - self.clicks, self.browser.typed - self.typed
        person = took + clicks * A_CLICK + typed * A_KEY
        told = f"{self.name}: {clicks} clicks, {person:.0f} s of {self.seconds} s ({took:.1f} s of them without a person)"
        print(f"# {told}", flush=True)
        if person > self.seconds:
            raise Failed(f"it takes too long: {told}")

"""The admin page: every file of it comes from the daemon, with headers by which a browser trusts and keeps it."""
import gzip
import http.client
import re
import urllib.parse

from openapi import Api
from servers import Failed

POLICY = ("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
          "base-uri 'none'; form-action 'self'; frame-ancestors 'none'")
LICENCES = "ui/licences.txt"  # a page of text beside it, of no browser's cache
TYPES = {"js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8", "json": "application/json"}


class Browser:
    def __init__(self, daemon):
        at = urllib.parse.urlsplit(daemon.url)
        self.host, self.port = at.hostname, at.port

    def ask(self, path, method="GET", **fields):
        """(status, headers, bytes)"""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=60)
        try:
            connection.request(method, path, headers={name.replace("_", "-"): value for name, value in fields.items()})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def load(self, path):
        """(headers, text) of a file, which is the same with and without gzip."""
        status, head, body = self.ask(path, Accept_Encoding="gzip, deflate, br")
        if status != 200 or head["Content-Encoding"] != "gzip":
            raise Failed(f"{path}: {status}, {dict(head)}")
        plain_status, plain_head, plain = self.ask(path)
        if plain_status != 200 or plain_head["Content-Encoding"] is not None or plain != gzip.decompress(body):
            raise Failed(f"{path} differs without gzip: {plain_status}, {dict(plain_head)}")
        return head, plain.decode()


def files_of(browser):
    """name: (headers, text) of all that the index leads to, itself as "/"."""
    found, left = {}, ["/"]
    while left:
        path = left.pop()
        found[path] = browser.load(path)
        text = found[path][1]
        names = re.findall(r"""(?:src|href)=["']?([^"' >]+)""", text) if path == "/" else []
        names += re.findall(r"""["'](ui/[\w.-]+)["']""", text)
        names += [f"ui/{name}" for name in re.findall(r"""["']\./([\w-]+\.js)["']""", text)]
        for name in names:
            if name.startswith("ui/") and name != LICENCES and f"/{name}" not in found and f"/{name}" not in left:
                left.append(f"/{name}")
    if '<div id="app">' not in found["/"][1]:
        raise Failed("this program was built without the page: install nodejs and npm, and configure again")
    return found


def test_all_that_the_page_needs_comes_from_the_daemon_under_a_strict_policy(w):
    browser = Browser(w.millrace())
    files = files_of(browser)
    for what, pattern in {"a program": r"/ui/app-\w+\.js", "a style sheet": r"/ui/style-\w+\.css", "plots": r"/ui/plot-\w+\.js",
                          "English": r"/ui/texts-en-\w+\.json", "Chinese": r"/ui/texts-zh-\w+\.json", "Russian": r"/ui/texts-ru-\w+\.json"}.items():
        if sum(re.fullmatch(pattern, path) is not None for path in files) != 1:
            raise Failed(f"the page has not exactly one file for {what}: {sorted(files)}")
    for path, (head, text) in files.items():
        expected = {"Content-Security-Policy": POLICY, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Vary": "Accept-Encoding",
                    "Content-Type": TYPES.get(path.rsplit(".", 1)[-1], "text/html; charset=utf-8"),
                    "Cache-Control": "no-cache" if path == "/" else "public, max-age=31536000, immutable"}
        wrong = {name: head[name] for name, value in expected.items() if head[name] != value}
        if wrong:
            raise Failed(f"{path} has {wrong}")
        hosts = {host for host in re.findall(r"""["'(=]\s*(?:https?:)?//([\w.-]+\.\w+)""", text) if host != "www.w3.org"}  # names of XML vocabularies
        if hosts:
            raise Failed(f"{path} refers to {hosts}")
    if re.search(r"<style|\sstyle=|<script(?![^>]*src=)|\son\w+=", files["/"][1]):
        raise Failed("the index has a script or a style, which its policy forbids")
    head, text = browser.load("/ui/licences.txt")
    if head["Cache-Control"] != "no-cache" or "preact" not in text or "uplot" not in text or text.count("Permission is hereby granted") + text.count("Apache License") < 4:
        raise Failed(f"the licences of the packages are missing: {dict(head)}\n{text[:500]}")


def test_a_browser_gets_nothing_twice_and_the_status_page_keeps_its_address(w):
    daemon = w.millrace()
    browser = Browser(daemon)
    app = next(path for path in files_of(browser) if path.startswith("/ui/app-"))
    for path in ("/", app, "/ui/licences.txt"):
        _, head, body = browser.ask(path, Accept_Encoding="gzip")
        for tag in (head["ETag"], f'"x", {head["ETag"].removeprefix("W/")}'):
            again = browser.ask(path, If_None_Match=tag, Accept_Encoding="gzip")
            if again[0] != 304 or again[2] or again[1]["ETag"] != head["ETag"] or again[1]["Cache-Control"] != head["Cache-Control"]:
                raise Failed(f"{path} is known by {tag}: {again[0]}, {dict(again[1])}")
        if browser.ask(path, If_None_Match='W/"0"')[0] != 200:
            raise Failed(f"{path} is not known by another tag")
        status, only_head, nothing = browser.ask(path, "HEAD", Accept_Encoding="gzip")
        if status != 200 or nothing or {**only_head, "Date": None} != {**head, "Date": None} or int(head["Content-Length"]) != len(body):
            raise Failed(f"HEAD {path}: {status}, {dict(only_head)} and not {dict(head)}")
        if browser.ask(path, "POST")[0] != 405:
            raise Failed(f"POST {path} is taken")
    for path in ("/ui/index.html", "/ui/app.js", f"{app}.map", "/ui", "/ui/a/b", "/ui/%2e%2e%2fstatus"):
        status, head, _ = browser.ask(path)
        if status != 404 or head["Cache-Control"] != "no-store" or head["Content-Type"] != "application/problem+json":
            raise Failed(f"{path}: {status}, {dict(head)}")
    if browser.ask(app, Authorization="Bearer x")[0] != 401:
        raise Failed("a wrong token is taken")
    if Api(daemon).ask("GET", "/").text != browser.load("/")[1]:
        raise Failed("the socket has another page")
    status, head, body = browser.ask("/status")
    if status != 200 or b"<script" in body or b"Millrace" not in body or "style-src 'nonce-" not in head["Content-Security-Policy"] or head["Cache-Control"] != "no-store":
        raise Failed(f"/status is not the status page: {status}, {dict(head)}")

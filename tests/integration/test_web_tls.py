"""The port over TLS, by a real client and a certificate of openssl's."""
import concurrent.futures
import contextlib
import http.client
import json
import os
import socket
import ssl
import struct
import subprocess

from openapi import Answer
from servers import Failed, free_port, wait_until

PASSWORD = "a password for Anna"


def certificate(daemon, name, host="localhost"):
    """NAME.pem and NAME.key in the daemon's folder, which sign themselves."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", f"/CN={host}",
                    "-addext", f"subjectAltName=DNS:{host},IP:127.0.0.1", "-keyout", f"{name}.key", "-out", f"{name}.pem"], cwd=daemon.folder, check=True, capture_output=True)
    os.chmod(os.path.join(daemon.folder, f"{name}.key"), 0o600)
    return {"cert_file": f"{name}.pem", "key_file": f"{name}.key"}


def over_tls(w, host="127.0.0.1", start=True, **config):
    """A daemon with TLS; its health is asked for at the port of the metrics."""
    daemon = w.millrace(start=False)
    health = free_port()
    daemon.configure(listen=f"{host}:{daemon.port}", metrics={"listen": f"127.0.0.1:{health}"}, web_tls=certificate(daemon, "one"), **config)
    daemon.url = f"http://127.0.0.1:{health}"
    return daemon.start() if start else daemon


class Client:
    """Trusts one certificate, and sends over one connection what it is told to."""

    def __init__(self, daemon, name="one"):
        self.port = daemon.port
        self.context = ssl.create_default_context(cafile=os.path.join(daemon.folder, f"{name}.pem"))

    def connect(self):
        return self.context.wrap_socket(socket.create_connection(("127.0.0.1", self.port), timeout=60), server_hostname="localhost")

    def ask(self, method, path, body=None, **headers):
        connection = http.client.HTTPSConnection("localhost", self.port, timeout=60, context=self.context)
        try:
            sent = {name.replace("_", "-"): value for name, value in headers.items()}
            if body is not None:
                body, sent["Content-Type"] = json.dumps(body), "application/json"
            connection.request(method, path, body, sent)
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def talk(self, text):
        """All that comes back until the server ends the connection properly."""
        with self.connect() as s:
            s.sendall(text)
            got = b""
            while piece := s.recv(65536):
                got += piece
            return got


def expect(what, found, expected):
    if found != expected:
        raise Failed(f"{what}: {found}, not {expected}")


def plain(port, text):
    with socket.create_connection(("127.0.0.1", port), timeout=60) as s:
        s.sendall(text)
        got = b""
        with contextlib.suppress(ConnectionResetError):
            while piece := s.recv(65536):
                got += piece
        return got


def test_people_and_scripts_use_the_port_over_tls(w):
    daemon = over_tls(w)
    client = Client(daemon)
    daemon.command("user", "add", "anna", "--role", "admin", input=PASSWORD + "\n")
    log_in = client.ask("POST", "/api/v1/login", {"name": "anna", "password": PASSWORD}, Origin=f"https://localhost:{daemon.port}")
    expect("the log-in", log_in.status, 200)
    if "; Secure" not in log_in.headers["Set-Cookie"]:
        raise Failed(f"the cookie is {log_in.headers['Set-Cookie']}")
    known = {"Cookie": log_in.headers["Set-Cookie"].split(";")[0], "Origin": f"https://localhost:{daemon.port}"}
    expect("a change", client.ask("POST", "/api/v1/drain/cancel", **known).status, 200)
    expect("a change from a page without TLS", client.ask("POST", "/api/v1/drain/cancel", **known | {"Origin": f"http://localhost:{daemon.port}"}).status, 403)
    big = client.ask("POST", "/api/v1/apply", {"dry_run": True, "files": [{"name": "a.yaml", "text": "# " + "x" * (8 << 20) + "\n"}]}, **known)
    if big.status not in (200, 422):
        raise Failed(f"a body of 8 MiB: {big}")
    answer = client.ask("GET", "/api/v1/openapi.json", **known)
    expect("the paths that come", "/api/v1/me" in json.loads(answer.text)["paths"], True)
    two = client.talk(b"GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\nGET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
    expect("the answers on one connection", (two.count(b"HTTP/1.1 200"), b"Connection: close" in two, b"process_" in two), (1, True, False))
    with open(daemon.log, encoding="utf-8", errors="replace") as log, open(os.path.join(daemon.folder, "one.key"), encoding="ascii") as key:
        if any(line in log.read() for line in key.read().splitlines()[1:-1]):
            raise Failed("the log has the key")


def test_who_speaks_no_tls_hears_so_and_who_stops_half_way_keeps_nobody_waiting(w):
    daemon = over_tls(w)
    client = Client(daemon)
    told = plain(daemon.port, b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    if not told.startswith(b"HTTP/1.1 400 ") or b"https://" not in told:
        raise Failed(f"plain HTTP is told {told}")
    expect("what nonsense is told", plain(daemon.port, b"\x00\x01\x02 nonsense"), b"")
    half = [socket.create_connection(("127.0.0.1", daemon.port), timeout=60) for _ in range(200)]
    for s in half:
        s.sendall(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        expect("the answers beside half a handshake", set(pool.map(lambda _: client.ask("GET", "/livez").status, range(40))), {200})
    for s in half:
        s.close()
    for text in (b"", b"GET /li", b"POST /api/v1/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{", b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"):
        for abrupt in (False, True):
            s = client.connect()
            s.sendall(text)
            if abrupt:
                s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            s.close()
    expect("an answer after those who left", client.ask("GET", "/livez").status, 200)
    files = f"/proc/{daemon.process.pid}/fd"
    wait_until("the daemon has closed their connections", lambda: sum(os.path.exists(f"{files}/{n}") and os.readlink(f"{files}/{n}").startswith("socket:") for n in os.listdir(files)) < 60)


def test_a_new_certificate_is_taken_on_sighup_and_a_bad_one_is_not(w):
    daemon = over_tls(w)
    first = Client(daemon)
    before = first.connect()
    daemon.configure(web_tls=certificate(daemon, "two"))
    daemon.process.send_signal(1)
    second = Client(daemon, "two")

    def is_new():
        with contextlib.suppress(ssl.SSLCertVerificationError):
            return second.ask("GET", "/livez").status == 200
        return False
    wait_until("the new certificate is shown", is_new)
    before.sendall(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
    expect("the answer on a connection of before", before.recv(12), b"HTTP/1.1 200")
    before.close()
    daemon.configure(web_tls={"cert_file": "two.pem", "key_file": "one.key"})
    daemon.process.send_signal(1)
    wait_until("the log says why the key is not taken", lambda: "web_tls.key_file" in daemon.log_tail(3000) and "not reloaded" in daemon.log_tail(3000))
    expect("the answer with the certificate of before", second.ask("GET", "/livez").status, 200)


def test_a_port_that_other_machines_reach_needs_tls_and_an_admin(w):
    daemon = over_tls(w, "0.0.0.0", start=False)
    good = daemon.config["web_tls"]
    for wrong, said in (({}, "web_tls.cert_file"), ({"cert_file": "one.pem"}, "web_tls.key_file"), (good | {"key_file": "no.key"}, "no.key"), (good | {"min_version": "1.1"}, "1.2")):
        daemon.configure(web_tls=wrong)
        for words in (("run",), ("config", "show"))[:1 if "no.key" in said else 2]:
            done = daemon.command(*words, ok=(1, 2))
            if said not in done.stdout + done.stderr:
                raise Failed(f"{words} with {wrong}: {done.stdout}{done.stderr}")
    daemon.configure(web_tls=good)
    os.chmod(os.path.join(daemon.folder, "one.key"), 0o644)
    if "chmod 600" not in daemon.command("config", "show", ok=(1,)).stderr:
        raise Failed("a key that all may read is taken")
    os.chmod(os.path.join(daemon.folder, "one.key"), 0o600)
    daemon.start()
    client = Client(daemon)
    for path in ("/", "/livez", "/api/v1/me"):
        answer = client.ask("GET", path)
        expect(path + " without an admin", (answer.status, json.loads(answer.text)["code"]), (403, "no-admin-yet"))
    if "--role admin" not in daemon.log_tail():
        raise Failed("the log does not say what the port waits for")
    expect("whether there is a token that the port takes from nobody", os.path.exists(os.path.join(daemon.folder, daemon.config["data"], "first-admin.token")), False)
    daemon.command("user", "add", "anna", "--role", "operator", input=PASSWORD + "\n")
    expect("/livez without an admin", client.ask("GET", "/livez").status, 403)
    daemon.command("user", "set", "anna", "--role", "admin")
    expect("/livez with an admin", client.ask("GET", "/livez").status, 200)
    expect("the status page to nobody", client.ask("GET", "/status").status, 401)
    expect("the log-in", client.ask("POST", "/api/v1/login", {"name": "anna", "password": PASSWORD}).status, 200)
    expect("another host", client.ask("GET", "/livez", Host="elsewhere.example").status, 421)

"""A reverse proxy in front of the engine that wants to know who comes: TLS, log-in, and refusals at will."""
import base64
import http.client
import http.server
import ssl
import threading
import urllib.parse

DROPPED = {"connection", "keep-alive", "transfer-encoding", "content-length"}


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        pass  # a client that went away, or did not like our certificate


class Hold:
    """As a gate's watch: bulk requests wait while it is closed, and go on even if their client is gone by then."""

    def __init__(self):
        self.open = threading.Event()
        self.open.set()
        self.held, self.late = 0, 0

    def begin(self, path, _body):
        if "_bulk" in path and not self.open.is_set():
            self.held += 1
            self.open.wait(60)

    def end(self, path):
        self.late += "_bulk" in path


class Gate:
    """Serves until closed.  users: {name: password}, keys: [API key]; neither: everyone may come in."""

    def __init__(self, engine, users=None, keys=(), certificates=None):
        self.engine, self.users, self.keys = engine, users or {}, list(keys)
        self.refuse = None  # (method, path) -> status, or None to let it pass
        self.watch = None  # has begin(path, body) and end(path), called around what is passed on
        self.alter = None  # (path, body of the answer) -> the body that is given instead
        self.passed, self.refused, self.packed = 0, 0, 0
        self.server = Server(("127.0.0.1", 0), self.handler())
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        if certificates:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(f"{certificates}/server.pem", f"{certificates}/server.key")
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
            self.url = f"https://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def wants(self, said):
        """The status for an Authorization header: 0 to let it pass."""
        if not self.users and not self.keys:
            return 0
        kind, _, rest = (said or "").partition(" ")
        if kind == "Basic":
            name, _, password = base64.b64decode(rest).decode().partition(":")
            return 0 if name in self.users and self.users[name] == password else 401
        return 0 if kind == "ApiKey" and rest in self.keys else 401

    def handler(gate):  # the handler's own self is another
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            timeout = 60

            def log_message(self, *_):
                pass

            def answer(self, status, body, kind="application/json", headers=()):
                self.send_response(status)
                for name, value in headers:
                    self.send_header(name, value)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(body)

            def read_body(self):
                if "chunked" not in self.headers.get("Transfer-Encoding", ""):
                    return self.rfile.read(int(self.headers.get("Content-Length") or 0))
                body = b""
                while size := int(self.rfile.readline().split(b";")[0], 16):
                    body += self.rfile.read(size)
                    self.rfile.readline()
                self.rfile.readline()
                return body

            def pass_on(self):
                body = self.read_body()
                status = gate.wants(self.headers.get("Authorization"))
                status = status or (gate.refuse and gate.refuse(self.command, self.path)) or 0
                if status:
                    gate.refused += 1
                    self.answer(status, b'{"error":{"type":"security_exception","reason":"no permissions"},"status":%d}'
                                % status)
                    return
                if gate.watch:
                    gate.watch.begin(self.path, body)
                gate.passed += 1
                gate.packed += self.headers.get("Content-Encoding") == "gzip"
                at = urllib.parse.urlsplit(gate.engine.url)
                connection = http.client.HTTPConnection(at.hostname, at.port, timeout=60)
                try:
                    head = {k: v for k, v in self.headers.items() if k.lower() not in DROPPED | {"authorization", "host"}}
                    connection.request(self.command, self.path, body or None, head)
                    done = connection.getresponse()
                    kept = [(k, v) for k, v in done.getheaders() if k.lower() not in DROPPED | {"content-type"}]
                    given = gate.alter(self.path, done.read()) if gate.alter else done.read()
                    self.answer(done.status, given, done.getheader("Content-Type") or "text/plain", kept)
                finally:
                    connection.close()
                    if gate.watch:
                        gate.watch.end(self.path)

            do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = pass_on

        return Handler

#!/bin/sh
# In bash, zsh and fish, what somebody begins to type is completed: commands, options, settings, files,
# and the names that a daemon has, whatever is in them.
set -eu
: "${top_srcdir:=.}" "${top_builddir:=.}"
command -v python3 > /dev/null || { echo "python3 is not installed"; exit 77; }
export top_srcdir top_builddir
exec python3 - <<'END'
import fcntl, http.server, json, os, pty, re, select, shutil, signal, socketserver, struct, subprocess, sys
import tempfile, termios, threading, time

program = os.path.abspath(os.path.join(os.environ["top_builddir"], "millrace"))
scripts = os.path.abspath(os.path.join(os.environ["top_srcdir"], "packaging", "completion"))
bad = 0


def wrong(what):
    global bad
    bad = 1
    print(what)


# ---- a daemon that has only names

items = {"tables": [{"table": "shop." + name} for name in ("a$(exit 9)", "b`id`", "c;d", "e$HOME", "it's", "two words")],
         "versions": [{"index": "orders", "name": "orders_v2"}], "topics": [{"name": "main"}]}


class Names(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        kind = self.path.rsplit("/", 1)[1]
        body = json.dumps({"schema": f"millrace/{kind[:-1]}/1", "items": items[kind]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def address_string(self):
        return "a socket"

    def log_message(self, *said):
        pass


# ---- each word of each command, as --help lists them: by two spaces, up to the first argument or gap

def check_words():
    shown = subprocess.run([program, "--help"], capture_output=True, text=True, check=True).stdout
    commands = re.findall(r"^  ([a-z][a-z-]*(?: [a-z][a-z-]*)*)(?: [A-Z\[]|  | mysql:)", shown, re.M)
    if len(commands) < 30:
        wrong(f"only {len(commands)} commands found")
    for begin, word in sorted({(tuple(c.split()[:n]), c.split()[n]) for c in commands for n in range(len(c.split()))}):
        lines = subprocess.run([program, "complete", "--", *begin, ""], capture_output=True, text=True, check=True).stdout
        if word not in [line.split("\t")[0] for line in lines.splitlines()]:
            wrong(f"after {begin} not offered: {word}")


# ---- shells: what is typed before the tab, and after it, and the arguments that the program then gets

typed = [("topic resu\tma\t", ["topic", "resume", "main"]),
         ("index create --no-w\tshop.a\t", ["index", "create", "--no-wait", "shop.a$(exit 9)"]),
         ("explain shop.b\t", ["explain", "shop.b`id`"]), ("explain shop.c\t", ["explain", "shop.c;d"]),
         ("explain shop.e\t", ["explain", "shop.e$HOME"]), ("explain shop.i\t", ["explain", "shop.it's"]),
         ("explain shop.tw\t7", ["explain", "shop.two words", "7"]),
         ("--set log.l\tinfo stat\t", ["--set", "log.level=info", "status"]),
         ("config delivery set hel\t", ["config", "delivery", "set", "helpers"]),
         ("dead-letter list -o js\t--index ord\t", ["dead-letter", "list", "-o", "json", "--index", "orders_v2"]),
         ("apply -n fi\t", ["apply", "-n", "first file.yaml"])]

shells = {"bash": (["bash", "--norc", "--noprofile", "-i"], "source <(millrace completion bash)"),
          "zsh": (["zsh", "-f", "-i"], "fpath=($PWD/functions $fpath); autoload -U compinit; compinit -D -u"),
          "fish": (["fish", "--no-config", "-i", "-C", "function fish_prompt; echo READY; end"],
                   "millrace completion fish | source")}


class Terminal:
    """A shell at a terminal of its own."""

    def __init__(self, command, environment):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execvpe(command[0], command, environment)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 200, 0, 0))
        self.said = b""

    def type(self, text):
        os.write(self.fd, text.encode())

    def wait(self, what, done):
        end = time.monotonic() + 60
        while not done():
            if time.monotonic() > end:
                wrong(f"{what}: the terminal shows {self.said[-2000:]!r}")
                return False
            if select.select([self.fd], [], [], 0.05)[0]:
                self.said += os.read(self.fd, 65536)
        return True

    def close(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.fd)


def check_shell(shell, environment):
    command, start = shells[shell]
    terminal = Terminal(command, environment)
    terminal.wait(f"{shell} starts", lambda: b"READY" in terminal.said)
    terminal.type(start + "\r")
    for begun, expected in typed:
        terminal.type(f"millrace {begun}\r")
        if not terminal.wait(f"{shell}: {begun!r}", lambda: os.path.exists("got")):
            break
        with open("got") as f:
            got = f.read().split("\0")[:-1]
        os.unlink("got")
        if got != expected:
            wrong(f"{shell}: {begun!r} became {got}")
    complaint = re.search(rb"(?m)^.*\b(%s|_millrace):.*$" % shell.encode(), terminal.said)
    if complaint:
        wrong(f"the terminal shows {complaint.group()!r}")
    terminal.close()


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    os.mkdir("functions")
    shutil.copy(os.path.join(scripts, "millrace.zsh"), "functions/_millrace")
    with open("first file.yaml", "w"):
        pass
    os.mkdir("bin")
    with open("bin/millrace", "w") as f: # what is no question of a shell is written down
        f.write(f"#!/bin/sh\ncase $1 in complete|completion) exec '{program}' \"$@\" ;; esac\n"
                "printf '%s\\0' \"$@\" > got.part && mv got.part got\n")
    os.chmod("bin/millrace", 0o755)
    server = socketserver.ThreadingUnixStreamServer("socket", Names)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    environment = {"PATH": f"{folder}/bin:{os.environ['PATH']}", "HOME": folder, "TERM": "xterm", "PS1": "READY ",
                   "LC_ALL": "C.UTF-8", "MILLRACE_SOCKET": f"{folder}/socket", "INPUTRC": "/dev/null"}
    check_words()
    absent = [shell for shell in shells if shutil.which(shell) is None]
    for shell in shells:
        if shell not in absent:
            check_shell(shell, environment)
    server.shutdown()
    os.chdir("/")
if absent:
    print(f"not installed: {absent}")
sys.exit(bad or (77 if absent else 0))
END

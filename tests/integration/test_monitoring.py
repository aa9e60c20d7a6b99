"""What watches over a daemon: the port for metrics and health, and `status` for scripts and terminals."""
import socket

from servers import Failed, free_port, http, wait_until


def ask(port, path, method="GET", host="127.0.0.1", name="millrace.example"):
    """The status and text of an answer; the Host header has a name that is not this machine's."""
    return http(method, f"http://{host}:{port}{path}", headers={"Host": name}, timeout=10)


def test_metrics_have_a_port_of_their_own_on_any_address_that_serves_nothing_else(w):
    port = free_port()
    daemon = w.millrace(metrics={"listen": f"0.0.0.0:{port}"}, listen="off", start=False)
    daemon.start(wait=False)
    wait_until("the probe says ready", lambda: is_ready(daemon, port))
    for path, status in (("/livez", 200), ("/readyz", 200), ("/metrics", 200), ("/", 404), ("/api/v1/status", 404), ("/api/v1/doctor", 404)):
        have, text = ask(port, path)
        if have != status:
            raise Failed(f"{path}: {have} {text}")
    if "millrace_build_info" not in ask(port, "/metrics")[1]:
        raise Failed("the metrics are not there")
    if ask(port, "/api/v1/drain", "POST")[0] != 404 or ask(port, "/metrics", "DELETE")[0] != 405:
        raise Failed("something else is served")
    daemon.command("status")


def is_ready(daemon, port):
    daemon.check_alive()
    try:
        return ask(port, "/readyz")[0] == 200
    except OSError:
        return False


def test_a_port_for_metrics_that_cannot_be_had_is_named_with_its_setting(w):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        for where, words in ((f"127.0.0.1:{taken.getsockname()[1]}", "is taken (ss -ltnp shows by whom)"),
                             ("*:7701", "neither localhost nor the number of an address"),
                             ("192.0.2.1:7701", "cannot listen on")):
            daemon = w.millrace(metrics={"listen": where}, start=False)
            ended = daemon.command("run", ok=(1,), timeout=30)
            if words not in ended.stderr or "metrics.listen" not in ended.stderr:
                raise Failed(f"{where}: the daemon says {ended.stderr}")

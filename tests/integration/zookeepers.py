"""A real ZooKeeper for a test."""
import os
import socket

import servers
from servers import REPO, Server, free_port, run_script, wait_until

NODE = os.path.join(REPO, "tools/zookeeper/node")


class ZooKeeper(Server):
    """One server of tools/zookeeper; of an ensemble, if it is told the ports of all."""

    def __init__(self, name="zookeeper", port=None, ensemble=()):
        self.folder = servers.place(name)
        self.port = port or free_port()
        self.ensemble = ensemble

    def start(self):
        among = ("--ensemble", ",".join(map(str, self.ensemble))) if self.ensemble else ()
        run_script(NODE, "start", "--data", self.folder, "--port", str(self.port), *among)
        return self

    def stop(self):
        run_script(NODE, "stop", "--data", self.folder)

    def ask(self, word, port=None):
        """A four-letter word, and what the server answers; port: of what leads to it."""
        with socket.create_connection(("127.0.0.1", port or self.port), 5) as s:
            s.sendall(word.encode())
            answer = b""
            while data := s.recv(65536):
                answer += data
            return answer.decode()

    def mode(self):
        """leader, follower or standalone; empty while there is no leader."""
        try:
            lines = self.ask("srvr").splitlines()
        except OSError:
            return ""
        return next((line.removeprefix("Mode: ") for line in lines if line.startswith("Mode: ")), "")


def start_zookeepers(w, count=1):
    """Servers of this test only; several are an ensemble."""
    if count == 1:
        return [w.also(ZooKeeper()).start()]
    ports = [free_port(1000, 2000) for _ in range(count)]
    ensemble = [w.also(ZooKeeper(f"zookeeper-{port}", port, ports)).start() for port in ports]
    wait_for_leader(ensemble)
    return ensemble


def wait_for_leader(ensemble):
    return wait_until("the ensemble has a leader", lambda: next((server for server in ensemble if server.mode() == "leader"), None), 60, 0.2)

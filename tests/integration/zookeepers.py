"""A real ZooKeeper for a test."""
import os
import socket

import servers
from servers import REPO, Server, free_port, run_script

NODE = os.path.join(REPO, "tools/zookeeper/node")


class ZooKeeper(Server):
    """One server of tools/zookeeper."""

    def __init__(self, name="zookeeper"):
        self.folder = os.path.join(servers.RUN, name)
        self.port = free_port()

    def start(self):
        run_script(NODE, "start", "--data", self.folder, "--port", str(self.port))
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

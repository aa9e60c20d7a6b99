"""What stands between a daemon and its database, and may lead to another one at any time: a proxy, or a name."""
import queue
import socket
import threading
import time

from servers import let_pass


class Detour:
    """Passes every connection on, as bytes, to a port of this machine; serves until closed.

    delay: seconds that all bytes are on their way, in each direction."""

    def __init__(self, port, delay=0):
        self.target, self.delay = port, delay
        self.pairs = set()
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.cut()

    def lead_to(self, port, cut=True):
        """New connections go there; those that are open end, unless they are to be kept."""
        self.target = port
        if cut:
            self.cut()

    def cut(self):
        with self.lock:
            pairs, self.pairs = self.pairs, set()
        for pair in pairs:
            for end in pair:
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass  # it went by itself

    def accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return  # closed
            try:
                far = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                near.close()
                continue
            with self.lock:
                self.pairs.add((near, far))
            for one, other in (near, far), (far, near):
                threading.Thread(target=self.pump, args=(one, other), daemon=True).start()

    def pump(self, one, other):
        try:
            if self.delay:
                self.pump_late(one, other)
                return  # what is under way still arrives
            while data := one.recv(65536):
                other.sendall(data)
        except OSError:
            pass  # cut
        for end in one, other:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def pump_late(self, one, other):
        """Bytes that follow one another are delayed together, as on a long way."""
        under_way = queue.SimpleQueue()
        threading.Thread(target=self.arrive, args=(under_way, other), daemon=True).start()
        try:
            while data := one.recv(65536):
                under_way.put((time.monotonic() + self.delay, data))
        finally:
            under_way.put(None)

    def arrive(self, under_way, other):
        try:
            while item := under_way.get():
                due, data = item
                let_pass("a long way", max(0, due - time.monotonic()))
                other.sendall(data)
            other.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # cut

"""A server that lets everybody in and whose every answer has no end."""
import contextlib
import socket
import threading

from rogue import handshake, packet

ACCEPTED = b"\x00\x00\x00\x02\x00\x00\x00"
END_OF_COLUMNS = b"\xfe\x00\x00\x02\x00"


def text(value):
    return bytes([len(value)]) + value


def column(name):
    """A column of texts (Protocol::ColumnDefinition41)."""
    return text(b"def") + 3 * text(b"") + text(name) + text(b"") + b"\x0c\x21\x00" + (1000).to_bytes(4, "little") + b"\xfd\x00\x00\x00\x00\x00"


class Endless:
    """Serves until closed; `asked` counts the statements.  honest: so many statements are answered with one row and an end."""

    def __init__(self, honest=0):
        self.asked, self.honest = 0, honest
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                client = self.socket.accept()[0]
                threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        with client, contextlib.suppress(OSError, EOFError):
            stream = client.makefile("rb")
            client.sendall(handshake("mysql_native_password"))
            self.read(stream)
            client.sendall(packet(2, ACCEPTED))
            asked = 0
            while True:
                statement = self.read(stream)
                self.asked += 1
                asked += 1
                if asked <= self.honest:
                    client.sendall(self.honestly(statement))
                else:
                    self.endlessly(client)

    def read(self, stream):
        head = stream.read(4)
        if len(head) < 4:
            raise EOFError
        return stream.read(int.from_bytes(head[:3], "little"))

    def honestly(self, statement):
        if statement[1:].upper().startswith(b"SET"):
            return packet(1, ACCEPTED)
        return (packet(1, b"\x02") + packet(2, column(b"a")) + packet(3, column(b"b")) + packet(4, END_OF_COLUMNS) +
                packet(5, text(b"8.0.36") + text(b"a server")) + packet(6, END_OF_COLUMNS))

    def endlessly(self, client):
        client.sendall(packet(1, b"\x01") + packet(2, column(b"a")) + packet(3, END_OF_COLUMNS))
        number = 4
        while True:
            client.sendall(b"".join(packet(n, text(b"on and on")) for n in range(number, number + 200)))
            number = (number + 200) % 256

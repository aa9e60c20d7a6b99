"""One end of a TLS tunnel between a client and a server that speak none, as docs/cluster.md has it."""
import os
import signal

import servers
from servers import Server, free_port, run_script, running, wait_until


class Stunnel(Server):
    """From `port` to the port `to`.  Each end shows its certificate, and wants one of the authority."""

    def __init__(self, name, to, certificates, **options):
        self.folder = os.path.join(servers.RUN, name)
        self.port = free_port()
        self.options = {"accept": f"127.0.0.1:{self.port}", "connect": f"127.0.0.1:{to}", "verifyChain": "yes", "requireCert": "yes",
                        "CAfile": os.path.join(certificates, "ca.pem"), "cert": os.path.join(certificates, "server.pem"),
                        "key": os.path.join(certificates, "server.key")} | options

    def start(self):
        """Returns once it listens."""
        os.makedirs(self.folder, exist_ok=True)
        config = os.path.join(self.folder, "conf")
        with open(config, "w", encoding="utf-8") as f:
            f.write(f"pid = {self.folder}/pid\noutput = {self.folder}/log\n[zookeeper]\n")
            f.writelines(f"{name} = {value}\n" for name, value in self.options.items() if value is not None)
        run_script("stunnel4", config)
        return self

    def stop(self):
        pid = self.pid()
        os.kill(pid, signal.SIGTERM)
        wait_until("stunnel has ended", lambda: not running(pid))

"""A second server, of another kind than the first, that documents show tables of."""
import os

import judge
from servers import Database


class Abroad:
    """w.db has the documents' tables; `server`, topic `abroad`, has those that they lead to."""

    def __init__(self, w, *options, kind=None):
        self.w = w
        kind = kind or ("mysql8" if w.options.server.startswith("mariadb") else "mariadb")
        self.server = w.also(Database(kind, "abroad"))
        gtids = () if kind.startswith("mariadb") else ("--gtid-mode=ON", "--enforce-gtid-consistency=ON")
        self.server.start("--server-id=77", *gtids, *options)
        home, w.db = w.db, self.server
        w.make_schema()
        w.db = home

    def sql(self, *statements):
        return self.server.sql(*statements, schema=self.w.schema)

    def definitions(self, *tables, **topic):
        """As the world's; a table that is called abroad.NAME is on the other server."""
        d = self.w.definitions(*tables, **topic)
        for table in d["tables"]:
            for thing in self.w.walk(table):
                if "table" not in thing:  # a pattern
                    continue
                thing["table"] = thing["table"].replace(f"{self.w.schema}.abroad.", "abroad.")
            if table["index"].endswith("-abroad"):
                table["index"] = self.w.index(table["table"].split(".")[1])
        d["topics"].append({"name": "abroad", "address": f"127.0.0.1:{self.server.port}", "user": "millrace",
                            "password_file": "source.password"})
        d["databases"].append({"name": "abroad", "topic": "abroad", "schema": self.w.schema})
        return d

    def equal(self, daemon, tables=None, seconds=30):
        """As the world's: both servers must be still."""
        judge.wait_equal(self.w.db, self.w.engine, os.path.join(daemon.folder, "definitions.yaml"), tables, seconds,
                         alive=daemon.check_alive, others={"abroad": self.server})

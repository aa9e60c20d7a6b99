"""Two servers, of which one follows the other, for as long as somebody wants it to."""
from servers import Database, Failed, wait_until

PASSWORD = "replica-7"


class Replication:
    """`first` takes writes at the beginning, `second` has them a moment later; both keep a log of all."""

    def __init__(self, w, *options):
        self.w = w
        self.first = w.also(Database(w.options.server, "first"))
        self.second = w.also(Database(w.options.server, "second"))
        for number, server in enumerate((self.first, self.second), 1):
            server.start(f"--server-id={number}", "--log-slave-updates=ON", *options)
        w.db = self.first
        w.make_schema()
        self.first.sql(f"CREATE USER repl@'127.0.0.1' IDENTIFIED BY '{PASSWORD}'",
                       "GRANT REPLICATION SLAVE ON *.* TO repl@'127.0.0.1'")
        self.follow(self.second, self.first)

    def follow(self, replica, source, delay=0):
        """replica takes what source has from now on, so many seconds late.  Without TLS, which MariaDB
        from 11.4 on would want by itself, and servers of tests do not have."""
        if replica.is_mariadb:
            replica.sql("SET GLOBAL gtid_slave_pos = @@gtid_current_pos")
            replica.sql(f"CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = {source.port}, MASTER_USER = 'repl',"
                        f" MASTER_PASSWORD = '{PASSWORD}', MASTER_USE_GTID = slave_pos, MASTER_CONNECT_RETRY = 1,"
                        f" MASTER_DELAY = {delay}, MASTER_SSL = 0")
        else:
            replica.sql(f"CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1', SOURCE_PORT = {source.port},"
                        f" SOURCE_USER = 'repl', SOURCE_PASSWORD = '{PASSWORD}', SOURCE_AUTO_POSITION = 1,"
                        f" GET_SOURCE_PUBLIC_KEY = 1, SOURCE_CONNECT_RETRY = 1, SOURCE_DELAY = {delay}")
        replica.sql(f"START {self.word(replica)}")

    @staticmethod
    def word(server):
        return "SLAVE" if server.is_mariadb else "REPLICA"

    def hold(self, replica):
        """It gets transactions and does not apply them."""
        replica.sql(f"STOP {self.word(replica)} SQL_THREAD")

    def go_on(self, replica):
        replica.sql(f"START {self.word(replica)} SQL_THREAD")

    def executed(self, server):
        return server.sql("SELECT @@gtid_binlog_pos" if server.is_mariadb else "SELECT @@gtid_executed")[0][0]

    def catch_up(self, replica, source):
        wait = "MASTER_GTID_WAIT" if replica.is_mariadb else "WAIT_FOR_EXECUTED_GTID_SET"
        gtids = self.executed(source).replace("\n", "")
        if replica.sql(f"SELECT {wait}('{gtids}', 60)")[0][0] != 0:
            raise Failed("the replica does not catch up")

    def promote(self, replica):
        """It follows nobody any more, and takes writes."""
        replica.sql(f"STOP {self.word(replica)}", f"RESET {self.word(replica)} ALL")

    def switch(self, to, away):
        """With nothing lost: to has all that away has, and takes the writes from now on."""
        self.catch_up(to, away)
        self.promote(to)
        self.w.db = to

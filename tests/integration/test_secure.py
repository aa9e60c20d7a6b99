"""The ways to log in, and TLS."""
import os
import subprocess

import rogue
import servers
from servers import Failed
from world import PASSWORD


def certificates(folder):
    """A throw-away authority and a server certificate for 127.0.0.1."""
    os.makedirs(folder, exist_ok=True)

    def openssl(*args):
        subprocess.run(["openssl", *args], cwd=folder, check=True, capture_output=True)

    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=test authority",
            "-keyout", "ca.key", "-out", "ca.pem")
    openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=127.0.0.1", "-keyout", "server.key", "-out", "server.csr")
    with open(os.path.join(folder, "names"), "w", encoding="utf-8") as f:
        f.write("subjectAltName=IP:127.0.0.1,DNS:localhost")
    openssl("x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
            "-extfile", "names", "-out", "server.pem")
    return folder


def follow_as(w, user, how, **topic):
    """A user that logs in this way is followed with."""
    w.sql("CREATE TABLE thing (id INT PRIMARY KEY, a INT)", "INSERT INTO thing VALUES (1, 1)")
    w.db.sql(f"CREATE OR REPLACE USER {user} {how}" if w.db.is_mariadb else f"CREATE USER {user} {how}",
             f"GRANT REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO {user}", f"GRANT SELECT ON {w.schema}.* TO {user}")
    try:
        daemon = w.follow(w.definitions({"table": "thing"}, user=user.split("@")[0], **topic))
        w.sql("UPDATE thing SET a = 2", "INSERT INTO thing VALUES (2, 2)")
        w.equal(daemon)
    finally:
        w.db.sql(f"DROP USER {user}")


def test_native_passwords_are_taken(w):
    how = "VIA mysql_native_password USING PASSWORD('{}')" if w.db.is_mariadb else "WITH mysql_native_password BY '{}'"
    follow_as(w, "native@'127.0.0.1'", "IDENTIFIED " + how.format(PASSWORD))


test_native_passwords_are_taken.servers = ("mariadb", "mariadb11", "mysql8")
test_native_passwords_are_taken.why = "it has no mysql_native_password"


def with_ed25519(w):
    plugins = "plugins11" if w.options.server == "mariadb11" else "plugins"
    servers.run_script(os.path.join(servers.REPO, "tools/mysql/server"), "fetch", "--flavour", plugins)
    folder = os.path.join(servers.REPO, f"tools/cache/{plugins}/usr/lib/mysql/plugin")
    w.db.restart(f"--plugin-dir={folder}", "--plugin-load-add=auth_ed25519")


def test_the_passwords_that_the_server_recommends_are_taken_without_tls(w):
    """ed25519 of MariaDB, caching_sha2_password of MySQL."""
    if w.db.is_mariadb:
        with_ed25519(w)
        how = f"VIA ed25519 USING PASSWORD('{PASSWORD}')"
    else:
        how = f"WITH caching_sha2_password BY '{PASSWORD}'"
    follow_as(w, "modern@'127.0.0.1'", f"IDENTIFIED {how}")


def with_tls(w):
    keys = certificates(os.path.join(servers.RUN, "keys"))
    # The data folder is a daemon's home; keys of files owned by the same user are fine.
    w.db.restart(f"--ssl-ca={keys}/ca.pem", f"--ssl-cert={keys}/server.pem", f"--ssl-key={keys}/server.key")
    return keys


def test_tls_with_an_own_authority_is_verified(w):
    keys = with_tls(w)
    follow_as(w, "secure@'127.0.0.1'", f"IDENTIFIED BY '{PASSWORD}' REQUIRE SSL", tls={"ca_file": f"{keys}/ca.pem"})


def test_tls_of_an_unknown_authority_is_refused(w):
    with_tls(w)
    other = certificates(os.path.join(servers.RUN, "other-keys"))
    w.sql("CREATE TABLE thing (id INT PRIMARY KEY)")
    daemon = w.millrace()
    done = daemon.apply(w.definitions({"table": "thing"}, tls={"ca_file": f"{other}/ca.pem"}), ok=None)
    if done.returncode == 0 or "certificate" not in (done.stdout + done.stderr).lower():
        raise Failed(f"exit {done.returncode}: {done.stdout}{done.stderr}")


def in_files_of(daemon, text):
    """The files of the data folder that have this text."""
    folder = os.path.join(daemon.folder, "data")
    found = []
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            with open(path, "rb") as f:
                found += [name] if text.encode() in f.read() else []
    return found


def test_a_literal_password_is_sealed_in_the_store_and_a_lost_key_is_said(w):
    w.sql("CREATE TABLE thing (id INT PRIMARY KEY, a INT)", "INSERT INTO thing VALUES (1, 1)")
    daemon = w.follow(w.definitions({"table": "thing"}, password_file=None, password=PASSWORD), coordination="embedded")  # its key is in the data folder
    definitions = w.definitions({"table": "thing"}, password_file=None, password=PASSWORD)
    for _ in range(2):  # the same password again changes nothing
        if "nothing changes" not in daemon.apply(definitions).stdout:
            raise Failed("the same definitions change something")
        daemon.stop()
        if in_files_of(daemon, PASSWORD):
            raise Failed(f"the password lies in {in_files_of(daemon, PASSWORD)}")
        daemon.start()
        w.sql("UPDATE thing SET a = a + 1")
        w.equal(daemon)
    daemon.stop()
    key = os.path.join(daemon.folder, "data", "secret.key")
    with open(key, encoding="ascii") as f:
        kept = f.read()
    os.remove(key)
    daemon.start()
    servers.wait_until("the topic says that its password was sealed with another key",
                       lambda: "sealed with another key" in str(daemon.json("status")["topics"]))
    w.sql("UPDATE thing SET a = a + 1")
    daemon.apply(definitions)
    w.equal(daemon)
    daemon.stop()
    daemon.write("data/secret.key", kept)
    daemon.start()
    servers.wait_until("the topic says that its password was sealed with another key",
                       lambda: "sealed with another key" in str(daemon.json("status")["topics"]))


ROGUES = [("mysql_native_password", "mysql_clear_password"), ("mysql_clear_password", None), ("mysql_native_password", "dialog"),
          ("dialog", None), ("mysql_native_password", ""), ("caching_sha2_password", None),
          ("mysql_native_password", "caching_sha2_password"), ("sha256_password", None),
          ("mysql_native_password", "sha256_password")]


def test_a_rogue_server_gets_no_password_whatever_log_in_it_asks_for(w):
    w.sql("CREATE TABLE thing (id INT PRIMARY KEY)")
    daemon = w.millrace()
    keys = certificates(os.path.join(servers.RUN, "rogue-keys"))
    for begin, switch in ROGUES:
        server = rogue.Rogue(begin, switch, keys)
        try:
            # An address that is not this machine's own leads here all the same.
            done = daemon.apply(w.definitions({"table": "thing"}, address=f"0.0.0.0:{server.port}", password_file=None,
                                              password="opensesame"), ok=None)
            said = done.stdout + done.stderr
            if done.returncode == 0 or not server.got and begin == "mysql_native_password":
                raise Failed(f"{begin}, {switch}: exit {done.returncode}, it was not led on: {said}")
            if server.knows("opensesame"):
                raise Failed(f"{begin}, {switch}: the server got the password: {server.got}")
            if "without TLS" not in said or "server_public_key_file" not in said:
                raise Failed(f"{begin}, {switch}: {said}")
        finally:
            server.stop()


def test_tls_that_nobody_checks_and_a_key_file_that_is_missing_give_a_rogue_server_no_password(w):
    w.sql("CREATE TABLE thing (id INT PRIMARY KEY)")
    daemon = w.millrace()
    keys = certificates(os.path.join(servers.RUN, "rogue-keys"))
    for begin, switch in ROGUES:
        for more in ({"tls": {"verify": False}}, {"server_public_key_file": "nowhere.pem"}):
            server = rogue.Rogue(begin, switch, keys)
            try:
                done = daemon.apply(w.definitions({"table": "thing"}, address=f"0.0.0.0:{server.port}", password_file=None,
                                                  password="opensesame", **more), ok=None)
                if done.returncode == 0 or server.knows("opensesame"):
                    raise Failed(f"{begin}, {switch}, {more}: exit {done.returncode}, the server got {server.got}")
            finally:
                server.stop()


def test_the_rogue_server_of_these_tests_would_see_a_password(w):
    """On loopback what is encrypted with the server's key may be sent, so there the rogue gets it."""
    w.sql("CREATE TABLE thing (id INT PRIMARY KEY)")
    daemon = w.millrace()
    keys = certificates(os.path.join(servers.RUN, "rogue-keys"))
    for switch in ("caching_sha2_password", "sha256_password"):
        server = rogue.Rogue("mysql_native_password", switch, keys)
        try:
            daemon.apply(w.definitions({"table": "thing"}, address=f"127.0.0.1:{server.port}", password_file=None,
                                       password="opensesame"), ok=None)
            if not server.knows("opensesame"):
                raise Failed(f"{switch}: not the password: {server.got}")
            wrong = os.path.join(keys, "ca.pub")
            with open(wrong, "wb") as f:
                subprocess.run(["openssl", "rsa", "-in", os.path.join(keys, "ca.key"), "-pubout"], stdout=f, check=True,
                               stderr=subprocess.DEVNULL)
            server.got.clear()
            daemon.apply(w.definitions({"table": "thing"}, address=f"0.0.0.0:{server.port}", password_file=None,
                                       password="opensesame", server_public_key_file=wrong), ok=None)
            if not server.got or server.knows("opensesame"):
                raise Failed(f"{switch}, with another key known before: {server.got}")
        finally:
            server.stop()


def test_a_connection_that_leaves_the_machine_without_tls_is_warned_of(w):
    w.sql("CREATE TABLE thing (id INT PRIMARY KEY)")
    daemon = w.millrace()
    done = daemon.apply(w.definitions({"table": "thing"}, address=f"0.0.0.0:{w.db.port}"))
    said = done.stdout + done.stderr
    if "without TLS" not in said or "tls:" not in said:
        raise Failed(f"no warning: {said}")
    done = daemon.apply(w.definitions({"table": "thing"}))
    if "without TLS" in done.stdout + done.stderr:
        raise Failed(f"a warning for loopback: {done.stdout}{done.stderr}")

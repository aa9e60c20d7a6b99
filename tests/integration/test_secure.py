"""The ways to log in, and TLS."""
import os
import subprocess

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

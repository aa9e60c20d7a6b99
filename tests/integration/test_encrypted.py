"""A server that encrypts its log: what it sends is plain, its files are not."""
import json
import os

import servers
from servers import Database, Failed

KEY = "0123456789abcdef" * 4


def write(path, text):
    with open(path, "w") as f:
        f.write(text)


def options_of_mariadb(w):
    """From the plugins' package: keys from a file."""
    plugins = "plugins11" if w.options.server == "mariadb11" else "plugins"
    servers.run_script(os.path.join(servers.REPO, "tools/mysql/server"), "fetch", "--flavour", plugins)
    keys = os.path.join(w.db.folder, "keys")
    write(keys, f"1;{KEY}\n")
    return [f"--plugin-dir={servers.REPO}/tools/cache/{plugins}/usr/lib/mysql/plugin",
            "--plugin-load-add=file_key_management", f"--file-key-management-filename={keys}", "--encrypt-binlog=ON"]


def options_of_mysql(w):
    """A keyring component is named in the data folder, and set up beside its library."""
    plugins = os.path.join(w.db.folder, "plugins")
    os.makedirs(plugins, exist_ok=True)
    library = "component_keyring_file.so"
    os.symlink(os.path.join(servers.REPO, "tools/cache/mysql9/usr/lib/mysql/plugin", library), os.path.join(plugins, library))
    write(os.path.join(plugins, "component_keyring_file.cnf"),
          json.dumps({"path": os.path.join(w.db.folder, "keyring"), "read_only": False}))
    write(os.path.join(w.db.folder, "data", "mysqld.my"), json.dumps({"components": "file://component_keyring_file"}))
    return [f"--plugin-dir={plugins}", "--binlog-encryption=ON"]


def test_an_encrypted_log_is_followed_and_its_files_say_to_read_it_through_the_server(w):
    w.db = w.also(Database(w.options.server, "encrypted"))
    w.db.start()
    w.db.restart(*(options_of_mariadb if w.db.is_mariadb else options_of_mysql)(w))
    w.make_schema()
    daemon, work, connection = w.work_on_shop()
    work.run(connection, 50)
    w.equal(daemon)
    path = os.path.join(w.db.folder, "data", w.db.log_end()[0])
    for command in ("decode", "inspect"):
        for more in ((), ("--from", "5000")):
            said = daemon.command("binlog", command, path, *more, ok=(1,)).stderr
            if os.path.basename(path) not in said or "encrypted" not in said or "--topic" not in said:
                raise Failed(f"binlog {command} {' '.join(more)} of an encrypted file says {said!r}")
    counts = daemon.command("binlog", "decode", "--topic", w.schema, "--format", "none", "--count").stdout
    if "ins=0 " in counts or "ins=" not in counts:
        raise Failed(f"the log that the server sends has {counts!r}")


test_an_encrypted_log_is_followed_and_its_files_say_to_read_it_through_the_server.servers = ("mariadb", "mariadb11", "mysql9")
test_an_encrypted_log_is_followed_and_its_files_say_to_read_it_through_the_server.why = "its package has no keyring"

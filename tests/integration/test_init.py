"""`init`: the first files from a schema, which `apply` accepts as they are and with every relation taken in."""
import os
import re
import shutil
import subprocess
from urllib.parse import quote

import yaml

import chinook
from servers import BINARY, RUN, Failed, free_port, short_socket, wait_until
from world import PASSWORD

RELATION = re.compile(r"^    #   (- \{from: )", re.M)
HARD = [
    "CREATE TABLE `order` (`id` INT PRIMARY KEY, `a.b` INT, `yes` INT, `ü \"x\"` INT, `_id` INT, `null` INT, UNIQUE (`a.b`))",
    "CREATE TABLE `Odd Name's \"one\"` (`it's` INT PRIMARY KEY, `order_id` INT, INDEX (order_id), "
    "FOREIGN KEY (order_id) REFERENCES `order` (id))",
    "CREATE TABLE `orders_v2` (id INT PRIMARY KEY, `a.b` INT, FOREIGN KEY (`a.b`) REFERENCES `order` (`a.b`))",
    "CREATE TABLE `Ärger` (id INT PRIMARY KEY, one_to_one INT UNIQUE NOT NULL, FOREIGN KEY (one_to_one) REFERENCES `order` (id))",
    "CREATE TABLE `日本` (id INT PRIMARY KEY, up INT, FOREIGN KEY (up) REFERENCES `日本` (id))",
    "CREATE TABLE left_one (id INT PRIMARY KEY, right_id INT)",
    "CREATE TABLE right_one (id INT PRIMARY KEY, left_id INT, FOREIGN KEY (left_id) REFERENCES left_one (id))",
    "ALTER TABLE left_one ADD FOREIGN KEY (right_id) REFERENCES right_one (id)",
    "CREATE TABLE pair (a INT, b INT, x INT, y INT, z INT, PRIMARY KEY (a, b))",
    "CREATE TABLE pair_child (id INT PRIMARY KEY, a INT, b INT, FOREIGN KEY (a, b) REFERENCES pair (a, b))",
    "CREATE TABLE friend (a INT NOT NULL, b INT NOT NULL, since TIMESTAMP, PRIMARY KEY (a, b), "
    "FOREIGN KEY (a) REFERENCES left_one (id), FOREIGN KEY (b) REFERENCES left_one (id))",
    "CREATE TABLE no_key (id INT, left_id INT, FOREIGN KEY (left_id) REFERENCES left_one (id))",
    "CREATE TABLE other_key (mail VARCHAR(20) NOT NULL, UNIQUE by_mail (mail))",
    "CREATE TABLE `no` (id INT PRIMARY KEY, geo POINT, doc JSON, bits BIT(9), day DATE)",
    "CREATE VIEW seen AS SELECT * FROM `order`",
]


class Folder:
    """A folder in which somebody types commands."""

    def __init__(self, w):
        self.w = w
        self.path = os.path.join(RUN, "millrace", f"{w.schema}-init")
        shutil.rmtree(self.path, ignore_errors=True)
        os.makedirs(self.path)
        self.port = free_port()
        self.environment = os.environ | {"MILLRACE_LISTEN": f"127.0.0.1:{self.port}", "MYSQL_PWD": PASSWORD,
                                         "MILLRACE_SOCKET": short_socket(self.path)}
        self.url = f"mysql://millrace@127.0.0.1:{w.db.port}/{w.schema}"

    def run(self, *args, ok=0, **environment):
        done = subprocess.run([BINARY, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, cwd=self.path, env=self.environment | environment, timeout=300, check=False)
        if done.returncode != ok:
            raise Failed(f"millrace {' '.join(args)}: exit {done.returncode}, not {ok}\n{done.stdout[-2500:]}{done.stderr[-2500:]}")
        return done

    def init(self, *args, url=None, **more):
        return self.run("init", url or self.url, "--search", self.w.engine.url, *args, **more)

    def refused(self, words, *args, ok=1, url=None, **more):
        """Nothing is written, and the message has these words."""
        before = sorted(os.listdir(self.path))
        done = self.init(*args, url=url, ok=ok, **more)
        if words not in done.stderr or sorted(os.listdir(self.path)) != before:
            raise Failed(f"no {words!r}, or files {os.listdir(self.path)}: {done.stderr}")

    def read(self, name=None):
        with open(os.path.join(self.path, name or f"{self.w.schema}.yaml"), encoding="utf-8") as f:
            return f.read()

    def dry(self, text):
        with open(os.path.join(self.path, "try.yaml"), "w", encoding="utf-8") as f:
            f.write(text)
        return self.run("apply", "-n", "try.yaml")


def all_relations(text):
    return RELATION.sub(r"      \1", text).replace("    # relations:", "    relations:")


def each_relation(text):
    """The text with each relation alone taken in."""
    for match in RELATION.finditer(text):
        head = text.rindex("    # relations:", 0, match.start())
        before = text[:head] + "    relations:" + text[head + len("    # relations:"):match.start()]
        yield before + "      " + text[match.start(1):]


def test_a_database_of_others_is_searched_after_four_commands(w):
    w.load(chinook.sql())
    w.engine.ask("DELETE", "/album_v*", ok=(200, 404))
    f = Folder(w)
    said = f.init().stdout
    wanted = ["millrace run", f"millrace apply {w.schema}.yaml", f"millrace index create {w.schema}.Album --wait"]
    if [line.strip() for line in said.splitlines()[-3:]] != wanted:
        raise Failed(f"the next commands are {said}")
    text = f.read()
    if oct(os.stat(os.path.join(f.path, f"{w.schema}.password")).st_mode & 0o777) != "0o600" or PASSWORD in text:
        raise Failed("the password can be read")
    for line in (f"#   - {{from: ArtistId, table: {w.schema}.Artist, to: ArtistId, as: Artist}}",
                 f"#   - {{from: AlbumId, table: {w.schema}.Track, to: AlbumId, as: Track, many: true, nested: true}}",
                 f"#   - {{from: TrackId, through: {{table: {w.schema}.PlaylistTrack, from: TrackId, to: PlaylistId}}, "
                 f"table: {w.schema}.Playlist, to: PlaylistId, as: Playlist, many: true, nested: true}}",
                 f"#   - {{from: ReportsTo, table: {w.schema}.Employee, to: EmployeeId, as: Employee, max_depth: 1}}"):
        if line not in text:
            raise Failed(f"no {line!r} in {text}")
    whole = all_relations(text)
    for one in (text, whole):
        f.dry(one)
    with open(os.path.join(f.path, f"{w.schema}.yaml"), "w", encoding="utf-8") as file:
        file.write(whole)
    daemon = subprocess.Popen([BINARY, "run"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              cwd=f.path, env=f.environment)
    try:
        wait_until("the daemon answers", lambda: os.path.exists(f.environment["MILLRACE_SOCKET"]), 30)
        f.run(*wanted[1].split()[1:])
        f.run(*wanted[2].split()[1:])
        w.engine.ask("POST", "/album/_refresh")
        hits = w.engine.ask("POST", "/album/_search", {"query": {"nested": {"path": "Track", "query": {
            "term": {"Track.Name": "Go Down"}}}}})["hits"]["hits"]
        if [hit["_source"]["Artist"]["Name"] for hit in hits] != ["AC/DC"]:
            raise Failed(f"the search finds {hits}")
    finally:
        daemon.terminate()
        daemon.wait(60)
        w.engine.ask("DELETE", "/album_v*", ok=(200, 404))


def test_the_first_lines_lead_editors_to_the_schemas_where_they_are_installed(w):
    w.sql("CREATE TABLE a (id INT PRIMARY KEY)")
    f = Folder(w)
    f.init()
    wanted = {"millrace": "millrace", w.schema: "definition"}
    built = os.path.dirname(os.path.abspath(BINARY))
    where = r"/\S+"
    if os.path.exists(os.path.join(built, "Makefile")):
        where = re.escape(subprocess.run(["make", "-s", "--no-print-directory", "-C", built, "--eval", "docdir: ; @echo '$(docdir)'", "docdir"],
                                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, timeout=60, check=True).stdout.strip())
    for name, schema in wanted.items():
        first = f.read(f"{name}.yaml").split("\n")[0]
        if not re.fullmatch(rf"# yaml-language-server: \$schema={where}/{schema}\.schema\.json", first):
            raise Failed(f"{name}.yaml begins with {first!r}")
    f.run("config", "show")
    f.dry(f.read())


def test_hard_names_keys_and_circles_are_accepted_as_they_are_and_with_each_relation(w):
    w.sql(*HARD)
    f = Folder(w)
    said = f.init().stdout
    text = f.read()
    tables = {t["table"].split(".", 1)[1]: t for t in yaml.safe_load(text)["tables"]}
    if set(tables) != {"order", "Odd Name's \"one\"", "orders_v2", "Ärger", "日本", "left_one", "right_one", "pair", "pair_child",
                       "friend", "other_key", "no"}:
        raise Failed(f"the tables are {set(tables)}")
    if tables["other_key"]["key"] != "mail" or "no_key has no primary key" not in text or "#   seen" not in text:
        raise Failed(f"keys and views are not said: {text}")
    if "1 tables without a key" not in said or "1 views" not in said:
        raise Failed(f"what is left out is not said: {said}")
    whole = all_relations(text)
    relations = {name: t.get("relations", []) for name, t in ((t["table"].split(".", 1)[1], t) for t in yaml.safe_load(whole)["tables"])}
    if [r["as"] for r in relations["left_one"]] != ["right", "left_one", "left_one_by_friend", "no_key", "right_one"]:
        raise Failed(f"the relations of left_one are {relations['left_one']}")
    if "many" in next(r for r in relations["order"] if r["as"] == "Ärger"):
        raise Failed(f"a unique key leads to many: {relations['order']}")
    for one in (text, whole, *each_relation(text)):
        f.dry(one)


def test_what_init_cannot_do_is_said_and_nothing_is_written(w):
    f = Folder(w)
    f.refused("has no table that this user can see")
    w.sql("CREATE TABLE a (id INT PRIMARY KEY)", "CREATE VIEW v AS SELECT 1 AS one")
    f.refused("did you mean a?", "--table", "A")
    f.refused("v is a view", "--table", "v")
    for schema in ("mysql", "Information_Schema", "sys"):
        f.refused("the server's own database", url=f.url.replace(w.schema, schema), ok=2)
    for wrong in (f.url.replace("mysql:", "http:"), f.url.replace("millrace@", ""), f.url.rsplit("/", 1)[0], f.url + "?tls=1"):
        f.refused("write mysql://USER@HOST:PORT/DATABASE", url=wrong, ok=2)
    f.refused("Access denied", MYSQL_PWD="wrong")
    f.refused("GRANT SELECT ON `nowhere`.* TO 'millrace'@'127.0.0.1'", url=f.url.replace(w.schema, "nowhere"))
    f.refused("missing.password", "--password-file", "missing.password")
    f.refused("nowhere/millrace.yaml", "-C", "nowhere")


def test_no_file_is_replaced(w):
    w.sql("CREATE TABLE a (id INT PRIMARY KEY)")
    f = Folder(w)
    for name in ("millrace.yaml", f"{w.schema}.yaml", f"{w.schema}.password"):
        path = os.path.join(f.path, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write("mine")
        f.refused(f"{name} exists already")
        if f.read(name) != "mine":
            raise Failed(f"{name} is replaced")
        os.unlink(path)
    done = f.init("--table", "a", url=f.url.replace("millrace@", f"millrace:{quote(PASSWORD)}@"))
    if "can see a password on a command line" not in done.stderr:
        raise Failed(f"no warning: {done.stderr}")
    if f.read(f"{w.schema}.password") != PASSWORD + "\n":
        raise Failed("the password file has another password")
    f.dry(f.read())


def test_a_configuration_that_is_there_stays_and_says_where_the_engine_is(w):
    w.sql("CREATE TABLE a (id INT PRIMARY KEY)")
    f = Folder(w)
    path = os.path.join(f.path, "millrace.yaml")
    mine = f"data: mine\nsearch: {{url: ['{w.engine.url}']}}\n"
    for text, words in (("data: mine\nserch: {}\n", "serch"), (mine + "index: {keep_for: never}\n", "keep_for")):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        done = f.run("init", f.url, ok=1)
        if words not in done.stderr or os.listdir(f.path) != ["millrace.yaml"]:
            raise Failed(f"no {words!r}, or files {os.listdir(f.path)}: {done.stderr}")
    with open(path, "w", encoding="utf-8") as file:
        file.write(mine)
    said = yaml.safe_load(f.run("init", f.url, "-o", "json").stdout)
    written = sorted(os.path.basename(name) for name in said["files"])
    if f.read("millrace.yaml") != mine or written != sorted([f"{w.schema}.yaml", f"{w.schema}.password"]):
        raise Failed(f"the configuration is {f.read('millrace.yaml')}, and these are written: {written}")
    if not said["ok"] or [c["status"] for c in said["items"] if c["id"] == "search.reach"] != ["ok"] or "millrace run" in said["next"]:
        raise Failed(f"init says {said}")
    f.run("apply", f"{w.schema}.yaml")
    if not os.path.exists(os.path.join(f.path, "mine", "millrace.db")):
        raise Failed("the definitions are not in the store of the configuration")


def test_files_go_to_another_folder_with_a_password_file_and_a_socket(w):
    w.sql("CREATE TABLE a (id INT PRIMARY KEY)", "CREATE TABLE b (id INT PRIMARY KEY)")
    f = Folder(w)
    os.mkdir(os.path.join(f.path, "to"))
    secret = os.path.join(f.path, "secret")
    with open(os.open(secret, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="utf-8") as file:
        file.write(PASSWORD + "\n")
    said = f.init("-C", "to", "--data", "../elsewhere", "--password-file", "secret", "--table", "b", MYSQL_PWD="wrong", ok=0)
    definitions, configuration = (yaml.safe_load(f.read(f"to/{name}.yaml")) for name in (w.schema, "millrace"))
    if definitions["topics"][0]["password_file"] != secret or configuration["data"] != "../elsewhere":
        raise Failed(f"the files say {definitions} and {configuration}")
    if [t["table"] for t in definitions["tables"]] != [f"{w.schema}.b"] or sorted(os.listdir(f.path)) != ["secret", "to"]:
        raise Failed(f"the tables are {definitions['tables']}")
    if "next, in to:" not in said.stdout:
        raise Failed(f"the folder is not said: {said.stdout}")
    f.run("apply", "-n", f"to/{w.schema}.yaml", "--config", "to/millrace.yaml")
    (folder, name), = w.db.sql("SELECT @@datadir, @@socket")
    user = "local_mill@localhost"
    w.db.sql(f"DROP USER IF EXISTS {user}", f"CREATE USER {user} IDENTIFIED BY '{PASSWORD}'",
             f"GRANT REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO {user}", f"GRANT SELECT ON {w.schema}.* TO {user}")
    try:
        f.init(url=f"mysql://local_mill@/{w.schema}?socket={quote(os.path.join(folder, name))}")
    finally:
        w.db.sql(f"DROP USER {user}")
    if yaml.safe_load(f.read())["topics"][0]["address"] != os.path.join(folder, name):
        raise Failed(f"the socket is not the address: {f.read()}")


def test_a_user_without_rights_is_told_the_grants(w):
    w.sql("CREATE TABLE a (id INT PRIMARY KEY)", "CREATE TABLE b (id INT PRIMARY KEY)")
    user = "novice@'127.0.0.1'"
    w.db.sql(f"DROP USER IF EXISTS {user}", f"CREATE USER {user} IDENTIFIED BY '{PASSWORD}'")
    f = Folder(w)
    f.url = f.url.replace("millrace@", "novice@")
    try:
        f.refused(f"GRANT SELECT ON `{w.schema}`.* TO 'novice'@'127.0.0.1'")
        w.db.sql(f"GRANT SELECT ON {w.schema}.a TO {user}", f"GRANT INSERT ON {w.schema}.b TO {user}")
        said = f.init(ok=1).stdout
        for words in ("GRANT REPLICATION SLAVE ON *.* TO 'novice'@'127.0.0.1'", "1 tables that the user may not read",
                      "once the failed checks are repaired"):
            if words not in said:
                raise Failed(f"no {words!r} in {said}")
        if "may not read all of b" not in f.read():
            raise Failed(f"b is not left out: {f.read()}")
    finally:
        w.db.sql(f"DROP USER {user}")


def test_a_server_that_logs_statements_is_told_as_the_doctor_tells_it(w):
    w.sql("CREATE TABLE a (id INT PRIMARY KEY)")
    daemon, f = w.millrace(), Folder(w)
    daemon.apply(w.definitions({"table": "a"}))
    wait_until("it follows the log, or its own failure would be among what the doctor says",
               lambda: daemon.json("status", ok=(0, 1))["topics"][0]["state"] == "running")
    before = w.db.sql("SELECT @@GLOBAL.binlog_format")[0][0]
    w.db.sql("SET GLOBAL binlog_format = STATEMENT")
    try:
        said = f.init(ok=1).stdout
        wanted = [line.strip() for line in daemon.command("doctor", ok=(1,)).stdout.splitlines() if "binlog_format" in line]
    finally:
        w.db.sql(f"SET GLOBAL binlog_format = {before}")
    if len(wanted) < 2 or any(line not in said for line in wanted):
        raise Failed(f"the doctor says {wanted}, init:\n{said}")
    if "once the failed checks are repaired" not in said:
        raise Failed(f"the next commands do not wait for the repair: {said}")
    f.read()


def test_two_thousand_tables_take_a_few_statements(w):
    script = ["SET sql_log_bin = 0;"] + [f"CREATE TABLE t{i} (id INT PRIMARY KEY) ENGINE MyISAM;" for i in range(1900)]
    script += ["CREATE TABLE u0 (id INT PRIMARY KEY);"]
    script += [f"CREATE TABLE u{i} (id INT PRIMARY KEY, up INT, INDEX (up), FOREIGN KEY (up) REFERENCES u{i // 50} (id));"
               for i in range(1, 100)]
    w.load("\n".join(script))
    f = Folder(w)
    before = int(w.db.sql("SHOW GLOBAL STATUS LIKE 'Questions'")[0][1])
    f.init()
    questions = int(w.db.sql("SHOW GLOBAL STATUS LIKE 'Questions'")[0][1]) - before
    tables = yaml.safe_load(f.read())["tables"]
    if len(tables) != 2000 or questions > 100:
        raise Failed(f"{len(tables)} tables took {questions} statements")

"""A schema as people have them, with keys in a circle, triggers, procedures, and statements on several tables at once."""
import os

from workload import text

STAMP = "changed TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP"
TABLES = (
    "author (id SMALLINT UNSIGNED PRIMARY KEY, name VARCHAR(40) NOT NULL)",
    "book (id SMALLINT UNSIGNED PRIMARY KEY, title VARCHAR(60) NOT NULL, about TEXT, printed YEAR, price DECIMAL(5,2) NOT NULL DEFAULT 9.99,"
    f" `group` ENUM('A','B-1','C'), extras SET('Map','Index Page','Notes'), {STAMP})",
    "book_author (author SMALLINT UNSIGNED, book SMALLINT UNSIGNED, PRIMARY KEY (author, book), KEY (book),"
    " FOREIGN KEY (author) REFERENCES author (id) ON DELETE CASCADE, FOREIGN KEY (book) REFERENCES book (id) ON DELETE CASCADE ON UPDATE CASCADE)",
    "book_text (book SMALLINT UNSIGNED PRIMARY KEY, line VARCHAR(200) NOT NULL)",
    # each house has a head, each clerk a house
    f"house (id TINYINT UNSIGNED PRIMARY KEY, name VARCHAR(20), head TINYINT UNSIGNED NOT NULL, {STAMP}, UNIQUE (head),"
    " FOREIGN KEY (head) REFERENCES clerk (id) ON UPDATE CASCADE)",
    "clerk (id TINYINT UNSIGNED PRIMARY KEY, name VARCHAR(20), face BLOB, house TINYINT UNSIGNED NOT NULL, KEY (house),"
    " FOREIGN KEY (house) REFERENCES house (id) ON UPDATE CASCADE)",
    "reader (id SMALLINT UNSIGNED PRIMARY KEY, first VARCHAR(20), last VARCHAR(20), active BOOLEAN NOT NULL DEFAULT TRUE, house TINYINT UNSIGNED, KEY (house))",
    "copy (id MEDIUMINT UNSIGNED PRIMARY KEY, book SMALLINT UNSIGNED NOT NULL, house TINYINT UNSIGNED NOT NULL, KEY (book), KEY (house, book))",
    "loan (id INT AUTO_INCREMENT PRIMARY KEY, copy MEDIUMINT UNSIGNED NOT NULL, reader SMALLINT UNSIGNED NOT NULL, lent DATETIME NOT NULL, back DATETIME,"
    " KEY (copy), KEY (reader))",
    "fine (id INT AUTO_INCREMENT PRIMARY KEY, loan INT, reader SMALLINT UNSIGNED NOT NULL, amount DECIMAL(5,2) NOT NULL, KEY (reader), KEY (loan),"
    " FOREIGN KEY (loan) REFERENCES loan (id) ON DELETE SET NULL)")
PROGRAMS = (
    "CREATE TRIGGER book_new AFTER INSERT ON book FOR EACH ROW INSERT INTO book_text VALUES (NEW.id, CONCAT(NEW.title, ': ', COALESCE(NEW.about, '-')))",
    "CREATE TRIGGER book_set AFTER UPDATE ON book FOR EACH ROW UPDATE book_text SET book = NEW.id, line = CONCAT(NEW.title, ': ', COALESCE(NEW.about, '-'))"
    " WHERE book = OLD.id",
    "CREATE TRIGGER book_gone AFTER DELETE ON book FOR EACH ROW DELETE FROM book_text WHERE book = OLD.id",
    """CREATE PROCEDURE lend(IN which INT, IN whom INT) BEGIN
         DECLARE EXIT HANDLER FOR SQLEXCEPTION ROLLBACK;
         START TRANSACTION;
         INSERT INTO loan (copy, reader, lent) VALUES (which, whom, '2026-05-01 10:00:00');
         SAVEPOINT lent;
         INSERT INTO fine (loan, reader, amount) VALUES (LAST_INSERT_ID(), whom, 1.5);
         IF whom % 3 = 0 THEN ROLLBACK TO lent; END IF;
         UPDATE reader SET active = NOT active WHERE id = whom;
         IF whom % 5 = 0 THEN SIGNAL SQLSTATE '45000'; END IF;
         COMMIT;
       END""")


def relation(outer, table, inner, name, **more):
    return {"from": outer, "table": table, "to": inner, "as": name} | more


def many(outer, table, inner, name, **more):
    return relation(outer, table, inner, name, many=True, **more)


def tables():
    def head():
        return relation("head", "clerk", "id", "head", columns=["id", "name"])

    return [
        {"table": "book", "columns": ["*", {"name": "title", "type": "text", "keyword": True, "copy_to": ["all"]}, {"name": "kind", "value": "book"}],
         "mapping": {"properties": {"all": {"type": "text"}}}, "relations": [
             relation("id", "book_text", "book", "text", values="line"),
             many("id", "author", "id", "authors", through={"table": "book_author", "from": "book", "to": "author"}, nested=True, refresh="area",
                  order_by="name DESC"),
             many("id", "copy", "book", "copies", columns=["id"], relations=[
                 relation("house", "house", "id", "house", columns=["id", "name"], relations=[head()])]),
             many("id", "loan", "copy", "out", through={"table": "copy", "from": "book", "to": "id"}, where="back IS NULL", order_by="lent DESC", limit=2,
                  columns=["lent"], relations=[relation("reader", "reader", "id", "reader", columns=["first", "active"])])]},
        {"table": "reader", "soft_delete": {"column": "active", "deleted": 0},
         "columns": ["id", {"name": "name", "transform": [{"kind": "join", "columns": ["first", "last"], "by": " "}]}], "relations": [
             relation("house", "house", "id", "house", columns=["id", "name"], relations=[head(), many("id", "clerk", "house", "clerks", values="name")]),
             many("id", "fine", "reader", "fines", columns=["amount"], relations=[relation("loan", "loan", "id", "loan", columns=["id", "lent"])]),
             many("id", "loan", "reader", "loans", columns=["lent", "back"], relations=[
                 relation("copy", "copy", "id", "copy", columns=[], relations=[relation("book", "book", "id", "book", columns=["title", "group", "extras"])])])]},
        {"table": "author", "filter": "name <> 'Nobody'", "relations": [
            many("id", "book", "id", "books", through={"table": "book_author", "from": "author", "to": "book"}, columns=["id", "group"]),
            many("id", "book", "id", "groups", through={"table": "book_author", "from": "author", "to": "book"}, distinct=True, where="price > 1",
                 values="group")]},
        {"table": "clerk", "relations": [relation("house", "house", "id", "place", columns=["name"], relations=[head()])]},
    ]


def rows(rng):
    names = [text(name) for name in ("Ann", "O'Hara", "Jörg", "美咲", "Nobody", "Żaneta", "")]
    name = lambda: rng.choice(names)
    yield "SET foreign_key_checks = 0;"
    yield "INSERT INTO house (id, name, head) VALUES (1, 'North', 1), (2, 'South', 2);"
    yield "INSERT INTO clerk VALUES (1, 'Mia', X'00FF', 1), (2, 'Ole', NULL, 2), (3, 'Pia', X'', 2);"
    for i in range(1, 31):
        yield f"INSERT INTO author VALUES ({i}, {name()});"
        yield (f"INSERT INTO book (id, title, about, printed, `group`, extras) VALUES ({i}, 'Book {i}', {rng.choice(['NULL', name()])},"
               f" {rng.choice(['NULL', '0', '1999'])}, {rng.choice(['NULL', 1, 2, 3])}, {rng.choice(['NULL', 0, 5, 7])});")
        yield f"INSERT INTO reader VALUES ({i}, {name()}, {rng.choice(['NULL', name()])}, {rng.randrange(2)}, {rng.choice(['NULL', 1, 2])});"
    for i in range(1, 91):
        yield f"INSERT IGNORE INTO book_author VALUES ({rng.randrange(1, 31)}, {rng.randrange(1, 31)});"
        yield f"INSERT INTO copy VALUES ({i}, {rng.randrange(1, 31)}, {rng.randrange(1, 3)});"
        yield (f"INSERT INTO loan VALUES ({i}, {rng.randrange(1, 91)}, {rng.randrange(1, 31)}, '2026-04-{i % 30 + 1:02} 08:00:00',"
               f" {rng.choice(['NULL', '20260501000000'])});")
        yield f"INSERT INTO fine VALUES ({i}, {rng.choice(['NULL', i])}, {rng.randrange(1, 31)}, {rng.randrange(9999) / 100});"


def steps(w):
    """Lists of statements, each in one session."""
    file = os.path.join(w.daemons[0].folder, "copies")
    with open(file, "w") as f:
        f.write("".join(f"{i}\t{i % 40 + 1}\t{i % 2 + 1}\n" for i in range(80, 120)))
    yield [f"CALL lend({i + 3}, {i})" for i in range(1, 21)]
    yield ["UPDATE reader r JOIN loan l ON l.reader = r.id JOIN copy c ON c.id = l.copy SET r.first = 'Many', l.back = '2026-06-01', c.house = 3 - c.house WHERE r.id < 8",
           "DELETE f, l FROM loan l LEFT JOIN fine f ON f.loan = l.id WHERE l.reader IN (9, 10)", "DELETE FROM loan WHERE id % 7 = 0"]
    yield ["UPDATE book SET title = CONCAT(title, '!'), extras = 'Map,Notes' WHERE id < 5", "UPDATE book SET id = 900 WHERE id = 29",
           "INSERT INTO book (id, title) VALUES (3, 'x'), (40, 'New') ON DUPLICATE KEY UPDATE about = 'twice', `group` = 'B-1'",
           "REPLACE INTO author VALUES (1, 'Nobody'), (31, 'New')", "INSERT INTO book_author VALUES (31, 40), (31, 3)"]
    yield ["UPDATE house SET head = 3 WHERE id = 2", "UPDATE clerk SET house = 1 WHERE id = 2", "UPDATE clerk SET name = 'Ola'", "UPDATE house SET id = 7 WHERE id = 1"]
    yield ["BEGIN", "UPDATE author SET name = 'Tx'", "SAVEPOINT s", "DELETE FROM book_author", "DELETE FROM copy", "ROLLBACK TO s",
           "DELETE FROM author WHERE id IN (4, 5)", "COMMIT", "BEGIN", "DELETE FROM reader", "ROLLBACK"]
    yield ["SET GLOBAL local_infile = 1", f"LOAD DATA LOCAL INFILE '{file}' REPLACE INTO TABLE copy (id, book, house)"]
    yield ["DELETE FROM book WHERE id IN (2, 3, 900)"]


def test_triggers_procedures_and_statements_on_several_tables_are_followed(w):
    w.sql("SET foreign_key_checks = 0", *(f"CREATE TABLE {table}" for table in TABLES), *PROGRAMS)
    w.load("\n".join(rows(w.rng)))
    daemon = w.follow(w.definitions(*tables()))
    w.equal(daemon)
    for statements in steps(w):
        with w.db.connect(w.schema, local_infile=True) as connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
        w.equal(daemon)

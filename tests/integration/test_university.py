"""A second schema with a dozen tables, and what its documents must be by SQL that was written by hand for it."""
from servers import Failed, wait_until
from workload import text

TABLES = (
    "faculty (code CHAR(3) PRIMARY KEY, name VARCHAR(20))",
    "department (code CHAR(4) PRIMARY KEY, faculty CHAR(3), name VARCHAR(20), head INT, KEY (faculty), KEY (head))",
    "staff (id INT PRIMARY KEY, dept CHAR(4), name VARCHAR(20), boss INT, KEY (dept), KEY (boss))",
    "title (staff INT, since DATE, till DATE, title VARCHAR(20), PRIMARY KEY (staff, since))",
    "salary (staff INT, since DATE, amount DECIMAL(9,2), PRIMARY KEY (staff, since))",
    "course (dept CHAR(4), no SMALLINT UNSIGNED, title VARCHAR(20), retired TINYINT, PRIMARY KEY (dept, no))",
    "requires (dept CHAR(4), no SMALLINT UNSIGNED, needs_dept CHAR(4), needs_no SMALLINT UNSIGNED, "
    "PRIMARY KEY (dept, no, needs_dept, needs_no), KEY (needs_dept, needs_no))",
    "building (id INT PRIMARY KEY, name VARCHAR(20))",
    "room (building INT, no INT, seats INT, PRIMARY KEY (building, no))",
    "section (id BIGINT PRIMARY KEY, dept CHAR(4), no SMALLINT UNSIGNED, year SMALLINT, building INT, room INT, "
    "KEY (dept, no), KEY (building, room))",
    "teaching (section BIGINT, staff INT, role ENUM('lecturer','tutor'), PRIMARY KEY (section, staff, role), KEY (staff))",
    "student (id INT PRIMARY KEY, name VARCHAR(20), advisor INT, KEY (advisor))",
    "enrolment (section BIGINT, student INT, grade TINYINT, PRIMARY KEY (section, student), KEY (student))")
NOW = "9999-01-01"


def relation(outer, table, inner, name, **more):
    return {"from": outer, "table": table, "to": inner, "as": name} | more


def many(outer, table, inner, name, **more):
    return relation(outer, table, inner, name, many=True, **more)


def title_now():
    return relation("id", "title", "staff", "title", where=f"till = '{NOW}'", order_by="since DESC", values="title")


def courses(name, here, there, depth):
    return many(["dept", "no"], "course", ["dept", "no"], name, through={"table": "requires", "from": here, "to": there},
                where="retired = 0", columns=["dept", "no", "title"], max_depth=depth)


def tables():
    return [
        {"table": "course", "columns": ["dept", "no", {"name": "title", "type": "text"}], "relations": [
            relation("dept", "department", "code", "department", columns=["name"], relations=[
                relation("faculty", "faculty", "code", "faculty", values="name"),
                relation("head", "staff", "id", "head", columns=["name"], relations=[title_now()])]),
            courses("needs", ["dept", "no"], ["needs_dept", "needs_no"], 2),
            courses("leads_to", ["needs_dept", "needs_no"], ["dept", "no"], 1),
            many(["dept", "no"], "section", ["dept", "no"], "sections", nested=True, order_by="year DESC", columns=["id", "year"], relations=[
                relation(["building", "room"], "room", ["building", "no"], "room", columns=["no", "seats"], relations=[
                    relation("building", "building", "id", "building", values="name")]),
                many("id", "teaching", "section", "by", columns=["role"], relations=[
                    relation("staff", "staff", "id", "who", columns=["name"], relations=[title_now()])]),
                many("id", "enrolment", "section", "best", where="grade > 0", order_by="grade", limit=2, values="grade")])]},
        {"table": "student", "columns": ["id", "name"], "relations": [
            relation("advisor", "staff", "id", "advisor", columns=["name"], relations=[
                relation("dept", "department", "code", "department", values="name")]),
            many("id", "enrolment", "student", "took", columns=["grade"], relations=[
                relation("section", "section", "id", "section", columns=["year"], relations=[
                    relation(["dept", "no"], "course", ["dept", "no"], "course", values="title")])])]},
        {"table": "staff", "columns": ["id", "name"], "relations": [
            relation("boss", "staff", "id", "boss", max_depth=3, columns=["name"]),
            many("id", "staff", "boss", "team", values="name", order_by="name"),
            many("id", "title", "staff", "titles", order_by="since DESC", limit=2, values="title"),
            relation("id", "salary", "staff", "salary", order_by="since DESC", values="amount"),
            many("id", "section", "id", "years", through={"table": "teaching", "from": "staff", "to": "section"}, distinct=True,
                 values="year", order_by="year")]},
    ]


class ByHand:
    """The documents by plain SELECTs."""

    def __init__(self, w):
        self.w = w

    def rows(self, statement, *values):
        with self.cursor() as cursor:
            cursor.execute(statement, values)
            return cursor.fetchall()

    def cursor(self):
        return self.connection.cursor()

    def one(self, statement, *values):
        rows = self.rows(statement + " LIMIT 1", *values)
        return rows[0] if rows else None

    def value(self, statement, *values):
        row = self.one(statement, *values)
        return row and row[0]

    def values(self, statement, *values):
        return [row[0] for row in self.rows(statement, *values)]

    def title(self, staff):
        return self.value("SELECT title FROM title WHERE staff = %s AND till = %s ORDER BY since DESC", staff, NOW)

    def named(self, staff):
        name = self.one("SELECT name FROM staff WHERE id = %s", staff)
        return name and {"name": name[0], "title": self.title(staff)}

    def department(self, code):
        row = self.one("SELECT d.name, f.name, d.head FROM department d LEFT JOIN faculty f ON f.code = d.faculty WHERE d.code = %s", code)
        return row and {"name": row[0], "faculty": row[1], "head": self.named(row[2])}

    def courses(self, statement, dept, no):
        return [dict(zip(("dept", "no", "title"), row)) for row in self.rows(
            f"SELECT c.dept, c.no, c.title FROM course c JOIN requires r ON {statement} WHERE c.retired = 0 ORDER BY c.dept, c.no", dept, no)]

    def needs(self, dept, no, depth):
        found = self.courses("r.needs_dept = c.dept AND r.needs_no = c.no AND r.dept = %s AND r.no = %s", dept, no)
        return [c | ({"needs": self.needs(c["dept"], c["no"], depth - 1)} if depth > 1 else {}) for c in found]

    def section(self, _id, year, building, room):
        place = self.one("SELECT r.no, r.seats, b.name FROM room r LEFT JOIN building b ON b.id = r.building "
                         "WHERE r.building = %s AND r.no = %s", building, room)
        return {"id": _id, "year": year, "room": place and dict(zip(("no", "seats", "building"), place)),
                "by": [{"role": role, "who": self.named(staff)} for staff, role in self.rows(
                    "SELECT staff, role FROM teaching WHERE section = %s ORDER BY staff, role", _id)],
                "best": self.values("SELECT grade FROM enrolment WHERE section = %s AND grade > 0 ORDER BY grade LIMIT 2", _id)}

    def course(self, dept, no, title):
        return {"dept": dept, "no": no, "title": title, "department": self.department(dept),
                "needs": self.needs(dept, no, 2),
                "leads_to": self.courses("r.dept = c.dept AND r.no = c.no AND r.needs_dept = %s AND r.needs_no = %s", dept, no),
                "sections": [self.section(*row) for row in self.rows(
                    "SELECT id, year, building, room FROM section WHERE dept = %s AND no = %s ORDER BY year DESC, id", dept, no)]}

    def took(self, grade, section, year, title):
        return {"grade": grade, "section": section and {"year": year, "course": title}}

    def student(self, _id, name, advisor):
        who = self.one("SELECT s.name, d.name FROM staff s LEFT JOIN department d ON d.code = s.dept WHERE s.id = %s", advisor)
        return {"id": _id, "name": name, "advisor": who and {"name": who[0], "department": who[1]}, "took": [self.took(*row) for row in self.rows(
            "SELECT e.grade, s.id, s.year, c.title FROM enrolment e LEFT JOIN section s ON s.id = e.section "
            "LEFT JOIN course c ON c.dept = s.dept AND c.no = s.no WHERE e.student = %s ORDER BY e.section", _id)]}

    def bosses(self, boss, depth):
        row = self.one("SELECT name, boss FROM staff WHERE id = %s", boss)
        return row and {"name": row[0]} | ({"boss": self.bosses(row[1], depth - 1)} if depth > 1 else {})

    def staff(self, _id, name, boss):
        salary = self.value("SELECT amount FROM salary WHERE staff = %s ORDER BY since DESC", _id)
        return {"id": _id, "name": name, "boss": self.bosses(boss, 3),
                "team": self.values("SELECT name FROM staff WHERE boss = %s ORDER BY name, id", _id),
                "titles": self.values("SELECT title FROM title WHERE staff = %s ORDER BY since DESC LIMIT 2", _id),
                "salary": None if salary is None else float(salary),
                "years": self.values("SELECT DISTINCT s.year FROM section s JOIN teaching t ON t.section = s.id WHERE t.staff = %s "
                                     "ORDER BY s.year", _id)}

    def documents(self):
        """{table: {_id: document}}, of one snapshot."""
        self.connection = self.w.db.connect(self.w.schema)
        with self.connection:
            return {"course": {f"{row[0]},{row[1]}": self.course(*row) for row in self.rows("SELECT dept, no, title FROM course")},
                    "student": {str(row[0]): self.student(*row) for row in self.rows("SELECT id, name, advisor FROM student")},
                    "staff": {str(row[0]): self.staff(*row) for row in self.rows("SELECT id, name, boss FROM staff")}}


def spread(value):
    """Keys and types as they are compared: a number is what it is worth."""
    if isinstance(value, dict):
        return {name: spread(part) for name, part in value.items() if name != "_millrace"}
    if isinstance(value, list):
        return [spread(part) for part in value]
    return float(value) if isinstance(value, (int, float)) or hasattr(value, "as_tuple") else value


def wait_equal(w, daemon, seconds=60):
    expected = spread(ByHand(w).documents())

    def difference():
        daemon.check_alive()
        for table, documents in expected.items():
            w.engine.ask("POST", f"/{w.index(table)}/_refresh")
            found = {_id: spread(source) for _id, source, _ in w.engine.documents(w.index(table))}
            for _id in sorted(set(found) | set(documents)):
                if found.get(_id) != documents.get(_id):
                    return f"{table} {_id} is\n{found.get(_id)}\ninstead of\n{documents.get(_id)}"
        return None

    last = [None]

    def equal():
        last[0] = difference()
        return last[0] is None

    wait_until(lambda: last[0] or "documents are equal", equal, seconds, 0.2)


class Work:
    """Random rows, and random changes of them; keys and what rows are joined by as well."""

    def __init__(self, rng):
        self.rng = rng

    def dept(self):
        return self.rng.choice(["'MATH'", "'PHYS'", "'ARTS'", "'LAW'", "'BIO'"])

    def no(self):
        return self.rng.randrange(1, 7)

    def course(self):
        return f"{self.dept()}, {self.no()}"

    def person(self):
        return self.rng.randrange(1, 16)

    def section(self):
        return self.rng.randrange(1, 30)

    def student(self):
        return self.rng.randrange(1, 25)

    def maybe(self, value):
        return "NULL" if self.rng.random() < 0.15 else value

    def name(self):
        return text(self.rng.choice(["Zoë", "O'Hara", "李", "Ng", "a,b"]) + str(self.rng.randrange(40)))

    def day(self):
        return f"'20{self.rng.randrange(10, 25)}-0{self.rng.randrange(1, 10)}-01'"

    def put(self):
        rng = self.rng
        return rng.choice([
            lambda: f"REPLACE INTO faculty VALUES ({rng.choice(['1', '2', '3'])}, {self.name()})",
            lambda: f"REPLACE INTO department VALUES ({self.dept()}, {rng.randrange(1, 5)}, {self.name()}, {self.maybe(self.person())})",
            lambda: f"REPLACE INTO staff VALUES ({self.person()}, {self.maybe(self.dept())}, {self.name()}, {self.maybe(self.person())})",
            lambda: f"REPLACE INTO title VALUES ({self.person()}, {self.day()}, {rng.choice([self.day(), repr(NOW)])}, {self.name()})",
            lambda: f"REPLACE INTO salary VALUES ({self.person()}, {self.day()}, {rng.randrange(10 ** 6) / 100})",
            lambda: f"REPLACE INTO course VALUES ({self.course()}, {self.name()}, {rng.choice([0, 0, 1])})",
            lambda: f"REPLACE INTO requires VALUES ({self.course()}, {self.course()})",
            lambda: f"REPLACE INTO building VALUES ({rng.randrange(1, 4)}, {self.name()})",
            lambda: f"REPLACE INTO room VALUES ({rng.randrange(1, 4)}, {rng.randrange(1, 6)}, {rng.randrange(200)})",
            lambda: f"REPLACE INTO section VALUES ({self.section()}, {self.course()}, {rng.randrange(2018, 2024)}, "
                    f"{self.maybe(rng.randrange(1, 4))}, {rng.randrange(1, 6)})",
            lambda: f"REPLACE INTO teaching VALUES ({self.section()}, {self.person()}, {rng.choice([1, 2])})",
            lambda: f"REPLACE INTO student VALUES ({self.student()}, {self.name()}, {self.maybe(self.person())})",
            lambda: f"REPLACE INTO enrolment VALUES ({self.section()}, {self.student()}, {self.maybe(rng.randrange(-1, 6))})"])()

    def change(self):
        rng = self.rng
        return rng.choice([
            lambda: f"UPDATE IGNORE department SET code = {self.dept()}, faculty = {rng.randrange(1, 5)} WHERE code = {self.dept()}",
            lambda: f"UPDATE department SET head = {self.person()}",
            lambda: f"UPDATE IGNORE staff SET id = {self.person()} WHERE id = {self.person()}",
            lambda: f"UPDATE staff SET boss = {self.maybe(self.person())} WHERE dept = {self.dept()}",
            lambda: f"UPDATE title SET till = {rng.choice([self.day(), repr(NOW)])} WHERE staff = {self.person()}",
            lambda: f"UPDATE IGNORE title SET since = {self.day()} WHERE staff = {self.person()} LIMIT 1",
            lambda: f"UPDATE IGNORE salary SET staff = {self.person()} WHERE staff = {self.person()}",
            lambda: f"UPDATE IGNORE course SET dept = {self.dept()}, no = {self.no()} WHERE dept = {self.dept()} AND no = {self.no()}",
            lambda: f"UPDATE course SET retired = 1 - retired WHERE no = {self.no()}",
            lambda: f"UPDATE IGNORE requires SET needs_no = {self.no()} WHERE dept = {self.dept()}",
            lambda: f"UPDATE IGNORE building SET id = {rng.randrange(1, 4)} WHERE id = {rng.randrange(1, 4)}",
            lambda: f"UPDATE IGNORE room SET building = {rng.randrange(1, 4)}, seats = seats + 1 WHERE no = {rng.randrange(1, 6)}",
            lambda: f"UPDATE section SET dept = {self.dept()}, room = {rng.randrange(1, 6)} WHERE id = {self.section()}",
            lambda: f"UPDATE IGNORE section SET id = {self.section()} WHERE id = {self.section()}",
            lambda: f"UPDATE IGNORE teaching SET section = {self.section()} WHERE staff = {self.person()}",
            lambda: f"UPDATE enrolment SET grade = {self.maybe(rng.randrange(-1, 6))} WHERE section = {self.section()}",
            lambda: f"UPDATE IGNORE enrolment SET student = {self.student()} WHERE section = {self.section()}",
            lambda: f"UPDATE student SET advisor = {self.maybe(self.person())} WHERE id > {self.student()}",
            lambda: f"DELETE FROM {rng.choice(TABLES).split()[0]} LIMIT {rng.randrange(1, 3)}"])()

    def run(self, connection, transactions, new=0.7):
        with connection.cursor() as cursor:
            cursor.execute("SET sql_mode = ''")
            for _ in range(transactions):
                cursor.execute("BEGIN")
                for _ in range(self.rng.choice([1, 1, 3, 7])):
                    cursor.execute(self.put() if self.rng.random() < new else self.change())
                cursor.execute("COMMIT" if self.rng.random() < 0.93 else "ROLLBACK")


def in_areas(w, definitions):
    for table in definitions["tables"]:
        for thing in w.walk(table):
            if "to" in thing and "from" in thing and thing.get("as") and w.rng.random() < 0.7:
                thing["refresh"] = "area"
    return definitions


def test_documents_of_a_university_are_what_sql_by_hand_says_under_work_builds_and_kills(w):
    w.sql(*(f"CREATE TABLE {table} CHARSET utf8mb4" for table in TABLES))
    work, connection = Work(w.rng), w.db.connect(w.schema)
    work.run(connection, 150, new=1)
    daemon = w.follow(w.definitions(*tables()))
    wait_equal(w, daemon)
    full = ByHand(w).documents()
    if not any(c["needs"] for c in full["course"].values()) or not any(s["took"] for s in full["student"].values()):
        raise Failed("the random rows make no documents to speak of")
    for round_ in range(3):
        work.run(connection, 80)
        if round_ == 1:
            daemon.apply(in_areas(w, w.definitions(*tables())))
        daemon.command("index", "create", f"{w.schema}.{w.rng.choice(['course', 'student', 'staff'])}", "--no-wait", ok=None)
        work.run(connection, 60)
        if round_ < 2:
            daemon.kill()
            work.run(connection, 30)
            daemon.start()
        wait_equal(w, daemon)

"""Columns of every type that a server has, with extreme and random values, and how each is shown."""
import base64
import decimal
import json
import struct

FULL, MINIMAL, NO_LOG = "FULL", "MINIMAL", "NO_LOG"  # values of binlog_row_metadata


class Column:
    """A column: its SQL type, its values as SQL, and how they are shown where the log has this metadata:
    what is selected, and what decode makes of that."""

    def __init__(self, name, sql, values, shown, same):
        self.name, self.sql, self.values, self.shown = name, sql, values, shown
        self.same = same or (lambda a, b: a == b)
        self.change = values  # what an UPDATE sets it to

    def select(self, metadata):
        return self.shown[metadata][0].format(self.name)

    def expect(self, metadata, raw):
        return None if raw is None else self.shown[metadata][1](raw)


def quoted(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def as_int(raw):
    return int(raw)


def as_text(raw):
    return raw


def as_decimal(raw):
    return decimal.Decimal(raw)


def from_hex(raw):
    """Bytes as decode prints them: text if they are UTF-8."""
    data = bytes.fromhex(raw)
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}


def hex_text(raw):
    return bytes.fromhex(raw).decode()


def from_fixed_hex(raw):
    """Of bytes that the log has without the zeros at their end, and nobody knows how many these were."""
    return from_hex(bytes.fromhex(raw).rstrip(b"\0").hex())


def signed(bits):
    """An integer of which the log does not say that it has no sign."""
    return lambda raw: int(raw) - (int(raw) >> bits - 1 << bits)


def label_number(raw):
    """0 is no label: what an invalid value became."""
    return int(raw) or ""


def same_float(a, b):
    return struct.pack("<f", float(a)) == struct.pack("<f", float(b))


def same_double(a, b):
    return struct.pack("<d", float(a)) == struct.pack("<d", float(b))


def same_json(a, b):
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same_json(a[k], b[k]) for k in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same_json, a, b))
    if isinstance(a, decimal.Decimal) and isinstance(b, decimal.Decimal):
        return a == b or same_double(a, b)
    return type(a) is type(b) and a == b


def same_shape(a, b):
    if isinstance(a, dict) and isinstance(b, dict):
        return a["type"] == b["type"] and same_shape(a.get("coordinates", a.get("geometries")),
                                                     b.get("coordinates", b.get("geometries")))
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same_shape, a, b))
    return abs(float(a) - float(b)) < 1e-9


def parse(text):
    return json.loads(text, parse_float=decimal.Decimal, parse_int=decimal.Decimal)


class Types:
    def __init__(self, rng, mariadb, version):
        self.rng, self.mariadb, self.version = rng, mariadb, version
        self.columns = []
        for part in (self.integers, self.numbers, self.temporals, self.strings, self.charsets, self.labels,
                     self.documents, self.geometries, self.special):
            part()

    def add(self, sql, values, select="{}", expect=as_text, same=None, minimal=None, no_log=None):
        """minimal, no_log: (select, expect) where the log has less metadata, if it makes a difference."""
        minimal = minimal or (select, expect)
        shown = {FULL: (select, expect), MINIMAL: minimal, NO_LOG: no_log or minimal}
        self.columns.append(Column(f"c{len(self.columns)}", sql, values, shown, same))

    def integers(self):
        for sql, bits in (("TINYINT", 8), ("SMALLINT", 16), ("MEDIUMINT", 24), ("INT", 32), ("BIGINT", 64)):
            low, high = -(1 << bits - 1), (1 << bits - 1) - 1
            self.add(sql, lambda low=low, high=high: str(self.pick([low, high, 0, -1, 1],
                     lambda: self.rng.randint(low, high) >> self.rng.randint(0, 20))), expect=as_int)
            self.add(sql + " UNSIGNED", lambda bits=bits: str(self.pick([0, (1 << bits) - 1, 1 << bits - 1],
                     lambda: self.rng.getrandbits(bits))), expect=as_int, no_log=("{}", signed(bits)))
        self.add("BOOLEAN", lambda: self.rng.choice("01"), expect=as_int)
        self.add("YEAR", lambda: str(self.pick([0, 1901, 2155], lambda: self.rng.randint(1901, 2155))), expect=as_int)
        for bits in (1, 7, 8, 9, 17, 33, 63, 64):
            self.add(f"BIT({bits})", lambda bits=bits: f"b'{self.pick([0, (1 << bits) - 1], lambda: self.rng.getrandbits(bits)):b}'",
                     select="{}+0", expect=as_int)

    def pick(self, extremes, other):
        return self.rng.choice(extremes) if self.rng.random() < 0.3 else other()

    def decimal(self, precision, scale):
        digits = "".join(self.rng.choice("0123456789") for _ in range(self.rng.randint(0, precision)))
        digits = self.pick(["9" * precision, "0", "1", "9" * scale, "1" + "0" * (precision - 1)], lambda: digits)
        digits = digits.rjust(scale + 1, "0")
        whole, part = digits[:len(digits) - scale], digits[len(digits) - scale:]
        return self.rng.choice(["", "-"]) + whole[-max(1, precision - scale):] .lstrip("0").rjust(1, "0") * (precision > scale) \
            + ("0" if precision == scale else "") + ("." + part if scale else "")

    def numbers(self):
        for precision, scale in ((1, 0), (1, 1), (5, 2), (9, 0), (9, 9), (10, 9), (18, 9), (18, 0), (19, 18), (20, 10),
                                 (27, 13), (30, 30), (38, 20), (65, 0), (65, 30), (64, 1)):
            self.add(f"DECIMAL({precision},{scale})", lambda p=precision, s=scale: self.decimal(p, s), expect=as_decimal)
        floats = ["0", "-0.0", "1", "1.1", "3.4028234e38", "-3.4028234e38", "1.1754944e-38", "16777217", "0.1", "1e-45"]
        self.add("FLOAT", lambda: self.pick(floats, lambda: repr(struct.unpack("<f", struct.pack("<f", self.rng.gauss(0, 1) * 10 ** self.rng.randint(-30, 30)))[0])),
                 select="CAST({}*1e0 AS CHAR)", expect=as_decimal, same=same_float)
        doubles = ["0", "-0.0", "1", "0.1", "1.7976931348623157e308", "2.2250738585072014e-308", "5e-324", "9007199254740993", "1e22", "1e23"]
        self.add("DOUBLE", lambda: self.pick(doubles, lambda: repr(self.rng.gauss(0, 1) * 10 ** self.rng.randint(-300, 300))),
                 expect=as_decimal, same=same_double)

    def clock(self, fsp):
        text = f"{self.rng.randint(0, 23):02}:{self.rng.randint(0, 59):02}:{self.rng.randint(0, 59):02}"
        return text + ("." + "".join(self.rng.choice("0123456789") for _ in range(fsp)) if fsp else "")

    def date(self, low=0, high=9999):
        return f"{self.rng.randint(low, high):04}-{self.rng.randint(1, 12):02}-{self.rng.randint(1, 28):02}"

    def temporals(self):
        dates = ["0000-00-00", "1000-01-01", "9999-12-31", "2024-00-00", "2024-02-00", "2000-02-29"]
        self.add("DATE", lambda: quoted(self.pick(dates, self.date)))
        for fsp in range(7):
            part = "." + "9" * fsp if fsp else ""
            zero = "." + "0" * fsp if fsp else ""
            self.add(f"DATETIME({fsp})", lambda part=part, fsp=fsp: quoted(self.pick(
                ["0000-00-00 00:00:00", "9999-12-31 23:59:59" + part, "1000-01-01 00:00:00", "2024-01-00 10:00:00" + part],
                lambda: self.date() + " " + self.clock(fsp))), expect=lambda raw: raw.replace(" ", "T"))
            high = "2106-02-07 06:28:15" if self.mariadb and self.version >= (11, 5) else "2038-01-19 03:14:07"
            self.add(f"TIMESTAMP({fsp}) NULL", lambda part=part, fsp=fsp, high=high: quoted(self.pick(
                ["0000-00-00 00:00:00", "1970-01-01 00:00:01", high + part],
                lambda: self.date(1971, 2037) + " " + self.clock(fsp))), expect=lambda raw: raw.replace(" ", "T") + "Z")
            self.add(f"TIME({fsp})", lambda part=part, zero=zero, fsp=fsp: quoted(self.pick(
                ["838:59:59" + zero, "-838:59:59" + zero, "00:00:00", "-00:00:01" + part, "-00:00:00" + part, "00:00:00" + part],
                lambda: self.rng.choice(["", "-"]) + str(self.rng.randint(0, 800)) + self.clock(fsp)[2:])))

    def words(self, alphabet, most):
        return "".join(self.rng.choice(alphabet) for _ in range(self.rng.choice([0, 1, 2, most, self.rng.randint(0, most)])))

    def strings(self):
        unicode = "aZ09 \t\n\"\\'/<>&\x01\x1f\x7fäß€日本語🎁\u2028"
        text = lambda most: (lambda: "x'" + self.words(unicode, most).encode().hex() + "'")
        for sql, most in (("CHAR(10)", 10), ("CHAR(255)", 255), ("VARCHAR(20)", 20), ("VARCHAR(63)", 63), ("VARCHAR(64)", 64),
                          ("VARCHAR(300)", 300), ("TINYTEXT", 60), ("TEXT", 300), ("MEDIUMTEXT", 500), ("LONGTEXT", 700)):
            self.add(sql + " CHARACTER SET utf8mb4", text(most), select="HEX({})", expect=hex_text)
        data = lambda most: (lambda: "x'" + self.rng.choice([b"", b"\0", b"abc", b"\0\0ab\0\0", bytes(self.rng.getrandbits(8)
                             for _ in range(self.rng.randint(0, most)))])[:most].hex() + "'")
        for sql, most in (("BINARY(1)", 1), ("BINARY(16)", 16), ("BINARY(255)", 255), ("VARBINARY(10)", 10), ("VARBINARY(400)", 400),
                          ("TINYBLOB", 200), ("BLOB", 400), ("MEDIUMBLOB", 500), ("LONGBLOB", 600)):
            self.add(sql, data(most), select="HEX({})", expect=from_hex,
                     no_log=("HEX({})", from_fixed_hex) if sql.startswith("BINARY") else None)

    def charsets(self):
        alphabets = {
            "latin1": "aé€ß", "latin2": "aął", "ascii": "abc~", "cp850": "é░", "cp1250": "ąž", "cp1251": "Жя№", "cp1256": "عé",
            "cp1257": "ąž", "cp852": "ąž", "cp866": "Жя", "dec8": "éß", "hp8": "éß", "koi8r": "Жя", "koi8u": "Їя", "greek": "αΩ",
            "hebrew": "אש", "latin5": "ğş", "latin7": "ąž", "macce": "ąž", "macroman": "éß", "swe7": "aÅÄ", "tis620": "กข",
            "armscii8": "Աբ", "geostd8": "აბ", "keybcs2": "čž", "big5": "你好a", "gb2312": "你好a", "gbk": "你好a\u4e02",
            "sjis": "日本a\\ｱ", "cp932": "日本①a", "ujis": "日本a丂ｱ", "eucjpms": "日本①a", "euckr": "한국a", "ucs2": "aé日", "utf16": "a日🎁",
            "utf16le": "a日🎁", "utf32": "a日🎁", "utf8mb3": "aé日",
        }
        if not self.mariadb:
            alphabets["gb18030"] = "你好a🎁\u0080丂"
        for charset, alphabet in alphabets.items():
            self.add(f"VARCHAR(40) CHARACTER SET {charset}", lambda a=alphabet: "_utf8mb4 x'" + self.words(a, 40).encode().hex() + "'",
                     select="HEX(CONVERT({} USING utf8mb4))", expect=hex_text, no_log=("HEX({})", from_hex))
        for charset in ("latin1", "gbk", "utf16", "ucs2"):
            self.add(f"CHAR(20) CHARACTER SET {charset}", lambda a=alphabets[charset]: "_utf8mb4 x'" + self.words(a, 20).encode().hex() + "'",
                     select="HEX(CONVERT({} USING utf8mb4))", expect=hex_text, no_log=("HEX({})", from_hex))
            self.add(f"TEXT CHARACTER SET {charset}", lambda a=alphabets[charset]: "_utf8mb4 x'" + self.words(a, 200).encode().hex() + "'",
                     select="HEX(CONVERT({} USING utf8mb4))", expect=hex_text, no_log=("HEX({})", from_hex))

    def labels(self):
        number = ("{}+0", label_number)
        few = ["red", "grün", "it's", "a,b", "日本"]
        self.add("ENUM(" + ",".join(map(quoted, few)) + ")", lambda: self.rng.choice([quoted(x) for x in few] + ["'no such label'"]), minimal=number)
        self.add("ENUM(" + ",".join(map(quoted, few)) + ") CHARACTER SET utf8mb3", lambda: quoted(self.rng.choice(few)), minimal=number)
        latin = ["é", "ü", "plain"]
        self.add("ENUM(" + ",".join(map(quoted, latin)) + ") CHARACTER SET latin1", lambda: quoted(self.rng.choice(latin)),
                 select="HEX(CONVERT({} USING utf8mb4))", expect=hex_text, minimal=number)
        many = [f"label {i}" for i in range(300)]
        self.add("ENUM(" + ",".join(map(quoted, many)) + ")", lambda: quoted(self.rng.choice(many)), minimal=number)
        split = lambda raw: raw.split(",") if raw else []
        for n in (1, 8, 9, 24, 33, 64):
            members = [f"m{i}" for i in range(n)]
            self.add("SET(" + ",".join(map(quoted, members)) + ")", lambda members=members: quoted(",".join(
                m for m in members if self.rng.random() < self.rng.choice([0, 0.2, 1]))), expect=split, minimal=("CAST({} AS UNSIGNED)", as_int))

    def document(self, depth=0):
        kind = self.rng.randint(0, 9 if depth < 4 else 6)
        if kind == 7:
            return [self.document(depth + 1) for _ in range(self.rng.choice([0, 1, 3, 40]))]
        if kind >= 8:
            return {self.words("abkeyé\"\\日", 12): self.document(depth + 1) for _ in range(self.rng.choice([0, 1, 3, 30]))}
        return self.rng.choice([None, True, False, 0, 1, -1, 32767, 32768, -32769, 65535, 2 ** 31, -2 ** 31 - 1, 2 ** 32, 2 ** 53 + 1, 2 ** 63 - 1,
                                -2 ** 63, 2 ** 64 - 1, 0.1, -2.5, 1e15, 1e-7, 1.5e300, 123456.789, "", "text", "\t\n\x01\"\\é🎁", "x" * 130, "y" * 20000 if depth < 2 else "z"])

    def documents(self):
        self.add("JSON", lambda: "CONVERT(x'" + json.dumps(self.document(), ensure_ascii=False).encode().hex() + "' USING utf8mb4)",
                 expect=(lambda raw: raw) if self.mariadb else parse, same=None if self.mariadb else same_json)
        if not self.mariadb:
            opaque = ["CAST('2024-02-29' AS DATE)", "CAST('-12:34:56.789' AS TIME(6))", "CAST('2024-02-29 01:02:03.000004' AS DATETIME(6))",
                      "CAST(-123456789.123456789 AS DECIMAL(30,9))", "x'00ff'", "CAST(1.5e0 AS DOUBLE)", "CAST(1e0 AS DOUBLE)", "b'1010'",
                      "CAST(0 AS DECIMAL(5,2))", "18446744073709551615", "CAST('0000-00-00' AS DATE)"]
            self.add("JSON", lambda: "JSON_ARRAY(" + ",".join(self.rng.sample(opaque, self.rng.randint(0, 6))) + ")", expect=parse, same=same_json)

            for _ in range(3):
                self.add("JSON", self.object, expect=parse, same=same_json)
                self.columns[-1].change = lambda name=self.columns[-1].name: self.json_change(name)

    def object(self):
        return ("JSON_OBJECT('a',1,'b',JSON_ARRAY(1,'two',JSON_OBJECT('x',JSON_ARRAY(1,2,3))),'c d',JSON_OBJECT('é\"q',NULL,'long',REPEAT('l',50)),"
                f"'n{self.rng.randint(0, 99)}',{self.rng.randint(0, 99)})")

    def json_change(self, name):
        """A nest of the functions whose effect MySQL logs as changes."""
        expression = name
        paths = ["$.a", "$.b", "$.b[0]", "$.b[1]", "$.b[2].x[1]", "$.b[2].x[0]", "$.b[7]", '$."c d"', '$."c d"."é\\"q"', '$."c d".long', "$.new", "$.e.f",
                 "$.b[2].y", '$."another new key, sorted last"', "$.b[last]", "$.b[last-1]", "$.a[0]", "$.a[last]", "$[0].a"]
        for _ in range(self.rng.randint(1, 4)):
            function = self.rng.choice(["JSON_SET", "JSON_SET", "JSON_REPLACE", "JSON_REMOVE"])
            path = quoted(self.rng.choice(paths)).replace("\\\\\\\\", "\\\\")
            value = self.rng.choice(["7", "'short'", "REPEAT('long',30)", "JSON_ARRAY(1,JSON_OBJECT('k','v'))", "NULL", "1.5e0", "JSON_OBJECT()", "CAST('2024-01-01' AS DATE)"])
            expression = f"{function}({expression},{path}" + ("" if function == "JSON_REMOVE" else "," + value) + ")"
        return expression

    def geometries(self):
        def point():
            return f"{self.rng.uniform(-180, 180):.6f} {self.rng.uniform(-90, 90):.6f}"

        def ring():
            x, y, s = self.rng.uniform(-80, 80), self.rng.uniform(-80, 80), self.rng.uniform(0.1, 5)
            return f"({x:.3f} {y:.3f},{x + s:.3f} {y:.3f},{x + s:.3f} {y + s:.3f},{x:.3f} {y:.3f})"

        def shape():
            points = ",".join(point() for _ in range(self.rng.randint(2, 5)))
            return self.rng.choice([
                f"POINT({point()})", f"LINESTRING({points})", f"POLYGON({ring()})", f"MULTIPOINT({points})",
                f"MULTILINESTRING(({points}),({points}))", f"MULTIPOLYGON(({ring()}),({ring()}))",
                f"GEOMETRYCOLLECTION(POINT({point()}),LINESTRING({points}))"])
        self.add("POINT", lambda: f"ST_GeomFromText('POINT({point()})')", select="ST_AsGeoJSON({}, 15)", expect=parse, same=same_shape)
        self.add("GEOMETRY", lambda: f"ST_GeomFromText('{shape()}')", select="ST_AsGeoJSON({}, 15)", expect=parse, same=same_shape)
        if not self.mariadb:  # latitude first in text, longitude first in storage and in GeoJSON
            self.add("POINT SRID 4326", lambda: f"ST_GeomFromText('POINT({self.rng.uniform(-90, 90):.6f} {self.rng.uniform(-180, 180):.6f})', 4326)",
                     select="ST_AsGeoJSON({}, 15)", expect=parse, same=same_shape)

    def special(self):
        if self.mariadb:
            # The log does not say that these are more than bytes: the schema does, which decode has not.
            address = lambda n: "x'" + self.rng.choice([b"\0" * n, b"\xff" * n, b"\x0a" + b"\0" * (n - 1), self.rng.randbytes(n)]).hex() + "'"
            if self.version >= (10, 7):
                self.add("UUID", lambda: address(16), select="HEX({})", expect=from_hex, no_log=("HEX({})", from_fixed_hex))
            self.add("INET6", lambda: address(16), select="HEX({})", expect=from_hex, no_log=("HEX({})", from_fixed_hex))
            if self.version >= (10, 10):
                self.add("INET4", lambda: address(4), select="HEX({})", expect=from_hex, no_log=("HEX({})", from_fixed_hex))
            long = lambda: "x'" + (self.words("abc é", 9) * self.rng.choice([0, 1, 100])).encode().hex() + "'"
            for sql in ("VARCHAR(1000) COMPRESSED CHARACTER SET utf8mb4", "TEXT COMPRESSED CHARACTER SET utf8mb4",
                        "LONGTEXT COMPRESSED CHARACTER SET utf8mb4"):
                self.add(sql, long, select="HEX({})", expect=hex_text)
            for sql in ("VARBINARY(2000) COMPRESSED", "BLOB COMPRESSED"):
                self.add(sql, long, select="HEX({})", expect=from_hex)
            if self.version >= (11, 7):
                self.add("VECTOR(3)", lambda: "x'" + struct.pack("<3f", *(self.rng.uniform(-1, 1) for _ in range(3))).hex() + "'",
                         select="HEX({})", expect=from_hex)
        elif self.version >= (9, 0):
            floats = lambda raw: [struct.unpack("<f", bytes.fromhex(raw)[i:i + 4])[0] for i in range(0, len(raw) // 2, 4)]
            self.add("VECTOR(5)", lambda: "x'" + struct.pack("<5f", *(self.rng.uniform(-1, 1) for _ in range(5))).hex() + "'",
                     select="HEX({})", expect=floats, same=lambda a, b: len(a) == len(b) and all(map(same_float, a, b)))

"""A database that others made: documents over all its tables, under work, builds and kills."""
import chinook
from servers import Failed
from workload import text


def one(column, table, key, name, **more):
    return {"from": column, "table": table, "to": key, "as": name} | more


def many(key, table, column, name, **more):
    return one(key, table, column, name, many=True, **more)


def through_playlists(column, table, key, name, **more):
    return {"from": column, "through": {"table": "PlaylistTrack", "from": column, "to": key}, "table": table, "to": key,
            "as": name, "many": True} | more


def track(*columns):
    """What is sung, by whom: a relation below whatever has a TrackId."""
    return one("TrackId", "Track", "TrackId", "track", columns=[*columns], relations=[
        one("AlbumId", "Album", "AlbumId", "album", columns=["Title"], relations=[
            one("ArtistId", "Artist", "ArtistId", "artist", values="Name")]),
        one("GenreId", "Genre", "GenreId", "genre", values="Name"),
        one("MediaTypeId", "MediaType", "MediaTypeId", "media", columns=["Name"])])


def boss():
    return one("ReportsTo", "Employee", "EmployeeId", "boss", max_depth=2, columns=["FirstName", "LastName"])


def tables():
    return [
        {"table": "Invoice", "index": "invoice", "columns": ["InvoiceId", {"name": "InvoiceDate", "as": "date"}, "Total"], "relations": [
            one("CustomerId", "Customer", "CustomerId", "customer", columns=["FirstName", "LastName", "Country"], relations=[
                one("SupportRepId", "Employee", "EmployeeId", "support", columns=["LastName"], relations=[boss()])]),
            many("InvoiceId", "InvoiceLine", "InvoiceId", "lines", nested=True, relations=[track("Name", "Milliseconds")])]},
        {"table": "Track", "index": "track", "filter": "Milliseconds > 300000", "relations": [
            *track()["relations"],
            through_playlists("TrackId", "Playlist", "PlaylistId", "playlists", values="Name", distinct=True, order_by="Name DESC"),
            many("TrackId", "InvoiceLine", "TrackId", "sold", columns=["Quantity"], relations=[
                one("InvoiceId", "Invoice", "InvoiceId", "invoice", columns=["InvoiceDate"], relations=[
                    one("CustomerId", "Customer", "CustomerId", "customer", values="Country")])])]},
        {"table": "Artist", "index": "artist", "relations": [
            many("ArtistId", "Album", "ArtistId", "albums", nested=True, columns=["Title"], relations=[
                many("AlbumId", "Track", "AlbumId", "tracks", order_by="Milliseconds DESC", limit=5, columns=["Name"], relations=[
                    one("GenreId", "Genre", "GenreId", "genre", values="Name")])])]},
        {"table": "Playlist", "index": "playlist", "relations": [
            through_playlists("PlaylistId", "Track", "TrackId", "tracks", where="Milliseconds < 150000", columns=["Name", "Composer"])]},
        {"table": "Employee", "index": "employee", "columns": ["*", {"name": "Email", "transform": [{"kind": "mask", "salt": "pepper"}]}],
         "relations": [boss(), many("EmployeeId", "Employee", "ReportsTo", "staff", values="LastName"),
                       many("EmployeeId", "Customer", "SupportRepId", "customers", columns=["CustomerId"], relations=[
                           many("CustomerId", "Invoice", "CustomerId", "totals", values="Total")])]},
    ]


class Shop:
    """Random changes of all tables, keys and foreign keys too."""

    def __init__(self, rng):
        self.rng, self.line = rng, 10_000

    def track(self):
        return self.rng.randrange(1, 3510)

    def invoice(self):
        return self.rng.randrange(1, 420)

    def name(self):
        return text(self.rng.choice(["Größe", "it's", "日本", "%", "", "back\\slash", "Na na"]) + str(self.rng.randrange(9)))

    def new_line(self):
        self.line += 1
        return f"REPLACE INTO InvoiceLine VALUES ({self.line}, {self.invoice()}, {self.track()}, 0.99, {self.rng.randrange(9)})"

    def statement(self):
        rng, nr = self.rng, self.rng.randrange(1, 26)
        return rng.choice([
            self.new_line, self.new_line,
            lambda: f"UPDATE InvoiceLine SET InvoiceId = {self.invoice()} WHERE InvoiceLineId = {rng.randrange(1, 2300)}",
            lambda: f"DELETE FROM InvoiceLine WHERE InvoiceLineId = {rng.randrange(1, 2300)}",
            lambda: f"UPDATE Invoice SET CustomerId = {rng.randrange(1, 62)}, Total = {rng.randrange(5000) / 100} WHERE InvoiceId = {self.invoice()}",
            lambda: f"DELETE FROM Invoice WHERE InvoiceId = {self.invoice()}",
            lambda: f"UPDATE Customer SET SupportRepId = {rng.choice(['NULL', 3, 4, 5])}, Country = {self.name()} WHERE CustomerId = {rng.randrange(1, 60)}",
            lambda: f"UPDATE Employee SET ReportsTo = {rng.choice(['NULL', 1, 2, 6])} WHERE EmployeeId = {rng.randrange(2, 9)}",
            lambda: f"UPDATE Employee SET LastName = {self.name()} WHERE EmployeeId = {rng.randrange(1, 9)}",
            lambda: f"UPDATE Genre SET Name = {self.name()} WHERE GenreId = {nr}",
            lambda: f"UPDATE MediaType SET Name = {self.name()} WHERE MediaTypeId = {rng.randrange(3, 6)}",
            lambda: f"UPDATE Artist SET Name = {self.name()} WHERE ArtistId = {rng.randrange(1, 276)}",
            lambda: f"UPDATE IGNORE Artist SET ArtistId = {rng.randrange(1, 290)} WHERE ArtistId = {rng.randrange(1, 290)}",
            lambda: f"UPDATE Album SET ArtistId = {rng.randrange(1, 276)} WHERE AlbumId = {rng.randrange(1, 348)}",
            lambda: f"UPDATE Track SET AlbumId = {rng.randrange(1, 348)}, GenreId = {nr} WHERE TrackId = {self.track()}",
            lambda: f"UPDATE Track SET Milliseconds = {rng.randrange(600000)} WHERE TrackId BETWEEN {self.track()} AND {self.track()} LIMIT 20",
            lambda: f"UPDATE Track SET Composer = {rng.choice(['NULL', self.name()])} WHERE TrackId = {self.track()}",
            lambda: f"DELETE FROM Track WHERE TrackId = {self.track()}",
            lambda: f"REPLACE INTO PlaylistTrack VALUES ({rng.randrange(1, 19)}, {self.track()})",
            lambda: f"UPDATE IGNORE PlaylistTrack SET PlaylistId = {rng.randrange(1, 19)} WHERE TrackId = {self.track()}",
            lambda: f"DELETE FROM PlaylistTrack WHERE TrackId = {self.track()}",
            lambda: f"UPDATE Playlist SET Name = {self.name()} WHERE PlaylistId = {rng.randrange(1, 19)}"])()

    def run(self, connection, transactions):
        with connection.cursor() as cursor:
            cursor.execute("SET foreign_key_checks = 0, sql_mode = ''")
            for _ in range(transactions):
                cursor.execute("BEGIN")
                for _ in range(self.rng.choice([1, 1, 2, 6])):
                    cursor.execute(self.statement())
                cursor.execute("COMMIT" if self.rng.random() < 0.95 else "ROLLBACK")


def followed(w):
    w.load(chinook.sql())
    definitions = tables()
    for table in definitions:
        table["index"] = w.index(table["index"])
    return w.follow(w.definitions(*definitions))


def test_a_database_of_others_is_right_under_work_builds_and_kills(w):
    daemon = followed(w)
    w.equal(daemon, seconds=60)
    found = w.engine.get(w.index("invoice"), 1)
    if found["lines"][0]["track"]["album"]["artist"] != "Accept" or found["customer"]["support"]["boss"]["LastName"] != "Edwards":
        raise Failed(f"the first invoice is {found}")
    work, connection = Shop(w.rng), w.db.connect(w.schema)
    for name in ("Track", "Artist"):
        work.run(connection, 60)
        daemon.command("index", "create", f"{w.schema}.{name}", "--no-wait", ok=None)
        work.run(connection, 60)
        daemon.kill()
        work.run(connection, 30)
        daemon.start()
    work.run(connection, 60)
    w.equal(daemon, seconds=120)

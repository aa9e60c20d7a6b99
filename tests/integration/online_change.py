"""What tools for online schema changes do to a table while it is written to: played by their SQL, or by the tool itself."""
import os
import subprocess
import threading

from servers import Failed, wait_until

CHUNK = 50


def copy_rows(w, table, copy, columns):
    """Chunk by chunk in the order of the key, as both tools do."""
    last = w.sql(f"SELECT COALESCE(MAX(id), 0) FROM {table}")[0][0]
    for start in range(0, last + 1, CHUNK):
        w.sql(f"INSERT IGNORE INTO {copy} ({columns}) SELECT {columns} FROM {table} FORCE INDEX (PRIMARY)"
              f" WHERE id > {start} AND id <= {start + CHUNK}")


def is_waiting(w, statement):
    return w.sql("SELECT COUNT(*) FROM information_schema.processlist WHERE state LIKE 'Waiting for table metadata%'"
                 f" AND info LIKE '{statement}%'")[0][0] > 0


def catch_up(w, copy, columns, rows):
    """The copy gets these rows, and no others."""
    kept = ", ".join(str(row[0]) for row in rows) or "NULL"
    w.sql(f"DELETE FROM {copy} WHERE id NOT IN ({kept})")
    for start in range(0, len(rows), CHUNK):
        values = ", ".join(f"({', '.join(map(str, row))})" for row in rows[start:start + CHUNK])
        w.sql(f"INSERT INTO {copy} ({columns}) VALUES {values} ON DUPLICATE KEY UPDATE "
              + ", ".join(f"{c} = VALUES({c})" for c in columns.split(", ")))


def gh_ost(w, table, alter, columns="id, a", two_steps=False):
    """The copy gets the rows by chunks and what was changed meanwhile at the end, in place of gh-ost's own
    reading of the binlog; then its cut-over, with a lock that a second session's RENAME waits for."""
    w.sql(f"CREATE TABLE _{table}_ghc (id INT PRIMARY KEY, hint VARCHAR(64))",
          f"INSERT INTO _{table}_ghc VALUES (1, 'state')", f"CREATE TABLE _{table}_gho LIKE {table}",
          f"ALTER TABLE _{table}_gho {alter}")
    copy_rows(w, table, f"_{table}_gho", columns)
    w.sql(f"CREATE TABLE _{table}_del (id INT PRIMARY KEY)")
    rename = ([f"RENAME TABLE {table} TO _{table}_del", f"RENAME TABLE _{table}_gho TO {table}"] if two_steps else
              [f"RENAME TABLE {table} TO _{table}_del, _{table}_gho TO {table}"])
    locker = w.db.connect(w.schema)
    with locker.cursor() as cursor:
        cursor.execute(f"LOCK TABLES {table} WRITE, _{table}_del WRITE")
        cursor.execute(f"SELECT {columns} FROM {table} ORDER BY id")
        catch_up(w, f"_{table}_gho", columns, cursor.fetchall())
        renaming = threading.Thread(target=w.sql, args=rename)
        renaming.start()
        wait_until("the RENAME waits for the old table's name", lambda: is_waiting(w, "RENAME TABLE"))
        cursor.execute(f"DROP TABLE _{table}_del")
        # Now it waits for the table, and is the next to have it.
        wait_until("the RENAME waits for the table", lambda: all(is_waiting(w, "RENAME TABLE") for _ in range(5)))
        cursor.execute("UNLOCK TABLES")
    renaming.join()
    locker.close()
    w.sql(f"DROP TABLE _{table}_del", f"DROP TABLE _{table}_ghc")


def pt_osc(w, table, alter, columns="id, a"):
    """pt-online-schema-change: triggers keep the copy in step while it is filled."""
    names = columns.split(", ")
    new = ", ".join(f"NEW.{c}" for c in names)
    replace = f"REPLACE INTO _{table}_new ({columns}) VALUES ({new})"
    w.sql(f"CREATE TABLE _{table}_new LIKE {table}", f"ALTER TABLE _{table}_new {alter}",
          f"CREATE TRIGGER pt_osc_{table}_del AFTER DELETE ON {table} FOR EACH ROW"
          f" DELETE IGNORE FROM _{table}_new WHERE id <=> OLD.id",
          f"CREATE TRIGGER pt_osc_{table}_upd AFTER UPDATE ON {table} FOR EACH ROW BEGIN"
          f" DELETE IGNORE FROM _{table}_new WHERE NOT (OLD.id <=> NEW.id) AND id <=> OLD.id; {replace}; END",
          f"CREATE TRIGGER pt_osc_{table}_ins AFTER INSERT ON {table} FOR EACH ROW {replace}")
    copy_rows(w, table, f"_{table}_new", columns)
    w.sql(f"RENAME TABLE {table} TO _{table}_old, _{table}_new TO {table}", f"DROP TABLE IF EXISTS _{table}_old",
          *(f"DROP TRIGGER IF EXISTS pt_osc_{table}_{kind}" for kind in ("del", "upd", "ins")))


def real_pt_osc(w, table, alter):
    """Debian's percona-toolkit; without looking for replicas, of which there are none."""
    done = subprocess.run(["pt-online-schema-change", "--execute", "--no-version-check", "--recursion-method=none",
                           "--defaults-file", os.path.join(w.db.folder, "root.cnf"), "--chunk-size", str(CHUNK),
                           "--charset", "utf8mb4", "--alter", alter, f"D={w.schema},t={table}"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        raise Failed(f"pt-online-schema-change: exit {done.returncode}\n{done.stdout[-2000:]}")

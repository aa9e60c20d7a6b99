"""What a definition would make is shown before it is applied."""
import os

import yaml
from servers import Failed


def follow(w):
    w.sql("CREATE TABLE author (id INT PRIMARY KEY, name VARCHAR(40))", "INSERT INTO author VALUES (7, 'Ada')",
          "CREATE TABLE book (id INT PRIMARY KEY, author INT, title VARCHAR(40))", "INSERT INTO book VALUES (1, 7, 'Notes')")
    return w.follow(w.definitions({"table": "book", "columns": ["id", "title"]}))


def draft(daemon, w, **more):
    """The name of a file of definitions with one more relation, and what else is given."""
    definitions = yaml.safe_load(daemon.command("export").stdout)
    definitions["tables"][0] |= {"relations": [{"from": "author", "table": f"{w.schema}.author", "to": "id", "as": "author",
                                                "columns": ["name"]}]} | more
    return daemon.write("draft.yaml", yaml.safe_dump(definitions))


def document(daemon, *args):
    return daemon.json("explain", *args)["document"]


def expect(what, found, expected):
    if found != expected:
        raise Failed(f"{what} is {found}, and not {expected}")


def test_explain_and_mapping_show_what_files_would_make_and_store_nothing(w):
    daemon = follow(w)
    before, table = daemon.command("export").stdout, f"{w.schema}.book"
    path = draft(daemon, w)
    expect("the document of the draft", document(daemon, table, "1", path), {"id": 1, "title": "Notes", "author": {"name": "Ada"}})
    expect("the stored document", document(daemon, table, "1"), {"id": 1, "title": "Notes"})
    of_draft = daemon.json("mapping", table, path)["body"]["mappings"]["properties"]
    expect("the draft's field", sorted(of_draft["author"]["properties"]), ["name"])
    if "author" in daemon.json("mapping", table)["body"]["mappings"]["properties"]:
        raise Failed("the stored mapping has a field of the draft")
    expect("what is stored", daemon.command("export").stdout, before)
    expect("the version of a draft", daemon.json("explain", table, "1", path)["version"], None)


def test_a_table_that_is_not_stored_yet_is_shown_of_a_draft_with_variables(w):
    daemon = follow(w)
    definitions = yaml.safe_load(daemon.command("export").stdout)
    definitions["tables"].append({"table": f"{w.schema}.author", "index": "${MADE_INDEX}", "columns": ["name"]})
    path = daemon.write("draft.yaml", yaml.safe_dump(definitions))
    environment = {"MADE_INDEX": w.index("authors")}
    shown = daemon.json("explain", f"{w.schema}.author", "7", path, environment=environment)
    expect("the document", (shown["index"], shown["document"]), (w.index("authors"), {"name": "Ada"}))
    done = daemon.command("explain", f"{w.schema}.author", "7", ok=(1,))
    if "is defined" not in done.stderr:
        raise Failed(f"the stored definitions have the draft's table: {done.stderr}")


def test_a_draft_with_an_error_is_refused_with_the_place_of_each(w):
    daemon = follow(w)
    path = draft(daemon, w, colour="red")
    for args in (("explain", f"{w.schema}.book", "1", path), ("mapping", f"{w.schema}.book", path)):
        done = daemon.command(*args, ok=(1,))
        if os.path.basename(path) not in done.stderr or "colour" not in done.stderr:
            raise Failed(f"{args[0]} does not say what is wrong, and where: {done.stderr}")


def test_a_draft_whose_column_the_server_has_not_is_refused_by_its_name(w):
    daemon = follow(w)
    path = draft(daemon, w, columns=["id", "no_such"])
    for args in (("explain", f"{w.schema}.book", "1", path), ("mapping", f"{w.schema}.book", path)):
        done = daemon.command(*args, ok=(1,))
        if "no_such" not in done.stderr:
            raise Failed(f"{args[0]} does not name the column: {done.stderr}")

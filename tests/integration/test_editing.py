"""What somebody edits at the page is stored, and nothing else is lost."""
from servers import Failed
from tasks import log_in, person
from test_access import add_user
from test_objects import follow, is_stored, stored

from browser import Browser


def test_an_edit_of_one_column_keeps_what_the_page_does_not_show(w):
    daemon, table = follow(w), f"{w.schema}.thing"
    columns = ["*", {"name": "title", "default": ""}, {"name": "secret", "skip": True}, {"name": "kind", "value": ""}]
    daemon.command("table", "set", table, "columns=['*', {name: title, default: ''}, {name: secret, skip: true}, {name: kind, value: ''}]")
    is_stored(daemon, table, columns=columns)
    with person(daemon, "admin") as browser:
        browser.go(f"#/tables/{table}?tab=columns")
        browser.fill("a: Name in the document", "first\t")
        browser.click("Review and store …")
        browser.click("Store the definition", within="dialog")
        browser.shows_not("Your changes are not stored yet")
    is_stored(daemon, table, columns=["*", {"name": "a", "as": "first"}, *columns[1:]])


def test_changes_that_are_not_stored_are_kept_and_those_of_another_one_are_taken_in(w):
    daemon, table = follow(w), f"{w.schema}.thing"
    add_user(daemon, "anna", "admin")
    with Browser() as browser:
        log_in(browser, daemon)
        browser.go(f"#/tables/{table}?tab=columns")
        browser.fill("a: Name in the document", "first\t")
        browser.shows("Your changes are not stored yet")
        browser.go("#/tables")
        browser.shows("This tab keeps them")
        browser.shows("changes not stored")
        # Another definition is changed meanwhile, which makes no difference, and then this one.
        daemon.command("table", "add", f"{w.schema}.kind", f"index={w.schema}-kind")
        browser.go(f"#/tables/{table}?tab=columns")
        browser.shows("Your changes are not stored yet")
        daemon.command("table", "set", table, "filter=a > 1")
        browser.click("Review and store …")
        browser.click("Store the definition", within="dialog")
        browser.shows("changed them last")
        browser.click("Cancel", within="dialog")
        browser.shows("Somebody else has changed this definition since you began: filter")
        browser.click("Load again and keep my changes")
        daemon.command("table", "set", f"{w.schema}.kind", "filter=id > 0")
        browser.click("Review and store …")
        browser.click("Store the definition", within="dialog")
        browser.shows_not("Your changes are not stored yet")
        complaints = browser.complaints(expected=("412",))
    is_stored(daemon, table, columns=["*", {"name": "a", "as": "first"}], filter="a > 1")
    if stored(daemon, f"{w.schema}.kind")["filter"] != "id > 0" or complaints:
        raise Failed(f"the other table is {stored(daemon, w.schema + '.kind')}; the console says {complaints}")


def test_a_relation_gets_all_its_members_in_the_dialog(w):
    daemon, table = follow(w), f"{w.schema}.thing"
    w.sql("CREATE TABLE link (thing INT, kind INT, PRIMARY KEY (thing, kind), KEY (kind))", "INSERT INTO link VALUES (1, 5)")
    with person(daemon, "admin") as browser:
        browser.go(f"#/tables/{table}?tab=relations")
        browser.click("Add a relation")
        browser.fill("Related table, as DATABASE.TABLE", f"{w.schema}.kind")
        browser.fill("Columns of this table", "id")
        browser.fill("Equal columns of the related table", "id")
        browser.fill("Name in the document", "kinds")
        browser.tick("Many rows: an array")
        browser.tick("More")
        browser.choose("When a related row changes (refresh)", "write only the part that shows it (area)")
        browser.tick("Equal elements only once (distinct)")
        browser.fill("Only the value of this column (values)", "name")
        browser.fill("Link table, as DATABASE.TABLE (through)", f"{w.schema}.link")
        browser.fill("Columns of the link table that hold those of this table", "thing")
        browser.fill("Columns of the link table that hold those of the related table", "kind")
        browser.picture("relation-dialog")
        browser.click("Take over", within="dialog")
        browser.click("Review and store …")
        browser.click("Store the definition", within="dialog")
        browser.shows_not("Your changes are not stored yet")
    is_stored(daemon, table, relations=[{"from": "id", "through": {"table": f"{w.schema}.link", "from": "thing", "to": "kind"}, "table": f"{w.schema}.kind",
                                         "to": "id", "as": "kinds", "many": True, "distinct": True, "values": "name", "refresh": "area"}])

"""What somebody edits at the page is stored, and nothing else is lost."""
import json

from servers import Failed
from tasks import log_in, person
from test_access import add_user
from test_objects import follow, is_stored, stored

from browser import Browser


def asks_before_it_is_closed(browser):
    return browser.driver.execute_script("const e = new Event('beforeunload', {cancelable: true}); dispatchEvent(e); return e.defaultPrevented")


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


def test_a_column_gets_what_its_line_has_no_field_for_and_becomes_part_of_the_key(w):
    daemon, table = follow(w), f"{w.schema}.thing"
    with person(daemon, "admin") as browser:
        browser.go(f"#/tables/{table}?tab=columns")
        browser.tick("a: In the id")
        browser.click("More …", beside="title")
        browser.fill("Value instead of null (default)", "none")
        browser.click("Take over", within="dialog")
        browser.shows("This is no JSON")
        browser.fill("Value instead of null (default)", '"none"')
        browser.fill("Fields that also find its text (copy_to)", "all, more")
        browser.click("Take over", within="dialog")
        browser.shows('default: "none"')
        browser.picture("columns")
        browser.click("Whole definition", within="main")
        text = browser.field("Whole definition").get_attribute("value")
    if json.loads(text) | {"settings": 0, "index": 0} != {"table": table, "index": 0, "settings": 0, "key": ["id", "a"], "columns": ["*", {"name": "title", "default": "none", "copy_to": ["all", "more"]}]}:
        raise Failed(f"the definition is {text}")


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
        if not asks_before_it_is_closed(browser):
            raise Failed("the browser forgets changes without a question")
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
        browser.picture("somebody-else")
        wrong = browser.violations()
        browser.click("Load again and keep my changes")
        daemon.command("table", "set", f"{w.schema}.kind", "filter=id > 0")
        browser.click("Review and store …")
        browser.click("Store the definition", within="dialog")
        browser.shows_not("Your changes are not stored yet")
        if asks_before_it_is_closed(browser):
            raise Failed("the browser asks, though all is stored")
        complaints = browser.complaints(expected=("412",))
    is_stored(daemon, table, columns=["*", {"name": "a", "as": "first"}], filter="a > 1")
    if stored(daemon, f"{w.schema}.kind")["filter"] != "id > 0" or complaints or wrong:
        raise Failed(f"the other table is {stored(daemon, w.schema + '.kind')}; the console says {complaints}; {wrong}")


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


def test_every_setting_of_a_table_has_a_field_and_what_is_no_json_is_not_stored(w):
    daemon, table = follow(w), f"{w.schema}.thing"
    with person(daemon, "admin") as browser:
        browser.go(f"#/tables/{table}?tab=settings")
        browser.fill("SQL condition of the rows that have a document", "a > 1\t")
        browser.fill("Rows a second that a comparison reads", "50\t")
        browser.fill("Column that splits a build into buckets", "id\t")
        browser.choose("After the table changes its shape", "stop")
        browser.fill("Mapping that wins over the made one", '{"dynamic": false\t')
        browser.shows("This is no JSON")
        browser.go("#/tables")
        browser.go(f"#/tables/{table}?tab=settings")
        browser.shows("This is no JSON")
        if browser.field("Mapping that wins over the made one").get_attribute("value") != '{"dynamic": false':
            raise Failed("what was typed is gone")
        browser.fill("Mapping that wins over the made one", '{"_source": {"excludes": ["x"]}}\t')
        browser.shows_not("This is no JSON")
        browser.click("Review and store …")
        browser.click("Store the definition", within="dialog")
        browser.shows_not("Your changes are not stored yet")
        is_stored(daemon, table, filter="a > 1", compare={"rate": 50}, bucket_column="id", schema_changes="stop", mapping={"_source": {"excludes": ["x"]}})
        browser.fill("Rows a second that a comparison reads", "\t")
        browser.choose("After the table changes its shape", "default: follow")
        browser.click("Review and store …")
        browser.click("Store the definition", within="dialog")
        browser.shows_not("Your changes are not stored yet")
    is_stored(daemon, table, filter="a > 1", compare=None, bucket_column="id", schema_changes=None)


def test_a_table_is_delayed_from_the_empty_screen_and_from_its_own(w):
    daemon, table = follow(w), f"{w.schema}.thing"
    daemon.command("table", "add", f"{w.schema}.kind", f"index={w.schema}-kind", f"relations=[{{from: id, table: {table}, to: id, as: thing}}]")
    with person(daemon, "admin") as browser:
        browser.go("#/delayed")
        browser.shows("No table is delayed")
        browser.click("Delay a table …")
        browser.choose("Table", table)
        browser.shows(f"millrace table set {table} delayed=true")
        browser.click("Try without changing anything", within="dialog")
        browser.shows("takes effect at once")
        is_stored(daemon, table, delayed=None)
        browser.click("Delay a table …", within="dialog")
        browser.shows("The table is delayed")
        is_stored(daemon, table, delayed=True)
        statement = f"SELECT t.id AS thing, t.a AS kind FROM {w.schema}.thing t"
        daemon.command("table", "set", table, f"top_relations=[{{table: {w.schema}.kind, column: id, business_id: thing, target_key: kind, level_sql: '{statement}'}}]")
        browser.go(f"#/tables/{table}?tab=state")
        browser.click("Do not delay any more …")
        browser.shows(f"millrace table set {table} delayed=false top_relations=")
        browser.click("Do not delay any more …", within="dialog")
        browser.shows("The table is not delayed any more")
        browser.click("Delay a table …")
        browser.click("Cancel", within="dialog")
    is_stored(daemon, table, delayed=None, top_relations=None)


def test_parents_and_children_of_an_index_are_a_tree_whose_members_have_fields(w):
    daemon, table, part, index = follow(w), f"{w.schema}.thing", f"{w.schema}.part", w.index("thing")
    with person(daemon, "admin") as browser:
        browser.go(f"#/tables/{table}?tab=settings")
        browser.fill("Name of these documents in the join field", "thing\t")
        browser.click("Review and store …")
        browser.click("Store the definition", within="dialog")
        browser.shows_not("Your changes are not stored yet")
        is_stored(daemon, table, join={"name": "thing"})
        daemon.command("table", "add", part, f"index={index}", f"join={{name: part, parent: {table}, parent_column: thing}}")
        browser.go(f"#/tables/{part}?tab=relations")
        browser.shows("parent_column: thing")
        tree = browser.element("ul.tree ul.tree, ul.tree ul").text
        if part not in tree or "this table" not in tree or table not in browser.element("ul.tree").text:
            raise Failed(f"the tree is {tree}")
        browser.picture("join")
        browser.click(table, within="ul.tree")
        browser.wait("the parent is shown", lambda: browser.element("h1").text == table)

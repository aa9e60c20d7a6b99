"""Each thing that a definition says about fields, as the engine has it and as searches see it."""
import re

from servers import Failed


def definition(w, **more):
    table = {"table": "thing", "copy_to": ["whole"], "columns": [
        "id", {"name": "code", "keyword": True, "type": "text", "analyzer": "parts", "search_analyzer": "standard"},
        {"name": "title", "type": "text", "keyword": True, "copy_to": ["all"]}, {"name": "note", "copy_to": ["all"]},
        {"name": "day", "format": "dd.MM.yyyy"}, {"name": "price"}, {"name": "exact", "type": "keyword"}, "huge", "place", "flag",
        {"name": "free", "type": "object"}],
        "relations": [{"from": "id", "table": "part", "to": "thing", "as": "parts", "many": True, "nested": True, "columns": ["a", "b"]},
                      {"from": "id", "table": "part", "to": "thing", "as": "flat", "many": True, "columns": ["a", "b"]}],
        "settings": {"number_of_shards": 2, "number_of_replicas": 0, "analysis": {
            "tokenizer": {"dash": {"type": "char_group", "tokenize_on_chars": ["-"]}},
            "analyzer": {"parts": {"type": "custom", "tokenizer": "dash", "filter": ["lowercase"]}}}},
        "mapping": {"properties": {"title": {"fields": {"length": {"type": "token_count", "analyzer": "standard"}}}}}}
    return w.definitions(table | more)


def make(w):
    w.sql("CREATE TABLE thing (id INT PRIMARY KEY, code VARCHAR(40), title VARCHAR(100), note VARCHAR(100), day DATE, "
          "price DECIMAL(10,2), exact DECIMAL(10,3), huge DECIMAL(40,5), place POINT, flag TINYINT(1), free JSON) "
          "CHARSET utf8mb4",
          "CREATE TABLE part (id INT PRIMARY KEY, thing INT, a INT, b INT, KEY (thing))",
          "INSERT INTO thing VALUES (1, 'AB-12-x', 'Red Pen', 'fine tip', '2024-02-29', 1.10, 1.100, 12345678901234567890.5, "
          "ST_GeomFromText('POINT(13.4 52.5)'), 1, '{\"k\": {\"deep\": 5}}'), "
          "(2, 'CD-34-y', 'Blue ink pot', 'deep', '2025-01-31', 22.05, 22.050, -1, ST_GeomFromText('POINT(-70 -30)'), 0, "
          "'{\"k\": {\"deep\": 6}}')",
          "INSERT INTO part VALUES (1, 1, 1, 2), (2, 1, 3, 4), (3, 2, 1, 4)")


# What is searched for, and which documents that finds.
SEARCHES = (
    ({"term": {"title.keyword": "Red Pen"}}, "1"), ({"term": {"title.keyword": "red"}}, ""), ({"match": {"title": "pen"}}, "1"),
    ({"match": {"whole": "12"}}, "1"), ({"term": {"whole": "red pen"}}, "1"), ({"term": {"whole": "deep"}}, "2"), ({"match": {"whole": "29"}}, ""),
    ({"match": {"all": "tip"}}, "1"), ({"match": {"all": "ink"}}, "2"), ({"match": {"all": "deep"}}, "2"),
    ({"match": {"code": "ab"}}, "1"), ({"match": {"code": "34"}}, "2"), ({"term": {"code.keyword": "CD-34-y"}}, "2"),
    ({"range": {"day": {"gte": "01.03.2024"}}}, "2"), ({"range": {"day": {"lt": "2024-03-01"}}}, "1"),
    ({"term": {"price": 22.05}}, "2"), ({"range": {"price": {"gt": 1.09, "lt": 1.11}}}, "1"), ({"term": {"exact": "1.100"}}, "1"),
    ({"term": {"huge": "12345678901234567890.50000"}}, "1"), ({"term": {"flag": 1}}, "1"),
    ({"geo_distance": {"distance": "10km", "place": {"lat": 52.5, "lon": 13.4}}}, "1"),
    ({"term": {"free.k.deep": 6}}, "2"), ({"term": {"title.length": 3}}, "2"),
    # Nested keeps the elements apart, an object does not.
    ({"nested": {"path": "parts", "query": {"bool": {"filter": [{"term": {"parts.a": 1}}, {"term": {"parts.b": 4}}]}}}}, "2"),
    ({"bool": {"filter": [{"term": {"flat.a": 1}}, {"term": {"flat.b": 4}}]}}, "1 2"))


def found(w, query):
    w.engine.ask("POST", f"/{w.index('thing')}/_refresh")
    hits = w.engine.ask("POST", f"/{w.index('thing')}/_search", {"query": query, "sort": ["id"], "size": 9})["hits"]["hits"]
    return " ".join(hit["_id"] for hit in hits)


def test_searches_find_what_each_field_of_a_definition_promises(w):
    make(w)
    daemon = w.follow(definition(w))
    w.equal(daemon)
    wrong = [f"{query} finds {found(w, query)!r} instead of {ids!r}" for query, ids in SEARCHES if found(w, query) != ids]
    if wrong:
        raise Failed("\n".join(wrong))


def contained(part, whole, path=""):
    """Where `part` says something that `whole` does not; the engine writes numbers and true as texts at places."""
    if isinstance(part, dict) and isinstance(whole, dict):
        for name, value in part.items():
            if name not in whole and value != "object":  # which is what a field of properties is by default
                yield f"{path}/{name} is not there"
            elif name in whole:
                yield from contained(value, whole[name], f"{path}/{name}")
    elif part != whole and str(part).lower() != str(whole).lower() and [part] != whole:
        yield f"{path}: {part!r} is {whole!r}"


def test_the_mapping_command_shows_what_the_engine_then_has(w):
    make(w)
    daemon = w.millrace()
    daemon.apply(definition(w))
    body = daemon.json("mapping", f"{w.schema}.thing")["body"]
    daemon.build(f"{w.schema}.thing")
    mappings = w.engine.ask("GET", f"/{w.index('thing')}/_mapping")[f"{w.index('thing')}_v1"]["mappings"]
    wrong = list(contained(body["mappings"]["properties"], mappings["properties"]))
    settings = w.engine.ask("GET", f"/{w.index('thing')}/_settings?flat_settings=true")[f"{w.index('thing')}_v1"]["settings"]
    wrong += [f"{name}: {value!r} is {settings.get(name)!r}" for name, value in body["settings"].items()
              if name in ("index.number_of_shards", "index.gc_deletes") and str(settings.get(name)).lower() != str(value).lower()]
    if wrong:
        raise Failed("\n".join(wrong))
    plain = daemon.command("mapping", f"{w.schema}.thing").stdout
    if not re.search(r"scaling_factor: 100\b", plain):
        raise Failed(plain)


def test_a_mapping_that_the_engine_refuses_is_told_before_anything_is_built(w):
    make(w)
    daemon = w.follow(definition(w))
    for change, words in (({"mapping": {"properties": {"title": {"type": "text", "analyzer": "nobody"}}}}, "nobody"),
                          ({"settings": {"number_of_shards": 1, "analysis": {"analyzer": {"parts": {"tokenizer": "nothing"}}}}}, "parts")):
        daemon.apply(definition(w, **change))
        done = daemon.build(f"{w.schema}.thing", ok=(1,))
        if words not in done.stdout + done.stderr:
            raise Failed(f"{change}: {done.stdout}{done.stderr}")
        if w.table(daemon, "thing")["version"] != 1 or w.engine.ask("GET", f"/{w.index('thing')}_v*/_alias").keys() \
                != {f"{w.index('thing')}_v1"}:
            raise Failed(f"something of {change} stays: {w.table(daemon, 'thing')}")
    w.sql("UPDATE thing SET title = 'Green' WHERE id = 1")
    daemon.apply(definition(w))
    w.equal(daemon)


def test_what_only_adds_to_the_mapping_comes_to_the_running_index_and_the_rest_asks_for_a_build(w):
    w.sql("CREATE TABLE thing (id INT PRIMARY KEY, title VARCHAR(40), note VARCHAR(40))",
          "INSERT INTO thing VALUES (1, 'one', 'old'), (2, 'two', 'old')")

    def define(title=None, **more):
        columns = ["id", {"name": "title", "type": "text"} | (title or {}), "note"]
        return w.definitions({"table": "thing", "columns": columns} | more)

    def fields():
        return w.engine.ask("GET", f"/{w.index('thing')}/_mapping")[f"{w.index('thing')}_v1"]["mappings"]["properties"]
    daemon = w.follow(define())
    length = {"properties": {"title": {"fields": {"length": {"type": "token_count", "analyzer": "standard"}}}}}
    daemon.apply(define({"keyword": True}, mapping=length))
    if set(fields()["title"].get("fields", {})) != {"keyword", "length"} or not w.table(daemon, "thing")["pending"]:
        raise Failed(f"{fields()}, {w.table(daemon, 'thing')}")
    w.sql("UPDATE thing SET title = 'one more' WHERE id = 1")
    w.equal(daemon)
    if (found(w, {"term": {"title.keyword": "one more"}}), found(w, {"term": {"title.length": 2}})) != ("1", "1"):
        raise Failed("the row that changed is not found by the new fields")
    before = fields()
    daemon.apply(define({"keyword": True, "analyzer": "whitespace"}, mapping=length))  # the engine cannot change that
    daemon.apply(define({"keyword": True, "as": "name"}, mapping=length))  # documents become others
    if fields() != before or not w.table(daemon, "thing")["pending"]:
        raise Failed(f"{fields()}, {w.table(daemon, 'thing')}")
    w.sql("UPDATE thing SET title = 'two more' WHERE id = 2")
    daemon.apply(define({"keyword": True}, mapping=length))
    daemon.build(f"{w.schema}.thing")
    w.equal(daemon)
    if found(w, {"term": {"title.length": 2}}) != "1 2" or w.table(daemon, "thing")["pending"]:
        raise Failed(f"after the build {w.table(daemon, 'thing')}")

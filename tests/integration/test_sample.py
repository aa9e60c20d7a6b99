"""A sample of rows and documents: `verify --sample`, and what a build compares before searches see it."""
import re

from servers import Failed
from test_verify import SHARDS, Damage, make
from test_verify_all import damage_all, expect, verify


def many(w, key="INT", rows=20000, text="seq * 7"):
    """A table that is much larger than its samples."""
    w.sql(f"CREATE TABLE many (id {key} PRIMARY KEY, n INT)", f"INSERT INTO many SELECT {text}, seq FROM seq_1_to_{rows}")
    return w.definitions({"table": "many", "settings": dict(SHARDS)})


def spoil(w, query, how, **values):
    """A foreign client changes or deletes all documents that match."""
    body = {"query": query, **values}
    w.engine.ask("POST", f"/{w.index('many')}/_refresh")
    answer = w.engine.ask("POST", f"/{w.index('many')}/_{how}_by_query?conflicts=proceed&refresh=true", body)
    if answer["failures"]:
        raise Failed(f"{answer}")


def test_a_sample_that_is_larger_than_the_index_compares_all_of_it(w):
    daemon, damage = w.follow(make(w)), Damage(w)
    answer = verify(w, daemon, "--sample", "1000")
    expect(answer, "equal", [])
    if (answer["sample"], answer["documents"]) != (1000, 6):
        raise Failed(f"{answer}")
    wished = damage_all(damage)
    expect(verify(w, daemon, "--sample", "1000", ok=(1,)), "different", wished)
    expect(verify(w, daemon, "--sample", "1000", "--repair", ok=(1,)), "different", wished)
    expect(verify(w, daemon, "--sample", "1000", "--repair", "--yes"), "equal", wished, repaired=7)
    w.equal(daemon)
    if "a sample: 6 of 6 documents" not in daemon.command("verify", f"{w.schema}.orders", "--sample", "6").stdout:
        raise Failed("a person is not told that it was a sample")


def sample_of_many(w, daemon):
    """Damage of a part is met, equal documents are not, and the newest row is always looked at."""
    table, damage = f"{w.schema}.many", Damage(w, "many")
    answer = verify(w, daemon, "--sample", "1000", table="many")
    expect(answer, "equal", [])
    if not 600 < answer["documents"] < 1500:
        raise Failed(f"of 20,000 documents a sample of 1,000 compares {answer['documents']}")
    newest = str(w.sql("SELECT id FROM many ORDER BY id DESC LIMIT 1")[0][0])
    damage.lose(newest)
    expect(verify(w, daemon, "--sample", "1", table="many", ok=(1,)), "different", [(newest, "missing")])
    expect(verify(w, daemon, "--sample", "1", "--repair", table="many"), "equal", [(newest, "missing")], repaired=1)
    spoil(w, {"range": {"n": {"gte": 4000, "lt": 8000}}}, "update", script={"source": "ctx._source.n = -1"})
    spoil(w, {"range": {"n": {"gte": 12000, "lt": 16000}}}, "delete")
    answer = verify(w, daemon, "--sample", "1000", table="many", ok=(1,))
    if answer["counts"]["different"] < 20 or answer["counts"]["missing"] < 1:
        raise Failed(f"{answer['counts']}")
    daemon.command("index", "create", table)


def test_a_sample_of_integer_keys_meets_what_a_part_of_the_index_has(w):
    daemon = w.follow(many(w))
    sample_of_many(w, daemon)


def test_a_sample_of_texts_meets_what_a_part_of_the_index_has(w):
    daemon = w.follow(many(w, "VARCHAR(40)", text="CONCAT('k', MD5(seq))"))
    sample_of_many(w, daemon)


def test_a_sample_of_none_or_too_many_is_refused(w):
    daemon = w.follow(make(w))
    table = f"{w.schema}.orders"
    for words in (["--sample", "0"], ["--sample", "1000001"], ["--sample", "x"], ["--sample", "5", "--key", "1"]):
        if not re.search("sample|--key", daemon.command("verify", table, *words, ok=(2,)).stderr):
            raise Failed(f"{words}")
    if daemon.json("report", "list")["items"] or daemon.json("job", "list")["items"]:
        raise Failed("something was begun")

#!/bin/sh
# The JSON schemas in docs/ accept and refuse what the program does: of the configuration by its own
# word, of definitions what docs/definitions.md shows and what it forbids.
set -eu
: "${top_srcdir:=.}" "${top_builddir:=.}"
python3 -c 'import jsonschema, yaml' 2>/dev/null || {
    echo "python3-jsonschema or python3-yaml is not installed"
    exit 77
}
export top_srcdir top_builddir
exec python3 - <<'END'
import glob, json, os, re, subprocess, sys, tempfile
import jsonschema, yaml

docs = os.path.join(os.environ["top_srcdir"], "docs")
program = os.path.join(os.environ["top_builddir"], "millrace")
bad = 0


def checker(name):
    with open(os.path.join(docs, name)) as f:
        schema = json.load(f)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def expect(what, errors, is_good):
    global bad
    if bool(errors) == is_good:
        print(f"{what}: {errors[0].message if errors else 'the schema accepts it'}")
        bad = 1


configuration = checker("millrace.schema.json")
for text in ("data: ./data\nsearch: {url: 'http://a:9200'}", "search: {url: ['http://a:9200', 'http://b:9200']}",
             "listen: '${HOST:-127.0.0.1}:7700'", "delivery: {workers: '${N:-4}', batch_max: auto}",
             "delivery: {workers: 4, batch_bytes: 64KiB, read_window: 5s, drain: false}", "log: {format: text}",
             "index: {retire_after: never}", "index: {retire_after: 5m}", "delivery: {batch_bytes: 1048576}",
             "delivery: {wokers: 4}", "delivery: {workers: many}", "delivery: {workers: 0}", "delivery: [1]",
             "delivery: {read_window: 5}", "log: {level: loud}", "search: {verify: perhaps}", "search: {url: []}",
             "listn: x", "delivery: {batch_bytes: 5XB}", "data: [a]"):
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as f:
        f.write(text)
        f.flush()
        done = subprocess.run([program, "config", "show", "--config", f.name], capture_output=True, check=False)
    expect(text, list(configuration.iter_errors(yaml.safe_load(text))), done.returncode == 0)

definitions = checker("definition.schema.json")
with open(os.path.join(docs, "definitions.md")) as f:
    shown = re.findall(r"^```yaml\n(topics:.*?)^```", f.read(), re.S | re.M)
if not shown:
    print("docs/definitions.md shows no definition file")
    bad = 1
for path in glob.glob(os.path.join(os.environ["top_srcdir"], "tests", "golden", "*", "definition.yaml")):
    with open(path) as f:
        shown.append(f.read())
head = "topics: [{name: t, address: a, server_id: '${ID}', zero_date: null}]\ntables:\n  - "
good = [head + "{table: d.a, columns: [id, {name: b, value: 7}], sync_every: 5m, unique_keys: [[a, b]]}"]
wrong = [head + rest for rest in ("{tabel: d.a}", "{table: d.a, columns: [{as: x}]}", "{table: d.a, sync_every: 5x}",
                                  "{table: d.a, relations: [{from: a, to: b}]}", "{table: d.a, schema_changes: go}",
                                  "{table: d.a, columns: [{name: a, keyword: maybe}]}", "{table: [d.a]}")]
for text in shown + good:
    expect(text, list(definitions.iter_errors(yaml.safe_load(text))), True)
for text in wrong + ["topics: [{address: a}]", "tabels: []", "topics: [{name: t, address: a, server_id: 0}]"]:
    expect(text, list(definitions.iter_errors(yaml.safe_load(text))), False)
sys.exit(bad)
END

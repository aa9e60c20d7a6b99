#!/bin/sh
# The Prometheus rules and the Grafana dashboard name metrics, labels, words and commands that the
# program has, and each metric is in one of them.  Each alarm says what to do, and has tests; promtool
# checks both files and runs these tests.
set -eu
: "${top_srcdir:=.}" "${top_builddir:=.}"
python=/usr/bin/python3 # the one that has Debian's modules
[ -x "$python" ] || python=python3
if ! command -v yamllint > /dev/null || ! "$python" -c 'import yaml' 2> /dev/null; then
    echo "yamllint or python3-yaml is not installed"
    exit 77
fi
rules=$top_srcdir/packaging/prometheus/millrace.rules.yml
tests=$top_srcdir/packaging/prometheus/millrace.rules.test.yml
yamllint --strict -d '{extends: default, rules: {document-start: disable, line-length: {max: 100}}}' \
    "$rules" "$tests"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export top_srcdir top_builddir folder
"$python" - <<'END'
import json, os, re, subprocess, sys
import yaml

source, folder = os.environ["top_srcdir"], os.environ["folder"]
program = os.path.join(os.environ["top_builddir"], "millrace")
bad = 0

# Of the target that Prometheus asks, and what it makes itself.
TARGET_LABELS = {"job", "instance", "pod"}
TARGET_METRICS = {"up"}
# Metrics that no rule and no panel shows, each with the reason.
LEFT_OUT = {
    "millrace_table_repaired_by_kind": "the panel of differences has their kinds, one figure of repairs is enough",
}


def wrong(what):
    global bad
    print(what)
    bad = 1


def read(*path):
    with open(os.path.join(source, *path), encoding="utf-8") as f:
        return f.read()


# ---- what the program has

metrics = {}
for kind, name, rest in re.findall(r'^(METRIC|HISTOGRAM)\(\w+,\s*"(\w+)",\s*(.*)', read("src", "metric", "metric.def"), re.M):
    labels = set(filter(None, re.search(r'"([\w,]*)"', rest)[1].split(",")))
    for suffix in ("_bucket", "_sum", "_count") if kind == "HISTOGRAM" else ("",):
        metrics[name + suffix] = (name, labels | ({"le"} if suffix == "_bucket" else set()))
if len(metrics) < 90:
    wrong(f"only {len(metrics)} metrics found in src/metric/metric.def")

words = set()
for top in ("src", "sync", "rebalance"):
    for where, _, files in os.walk(os.path.join(source, top)):
        for file in files:
            if file.endswith((".c", ".h")):
                words |= set(re.findall(r'"([\w.]+)"', read(os.path.relpath(os.path.join(where, file), source))))
# Labels whose values the program makes up, and not a person.
WORD_LABELS = {"check", "status", "state", "kind", "result", "outcome", "reason", "stage", "op", "type", "purpose", "by"}

# ---- expressions

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|=~|!~|!=|[A-Za-z_:$][\w:$]*|\d[\w.]*|\S')
GROUPING = {"by", "without", "on", "ignoring", "group_left", "group_right"}
KEYWORDS = GROUPING | {"and", "or", "unless", "bool", "offset"}


def parse(expression):
    """The selectors of an expression, as pairs of a metric and its matchers, and the labels that it groups by."""
    tokens = TOKEN.findall(expression) + [""]
    selectors, grouped, i = [], set(), 0
    while tokens[i]:
        token, i = tokens[i], i + 1
        if not re.match(r"[A-Za-z_:]", token):
            continue
        if token in GROUPING and tokens[i] == "(":
            end = tokens.index(")", i)
            grouped |= set(tokens[i + 1:end]) - {","}
            i = end + 1
        elif token not in KEYWORDS and tokens[i] not in {"(", *GROUPING}:
            matchers = []
            if tokens[i] == "{":
                end = tokens.index("}", i)
                inner = [t for t in tokens[i + 1:end] if t != ","]
                matchers = [(inner[k], inner[k + 2][1:-1]) for k in range(0, len(inner), 3)]
                i = end + 1
            selectors.append((token, matchers))
    return selectors, grouped


def check_expression(where, expression):
    """Returns the labels that the result may have."""
    selectors, grouped = parse(expression)
    known = set(TARGET_LABELS)
    for metric, matchers in selectors:
        if metric not in metrics and metric not in TARGET_METRICS:
            wrong(f"{where}: there is no metric {metric}")
            continue
        has = TARGET_LABELS | (metrics[metric][1] if metric in metrics else set())
        known |= has
        used.add(metrics[metric][0] if metric in metrics else metric)
        for label, value in matchers:
            if label not in has:
                wrong(f"{where}: {metric} has no label {label}")
            for word in value.split("|") if label in WORD_LABELS and "$" not in value else ():
                if word not in words:
                    wrong(f"{where}: {metric} never has {label}=\"{word}\"")
    for label in grouped - known:
        wrong(f"{where}: groups by {label}, which nothing there has")
    return known


used = set()

# ---- the tests of the rules

document = yaml.safe_load(read("packaging", "prometheus", "millrace.rules.test.yml"))
fires, silent = {}, set()
for test in document["tests"]:
    for series in test["input_series"]:
        (metric, matchers), = parse(series["series"])[0]
        extra = {label for label, _ in matchers} - TARGET_LABELS - metrics.get(metric, ("", set()))[1]
        if extra or metric not in TARGET_METRICS | set(metrics):
            wrong(f"test {test['name']}: there is no {series['series']}")
    for asked in test["promql_expr_test"]:
        for sample in asked["exp_samples"]:
            (_, matchers), = parse(sample["labels"].replace("{", "ALERTS{", 1 if sample["labels"][0] == "{" else 0))[0]
            labels = dict(matchers)
            if labels.get("alertstate") == "firing" and labels["severity"]:
                fires.setdefault(labels["alertname"], set()).update(labels)
        if not asked["exp_samples"]:
            silent |= set(re.findall(r'alertname="(\w+)"', asked["expr"]))

# ---- the rules

document = yaml.safe_load(read("packaging", "prometheus", "millrace.rules.yml"))
rules = [rule for group in document["groups"] for rule in group["rules"]]
pages = {}
commands = set()


def headings(page):
    """The places of a page that links lead to, as GitHub makes them."""
    if page not in pages:
        titles = re.findall(r"^#+ (.*)", read(page), re.M)
        pages[page] = {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}
    return pages[page]


for rule in rules:
    name, notes = rule["alert"], rule["annotations"]
    check_expression(name, rule["expr"])
    if rule["labels"].get("severity") not in ("critical", "warning", "info"):
        wrong(f"{name} has no severity that we know")
    if set(notes) != {"summary", "description", "runbook"}:
        wrong(f"{name} has the annotations {sorted(notes)}")
    text = " ".join(notes.values())
    for label in set(re.findall(r"\$labels\.(\w+)", text)) - fires.get(name, set()):
        wrong(f"{name} shows the label {label}, which its alarm has not when it fires in a test")
    found = set(re.findall(r"`millrace ([a-z -]+)`", text))
    if not found:
        wrong(f"{name} names no command to look at")
    commands |= found
    page, place = notes["runbook"].split("#")
    # A release has not all pages.
    if os.path.exists(os.path.join(source, "docs", "STYLE.md")) and place not in headings(page):
        wrong(f"{name}: {page} has no place {place}")
for command in commands:
    name = command.split(" --")[0]
    done = subprocess.run([program, *command.split(), "--help"], capture_output=True, text=True, check=False)
    if not re.match(rf"usage: millrace {name} (?!COMMAND)", done.stdout):
        wrong(f"a rule names `millrace {command}`, which is no command")
names = {rule["alert"] for rule in rules}
for name in names - set(fires):
    wrong(f"no test sees {name} fire")
for name in names - silent:
    wrong(f"no test sees {name} silent")
for name in (set(fires) | silent) - names:
    wrong(f"a test asks for {name}, which is no alarm")

# ---- the dashboard

dashboard = json.loads(read("packaging", "grafana", "millrace.json"))
panels = [panel for row in dashboard["panels"] for panel in [row, *row.get("panels", [])]]
SOURCE = {"type": "prometheus", "uid": "${datasource}"}
cells, expressions = {}, []


def check_query(where, query):
    """label_values(SELECTOR, LABEL), as a variable of the dashboard asks it."""
    selector, label = re.fullmatch(r"label_values\((.*), (\w+)\)", query).groups()
    if label not in check_expression(where, selector):
        wrong(f"{where}: {selector} has no label {label}")


variables = {variable["name"] for variable in dashboard["templating"]["list"]}
for variable in dashboard["templating"]["list"]:
    if variable["type"] == "query":
        check_query(f"variable {variable['name']}", variable["query"]["query"])
        check_query(f"variable {variable['name']}", variable["definition"])
for panel in panels:
    title, place = panel.get("title", ""), panel["gridPos"]
    where = f"panel {panel['id']} ({title})"
    if not title:
        wrong(f"{where} has no title")
    for cell in ((x, y) for x in range(place["x"], place["x"] + place["w"]) for y in range(place["y"], place["y"] + place["h"])):
        if cell[0] >= 24 or cells.setdefault(cell, panel["id"]) != panel["id"]:
            wrong(f"{where} lies over another panel or outside")
            break
    if panel["type"] == "row":
        continue
    if not panel.get("description") or not panel["fieldConfig"]["defaults"].get("unit"):
        wrong(f"{where} has no description or no unit")
    if panel["datasource"] != SOURCE or not panel["targets"]:
        wrong(f"{where} asks nothing, or another source than ${{datasource}}")
    for target in panel["targets"]:
        known = check_expression(where, target["expr"])
        expressions.append(target["expr"])
        for label in set(re.findall(r"{{\s*(\w+)\s*}}", target.get("legendFormat", ""))) - known:
            wrong(f"{where} shows the label {label}, which its series have not")
        for variable in set(re.findall(r"\$(\w+)", target["expr"])) - variables - {"__rate_interval", "__range"}:
            wrong(f"{where} uses ${variable}, which is no variable")
if len({panel["id"] for panel in panels}) != len(panels):
    wrong("two panels have the same id")

# ---- all metrics

every = {name for name, _ in metrics.values()}
for metric in every - used - set(LEFT_OUT):
    wrong(f"no rule and no panel has {metric}: add it to one, or to LEFT_OUT with the reason")
for metric in set(LEFT_OUT) & used | set(LEFT_OUT) - every:
    wrong(f"LEFT_OUT has {metric}, which is used, or is no metric")

# Recorded as rules, the dashboard's expressions can be checked by promtool.
plain = [re.sub(r"\$__\w+", "5m", expression) for expression in expressions]
with open(os.path.join(folder, "dashboard.yml"), "w", encoding="utf-8") as f:
    yaml.safe_dump({"groups": [{"name": "dashboard", "rules": [{"record": f"panel:{i}", "expr": e} for i, e in enumerate(plain)]}]}, f)
sys.exit(bad)
END
command -v promtool > /dev/null || { echo "promtool is not installed"; exit 77; }
promtool check rules "$rules" "$folder/dashboard.yml"
promtool test rules "$tests"

"""The description of the API: a linter finds nothing wrong with it, and the daemon does as it says."""
import json
import os
import subprocess

from openapi import METHODS, Api
from servers import REPO, Failed, wait_until

GOOD = {"words": ["one"], "word": "two", "text": "three", "role": "viewer", "name": "no.such", "password": "a long password", "old": "a long password", "new": "a longer password", "token": "x", "keys": ["1"], "key": "1", "to": "any", "ids": [1], "files": [{"name": "a.yaml", "text": "topics: []"}]}


def has_page(api):
    """A program that was built without npm has the status page instead."""
    return 'id="app"' in api.ask("GET", "/").text


def wrong_values(schema):
    """What the schema of a member does not allow."""
    if isinstance(schema["type"], list):  # any scalar
        return [[1], {}]
    if "enum" in schema:
        return ["no such", 7]
    if schema["type"] == "array":
        items = schema["items"]
        inner = [{"no_such": 1}, 7, *({name: 7} for name in items["properties"]), *([{}] if items.get("required") else [])] if "properties" in items else wrong_values(items) + [{}]
        return ["x", 7, {}, [], *([value] for value in inner), [GOOD["keys"][0]] * (schema["maxItems"] + 1)]
    if schema["type"] == "object":
        return ["x", [], {"A": 7}]
    return {"string": [7, [], True], "integer": ["x", -1, 0.5, True, 2**53, 2**53 + 1, str(2**53)], "boolean": ["x", 1]}[schema["type"]]


def test_the_description_is_openapi(w):
    daemon = w.millrace()
    path = daemon.write("openapi.json", json.dumps(Api(daemon).document))
    done = subprocess.run([os.path.join(REPO, "tools/openapi/linter"), path], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode != 0:
        raise Failed(f"the linter says:\n{done.stdout}{done.stderr}")


def test_good_gets_answer_the_form_that_is_described(w):
    w.sql("CREATE TABLE kind (id INT PRIMARY KEY, name VARCHAR(10))", "INSERT INTO kind VALUES (1, 'one')",
          "CREATE TABLE part (id INT PRIMARY KEY, code VARCHAR(20), kind INT, KEY (kind))",
          "INSERT INTO part VALUES (1, '10', 1), (2, 'abc', 1)")
    daemon = w.follow(w.definitions({"table": "part", "columns": ["id", {"name": "code", "type": "integer"}], "relations": [
        {"from": "kind", "table": "kind", "to": "id", "as": "kind", "columns": ["name"]}]}, {"table": "kind", "delayed": True}))
    part = f"{w.schema}.part"
    daemon.command("verify", part)
    w.sql("DELETE FROM kind WHERE id = 1")
    wait_until("the change waits", lambda: daemon.json("delayed", "list")["items"])
    letter = wait_until("the dead letter is stored", lambda: daemon.json("dead-letter", "list")["items"])[0]
    daemon.command("user", "add", "anna", "--role", "viewer", input="a password for Anna\n")
    daemon.command("token", "add", "ci", "--role", "viewer")
    daemon.command("word", "add", "one")
    daemon.command("verify", part, "--rate", "1", "--no-wait")  # goes on while it is looked at
    names = {"ui": "licences.txt", "words": "ext", "{list}": "one", "users": "anna", "tokens": "ci", "topics": w.schema, "databases": w.schema, "tables": part, "relations": part, "log": part,
             "versions": w.index("part"), "indexes": w.index("part"), "delivery": "workers",
             "nodes": daemon.json("node", "list")["items"][0]["id"], "dead-letters": str(letter["id"]),
             "jobs": daemon.json("job", "list")["items"][0]["id"], "reports": daemon.json("report", "list")["items"][0]["job"]}
    api, n = Api(daemon), 0
    for pattern, method, operation in api.operations():
        if method != "GET":
            continue
        parts = pattern.split("/")
        path = "/".join(names[parts[i - 1]] if part.startswith("{") else part for i, part in enumerate(parts))
        needed = [p["name"] for p in operation.get("parameters", []) if p.get("required")]
        answer = api.ask("GET", path + ("?key=1" if needed == ["key"] else ""))
        if answer.status != (404 if pattern == "/ui/{name}" and not has_page(api) else 200):
            raise Failed(f"{path}: {answer}")
        api.check(path, operation["responses"], answer)
        if api.ask("HEAD", path + ("?key=1" if needed == ["key"] else "")).text:
            raise Failed(f"HEAD {path} has a body")
        n += 1
    for path in ("dead-letters?body=true", "delayed?limit=1", "delayed/runs?waiting=false", f"tables/{part}/trace?key=1&log=true",
                 f"tables/{part}/trace?key=2", f"tables/{part}/explain?key=9", f"reports/{names['jobs']}", "log/1"):
        pattern = "/api/v1/" + path.split("?")[0].replace(part, "{name}").replace("log/1", "log/{name}").replace(f"reports/{names['jobs']}", "reports/{job}")
        answer = api.ask("GET", "/api/v1/" + path)
        if answer.status != 200:
            raise Failed(f"{path}: {answer}")
        api.check(path, api.document["paths"][pattern]["get"]["responses"], answer)
    answer = api.ask("POST", "/api/v1/doctor", body={})
    api.check("the start of a doctor", api.document["paths"]["/api/v1/doctor"]["post"]["responses"], answer)
    at = "/api/v1/reports/" + json.loads(answer.text)["job"]
    report = wait_until("the doctor has its report", lambda: (r := api.ask("GET", at)) and "phase" not in json.loads(r.text) and r, 30)
    api.check("the report of a doctor", api.document["paths"]["/api/v1/reports/{job}"]["get"]["responses"], report)
    if not any(item["id"] == "mysql.log_bin" for item in json.loads(report.text)["items"]):
        raise Failed(f"the doctor has asked no server: {report}")
    if n < 35:
        raise Failed(f"only {n} requests were found")


def test_answers_to_apply_have_the_form_that_is_described(w):
    w.sql("CREATE TABLE thing (id INT PRIMARY KEY, a INT)")
    definitions = w.definitions({"table": "thing"})
    daemon = w.follow(definitions)
    api, operation = Api(daemon), Api(daemon).document["paths"]["/api/v1/apply"]["post"]

    def apply(definitions, status, **more):
        text = definitions if isinstance(definitions, str) else json.dumps(definitions)
        answer = api.ask("POST", "/api/v1/apply", {"dry_run": True, "files": [{"name": "a.yaml", "text": text, "folder": daemon.folder}]} | more)
        if answer.status != status:
            raise Failed(f"{status} was expected: {answer}")
        api.check("apply", operation["responses"], answer)
        return json.loads(answer.text)

    definitions["tables"][0] |= {"columns": ["id", {"name": "a", "type": "long"}]}
    if not any("fields" in item for item in apply(definitions, 200)["items"]):
        raise Failed("no field has changed")
    for wrong in ("tables: [{tabel: x}]", "tables: [", {"tables": [{"table": f"{w.schema}.nothing", "index": "x"}]}):
        if not apply(wrong, 422)["errors"]:
            raise Failed(f"no errors of {wrong}")
    del definitions["tables"]
    if not apply(definitions, 200, dry_run=False, prune=True)["warnings"]:  # of no file
        raise Failed("nothing warns of an index that nothing follows any more")


class Prober:
    """Sends what one operation must refuse."""

    def __init__(self, api, pattern, method, operation):
        self.api, self.method, self.operation, self.n = api, method, operation, 0
        self.is_probe = not pattern.startswith("/api/")
        # A name that nothing has, so that nothing is changed if it is not refused.
        self.path = pattern.replace("{name}", "no.such").replace("{number}", "1").replace("{id}", "1").replace("{job}", "1")

    def expect(self, what, status, query="", **request):
        answer = self.api.ask(self.method, self.path + query, **request)
        what = f"{self.method} {self.path}{query} with {what}"
        if answer.status not in ({status} if isinstance(status, int) else status):
            raise Failed(f"{what}: {status} was expected: {answer}")
        self.api.check(what, self.operation["responses"], answer)
        self.n += 1

    def bad_queries(self):
        if self.is_probe:
            self.expect("an unknown parameter, which is ignored", 404 if "no.such" in self.path else 200, "?no_such=1")
            return
        self.expect("an unknown parameter", 400, "?no_such=1")
        for p in (p for p in self.operation.get("parameters", []) if p.get("in") == "query"):
            if p["schema"]["type"] != "string" or "enum" in p["schema"] or "format" in p["schema"]:
                needed = "".join(f"&{q['name']}=1" for q in self.operation["parameters"] if q.get("required"))
                self.expect("a wrong type", 400, f"?{p['name']}=x{needed}")
            if p["schema"]["type"] == "integer":
                self.expect("too large a number", 400, f"?{p['name']}={p['schema']['maximum'] + 1}")
            elif p["name"] in ("topic", "table"):
                self.expect("something that is not there", {200, 404}, f"?{p['name']}=no.such")
            if p["required"]:
                self.expect("a parameter left out", 400)

    def bad_bodies(self):
        body = self.operation.get("requestBody")
        if body is None:
            self.expect("a body", 413, length=2)
            return
        schema = body["content"]["application/json"]["schema"]
        self.expect("too large a body", 413, length=self.operation["x-millrace-body-max"] + 1)
        self.expect("half a body", 400, body="{")
        self.expect("a list", 400, body=[])
        self.expect("another type", 415, body={}, content_type="text/plain")
        for form in schema.get("oneOf", [schema]):
            self.bad_members(form, "oneOf" in schema)

    def bad_members(self, form, is_one_of):
        """One wrong member each, and else what is needed, so that nothing else is refused."""
        if "$ref" in form:  # a definition, of which apply reads the members
            self.expect("a definition without its name", 400, body={})
            return
        base = {name: GOOD[name] for name in form.get("required", [])}
        is_settings = "minProperties" in form
        self.expect("an unknown member", 422 if is_settings else 400, body=base | {"no_such": 1})
        for name, member in form["properties"].items():
            if "format" in member:
                self.expect(f"another word for {name}", {404, 422}, body=base | {name: "no such"})
                continue
            for value in wrong_values(member):
                self.expect(f"a wrong value of {name}", 400, body=base | {name: value})
        for name in base if not is_one_of else []:  # else it is another form
            self.expect(f"{name} left out", 400, body={other: value for other, value in base.items() if other != name})

    def bad_names(self, arguments):
        """A text where the path needs a number."""
        for argument in arguments:
            if argument["schema"]["type"] == "integer":
                at = self.path
                self.path = at.rsplit("/", 1)[0] + "/x"
                self.expect("a text for a number", 400)
                self.path = at


def test_bad_requests_are_refused_as_described(w):
    api, n = Api(w.millrace()), 0
    for pattern, method, operation in api.operations():
        prober = Prober(api, pattern, method, operation)
        prober.bad_queries()
        prober.bad_bodies()
        prober.bad_names(api.document["paths"][pattern].get("parameters", []))
        n += prober.n
    if n < 500:
        raise Failed(f"only {n} requests were sent")


def test_other_methods_and_paths_are_refused_as_described(w):
    api = Api(w.millrace())
    responses = {status: {"$ref": f"/{status}"} for status in ("404", "405")}
    for pattern, path in api.document["paths"].items():
        at = pattern.replace("{name}", "no.such").replace("{number}", "1").replace("{id}", "1").replace("{job}", "1")
        known = api.methods(at)
        for method in (m for m in METHODS if m not in known):
            answer = api.ask(method, at)
            if answer.status != 405 or set(answer.headers["Allow"].split(", ")) != known | ({"HEAD"} if "GET" in known else set()):
                raise Failed(f"{method} {at}, which has {known}: {answer.headers['Allow']} {answer}")
            api.check(f"{method} {at}", responses, answer)
        if "{" not in at and at != "/" and not path.get("parameters"):
            answer = api.ask("GET", at + "/no/such/path")
            if answer.status != 404:
                raise Failed(f"{at}/no/such/path: {answer}")
            api.check(at, responses, answer)

"""The API as its description says it is: calls of the socket, and whether the answers fit."""
import copy
import json
import re

import jsonschema
import yaml
from servers import Failed, SocketConnection

METHODS = ("GET", "POST", "PATCH", "DELETE", "PUT")


def first_lines(answer):
    """Of a stream, which has no end: its greeting."""
    return "".join(iter(lambda: answer.readline().decode(), "\n")) if answer.length != 0 else ""


class Answer:
    def __init__(self, answer):
        self.status, self.headers = answer.status, answer.headers
        self.type = answer.headers.get("Content-Type")
        self.text = first_lines(answer) if self.type == "text/event-stream" else answer.read().decode()

    def __str__(self):
        return f"{self.status} {self.type} {self.text[:500]}"


def strict(schema):
    """The same schema, which refuses members that it does not name."""
    if isinstance(schema, list):
        return [strict(inner) for inner in schema]
    if not isinstance(schema, dict):
        return schema
    made = {name: strict(inner) for name, inner in schema.items()}
    if isinstance(made.get("properties"), dict):
        made.setdefault("additionalProperties", False)
    return made


class Api:
    """The description that a running daemon gives of itself."""

    def __init__(self, daemon):
        self.socket = daemon.config["socket"]
        self.document = json.loads(self.ask("GET", "/api/v1/openapi.json").text)
        self.strict = copy.deepcopy(self.document)
        self.strict["components"]["schemas"] = strict(self.document["components"]["schemas"])
        self.resolver = jsonschema.RefResolver.from_schema(self.strict)

    def ask(self, method, path, body=None, content_type="application/json", length=None):
        """An Answer.  length: announce so long a body, and send none."""
        connection = SocketConnection(self.socket, 60)
        try:
            connection.putrequest(method, path)
            if body is not None:
                body = body if isinstance(body, str) else json.dumps(body)
                length = len(body.encode())
                connection.putheader("Content-Type", content_type)
            if length is not None:
                connection.putheader("Content-Length", str(length))
            connection.endheaders(body.encode() if body is not None else None)
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def operations(self):
        """(pattern, METHOD, operation) of all."""
        for pattern, path in self.document["paths"].items():
            for method, operation in path.items():
                if method != "parameters":
                    yield pattern, method.upper(), operation

    def methods(self, path):
        """Those of all patterns that a path fits."""
        return {method for pattern, method, _ in self.operations()
                if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", pattern), path)}

    def problems(self, schema, value):
        validator = jsonschema.Draft202012Validator(schema, resolver=self.resolver)
        return [f"{'/'.join(map(str, e.path))}: {e.message[:300]}" for e in validator.iter_errors(value)]

    def form(self, name):
        """The schema of the form millrace/NAME, as {"$ref": ...}."""
        component = name.replace("/", ".")
        if component not in self.document["components"]["schemas"]:
            raise Failed(f"no schema describes the form {name}")
        return {"$ref": f"#/components/schemas/{component}"}

    def check(self, what, responses, answer):
        """The answer has a status that is described, with its media type and its form."""
        described = responses.get(str(answer.status))
        if described is None:
            raise Failed(f"{what}: the status is not described: {answer}")
        if "$ref" in described:
            described = self.document["components"]["responses"][described["$ref"].rsplit("/", 1)[1]]
        media = described["content"].get(answer.type) or described["content"].get("*/*")
        if media is None:
            raise Failed(f"{what}: the type is none of {list(described['content'])}: {answer}")
        read = json.loads if answer.type.endswith("json") else yaml.safe_load if answer.type.endswith("yaml") else str
        wrong = self.problems(media["schema"], read(answer.text))
        if wrong:
            raise Failed(f"{what}: {wrong}\n{answer}")
        for header in described.get("headers", {}):
            if header not in answer.headers:
                raise Failed(f"{what}: no {header}: {answer}")

"""What is wrong with the OpenAPI document in the file that is named."""
import json
import sys

import jsonschema
from openapi_spec_validator import openapi_v31_spec_validator


def schemas(node, place):
    """(place, schema) of all of an operation, and of the components."""
    if isinstance(node, dict):
        for name, inner in node.items():
            at = f"{place}/{name}"
            if name == "schema":
                yield at, inner
            elif name == "schemas":
                yield from ((f"{at}/{kind}", schema) for kind, schema in inner.items())
            else:
                yield from schemas(inner, at)
    elif isinstance(node, list):
        for i, inner in enumerate(node):
            yield from schemas(inner, f"{place}/{i}")


def problems(document):
    found = [(place, error.message) for place, schema in schemas(document, "#")
             for error in jsonschema.Draft202012Validator(jsonschema.Draft202012Validator.META_SCHEMA).iter_errors(schema)]
    if found:  # the other one stumbles over these
        return found
    try:
        return [("/".join(map(str, ["#", *error.path])), error.message) for error in openapi_v31_spec_validator.iter_errors(document)]
    except jsonschema.RefResolutionError as error:
        return [("#", str(error))]


with open(sys.argv[1], encoding="utf-8") as f:
    wrong = problems(json.load(f))
for place, what in wrong:
    print(f"{place}: {what[:300]}")
sys.exit(bool(wrong))

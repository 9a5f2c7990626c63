#!/usr/bin/env python3
"""Checks replies of berthd, as test/replies/listen.c notes them, against doc/openapi.json.

usage: check.py OPENAPI FILE

Prints a line for each reply that is not as the document says, and fails if there is one. The server may add members to what
it answers; here none may be there that the document does not name, so that it stays whole.
"""
import json
import re
import sys
import warnings

warnings.filterwarnings("ignore", category=DeprecationWarning)
try:
    import jsonschema
except ImportError:
    sys.exit(0)  # berthd_tour says that it is missing

LONG = 200


def operations(doc):
    """(method, pattern of paths, whether it has names in it, operation) of each."""
    for path, methods in doc["paths"].items():
        pattern = re.compile("^" + re.sub(r"\\{[^}]*\\}", "[^/]+", re.escape(path)) + "$")
        for method, operation in methods.items():
            yield method.upper(), pattern, "{" in path, operation


def find(known, method, path):
    found = [(by_name, operation) for m, pattern, by_name, operation in known if m == method and pattern.match(path)]
    return min(found, key=lambda f: f[0])[1] if found else None


def shorten(value):
    """Of long lists the ends: of 100,000 jobs all are written by the same code."""
    if isinstance(value, list):
        return [shorten(v) for v in (value if len(value) <= LONG else value[: LONG // 2] + value[-LONG // 2 :])]
    if isinstance(value, dict):
        return {k: shorten(v) for k, v in value.items()}
    return value


def closed(schema):
    """The schema, with nothing allowed in its objects that they do not name."""
    if isinstance(schema, list):
        return [closed(s) for s in schema]
    if not isinstance(schema, dict):
        return schema
    made = {k: closed(v) for k, v in schema.items()}
    if isinstance(schema.get("properties"), dict) and schema.get("type") == "object":
        made.setdefault("additionalProperties", False)
    return made


def schema_of(operation, status):
    """What the document says of such a reply; None: nothing."""
    if status[0] != "2":
        return {"$ref": "#/components/schemas/Error"}
    answer = operation["responses"].get(status) if operation else None
    return (answer or {}).get("content", {}).get("application/json", {}).get("schema")


def main():
    doc = json.load(open(sys.argv[1]))
    known = list(operations(doc))
    components = closed(doc["components"])
    validators, seen, wrong = {}, set(), []
    for line in open(sys.argv[2], encoding="utf-8", errors="surrogateescape"):
        if line in seen:
            continue
        seen.add(line)
        method, path, status, body = line.rstrip("\n").split("\t", 3)
        operation = find(known, "GET" if method == "HEAD" else method, path)
        schema = schema_of(operation, status)
        if not schema:
            wrong.append(f"{method} {path}: {status} with JSON, of which the document says nothing")
            continue
        key = json.dumps(schema)
        if key not in validators:
            validators[key] = jsonschema.Draft202012Validator({**closed(schema), "components": components})
        try:
            error = jsonschema.exceptions.best_match(validators[key].iter_errors(shorten(json.loads(body))))
        except ValueError as why:
            wrong.append(f"{method} {path}: {status}, {why}: {body[:200]}")
            continue
        if error:
            wrong.append(f"{method} {path}: {status}, {error.json_path}: {error.message[:300]}")
    print("\n".join(wrong[:10]))
    return len(wrong) > 0


sys.exit(main())

"""A client of berthd that is made from doc/openapi.json alone: a method for each operation, by its operationId.

    berth = Client("doc/openapi.json", "/path/to/berth.sock")
    berth.post_jobs(body={"command": ["true"]})["id"]
    berth.get_jobs(history="1")["jobs"]

What is asked is checked by the document before it is sent, and what is answered before it is returned; a refusal is raised.
"""
import http.client
import json
import socket
import urllib.parse
import warnings

warnings.filterwarnings("ignore", category=DeprecationWarning)
import jsonschema


class Refused(Exception):
    def __init__(self, status, message, key):
        super().__init__(f"{status}: {message}")
        self.status, self.key = status, key


class Connection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("berth", timeout=60)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(60)
        self.sock.connect(self.path)


class Client:
    def __init__(self, document, path):
        self.document = json.load(open(document))
        self.socket = path
        self.called = set()
        self.operations = {}
        for where, methods in self.document["paths"].items():
            for method, operation in methods.items():
                self.operations[operation["operationId"]] = (method.upper(), where, operation)

    def __getattr__(self, name):
        if name not in self.operations:
            raise AttributeError(name)
        return lambda body=None, **given: self.call(name, body, given)

    def call(self, name, body, given):
        method, path, operation = self.operations[name]
        query = {}
        for parameter in operation.get("parameters", []):
            value = given.pop(parameter["name"], None)
            if value is None and parameter.get("required"):
                raise TypeError(f"{name} needs {parameter['name']}")
            if value is None:
                continue
            self.check(value, parameter["schema"])
            if parameter["in"] == "path":
                path = path.replace("{%s}" % parameter["name"], urllib.parse.quote(value, safe=""))
            else:
                query[parameter["name"]] = value
        if given:
            raise TypeError(f"{name} takes no {', '.join(given)}")
        asked = operation.get("requestBody")
        if (body is not None) > bool(asked) or (body is None and asked and asked.get("required")):
            raise TypeError(f"{name} {'needs a' if asked else 'takes no'} body")
        if body is not None:
            self.check(body, asked["content"]["application/json"]["schema"])
        self.called.add(name)
        return self.send(method, path + ("?" + urllib.parse.urlencode(query) if query else ""), body, operation)

    def send(self, method, path, body, operation):
        connection = Connection(self.socket)
        connection.request(method, path, None if body is None else json.dumps(body))
        reply = connection.getresponse()
        text = reply.read().decode()
        connection.close()
        answers = operation["responses"]
        answer = answers.get(str(reply.status), answers["default"])
        kind = reply.headers.get_content_type()
        if kind not in answer["content"]:
            raise TypeError(f"{method} {path} answers with {kind}")
        value = json.loads(text) if kind == "application/json" else text
        self.check(value, answer["content"][kind]["schema"])
        if reply.status >= 300:
            raise Refused(reply.status, value["error"]["message"], value["error"]["key"])
        return value

    def check(self, value, schema):
        whole = {**schema, "components": self.document["components"]}
        jsonschema.validate(value, whole, jsonschema.Draft202012Validator)

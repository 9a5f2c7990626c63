#!/bin/sh
# doc/openapi.json describes the API: its paths are the server's routes, what it says of a submission are the keys that the
# server reads, and replies are as it says (test/daemon.sh looks at each). Events of what administrators do say who did it.
. "$BERTH_SOURCE/test/daemon.sh"
cd "$scratch" || exit 1
export BERTH_SOURCE
machine 4
python3 - <<'END' || fail "paths and keys"
import json, os, re, sys
source = os.environ["BERTH_SOURCE"]
read = lambda name: open(f"{source}/{name}").read()
doc = json.loads(read("doc/openapi.json"))
wrong = []
said = {(method.upper(), path) for path, of in doc["paths"].items() for method in of}
real = {(method, path.replace("#", "{job}").replace("*", "{name}"))
        for method, path in re.findall(r'{"([A-Z]+)", "(/[^"]*)"', read("src/server/api/api.c"))}
if len(real) < 30 or said != real:
    wrong.append(f"routes: {sorted(said ^ real)}")
keys = set(re.findall(r"KEY\(KEY_\w+, (\w+)\)", read("src/server/api/job_read.c")))
for name in "src/server/api/job_read.c", "src/config/job_keys.h", "src/config/gang_keys.h":
    keys |= set(re.findall(r'KEY_AS\([^"]*?"(\w+)"', read(name)))
described = set(doc["components"]["schemas"]["Submission"]["properties"])
if len(keys) < 40 or keys != described:
    wrong.append(f"keys of a submission: {sorted(keys ^ described)}")
asked = re.search(r"define ASK_KEYS.*?\n\n", read("src/config/job_keys.h"), re.S).group(0)
role = set(re.findall(r'"(\w+)"', asked)) | set(re.findall(r"KEY_OF\(struct role_keys, (\w+)", read("src/config/role_keys.c")))
described = set(doc["components"]["schemas"]["Role"]["properties"])
if len(role) < 13 or role != described:
    wrong.append(f"keys of a role: {sorted(role ^ described)}")
ids = [op["operationId"] for of in doc["paths"].values() for op in of.values()]
if len(ids) != len(set(ids)):
    wrong.append("an operationId is there twice")
print("\n".join(wrong))
sys.exit(bool(wrong))
END

# The head of an answer alone, as of any server of HTTP.
expect_status 0 "$BERTH" server start
for path in /v1/server /v1/jobs /v1/nodes /metrics; do
    api GET "$path" -I -X HEAD >head.txt
    head -n 1 head.txt | grep -q '^HTTP/1.1 200 ' || fail "HEAD $path: $(cat head.txt)"
    [ "$(tr -d '\r' <head.txt | sed '1,/^$/d' | wc -c)" = 0 ] || fail "HEAD $path has a body"
done
expect 'the head of nothing' 404 "$(http_status HEAD /v1/nope -I)"

# Jobs of all kinds, and what the server says of them and of itself
expect_status 0 "$BERTH" submit -n 2 --label a=b -o 'o.%j' --retries 1 --retry-delay 0.01s --notify true true
expect_status 0 "$BERTH" submit --array 3 --hold --max-fails 1 true
expect_status 0 "$BERTH" submit -c 4 -t 1h --priority 3 --signal USR1@60 sleep 1000
expect_status 0 "$BERTH" submit -c 4 --dependency afterany:1 --begin +1h true
expect_status 0 "$BERTH" submit --gang 2 --min 1 --hold true
expect_status 0 "$BERTH" submit sh -c 'exit 3'
api POST /v1/jobs -d '{"command": ["true"], "hold": true, "roles": [{"role": "a"}, {"role": "b", "count": 2, "min": 0, "cores": 2}]}' >/dev/null
expect_status 0 "$BERTH" wait 1
await_state 3 running
expect_status 0 "$BERTH" block add --start +48h --duration 1h update all
for path in /v1/server /v1/jobs '/v1/jobs?history=1' '/v1/jobs?history=1&arrays=1&order=newest' /v1/jobs/last /v1/jobs/1 \
    '/v1/jobs/2?environment=1' /v1/jobs/2.1 /v1/jobs/7 /v1/jobs/7.1 /v1/jobs/7/explain /v1/jobs/3 /v1/jobs/1/events \
    /v1/jobs/2/explain /v1/jobs/4/explain /v1/queues /v1/shares /v1/nodes /v1/resources /v1/classes /v1/blocks /v1/pilots; do
    expect "GET $path" 200 "$(http_status GET "$path")"
done
expect 'no such job' 404 "$(http_status GET /v1/jobs/999)"

# Who did what
expect_status 0 "$BERTH" queues --stop batch
node=$("$BERTH" nodes --json | sed -n 's/.*"name": *"\([^"]*\)".*/\1/p' | head -n 1)
expect_status 0 "$BERTH" drain "$node" new kernel
expect_status 0 "$BERTH" block remove update
api GET '/v1/events?since=0&follow=0' >events
me=$(id -un)
grep -q '"kind":"queue","data":{"started":false,"queue":"batch","by":"'"$me"'"}' events || fail "the event of a queue: $(grep '"queue",' events)"
grep -q '"kind":"resources".*"reason":"new kernel".*"by":"'"$me"'"' events || fail "the event of a drain: $(grep resources events)"
grep -q '"kind":"unblock","data":{"name":"update","by":"'"$me"'"}' events || fail "the event of a block: $(grep block events)"

# A key that is none is answered with the nearest one, whole.
api POST /v1/jobs -d '{"command": ["true"], "outptu": "x"}' >answer
grep -q 'unknown key \\"outptu\\", did you mean \\"output\\"?' answer || fail "an unknown key: $(cat answer)"
finish

#!/bin/sh
# A start that is only expected is told apart from one that is promised: in decisions, the table, as JSON and in the picture.
. "$BERTH_SOURCE/test/lib.sh"
cd "$scratch" || exit 1
echo 'resources: {nodes: 2, cores: 2}' >two.yaml

# same WHAT WANTED FOUND
same() {
    [ "$2" = "$3" ] || fail "$1: expected '$2', got '$3'"
}

# play KEY STATE EXPECTED DECISION WORD: b waits for a, of whose 100 s that key says whether they are its limit
play() {
    cat >events.jsonl <<END
{"at": 0, "submit": {"id": "a", "nodes": 2, "$1": 100}}
{"at": 0, "submit": {"id": "b", "nodes": 2, "limit": 100}}
END
    expect_status 0 "$BERTH" sim --config two.yaml --scenario events.jsonl --until 50 --decisions decided
    same "table of $1" "b $2" "$(awk '$1 == "b" { print $1, $4 }' out)"
    expect_status 0 "$BERTH" sim --config two.yaml --scenario events.jsonl --until 50 --json
    same "JSON of $1" "b reserved $3" "$(python3 -c '
import json
print(*["b %s %s" % (job["state"], job.get("expected", "none")) for job in json.load(open("out"))["jobs"] if job["job"] == "b"])')"
    same "decision of $1" "$4" "$(grep '"reserve"' decided)"
    expect_status 0 "$BERTH" sim --config two.yaml --scenario events.jsonl --until 50 --plot jobs.svg
    grep -o '<title>b [^<]*' jobs.svg | grep -q " $5 " || fail "picture of $1: $(grep -o '<title>[^<]*' jobs.svg)"
}
play estimate expected True '{"at": 0, "job": "b", "decision": "reserve", "start": 100, "expected": true}' expected
play limit reserved none '{"at": 0, "job": "b", "decision": "reserve", "start": 100}' promised
finish

#!/bin/sh
# What a simulation says of shares and preemption: a few jobs worked out by hand.
. "$BERTH_SOURCE/test/lib.sh"
cd "$scratch" || exit 1

# Two users, one machine of 4: the first has two jobs that take all of it, the second one.
job() { # ID SUBMIT USER QUEUE
    echo "$1 $2 -1 10 4 -1 -1 4 10 -1 1 $3 1 1 $4 -1 -1 -1"
}
{ job 1 0 1 -1; job 2 0 1 -1; job 3 0 2 -1; } >users.swf

config() { # ORDER
    echo "resources: {nodes: 1, cores: 4}"
    echo "queues: {q: {policy: easy, shares: {by: user, order: [$1]}}}"
}

is() { # WHAT IT EXPECTED
    [ "$2" = "$3" ] || fail "$1: expected $3, got $2"
}

value() { # KEY: of the only policy, or of its shares
    python3 -c 'import json, sys
policy = json.load(open("out"))["policies"][0]
value = policy.get(sys.argv[1], policy.get("shares", {}).get(sys.argv[1]))
print(round(value, 4) if isinstance(value, float) else value)' "$1"
}

# Job 1, then the other user's, then job 2. Each deserves half while both ask: for 20 of 30 s half of the machine
# is in other hands. Both get all that they deserve: 20 and 10 s of the machine.
config share >share.yaml
expect_status 0 "$BERTH" sim --config share.yaml --json --plot share.svg users.swf
is "Jain's index by share" "$(value jain)" 1.0
is 'mean error by share' "$(value mean_error)" 0.3333
is 'largest error by share' "$(value max_error)" 0.5
is 'error over time' "$(python3 -c 'import json
o = json.load(open("out"))["policies"][0]["shares"]["over_time"]
print(o["from_s"], o["step_s"], o["error"] == [.5] * 20 + [0] * 10)')" '0 1 True'
is 'preemptions by share' "$(value preemptions)" 0
grep -q 'user q/u1: deserved 66.7 %, had 66.7 % of the machine' share.svg || fail 'no panel of u1 in share.svg'
grep -q 'line: deserved · area: had, largest part of any resource · red: jobs were stopped' share.svg || fail 'how parts count in share.svg'
grep -q 'user q/u2: deserved 33.3 %, had 33.3 % of the machine' share.svg || fail 'no panel of u2 in share.svg'

# In the order of submission u1 has 20 s of the machine and deserves 10, u2 has 10 and deserves 20:
# (2 + 1/2)^2 / (2 * (4 + 1/4)).
config submit >submit.yaml
expect_status 0 "$BERTH" sim --config submit.yaml --json users.swf
is "Jain's index by submission" "$(value jain)" 0.7353
is 'mean error by submission' "$(value mean_error)" 0.3333

# Of two queues with a user each the first has all of the machine for 10 s, the other waits, and has it then. The users are
# half of the machine off for 10 of 20 s, and so are their queues, which are not counted once more.
cat >queues.yaml <<'END'
resources: {nodes: 1, cores: 4}
queues: {a: {policy: easy, shares: {by: user}}, b: {policy: easy, shares: {by: user}}}
trace: {queues: {1: a, 2: b}}
END
{ job 1 0 1 1; job 2 0 2 2; } >queues.swf
expect_status 0 "$BERTH" sim --config queues.yaml --json queues.swf
is 'mean error of users below queues' "$(value mean_error)" 0.25
is 'largest error of users below queues' "$(value max_error)" 0.5

# A scenario of the same jobs says the same of shares.
cat >users.jsonl <<'END'
{"at": 0, "submit": {"id": "a", "user": "u1", "cores": 4, "duration": 10}}
{"at": 0, "submit": {"id": "b", "user": "u1", "cores": 4, "duration": 10}}
{"at": 0, "submit": {"id": "c", "user": "u2", "cores": 4, "duration": 10}}
END
expect_status 0 "$BERTH" sim --config submit.yaml --json --scenario users.jsonl
of_scenario() { # KEY
    python3 -c 'import json, sys
print(round(json.load(open("out"))["shares"][sys.argv[1]], 4))' "$1"
}
is "Jain's index of a scenario" "$(of_scenario jain)" 0.7353
is 'mean error of a scenario' "$(of_scenario mean_error)" 0.3333
is 'largest error of a scenario' "$(of_scenario max_error)" 0.5
expect_status 0 "$BERTH" sim --scenario "$BERTH_SOURCE/test/scenario/hold/events.jsonl" --config "$BERTH_SOURCE/test/scenario/hold/config.yaml" --json
grep -q '"shares"' out && fail 'shares of a scenario without any'

# Shares in the picture of a scenario. Of 4 cores queue a runs on all until 10, when b asks for its half: two jobs of a's
# wait until 50, when b's end, and run until 150; the others end at 100. So a had, and deserved, all for 10 and 50 s and
# half for 40 and 50: 105 of 150 s of the machine. b had half of it for 40 s, and deserved that.
cat >reclaim.yaml <<'END'
resources: {nodes: 1, cores: 4}
shares: {resources: [core]}
queues:
  a: {policy: easy, preemptible: requeue, shares: {weight: 1}}
  b: {policy: easy, preempts: borrowers, shares: {weight: 1}}
END
cat >reclaim.jsonl <<'END'
{"at": 0, "submit": {"id": "a", "queue": "a", "array": 4, "cores": 1, "duration": 100}}
{"at": 10, "submit": {"id": "b", "queue": "b", "array": 2, "cores": 1, "duration": 40}}
END
cat >strips.py <<'END'
import re, sys
import xml.etree.ElementTree as tree

SVG = "{http://www.w3.org/2000/svg}"
root = tree.parse(sys.argv[1]).getroot()
captions = [(t.text, float(t.get("y"))) for t in root.iter(SVG + "text") if (t.text or "").startswith("queue ")]
assert [c[0] for c in captions] == sys.argv[3:], captions
grounds = [r for r in root.iter(SVG + "rect") if r.get("class") == "ground"]
left, width = (float(grounds[0].get(key)) for key in ("x", "width"))
stops = [p.get("d") for p in root.iter(SVG + "path") if p.get("class") == "stop"]
wanted = left + width * 10 / int(sys.argv[2])
for d, (_, y) in zip(stops, captions, strict=True):
    (x, top, down), = re.findall(r"M([\d.]+)[ ,]?([\d.]+)v([\d.]+)", d)
    assert abs(float(x) - wanted) < 0.2 and 0 < float(top) - y < 10, (d, wanted, y)
height = float(root.get("height") or root.get("viewBox").split()[-1])
assert captions[-1][1] + float(down) < height, (captions, height)
END
expect_status 0 "$BERTH" sim --config reclaim.yaml --scenario reclaim.jsonl --plot reclaim.svg
python3 -B strips.py reclaim.svg 150 'queue a: deserved 70.0 %, had 70.0 % of the machine' \
    'queue b: deserved 13.3 %, had 13.3 % of the machine' || fail 'shares in the picture of a scenario'
# Up to 30, of which both have had half for 20 s. A job of a's is promised a start at 50, and drawn until 150.
expect_status 0 "$BERTH" sim --config reclaim.yaml --scenario reclaim.jsonl --until 30 --plot part.svg
python3 -B strips.py part.svg 150 'queue a: deserved 66.7 %, had 66.7 % of the machine' \
    'queue b: deserved 33.3 %, had 33.3 % of the machine' || fail 'shares in the picture up to a time'

# A picture is of all the time of which it says who deserved how much. Nobody has anything while a job may not begin yet, and
# that job's box begins where 30 of 40 s are over: 112 and three quarters of 872.
cat >begin.jsonl <<'END'
{"at": 0, "submit": {"id": "a", "user": "u1", "cores": 4, "duration": 10, "begin": 30}}
END
expect_status 0 "$BERTH" sim --config share.yaml --scenario begin.jsonl --plot begin.svg
grep -q 'user q/u1: deserved 25.0 %, had 25.0 % of the machine' begin.svg || fail 'shares of a job that begins late'
grep -q '<path class="k0 e" d="M766[ ,]' begin.svg || fail "the box of a job that begins late: $(grep -o '<path class="k0 e"[^>]*' begin.svg)"

# All four of a's are stopped at 10 for b's, which last until 50, and wait until then: so eight jobs have run, on all cores
# all the time, a's have waited 50 s each and b's not at all. Each core has three boxes.
sed 's/"array": 2/"array": 4/' reclaim.jsonl >all.jsonl
sed 's/, preempts: borrowers//' reclaim.yaml >all.yaml
expect_status 0 "$BERTH" sim --config all.yaml --scenario all.jsonl --plot all.svg
grep -q '>8 jobs ran · 100.0 % of the cores in use · waited 25.0 s on average, 50.0 s at most<' all.svg ||
    fail "jobs that were stopped: $(grep -o '>[^<]* jobs ran[^<]*' all.svg)"
is 'boxes of runs that were stopped' "$(grep -o '<title>[^<]* · stopped · [^<]*ran 10.0 s<' all.svg | wc -l)" 4
is 'boxes of jobs that ran after that' "$(grep -o '<title>[^<]* · done · [^<]*<' all.svg | wc -l)" 8
grep -q '>4</text>' all.svg || fail 'how many waited at most'

# Two of a's had run on a core for 10 s each; and if they take 5 s to stop, for 15.
expect_status 0 "$BERTH" sim --config reclaim.yaml --scenario reclaim.jsonl --json
of_run() { # KEY
    python3 -c 'import json, sys
print(json.load(open("out"))[sys.argv[1]])' "$1"
}
is 'preemptions of a scenario' "$(of_run preemptions)" 2
is 'work lost in a scenario' "$(of_run work_lost_s)" 20
expect_status 0 "$BERTH" sim --config reclaim.yaml --scenario reclaim.jsonl
grep -qxF 'preemptions: 2, with 0.01 core hours lost' out || fail "the table: $(cat out)"
sed 's/"cores": 1, "duration": 100/&, "stopping": 5/' reclaim.jsonl >slow.jsonl
expect_status 0 "$BERTH" sim --config reclaim.yaml --scenario slow.jsonl --json
is 'work lost by jobs that stop slowly' "$(of_run work_lost_s)" 30
expect_status 0 "$BERTH" sim --config share.yaml --scenario users.jsonl --json
is 'preemptions of a scenario without any' "$(of_run preemptions) $(of_run work_lost_s)" '0 0'

# A job of 4 processors has run for 4 s when it is stopped for another.
cat >two.yaml <<'END'
resources: {nodes: 1, cores: 4}
queues:
  low: {policy: easy, preemptible: requeue}
  high: {policy: easy}
trace: {queues: {1: low, 2: high}}
END
{ job 1 0 1 1; job 2 4 1 2; } >two.swf
expect_status 0 "$BERTH" sim --config two.yaml --json two.swf
is 'preemptions' "$(value preemptions)" 1
is 'work lost' "$(value work_lost_s)" 16.0
is 'shares' "$(value shares)" None

finish

#!/bin/sh
# The picture of a scenario: named rows, boxes where jobs have been, what is promised, and times since 0.
. "$BERTH_SOURCE/test/lib.sh"
cd "$scratch" || exit 1
cat >two.yaml <<'END'
resources: {nodes: 2, cores: 4, gpus: 1}
licenses: {matlab: 2}
match: {policy: low}
queues:
  batch: {policy: easy}
END
cat >events.jsonl <<'END'
{"at": 0, "submit": {"id": "a", "user": "ann", "tasks": 1, "cores": 3, "gpus": 1, "licenses": {"matlab": 1}, "duration": 1000}}
{"at": 0, "submit": {"id": "b", "user": "bob", "tasks": 4, "cores": 1, "duration": 400, "runtime": 300}}
{"at": 10, "submit": {"id": "whole", "user": "bob", "nodes": 2, "exclusive": true, "duration": 300}}
{"at": 20, "submit": {"id": "never", "user": "bob", "nodes": 3, "duration": 300}}
END
cat >look.py <<'END'
import re, sys
import xml.etree.ElementTree as tree

SVG = "{http://www.w3.org/2000/svg}"
root = tree.parse(sys.argv[1]).getroot()
texts = [t.text for t in root.iter(SVG + "text")]
ground = [r for r in root.iter(SVG + "rect") if r.get("class") == "ground"][0]
left, width, height = (float(ground.get(key)) for key in ("x", "width", "height"))
jobs = {}
for g in root.iter(SVG + "g"):
    title, path = g.find(SVG + "title").text, g.find(SVG + "path")
    boxes = re.findall(r"M([\d.]+)[ ,]?([\d.]+)h([\d.]+)v([\d.]+)", path.get("d"))
    jobs[title.split(" ")[0]] = (title, path.get("class").split(), [list(map(float, b)) for b in boxes])
assert set(jobs) == {"a", "b", "whole"}, jobs
assert texts.count("core3") == 2 and texts.count("gpu0") == 2, texts
assert not any("matlab" in text for text in texts), texts
END
expect_status 0 "$BERTH" sim --config two.yaml --scenario events.jsonl --plot whole.svg
cat look.py - >all.py <<'END'
# Ten rows; all of them have been of the exclusive job, from 1000 to 1300 of 1300 s.
(x, y, wide, high), = jobs["whole"][2]
assert abs(high - height) < 0.2, (high, height)
assert abs(x - left - width * 1000 / 1300) < 0.3 and abs(wide - width * 300 / 1300) < 0.3, (x, wide)
# Three cores and a GPU are four rows, and b had four in 300 s.
assert abs(sum(box[3] for box in jobs["a"][2]) - 0.4 * height) < 0.3, jobs["a"]
assert abs(sum(box[3] for box in jobs["b"][2]) - 0.4 * height) < 0.3, jobs["b"]
assert abs(jobs["b"][2][0][2] - width * 300 / 1300) < 0.3, jobs["b"]
assert "waited 16m 30s" in jobs["whole"][0] and "waited 0.000 s" in jobs["a"][0], jobs
assert jobs["b"][1][0] == jobs["whole"][1][0] != jobs["a"][1][0], jobs
assert "colour: user" in texts and "5m" in texts and "now" not in texts, texts
# Of 8 cores for 1300 s: 3 for 1000, 4 for 300, 8 for 300.
assert any("63.5 % of the cores in use" in text for text in texts), texts
assert "prefers-color-scheme:dark" in root.find(SVG + "style").text
END
python3 -B all.py whole.svg || fail "the whole"

# Up to a time: what runs, and what is promised, dashed; standard output gets the picture alone.
expect_status 0 "$BERTH" sim --config two.yaml --scenario events.jsonl --until 500 --plot -
cp out part.svg
cat look.py - >part.py <<'END'
assert "p" in jobs["whole"][1] and "promised" in jobs["whole"][0], jobs
assert "p" not in jobs["a"][1] and "running" in jobs["a"][0], jobs
assert "now" in texts, texts
END
python3 -B part.py part.svg || fail "up to a time"

# Nothing to draw, or not to be written.
echo '{"at": 0, "submit": {"id": "never", "nodes": 3, "duration": 300}}' >none.jsonl
expect_status 1 "$BERTH" sim --config two.yaml --scenario none.jsonl --plot none.svg
grep -q 'nothing to draw' err || fail "nothing: $(cat err)"
[ ! -e none.svg ] || fail "a picture of nothing"
expect_status 2 "$BERTH" sim --config two.yaml --scenario events.jsonl --plot events.jsonl
grep -q 'is the scenario' err || fail "over the scenario: $(cat err)"

# A replay's picture has colours for dark screens too.
expect_status 0 "$BERTH" sim --model lublin --jobs-count 5 --procs 8 --plot replay.svg
grep -q 'prefers-color-scheme:dark' replay.svg || fail "a replay on a dark screen"
# Names are cut at characters, in the legend and in boxes, and end in an ellipsis then.
cat >names.jsonl <<'END'
{"at": 0, "submit": {"id": "a", "user": "aжжжжжжжжжжжжжжжжж", "tasks": 1, "cores": 3, "duration": 900}}
{"at": 0, "submit": {"id": "b", "user": "carl-with-a-long-name", "tasks": 1, "cores": 3, "duration": 1000}}
{"at": 0, "submit": {"id": "a-name-that-is-so-long-that-no-box-has-room-for-all-of-it-whatever-its-width-may-be-as-it-is-cut-at-120-bytes-in-any-case-and-goes-on", "user": "bob", "tasks": 1, "cores": 1, "duration": 100000}}
END
expect_status 0 "$BERTH" sim --config two.yaml --scenario names.jsonl --plot names.svg
/usr/bin/python3 - names.svg <<'END' || fail 'names in the picture'
import sys
import xml.etree.ElementTree as tree

texts = [t.text for t in tree.parse(sys.argv[1]).getroot().iter("{http://www.w3.org/2000/svg}text")]
assert "aжжжжжжжжжжжжжж…" in texts, texts
assert "carl-with-a-lon…" in texts, texts
long = [t for t in texts if t.startswith("a-name-that")]
assert len(long) == 1 and long[0].endswith("…") and len(long[0]) > 100, texts
END
finish

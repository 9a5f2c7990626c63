#!/bin/sh
# The picture of history: named rows, jobs that are all of a node's, promised starts, times as they were.
. "$BERTH_SOURCE/test/daemon.sh"
cd "$scratch" || exit 1
cat >site.yaml <<'END'
resources: {nodes: 2, cores: 4, gpus: 1}
server: {imagined: yes}
queues:
  default: {policy: easy}
  fast: {}
default-queue: default
END
expect_status 0 "$BERTH" server start --config site.yaml
expect_status 1 "$BERTH" history --plot none.svg
expect_line err 'berth history: nothing to draw: none of these jobs ran'
[ ! -e none.svg ] || fail "a picture of nothing"
expect_status 2 "$BERTH" history --plot none.svg --plot-by size
expect_line err "berth history: --plot-by is 'size', expected user, queue or state; see 'berth history --help'"

expect_status 0 "$BERTH" submit -N 2 -x --name whole sleep 0.3
expect_status 0 "$BERTH" wait 1
expect_status 1 "$BERTH" run -q fast --name 'a<b' false
expect_status 0 "$BERTH" submit -t 1h --name long sleep 600
expect_status 0 "$BERTH" submit -N 2 -x -t 10m --name next sleep 600
expect_status 0 "$BERTH" submit --hold --name held sleep 600
await_state 3 running

cat >look.py <<'END'
import re, sys
import xml.etree.ElementTree as tree

SVG = "{http://www.w3.org/2000/svg}"
root = tree.parse(sys.argv[1]).getroot()
texts = [t.text for t in root.iter(SVG + "text")]
jobs = {}
for g in root.iter(SVG + "g"):
    title, path = g.find(SVG + "title").text, g.find(SVG + "path")
    boxes = re.findall(r"M([\d.]+)[ ,]?([\d.]+)h([\d.]+)v([\d.]+)", path.get("d"))
    jobs[title.split(" ")[1]] = (title, path.get("class").split(), [list(map(float, b)) for b in boxes])
for row in ["node0", "node1", "core0", "core3", "gpu0"]:
    assert row in texts, (row, texts)
assert texts.count("core0") == 2, texts
assert set(jobs) == {"whole", "a<b", "long", "next"}, jobs
# What has both nodes to itself has one box over all ten rows.
ground = [r for r in root.iter(SVG + "rect") if r.get("class") == "ground"][0]
(x, y, width, height), = jobs["whole"][2]
assert abs(height - float(ground.get("height"))) < 0.2, (height, ground.attrib)
# One core has a tenth of that.
(_, _, _, one), = jobs["long"][2]
assert abs(one * 10 - height) < 1, (one, height)
assert "f" in jobs["a<b"][1] and "failed" in jobs["a<b"][0], jobs
assert "p" in jobs["next"][1] and "promised" in jobs["next"][0], jobs
assert "p" not in jobs["long"][1], jobs
# It begins an hour after the other, in the place of both nodes.
assert jobs["next"][2][0][3] == height, jobs
assert jobs["next"][2][0][0] > jobs["long"][2][0][0], jobs
assert "now" in texts and "cores in use" in texts and "jobs waiting" in texts, texts
# A job that started at once has waited for thousandths of a second, not for one.
wait = re.search(r"waited ([\d.]+) s", jobs["whole"][0])
assert float(wait.group(1)) < 1, jobs["whole"][0]
colors = {name: job[1][0] for name, job in jobs.items()}
assert (colors["a<b"] == colors["long"]) == (sys.argv[2] == "user"), (colors, sys.argv)
assert "prefers-color-scheme:dark" in root.find(SVG + "style").text
END
for by in user queue state; do
    expect_status 0 "$BERTH" history --plot "$by.svg" --plot-by "$by"
    python3 -B look.py "$by.svg" "$by" || fail "by $by"
done
expect_status 0 "$BERTH" history -s failed --plot failed.svg
[ "$(grep -c '<title>' failed.svg)" = 1 ] || fail "more than what has failed"
expect_status 0 "$BERTH" server stop
finish

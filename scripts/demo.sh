#!/bin/sh
# Real jobs of mixed shapes on this machine, under backfill, by a server of its own in a folder that is gone afterwards.
#
# usage: demo.sh BUILD PICTURE
set -eu

berth=$1/berth
picture=$2
BERTH_DIR=$(mktemp -d)
export BERTH_DIR
unset BERTH_SOCKET
clean_up() {
    "$berth" cancel --all 2>/dev/null || true
    "$berth" server stop 2>/dev/null || true
    # The keeper goes once the last process has.
    rm -rf "$BERTH_DIR" 2>/dev/null || { sleep 0.5; rm -rf "$BERTH_DIR"; }
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

"$berth" server start
cores=$("$berth" resources --json | sed -n 's/^  "cores": \([0-9]*\),$/\1/p')
[ "$cores" -le 16 ] || cores=16

# Jobs of 1, half of or all cores, for 1 to 4 seconds, about 14 seconds of the whole machine; every limit is a second more
# than what it takes. They all wait at first, so that the queue has something to choose from.
awk -v cores="$cores" 'BEGIN {
    srand(5)
    for (sum = 0; sum < 14 * cores; sum += c * t) {
        r = rand()
        c = r < 0.45 ? 1 : r < 0.75 ? int(cores / 4) : r < 0.9 ? int(cores / 2) : cores
        c = c < 1 ? 1 : c
        t = 1 + int(rand() * 4)
        name = c == cores ? "whole" : c == 1 ? "small" : "wide"
        printf "%s{\"command\": [\"sleep\", \"%d\"], \"cores\": %d, \"duration\": %d, \"name\": \"%s\", \"directory\": \"/\"}", \
            sum ? ",\n" : "[", t, c, t + 1, name
    }
    print "]"
}' >"$BERTH_DIR/jobs.json"
jobs=$("$berth" submit --bulk "$BERTH_DIR/jobs.json" | wc -l)
echo "$jobs jobs on $cores cores, first come, first served with backfill"
echo

lines=0
while left=$("$berth" jobs --json | grep -c '"id"' || true) && [ "$left" -gt 0 ]; do
    if [ -t 1 ]; then
        [ "$lines" -eq 0 ] || printf '\033[%dA\033[J' "$lines"
        "$berth" jobs | cut -c 1-78 | head -n 15 >"$BERTH_DIR/now"
        cat "$BERTH_DIR/now"
        echo "$((jobs - left)) of $jobs have ended"
        lines=$(($(wc -l <"$BERTH_DIR/now") + 1))
    fi
    sleep 0.25
done
[ "$lines" -eq 0 ] || printf '\033[%dA\033[J' "$lines"

"$berth" history -n 0 --plot "$picture"
"$berth" history -n 0 | cut -c 1-78
echo
echo "The picture: $picture, for a web browser. Your own: $berth run COMMAND"

#!/bin/sh
# Draw a terminal in which some commands are run for real, on this machine, by a server of their own.
#
# usage: cast.sh BUILD >PICTURE.svg
set -eu

build=$(cd "$1" && pwd)
folder=$(mktemp -d)
BERTH_DIR=$folder/berth
PATH=$build:$PATH
export BERTH_DIR PATH
unset BERTH_SOCKET
clean_up() {
    berth cancel --all >/dev/null 2>&1 || true
    berth server stop >/dev/null 2>&1 || true
    rm -rf "$folder" 2>/dev/null || { sleep 0.5; rm -rf "$folder"; }
}
trap clean_up EXIT
cd "$folder"
berth server start >/dev/null
all=$(berth resources --json | sed -n 's/^  "cores": \([0-9]*\),$/\1/p')
[ "$all" -gt 1 ] || all=2

# show COMMAND: as it is typed, and what it prints
show() {
    printf '$ %s\n' "$1"
    sh -c "$1" 2>&1 | fold -s -w 116
    echo
}
{
    show "berth run -c $all sh -c 'echo hello from \$BERTH_CPUS'"
    show "berth submit -t 20m -c $((all / 2)) --name train sleep 1200"
    show "berth submit -t 1h -c $all --name wide sleep 3000"
    show "berth submit --array 1-50 -t 10m --name parts sleep 500"
    sleep 0.5
    show "berth jobs"
    show "berth explain 3"
    show "berth cancel 2"
    sleep 0.5
    show "berth jobs"
} >lines

# Commands appear one after the other, each with its answer; where nothing moves, all of it is there.
awk '
function plain(s) { gsub(/&/, "\\&amp;", s); gsub(/</, "\\&lt;", s); gsub(/>/, "\\&gt;", s); return s }
/^\$ / { at += n ? 1.6 : 0.4 }
{ text[++n] = $0; when[n] = at + (/^\$ / ? 0 : 0.7) }
END {
    height = n * 19 + 40
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 960 %d\" font-family=\"monospace\" font-size=\"13\" role=\"img\">\n", height
    print "<title>A terminal: jobs are run, submitted, listed and explained</title>"
    print "<style>@keyframes come{from{visibility:hidden}to{visibility:visible}}text{fill:#d6dde6;white-space:pre;animation:come 0s backwards}.typed{fill:#8fd694;font-weight:700}</style>"
    printf "<rect width=\"960\" height=\"%d\" rx=\"8\" fill=\"#161b22\"/>\n", height
    for (i = 1; i <= n; i++) {
        if (text[i] == "") continue
        printf "<text%s xml:space=\"preserve\" x=\"18\" y=\"%d\" style=\"animation-delay:%.1fs\">%s</text>\n", \
            text[i] ~ /^\$ / ? " class=\"typed\"" : "", i * 19 + 16, when[i], plain(text[i])
    }
    print "</svg>"
}' lines

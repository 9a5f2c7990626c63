#!/bin/sh
# Draw why backfill matters: one workload first come, first served, and with backfill, on one axis. What idles while jobs
# wait is hatched.
#
# usage: backfill.sh BERTH >PICTURE.svg
set -eu

berth=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
procs=32
"$berth" sim --model lublin --jobs-count 60 --procs $procs --seed 3 --policy fcfs,easy --jobs "$folder/jobs.csv" >/dev/null

# Each job is drawn on the lowest processors that are free when it starts, in as many boxes as these have gaps.
cat "$folder/jobs.fcfs.csv" "$folder/jobs.easy.csv" | awk -F , -v procs=$procs '
function span_text(s) { return s >= 36000 ? sprintf("%.0f h", s / 3600) : s >= 3600 ? sprintf("%.1f h", s / 3600) : sprintf("%.0f min", s / 60) }
function x(at) { return left + at * (right - left) / last }
function box(class, from, to, low, n,   top) {
    top = base + height - (low + n) * height / procs
    printf "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n", class, x(from), top, x(to) - x(from), n * height / procs
}
# Sort indices by a key, ascending: few of them.
function sort(key, index_of, n,   i, k, t) {
    for (i = 2; i <= n; i++)
        for (k = i; k > 1 && (key[index_of[k]] < key[index_of[k - 1]]); k--) { t = index_of[k]; index_of[k] = index_of[k - 1]; index_of[k - 1] = t }
}
function draw(p,   i, k, c, low, run, at, next_at, used, waits, m) {
    for (c = 0; c < procs; c++) free_at[c] = 0
    for (i = 1; i <= n[p]; i++) { order[i] = i; begin[i] = start[p, i] }
    sort(begin, order, n[p])
    # The instants at which anything changes, and between them what idles while somebody waits.
    m = 0
    split("", times); split("", sorted)
    for (i = 1; i <= n[p]; i++) { times[++m] = submit[p, i]; times[++m] = start[p, i]; times[++m] = end[p, i] }
    for (i = 1; i <= m; i++) sorted[i] = i
    sort(times, sorted, m)
    for (k = 1; k < m; k++) {
        at = times[sorted[k]]; next_at = times[sorted[k + 1]]
        if (next_at <= at) continue
        used = waits = 0
        for (i = 1; i <= n[p]; i++) {
            if (start[p, i] <= at && end[p, i] > at) used += units[p, i]
            if (submit[p, i] <= at && start[p, i] > at) waits++
        }
        if (waits && used < procs) box("lost", at, next_at, 0, procs)
    }
    for (i = 1; i <= n[p]; i++) {
        k = order[i]; left_over = units[p, k]; run = 0
        for (c = 0; c <= procs; c++) {
            if (c < procs && left_over > 0 && free_at[c] <= start[p, k]) {
                if (!run) low = c
                run++; left_over--; free_at[c] = end[p, k]
            } else if (run) { box("job", start[p, k], end[p, k], low, run); run = 0 }
        }
    }
}
function panel(p, title) {
    base = p == 1 ? 64 : 228
    printf "<text class=\"title\" x=\"%d\" y=\"%d\">%s</text>\n", left, base - 12, title
    printf "<rect class=\"frame\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n", left, base, right - left, height
    draw(p)
    printf "<text class=\"number\" x=\"%d\" y=\"%d\">%s</text>\n", right + 24, base + 52, span_text(wait[p] / n[p])
    printf "<text class=\"what\" x=\"%d\" y=\"%d\">mean wait</text>\n", right + 24, base + 74
    printf "<text class=\"what\" x=\"%d\" y=\"%d\">all done after %s</text>\n", right + 24, base + 98, span_text(done[p])
}
FNR == 1 || /^job/ { next }
BEGIN { p = 0; left = 20; right = 640; height = 120 }
{
    if ($1 + 0 <= previous) p++
    if (!p) p = 1
    previous = $1 + 0
    i = ++n[p]
    submit[p, i] = $2; start[p, i] = $3; end[p, i] = $4; units[p, i] = $5
    wait[p] += $3 - $2
    if ($4 > done[p]) done[p] = $4
    if ($4 > last) last = $4
}
END {
    print "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 820 390\" font-family=\"sans-serif\" role=\"img\">"
    print "<title>First come, first served leaves processors idle while jobs wait; backfill uses them</title>"
    print "<style>text{fill:#222}.title{font-size:17px;font-weight:600}.number{font-size:38px;font-weight:700}.what{font-size:15px}.frame{fill:none;stroke:#888}.job{fill:#3b76b5;stroke:#fff;stroke-width:.6}.lost{fill:url(#hatch)}.paper{fill:#fff}.line{stroke:#d9534f}@media(prefers-color-scheme:dark){text{fill:#eee}.paper{fill:#161b22}.job{fill:#5b9bd8;stroke:#161b22}}</style>"
    print "<defs><pattern id=\"hatch\" width=\"7\" height=\"7\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\"><line class=\"line\" x1=\"0\" y1=\"0\" x2=\"0\" y2=\"7\" stroke-width=\"2\"/></pattern></defs>"
    print "<rect class=\"paper\" width=\"820\" height=\"390\"/>"
    panel(1, "First come, first served")
    panel(2, "With backfill (easy)")
    printf "<rect class=\"lost\" x=\"%d\" y=\"362\" width=\"22\" height=\"14\"/><text class=\"what\" x=\"%d\" y=\"374\">idle while a job waits</text>\n", left, left + 30
    printf "<text class=\"what\" x=\"%d\" y=\"374\" text-anchor=\"end\">%d jobs on %d processors, time to the right</text>\n", right, n[1], procs
    print "</svg>"
}'

#!/bin/sh
# The hand-made scenarios of the pyss scheduler: every job ends when its id says, under every policy that its file
# was written for. 52 files, 119 pairs of a file and a policy, on 100 processors.
#
# usage: pyss.sh [BERTH [SHARED]]   or with both in the environment; SHARED has traces/pyss-scenarios.tar.gz
set -u

here=$(dirname "$0")
berth=${1:-${BERTH:-build/berth}}
scenarios=${2:-${BERTH_SHARED:-../shared}}/traces/pyss-scenarios.tar.gz

if [ ! -e "$scenarios" ]; then
    echo "skipped: no $scenarios"
    exit 77
fi

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
tar -xzf "$scenarios" -C "$scratch" || exit 1

files=0
pairs=0
failures=0

# run_files 'PATTERN' POLICY...: every file of that pattern under each of the policies
run_files() {
    pattern=$1
    shift
    # shellcheck disable=SC2231  # the pattern is one
    for file in "$scratch"/*/$pattern; do
        [ -e "$file" ] || continue
        files=$((files + 1))
        sh "$here/pyss_to_swf.sh" "$file" "$scratch/ends" >"$scratch/trace.swf" || exit 1
        for policy in "$@"; do
            pairs=$((pairs + 1))
            rm -f "$scratch/out.csv"
            if "$berth" sim "$scratch/trace.swf" --procs 100 --policy "$policy" \
                --jobs "$scratch/out.csv" >"$scratch/log" 2>&1 </dev/null &&
                tail -n +2 "$scratch/out.csv" | cut -d, -f1,4 | cmp -s - "$scratch/ends"; then
                continue
            fi
            failures=$((failures + 1))
            echo "FAIL: ${file##*/} under $policy"
            cat "$scratch/log"
            [ -e "$scratch/out.csv" ] && tail -n +2 "$scratch/out.csv" | cut -d, -f1,4 |
                diff "$scratch/ends" - | sed -n 's/^</  expected job,end:/p; s/^>/  found job,end:/p'
        done
    done
}

run_files 'basic_input*' fcfs easy conservative
run_files 'fcfs_input*' fcfs
run_files 'bf_input*' easy conservative
run_files 'easy_bf_input*' easy
run_files 'cons_bf_input*' conservative

if [ "$files" -ne 52 ] || [ "$pairs" -ne 119 ]; then
    echo "FAIL: $files files and $pairs pairs instead of 52 and 119"
    exit 1
fi
echo "$files scenarios, $pairs pairs with a policy, $failures failed"
[ "$failures" -eq 0 ]

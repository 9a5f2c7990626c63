#!/bin/sh
# Builds the fuzz targets in a build directory that is set up for them and runs each for a while.
#
# usage: fuzz.sh BUILD SECONDS
#
# New inputs gather in BUILD/corpus/X, beside the ones of test/fuzz/corpus/X that a run starts from; what
# crashes a target is left in BUILD/crash. Ends with the line "N passed, N failed", counting targets.
set -u

build=$1
seconds=$2

give_up() {
    echo "berth: $1" >&2
    echo "0 passed, 1 failed"
    exit 1
}

# shellcheck disable=SC2086  # NINJAFLAGS is several words
ninja -C "$build" ${NINJAFLAGS:-} || give_up "$build does not build"

# In CI always the same inputs and no more of them on a faster machine, so that a change is not judged by
# luck; elsewhere new ones.
seed=0
runs=-1
if [ "${CI:-}" = true ]; then
    seed=1
    runs=20000
fi

# search TARGET: what it says is in BUILD/TARGET.log; one that fails leaves BUILD/TARGET.failed
search() {
    corpus=$build/corpus/${1#fuzz_}
    mkdir -p "$corpus"
    "$build/test/fuzz/$1" -max_total_time="$seconds" -runs="$runs" -seed="$seed" -timeout=10 -rss_limit_mb=2048 \
        -artifact_prefix="$build/crash/${1#fuzz_}-" "$corpus" "test/fuzz/corpus/${1#fuzz_}" \
        >"$build/$1.log" 2>&1 </dev/null || touch "$build/$1.failed"
}

# As many at a time as there are processors
mkdir -p "$build/crash"
rm -f "$build"/fuzz_*.failed
targets=$(for source in test/fuzz/fuzz_*.c; do basename "$source" .c; done)
running=0
for name in $targets; do
    search "$name" &
    running=$((running + 1))
    [ $((running % $(nproc))) -ne 0 ] || wait
done
wait

passed=0
failed=0
for name in $targets; do
    if [ ! -e "$build/$name.failed" ]; then
        passed=$((passed + 1))
        echo "$name: $(tail -n 1 "$build/$name.log")"
    else
        failed=$((failed + 1))
        tail -n 40 "$build/$name.log"
        echo "$name: failed, the input is in $build/crash"
    fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

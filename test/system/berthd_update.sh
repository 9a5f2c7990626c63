#!/bin/sh
# Waiting jobs that are put first, or off.
. "$BERTH_SOURCE/test/daemon.sh"
cd "$scratch" || exit 1
machine 1
mkfifo gate
busy=$("$BERTH" submit sh -c "cat $scratch/gate")
await_state "$busy" running
a=$("$BERTH" submit -t 10 sh -c "echo a >>$scratch/order")
b=$("$BERTH" submit -t 10 sh -c "echo b >>$scratch/order")
c=$("$BERTH" submit -t 10 --priority 5 sh -c "echo c >>$scratch/order")
d=$("$BERTH" submit -t 10 --begin +9h sh -c "echo d >>$scratch/order")

# b goes before c, which had the highest priority; what is first already stays as it is.
expect_status 0 "$BERTH" update --first "$b"
expect 'first' 6 "$(get "$b" priority)"
expect_status 0 "$BERTH" update --first "$b"
expect 'first already' 6 "$(get "$b" priority)"

# a is put off, and d is not any more; both over a restart.
expect_status 0 "$BERTH" update --begin +8h "$a"
"$BERTH" explain "$a" | grep -q 'to start in 7h 59m\|to start in 8h' || fail "put off: $("$BERTH" explain "$a")"
expect_status 0 "$BERTH" update --begin now "$d"
crash
expect_status 0 "$BERTH" server start
"$BERTH" explain "$a" | grep -q 'to start in 7h 5\|to start in 8h' || fail "after a restart: $("$BERTH" explain "$a")"
echo >gate
for job in "$b" "$c" "$d"; do
    expect_status 0 "$BERTH" wait "$job"
done
expect 'the order' 'b c d' "$(tr '\n' ' ' <order | sed 's/ $//')"
expect 'the one put off' pending "$(state "$a")"
expect_status 0 "$BERTH" update --begin now "$a"
expect_status 0 "$BERTH" wait "$a"

# What can't be.
expect_status 1 "$BERTH" update --begin +1h "$a"
expect_status 2 "$BERTH" update --begin soon "$a"
for wrong in --cores=3 --mem --name=b -c -N2; do
    expect_status 2 "$BERTH" update $wrong 3 "$a"
    expect_err "berth update: unknown option '$wrong' (what a job asks for stays; berth resubmit takes other cores, memory, names); see 'berth update --help'"
done
expect_status 2 "$BERTH" update --dependency afterok:1 "$a"
grep -q 'what a job waits for stays' err || fail "a dependency: $(cat err)"
expect_status 2 "$BERTH" update --fist "$a"
expect_err "berth update: unknown option '--fist' (did you mean '--first'?); see 'berth update --help'"
many=$("$BERTH" submit --array 3 --hold true)
expect_status 1 "$BERTH" update --begin +1h "$many"
grep -q 'expected a job that is no array' err || fail "an array: $(cat err)"
expect_status 0 "$BERTH" update --first "$many"
expect_status 1 "$BERTH" update --first --priority 3 "$many"
grep -q 'either first or a priority' err || fail "both: $(cat err)"
expect 'no time' 400 "$(http_status PATCH "/v1/jobs/$many" -d '{"begin": "soon"}')"
finish

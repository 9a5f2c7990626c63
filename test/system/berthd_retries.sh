#!/bin/sh
# Jobs that fail are tried again, after a while that doubles; arrays of which too many fail are cancelled.
. "$BERTH_SOURCE/test/daemon.sh"
cd "$scratch" || exit 1
machine 4

# A program that ends with the statuses of a file, one a start, and notes when it was started.
cat >flaky.sh <<'END'
#!/bin/sh
date +%s.%N >>times.$1
n=$(wc -l <times.$1)
echo "try $n, attempt $BERTH_ATTEMPT"
end=$(cut -d, -f"$n" statuses.$1)
case $end in
[0-9]*) exit "$end" ;;
hang) exec sleep 1000 ;;
*) kill -s "$end" $$ ;;
esac
END
chmod 755 flaky.sh

# Two failures and then success: three starts, at least 1 s and then 2 s apart. What depends on it waits for the last.
echo 3,KILL,0 >statuses.a
expect_status 0 "$BERTH" submit --retries 5 --retry-delay 1 -o a.out ./flaky.sh a
expect_status 0 "$BERTH" submit --dependency afterok:1 -o after.out sh -c 'wc -l <times.a'
expect_status 0 "$BERTH" wait 2
expect "the job" '"done"' "$(get 1 state)"
expect "starts" 3 "$(get 1 attempts)"
expect "retries" 2 "$(get 1 retried)"
expect "starts before what depends on it" 3 "$(tr -d ' ' <after.out)"
expect "its output" 'try 1, attempt 1 try 2, attempt 2 try 3, attempt 3' "$(tr '\n' ' ' <a.out | sed 's/ $//')"
awk 'NR == 1 { last = $1; next } { if ($1 - last < NR - 1.05) bad = 1; last = $1 } END { exit bad }' times.a || fail "retries came too early: $(cat times.a)"
"$BERTH" show 1 >shown
grep -q 'requeued, .*reason exit status 3: retry 1 of 5' shown || fail "the first retry is not told"
grep -q 'requeued, .*reason signal 9: retry 2 of 5' shown || fail "the second retry is not told"

# Only after certain ends, and only so often.
echo 75,0 >statuses.b
echo 4,0 >statuses.c
echo 1,1,1,1 >statuses.d
echo KILL,TERM,0 >statuses.e
expect_status 0 "$BERTH" submit --retries 1 --retry-on 75,SIGKILL --retry-delay 0.01s ./flaky.sh b
expect_status 0 "$BERTH" submit --retries 1 --retry-on 75,SIGKILL --retry-delay 0.01s ./flaky.sh c
expect_status 0 "$BERTH" submit --retries 2 --retry-delay 0.01s ./flaky.sh d
expect_status 0 "$BERTH" submit --retries 9 --retry-on SIGKILL --retry-delay 0.01s ./flaky.sh e
for job in 3 4 5 6; do "$BERTH" wait $job >/dev/null 2>&1; done
expect "status 75" '"done" 2' "$(get 3 state) $(get 3 attempts)"
expect "status 4" '"failed" 1' "$(get 4 state) $(get 4 attempts)"
expect "all tries" '"failed" 3' "$(get 5 state) $(get 5 attempts)"
expect "SIGKILL, then SIGTERM" '"failed" 2' "$(get 6 state) $(get 6 attempts)"

# A time limit is a failure to try again only where that is said.
echo hang,0 >statuses.f
echo hang,0 >statuses.g
expect_status 0 "$BERTH" submit -t 1 --retries 1 --retry-on timeout --retry-delay 0.01s ./flaky.sh f
expect_status 0 "$BERTH" submit -t 1 --retries 1 --retry-delay 0.01s ./flaky.sh g
for job in 7 8; do "$BERTH" wait $job >/dev/null 2>&1; done
expect "a time limit that is named" '"done"' "$(get 7 state)"
expect "one that is not" '"timeout"' "$(get 8 state)"

# While it waits it says until when, a restart of the server keeps that, and cancelling ends it.
echo 1 >statuses.h
expect_status 0 "$BERTH" submit --retries 1 --retry-delay 1h ./flaky.sh h
has_waited() { [ "$(get 9 retried)" = 1 ]; }
await "the first failure" has_waited
"$BERTH" explain 9 >told
grep -q 'in 59m\|in 1h' told || fail "explain does not say when it is tried again: $(cat told)"
expect_status 0 "$BERTH" server stop
expect_status 0 "$BERTH" server start
expect "after a restart" '"pending" 1' "$(get 9 state) $(get 9 attempts)"
"$BERTH" explain 9 >told
grep -q 'in 59m\|in 1h' told || fail "the time of the retry is lost: $(cat told)"
expect_status 0 "$BERTH" cancel 9
expect "cancelled" '"cancelled"' "$(get 9 state)"

# Members of an array are tried again one by one.
cat >member.sh <<'END'
#!/bin/sh
echo >>"tries.$BERTH_ARRAY_INDEX"
[ "$BERTH_ARRAY_INDEX" != 2 ] || [ "$(wc -l <tries.2)" -ge 3 ]
END
chmod 755 member.sh
expect_status 0 "$BERTH" submit --array 4 --retries 3 --retry-delay 0.01s ./member.sh
expect_status 0 "$BERTH" wait 10
expect "tries of members" '1 1 3 1' "$(for i in 0 1 2 3; do wc -l <tries.$i; done | tr -d ' ' | tr '\n' ' ' | sed 's/ $//')"

# Of 1000 members all fail: at most one more than may fail, and those that run beside it, are started.
expect_status 0 "$BERTH" submit --array 1000 --max-fails 2 false
"$BERTH" wait 11 >/dev/null 2>&1
"$BERTH" show --json 11 >array.json
python3 - <<'END' || fail "--max-fails: $(cat array.json)"
import json
summary = json.load(open("array.json"))["summary"]
assert 3 <= summary["failed"] <= 2 + 8, summary
assert summary["failed"] + summary["cancelled"] == 1000, summary
END
"$BERTH" show '11[999]' >shown
grep -q 'more than 2 failed' shown || fail "the reason is not told: $(cat shown)"
# Where no more fail than may, all run.
expect_status 0 "$BERTH" submit --array 6 --max-fails 1 sh -c '[ $BERTH_ARRAY_INDEX != 3 ]'
"$BERTH" wait 12 >/dev/null 2>&1
expect "one failure of one that may" '"5 done, 1 failed"' "\"$("$BERTH" show 12 | sed -n 's/^summary *//p')\""

# Wrong command lines, and requests.
expect_status 2 "$BERTH" submit --retries 1 --retry-on 75,SIGFOO true
expect_line err "berth submit: --retry-on is '75,SIGFOO': offset 3: expected an exit status from 1 to 255, a signal such as SIGKILL, or timeout, found 'S'; see 'berth submit --help'"
expect_status 2 "$BERTH" submit --retries 201 true
expect_line err "berth submit: --retries is '201', expected a whole number from 0 to 200; see 'berth submit --help'"
expect_status 1 "$BERTH" submit --retry-on 75 true
expect_status 1 "$BERTH" submit --max-fails 1 true
expect_status 0 "$BERTH" resubmit 11
expect "resubmitted with its bound" 2 "$("$BERTH" show --json | sed -n 's/.*"max_fails": \([0-9]*\).*/\1/p' | head -n 1)"
finish

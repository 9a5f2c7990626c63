#!/bin/sh
# Classes of users: they have their workers, are set while the server runs, listed, and kept over a crash.
. "$BERTH_SOURCE/test/daemon.sh"
cd "$scratch" || exit 1
me=$(id -un)

# What the command line may not say.
wrong() { # MESSAGE ARGUMENT...
    message=$1
    shift
    expect_status 2 "$BERTH" classes "$@"
    expect_err "berth classes: $message; see 'berth classes --help'"
}
wrong "unknown action 'delete', expected show, set or reset" delete x
wrong 'set takes a queue' set --threshold 20
wrong 'set takes options' set batch
wrong 'only set takes options' show batch --threshold 20
wrong 'no action given, expected show, set or reset' --threshold 20
wrong "--percent is 'land', expected CLASS=N such as land=40" set --percent land batch
wrong "--threshold is 'x', expected a percentage" set --threshold x batch

mkdir -p "$BERTH_DIR"
cat >"$BERTH_DIR/berth.yaml" <<END
resources: {nodes: 1, cores: 8}
queues:
  batch:
    shares:
      by: class
      classes:
        percent: {land: 75, other: 25}
        patterns: [{match: "^$me\$", class: land}]
        default: other
  plain: {}
default-queue: batch
END

# As configured: of 8 cores 6 and 2. A job of 4 runs, one of 6 waits for what that leaves.
expect_status 0 "$BERTH" submit -c 4 -t 1h sleep 1000
await_state 1 running
expect_status 0 "$BERTH" submit -c 6 -t 1h sleep 1000
await "a reservation of 2" sh -c "'$BERTH' show --json 2 | grep -q '\"estimate\": [0-9]'"
expect_status 0 "$BERTH" classes
cat >wanted <<END
QUEUE CLASS PERCENT TARGET RUNNING PROMISED WAITING BORROWED
batch land 75 6 4 6 0 0
batch other 25 2 0 0 0 0
END
tr -s ' ' <out | sed 's/ $//' | cmp - wanted || fail "classes: $(cat out)"
expect_status 1 "$BERTH" classes show plain
expect_err 'berth classes: queue "plain" has no classes'
expect_status 1 "$BERTH" classes reset plain
expect_err 'berth classes: queue "plain" has no classes'
expect_status 1 "$BERTH" classes set --threshold 20 nowhere
expect_err 'berth classes: there is no queue "nowhere"'
expect_status 1 "$BERTH" classes reset batch
expect_err 'berth classes: the classes of queue "batch" are as configured'

# A threshold alone turns rebalancing on, with the duration that a configuration has if it names none.
expect_status 0 "$BERTH" classes set --threshold 30 batch
"$BERTH" classes show batch >shown
grep -q '"rebalance_threshold": 30' shown && grep -q '"rebalance_minimum_duration": 240' shown ||
    fail "with a threshold the settings are: $(cat shown)"

# Other percentages: of 8 cores land has 2, and has borrowed 2. The promise stays.
expect_status 0 "$BERTH" classes set --percent land=10 --percent other=30 --threshold 20 \
    --minimum-duration 5m batch
expect_status 0 "$BERTH" classes
cat >wanted <<END
QUEUE CLASS PERCENT TARGET RUNNING PROMISED WAITING BORROWED
batch other 75 6 0 0 0 0
batch land 25 2 4 6 0 2
END
tr -s ' ' <out | sed 's/ $//' | cmp - wanted || fail "classes: $(cat out)"
"$BERTH" classes show batch >before
grep -q '"rebalance_minimum_duration": 300' before || fail "the settings are: $(cat before)"

# What is wrong changes nothing.
expect_status 1 "$BERTH" classes set --requestor 'land=fine' --requestor 'other=a(b' batch
expect_err 'berth classes: pattern 2, offset 3: expected a regular expression: missing closing parenthesis'
expect_status 1 "$BERTH" classes set --percent other=10 batch
expect_err "berth classes: pattern 1: expected one of the classes, found 'land'"
"$BERTH" classes show batch | cmp - before || fail "a change that was refused changed something"

# Users whose class starts nothing wait on an idle machine.
# Classes go by percentages: they have no usage to correct.
expect_status 1 "$BERTH" shares set batch/land 3
expect_err "berth shares: 'batch/land' is a class, which goes by its percentage and has no usage: expected a division, queue, account or user"
expect_status 0 "$BERTH" cancel 1 2
await_state 2 cancelled
expect_status 0 "$BERTH" classes set --percent land=0 --percent other=100 batch
expect_status 0 "$BERTH" submit -c 1 -t 1h sleep 1000
expect_status 0 "$BERTH" submit -q plain -c 1 -t 1h sleep 1000
await_state 4 running
is_state 3 pending || fail "a job of a class with 0 percent is $(state 3)"

expect_status 0 "$BERTH" explain 3
grep -q 'its class land gets a part of the workers of queue batch: it has 0 percent' out ||
    fail "explain says: $(cat out)"

# They are kept over a crash; with those of the configuration the job starts.
"$BERTH" classes show batch >before
crash
expect_status 0 "$BERTH" server start
"$BERTH" classes show batch | cmp - before || fail "classes are not what they were"
is_state 3 pending || fail "after a crash, a job of a class with 0 percent is $(state 3)"
expect_status 0 "$BERTH" classes reset batch
await_state 3 running
expect_status 0 "$BERTH" cancel 3 4

# The example of the help works where patterns name other classes.
"$BERTH" classes set --percent land=60 --percent other=40 --default other --requestor land=ann batch || fail "land and other"
"$BERTH" classes --help | sed -n '/^Example: /,/^Manual: /p' | sed '$d; s/^Example: berth /"$BERTH" /' >example
expect_status 0 sh ./example
"$BERTH" classes --json >out
grep -q '"a"' out || fail "the example's classes: $(cat out)"
finish

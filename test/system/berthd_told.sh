#!/bin/sh
# What can be told at once is told at once: folders that are not there, queues that are not, options that exclude each
# other, machines that are not this one.
. "$BERTH_SOURCE/test/daemon.sh"
cd "$scratch" || exit 1

# A machine of several nodes can only be imagined: its jobs would all run here.
mkdir -p "$BERTH_DIR"
echo 'resources: {nodes: 4}' >"$BERTH_DIR/berth.yaml"
wrong="$BERTH_DIR/berth.yaml: resources: there are several nodes, and jobs run on this one alone, expected local, or under server: imagined: yes to pretend"
expect_status 1 "$BERTH" server start
expect_err "berth server: $wrong"
expect_status 1 "$BERTHD"
expect_err "berthd: $wrong"
echo 'server: {imagined: yes}' >>"$BERTH_DIR/berth.yaml"
expect_status 0 "$BERTH" server start
expect "nodes" 4 "$("$BERTH" nodes | grep -c '^node[0-3] ')"
expect_status 0 "$BERTH" config check "$BERTH_DIR/berth.yaml"
expect_status 0 "$BERTH" config show "$BERTH_DIR/berth.yaml"
grep -q '^  imagined: yes$' out || fail "config show does not show it: $(cat out)"
expect_status 0 "$BERTH" server stop
rm "$BERTH_DIR/berth.yaml"

# Folders that files are to be made in
machine 2
expect_status 1 "$BERTH" submit -o /nonexistent/x true
expect_err 'berth submit: --output: there is no folder /nonexistent'
expect_status 1 "$BERTH" submit -e away/%j true
expect_err "berth submit: --error: there is no folder $PWD/away"
mkdir folder
expect_status 0 "$BERTH" submit --chdir folder -o ../folder/%j true
expect_status 0 "$BERTH" submit -o '%n/x' --hold true # a folder that depends on the job

# Queues that are not there
for verb in 'jobs' 'jobs --json' 'jobs --format csv' 'history'; do
    # shellcheck disable=SC2086 # words
    expect_status 1 "$BERTH" $verb -q nope
    expect_err "berth ${verb%% *}: there is no queue \"nope\""
done
expect_status 0 "$BERTH" jobs -q batch

# Changes that exclude each other change nothing.
expect_status 2 "$BERTH" queues --enable --disable batch
expect_err "berth queues: --enable and --disable are given, expected one of them; see 'berth queues --help'"
expect_status 2 "$BERTH" queues --stop --start batch
expect_err "berth queues: --start and --stop are given, expected one of them; see 'berth queues --help'"
expect_status 0 "$BERTH" queues --stop --stop batch
expect_status 0 "$BERTH" queues --start --enable batch
"$BERTH" queues | grep -q '^batch .* open$' || fail "the queue is not open"

# Numbers have bounds, and these are told.
expect_status 2 "$BERTH" update --priority 99999999999999 1
expect_err "berth update: --priority is '99999999999999', expected a whole number from -10000000000000 to 10000000000000; see 'berth update --help'"
expect_status 2 "$BERTH" submit --priority 99999999999999 true
expect_err "berth submit: --priority is '99999999999999', expected a whole number from -10000000000000 to 10000000000000; see 'berth submit --help'"
expect_status 0 "$BERTH" submit --hold --priority 9999999999999 true
expect "a large priority" 9999999999999 "$(get last priority)"

# Keys and columns that are not there: the one that is meant, of many; else a list is never cut.
api POST /v1/jobs -d '{"command": ["true"], "cors": 1}' >answer
expect "a key that is nearly one" '{"error":{"message":"unknown key \"cors\", did you mean \"cores\"?","key":"cors"}}' "$(cat answer)"
api POST /v1/jobs -d '{"command": ["true"], "colour": 1}' >answer
expect "one that is like none" '{"error":{"message":"unknown key \"colour\"","key":"colour"}}' "$(cat answer)"
expect_status 2 "$BERTH" jobs -o id,nme
expect_err "berth jobs: there is no column 'nme', did you mean \"name\"?; see 'berth jobs --help'"
expect_status 2 "$BERTH" jobs -o id,frobnicate
expect_err "berth jobs: there is no column 'frobnicate'; man berth-jobs lists them; see 'berth jobs --help'"
finish

#!/bin/sh
# Licences: so many tokens of the machine, which jobs take and give back.
. "$BERTH_SOURCE/test/daemon.sh"
cd "$scratch" || exit 1
machine 4 'licenses: {matlab: 3, ansys: 1}'
mkfifo gate

# What it holds is in use, and the next one waits for it, whatever cores are free.
first=$("$BERTH" submit -L matlab:2 sh -c "cat $scratch/gate")
await_state "$first" running
expect_status 0 "$BERTH" resources
grep -qx 'matlab  2 of 3 licences in use' out || fail "resources: $(cat out)"
grep -qx 'ansys   0 of 1 licences in use' out || fail "resources: $(cat out)"
expect 'licences by name' '{"name": "matlab", "count": 3, "used": 2}' \
    "$(api GET /v1/resources | grep -o '{"name": *"matlab"[^}]*}' | sed 's/": */": /g; s/, */, /g')"
second=$("$BERTH" submit -L matlab:2,ansys -t 10 true)
expect 'licences of a job' '{"matlab": 2, "ansys": 1}' "$("$BERTH" show --json "$second" | tr -d '\n' | grep -o '"licenses": *{[^}]*}' | head -n 1 | sed 's/^"licenses": *//; s/  *//g; s/[:,]/& /g')"
third=$("$BERTH" submit --licenses matlab -t 10 true)
expect_status 0 "$BERTH" wait "$third"
expect 'a job that fits' done "$(state "$third")"
expect 'the one that does not' pending "$(state "$second")"
"$BERTH" explain "$second" | grep -q '^It waits for licences of matlab that 1 other job holds\.' ||
    fail "explain: $("$BERTH" explain "$second")"

# It holds them over a restart of the server.
crash
expect_status 0 "$BERTH" server start
expect_status 0 "$BERTH" resources
grep -qx 'matlab  2 of 3 licences in use' out || fail "after a restart: $(cat out)"
expect 'after a restart' pending "$(state "$second")"
echo >gate
await_state "$first" done
await_state "$second" done
"$BERTH" resources | grep -qx 'matlab  0 of 3 licences in use' || fail "given back: $("$BERTH" resources)"

# Drained like any part of the machine.
expect_status 0 "$BERTH" drain matlab renewal
fourth=$("$BERTH" submit -L matlab true)
fifth=$("$BERTH" submit -L ansys true)
expect_status 0 "$BERTH" wait "$fifth"
expect 'drained' pending "$(state "$fourth")"
"$BERTH" explain "$fourth" | grep -q 'matlab is drained (renewal)' || fail "drained: $("$BERTH" explain "$fourth")"
expect_status 0 "$BERTH" resume matlab
expect_status 0 "$BERTH" wait "$fourth"

# A script of Slurm; a step has none of its own.
cat >job.sh <<'END'
#!/bin/sh
#SBATCH --licenses=matlab:4
true
END
expect_status 1 "$BERTH" submit job.sh
grep -q 'asks for 4 licences of matlab, the machine has 3' err || fail "more than there are: $(cat err)"
sed -i 's/--licenses=matlab:4/-L ansys/' job.sh
expect_status 0 "$BERTH" run job.sh
cat >steps.sh <<'END'
#!/bin/sh
#SBATCH -n 2
exec "$BERTH" run -L matlab true
END
expect_status 2 env BERTH="$BERTH" "$BERTH" run -L ansys steps.sh
grep -q -- '--licenses is for a job' err || fail "a step: $(cat err)"

# Beside whole nodes.
whole=$("$BERTH" submit --nodes 1 -L matlab:2 -t 10 true)
expect_status 0 "$BERTH" wait "$whole"
expect 'licences beside a whole node' done "$(state "$whole")"

# What can't be.
expect_status 1 "$BERTH" submit -L 'matlab|ansys' true
expect_status 1 "$BERTH" submit -L abaqus true
grep -q 'asks for licences of abaqus, of which the machine has none' err || fail "unknown: $(cat err)"
for bad in '' : matlab: matlab:0 matlab:x matlab:1:2 ,matlab matlab,; do
    expect_status 2 "$BERTH" submit -L "$bad" true
done
expect 'not by number' 400 "$(http_status POST /v1/jobs -d '{"command": ["true"], "licenses": {"matlab": 0}}')"

# The configuration is checked, and can't take away what jobs count on.
sed -i 's/matlab: 3/matlab: 2/' "$BERTH_DIR/berth.yaml"
expect_status 1 "$BERTH" server reload
grep -q 'key "licenses": cannot be changed while the server runs' err || fail "reload: $(cat err)"
for bad in '[matlab]' '{matlab: 0}' '{matlab: many}' '{7: 1}' '{a b: 1}'; do
    printf 'resources: {nodes: 1}\nlicenses: %s\n' "$bad" >wrong.yaml
    expect_status 1 "$BERTH" config check wrong.yaml
    grep -q '^wrong.yaml:2:' err || fail "config $bad: $(cat out err)"
done
finish

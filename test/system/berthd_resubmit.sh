#!/bin/sh
# Jobs that are submitted again: as they were, wholly or only what failed.
. "$BERTH_SOURCE/test/daemon.sh"
cd "$scratch" || exit 1
machine 4
mkdir folder

# A command with what is around it: directory, environment, options, words with blanks.
expect_status 0 env COLOUR='light blue' "$BERTH" submit --chdir folder -c 2 -t 10m --name first -o ../%j.out \
    sh -c 'echo "$COLOUR $(basename "$PWD") $1"' sh 'a b'
expect_line out 1
expect_status 0 "$BERTH" wait 1
expect_status 0 "$BERTH" resubmit
expect_line out 2
expect_status 0 "$BERTH" wait
expect "the output of the first" 'light blue folder a b' "$(cat 1.out)"
expect "the output of the second" 'light blue folder a b' "$(cat 2.out)"
for key in name cores limit directory; do
    expect "$key" "$(get 1 $key)" "$(get 2 $key)"
done

# The API tells what was submitted, which can be submitted again as it is.
api GET /v1/jobs/1 | python3 -c '
import json, sys
asked = json.load(sys.stdin)["request"]
assert asked["name"] == "first" and asked["cores"] == 2 and asked["limit"] == 600 and asked["output"] == "../%j.out", asked
assert asked["command"][0] == "sh" and "environment" not in asked and "shown" not in asked, asked
json.dump(asked, sys.stdout)' >asked || fail "what was submitted is not told"
api POST /v1/jobs -d @asked >answer
expect "submitted as it is told" '{"id":3}' "$(cat answer)"

# A script, though its file has changed; what it waited for is not waited for again.
printf '#!/bin/sh\n#BERTH --name scripted --hold\necho "was here $1"\n' >work.sh
chmod 755 work.sh
expect_status 0 "$BERTH" submit --begin +1h ./work.sh word
expect_line out 4
printf '#!/bin/sh\necho changed\n' >work.sh
expect_status 0 "$BERTH" resubmit 4
expect_line out 5
expect_status 0 "$BERTH" wait 5
expect "the output of the script" 'was here word' "$("$BERTH" log 5)"
expect "its name" '"scripted"' "$(get 5 name)"
expect_status 0 "$BERTH" cancel 4

# A jobspec of one's own
cat >job.yaml <<'END'
version: 1
resources: [{type: slot, count: 1, label: s, with: [{type: core, count: 3}]}]
tasks: [{command: [app], slot: s, count: {per_slot: 1}}]
attributes: {system: {duration: 60}}
END
expect_status 0 "$BERTH" submit --jobspec job.yaml true
expect_status 0 "$BERTH" resubmit
expect_status 0 "$BERTH" wait 7
expect "its cores" 3 "$(get 7 cores)"

# Of an array the members that failed, with their indices, as many at once as before.
cat >member.sh <<END
#!/bin/sh
echo "\$BERTH_ARRAY_INDEX" >>'$scratch/ran'
[ -e '$scratch/mended' ] || case \$BERTH_ARRAY_INDEX in 3 | 5 | 6) exit 1 ;; esac
END
chmod 755 member.sh
expect_status 0 "$BERTH" submit --array 1-8%2 ./member.sh
expect_line out 8
expect_status 1 "$BERTH" wait 8
: >mended
: >ran
expect_status 0 "$BERTH" resubmit --failed 8
expect_line out 9
expect_status 0 "$BERTH" wait 9
expect "the members that ran" "3 5 6" "$(sort ran | tr '\n' ' ' | sed 's/ $//')"
expect "what it asked for" '"3,5-6%2"' "$("$BERTH" show --json 9 | sed -n 's/^ *"array": \(.*[^,]\),*$/\1/p')"
: >ran
expect_status 0 "$BERTH" resubmit '8[4]'
expect_status 0 "$BERTH" wait
expect "one member" 4 "$(cat ran)"

# Nothing failed, nothing is there, a range of which some is not.
expect_status 1 "$BERTH" resubmit --failed 9
expect_err 'berth resubmit: 9: none of its members has failed'
expect_status 1 "$BERTH" resubmit --failed 1
expect_err 'berth resubmit: 1: it has not failed'
gang=$("$BERTH" submit --gang 2 true)
expect_status 0 "$BERTH" wait "$gang"
expect_status 1 "$BERTH" resubmit "$gang[1]"
expect_err "berth resubmit: $gang[1]: it is a member of a gang, expected the whole gang, $gang"
expect_status 1 "$BERTH" resubmit --failed "$gang"
expect_err "berth resubmit: $gang: it has not failed"
expect_status 0 "$BERTH" resubmit "$gang"
expect "a gang again" 2 "$(get "$(cat out)" gang)"
gang=$("$BERTH" submit --role server --role worker:2 false)
expect_status 1 "$BERTH" wait "$gang"
expect_status 0 "$BERTH" resubmit --failed "$gang"
expect "its members" 3 "$(get "$(cat out)" members)"
# With something else than before; what is wrong is told as submit tells it.
small=$("$BERTH" submit -c 1 -t 1h --estimate 30m --name small sh -c 'exit 3')
expect_status 3 "$BERTH" wait "$small"
expect_status 0 "$BERTH" resubmit --failed -c 2 -t 20m --name large "$small"
large=$(cat out)
expect "its cores" 2 "$(get "$large" cores)"
expect "its limit" 1200 "$(get "$large" limit)"
expect "its name" '"large"' "$(get "$large" name)"
expect_status 3 "$BERTH" wait "$large"
expect_status 0 "$BERTH" resubmit "$large"
expect "its cores, once more" 2 "$(get "$(cat out)" cores)"
expect_status 2 "$BERTH" resubmit -c none "$small"
expect_err "berth resubmit: --cores-per-task is 'none', expected a whole number from 1 to 1000000000; see 'berth resubmit --help'"
expect_status 1 "$BERTH" resubmit -q nowhere "$small"
grep -q '^berth resubmit: .*nowhere' err || fail "another queue: $(cat err)"
expect_status 1 "$BERTH" resubmit 99
expect_err 'berth resubmit: 99: there is no job 99'
expect_status 2 "$BERTH" resubmit nonsense
expect_status 0 "$BERTH" resubmit 1-2
expect "new jobs" 2 "$(wc -l <out)"
finish

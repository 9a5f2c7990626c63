#!/bin/sh
# Fluxion's own scripts against the modules under its names, in real instances of Flux: a selection that has each request and
# each part of a job's life in it, once. BERTH_FLUXION_SCRIPTS='t1|t4' plays all 51 (10 minutes), another pattern those.
. "$BERTH_SOURCE/test/flux.sh"

need_shared flux/run-fluxion-tests.sh
unset FLUX_MODPROBE_PATH_APPEND # these instances load no module of ours by themselves
for tool in jq lua python3; do
    command -v "$tool" >/dev/null 2>&1 || skip "no $tool"
done

# the qmanager's reload, find, nested instances, constraints, partial release, subgraphs, matches beside jobs, virtual queues,
# options, properties, hwloc, nodes that are down, feasibility, flexible requests, a broker that joins late. Scripts that allow
# their jobs 15 seconds (t1029, t4011) are for a quiet machine.
selection='t1002|t1015|t1018|t1022|t1026|t1031|t1032|t1033|t4000|t4004|t4006|t4013|t4015|t4017|t3301'
# Before jobs are scheduled flux-core's finder of double bookings is loaded, and when they no longer are, its exceptions are
# looked for: in the place of `flux module`, which the scripts' own folder of commands comes before.
tar -C "$scratch" -xJf "$BERTH_SHARED/flux/fluxion-tests.tar.xz" || fail "tar"
cat >"$scratch/fluxion-tests/t/scripts/flux-module" <<END
#!/bin/sh
case "\$*" in
load*sched-fluxion-qmanager*)
    flux jobtap list 2>/dev/null | grep -q alloc-check || flux jobtap load alloc-check.so
    ;;
remove*sched-fluxion-qmanager* | unload*sched-fluxion-qmanager* | reload*sched-fluxion-qmanager*)
    echo >>"$scratch/looked"
    flux jobs -n -a -f failed -o '{id} {exception.type}' 2>/dev/null | grep alloc-check >>"$scratch/double"
    ;;
esac
exec "$FLUX/libexec/flux/cmd/flux-module" "\$@"
END
chmod +x "$scratch/fluxion-tests/t/scripts/flux-module"

# Most of their time is waiting, so that two play side by side.
run() { # ARGUMENT...
    sh "$BERTH_SHARED/flux/run-fluxion-tests.sh" --tests "$scratch/fluxion-tests" --module-dir "$BERTH_BUILD" \
        --query "$BERTH query" --validate "$BERTH jobspec check" "$@"
}
run --list --only "^(${BERTH_FLUXION_SCRIPTS:-$selection})" | sed 's,.* ,,; s,.*/,,; s,\.[a-z]*$,,' >"$scratch/names"
for lane in 0 1; do
    names=$(awk -v lane=$lane 'NR % 2 == lane' "$scratch/names" | paste -s -d '|')
    [ -z "$names" ] || run --only "^($names)\$" --work "$scratch/live.$lane" --timeout 400 >"$scratch/log.$lane" 2>&1 &
done
wait
cat "$scratch"/log.* >"$scratch/log"
grep -v '^ok ' "$scratch/log"
[ -e "$scratch/looked" ] || fail "nobody looked for double bookings"
[ ! -s "$scratch/double" ] || fail "resources of two jobs: $(cat "$scratch/double")"
grep -q '^ok ' "$scratch/log" || fail "no script passed"
[ "$(grep -cE '^(ok|FAIL) ' "$scratch/log")" -eq "$(wc -l <"$scratch/names")" ] || fail "of $(wc -l <"$scratch/names") scripts were played: $(cat "$scratch/log")"
for log in $(sed -n 's/^FAIL .*: //p' "$scratch/log"); do
    fail "$(basename "$log")"
    grep -B 30 '^not ok' "$log" | grep -v 'TODO known breakage' | tail -n 60
done
finish

#!/bin/sh
# Fluxion's own scripts against the modules under its names, in real instances of Flux: a selection that has each request and
# each part of a job's life in it. BERTH_FLUXION_SCRIPTS='t1|t4' plays all 51 (10 minutes), another pattern those.
. "$BERTH_SOURCE/test/flux.sh"

need_shared flux/run-fluxion-tests.sh
unset FLUX_MODPROBE_PATH_APPEND # these instances load no module of ours by themselves
for tool in jq lua python3; do
    command -v "$tool" >/dev/null 2>&1 || skip "no $tool"
done

# reload of all and of the qmanager alone, annotations, find, nested instances, constraints, partial release, formats of R,
# subgraphs, matches beside jobs, virtual queues, options, properties, hwloc, durations, feasibility, nodes that are gone
selection='t1002|t1004|t1007|t1015|t1018|t1022|t1026|t1029|t1031|t1032|t1033|t4000|t4004|t4006|t4011|t4013|t4015|t4017'
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

sh "$BERTH_SHARED/flux/run-fluxion-tests.sh" --module-dir "$BERTH_BUILD" --query "$BERTH query" \
    --tests "$scratch/fluxion-tests" \
    --only "^(${BERTH_FLUXION_SCRIPTS:-$selection})" --work "$scratch/live" --timeout 180 >"$scratch/log" 2>&1
grep -v '^ok ' "$scratch/log"
[ -e "$scratch/looked" ] || fail "nobody looked for double bookings"
[ ! -s "$scratch/double" ] || fail "resources of two jobs: $(cat "$scratch/double")"
grep -q '^ok ' "$scratch/log" || fail "no script passed"
for log in $(sed -n 's/^FAIL .*: //p' "$scratch/log"); do
    fail "$(basename "$log")"
    grep -B 30 '^not ok' "$log" | grep -v 'TODO known breakage' | tail -n 60
done
finish

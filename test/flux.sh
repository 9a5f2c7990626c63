# What the tests of the Flux module share: `. "$BERTH_SOURCE/test/flux.sh"`, which has lib.sh too.
#
# Set by meson besides: FLUX, flux-core's prefix; empty where the module is not built.
# shellcheck shell=sh
. "$BERTH_SOURCE/test/lib.sh"

[ -n "$FLUX" ] || skip "built without flux-core"
command -v jq >/dev/null 2>&1 || skip "no jq"
export PATH="$FLUX/bin:$PATH"
export FLUX_MODULE_PATH_PREPEND="$BERTH_BUILD" FLUX_EXEC_PATH_PREPEND="$BERTH_BUILD" FLUX_MODPROBE_PATH_APPEND="$scratch/modprobe"
unset FLUX_URI FLUX_SCHED_MODULE FLUX_CONF_DIR FLUX_RC_EXTRA FLUX_MODPROBE_DISABLE
mkdir -p "$scratch/modprobe/modprobe.d" "$scratch/conf"
cp "$BERTH_SOURCE/src/flux/sched-berth.toml" "$scratch/modprobe/modprobe.d/"

# machine NODES CORES: an instance has these; more of its configuration may follow on standard input
machine() {
    {
        printf '[resource]\nnoverify = true\n[[resource.config]]\nhosts = "n[0-%d]"\ncores = "0-%d"\n' \
            $(($1 - 1)) $(($2 - 1))
        cat
    } >"$scratch/conf/config.toml"
}

# instance BROKERS [OPTION]: run the script on standard input in an instance, whose job manager looks for double bookings. What it
# prints is in $scratch/out; `check` and `fail` in it count here. It may take `patience` seconds, by default 280.
instance() {
    cat >"$scratch/script"
    {
        # shellcheck disable=SC2016  # expanded inside
        printf '. "$BERTH_SOURCE/test/flux_inside.sh"\n'
        cat "$scratch/script"
        printf '\nend\n'
    } >"$scratch/run"
    export scratch
    brokers=$1
    shift
    timeout -k 10 "${patience:-280}" flux start -s"$brokers" "$@" --config-path="$scratch/conf" sh "$scratch/run" >"$scratch/out" 2>"$scratch/err" </dev/null
    status=$?
    [ "$status" -eq 0 ] && return
    fail "the instance ended with status $status"
    sed 's/^/    /' "$scratch/out"
    tail -n 20 "$scratch/err"
}

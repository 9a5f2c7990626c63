# What the shell tests share: `. "$BERTH_SOURCE/test/lib.sh"`.
#
# Set by meson: BERTH (the program), BERTH_SOURCE, BERTH_BUILD, BERTH_SHARED and CC.
# shellcheck shell=sh
set -u

failures=0

# A scratch directory that is gone when the test ends.
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

fail() {
    echo "FAIL: $*"
    failures=$((failures + 1))
}

# Say why the test cannot run here, and end it as skipped.
skip() {
    echo "skipped: $*"
    exit 77
}

# need_shared PATH: skip unless it lies in the folder of recorded results beside the checkout.
need_shared() {
    [ -e "$BERTH_SHARED/$1" ] || skip "no shared/$1 beside the checkout"
}

# expect_status N COMMAND...: run it with output in $scratch/out and $scratch/err.
expect_status() {
    expected=$1
    shift
    "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
    status=$?
    if [ "$status" -ne "$expected" ]; then
        fail "status $status instead of $expected: $*"
        cat "$scratch/err"
    fi
}

# expect_line FILE TEXT: the file in $scratch is exactly this one line.
expect_line() {
    printf '%s\n' "$2" | cmp -s - "$scratch/$1" && return
    fail "expected in $1: $2"
    sed 's/^/    got: /' "$scratch/$1"
}

# The verbs, a line each: `berth --help` has two of them in a line, and wide gaps between.
verbs() {
    "$BERTH" --help | awk -F '   *' '/^Verbs:/ { on = 1; next } /^$/ { on = 0 } on { for (i = 2; i < NF; i += 2) print $i }'
}

# grug NODES CORES: the recipe of a machine of so many nodes with so many cores each
grug() {
    cat <<END
<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="root" for="node" attr.name="root" attr.type="int"><default>0</default></key>
  <key id="type" for="node" attr.name="type" attr.type="string"/>
  <key id="basename" for="node" attr.name="basename" attr.type="string"/>
  <key id="size" for="node" attr.name="size" attr.type="long"><default>1</default></key>
  <key id="multi_scale" for="edge" attr.name="multi_scale" attr.type="int"><default>1</default></key>
  <graph id="machine" edgedefault="directed">
    <node id="cluster"><data key="root">1</data><data key="type">cluster</data><data key="basename">c</data></node>
    <node id="node"><data key="type">node</data><data key="basename">node</data></node>
    <node id="core"><data key="type">core</data><data key="basename">core</data></node>
    <edge id="nodes" source="cluster" target="node"><data key="multi_scale">$1</data></edge>
    <edge id="cores" source="node" target="core"><data key="multi_scale">$2</data></edge>
  </graph>
</graphml>
END
}

# check_alloc FILE CORES: every job of that CSV has as many cores as processors, and no core has two jobs at a time
check_alloc() {
    sed 1d "$1" | sort -t, -k3,3n -k4,4n | awk -F, -v cores="$2" -v file="$1" '
        function bad(what) { print file ": job " $1 ": " what; failed = 1 }
        {
            count = 0
            before = -2
            n = split($8, range, " ")
            for (i = 1; i <= n; i++) {
                ends = split(range[i], id, "-")
                last = ends > 1 ? id[2] : id[1]
                if (id[1] + 0 <= before + 1 || last + 0 < id[1] + 0 || last + 0 >= cores)
                    bad("ids " $8)
                for (core = id[1] + 0; core <= last + 0; core++) {
                    if (core in until && until[core] > $3)
                        bad("core " core " is held until " until[core] ", but given at " $3)
                    until[core] = $4
                    count++
                }
                before = last + 0
            }
            if (count != $5)
                bad(count " cores instead of " $5)
            rows++
        }
        END { exit failed || !rows }' || fail "cores in $1"
}

# texts FILE...: the texts of C sources, each in a line after its file's name and the number of its line;
# comments are left out.
texts() {
    awk '{
        text = ""
        for (i = 1; i <= length($0); i++) {
            c = substr($0, i, 1)
            two = substr($0, i, 2)
            if (in_comment) { if (two == "*/") { in_comment = 0; i++ } }
            else if (in_text && c == "\\") { text = text two; i++ }
            else if (in_text && c == "\"") { in_text = 0; print FILENAME ":" FNR ": " text; text = "" }
            else if (in_text) text = text c
            else if (two == "/*") { in_comment = 1; i++ }
            else if (two == "//") break
            else if (c == "\047") i += substr($0, i + 1, 1) == "\\" ? 3 : 2
            else if (c == "\"") in_text = 1
        }
    }' "$@"
}

finish() {
    [ "$failures" -eq 0 ]
    exit
}

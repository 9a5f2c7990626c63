#!/bin/sh
# berth jobspec check: wrong command lines, files that can't be read, jobspecs and what is none.
. "$BERTH_SOURCE/test/lib.sh"
cd "$scratch" || exit 1

wrong() { # MESSAGE ARG...: one line on standard error, nothing on standard output, status 2
    message=$1
    shift
    expect_status 2 "$BERTH" jobspec "$@"
    expect_line err "berth jobspec: $message; see 'berth jobspec --help'"
    [ -s out ] && fail "writes to standard output: berth jobspec $*"
}
wrong 'no action given, expected check'
wrong "unknown action 'chek', expected check" chek a
wrong 'no jobspec given: name files, or - for standard input' check
wrong "a file's name is empty" check a ''
wrong "unknown option '-x'" check -x
wrong "unknown option '--frob'" check --frob
wrong '--help takes no argument' --help=me
expect_status 0 "$BERTH" jobspec check --help

cat >good.yaml <<'YAML'
version: 1
resources: [{type: node, count: 2, with: [{type: slot, count: "1+", label: s}]}]
tasks: [{command: [a], slot: s, count: {per_slot: 1}}]
attributes:
YAML
sed 's/type: slot/kind: slot/' good.yaml >bad.yaml
printf 'a: [' >broken.yaml
expect_status 0 "$BERTH" jobspec check good.yaml ./good.yaml
[ -s out ] && fail 'a jobspec is not passed over in silence'
[ -s err ] && fail 'a jobspec is complained of'

expect_status 1 "$BERTH" jobspec check bad.yaml good.yaml
bad='key "kind": unknown in a resource, expected type, count, with, label, exclusive, unit, id, property'
expect_line err "bad.yaml:2:44: $bad"
expect_status 1 sh -c "'$BERTH' jobspec check - <bad.yaml"
expect_line err "standard input:2:44: $bad"
expect_status 0 sh -c "'$BERTH' jobspec check - <good.yaml"
expect_status 1 sh -c "'$BERTH' jobspec check - <&-"
expect_line err 'standard input: Bad file descriptor'

# Each file that is none has its line, in their order.
expect_status 1 "$BERTH" jobspec check missing.yaml bad.yaml . broken.yaml
cut -d: -f1,2 err >seen
printf '%s\n' 'missing.yaml: No such file or directory' 'bad.yaml:2' '.: Is a directory' \
    'broken.yaml:2' | cmp -s - seen || fail "$(cat err)"

# A name is shown whole, and on one line.
long=$(printf '%0200d' 0)
mv bad.yaml "$long"
expect_status 1 "$BERTH" jobspec check "$long"
expect_line err "$long:2:44: $bad"

# What is larger than a jobspec may be is not read to its end.
expect_status 1 sh -c "yes '#' | head -c 40000000 | '$BERTH' jobspec check -"
expect_line err 'standard input:1:1: expected at most 16 MiB of text'
finish

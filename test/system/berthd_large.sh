#!/bin/sh
# What is accepted can be started: a job of the largest command, environment or script that berthd(8) names runs, and a larger one
# is refused in a line.
. "$BERTH_SOURCE/test/daemon.sh"
[ "$(ulimit -s)" = unlimited ] || [ "$(ulimit -s)" -ge 8192 ] || skip "the stack may take less than 8 MiB"
cd "$scratch" || exit 1
machine 2
"$BERTH" server start

x() { # BYTES
    head -c "$1" /dev/zero | tr '\0' x
}
post() { # FILE
    api POST /v1/jobs --data-binary @"$1"
}
id_of() {
    sed -n 's/.*"id": *\([0-9]*\).*/\1/p'
}
runs() { # WHAT FILE EXPECTED
    id=$(post "$2" | id_of)
    [ "$id" ] || fail "$1: refused: $(post "$2")"
    expect_status 0 timeout "$PATIENCE" "$BERTH" wait "$id"
    expect "what $1 wrote" "$3" "$(cat written)"
}

# 15 words or variables of not quite 128 KiB take what all of them together may.
words() { # BYTES NUMBER
    word=$(x "$1")
    for _ in $(seq "$2"); do
        printf ',"%s"' "$word"
    done
}
variables() { # BYTES NUMBER
    word=$(x $(($1 - 4)))
    for i in $(seq 10 $(($2 + 9))); do
        printf ',"V%s":"%s"' "$i" "$word"
    done
}
common="\"directory\": \"$scratch\", \"output\": \"written\""
printf '{%s, "command": ["sh", "-c", "echo $#", "sh"%s]}' "$common" "$(words 131040 15)" >job
runs "a large command" job 15
printf '{%s, "command": ["sh", "-c", "echo ${#V24}"], "environment": {"A": "b"%s}}' "$common" "$(variables 131040 15)" >job
runs "a large environment" job 131036
printf '{%s, "command": ["sh", "-c", "echo ${#V10}"], "environment": {"A": "b"%s}}' "$common" "$(variables 131071 1)" >job
runs "a large variable" job 131067
{
    printf '{%s, "script": "#!/bin/sh\\necho script; exit\\n' "$common"
    x $((2 * 1024 * 1024 - 30))
    printf '"}'
} >job
runs "a large script" job script

says() { # MESSAGE
    post job >answer
    grep -qF "$1" answer || fail "expected '$1', got '$(head -c 300 answer)'"
}
printf '{%s, "command": ["true"%s]}' "$common" "$(words 131072 1)" >job
says 'key \"command\": expected at most 128 KiB a word'
printf '{%s, "command": ["true"%s]}' "$common" "$(words 131070 15)" >job
says 'key \"command\": expected at most 1920 KiB with its arguments and the environment'
printf '{%s, "command": ["true"], "environment": {"A": "b"%s}}' "$common" "$(variables 131070 15)" >job
says 'key \"environment\": expected at most 1920 KiB with the command'
{
    printf '{%s, "script": "' "$common"
    x $((2 * 1024 * 1024 + 1))
    printf '"}'
} >job
says 'key \"script\": expected at most 2 MiB'
finish

#!/bin/sh
# The rooms of src/ include only from themselves and from rooms before them (doc/architecture.md), and the
# rooms of the core include nothing that reads a clock or a file, starts a thread or draws a random number.
. "$BERTH_SOURCE/test/lib.sh"
cd "$BERTH_SOURCE" || exit 1

# The folders of the server, and which of them each may use besides server/server.h: requests reach the core,
# which knows nothing of them, and neither knows connections or the program.
folders_for() {
    case $1 in
    store) echo store ;;
    core) echo store core ;;
    api) echo core api ;;
    http) echo http ;;
    daemon) echo http daemon ;;
    server.h) echo store ;;
    esac
}

order='base planner resource jobspec match place share sched config report sim flux engine server cli'
core='base planner resource jobspec match place share sched'

# Room of a public header: a part of its name.
room_of_public() {
    case $1 in
    error) echo base ;;
    classes) echo share ;;
    planner | planner_multi) echo planner ;;
    sched | sched_*) echo sched ;;
    *) echo "$1" ;;
    esac
}

rank() { # position of a room in the order; nothing for a folder that is no room
    position=0
    for room in $order; do
        position=$((position + 1))
        [ "$room" = "$1" ] && echo $position && return
    done
}

find src -mindepth 2 -name '*.[ch]' | sort >"$scratch/files"
[ -s "$scratch/files" ] || fail "no sources found"
while read -r file; do
    own=$(echo "$file" | cut -d/ -f2)
    own_rank=$(rank "$own")
    if [ -z "$own_rank" ]; then
        fail "$file: '$own' has no place in the order of the rooms in test/system/rooms.sh"
        continue
    fi
    for header in $(sed -n 's/^ *# *include *"\(.*\)".*/\1/p' "$file"); do
        case $header in
        berth/*) room=$(room_of_public "$(basename "$header" .h)") ;;
        */*) room=${header%%/*} ;;
        *)
            fail "$file: write \"$own/$header\", rooms and all"
            continue
            ;;
        esac
        other=$(rank "$room")
        if [ -z "$other" ]; then
            fail "$file: \"$header\" belongs to no known room"
        elif [ "$other" -gt "$own_rank" ]; then
            fail "$file: '$own' may not use '$room' (\"$header\")"
        fi
        case $file:$header in
        src/server/store/*:server/server.h) fail "$file: server/store may not use server/server.h" ;;
        src/server/*:server/*/*)
            from=$(echo "$file" | cut -d/ -f3)
            to=$(echo "$header" | cut -d/ -f2)
            case " $(folders_for "$from") " in
            *" $to "*) ;;
            *) fail "$file: server/$from may not use server/$to (\"$header\")" ;;
            esac
            ;;
        src/server/*:*) ;;
        src/flux/*:flux/* | src/flux/*:base/* | src/flux/*:berth/* | src/flux/*:config/* | src/flux/*:report/* | src/flux/*:sim/decisions.h) ;;
        src/flux/*) fail "$file: 'flux' knows the core by berth/ alone (\"$header\")" ;;
        *:flux/*) fail "$file: '$own' may not use the Flux module (\"$header\")" ;;
        *:server/daemon/paths.h) ;; # where a client finds its server
        *:server/*) fail "$file: '$own' may not use the server (\"$header\")" ;;
        esac
    done
done <"$scratch/files"

# stdio.h is there for snprintf; the test `core` sees what is called.
allowed='assert|ctype|errno|inttypes|limits|math|stdalign|stdarg|stdbool|stddef|stdint|stdio|stdlib|string|strings'
# These are there for their parsers, which are given a text in memory.
allowed="$allowed|expat|jansson|pcre2|yaml"
for room in $core; do
    [ -d "src/$room" ] || continue
    grep -rnE '^ *# *include *<' "src/$room" | grep -vE "<($allowed)\.h>" >"$scratch/outside" &&
        fail "the core includes what it may not: $(cat "$scratch/outside")"
done
finish

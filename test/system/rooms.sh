#!/bin/sh
# The rooms of src/ include only from themselves and from rooms before them (doc/architecture.md), and the
# rooms of the core include nothing that reads a clock or a file, starts a thread or draws a random number.
. "$BERTH_SOURCE/test/lib.sh"
cd "$BERTH_SOURCE" || exit 1

# The folders of the server, and which of them each may use besides server/server.h: requests reach the core,
# which knows nothing of them, and neither knows connections or the program. In $folders.
folders_for() {
    case $1 in
    store) folders=store ;;
    core) folders="store core" ;;
    api) folders="core api" ;;
    http) folders=http ;;
    daemon) folders="http daemon" ;;
    server.h) folders=store ;;
    *) folders= ;;
    esac
}

order='base planner resource jobspec match place share sched pilot config report sim flux engine server cli'
core='base planner resource jobspec match place share sched pilot'

# Room of a public header: a part of its name, in $room.
room_of_public() {
    case $1 in
    error) room=base ;;
    classes) room=share ;;
    planner | planner_multi) room=planner ;;
    sched | sched_*) room=sched ;;
    *) room=$1 ;;
    esac
}

position=0
for room in $order; do
    position=$((position + 1))
    eval "rank_$room=$position"
done

rank() { # position of a room in the order, in $position; nothing for a folder that is no room
    case $1 in
    *[!a-z]*) position= ;;
    *) eval "position=\${rank_$1:-}" ;;
    esac
}

# Every include, as "FILE HEADER". Nothing is started for one of them: there are thousands.
find src -mindepth 2 -name '*.[ch]' -exec grep -H '^ *# *include *"' {} + |
    sed 's/^\([^:]*\):[^"]*"\([^"]*\)".*/\1 \2/' >"$scratch/includes"
[ -s "$scratch/includes" ] || fail "no sources found"
while read -r file header; do
    own=${file#src/}
    own=${own%%/*}
    rank "$own"
    own_rank=$position
    if [ -z "$own_rank" ]; then
        fail "$file: '$own' has no place in the order of the rooms in test/system/rooms.sh"
        continue
    fi
    case $header in
    berth/*)
        room=${header#berth/}
        room_of_public "${room%.h}"
        ;;
    */*) room=${header%%/*} ;;
    *)
        fail "$file: write \"$own/$header\", rooms and all"
        continue
        ;;
    esac
    rank "$room"
    if [ -z "$position" ]; then
        fail "$file: \"$header\" belongs to no known room"
    elif [ "$position" -gt "$own_rank" ]; then
        fail "$file: '$own' may not use '$room' (\"$header\")"
    fi
    case $file:$header in
    src/server/store/*:server/server.h) fail "$file: server/store may not use server/server.h" ;;
    src/server/*:server/*/*)
        from=${file#src/server/}
        from=${from%%/*}
        to=${header#server/}
        to=${to%%/*}
        folders_for "$from"
        case " $folders " in
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
done <"$scratch/includes"

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

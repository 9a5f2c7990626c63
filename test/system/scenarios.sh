#!/bin/sh
# The scenarios of test/scenario: each decides as written down, or as its own lines expect, in one go and cut in two at any
# time (README.md there).
. "$BERTH_SOURCE/test/lib.sh"
cd "$BERTH_SOURCE/test/scenario" || exit 1

# first_of FILE...: the first that there is
first_of() {
    for file; do
        [ -e "$file" ] && echo "$file" && return
    done
}

# differ WRITTEN FOUND: say which line of a file with comments is not as it should be
differ() {
    awk -v name="test/scenario/$1" '
        NR == FNR { if (!/^(#|$)/) { line[++n] = $0; at[n] = FNR }; next }
        $0 != line[FNR] && !bad {
            bad = 1
            print name ":" (FNR <= n ? at[FNR] : "end")
            print "    expected: " (FNR <= n ? line[FNR] : "nothing more")
            print "    decided:  " $0
        }
        END {
            if (!bad && FNR < n)
                print name ":" at[FNR + 1] "\n    expected: " line[FNR + 1] "\n    decided:  nothing more"
        }' "$1" "$2"
}

# Cut in two at the time of each event, played to there, saved and loaded: the same decisions.
cut_anywhere() { # CONFIG EVENTS
    (cd "$scratch/$folder" && "$CUT_ANYWHERE" "$1" "$2") >"$scratch/cut" 2>&1 </dev/null || fail "$folder: $(cat "$scratch/cut")"
    played=$((played + 1))
}

# Lines that are wrong, and what is said of each
wrong_lines() { # FOLDER: a copy
    n=0
    events=0
    while IFS= read -r line; do
        n=$((n + 1))
        case $line in
        '' | \#*) ;;
        !*)
            (cd "$1" && "$BERTH" sim --config config.yaml --scenario wrong.jsonl --decisions "$scratch/none") \
                >"$scratch/out" 2>"$scratch/err" </dev/null
            [ $? -eq 1 ] && [ ! -e "$scratch/none" ] || fail "wrong/lines:$n: it is not refused"
            text="berth sim: wrong.jsonl:$events: ${line#! }"
            [ "$(cat "$scratch/err")" = "$text" ] || fail "wrong/lines:$n: $(cat "$scratch/err")"
            events=0
            ;;
        *)
            [ $events -eq 0 ] && : >"$1/wrong.jsonl"
            printf '%s\n' "$line" >>"$1/wrong.jsonl"
            events=$((events + 1))
            ;;
        esac
    done <"$1/lines"
}

played=0
for folder in *; do
    [ -d "$folder" ] || continue
    cp -r "$folder" "$scratch/$folder"
    if [ -e "$folder/lines" ]; then
        wrong_lines "$scratch/$folder"
        continue
    fi
    for written in "$folder"/*.decisions; do
        [ -e "$written" ] || continue
        name=$(basename "$written" .decisions)
        config=$(basename "$(first_of "$folder/$name.yaml" "$folder/config.yaml")")
        events=$(basename "$(first_of "$folder/$name.jsonl" "$folder/events.jsonl")")
        expect_status 0 "$BERTH" sim --config "$folder/$config" --scenario "$folder/$events" --decisions "$scratch/whole"
        differ "$written" "$scratch/whole" >"$scratch/difference"
        if [ -s "$scratch/difference" ]; then
            fail "$(cat "$scratch/difference")"
            continue
        fi
        cut_anywhere "$config" "$events"
    done
    for expected in "$folder"/*.jsonl; do
        name=$(basename "$expected" .jsonl)
        config=$(basename "$(first_of "$folder/$name.yaml" "$folder/config.yaml")")
        [ -n "$config" ] && [ ! -e "$folder/$name.decisions" ] && grep -q '"expect"' "$expected" || continue
        expect_status 0 "$BERTH" sim --config "$folder/$config" --scenario "$expected" --decisions "$scratch/whole"
        cut_anywhere "$config" "$name.jsonl"
    done
done
[ "$played" -gt 0 ] || fail "no scenarios"
finish

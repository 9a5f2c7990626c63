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

# Write what happens up to each time of the events, and what later, to N.before and N.after, and say "N TIME CONFIG": the
# configuration that holds then is the one that was loaded last, or the first.
cuts() { # FOLDER CONFIG EVENTS
    awk -v folder="$1" -v config="$2" '
        match($0, /^{"at": [0-9.]+/) {
            line[++lines] = $0
            at[lines] = substr($0, 8, RLENGTH - 7)
            if (match($0, /"config": "[^"]*"/))
                config = substr($0, RSTART + 11, RLENGTH - 12)
            if (lines == 1 || at[lines] != at[lines - 1])
                n++
            time[n] = at[lines]
            holds[n] = config
        }
        END {
            for (i = 1; i <= n; i++) {
                before = folder "/" i ".before"
                after = folder "/" i ".after"
                printf "" >before
                printf "" >after
                for (k = 1; k <= lines; k++)
                    print line[k] >(at[k] + 0 <= time[i] + 0 ? before : after)
                close(before)
                close(after)
                print i, time[i], holds[i]
            }
        }' "$1/$3"
}

# Play a scenario up to a time, save, and go on from there: the same decisions.
cut_in_two() { # FOLDER CONFIG EVENTS N TIME CONFIG-THEN
    "$BERTH" sim --config "$1/$2" --scenario "$1/$4.before" --until "$5" --save "$scratch/state" --decisions - \
        >"$scratch/both" 2>&1 </dev/null
    "$BERTH" sim --config "$1/$6" --load "$scratch/state" --scenario "$1/$4.after" --decisions - \
        >>"$scratch/both" 2>&1 </dev/null
    cmp -s "$scratch/both" "$scratch/whole" && return
    fail "$folder/$3 with $2, saved at $5 and loaded, goes on another way:"
    diff "$scratch/whole" "$scratch/both"
}

# The same at the time of each event; with BERTH_FEW, of every fourth.
cut_anywhere() { # CONFIG EVENTS
    cuts "$scratch/$folder" "$1" "$2" >"$scratch/cuts"
    while read -r n time then; do
        [ -n "${BERTH_FEW:-}" ] && [ $((n % 4)) -ne 1 ] && continue
        cut_in_two "$scratch/$folder" "$1" "$2" "$n" "$time" "$then"
    done <"$scratch/cuts"
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
        [ -e "$folder/$name.yaml" ] && [ ! -e "$folder/$name.decisions" ] || continue
        expect_status 0 "$BERTH" sim --config "$folder/$name.yaml" --scenario "$expected" --decisions "$scratch/whole"
        cut_anywhere "$name.yaml" "$name.jsonl"
    done
done
[ "$played" -gt 0 ] || fail "no scenarios"
finish

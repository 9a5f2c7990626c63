#!/bin/sh
# Why a job waits is a struct (berth/sched_reason.h). Only src/sched/reason_{words,text,read} know its text: nothing else
# in src/ has a part of such a text, or takes something apart that is called a reason.
. "$BERTH_SOURCE/test/lib.sh"
cd "$BERTH_SOURCE" || exit 1

own='src/sched/reason_words.h src/sched/reason_text.c src/sched/reason_read.c'
find src -name '*.[ch]' ! -path 'src/sched/reason_words.h' ! -path 'src/sched/reason_text.c' ! -path 'src/sched/reason_read.c' |
    sort >"$scratch/files"

# What stands between the formats of its texts, as far as it is more than a word.
# shellcheck disable=SC2086
texts $own | sed 's/^[^ ]*: //; s/%[-.0-9*]*[a-z]/\
/g' | grep -E '[a-z]{3}.*[ :]|[ :].*[a-z]{3}' | sort -u >"$scratch/parts"
[ "$(wc -l <"$scratch/parts")" -ge 15 ] || fail "$own: no parts of texts found"
grep -qx 'limit ' "$scratch/parts" || fail "$own: not found: the text of a limit"

# known FILE...: the texts that are such a part, or begin with one of at least two words.
known() {
    texts "$@" | awk 'NR == FNR { part[$0] = 1; next }
        {
            text = $0
            sub(/^[^ ]*: /, "", text)
            found = text in part
            for (p in part)
                if (p ~ /[a-z] [a-z]/ && index(text, p) == 1)
                    found = 1
            if (found)
                print
        }' "$scratch/parts" -
}

# taken_apart FILE...: the statements that read a reason, or compare it with a text.
taken_apart() {
    reading='(sscanf|strn(case)?cmp|strstr|strr?chr|strc?spn|strpbrk|strsep|strtok(_r)?|strto[a-z]+'
    reading="$reading|mem(cmp|chr))\\("
    comparing='str(case)?cmp\(([^()]*reason[^()]*"|[^()]*"[^()]*reason)'
    grep -l reason "$@" | while read -r source; do
        tr '\n' ' ' <"$source" | tr ";{}" "\n" | grep -E "\\<${reading}[^()]*reason|\\<$comparing" |
            sed "s|^ *|$source: |"
    done
}

# The law must see what it forbids.
cat >"$scratch/sample.c" <<'EOF'
/* "limit " */
bool a = strcmp(w->reason,
                "held") == 0;
bool b = sscanf(m->reason, "%7s", x) == 1;
bool c = strcmp("priority", a.reason) == 0, d = strcmp(reason, m->reason) == 0;
bool e = strncmp(text, "limit ", 6) == 0;
const char *f = "queue stopped now", *g = "limit of all", *h = "held";
EOF
[ "$(known "$scratch/sample.c" | sed 's/^[^ ]*: //' | tr '\n' '|')" = 'limit |queue stopped now|' ] ||
    fail "parts of reasons are not found in a sample"
[ "$(taken_apart "$scratch/sample.c" | wc -l)" -eq 3 ] ||
    fail "calls that read a reason are not found in a sample"

# shellcheck disable=SC2046
known $(cat "$scratch/files") >"$scratch/known"
[ -s "$scratch/known" ] && fail "only $own may have a part of a reason's text: $(cat "$scratch/known")"
# shellcheck disable=SC2046
taken_apart $(cat "$scratch/files") >"$scratch/apart"
[ -s "$scratch/apart" ] &&
    fail "a reason has a kind and fields; only $own reads its text: $(cat "$scratch/apart")"
finish

# Load for the power cuts: five jobs a request, as ann. What is tried and what was acknowledged is noted on the host.
# usage: load.sh BOOT CLIENT
log=/share/log
for n in $(seq 8); do
    body=
    names=
    for i in 1 2 3 4 5; do
        number=$((5 * n + i))
        name=$1-$2-$number
        again=false
        [ $((number % 4)) -ne 0 ] || again=true
        names="$names $name"
        body="$body,{\"command\": [\"sh\", \"/share/vm/job.sh\", \"$name\", \"$((number % 3))\"], \"name\": \"$name\",
            \"duration\": 600, \"requeue\": $again, \"directory\": \"/\", \"output\": \"/dev/null\",
            \"environment\": {\"PATH\": \"/usr/bin:/bin\"}}"
    done
    printf '%s\n' $names >>"$log/tried/$1-$2"
    reply=$(curl -sS --unix-socket /var/lib/berth/berth.sock http://b/v1/jobs -d "[${body#,}]")
    ids=$(echo "$reply" | sed -n 's/.*"ids": *\[\([0-9, ]*\)\].*/\1/p' | tr -d ' ' | tr ',' '\n')
    if [ -n "$ids" ]; then
        paste -d' ' <(echo "$ids") <(printf '%s\n' $names) >>"$log/acknowledged/$1-$2"
    else
        echo "$reply" >>"$log/refused"
    fi
done

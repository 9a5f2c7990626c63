#!/bin/sh
# Who is told of the begin and the end of a job: a command, a URL, a mailbox.
. "$BERTH_SOURCE/test/daemon.sh"
cd "$scratch" || exit 1
HOME=$scratch/home
mkdir home bin
export HOME
machine 2

cat >tell.sh <<END
#!/bin/sh
read -r text
echo "\$BERTH_JOB_ID \$BERTH_JOB_NAME \$BERTH_EVENT \$BERTH_STATE" >>'$scratch/told'
echo "\$text" >>'$scratch/texts'
END
chmod 755 tell.sh
told() { grep -qx "$1" told 2>/dev/null; }

# At the end, whatever it is; an array once; only at a failure; at the begin; a job that is cancelled while it waits.
expect_status 0 "$BERTH" submit --name good --notify "$scratch/tell.sh" true
await "the end of 1" told '1 good end done'
expect_status 0 "$BERTH" submit --name bad --notify "$scratch/tell.sh" --notify-on fail false
await "the failure of 2" told '2 bad end failed'
expect_status 0 "$BERTH" submit --name fine --notify "$scratch/tell.sh" --notify-on fail true
expect_status 0 "$BERTH" submit --name both --notify "$scratch/tell.sh" --notify-on begin,end --array 3 sleep 0.1
await "the end of 4" told '4 both end done'
await "the begin of 4" told '4 both begin running'
expect_status 0 "$BERTH" submit --name late --notify "$scratch/tell.sh" --hold true
expect_status 0 "$BERTH" server stop
expect_status 0 "$BERTH" server start
expect_status 0 "$BERTH" cancel 5
await "the end of 5" told '5 late end cancelled'
expect "lines" 5 "$(wc -l <told | tr -d ' ')"
python3 - <<'END' || fail "what a command reads: $(cat texts)"
import json
texts = [json.loads(line) for line in open("texts")]
first = texts[0]
assert first["id"] == 1 and first["name"] == "good" and first["event"] == "end" and first["state"] == "done", first
assert [t for t in texts if t["id"] == 4 and t["event"] == "end"][0]["members"] == 3
assert [t for t in texts if t["id"] == 2][0]["failed"] == 1
END
"$BERTH" jobs -a | grep -q . || fail "no jobs"

# What is submitted again notifies as well.
expect_status 0 "$BERTH" resubmit 1
await "the end of 6" told '6 good end done'

# A URL gets the object; where there is no curl, this is not tested.
if command -v curl >/dev/null 2>&1; then
    cat >web.py <<'END'
import http.server, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        text = self.rfile.read(int(self.headers["Content-Length"]))
        open("posted", "wb").write(self.headers["Content-Type"].encode() + b" " + text)
        self.send_response(204)
        self.end_headers()
    def log_message(self, *args): pass
server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
open("port.new", "w").write(str(server.server_port))
import os; os.rename("port.new", "port")
server.serve_forever()
END
    python3 web.py &
    web=$!
    await "a web server" test -s port
    expect_status 0 "$BERTH" submit --notify "http://127.0.0.1:$(cat port)/hook" true
    await "a post" grep -q '"event":"end"' posted
    grep -q '^application/json {"id":7,' posted || fail "what is posted: $(cat posted)"
    kill $web
fi

expect_status 1 "$BERTH" submit --notify true --notify-on sometimes true
expect_line err 'berth submit: key "notify_on": expected of the words begin, end, fail, separated by commas'
expect_status 1 "$BERTH" submit --notify-on end true

# Slurm's mail
printf '#!/bin/sh\n#SBATCH --mail-type=END,FAIL --mail-user=ann@example.org\ntrue\n' >job.sh
expect_status 0 "$BERTH" submit --hold job.sh
[ -s err ] && fail "a mail is warned of: $(cat err)"
id=$(cat out)
expect "the address" '"mail:ann@example.org"' "$("$BERTH" show --json "$id" | sed -n 's/^ *"notify": \(".*"\),*$/\1/p')"
expect "when" '"end,fail"' "$("$BERTH" show --json "$id" | sed -n 's/^ *"notify_on": \(".*"\),*$/\1/p')"
finish

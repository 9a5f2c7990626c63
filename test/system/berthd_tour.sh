#!/bin/sh
# A client that is made from doc/openapi.json alone calls every route.
. "$BERTH_SOURCE/test/daemon.sh"
cd "$scratch" || exit 1
/usr/bin/python3 -W ignore -c 'import jsonschema' 2>/dev/null || skip "no jsonschema for /usr/bin/python3"
mkdir -p "$BERTH_DIR"
cat >"$BERTH_DIR/berth.yaml" <<END
resources: {nodes: 1, cores: 4}
queues:
  batch: {policy: easy}
  shared: {shares: {by: class, classes: {percent: {land: 75, other: 25}, default: other}}}
default-queue: batch
END
expect_status 0 "$BERTH" server start
/usr/bin/python3 -B "$BERTH_SOURCE/test/replies/tour.py" "$BERTH_SOURCE/doc/openapi.json" "$BERTH_DIR/berth.sock" >said 2>&1 ||
    fail "a client made from doc/openapi.json: $(cat said)"
finish

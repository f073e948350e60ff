#!/usr/bin/env bash
# GNU SASL as the server of SCRAM-SHA-256 and SCRAM-SHA-1: it makes and checks every message, scram.mjs puts them into
# HTTP (RFC 7804). Any user name goes with the one password.
source "$(dirname "$0")/lib.sh"
install gsasl
free_port

launch scram node "$(dirname "$0")/scram.mjs" "$PORT" scram@peer 'hello from gsasl' \
  gsasl --server --mechanism=MECHANISM --password=pencil --quiet --no-cb
await "$PORT"
printf '{"url":"http://127.0.0.1:%s","password":"pencil","content":"hello from gsasl"}\n' "$PORT" | tee "$DIR/peer.json"

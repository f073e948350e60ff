#!/usr/bin/env bash
# better-auth as OpenID Provider below /api/auth: JSON behind its login and consent pages, an ID token signed with EdDSA, device grant.
source "$(dirname "$0")/lib.sh"
free_port

launch provider node "$(cd "$(dirname "$0")" && pwd)/better-auth.mjs" "$PORT" "$DIR/clients.json"
await "$PORT"
printf '{"issuer":"http://127.0.0.1:%s/api/auth","clients":%s}\n' "$PORT" "$(cat "$DIR/clients.json")" | tee "$DIR/peer.json"

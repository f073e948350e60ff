#!/usr/bin/env bash
# Cloudflare's OAuth provider for Workers: OAuth 2.1 without OpenID Connect, access tokens `user:grant:secret`.
source "$(dirname "$0")/lib.sh"
free_port

launch provider node "$(cd "$(dirname "$0")" && pwd)/workers-oauth-provider.mjs" "$PORT" "$DIR/clients.json"
await "$PORT"
printf '{"issuer":"http://127.0.0.1:%s","resource":"http://127.0.0.1:%s/api/files","clients":%s}\n' "$PORT" "$PORT" "$(cat "$DIR/clients.json")" |
  tee "$DIR/peer.json"

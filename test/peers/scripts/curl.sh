#!/usr/bin/env bash
# curl. There is no server: it is run by the tests.
source "$(dirname "$0")/lib.sh"
install curl
printf '{"version":"%s"}\n' "$(curl --version | head -n 1)" | tee "$DIR/peer.json"

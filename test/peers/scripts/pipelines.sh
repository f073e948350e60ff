#!/usr/bin/env bash
# Programs that divide lines among processes. There is no server: they are run by the tests.
source "$(dirname "$0")/lib.sh"
install parallel findutils python3-minimal
printf '{"parallel":"%s"}\n' "$(parallel --version | head -n 1)" | tee "$DIR/peer.json"

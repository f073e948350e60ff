#!/usr/bin/env bash
# Programs that read files by HTTP. There is no server: they are run by the tests.
source "$(dirname "$0")/lib.sh"
install curl wget aria2 python3-rasterio python3-requests
printf '{"curl":"%s"}\n' "$(curl --version | head -n 1)" | tee "$DIR/peer.json"

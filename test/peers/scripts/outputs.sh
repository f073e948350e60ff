#!/usr/bin/env bash
# Programs that read what `authorize` prints. There is no server: they are run by the tests.
source "$(dirname "$0")/lib.sh"
install curl wget aria2 rclone zsh python3-requests python3-fsspec python3-aiohttp
printf '{"wget":"%s"}\n' "$(wget --version | head -n 1)" | tee "$DIR/peer.json"

#!/usr/bin/env bash
# Shells with completion of their own, and readers of manual pages. There is no server: they are run by the tests.
source "$(dirname "$0")/lib.sh"
install zsh fish mandoc groff-base
printf '{"fish":"%s"}\n' "$(fish --version)" | tee "$DIR/peer.json"

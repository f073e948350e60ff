#!/usr/bin/env bash
# GDAL's programs. There is no server: they are run by the tests.
source "$(dirname "$0")/lib.sh"
install gdal-bin
printf '{"version":"%s"}\n' "$(gdalinfo --version)" | tee "$DIR/peer.json"

# What the peer scripts have in common; sourced, never run.
#
#   NAME.sh DIR [start|stop]
#
# Everything a peer writes is below DIR: logs, configuration, `pids` (pid and start time of each process) and `peer.json`,
# the one line of JSON that start prints. Exit codes: 64 usage, 69 a package cannot be installed, 70 it did not come up.
set -euo pipefail

[ $# -ge 1 ] || { echo "usage: $(basename "$0") DIR [start|stop]" >&2; exit 64; }
mkdir -p "$1"
DIR=$(cd "$1" && pwd)
TAKEN=' '

# install PACKAGE... : from Debian, where missing, and without starting the services that come with them.
install() {
  local missing=() package sudo=() guard=/usr/sbin/policy-rc.d guarded=0 failed=0
  for package in "$@"; do dpkg -s "$package" >/dev/null 2>&1 || missing+=("$package"); done
  [ ${#missing[@]} -gt 0 ] || return 0
  command -v apt-get >/dev/null || { echo "no apt-get to install: ${missing[*]}" >&2; exit 69; }
  [ "$(id -u)" = 0 ] || sudo=(sudo -n)
  if [ ! -e $guard ]; then
    printf '#!/bin/sh\nexit 101\n' | "${sudo[@]}" tee $guard >/dev/null && "${sudo[@]}" chmod 755 $guard && guarded=1
  fi
  local apt=("${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get)
  {
    "${apt[@]}" install -y --no-install-recommends "${missing[@]}" ||
      { "${apt[@]}" update && "${apt[@]}" install -y --no-install-recommends "${missing[@]}"; }
  } >"$DIR/apt.log" 2>&1 || failed=1
  [ $guarded = 0 ] || "${sudo[@]}" rm -f $guard
  [ $failed = 0 ] || { tail -n 5 "$DIR/apt.log" >&2; echo "cannot install: ${missing[*]}" >&2; exit 69; }
}

listening() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# free_port : sets PORT to a loopback port that nobody uses, another one at each call.
free_port() {
  while PORT=$((20000 + RANDOM % 10000)); do
    case $TAKEN in *" $PORT "*) continue ;; esac
    listening "$PORT" || break
  done
  TAKEN="$TAKEN$PORT "
}

# The start time keeps a pid that was given to another process from being taken for ours; zombies have none.
started_at() { sed -n 's/^.*) \([^Z] .*\)$/\1/p' "/proc/$1/stat" 2>/dev/null | cut -d' ' -f20; }

alive() { [ -n "$2" ] && [ "$(started_at "$1")" = "$2" ]; }

# launch NAME COMMAND... : in the background, with a log of its own.
launch() {
  local log=$DIR/$1.log; shift
  setsid "$@" </dev/null >"$log" 2>&1 &
  echo "$! $(started_at $!)" >>"$DIR/pids"
}

survivors() {
  local pid at
  [ ! -f "$DIR/pids" ] || while read -r pid at; do if alive "$pid" "$at"; then echo "$pid"; fi; done <"$DIR/pids"
}

stop_peer() {
  local left turn
  for turn in $(seq 60); do
    left=$(survivors)
    [ -n "$left" ] || break
    [ "$turn" != 1 ] || kill $left 2>/dev/null || true
    [ "$turn" != 40 ] || kill -9 $left 2>/dev/null || true
    sleep 0.1
  done
  rm -f "$DIR/pids" "$DIR/peer.json"
}

give_up() { echo "$1; logs in $DIR" >&2; tail -qn 3 "$DIR"/*.log >&2 || true; stop_peer; exit 70; }

# await PORT... : until all of them answer.
await() {
  local port turn
  for port in "$@"; do
    for turn in $(seq 600); do listening "$port" && continue 2; sleep 0.05; done
    give_up "nothing answers on port $port"
  done
}

case ${2:-start} in
  start) stop_peer ;;
  stop) stop_peer; exit 0 ;;
  *) echo "start or stop, not $2" >&2; exit 64 ;;
esac

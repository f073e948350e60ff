#!/usr/bin/env bash
# redis: a queue behind a password, in memory only.
source "$(dirname "$0")/lib.sh"
install redis-server
free_port
password="p@ss/$RANDOM$RANDOM"

# The configuration comes on standard input, so that no password stands in a list of processes.
cat >"$DIR/redis.conf" <<CONF
bind 127.0.0.1
port $PORT
requirepass $password
save ""
appendonly no
dir $DIR
maxmemory-policy noeviction
CONF
chmod 600 "$DIR/redis.conf"
launch redis redis-server "$DIR/redis.conf"
await "$PORT"
printf '{"host":"127.0.0.1","port":%s,"password":"%s"}\n' "$PORT" "$password" | tee "$DIR/peer.json"

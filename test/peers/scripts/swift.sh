#!/usr/bin/env bash
# OpenStack Swift with its S3 interface: an object store that checks Signature Version 4. It reads nothing in /etc.
source "$(dirname "$0")/lib.sh"
install swift-proxy swift-account swift-container swift-object memcached curl

ME=$(id -un)
ETC=$DIR/etc
mkdir -p "$ETC" "$DIR/disks/one" "$DIR/recon"
free_port; PROXY=$PORT
free_port; CACHE=$PORT

cat >"$ETC/swift.conf" <<CONF
[swift-hash]
swift_hash_path_prefix = tests
swift_hash_path_suffix = tests
[storage-policy:0]
name = only
default = yes
CONF

# Starts one of Swift's servers with our swift.conf, and with its log on stderr instead of in syslog.
cat >"$DIR/run.py" <<'PY'
import logging, sys
from swift.common import utils

class ToStderr(logging.StreamHandler):
    def __init__(self, *_, **__):
        super().__init__(sys.stderr)

for name in dir(utils.ThreadSafeSysLogHandler):
    if name.startswith('LOG_'):
        setattr(ToStderr, name, getattr(utils.ThreadSafeSysLogHandler, name))
utils.ThreadSafeSysLogHandler = ToStderr
utils.SWIFT_CONF_FILE, conf, server = sys.argv[1:4]

from swift.common import constraints, storage_policy
constraints.reload_constraints()
storage_policy.reload_storage_policies()
from swift.common.wsgi import run_wsgi
sys.exit(run_wsgi(conf, server))
PY

PORTS=("$CACHE")
for server in account container object; do
  free_port; PORTS+=("$PORT")
  cat >"$ETC/$server.conf" <<CONF
[DEFAULT]
bind_ip = 127.0.0.1
bind_port = $PORT
workers = 0
user = $ME
swift_dir = $ETC
devices = $DIR/disks
mount_check = false
disable_fallocate = true
recon_cache_path = $DIR/recon
log_level = WARNING
[pipeline:main]
pipeline = $server-server
[app:$server-server]
use = egg:swift#$server
CONF
  (
    cd "$ETC"
    rm -f "$server.builder" "$server.ring.gz"
    swift-ring-builder "$server.builder" create 4 1 1
    swift-ring-builder "$server.builder" add --region 1 --zone 1 --ip 127.0.0.1 --port "$PORT" --device one --weight 1
    swift-ring-builder "$server.builder" rebalance
  ) >"$DIR/ring-$server.log" 2>&1 &
done

cat >"$ETC/proxy.conf" <<CONF
[DEFAULT]
bind_ip = 127.0.0.1
bind_port = $PROXY
workers = 0
user = $ME
swift_dir = $ETC
log_level = INFO
[pipeline:main]
pipeline = catch_errors cache s3api tempauth copy slo dlo proxy-server
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:$CACHE
[filter:s3api]
use = egg:swift#s3api
location = us-east-1
storage_domain = s3.localhost
auth_pipeline_check = true
s3_acl = false
[filter:tempauth]
use = egg:swift#tempauth
user_tests_reader = reader-secret .admin
user_others_reader = others-secret .admin
[filter:copy]
use = egg:swift#copy
[filter:slo]
use = egg:swift#slo
[filter:dlo]
use = egg:swift#dlo
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
allow_account_management = true
CONF
wait # for the rings

launch memcached memcached -l 127.0.0.1 -p "$CACHE" -U 0 -m 16 -u "$ME"
for server in account container object; do
  launch $server /usr/bin/python3 "$DIR/run.py" "$ETC/swift.conf" "$ETC/$server.conf" $server-server
done
launch proxy /usr/bin/python3 "$DIR/run.py" "$ETC/swift.conf" "$ETC/proxy.conf" proxy-server
await "${PORTS[@]}" "$PROXY"

# The bucket is filled through Swift's own interface, so that no signature has to be right for it.
URL=http://127.0.0.1:$PROXY
TOKEN=$(curl -si -H 'X-Auth-User: tests:reader' -H 'X-Auth-Key: reader-secret' "$URL/auth/v1.0" | tr -d '\r' | sed -n 's/^x-auth-token: //Ip')
put() { curl -sf -o /dev/null --retry 20 --retry-delay 1 --retry-all-errors -X PUT -H "X-Auth-Token: $TOKEN" "$@" || give_up 'cannot fill the bucket'; }
put "$URL/v1/AUTH_tests/eo-bucket"
put --data-binary 'hello world' "$URL/v1/AUTH_tests/eo-bucket/plain.txt"
put --data-binary 'odd' "$URL/v1/AUTH_tests/eo-bucket/a/x%20y%2Bz%281%29~%27%21%2A%C3%A9.txt"

printf '{"url":"%s","region":"us-east-1","bucket":"eo-bucket","objects":{"plain.txt":"hello world","a/x y+z(1)~%s!*é.txt":"odd"},%s,%s,"virtualHost":"%s"}\n' \
  "$URL" "'" '"keys":{"accessKeyId":"tests:reader","secretAccessKey":"reader-secret"}' \
  '"others":{"accessKeyId":"others:reader","secretAccessKey":"others-secret"}' "eo-bucket.s3.localhost:$PROXY" | tee "$DIR/peer.json"

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
# An object is in the list of its bucket once the container server knows it. One that hears of it too late never does: no updater runs here.
conn_timeout = 60
node_timeout = 60
container_update_timeout = 120
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

# object KEY CONTENT : puts it there and keeps it in mind for the facts.
: >"$DIR/objects"
object() {
  printf '%s\0%s\0' "$1" "$2" >>"$DIR/objects"
  put --data-binary "$2" "$URL/v1/AUTH_tests/eo-bucket/$(/usr/bin/python3 -c 'import sys, urllib.parse; print(urllib.parse.quote(sys.argv[1]))' "$1")"
}
object plain.txt 'hello world'
object "a/x y+z(1)~'!*é.txt" odd
object 'odd/100% %2F+%2B.txt' percent
object 'odd/日本 ü&<x>?y=1#z.txt' unicode
object 'odd/double//slash' slashes
object store.zarr/zarr.json '{"zarr_format":3,"node_type":"group"}'
object store.zarr/temp/c/0/0 chunk
object store.zarr2/secret 'another store'
for number in 01 02 03 04 05 06 07 08 09 10 11; do object "many/$number" "$number"; done

/usr/bin/python3 - "$URL" "eo-bucket.s3.localhost:$PROXY" "$DIR/objects" <<'PY' | tee "$DIR/peer.json"
import json, sys
url, virtual_host, file = sys.argv[1:]
words = open(file, encoding='utf-8').read().split('\0')[:-1]
print(json.dumps({
    'url': url, 'region': 'us-east-1', 'bucket': 'eo-bucket', 'virtualHost': virtual_host,
    'objects': dict(zip(words[::2], words[1::2])),
    'keys': {'accessKeyId': 'tests:reader', 'secretAccessKey': 'reader-secret'},
    'others': {'accessKeyId': 'others:reader', 'secretAccessKey': 'others-secret'},
}))
PY

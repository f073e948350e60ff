#!/usr/bin/env bash
# lighttpd: Basic, and Digest with each algorithm that it has (RFC 7616). A folder for each, whose realm is FOLDER@peer.
source "$(dirname "$0")/lib.sh"
install lighttpd python3-minimal
free_port

cat >"$DIR/users.py" <<'PY'
import hashlib

HASHES = {'MD5': 'md5', 'SHA-256': 'sha256', 'SHA-512-256': 'sha512_256'}
USERS = {'alice': 'pa:ss wörd', 'Jäsøn Doe': 'Secret, or not?'}
FOLDERS = {
    'basic': ['MD5'], 'md5': ['MD5'], 'sha-256': ['SHA-256'], 'sha-512-256': ['SHA-512-256'],
    'userhash': ['SHA-256'], 'userhash-512': ['SHA-512-256'], 'many': ['SHA-256', 'MD5'],
}
for folder, algorithms in FOLDERS.items():
    for algorithm in algorithms:
        for user, password in USERS.items():
            realm = folder + '@peer'
            hashed = [hashlib.new(HASHES[algorithm], text.encode()).hexdigest() for text in (f'{user}:{realm}:{password}', f'{user}:{realm}')]
            print(user, realm, *hashed, sep=':')
PY
/usr/bin/python3 "$DIR/users.py" >"$DIR/users"

# guard FOLDER METHOD [MORE] : what a folder asks for.
guard() {
  mkdir -p "$DIR/www/$1"
  echo "hello from $1" >"$DIR/www/$1/f.txt"
  echo "  \"/$1/\" => (\"method\" => \"$2\", \"realm\" => \"$1@peer\", \"require\" => \"valid-user\"${3:+, $3}),"
}

cat >"$DIR/lighttpd.conf" <<CONF
server.modules = ("mod_auth", "mod_authn_file")
server.document-root = "$DIR/www"
server.bind = "127.0.0.1"
server.port = $PORT
server.errorlog = "$DIR/error.log"
auth.backend = "htdigest"
auth.backend.htdigest.userfile = "$DIR/users"
auth.require = (
$(guard basic basic)
$(guard md5 digest '"algorithm" => "MD5"')
$(guard sha-256 digest '"algorithm" => "SHA-256"')
$(guard sha-512-256 digest '"algorithm" => "SHA-512-256"')
$(guard userhash digest '"algorithm" => "SHA-256", "userhash" => "enable"')
$(guard userhash-512 digest '"algorithm" => "SHA-512-256", "userhash" => "enable"')
$(guard many digest '"algorithm" => "SHA-256|MD5"')
)
CONF

PATH=$PATH:/usr/sbin launch lighttpd lighttpd -D -f "$DIR/lighttpd.conf"
await "$PORT"
printf '{"url":"http://127.0.0.1:%s","users":{"alice":"pa:ss wörd","Jäsøn Doe":"Secret, or not?"}}\n' "$PORT" | tee "$DIR/peer.json"

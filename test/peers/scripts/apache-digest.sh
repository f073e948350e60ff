#!/usr/bin/env bash
# Apache's mod_auth_digest: MD5 with rspauth and nextnonce. Nonces live for 3 seconds in /short/ and for ever in /long/.
source "$(dirname "$0")/lib.sh"
install apache2
free_port

user() { printf 'alice:%s:%s\n' "$1" "$(printf 'alice:%s:secret' "$1" | md5sum | cut -d' ' -f1)"; }
{ user short@peer; user long@peer; } >"$DIR/users"

MODULES=$(dirname "$(dpkg -L apache2-bin | grep -m1 '/mod_auth_digest\.so$')")

# guard FOLDER SECONDS : how long its nonces live.
guard() {
  mkdir -p "$DIR/www/$1"
  echo "hello from $1" >"$DIR/www/$1/f.txt"
  cat <<CONF
<Location /$1>
  AuthType Digest
  AuthName "$1@peer"
  AuthDigestProvider file
  AuthUserFile $DIR/users
  AuthDigestNonceLifetime $2
  Require valid-user
</Location>
CONF
}

cat >"$DIR/httpd.conf" <<CONF
ServerRoot $DIR
DefaultRuntimeDir $DIR
PidFile $DIR/httpd.pid
Mutex file:$DIR
ServerName localhost
Listen 127.0.0.1:$PORT
ErrorLog $DIR/error.log
LoadModule mpm_event_module $MODULES/mod_mpm_event.so
$(for module in authn_core authn_file authz_core authz_user auth_digest; do echo "LoadModule ${module}_module $MODULES/mod_$module.so"; done)
DocumentRoot $DIR/www
$(guard short 3)
$(guard long -1)
CONF

# Its workers have a user of their own when root starts it.
if [ "$(id -u)" = 0 ]; then
  printf 'User www-data\nGroup www-data\n' >>"$DIR/httpd.conf"
  chmod 711 "$DIR"
fi

PATH=$PATH:/usr/sbin launch apache apache2 -DFOREGROUND -f "$DIR/httpd.conf"
await "$PORT"
printf '{"url":"http://127.0.0.1:%s","username":"alice","password":"secret","nonceSeconds":3}\n' "$PORT" | tee "$DIR/peer.json"

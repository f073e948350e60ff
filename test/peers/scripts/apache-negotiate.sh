#!/usr/bin/env bash
# Apache's mod_auth_gssapi and a Kerberos realm of its own, with a client folder in which the package `kerberos` is installed.
# /files/ wants Negotiate, /either/ would take a password as well, /rekeyed/ has a key that the realm has replaced.
source "$(dirname "$0")/lib.sh"
install apache2 libapache2-mod-auth-gssapi krb5-kdc krb5-admin-server krb5-user libkrb5-dev build-essential python3
free_port; KDC=$PORT
free_port
REALM=PEER.EXAMPLE
KRB=$DIR/krb
export PATH=$PATH:/usr/sbin:/sbin

# Everything of the realm is here; nothing of the machine's own configuration is read.
rm -rf "$KRB"
mkdir -p "$KRB/replays"
cat >"$KRB/krb5.conf" <<CONF
[libdefaults]
  default_realm = $REALM
  dns_lookup_kdc = false
  dns_lookup_realm = false
  dns_canonicalize_hostname = false
  rdns = false
  default_ccache_name = FILE:$KRB/no-cache
  plugin_base_dir = $KRB
[realms]
  $REALM = {
    kdc = 127.0.0.1:$KDC
  }
CONF
cat >"$KRB/kdc.conf" <<CONF
[kdcdefaults]
  kdc_listen = 127.0.0.1:$KDC
  kdc_tcp_listen = 127.0.0.1:$KDC
[realms]
  $REALM = {
    database_name = $KRB/principals
    key_stash_file = $KRB/stash
    acl_file = $KRB/acl
  }
CONF
export KRB5_CONFIG=$KRB/krb5.conf KRB5_KDC_PROFILE=$KRB/kdc.conf KRB5RCACHEDIR=$KRB/replays

{
  kdb5_util create -s -r $REALM -P master
  kadmin.local -q 'addprinc -pw secret alice'
  kadmin.local -q 'addprinc -randkey HTTP/localhost'
  # Each ktadd makes a new key: tickets are for the last one.
  kadmin.local -q "ktadd -k $KRB/replaced.keytab HTTP/localhost"
  kadmin.local -q "ktadd -k $KRB/http.keytab HTTP/localhost"
} >"$DIR/realm.log" 2>&1 || give_up 'the realm could not be made'
launch kdc krb5kdc -n
await "$KDC"

# ticket CACHE OPTION... : for alice.
ticket() { echo secret | kinit -c "FILE:$KRB/$1" "${@:2}" alice >>"$DIR/kinit.log" 2>&1 || give_up 'there is no ticket'; }
ticket good
ticket expired -l 1s

# Compiled here where no prebuilt one can be loaded; Node's own headers serve when they are installed with it.
NODE_PREFIX=$(dirname "$(dirname "$(readlink -f "$(command -v node)")")")
[ ! -e "$NODE_PREFIX/include/node/node.h" ] || export npm_config_nodedir=$NODE_PREFIX
mkdir -p "$DIR/client"
echo '{ "private": true }' >"$DIR/client/package.json"
(cd "$DIR/client" && npm install --no-audit --no-fund --prefer-offline kerberos@7.0.0) >"$DIR/npm.log" 2>&1 || {
  tail -n 5 "$DIR/npm.log" >&2
  stop_peer
  echo 'cannot install the package kerberos' >&2
  exit 69
}

MODULES=$(dirname "$(dpkg -L apache2-bin | grep -m1 '/mod_auth_basic\.so$')")

# guard FOLDER KEYTAB DIRECTIVE... : for who has a ticket.
guard() {
  mkdir -p "$DIR/www/$1"
  echo "hello from $1" >"$DIR/www/$1/f.txt"
  cat <<CONF
<Location /$1>
  AuthType GSSAPI
  AuthName "$1@peer"
  GssapiCredStore keytab:$KRB/$2
  GssapiSSLonly Off
  ${*:3}
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
LogFormat "%>s %U %u %{Authorization}i" peer
CustomLog $DIR/access.log peer
LoadModule mpm_event_module $MODULES/mod_mpm_event.so
$(for module in authn_core authz_core authz_user auth_basic auth_gssapi; do echo "LoadModule ${module}_module $MODULES/mod_$module.so"; done)
DocumentRoot $DIR/www
$(guard files http.keytab)
$(guard either http.keytab GssapiBasicAuth On)
$(guard rekeyed replaced.keytab)
CONF

# Its workers have a user of their own when root starts it.
if [ "$(id -u)" = 0 ]; then
  printf 'User www-data\nGroup www-data\n' >>"$DIR/httpd.conf"
  chmod 711 "$DIR" "$KRB"
  chmod 1777 "$KRB/replays"
  chmod 644 "$KRB"/*.keytab "$KRB/krb5.conf"
fi

launch apache apache2 -DFOREGROUND -f "$DIR/httpd.conf"
await "$PORT"
cat <<JSON | tr -d '\n' | tee "$DIR/peer.json"
{"url":"http://localhost:$PORT","client":"$DIR/client","log":"$DIR/access.log","config":"$KRB/krb5.conf",
"caches":{"good":"FILE:$KRB/good","expired":"FILE:$KRB/expired","none":"FILE:$KRB/none"}}
JSON

#!/usr/bin/env bash
# Apache's mod_auth_gssapi in two Kerberos realms of its own, one of MIT and one of Heimdal, with a client folder in which
# the package `kerberos` is installed. /files/ wants Negotiate, /either/ would take a password as well, /rekeyed/ has keys that
# the realms have replaced.
source "$(dirname "$0")/lib.sh"
install apache2 libapache2-mod-auth-gssapi krb5-kdc krb5-admin-server krb5-user libkrb5-dev build-essential python3 \
  libkdc2-heimdal libkadm5clnt7-heimdal libkadm5srv8-heimdal libkafs0-heimdal libotp0-heimdal libsl0-heimdal libcap-ng0 libedit2
free_port; MIT_KDC=$PORT
free_port; HEIMDAL_KDC=$PORT
free_port
KRB=$DIR/krb
export PATH=$PATH:/usr/sbin:/sbin

# Everything of the realms is here; nothing of the machine's own configuration is read.
rm -rf "$KRB"
mkdir -p "$KRB/replays"

# client NAME REALM PORT : writes NAME.conf, which knows this realm alone.
client() {
  cat >"$KRB/$1.conf" <<CONF
[libdefaults]
  default_realm = $2
  dns_lookup_kdc = false
  dns_lookup_realm = false
  dns_canonicalize_hostname = false
  rdns = false
  default_ccache_name = FILE:$KRB/no-cache
  plugin_base_dir = $KRB
[realms]
  $2 = {
    kdc = 127.0.0.1:$3
  }
CONF
}
client mit MIT.EXAMPLE "$MIT_KDC"
client heimdal HEIMDAL.EXAMPLE "$HEIMDAL_KDC"

cat >"$KRB/mit-kdc.conf" <<CONF
[kdcdefaults]
  kdc_listen = 127.0.0.1:$MIT_KDC
  kdc_tcp_listen = 127.0.0.1:$MIT_KDC
[realms]
  MIT.EXAMPLE = {
    database_name = $KRB/principals
    key_stash_file = $KRB/stash
    acl_file = $KRB/acl
  }
CONF
export KRB5_CONFIG=$KRB/mit.conf KRB5_KDC_PROFILE=$KRB/mit-kdc.conf KRB5RCACHEDIR=$KRB/replays

{
  kdb5_util create -s -r MIT.EXAMPLE -P master
  kadmin.local -q 'addprinc -pw secret alice'
  kadmin.local -q 'addprinc -randkey HTTP/localhost'
  # Each ktadd makes a new key: tickets are for the last one.
  kadmin.local -q "ktadd -k $KRB/replaced.keytab HTTP/localhost"
  kadmin.local -q "ktadd -k $KRB/http.keytab HTTP/localhost"
} >"$DIR/mit.log" 2>&1 || give_up 'the realm of MIT could not be made'
launch mit-kdc krb5kdc -n

# Heimdal's two packages cannot be installed beside those of MIT, only their libraries can.
mkdir -p "$DIR/heimdal"
(cd "$DIR/heimdal" && apt-get download heimdal-kdc heimdal-clients && for package in *.deb; do dpkg-deb -x "$package" .; done) \
  >"$DIR/heimdal-packages.log" 2>&1 || {
  tail -n 5 "$DIR/heimdal-packages.log" >&2
  echo 'cannot download: heimdal-kdc heimdal-clients' >&2
  stop_peer
  exit 69
}
HEIMDAL=$DIR/heimdal/usr
cat "$KRB/heimdal.conf" - >"$KRB/heimdal-kdc.conf" <<CONF
[kdc]
  database = {
    dbname = $KRB/heimdal-principals
    realm = HEIMDAL.EXAMPLE
    mkey_file = $KRB/heimdal-key
    acl_file = $KRB/acl
    log_file = $KRB/heimdal-changes
  }
[logging]
  default = STDERR
CONF
in_heimdal() { KRB5_CONFIG=$KRB/heimdal-kdc.conf "$HEIMDAL/bin/kadmin.heimdal" -l "$@"; }

{
  in_heimdal init --realm-max-ticket-life=1d --realm-max-renewable-life=1d HEIMDAL.EXAMPLE
  in_heimdal add --use-defaults --password=secret alice
  in_heimdal add --use-defaults --random-key HTTP/localhost
  in_heimdal ext_keytab -k "$KRB/replaced.keytab" HTTP/localhost
  in_heimdal cpw --random-key HTTP/localhost
  in_heimdal ext_keytab -k "$KRB/http.keytab" HTTP/localhost
} >"$DIR/heimdal.log" 2>&1 || give_up 'the realm of Heimdal could not be made'
launch heimdal-kdc "$HEIMDAL/lib/heimdal-servers/kdc" --config-file="$KRB/heimdal-kdc.conf" --addresses=127.0.0.1 --ports="$HEIMDAL_KDC"
await "$MIT_KDC" "$HEIMDAL_KDC"

# Tickets for alice, each realm's from its own kinit: good ones, and some that have expired when they are used.
{
  for cache in good expired; do
    life=1h
    [ $cache = good ] || life=1s
    echo secret | kinit -c "FILE:$KRB/mit-$cache" -l $life alice
    echo secret | KRB5_CONFIG=$KRB/heimdal.conf "$HEIMDAL/bin/kinit.heimdal" -c "FILE:$KRB/heimdal-$cache" -l $life --password-file=STDIN alice
  done
} >"$DIR/kinit.log" 2>&1 || give_up 'there is no ticket'

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
  chmod 644 "$KRB"/*.keytab "$KRB"/*.conf
fi

launch apache apache2 -DFOREGROUND -f "$DIR/httpd.conf"
await "$PORT"
realm() {
  printf '"%s":{"name":"%s","config":"%s","caches":{"good":"FILE:%s","expired":"FILE:%s","none":"FILE:%s"}}' \
    "$1" "$2" "$KRB/$3.conf" "$KRB/$3-good" "$KRB/$3-expired" "$KRB/$3-none"
}
cat <<JSON | tr -d '\n' | tee "$DIR/peer.json"
{"url":"http://localhost:$PORT","client":"$DIR/client","log":"$DIR/access.log",
"realms":{$(realm MIT MIT.EXAMPLE mit),$(realm Heimdal HEIMDAL.EXAMPLE heimdal)}}
JSON

#!/usr/bin/env bash
# Glewlwyd as OpenID Provider at /api/oidc: an issuer with a path, JSON behind its login page, every grant but token exchange.
source "$(dirname "$0")/lib.sh"
install glewlwyd openssl python3
free_port; GLEWLWYD=$PORT
# Redirect URIs are compared as a whole there, the port too.
free_port; REDIRECT=$PORT

openssl genpkey -quiet -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out "$DIR/key.pem" 2>"$DIR/openssl.log"
openssl pkey -in "$DIR/key.pem" -pubout -out "$DIR/public.pem"

cat >"$DIR/glewlwyd.conf" <<CONF
port=$GLEWLWYD
bind_address="127.0.0.1"
external_url="http://127.0.0.1:$GLEWLWYD"
login_url="login.html"
api_prefix="api"
cookie_secure=0
log_mode="console"
log_level="WARNING"
user_module_path="/usr/lib/glewlwyd/user"
client_module_path="/usr/lib/glewlwyd/client"
user_auth_scheme_module_path="/usr/lib/glewlwyd/scheme"
plugin_module_path="/usr/lib/glewlwyd/plugin"
hash_algorithm="SHA512"
database = { type = "sqlite3", path = "$DIR/glewlwyd.db" }
CONF

# The tables as Debian's package makes them.
/usr/bin/python3 - "$DIR/glewlwyd.db" <<'PY'
import sqlite3
import sys

with open('/usr/share/dbconfig-common/data/glewlwyd/install/sqlite3') as tables, sqlite3.connect(sys.argv[1]) as database:
    database.executescript('PRAGMA synchronous = OFF;' + tables.read())
PY

launch glewlwyd /usr/bin/glewlwyd --config-file="$DIR/glewlwyd.conf"
await "$GLEWLWYD"

/usr/bin/python3 - "$DIR" "http://127.0.0.1:$GLEWLWYD" "http://127.0.0.1:$REDIRECT/callback" <<'PY'
import json
import sys
from http.cookiejar import CookieJar
from urllib.error import HTTPError
from urllib.request import HTTPCookieProcessor, Request, build_opener

folder, origin, redirect_uri = sys.argv[1:]


def person():
    browser = build_opener(HTTPCookieProcessor(CookieJar()))

    def send(path, body, method='POST'):
        headers = {'Content-Type': 'application/json'}
        try:
            browser.open(Request(f'{origin}/api/{path}', json.dumps(body).encode(), headers, method=method)).read()
        except HTTPError as error:
            sys.exit(f'{method} {path}: {error.code} {error.read().decode()}')

    return send


admin = person()
admin('auth/', {'username': 'admin', 'password': 'password'})
admin('mod/plugin/', {
    'module': 'oidc', 'name': 'oidc', 'display_name': 'oidc',
    'parameters': {
        'iss': f'{origin}/api/oidc', 'subject-type': 'public',
        'jwt-type': 'rsa', 'jwt-key-size': '256',
        'key': open(f'{folder}/key.pem').read(), 'cert': open(f'{folder}/public.pem').read(),
        'access-token-duration': 3600, 'refresh-token-duration': 86400, 'code-duration': 600,
        'refresh-token-rolling': True, 'refresh-token-one-use': 'always',
        'allow-non-oidc': True,
        'auth-type-code-enabled': True, 'auth-type-code-revoke-replayed': True, 'auth-type-token-enabled': False,
        'auth-type-password-enabled': True, 'auth-type-client-enabled': True, 'auth-type-refresh-enabled': True,
        'auth-type-device-enabled': True, 'device-authorization-expiration': 600, 'device-authorization-interval': 1,
        'pkce-allowed': True, 'pkce-required': True, 'pkce-method-plain-allowed': False,
        'introspection-revocation-allowed': True, 'introspection-revocation-allow-target-client': True,
        'introspection-revocation-auth-scope': ['introspect'],
        'oauth-as-iss-id': True,
    },
})
for name in ('read', 'introspect'):
    admin('scope/', {'name': name, 'password_required': False, 'password_max_age': 0, 'scheme': {}})
admin('user/', {'username': 'alice', 'password': 'swordfish', 'scope': ['openid', 'read', 'g_profile'], 'enabled': True})
secret = {'confidential': True, 'enabled': True, 'token_endpoint_auth_method': ['client_secret_basic']}
code = {'authorization_type': ['code', 'refresh_token', 'delete_token', 'device_authorization'], 'redirect_uri': [redirect_uri]}
for client in (
    # With a secret: clients without one may not revoke there.
    {**secret, **code, 'client_id': 'native', 'client_secret': 'native-secret'},
    {**secret, 'client_id': 'service', 'client_secret': 'service-secret', 'scope': ['read'], 'authorization_type': ['client_credentials']},
    {**secret, 'client_id': 'legacy', 'client_secret': 'legacy-secret', 'authorization_type': ['password', 'refresh_token']},
    {**secret, 'client_id': 'guard', 'client_secret': 'guard-secret', 'scope': ['introspect'], 'authorization_type': ['client_credentials']},
):
    admin('client/', client)
alice = person()
alice('auth/', {'username': 'alice', 'password': 'swordfish'})
for client in ('native', 'legacy'):
    alice(f'auth/grant/{client}', {'scope': 'openid read'}, 'PUT')
PY
printf '{"issuer":"http://127.0.0.1:%s/api/oidc","redirectPort":%s}\n' "$GLEWLWYD" "$REDIRECT" | tee "$DIR/peer.json"

#!/usr/bin/env bash
# OAuthLib as the server of OAuth 1.0 (RFC 5849), as strict about nonces as it comes. Below /consumer/ without tokens.
source "$(dirname "$0")/lib.sh"
install python3-oauthlib python3-jwt python3-cryptography openssl
free_port

openssl genpkey -quiet -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out "$DIR/key.pem" 2>"$DIR/openssl.log"
openssl pkey -in "$DIR/key.pem" -pubout -out "$DIR/public.pem"

cat >"$DIR/oauth1.py" <<'PY'
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from oauthlib.oauth1 import RequestValidator, ResourceEndpoint, SignatureOnlyEndpoint

port, public_key = int(sys.argv[1]), open(sys.argv[2]).read()
used = set()


class OneConsumer(RequestValidator):
    enforce_ssl = False
    client_key_length = access_token_length = (3, 30)
    dummy_client = dummy_access_token = 'nobody'

    def validate_client_key(self, client_key, request):
        return client_key == 'consumer'

    def validate_access_token(self, client_key, token, request):
        return token == 'accesstoken'

    def validate_realms(self, client_key, token, request, uri=None, realms=None):
        return True

    def get_client_secret(self, client_key, request):
        return 'c&secret é'

    def get_access_token_secret(self, client_key, token, request):
        return 't/secret='

    def get_rsa_key(self, client_key, request):
        return public_key

    def validate_timestamp_and_nonce(self, client_key, timestamp, nonce, request, request_token=None, access_token=None):
        use = (timestamp, nonce)
        is_new = use not in used
        used.add(use)
        return is_new


class Resource(BaseHTTPRequestHandler):
    def answer(self):
        body = self.rfile.read(int(self.headers.get('Content-Length') or 0)).decode()
        call = (f"http://{self.headers['Host']}{self.path}", self.command, body, dict(self.headers))
        if 'Authorization' not in self.headers:
            isin = False
        elif self.path.startswith('/consumer/'):
            isin, _ = SignatureOnlyEndpoint(OneConsumer()).validate_request(*call)
        else:
            isin, _ = ResourceEndpoint(OneConsumer()).validate_protected_resource_request(*call)
        content = b'hello from oauthlib' if isin else b''
        self.send_response(200 if isin else 401)
        if not isin:
            self.send_header('WWW-Authenticate', 'OAuth realm="oauth1@peer"')
        self.send_header('Content-Length', str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = answer


ThreadingHTTPServer(('127.0.0.1', port), Resource).serve_forever()
PY

launch oauth1 /usr/bin/python3 "$DIR/oauth1.py" "$PORT" "$DIR/public.pem"
await "$PORT"
printf '{"url":"http://127.0.0.1:%s","content":"hello from oauthlib","privateKeyFile":"%s",%s,%s}\n' "$PORT" "$DIR/key.pem" \
  '"consumer":{"key":"consumer","secret":"c&secret é"}' '"token":{"value":"accesstoken","secret":"t/secret="}' | tee "$DIR/peer.json"

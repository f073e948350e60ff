#!/usr/bin/env bash
# Twisted: Basic, and Digest with MD5.
source "$(dirname "$0")/lib.sh"
install python3-twisted
free_port

cat >"$DIR/server.py" <<'PY'
import sys
from twisted.cred import checkers, credentials, portal
from twisted.internet import reactor
from twisted.web import guard, resource, server
from zope.interface import implementer

USERS = {'ada': 'Circle of Life', 'Jäsøn': 'Öffne dich'}


class Files(resource.Resource):
    isLeaf = True

    def render_GET(self, request):
        return b'hello from ' + request.prepath[0] + b'\n'


@implementer(portal.IRealm)
class Realm:
    def requestAvatar(self, avatarId, mind, *interfaces):
        return resource.IResource, Files(), lambda: None


def guarded(*factories):
    checker = checkers.InMemoryUsernamePasswordDatabaseDontUse()
    for name, password in USERS.items():
        checker.addUser(name.encode(), password.encode())
    return guard.HTTPAuthSessionWrapper(portal.Portal(Realm(), [checker]), list(factories))


root = resource.Resource()
root.putChild(b'basic', guarded(guard.BasicCredentialFactory(b'files@peer')))
root.putChild(b'md5', guarded(guard.DigestCredentialFactory(b'md5', b'files@peer')))
root.putChild(b'either', guarded(guard.DigestCredentialFactory(b'md5', b'files@peer'), guard.BasicCredentialFactory(b'files@peer')))
reactor.listenTCP(int(sys.argv[1]), server.Site(root), interface='127.0.0.1')
reactor.run()
PY

launch twisted /usr/bin/python3 "$DIR/server.py" "$PORT"
await "$PORT"
printf '{"url":"http://127.0.0.1:%s","users":{"ada":"Circle of Life","Jäsøn":"Öffne dich"}}\n' "$PORT" | tee "$DIR/peer.json"

#!/usr/bin/env bash
# django-oauth-toolkit with its URLs below /o: an issuer with a path, endpoints that end in a slash, no discovery without it.
source "$(dirname "$0")/lib.sh"
install python3-django-oauth-toolkit openssl
free_port

openssl genpkey -quiet -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out "$DIR/key.pem" 2>"$DIR/openssl.log"

cat >"$DIR/provider.py" <<'PY'
import os
import sys
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import django
from django.conf import settings

folder, port = sys.argv[1], int(sys.argv[2])
origin = f'http://127.0.0.1:{port}'
settings.configure(
    SECRET_KEY='only for tests',
    ALLOWED_HOSTS=['127.0.0.1'],
    ROOT_URLCONF='__main__',
    LOGIN_URL='/login/',
    USE_TZ=True,
    DEFAULT_AUTO_FIELD='django.db.models.AutoField',
    PASSWORD_HASHERS=['django.contrib.auth.hashers.PBKDF2PasswordHasher'],
    DATABASES={'default': {'ENGINE': 'django.db.backends.sqlite3', 'NAME': os.path.join(folder, 'db.sqlite3'), 'OPTIONS': {'timeout': 20}}},
    INSTALLED_APPS=['django.contrib.auth', 'django.contrib.contenttypes', 'django.contrib.sessions', 'oauth2_provider'],
    MIDDLEWARE=[
        'django.middleware.common.CommonMiddleware',
        'django.contrib.sessions.middleware.SessionMiddleware',
        'django.middleware.csrf.CsrfViewMiddleware',
        'django.contrib.auth.middleware.AuthenticationMiddleware',
    ],
    TEMPLATES=[{
        'BACKEND': 'django.template.backends.django.DjangoTemplates',
        'APP_DIRS': True,
        'OPTIONS': {
            'context_processors': ['django.template.context_processors.request', 'django.contrib.auth.context_processors.auth'],
            'loaders': [
                ('django.template.loaders.locmem.Loader', {
                    'registration/login.html': '<form method="post">{% csrf_token %}{{ form.as_p }}<button>Log in</button></form>',
                }),
                'django.template.loaders.app_directories.Loader',
            ],
        },
    }],
    OAUTH2_PROVIDER={
        'OIDC_ENABLED': True,
        'OIDC_RSA_PRIVATE_KEY': open(os.path.join(folder, 'key.pem')).read(),
        'PKCE_REQUIRED': True,
        'ROTATE_REFRESH_TOKEN': True,
        'SCOPES': {'openid': 'who you are', 'read': 'read files'},
        'DEFAULT_SCOPES': ['read'],
    },
)
settings.TEMPLATES[0].pop('APP_DIRS')
django.setup()

from django.contrib.auth.models import User
from django.contrib.auth.views import LoginView
from django.core.management import call_command
from django.core.wsgi import get_wsgi_application
from django.http import HttpResponse
from django.urls import include, path
from oauth2_provider.models import Application
from oauth2_provider.views.generic import ProtectedResourceView


class Files(ProtectedResourceView):
    def handle_no_permission(self):
        return HttpResponse(status=401)

    def dispatch(self, request, *args, **kwargs):
        answer = super().dispatch(request, *args, **kwargs)
        if answer.status_code != 403:
            return answer
        refused = HttpResponse(status=401)
        refused['WWW-Authenticate'] = 'Bearer realm="files"' + (', error="invalid_token"' if 'Authorization' in request.headers else '')
        return refused

    def get(self, request):
        return HttpResponse(f'file of {request.resource_owner.username if request.resource_owner else "nobody"}', content_type='text/plain')


urlpatterns = [
    path('login/', LoginView.as_view()),
    path('o/', include('oauth2_provider.urls', namespace='oauth2_provider')),
    path('files', Files.as_view()),
]

call_command('migrate', verbosity=0)
User.objects.create_user('alice', password='swordfish')
code = {'client_type': 'public', 'authorization_grant_type': 'authorization-code', 'redirect_uris': 'http://127.0.0.1/callback'}
for application in (
    {**code, 'client_id': 'native', 'algorithm': 'RS256'},
    {'client_id': 'service', 'client_secret': 'service-secret', 'client_type': 'confidential', 'authorization_grant_type': 'client-credentials'},
    {'client_id': 'legacy', 'client_secret': 'legacy-secret', 'client_type': 'confidential', 'authorization_grant_type': 'password'},
):
    Application.objects.create(name=application['client_id'], **application)


class Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


make_server('127.0.0.1', port, get_wsgi_application(), Server, WSGIRequestHandler).serve_forever()
PY

launch django /usr/bin/python3 "$DIR/provider.py" "$DIR" "$PORT"
await "$PORT"
printf '{"issuer":"http://127.0.0.1:%s/o","resource":"http://127.0.0.1:%s/files"}\n' "$PORT" "$PORT" | tee "$DIR/peer.json"

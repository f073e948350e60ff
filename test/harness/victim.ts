/** A user with one entry of each kind, as hostile documents like to find them. */

import type { Redirection } from '../../src/auth/auth.ts'
import { type AuthOptions, createAuth } from '../../src/auth/create-auth.ts'
import type { CredentialInput } from '../../src/auth/credential.ts'
import { canary } from './canary.ts'
import { routes, type Script } from './scripted.ts'

export const DATA = 'https://data.victim.example/'
export const TOKEN_URL = 'https://auth.victim.example/token'
export const AUTHORIZE_URL = 'https://auth.victim.example/authorize'
export const DISCOVERY_URL = 'https://auth.victim.example/.well-known/openid-configuration'
export const SIGN_URL = 'https://sign.victim.example/v1/sign'

/** The user's secrets. */
export const secrets = {
  client: canary('client', '~s'),
  token: canary('token'),
  key: canary('key'),
  queryKey: canary('query', '/+'),
  cookie: canary('cookie'),
  password: canary('pass', ' ü'),
  bearer: canary('bearer'),
}

/** The signed address that the signing API gives. */
export const SIGNED = `${DATA}signed/f.tif?sig=1`

export const entries = {
  oauth: {
    id: 'oauth',
    type: 'oauth2',
    flow: 'clientCredentials',
    tokenUrl: TOKEN_URL,
    clientId: 'app',
    clientSecret: secrets.client.value,
    scopes: ['read'],
    sendTo: DATA,
  },
  login: {
    id: 'login',
    type: 'oauth2',
    flow: 'authorizationCode',
    authorizationUrl: AUTHORIZE_URL,
    tokenUrl: TOKEN_URL,
    clientId: 'app',
    sendTo: DATA,
  },
  oidc: { id: 'oidc', type: 'openIdConnect', openIdConnectUrl: DISCOVERY_URL, clientId: 'app', sendTo: DATA },
  key: { id: 'key', type: 'apiKey', in: 'header', name: 'x-api-key', value: secrets.key.value, sendTo: DATA },
  queryKey: { id: 'query-key', type: 'apiKey', in: 'query', name: 'key&admin=1#', value: secrets.queryKey.value, sendTo: DATA },
  cookie: { id: 'cookie', type: 'apiKey', in: 'cookie', name: 'session', value: secrets.cookie.value, sendTo: DATA },
  account: { id: 'account', type: 'http', scheme: 'digest', username: 'ada', password: secrets.password.value, sendTo: DATA },
  signer: { id: 'signer', type: 'signedUrl', authorizationApi: SIGN_URL, method: 'GET', signedUrlHosts: DATA },
  signerPost: { id: 'signer-post', type: 'signedUrl', authorizationApi: SIGN_URL, method: 'POST', signedUrlHosts: DATA },
} as const satisfies { readonly [name: string]: CredentialInput }

/** Honest servers: a token endpoint, a signing API and the data. */
export function honestServers(): Script {
  return routes({
    [TOKEN_URL]: { body: { access_token: secrets.token.value, token_type: 'Bearer', expires_in: 3600 } },
    [SIGN_URL]: { body: { href: SIGNED } },
    [`${DATA}f.tif`]: { body: 'data' },
    [SIGNED]: { body: 'data' },
  })
}

/** The user's engine, over scripted servers. */
export function victim(options: Partial<AuthOptions> = {}, script: Script = honestServers()) {
  return { script, auth: createAuth({ credentials: Object.values(entries), transport: script.send, ...options }) }
}

/** The login page of a provider that answers with a code, or with other parameters. */
export const loginPage = (said = (state: string) => `code=c&state=${state}`): Redirection => ({
  uri: 'http://127.0.0.1/',
  answer: async (url) => new URL(`http://127.0.0.1/?${said(new URL(url).searchParams.get('state') ?? '')}`),
  close: async () => {},
})

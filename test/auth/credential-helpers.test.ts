import { describe, expect, it } from 'vitest'
import { apiKey, basic, bearer, type CredentialInput, oauth2, openIdConnect, s3, signedUrl } from '../../src/auth/credential.ts'
import { target } from '../harness/documents.ts'
import { routes } from '../harness/scripted.ts'
import { DATA, DISCOVERY_URL, honestServers, SIGN_URL, SIGNED, TOKEN_URL, victim } from '../harness/victim.ts'

const FILE = `${DATA}f.tif`
const TOKEN = { body: { access_token: 'token-1', token_type: 'Bearer', expires_in: 3600 } }
const ISSUER = 'https://auth.victim.example'

/** The honest servers, with an issuer that publishes its token endpoint. */
const servers = () =>
  routes({
    [TOKEN_URL]: TOKEN,
    [SIGN_URL]: { body: { href: SIGNED } },
    [DISCOVERY_URL]: {
      body: { issuer: ISSUER, token_endpoint: TOKEN_URL, authorization_endpoint: `${ISSUER}/authorize`, jwks_uri: `${ISSUER}/keys` },
    },
  })

const client = { clientId: 'app', clientSecret: 'client-secret' }
const oauth2Flow = { flow: 'clientCredentials', tokenUrl: TOKEN_URL, ...client } as const

describe('a credential made by a helper authorizes a matching target', () => {
  it.each<[name: string, credential: CredentialInput, scheme: unknown, headers: object]>([
    ['bearer', bearer('token-1', DATA), { type: 'http', scheme: 'bearer' }, { authorization: 'Bearer token-1' }],
    ['basic', basic('ada', 'secret', DATA), { type: 'http', scheme: 'basic' }, { authorization: `Basic ${btoa('ada:secret')}` }],
    [
      'apiKey',
      apiKey('key-1', { in: 'header', name: 'x-api-key' }, DATA),
      { type: 'apiKey', in: 'header', name: 'x-api-key' },
      { 'x-api-key': 'key-1' },
    ],
    [
      's3',
      s3({ accessKeyId: 'AKIA', secretAccessKey: 'secret', region: 'eu-central-1' }, DATA),
      { type: 's3' },
      { authorization: expect.stringMatching(/^AWS4-HMAC-SHA256 Credential=AKIA\/\d{8}\/eu-central-1\/s3\/aws4_request, /) },
    ],
    [
      'oauth2',
      oauth2(oauth2Flow, DATA),
      { type: 'oauth2', flows: { clientCredentials: { tokenUrl: TOKEN_URL, scopes: {} } } },
      { authorization: 'Bearer token-1' },
    ],
    [
      'openIdConnect',
      openIdConnect({ flow: 'clientCredentials', openIdConnectUrl: DISCOVERY_URL, ...client }, DATA),
      { type: 'openIdConnect', openIdConnectUrl: DISCOVERY_URL },
      { authorization: 'Bearer token-1' },
    ],
  ])('%s', async (_name, credential, scheme, headers) => {
    const { auth } = victim({ credentials: [credential] }, servers())
    await expect(auth.ready()).resolves.toBeUndefined()
    expect(await auth.authorize(target(scheme, FILE))).toMatchObject({ url: FILE, headers })
  })

  it('signedUrl', async () => {
    const credential = signedUrl({ authorizationApi: SIGN_URL, method: 'GET', signedUrlHosts: DATA })
    const { auth } = victim({ credentials: [credential] }, honestServers())
    await expect(auth.ready()).resolves.toBeUndefined()
    const scheme = { type: 'signedUrl', flows: { sign: { authorizationApi: SIGN_URL, method: 'GET' } } }
    expect(await auth.authorize(target(scheme, FILE))).toMatchObject({ url: SIGNED, headers: {} })
  })
})

it('a credential made by a helper is sent to its own URLs only', async () => {
  const { auth } = victim({ credentials: [bearer('token-1', DATA)] }, servers())
  const other = target({ type: 'http', scheme: 'bearer' }, 'https://evil.example/f.tif')
  await expect(auth.authorize(other)).rejects.toMatchObject({ code: 'CREDENTIAL_TARGET_UNTRUSTED' })
})

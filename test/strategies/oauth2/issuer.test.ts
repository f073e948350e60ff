import { generateKeyPairSync, sign } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { Redirection } from '../../../src/auth/auth.ts'
import type { CredentialObject } from '../../../src/auth/credential.ts'
import type { Warning } from '../../../src/auth/strategy.ts'
import type { HttpRequest } from '../../../src/http/message.ts'
import { scheme, target } from '../../harness/documents.ts'
import { failureOf } from '../../harness/failure.ts'
import { FakeClock } from '../../harness/fake-clock.ts'
import { testKey } from '../../harness/keys.ts'
import { type Reply, routes } from '../../harness/scripted.ts'
import { unchecked } from '../../harness/unchecked.ts'
import { DATA, secrets, victim } from '../../harness/victim.ts'

/** A provider whose issuer has a path, as Keycloak, Glewlwyd and Entra have. */
const ORIGIN = 'https://auth.victim.example'
const ISSUER = `${ORIGIN}/realms/eo`
const AUTHORIZE = `${ORIGIN}/realms/eo/authorize`
const TOKEN = `${ORIGIN}/realms/eo/token`
const DISCOVERY = `${ISSUER}/.well-known/openid-configuration`
const F = `${DATA}f.tif`
const NOW = Date.now()
const seconds = Math.floor(NOW / 1000)
const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const jwks = { keys: [{ ...keys.publicKey.export({ format: 'jwk' }), kid: 'k1', use: 'sig', alg: 'ES256' }] }
const code = target({ type: 'oauth2', flows: { authorizationCode: { authorizationUrl: AUTHORIZE, tokenUrl: TOKEN, scopes: {} } } }, F)
const entry = { id: 'mine', clientId: 'app', sendTo: DATA }
const written = { ...entry, type: 'oauth2', flow: 'authorizationCode', authorizationUrl: AUTHORIZE, tokenUrl: TOKEN, scopes: ['openid'] }

function idToken(claims: object): string {
  const all = { iss: ISSUER, aud: 'app', sub: 'ada', iat: seconds, exp: seconds + 300, ...claims }
  const text = [{ alg: 'ES256', kid: 'k1' }, all].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  return `${text}.${sign('sha256', Buffer.from(text), { key: keys.privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`
}

const tokens = { access_token: 'at', token_type: 'Bearer', expires_in: 600 }

/** A login at a provider with those further replies; its ID token has these claims, its answer these parameters. */
async function login(
  fields: object,
  { claims = {}, answer = {}, replies = {} }: { claims?: object; answer?: object; replies?: Replies } = {},
) {
  let nonce: string | null = null
  const warnings: Warning[] = []
  const give = () => ({ body: { ...tokens, id_token: idToken({ ...(nonce !== null && { nonce }), ...claims }) } })
  const servers = routes({ [TOKEN]: give, [`${ISSUER}/keys`]: { body: jwks }, [F]: { body: 'data' }, ...replies })
  const clock = new FakeClock({ now: () => NOW, waits: 'skipped' })
  const { auth, script } = victim(
    { credentials: unchecked({ ...written, ...fields }), clock, onWarning: (one) => warnings.push(one) },
    servers,
  )
  const page: Redirection = {
    uri: 'http://127.0.0.1/',
    answer: async (url) => {
      const asked = new URL(url).searchParams
      nonce = asked.get('nonce')
      return new URL(`http://127.0.0.1/?${new URLSearchParams({ code: 'c', state: asked.get('state') ?? '', ...answer })}`)
    },
    close: async () => {},
  }
  await auth.login('mine', { redirect: async () => page })
  return { auth, script, warnings, nonce }
}

type Replies = { readonly [url: string]: Reply | ((request: HttpRequest) => Reply) }

describe('an oauth2 credential with written URLs and the scope openid', () => {
  it('logs in without a known issuer: the ID token is not used, and that is said', async () => {
    const { auth, script, warnings, nonce } = await login({})
    // Glewlwyd refuses the scope openid without one.
    expect(nonce).toMatch(/^[\w-]{43}$/)
    expect(warnings).toEqual([{ code: 'ID_TOKEN_UNUSED', message: expect.stringContaining('Add "issuer"') }])
    expect((await auth.authorize(code)).headers.authorization).toBe('Bearer at')
    expect(script.sent.map(({ url }) => url)).toEqual([TOKEN])
  })

  it('does not send an ID token of an unknown issuer to the data', async () => {
    const { auth } = await login({ present: 'id_token' })
    const error = await failureOf(auth.authorize(code))
    expect(error).toMatchObject({ code: 'CONFIG_INVALID', hint: expect.stringContaining('"issuer"') })
  })

  it.each(['https://accounts.victim.example', 'https://accounts.victim.example/', ISSUER])(
    'checks the ID token against the issuer %s, letter by letter',
    async (issuer) => {
      const { auth, warnings } = await login({ issuer, present: 'id_token' }, { claims: { iss: issuer } })
      expect(warnings).toEqual([])
      expect((await auth.authorize(code)).headers.authorization).toMatch(/^Bearer eyJ/)
      const other = issuer.endsWith('/') ? issuer.slice(0, -1) : `${issuer}/`
      expect(await failureOf(login({ issuer }, { claims: { iss: other } }))).toMatchObject({
        code: 'OIDC_ID_TOKEN',
        hint: expect.stringContaining('"issuer"'),
      })
    },
  )

  it.each<[string, object]>([
    ['of another issuer', { iss: 'https://evil.example' }],
    ['for another client', { aud: 'other' }],
    ['of another login', { nonce: 'other' }],
    ['that has ended', { exp: seconds - 3600 }],
  ])('an oauth2 credential with the scope openid and a known issuer refuses an ID token %s', async (_name, claims) => {
    expect(await failureOf(login({ issuer: ISSUER }, { claims }))).toMatchObject({ code: 'OIDC_ID_TOKEN' })
  })

  it('checks the signature where the credential names the keys', async () => {
    const named = { issuer: ISSUER, jwksUrl: `${ISSUER}/keys` }
    expect((await login(named)).script.sent.map(({ url }) => url)).toEqual([TOKEN, `${ISSUER}/keys`])
    const others = { keys: [{ ...generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' }), kid: 'k1' }] }
    expect(await failureOf(login(named, { replies: { [`${ISSUER}/keys`]: { body: others } } }))).toMatchObject({ code: 'OIDC_ID_TOKEN' })
  })

  it('takes an answer that names an issuer with a path, and none of another origin', async () => {
    await expect(login({}, { answer: { iss: ISSUER } })).resolves.toBeDefined()
    for (const iss of ['https://evil.example/realms/eo', '', 'realms/eo']) {
      expect(await failureOf(login({}, { answer: { iss } }))).toMatchObject({ code: 'OAUTH_ISSUER_MISMATCH' })
    }
    expect(await failureOf(login({ issuer: ISSUER }, { answer: { iss: `${ORIGIN}/realms/b` } }))).toMatchObject({
      code: 'OAUTH_ISSUER_MISMATCH',
      expected: ISSUER,
    })
  })
})

describe('a JWT by which the client proves itself', () => {
  const proofs: [string, object][] = [
    ['secretJwt', { clientAuthentication: 'secretJwt', clientSecret: secrets.client.value }],
    ['privateKeyJwt', { clientAuthentication: 'privateKeyJwt', privateKey: testKey.p256().pem }],
  ]
  const audience = async (fields: object) => {
    const servers = routes({ [DISCOVERY]: { body: { issuer: ISSUER, token_endpoint: TOKEN } }, [TOKEN]: { body: tokens } })
    const { auth, script } = victim({ credentials: { ...entry, type: 'oauth2', flow: 'clientCredentials', ...fields } }, servers)
    await auth.authorize(target(scheme.client(TOKEN), F))
    const sent = new URLSearchParams(String(script.sent.find(({ url }) => url === TOKEN)?.body)).get('client_assertion') ?? ''
    return JSON.parse(Buffer.from(sent.split('.')[1] ?? '', 'base64url').toString()).aud
  }

  it.each(proofs)('%s is for the issuer where it is known, else for the token endpoint', async (_name, proof) => {
    expect(await audience({ tokenUrl: TOKEN, ...proof })).toBe(TOKEN)
    expect(await audience({ tokenUrl: TOKEN, issuer: ISSUER, ...proof })).toBe(ISSUER)
    expect(await audience({ issuer: ISSUER, ...proof })).toBe(ISSUER)
  })

  it.each(proofs)('%s is for the audience that the credential says', async (_name, proof) => {
    expect(await audience({ tokenUrl: TOKEN, issuer: ISSUER, assertionAudience: 'urn:as', ...proof })).toBe('urn:as')
    expect(await audience({ tokenUrl: TOKEN, assertionAudience: 'urn:as', ...proof })).toBe('urn:as')
  })

  it('a JWT by which the client proves itself has an audience that no catalog chooses', async () => {
    const servers = routes({ [TOKEN]: { body: tokens } })
    const fields = { type: 'oauth2', flow: 'clientCredentials', tokenUrl: TOKEN, ...proofs[0]?.[1] }
    const { auth, script } = victim({ credentials: unchecked({ ...entry, ...fields }) }, servers)
    const flows = { clientCredentials: { tokenUrl: TOKEN, scopes: {}, issuer: 'https://evil.example', assertionAudience: 'evil' } }
    await auth.authorize(target({ type: 'oauth2', flows, assertionAudience: 'evil' }, F))
    expect(script.sent[0]?.body).not.toContain('evil')
    const sent = new URLSearchParams(String(script.sent[0]?.body)).get('client_assertion') ?? ''
    expect(JSON.parse(Buffer.from(sent.split('.')[1] ?? '', 'base64url').toString()).aud).toBe(TOKEN)
  })
})

/** A service at a provider whose discovery document says that. */
function service(document: object, fields: Partial<CredentialObject>, replies: Replies = {}, at = DISCOVERY) {
  const servers = routes({ [at]: { body: document }, [TOKEN]: { body: tokens }, [F]: { body: 'data' }, ...replies })
  const machine = { ...entry, flow: 'clientCredentials', clientSecret: secrets.client.value }
  return victim({ credentials: unchecked({ ...machine, type: 'openIdConnect', ...fields }) }, servers)
}

const oidc = (openIdConnectUrl: string) => target({ type: 'openIdConnect', openIdConnectUrl }, F)

describe('an issuer that differs from the URL of its discovery document', () => {
  const B2C = 'https://tenant.victim.example/tenant.onmicrosoft.example/v2.0/.well-known/openid-configuration?p=B2C_1_signin'
  const b2c = {
    issuer: 'https://tenant.victim.example/0a1b2c3d-0000-4000-8000-000000000000/v2.0/',
    token_endpoint: 'https://tenant.victim.example/tenant.onmicrosoft.example/oauth2/v2.0/token?p=b2c_1_signin',
  }
  const common = 'https://login.victim.example/common/v2.0'
  const entra = { issuer: 'https://login.victim.example/{tenantid}/v2.0', token_endpoint: 'https://login.victim.example/common/token' }
  const tenant = 'https://login.victim.example/0a1b2c3d-0000-4000-8000-000000000000/v2.0'

  it('an unexpected issuer is refused where the credential does not name it, with the field to add', async () => {
    const { auth } = service(b2c, { openIdConnectUrl: B2C }, {}, B2C)
    expect(await failureOf(auth.fetch(oidc(B2C)))).toMatchObject({
      code: 'OAUTH_ISSUER_MISMATCH',
      hint: expect.stringContaining(`"issuer": "${b2c.issuer}"`),
    })
    const open = service(entra, { openIdConnectUrl: common }, {}, `${common}/.well-known/openid-configuration`)
    expect(await failureOf(open.auth.fetch(oidc(common)))).toMatchObject({ hint: expect.stringContaining('your tenant') })
  })

  it('an unexpected issuer is accepted where the credential names it, also as one of all tenants', async () => {
    const one = service(b2c, { openIdConnectUrl: B2C, issuer: b2c.issuer }, { [b2c.token_endpoint]: { body: tokens } }, B2C)
    expect((await one.auth.fetch(oidc(B2C))).status).toBe(200)
    const at = `${common}/.well-known/openid-configuration`
    const two = service(entra, { openIdConnectUrl: common, issuer: tenant }, { [entra.token_endpoint]: { body: tokens } }, at)
    expect((await two.auth.fetch(oidc(common))).status).toBe(200)
  })

  it.each([
    ['another tenant', 'https://login.victim.example/other/v2.0', 'https://login.victim.example/evil/v2.0'],
    ['a template on another host', tenant, 'https://evil.example/{tenantid}/v2.0'],
    ['a template for more than a tenant', tenant, 'https://login.victim.example/{tenantid}'],
    ['a template for a host', tenant, 'https://{tenantid}/v2.0'],
    ['a template for a piece of a segment', tenant, 'https://login.victim.example/0{tenantid}/v2.0'],
    ['two templates', tenant, 'https://login.victim.example/{tenantid}/{tenantid}'],
    ['nothing', tenant, undefined],
  ])(
    'an issuer that differs from the URL of its discovery document is refused when the document names %s',
    async (_name, issuer, actual) => {
      const at = `${common}/.well-known/openid-configuration`
      const document = { ...entra, issuer: actual }
      const { auth, script } = service(document, { openIdConnectUrl: common, issuer }, { [entra.token_endpoint]: { body: tokens } }, at)
      expect(await failureOf(auth.fetch(oidc(common)))).toMatchObject({ code: 'OAUTH_ISSUER_MISMATCH' })
      expect(new Set(script.sent.map(({ url }) => url))).toEqual(new Set([at]))
    },
  )

  it('does not take a template where the issuer is the only thing that is named', async () => {
    const at = `${tenant}/.well-known/openid-configuration`
    const { auth } = service(entra, { issuer: tenant }, {}, at)
    expect(await failureOf(auth.fetch(oidc(tenant)))).toMatchObject({ code: 'OAUTH_ISSUER_MISMATCH' })
  })

  it("an ID token must name the issuer of the user's tenant, and no other", async () => {
    const fields = { type: 'openIdConnect', openIdConnectUrl: common, issuer: tenant, authorizationUrl: undefined, tokenUrl: undefined }
    const all = { ...entra, authorization_endpoint: `${common}/authorize`, jwks_uri: `${common}/keys` }
    const replies = (claims: object): Replies => ({
      [`${common}/.well-known/openid-configuration`]: { body: { ...all, id_token_signing_alg_values_supported: ['ES256'] } },
      [`${common}/keys`]: { body: jwks },
      [entra.token_endpoint]: () => ({ body: { ...tokens, id_token: idToken({ ...claims }) } }),
    })
    for (const iss of [entra.issuer, `${tenant}/`, 'https://login.victim.example/other/v2.0']) {
      const error = await failureOf(login({ ...fields, authorizationUrl: undefined }, { replies: replies({ iss }) }))
      expect(error).toMatchObject({ code: 'OIDC_ID_TOKEN' })
    }
  })
})

describe('an endpoint on another host than the discovery document', () => {
  const elsewhere = 'https://oauth2.victim.example/token'
  const document = { issuer: ISSUER, token_endpoint: elsewhere }
  const replies = { [elsewhere]: { body: tokens }, 'https://evil.example/token': { body: tokens } }

  it('an endpoint on another host is used where the credential names the host', async () => {
    const fields = { type: 'oauth2', issuer: ISSUER, endpointHosts: ['https://oauth2.victim.example/'] }
    const { auth, script } = service(document, fields, replies)
    expect((await auth.fetch(target(scheme.client(elsewhere), F))).status).toBe(200)
    expect((await auth.fetch(target(scheme.client(TOKEN), F))).status).toBe(200)
    expect(script.sent.map(({ url }) => url)).toEqual([DISCOVERY, elsewhere, F, F])
  })

  it('an endpoint on another host than the discovery document is refused otherwise, with the field to add', async () => {
    for (const endpointHosts of [undefined, [], ['https://other.victim.example/'], ['https://oauth2.victim.example/v2/']]) {
      const { auth, script } = service(document, { openIdConnectUrl: DISCOVERY, ...(endpointHosts && { endpointHosts }) }, replies)
      expect(await failureOf(auth.fetch(oidc(DISCOVERY)))).toMatchObject({
        code: 'CREDENTIAL_ENDPOINT_UNTRUSTED',
        hint: expect.stringContaining(JSON.stringify([...(endpointHosts ?? []), 'https://oauth2.victim.example/'])),
      })
      expect(script.to('oauth2.victim.example')).toEqual([])
    }
  })

  it('an endpoint of a catalog on another host is never used, and matches only the named hosts', async () => {
    const fields = { type: 'oauth2', issuer: ISSUER, endpointHosts: ['https://oauth2.victim.example/v1/'] }
    const { auth, script } = service({ ...document, token_endpoint: TOKEN }, fields, replies)
    for (const url of ['https://evil.example/token', elsewhere, 'https://oauth2.victim.example/v1/../token']) {
      expect(await failureOf(auth.fetch(target(scheme.client(url), F)))).toMatchObject({ code: 'CREDENTIAL_ENDPOINT_UNTRUSTED' })
    }
    const widening = { ...scheme.client(TOKEN), endpointHosts: ['https://evil.example/'], issuer: 'https://evil.example' }
    expect((await auth.fetch(target(widening, F))).status).toBe(200)
    expect(script.sent.map(({ url }) => url)).toEqual([DISCOVERY, TOKEN, F])
  })

  it.each([[['https://*.victim.example/']], [['s3://bucket/']], [['http://auth.victim.example/']], [['https://*.com/']], [['x']]])(
    'an endpoint on another host than the discovery document cannot be meant by %j',
    async (endpointHosts) => {
      const { auth } = service(document, { openIdConnectUrl: DISCOVERY, endpointHosts })
      expect(await failureOf(auth.ready())).toMatchObject({ code: 'CONFIG_INVALID', pointer: '/credentials/0/endpointHosts/0' })
    },
  )
})

describe('endpoints for clients with a certificate (RFC 8705 §5)', () => {
  const proof = { clientAuthentication: 'tls', certificate: 'C', privateKey: 'K', clientSecret: undefined }
  const alias = `${ORIGIN}/mtls/token`
  const replies = { [alias]: { body: tokens }, 'https://mtls.victim.example/token': { body: tokens } }
  const document = (at: unknown) => ({ issuer: ISSUER, token_endpoint: TOKEN, mtls_endpoint_aliases: at })

  it('endpoints for clients with a certificate (RFC 8705 §5) are used by those, and by no others', async () => {
    const mine = service(document({ token_endpoint: alias }), { openIdConnectUrl: DISCOVERY, ...proof }, replies)
    await mine.auth.fetch(oidc(DISCOVERY))
    expect(mine.script.sent.map(({ url }) => url)).toEqual([DISCOVERY, alias, F])
    expect(mine.script.sent[1]?.options.clientCertificate).toEqual({ cert: 'C', key: 'K' })
    const others = service(document({ token_endpoint: alias }), { openIdConnectUrl: DISCOVERY }, replies)
    await others.auth.fetch(oidc(DISCOVERY))
    expect(others.script.sent.map(({ url }) => url)).toEqual([DISCOVERY, TOKEN, F])
  })

  it('mutual TLS endpoints (RFC 8705 §5) on another host are used where the credential names it', async () => {
    const at = document({ token_endpoint: 'https://mtls.victim.example/token' })
    const named = { openIdConnectUrl: DISCOVERY, endpointHosts: ['https://mtls.victim.example/'], ...proof }
    expect((await service(at, named, replies).auth.fetch(oidc(DISCOVERY))).status).toBe(200)
    const { auth, script } = service(at, { ...named, endpointHosts: undefined }, replies)
    expect(await failureOf(auth.fetch(oidc(DISCOVERY)))).toMatchObject({ code: 'CREDENTIAL_ENDPOINT_UNTRUSTED' })
    expect(script.to('mtls.victim.example')).toEqual([])
  })

  it.each([
    [{ token_endpoint: 5 }, 'OAUTH_RESPONSE_INVALID'],
    [{ token_endpoint: 'http://auth.victim.example/t' }, 'URL_INSECURE'],
  ])('%j are refused', async (at, error) => {
    const { auth } = service(document(at), { openIdConnectUrl: DISCOVERY, ...proof })
    expect(await failureOf(auth.fetch(oidc(DISCOVERY)))).toMatchObject({ code: error })
  })

  it.each([null, 5, [], 'x', {}])('endpoints for clients with a certificate (RFC 8705 §5) that are %j are none', async (at) => {
    const { auth, script } = service(document(at), { openIdConnectUrl: DISCOVERY, ...proof })
    await auth.fetch(oidc(DISCOVERY))
    expect(script.sent.map(({ url }) => url)).toEqual([DISCOVERY, TOKEN, F])
  })
})

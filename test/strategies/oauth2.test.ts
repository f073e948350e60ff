import { describe, expect, it } from 'vitest'
import type { AuthOptions } from '../../src/auth/create-auth.ts'
import type { Warning } from '../../src/auth/strategy.ts'
import type { HttpRequest } from '../../src/http/message.ts'
import { type Canary, canary, leaks, shown } from '../harness/canary.ts'
import { scheme, target } from '../harness/documents.ts'
import { failureOf } from '../harness/failure.ts'
import { FakeClock } from '../harness/fake-clock.ts'
import { type Reply, redirectTo, routes, script } from '../harness/scripted.ts'
import { DATA, entries, secrets, TOKEN_URL, victim } from '../harness/victim.ts'

const F = `${DATA}f.tif`
const NOW = Date.UTC(2026, 0, 1)
const good = { access_token: secrets.token.value, token_type: 'Bearer' }
const wanted = target(scheme.client(TOKEN_URL), F)

/** An engine whose token endpoint gives that answer. */
function answered(
  reply: Reply | ((request: HttpRequest) => Reply),
  entry: Record<string, unknown> = {},
  options: Partial<AuthOptions> = {},
) {
  const servers = routes({ [TOKEN_URL]: reply, [F]: { body: 'data' } })
  const credentials = { ...entries.oauth, ...entry }
  return victim({ credentials, clock: new FakeClock({ now: () => NOW, waits: 'skipped' }), ...options }, servers)
}

const form = (request: HttpRequest | undefined) => Object.fromEntries(new URLSearchParams(String(request?.body)))

describe('the token request', () => {
  it("the token request goes to the credential's endpoint with its client, scopes and audience", async () => {
    const { auth, script: servers } = answered({ body: good }, { scopes: ['read', 'list'], resource: 'urn:api', audience: 'api' })
    await auth.authorize(target(scheme.client(TOKEN_URL, { scopes: { admin: '' } }), F))
    const [request] = servers.sent
    expect(request).toMatchObject({ method: 'POST', url: TOKEN_URL, options: { timeout: 30_000 } })
    expect(request?.headers['content-type']).toMatch(/^application\/x-www-form-urlencoded/)
    expect(form(request)).toEqual({ grant_type: 'client_credentials', scope: 'read list', resource: 'urn:api', audience: 'api' })
    const basic = Buffer.from(request?.headers.authorization?.slice(6) ?? '', 'base64').toString()
    expect(basic.split(':').map((part) => decodeURIComponent(part.replaceAll('+', ' ')))).toEqual(['app', secrets.client.value])
  })

  it('carries the client in the body, or no secret, when the credential says so', async () => {
    const post = answered({ body: good }, { clientAuthentication: 'post' })
    await post.auth.authorize(wanted)
    expect(form(post.script.sent[0])).toMatchObject({ client_id: 'app', client_secret: secrets.client.value })
    expect(post.script.sent[0]?.headers).not.toHaveProperty('authorization')
    const none = answered({ body: good }, { clientAuthentication: 'none' })
    await none.auth.authorize(wanted)
    expect(leaks([secrets.client], { request: JSON.stringify(none.script.sent) })).toEqual([])
  })
})

describe('the token answer', () => {
  const html = { 'content-type': 'text/html' }
  const leaky = canary('answer')

  it.each<[string, Reply, string]>([
    ['O01 an error in a 400', { status: 400, body: { error: 'invalid_scope' } }, 'OAUTH_ERROR'],
    ['O01 an error in a 401', { status: 401, body: { error: 'invalid_client' } }, 'OAUTH_ERROR'],
    ['O01 an error in a 200', { body: { error: 'invalid_grant', ...good } }, 'OAUTH_ERROR'],
    ['O02 a page', { body: `<html>${leaky.value}`, headers: html }, 'OAUTH_RESPONSE_INVALID'],
    ['O02 nothing', { body: '' }, 'OAUTH_RESPONSE_INVALID'],
    ['O02 a piece', { body: `{"access_token":"${leaky.value}"` }, 'OAUTH_RESPONSE_INVALID'],
    ['O02 broken JSON', { body: `{"access_token":"${leaky.value}",}` }, 'OAUTH_RESPONSE_INVALID'],
    ['O02 a list', { body: [good] }, 'OAUTH_RESPONSE_INVALID'],
    ['O02 a text', { body: JSON.stringify(leaky.value) }, 'OAUTH_RESPONSE_INVALID'],
    ['O02 null', { body: null }, 'OAUTH_RESPONSE_INVALID'],
    ['O02 10 MB', { body: { ...good, padding: 'x'.repeat(10_000_000) } }, 'RESPONSE_TOO_LARGE'],
    ['O03 mac', { body: { access_token: leaky.value, token_type: 'mac' } }, 'OAUTH_TOKEN_TYPE'],
    ['O03 DPoP without a key', { body: { access_token: leaky.value, token_type: 'DPoP' } }, 'OAUTH_TOKEN_TYPE'],
    ['O03 a list', { body: { access_token: leaky.value, token_type: ['Bearer'] } }, 'OAUTH_TOKEN_TYPE'],
    ['O05 a token with a space', { body: { ...good, access_token: `${leaky.value} x` } }, 'OAUTH_RESPONSE_INVALID'],
    ['O05 a token with a line break', { body: { ...good, access_token: `${leaky.value}\r\nX-Evil: 1` } }, 'OAUTH_RESPONSE_INVALID'],
    ['O05 a token with a NUL', { body: { ...good, access_token: `${leaky.value}\0` } }, 'OAUTH_RESPONSE_INVALID'],
    ['O05 a token with a tab', { body: { ...good, access_token: `${leaky.value}\tx` } }, 'OAUTH_RESPONSE_INVALID'],
    ['O05 a token with DEL', { body: { ...good, access_token: `${leaky.value}\x7f` } }, 'OAUTH_RESPONSE_INVALID'],
    ['O05 a token that is not ASCII', { body: { ...good, access_token: `${leaky.value}ü` } }, 'OAUTH_RESPONSE_INVALID'],
    ['O05 an empty token', { body: { ...good, access_token: '' } }, 'OAUTH_RESPONSE_INVALID'],
    ['O05 a token of 100 kB', { body: { ...good, access_token: leaky.value.repeat(4000) } }, 'OAUTH_RESPONSE_INVALID'],
    ['O05 a token that is no text', { body: { ...good, access_token: { toString: 1 } } }, 'OAUTH_RESPONSE_INVALID'],
    ['H05 a redirect by 301', redirectTo('https://evil.example/', 301), 'OAUTH_REDIRECT'],
    ['H05 a redirect by 302', redirectTo('https://evil.example/', 302), 'OAUTH_REDIRECT'],
    ['H05 a redirect by 303', redirectTo(`${DATA}f`, 303), 'OAUTH_REDIRECT'],
    ['H05 a redirect by 307', redirectTo('/token2', 307), 'OAUTH_REDIRECT'],
    ['H05 a redirect by 308', redirectTo('https://evil.example/', 308), 'OAUTH_REDIRECT'],
    ['a 500', { status: 500, body: leaky.value }, 'HTTP_500'],
    ['a 204', { status: 204 }, 'OAUTH_RESPONSE_INVALID'],
  ])('%s', async (_name, reply, code) => {
    const { auth, script: servers } = answered(reply)
    for (const error of await Promise.all([auth.authorize(wanted), auth.fetch(wanted)].map(failureOf))) {
      expect(error).toMatchObject({ code })
      expect(error).not.toHaveProperty('cause')
      expect(leaks([leaky, ...Object.values(secrets)], { error: shown(error) })).toEqual([])
    }
    expect(servers.sent.every(({ url }) => url === TOKEN_URL)).toBe(true)
  })

  it.each(['user:grant:secret', 'a!b', 'a=b"c\\d,e;f'])(
    'the token answer may have the token %s (RFC 6749 Appendix A.12)',
    async (access_token) => {
      const { auth } = answered({ body: { ...good, access_token } })
      expect((await auth.authorize(wanted)).headers.authorization).toBe(`Bearer ${access_token}`)
    },
  )

  it.each([
    ['as it is', (secret: string) => secret],
    ['as Basic credentials', (secret: string) => btoa(`app:${secret}`)],
    ['percent-encoded', (secret: string) => encodeURIComponent(secret).replaceAll('-', '%2D')],
    ['in hex', (secret: string) => [...secret].map((char) => char.charCodeAt(0).toString(16)).join('')],
  ])('does not repeat a secret that the server repeats %s', async (_how, encode) => {
    const echo = encode(secrets.client.value)
    const { auth } = answered({ status: 401, body: { error: 'invalid_client', error_description: `secret ${echo} is wrong` } })
    const error = await failureOf(auth.authorize(wanted))
    expect(shown(error)).not.toContain(echo)
    expect(error).toMatchObject({ code: 'OAUTH_ERROR', hint: expect.stringContaining('clientSecret') })
  })

  it('O01 has its description cut and cleaned', async () => {
    const description = `\u001b[2J\r\n::error::\u202e${'long '.repeat(20_000)}`
    const { auth } = answered({ status: 400, body: { error: 'invalid_request', error_description: description } })
    const { message } = await failureOf(auth.authorize(wanted))
    expect(message).toContain('invalid_request')
    expect(message).toMatch(/^[\x20-\x7e]*$/)
    expect(message.length).toBeLessThan(400)
  })

  it.each<[unknown, number | undefined]>([
    ['3600', 3600],
    [3600, 3600],
    [3600.7, 3600],
    [1e12, 31_536_000],
    [0, undefined],
    [-1, undefined],
    [0.5, undefined],
    [null, undefined],
    ['abc', undefined],
    ['1e9', undefined],
    [undefined, undefined],
    [{}, undefined],
  ])('O04 expires_in %j lives %s seconds', async (expires_in, seconds) => {
    const { auth } = answered({ body: { ...good, expires_in } })
    const { expiresAt } = await auth.authorize(wanted)
    expect(expiresAt).toBe(seconds === undefined ? undefined : new Date(NOW + seconds * 1000).toISOString())
  })

  it.each([
    ['narrower', 'read', [expect.objectContaining({ code: 'SCOPE_REDUCED', message: expect.stringContaining('list') })]],
    ['the same in another order', 'list read', []],
    ['wider', 'read list more', []],
    ['not told', undefined, []],
  ])('O06 with a scope that is %s is used', async (_name, scope, expected) => {
    const warnings: Warning[] = []
    const { auth } = answered(
      { body: { ...good, scope } },
      { scopes: ['read', 'list'] },
      { onWarning: (warning) => warnings.push(warning) },
    )
    expect((await auth.authorize(wanted)).headers.authorization).toBe(`Bearer ${secrets.token.value}`)
    expect(warnings).toEqual(expected)
  })

  it('accepts any case of the token type', async () => {
    const { auth } = answered({ body: { ...good, token_type: 'bEARER' } })
    expect((await auth.authorize(wanted)).headers.authorization).toBe(`Bearer ${secrets.token.value}`)
  })
})

describe('a refused token', () => {
  /** Each token is new; the data server accepts those of the list. */
  function issuing(accepted: readonly string[]) {
    let issued = 0
    const servers = script(({ url, headers }): Reply => {
      if (url === TOKEN_URL) return { body: { ...good, access_token: `t${++issued}` } }
      const ok = accepted.includes(headers.authorization?.slice(7) ?? '')
      return { status: ok ? 200 : 401, headers: ok ? {} : { 'www-authenticate': 'Bearer error="invalid_token"' } }
    })
    return victim({ credentials: entries.oauth }, servers)
  }

  it('H21 is refreshed once', async () => {
    const { auth, script: servers } = issuing(['t2'])
    expect((await auth.fetch(wanted)).status).toBe(200)
    expect(servers.to('auth.victim.example')).toHaveLength(2)
    expect((await auth.authorize(wanted)).headers.authorization).toBe('Bearer t2')
  })

  it('H21 is AUTH_REJECTED the second time', async () => {
    const { auth, script: servers } = issuing([])
    const error = await failureOf(auth.fetch(wanted))
    expect(error).toMatchObject({
      name: 'CredentialError',
      code: 'AUTH_REJECTED',
      credential: 'oauth',
      hop: 0,
      status: 401,
      message: expect.stringContaining('invalid_token'),
    })
    expect(servers.to('auth.victim.example')).toHaveLength(2)
    expect(servers.to('data.victim.example')).toHaveLength(2)
  })

  it('a refused token is not refreshed for a 403', async () => {
    const servers = routes({ [TOKEN_URL]: { body: good }, [F]: { status: 403, body: '<html>' } })
    const { auth } = victim({ credentials: entries.oauth }, servers)
    expect(await failureOf(auth.fetch(wanted))).toMatchObject({ code: 'AUTH_REJECTED', status: 403 })
    expect(servers.sent).toHaveLength(2)
  })
})

describe('other flows', () => {
  it('other flows need a login, which is reported', async () => {
    const { auth, script: servers } = victim()
    const flows = { authorizationCode: { authorizationUrl: entries.login.authorizationUrl, tokenUrl: TOKEN_URL } }
    const error = await failureOf(auth.authorize(target(scheme.oauth2(flows), F)))
    expect(error).toMatchObject({ code: 'LOGIN_REQUIRED', credential: 'login', hint: expect.stringContaining('bearer') })
    expect(servers.sent).toEqual([])
  })

  it.each<[string, Record<string, unknown>, string, string]>([
    ['flows that are missing', { type: 'oauth2' }, 'SCHEME_INVALID', ''],
    ['flows that are a list', { type: 'oauth2', flows: [] }, 'SCHEME_INVALID', '/flows'],
    [
      'D10 flows without a name',
      { type: 'oauth2', flows: { authorizationUrl: 'https://a.example/', tokenUrl: 'x' } },
      'FLOW_INVALID',
      '/flows/authorizationUrl',
    ],
    ['a flow that is null', { type: 'oauth2', flows: { clientCredentials: null } }, 'FLOW_INVALID', '/flows/clientCredentials'],
    ['a URL that is no text', { type: 'oauth2', flows: { 'a/b': { tokenUrl: 5 } } }, 'FLOW_INVALID', '/flows/a~1b/tokenUrl'],
  ])('other flows refuse %s', async (_name, k, code, at) => {
    const { auth } = victim()
    expect(await failureOf(auth.authorize(target(k, F)))).toMatchObject({ code, pointer: `/properties/auth:schemes/k${at}` })
  })
})

describe('the secret', () => {
  it.each<[string, () => string | Promise<string>]>([
    ['that a function refuses', () => Promise.reject(new Error(secrets.client.value))],
    [
      'that a function throws',
      () => {
        throw Object.assign(new Error('no'), { request: secrets.client.value })
      },
    ],
  ])('%s is CREDENTIAL_SOURCE', async (_name, clientSecret) => {
    const { auth, script: servers } = answered({ body: good }, { clientSecret })
    const error = await failureOf(auth.authorize(wanted))
    expect(error).toMatchObject({ code: 'CREDENTIAL_SOURCE', credential: 'oauth' })
    expect(leaks([secrets.client as Canary], { error: shown(error) })).toEqual([])
    expect(servers.sent).toEqual([])
  })
})

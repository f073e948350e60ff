import { describe, expect, it } from 'vitest'
import type { AuthError } from '../../../src/errors.ts'
import { canary, leaks, shown } from '../../harness/canary.ts'
import { scheme, target } from '../../harness/documents.ts'
import { failureOf } from '../../harness/failure.ts'
import { type Reply, routes } from '../../harness/scripted.ts'
import { DATA, entries, SIGN_URL, SIGNED, victim } from '../../harness/victim.ts'

const F = `${DATA}f.tif`

/** What becomes of an answer of the signing API. */
function answered(reply: Reply, flow: Record<string, unknown> = {}, entry: Record<string, unknown> = {}) {
  const script = routes({ [SIGN_URL]: reply })
  const { auth } = victim({ credentials: { ...entries.signer, ...entry } }, script)
  return { result: auth.authorize(target(scheme.signed(SIGN_URL, flow), F)), script }
}

const anyField = { responseField: undefined }

describe('the answer of a signing API', () => {
  it.each<[string, Reply, Record<string, unknown>]>([
    ['the member that the catalog names', { body: { href: SIGNED, url: 'https://evil.example/' } }, {}],
    ['a path of members', { body: { data: { links: { href: SIGNED } } } }, { responseField: 'data.links.href' }],
    [
      'a name that has dots in it',
      { body: { 'data.href': SIGNED, data: { href: 'https://evil.example/' } } },
      { responseField: 'data.href' },
    ],
    ['signed_url', { body: { signed_url: SIGNED } }, anyField],
    ['signedUrl', { body: { signedUrl: SIGNED } }, anyField],
    ['url', { body: { url: SIGNED } }, anyField],
    ['href', { body: { href: SIGNED } }, anyField],
    ['a JSON text', { body: JSON.stringify(SIGNED), headers: { 'content-type': 'application/json' } }, anyField],
    ['plain text', { body: `${SIGNED}\n`, headers: { 'content-type': 'text/plain; charset=utf-8' } }, anyField],
    ['status 201', { status: 201, body: { href: SIGNED } }, {}],
    ['a Location', { status: 302, headers: { location: SIGNED } }, {}],
    ['an own member __proto__', { body: `{"__proto__":"${SIGNED}"}` }, { responseField: '__proto__' }],
  ])('the answer of a signing API may hold the URL in %s', async (_name, reply, flow) => {
    expect((await answered(reply, flow).result).url).toBe(SIGNED)
  })

  it("the answer of a signing API is read by the credential's member when it names one", async () => {
    const { result } = answered({ body: { mine: SIGNED, href: 'https://evil.example/' } }, {}, { responseField: 'mine' })
    expect((await result).url).toBe(SIGNED)
  })

  it.each<[string, Reply, Record<string, unknown>]>([
    ['HTML', { body: '<html>', headers: { 'content-type': 'text/html' } }, anyField],
    ['an empty object', { body: {} }, anyField],
    ['a list', { body: [SIGNED] }, anyField],
    ['a number', { body: 5 }, anyField],
    ['null', { body: null }, anyField],
    ['nothing', { body: '', headers: { 'content-type': 'application/json' } }, anyField],
    ['a member that is no text', { body: { href: { href: SIGNED } } }, {}],
    ['another member', { body: { url: SIGNED } }, {}],
    ['C07 __proto__', { body: {} }, { responseField: '__proto__' }],
    ['C07 constructor', { body: {} }, { responseField: 'constructor' }],
    ['C07 constructor.name', { body: {} }, { responseField: 'constructor.name' }],
    ['C07 length', { body: [SIGNED] }, { responseField: 'length' }],
    [
      'C07 length of a text',
      { body: JSON.stringify(SIGNED), headers: { 'content-type': 'application/json' } },
      { responseField: 'length' },
    ],
  ])('H27 without a URL is RESPONSE_FIELD_MISSING: %s', async (_name, reply, flow) => {
    const { result, script } = answered(reply, flow)
    expect(await failureOf(result)).toMatchObject({ code: 'RESPONSE_FIELD_MISSING', credential: 'signer' })
    expect(script.sent).toHaveLength(1)
  })

  const forbidden = [
    'javascript:alert(1)',
    'file:///etc/passwd',
    'data:,x',
    'http://data.victim.example/f',
    'https://127.0.0.1/f',
    'https://169.254.169.254/',
    'https://evil.example/f',
    'https://data.victim.example.evil.example/',
    'https://u:p@data.victim.example/f',
    'https://data.victim.example@evil.example/',
    'https://data.victim.example./f',
    'https://data.victim.example%2eevil.example/',
    'https://data.victim.example\\@evil.example/',
    'https://data.victim.example/\u0001',
    'https://data.victim.example:8443/f',
    '//data.victim.example/f',
    'https:data.victim.example',
    '/f?sig=1',
    's3://bucket/key',
    '',
  ]

  it.each(forbidden)('H27 with the address %j is SIGNED_URL_FORBIDDEN', async (href) => {
    const { result, script } = answered({ body: { href } })
    expect(await failureOf(result)).toMatchObject({ code: 'SIGNED_URL_FORBIDDEN' })
    expect(script.sent).toHaveLength(1)
  })

  it.each(forbidden.filter((location) => !/[\\\u0001]/.test(location)))('H05 with the Location %j is SIGN_REDIRECT', async (location) => {
    const { result, script } = answered({ status: 307, headers: { location } })
    expect(await failureOf(result)).toMatchObject({ name: 'TrustError', code: 'SIGN_REDIRECT' })
    expect(script.sent).toHaveLength(1)
  })

  it.each([
    { body: { href: 'https://evil.example/secret?sig=secret' } },
    { status: 307, headers: { location: 'https://evil.example/secret?sig=secret' } },
  ])('elsewhere is reported with its host and what would allow it', async (reply) => {
    const error = await failureOf(answered(reply).result)
    expect(error).toMatchObject({
      message: expect.stringMatching(/ a URL on https:\/\/evil\.example that signedUrlHosts does not include$/),
      hint: 'if you trust that host, add "https://evil.example/" to signedUrlHosts of "signer"',
    })
    expect(JSON.stringify(error)).not.toContain('secret')
  })

  it('the answer of a signing API with something else wrong is no reason to add its host', async () => {
    for (const href of [SIGNED.replace('//', '//u:p@'), 'javascript:alert(1)', 'http://evil.example/f'])
      expect(((await failureOf(answered({ body: { href } }).result)) as AuthError).hint).toBeUndefined()
  })

  it('the answer of a signing API below a wildcard must still be public', async () => {
    const { result } = answered(
      { body: { href: 'https://a.corp.internal/f' } },
      {},
      { signedUrlHosts: 'https://*.corp.internal/', sendTo: DATA },
    )
    expect(await failureOf(result)).toMatchObject({ code: 'SIGNED_URL_FORBIDDEN' })
  })

  it('the answer of a signing API may be on loopback where the credential names it', async () => {
    const { result } = answered(
      { body: { href: 'http://127.0.0.1:8080/f' } },
      {},
      { signedUrlHosts: 'http://127.0.0.1:8080/', sendTo: DATA },
    )
    expect((await result).url).toBe('http://127.0.0.1:8080/f')
  })

  it('the answer of a signing API comes in its usual form, without fragment', async () => {
    const { result } = answered({ body: { href: 'https://DATA.victim.example:443/a%2fb?sig=a%2Fb+c#frag' } })
    expect((await result).url).toBe('https://data.victim.example/a%2fb?sig=a%2Fb+c')
  })

  it('the answer of a signing API of 3 MB is RESPONSE_TOO_LARGE', async () => {
    expect(await failureOf(answered({ body: { href: 'x'.repeat(3_000_000) } }).result)).toMatchObject({ code: 'RESPONSE_TOO_LARGE' })
  })

  it.each<[string, (secret: string) => Reply]>([
    ['a page', (secret) => ({ body: `<html>${secret}` })],
    ['broken JSON', (secret) => ({ body: `{"href":"${secret}` })],
    ['a Location', (secret) => ({ status: 302, headers: { location: `https://evil.example/${secret}?${secret}` } })],
    ['an address', (secret) => ({ body: { href: `https://evil.example/${secret}?${secret}` } })],
    ['an address that is none', (secret) => ({ body: { href: `nonsense ${secret}` } })],
  ])('the answer of a signing API is not quoted: %s', async (_name, reply) => {
    const hidden = canary('answer')
    const error = (await failureOf(answered(reply(hidden.value)).result)) as AuthError
    expect(leaks([hidden], { error: shown(error) })).toEqual([])
  })
})

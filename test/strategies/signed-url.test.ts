import { describe, expect, it } from 'vitest'
import type { AuthOptions } from '../../src/auth/create-auth.ts'
import type { CredentialInput } from '../../src/auth/credential.ts'
import type { AuthError } from '../../src/errors.ts'
import type { HttpRequest } from '../../src/http/message.ts'
import { canary, leaks, shown } from '../harness/canary.ts'
import { type Json, scheme, target } from '../harness/documents.ts'
import { failureOf } from '../harness/failure.ts'
import { FakeClock } from '../harness/fake-clock.ts'
import { type Reply, redirectTo, routes } from '../harness/scripted.ts'
import { DATA, entries, SIGN_URL, SIGNED, secrets, TOKEN_URL, victim } from '../harness/victim.ts'

const F = `${DATA}f.tif`
const OTHER = 'https://store.example/f.tif?sig=1'
const NOW = Date.UTC(2026, 0, 1)
const wide = { ...entries.signer, signedUrlHosts: [DATA, 'https://store.example/'], sendTo: DATA }

interface Setting {
  readonly credential?: CredentialInput | readonly CredentialInput[]
  /** Members of the signing flow. */
  readonly flow?: Json
  readonly href?: string
  readonly asset?: Json
  readonly options?: Partial<AuthOptions>
  readonly servers?: Parameters<typeof routes>[0]
}

/** An engine whose signing API gives that answer. */
function signing(
  answer: Reply | ((request: HttpRequest) => Reply),
  { credential = entries.signer, flow, href = F, asset, options, servers }: Setting = {},
) {
  const script = routes({ [SIGN_URL]: answer, [SIGNED]: { body: 'data' }, [OTHER]: { body: 'data' }, ...servers })
  const { auth } = victim({ credentials: credential, ...options }, script)
  return { auth, script, wanted: target(scheme.signed(SIGN_URL, flow), href, asset) }
}

const signed = (href: string): Reply => ({ body: { href } })

describe('the signing call', () => {
  it('the signing call by GET has the URL in the query and requests JSON', async () => {
    const { auth, script, wanted } = signing(signed(SIGNED), { href: `${F}?a=b+c&d=%2F` })
    const request = await auth.authorize(wanted)
    expect(script.sent[0]).toMatchObject({
      method: 'GET',
      url: `${SIGN_URL}?href=${encodeURIComponent(`${F}?a=b+c&d=%2F`)}`,
      headers: { accept: 'application/json' },
      options: { timeout: 60_000 },
    })
    expect(request).toMatchObject({ method: 'GET', url: SIGNED, headers: {}, credential: 'signer', secretIn: { headers: [], url: true } })
  })

  it('the signing call by POST has a JSON body with bucket and key', async () => {
    const flow = {
      method: 'POST',
      responseField: 'signed_url',
      parameters: { bucket: { in: 'body', required: true }, key: { in: 'body', required: true } },
    }
    const href = 'https://eo.s3.eu-central-1.amazonaws.com/a%20b/c+d.tif'
    const credential = { ...entries.signerPost, sendTo: 'https://eo.s3.eu-central-1.amazonaws.com/' }
    const { auth, script, wanted } = signing({ body: { signed_url: SIGNED } }, { credential, flow, href })
    expect((await auth.authorize(wanted)).url).toBe(SIGNED)
    expect(script.sent[0]).toMatchObject({ method: 'POST', url: SIGN_URL, headers: { 'content-type': 'application/json' } })
    expect(JSON.parse(String(script.sent[0]?.body))).toEqual({ bucket: 'eo', key: 'a b/c d.tif' })
  })

  it("the signing call has the credential's own parameters in the type that the catalog describes", async () => {
    const parameters = {
      href: { in: 'query', required: true },
      duration: { in: 'query', required: false, schema: { type: 'integer' } },
      'X-Client': { in: 'header', required: true },
      user: { in: 'body', required: true },
      days: { in: 'body', required: true, schema: { type: 'number' } },
      all: { in: 'body', required: true, schema: { type: 'boolean' } },
      unset: { in: 'query', required: false, schema: { default: 'chosen by the catalog', const: 'x' } },
    }
    const credential = {
      ...entries.signerPost,
      parameters: { duration: '60', 'X-Client': 'me', user: secrets.key.value, days: '7', all: 'true' },
    }
    const { auth, script, wanted } = signing(signed(SIGNED), { credential, flow: { method: 'POST', parameters } })
    await auth.authorize(wanted)
    expect(script.sent[0]?.url).toBe(`${SIGN_URL}?href=${encodeURIComponent(F)}&duration=60`)
    expect(script.sent[0]?.headers).toMatchObject({ 'x-client': 'me' })
    expect(JSON.parse(String(script.sent[0]?.body))).toEqual({ user: secrets.key.value, days: 7, all: true })
  })

  it('the signing call is authorized by the credential in "with", and nothing else is', async () => {
    const oauth = { ...entries.oauth, sendTo: SIGN_URL }
    const servers = { [TOKEN_URL]: { body: { access_token: secrets.token.value, token_type: 'Bearer' } }, [OTHER]: { body: 'data' } }
    const { auth, script, wanted } = signing(signed(OTHER), { credential: [oauth, { ...wide, with: 'oauth' }], servers })
    await auth.fetch(wanted)
    expect(script.sent.map(({ url }) => url.replace(/\?.*/, ''))).toEqual([TOKEN_URL, SIGN_URL, OTHER.replace(/\?.*/, '')])
    expect(script.to('sign.victim.example')[0]?.headers.authorization).toBe(`Bearer ${secrets.token.value}`)
    expect(leaks([secrets.token, secrets.client], { store: JSON.stringify(script.to('store.example')) })).toEqual([])
  })

  it.each([401, 403])('the signing call that is refused with %i is AUTH_REJECTED', async (status) => {
    const { auth, wanted } = signing({ status })
    expect(await failureOf(auth.authorize(wanted))).toMatchObject({ code: 'AUTH_REJECTED', status, credential: 'signer' })
  })

  it.each([
    [404, false],
    [429, true],
    [503, true],
  ])('the signing call that fails with %i says so, without its text', async (status, retryable) => {
    const quoted = canary('quoted')
    const { auth, wanted } = signing({ status, body: quoted.value }, { options: { clock: new FakeClock({ now: NOW, waits: 'in turn' }) } })
    const error = await failureOf(auth.authorize(wanted))
    expect(error).toMatchObject({ code: `HTTP_${status}`, retryable })
    expect(leaks([quoted], { error: shown(error) })).toEqual([])
  })
})

describe('what the catalog may not say about the signing call', () => {
  const at = '/properties/auth:schemes/k/flows/authorizationCode/parameters'
  const href = { in: 'query', required: true }

  it.each<[string, Json, string, string]>([
    [
      'A18 a header',
      { x: { in: 'body', required: true }, Authorization: { in: 'header', required: true, schema: { default: 'Basic x' } } },
      'PARAM_FORBIDDEN',
      `${at}/Authorization/in`,
    ],
    ['a header by a harmless name', { href, 'X-Trace': { in: 'header', required: false } }, 'PARAM_FORBIDDEN', `${at}/X-Trace/in`],
    ['a forbidden name in the query', { href, Host: { in: 'query', required: false } }, 'PARAM_FORBIDDEN', `${at}/Host`],
    ['a value of its own', { href, cmd: { in: 'body', required: true, schema: { enum: ['delete'] } } }, 'PARAM_UNBOUND', `${at}/cmd`],
    ['D02 a $ref', { href: { ...href, schema: { $ref: 'http://169.254.169.254/' } } }, 'PARAM_SCHEMA_REF', `${at}/href/schema/$ref`],
    ['D05 an $id', { href: { ...href, schema: { $id: 'x' } } }, 'PARAM_SCHEMA_KEYWORD', `${at}/href/schema/$id`],
    [
      'a schema that the address breaks',
      { href: { ...href, schema: { const: 'https://other.example/' } } },
      'PARAM_SCHEMA_VALUE',
      `${at}/href/schema`,
    ],
    [
      'a header before a schema before a value',
      { cmd: { in: 'body', required: true }, href: { ...href, schema: { $ref: '#' } }, H: { in: 'header' } },
      'PARAM_FORBIDDEN',
      `${at}/H/in`,
    ],
    ['a bucket that the address does not have', { bucket: { in: 'query', required: true } }, 'PARAM_UNBOUND', `${at}/bucket`],
  ])('%s', async (_name, parameters, code, pointer) => {
    const { auth, script, wanted } = signing(signed(SIGNED), { flow: { parameters } })
    expect(await failureOf(auth.authorize(wanted))).toMatchObject({ code, pointer })
    expect(script.sent).toEqual([])
  })

  it('D01, D06 odd schemas are reported as warnings', async () => {
    const warnings: { code: string }[] = []
    const schema = { type: 'string', pattern: '^(a+)+$', nullable: true }
    const { auth, wanted } = signing(signed(SIGNED), {
      flow: { parameters: { href: { ...href, schema } } },
      options: { onWarning: (warning) => warnings.push(warning) },
    })
    await auth.authorize(wanted)
    expect(warnings.map(({ code }) => code).sort()).toEqual(['PARAM_KEYWORD_IGNORED', 'PARAM_PATTERN_UNSUPPORTED'])
  })
})

describe('a signed URL', () => {
  it("takes nothing of the caller's to another origin", async () => {
    const { auth, script, wanted } = signing(signed(OTHER), { credential: wide })
    await auth.fetch(wanted, { headers: { 'x-mine': secrets.key.value, accept: '*/*', range: 'bytes=0-9' } })
    expect(script.to('store.example')).toMatchObject([{ url: OTHER, headers: { accept: '*/*', range: 'bytes=0-9' } }])
    expect(leaks(Object.values(secrets), { store: JSON.stringify(script.to('store.example')) })).toEqual([])
  })

  it.each([
    ['on another origin', OTHER, '/moved'],
    ['on another origin, back to the first', OTHER, `${DATA}moved`],
    ['with the same path', `${F}?sig=1`, '/moved'],
    ['with the same path, elsewhere', `${F}?sig=1`, 'https://evil.example/moved'],
  ])('%s that redirects is followed with nothing added', async (_name, address, location) => {
    const to = new URL(location, address).href
    const { auth, script, wanted } = signing(signed(address), {
      credential: wide,
      servers: { [address]: redirectTo(location), [to]: { body: 'data' } },
    })
    const response = await auth.fetch(wanted, { headers: { 'x-mine': '1' } })
    expect(await response.text()).toBe('data')
    expect(script.sent.map(({ url }) => url.replace(/\?href=.*/, ''))).toEqual([SIGN_URL, address, to])
    const isOwn = new URL(address).origin === new URL(F).origin && new URL(to).origin === new URL(F).origin
    expect(script.sent[2]?.headers).toEqual(isOwn ? { 'x-mine': '1' } : {})
  })

  it.each([401, 403])('H28 that is refused with %i is signed again once', async (status) => {
    let calls = 0
    const servers = { [`${DATA}1`]: { status }, [`${DATA}2`]: { body: 'data' }, [`${DATA}3`]: { status }, [`${DATA}4`]: { status } }
    const { auth, script, wanted } = signing(() => signed(`${DATA}${++calls}`), { servers })
    expect((await auth.fetch(wanted)).status).toBe(200)
    expect(script.to('sign.victim.example')).toHaveLength(2)
    const error = await failureOf(auth.fetch({ ...wanted, href: `${DATA}g.tif` }))
    expect(error).toMatchObject({ code: 'AUTH_REJECTED', credential: 'signer', status })
    expect(script.to('sign.victim.example')).toHaveLength(4)
  })

  const refusal = (code: string) => ({
    status: 400,
    headers: { 'content-type': 'application/xml' },
    body: `<Error><Code>${code}</Code></Error>`,
  })

  it.each(['ExpiredToken', 'TokenRefreshRequired', 'InvalidToken', 'RequestExpired', 'AuthenticationFailed'])(
    'that is refused with 400 %s is signed again once',
    async (code) => {
      let calls = 0
      const servers = {
        [`${DATA}1`]: refusal(code),
        [`${DATA}2`]: { body: 'data' },
        [`${DATA}3`]: refusal(code),
        [`${DATA}4`]: refusal(code),
      }
      const { auth, script, wanted } = signing(() => signed(`${DATA}${++calls}`), { servers })
      expect(await (await auth.fetch(wanted)).text()).toBe('data')
      expect(script.to('sign.victim.example')).toHaveLength(2)
      expect((await auth.fetch({ ...wanted, href: `${DATA}g.tif` })).status).toBe(400)
      expect(script.to('sign.victim.example')).toHaveLength(4)
    },
  )

  it('that is refused with another 400 is not signed again, and the caller can read why', async () => {
    const { auth, script, wanted } = signing(() => signed(`${DATA}1`), { servers: { [`${DATA}1`]: refusal('InvalidRange') } })
    expect(await (await auth.fetch(wanted)).text()).toContain('InvalidRange')
    expect(script.to('sign.victim.example')).toHaveLength(1)
  })

  it('that is refused with 400 and no body, as for HEAD, is signed again once', async () => {
    let calls = 0
    const { auth, script, wanted } = signing(() => signed(`${DATA}${++calls}`), {
      servers: { [`${DATA}1`]: { status: 400 }, [`${DATA}2`]: {} },
    })
    expect((await auth.fetch(wanted, { method: 'HEAD' })).status).toBe(200)
    expect(script.to('sign.victim.example')).toHaveLength(2)
  })

  it('H28 is signed again when it has ended by our clock', async () => {
    let now = NOW
    const answer = () => ({ body: { href: SIGNED, expires_in: 600 } })
    const { auth, script, wanted } = signing(answer, { options: { clock: { now: () => now } } })
    const first = await auth.authorize(wanted)
    expect(first.expiresAt).toBe('2026-01-01T00:10:00.000Z')
    expect(auth.peek(wanted)?.url).toBe(SIGNED)
    now += 569_000
    await auth.authorize(wanted)
    expect(script.sent).toHaveLength(1)
    now += 1_000
    expect(auth.peek(wanted)).toBeUndefined()
    await auth.authorize(wanted)
    expect(script.sent).toHaveLength(2)
  })

  it('ends with the asset, where that says when it ends', async () => {
    const asset = { expires: '2026-01-01T00:05:00Z' }
    const answer = { body: { href: SIGNED, expires_in: 600 } }
    const { auth, wanted } = signing(answer, { asset, options: { clock: { now: () => NOW } } })
    expect((await auth.authorize(wanted)).expiresAt).toBe('2026-01-01T00:05:00.000Z')
  })

  it('a signed URL is requested once by a hundred at once, and once per URL', async () => {
    const { auth, script, wanted } = signing(signed(SIGNED))
    await Promise.all(Array.from({ length: 100 }, () => auth.authorize(wanted)))
    await auth.authorize({ ...wanted, href: `${DATA}g.tif` })
    expect(script.sent).toHaveLength(2)
  })

  it('a signed URL is never shown by what is thrown', async () => {
    const hidden = canary('signature')
    const { auth, wanted } = signing(signed(`https://evil.example/${hidden.value}?sig=${hidden.value}`))
    const error = (await failureOf(auth.authorize(wanted))) as AuthError
    expect(error.code).toBe('SIGNED_URL_FORBIDDEN')
    expect(leaks([hidden], { error: shown(error) })).toEqual([])
  })
})

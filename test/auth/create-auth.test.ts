import { describe, expect, it } from 'vitest'
import { createAuth } from '../../src/auth/create-auth.ts'
import { bearer } from '../../src/auth/credential.ts'
import { IntegrityError } from '../../src/errors.ts'
import { assetOf, linkOf } from '../../src/stac/target.ts'
import { defaultStrategies } from '../../src/strategies/index.ts'
import { asset, catalog, found, item, scheme, target } from '../harness/documents.ts'
import { failureOf, thrownBy } from '../harness/failure.ts'
import { script } from '../harness/scripted.ts'
import { DATA, DISCOVERY_URL, entries, SIGN_URL, secrets, TOKEN_URL, victim } from '../harness/victim.ts'

const F = `${DATA}f.tif`
const EVIL = 'https://evil.example/f.tif'

describe('the shortest way', () => {
  it('the shortest call takes one token, one origin and one asset', async () => {
    const servers = script()
    const auth = createAuth({ credentials: [bearer('t', DATA)], transport: servers.send })
    const document = item({ k: scheme.bearer }, { data: asset(F) })
    expect((await auth.fetch(assetOf(document, 'data'))).status).toBe(200)
    expect(servers.sent).toMatchObject([{ method: 'GET', url: F, headers: { authorization: 'Bearer t' } }])
  })

  it('a credential may be a function where the user is signed in already', async () => {
    const servers = script()
    const auth = createAuth({ credentials: bearer(async () => 'now', [DATA]), transport: servers.send })
    await auth.fetch(target(scheme.oidc('https://auth.example/'), F))
    expect(servers.sent[0]?.headers.authorization).toBe('Bearer now')
  })
})

describe('what is not there', () => {
  it.each([undefined, null, {}, { refs: ['k'] }])('%j is TARGET_NOT_FOUND', async (wanted) => {
    const { auth } = victim()
    const missing = wanted as never
    expect(await failureOf(auth.authorize(missing))).toMatchObject({ code: 'TARGET_NOT_FOUND' })
    expect(await failureOf(auth.explain(missing))).toMatchObject({ code: 'TARGET_NOT_FOUND' })
    expect(thrownBy(() => auth.peek(missing))).toMatchObject({ code: 'TARGET_NOT_FOUND' })
    expect(await failureOf(auth.fetchFor(missing)(F))).toMatchObject({ code: 'TARGET_NOT_FOUND' })
  })

  it.each([
    ['null', null],
    ['a document', item({ k: scheme.key() }, { data: asset(F) })],
    ['a list of targets', [target(scheme.key(), F)]],
    // Who writes a catalog chooses no request with the credentials of the user.
    ['an asset with the members of a request', { ...asset(F), url: F, method: 'DELETE', headers: {} }],
    ['a document with the members of a request', { ...item({}, {}), url: F, method: 'DELETE', headers: {} }],
  ])('%s is TARGET_NOT_FOUND for a fetch too, which says what to pass', async (_what, given) => {
    const { auth, script: servers } = victim()
    const missing = { code: 'TARGET_NOT_FOUND', hint: expect.stringContaining("assetOf(item, 'key')") }
    expect(await failureOf(auth.fetch(given as never))).toMatchObject(missing)
    expect(await failureOf(auth.send(given as never))).toMatchObject(missing)
    expect(servers.sent).toEqual([])
  })

  it('a URL is TARGET_NOT_FOUND where only a request or a target can be sent', async () => {
    expect(await failureOf(victim().auth.send(F as never))).toMatchObject({
      code: 'TARGET_NOT_FOUND',
      message: 'this is not an asset or link with its document',
      hint: expect.stringContaining('auth.send { method, url }'),
    })
  })

  it('a URL is TARGET_NOT_FOUND where a target is required, and the hint names fetch', async () => {
    const { auth } = victim()
    const refusal = { code: 'TARGET_NOT_FOUND', hint: expect.stringContaining('auth.fetch takes URLs') }
    expect(await failureOf(auth.authorize(F as never))).toMatchObject(refusal)
    expect(await failureOf(auth.explain(F as never))).toMatchObject(refusal)
  })

  it('what is not there in a document is TARGET_NOT_FOUND when it is fetched', async () => {
    const { auth, script: servers } = victim()
    const document = catalog({})
    expect(thrownBy(() => assetOf(document, 'toString'))).toMatchObject({ code: 'TARGET_NOT_FOUND' })
    expect(await failureOf(auth.fetch(linkOf(document, 'next')))).toMatchObject({ code: 'TARGET_NOT_FOUND' })
    expect(servers.sent).toEqual([])
  })
})

describe('a plain asset object', () => {
  it('a plain asset object is refused with the function that makes a target of it, by every call', async () => {
    const { auth, script: servers } = victim()
    const plain = asset(F) as never
    const refusal = { code: 'TARGET_NOT_FOUND', hint: expect.stringContaining("assetOf(item, 'key')") }
    expect(await failureOf(auth.fetch(plain))).toMatchObject(refusal)
    expect(await failureOf(auth.authorize(plain))).toMatchObject(refusal)
    expect(await failureOf(auth.explain(plain))).toMatchObject(refusal)
    expect(thrownBy(() => auth.peek(plain))).toMatchObject(refusal)
    expect(servers.sent).toEqual([])
  })
})

describe('authorize', () => {
  it('authorizes a target without references as a plain request', async () => {
    const { auth, script: servers } = victim()
    const wanted = found(assetOf(item({ k: scheme.key() }, { data: { href: F } }), 'data'))
    expect(await auth.authorize(wanted, { method: 'HEAD', headers: { Accept: '*/*' } })).toEqual({
      method: 'HEAD',
      url: F,
      headers: { accept: '*/*' },
      pointer: '/assets/data',
      secretIn: { headers: [], url: false },
    })
    expect(servers.sent).toEqual([])
  })

  it('reports which reference, credential and scheme were used', async () => {
    const { auth } = victim()
    expect(await auth.authorize(target(scheme.key(), `${F}#page`))).toEqual({
      method: 'GET',
      url: F,
      headers: { 'x-api-key': secrets.key.value },
      ref: 'k',
      scheme: 'apiKey',
      credential: 'key',
      pointer: '/assets/data',
      secretIn: { headers: ['x-api-key'], url: false },
    })
  })

  it.each<Record<string, string>>([{ 'a\r\nb': 'x' }, { a: 'x\r\ny' }, { 'a b': 'x' }, { '': 'x' }])(
    'refuses the header %j',
    async (headers) => {
      const { auth } = victim()
      expect(await failureOf(auth.authorize(target(scheme.key(), F), { headers }))).toMatchObject({
        code: 'USAGE',
      })
    },
  )
})

describe('peek', () => {
  it('returns at once what needs nothing else', async () => {
    const { auth } = victim({ credentials: [entries.key, { type: 'http', scheme: 'basic', username: 'a', password: 'b', sendTo: DATA }] })
    await auth.ready()
    expect(auth.peek(target(scheme.key(), F))?.headers).toEqual({ 'x-api-key': secrets.key.value })
    expect(auth.peek(target(scheme.basic, F))?.headers.authorization).toMatch(/^Basic /)
    expect(auth.peek(found(assetOf(item({}, { data: { href: F } }), 'data')))).toMatchObject({ url: F, headers: {} })
  })

  it('returns a token only when it is there, and sends nothing for it', async () => {
    const { auth, script: servers } = victim({ credentials: entries.oauth })
    const wanted = target(scheme.client(TOKEN_URL), F)
    expect(auth.peek(wanted)).toBeUndefined()
    expect(servers.sent).toEqual([])
    const request = await auth.authorize(wanted)
    expect(auth.peek(wanted)).toEqual(request)
    expect(servers.sent).toHaveLength(1)
  })

  it('returns a signed URL only when it is there', async () => {
    const { auth, script: servers } = victim({ credentials: entries.signer })
    const wanted = target(scheme.signed(SIGN_URL), F)
    expect(auth.peek(wanted)).toBeUndefined()
    await auth.authorize(wanted)
    expect(auth.peek(wanted)?.secretIn.url).toBe(true)
    expect(servers.sent).toHaveLength(1)
  })

  it('returns the request for a URL of the caller, with the credential that fetch would use', async () => {
    const narrow = { ...entries.key, id: 'narrow', name: 'x-narrow', sendTo: F }
    const { auth, script: servers } = victim({ credentials: [entries.key, narrow] })
    expect(auth.peek(F)).toBeUndefined()
    const { auth: other } = victim({ credentials: [narrow, entries.key, { ...entries.key, id: 'last' }] })
    await other.ready()
    expect([other.peek(F)?.credential, other.peek(`${DATA}g.tif`)?.credential]).toEqual(['narrow', 'key'])
    await auth.ready()
    expect(auth.peek(F)).toEqual({
      method: 'GET',
      url: F,
      headers: { 'x-narrow': secrets.key.value },
      credential: 'narrow',
      secretIn: { headers: ['x-narrow'], url: false },
    })
    expect(auth.peek(`${DATA}other.tif#top`)).toMatchObject({ url: `${DATA}other.tif`, credential: 'key' })
    expect(auth.peek(EVIL)).toEqual({ method: 'GET', url: EVIL, headers: {}, secretIn: { headers: [], url: false } })
    expect(thrownBy(() => auth.peek('https://a@data.victim.example/'))).toMatchObject({ code: 'URL_HAS_USERINFO' })
    expect(servers.sent).toEqual([])
  })

  it('returns nothing for a URL whose token must be obtained, or that only a store knows', async () => {
    const { auth } = victim({ credentials: entries.oauth })
    await auth.ready()
    expect(auth.peek(F)).toBeUndefined()
    await auth.authorize(target(scheme.client(TOKEN_URL), F))
    expect(auth.peek(F)?.headers.authorization).toMatch(/^Bearer /)
    expect(auth.peek('s3://bucket/key')).toBeUndefined()
  })

  it('returns nothing where authorize would refuse', async () => {
    const { auth } = victim({ credentials: entries.key })
    await auth.ready()
    expect(auth.peek(target(scheme.key(), F))).toBeDefined()
    expect(auth.peek(target(scheme.key(), EVIL))).toBeUndefined()
  })
})

describe('explain', () => {
  it('reports for each reference what becomes of it, without network or secrets', async () => {
    const asked: string[] = []
    const secret = () => {
      asked.push('asked')
      return 's'
    }
    const { auth, script: servers } = victim({
      credentials: [
        { ...entries.oauth, clientSecret: secret },
        { ...entries.key, value: secret },
      ],
    })
    const schemes = { o: scheme.client(TOKEN_URL, { scopes: { admin: '' } }), k: scheme.key(), b: scheme.basic, n: { type: 'none' } }
    const explanation = await auth.explain(assetOf(item(schemes, { data: asset(F, ['o', 'k', 'b', 'n', 'gone']) }), 'data'))
    expect(explanation).toMatchObject({
      pointer: '/assets/data',
      href: F,
      refs: [
        { ref: 'o', scheme: 'oauth2', credential: 'oauth' },
        { ref: 'k', scheme: 'apiKey', credential: 'key' },
        { ref: 'b', scheme: 'http', code: 'NO_CREDENTIAL', hint: expect.stringContaining('"basic"') },
        { ref: 'n', scheme: 'none' },
        { ref: 'gone', code: 'SCHEME_NOT_FOUND', pointer: '/assets/data/auth:refs/4' },
      ],
      warnings: [{ code: 'SCOPE_NOT_GRANTED' }],
    })
    expect(explanation).not.toHaveProperty('code')
    expect(asked).toEqual([])
    expect(servers.sent).toEqual([])
  })

  it('reports what is wrong with the target itself', async () => {
    const { auth } = victim()
    const refused = { code: 'URL_SCHEME_FORBIDDEN', pointer: '/assets/data/href' }
    expect(await auth.explain(target(scheme.key(), 'file:///x'))).toMatchObject({ code: refused.code, refs: [{ ref: 'k', ...refused }] })
  })
})

it('a store that cannot be read is the reason at its reference, and hides nothing of the others', async () => {
  const unsafe = async () => {
    throw new IntegrityError('CACHE_UNSAFE', 'others may write into the folder')
  }
  const session = { read: unsafe, write: unsafe, remove: unsafe, exclusively: unsafe }
  const auth = createAuth({ credentials: [entries.oidc, entries.key], session })
  const schemes = { login: scheme.oidc(DISCOVERY_URL), key: scheme.key() }
  const document = item(schemes, { data: asset(F, ['login', 'key']) })
  const { refs } = await auth.explain(found(assetOf(document, 'data')))
  expect(refs).toMatchObject([
    { ref: 'login', code: 'CACHE_UNSAFE' },
    { ref: 'key', credential: 'key' },
  ])
})

describe('a credential of the wrong shape', () => {
  const create = (...credentials: unknown[]) => thrownBy(() => createAuth({ credentials: credentials as never }))

  it.each([
    ['a text', ['secret'], { code: 'CONFIG_INVALID' }],
    ['no type', [{ token: 't', sendTo: DATA }], { pointer: '/credentials/0/type', message: expect.stringContaining('credentials[0]') }],
    [
      'a misspelt type',
      [bearer('t', DATA), { type: 'apikey', sendTo: DATA }],
      { pointer: '/credentials/1/type', hint: 'did you mean "apiKey"?' },
    ],
    [
      'no sendTo',
      [{ type: 's3' }],
      {
        pointer: '/credentials/0/sendTo',
        message: expect.stringContaining('sendTo of credentials[0] is missing'),
        hint: 'for example "sendTo": ["https://data.example/"]',
      },
    ],
    ['a misspelt sendTo', [{ type: 's3', sendto: DATA }], { pointer: '/credentials/0/sendTo' }],
  ])('a credential of the wrong shape with %s is refused by createAuth itself', (_what, credentials, error) => {
    expect(create(...(credentials as unknown[]))).toMatchObject({ code: 'CONFIG_INVALID', ...error })
  })

  it('a credential with a misspelt field is refused before any request, and the error suggests the field', async () => {
    const { auth, script: servers } = victim({
      credentials: [entries.key, { type: 'http', scheme: 'basic', username: 'a', pasword: 'b', sendTo: DATA } as never],
    })
    expect(await failureOf(auth.fetch(target(scheme.basic, F)))).toMatchObject({
      code: 'CONFIG_INVALID',
      pointer: '/credentials/1/pasword',
      hint: expect.stringContaining('did you mean "password"?'),
    })
    expect(servers.sent).toEqual([])
  })

  it('refuses the promise of credentials', () => {
    const credentials = Promise.resolve([bearer('t', DATA)]) as never
    expect(() => createAuth({ credentials })).toThrow('credentials must be objects, sets or lists of these, not a promise')
  })

  it.each([
    ['a list instead of options', [bearer('t', DATA)], 'undefined'],
    ['no credentials', {}, 'undefined'],
    ['null as credentials', { credentials: null }, 'null'],
    ['a token as credentials', { credentials: 'hush' }, 'string'],
    ['a credential that a condition left out', { credentials: [false] }, 'boolean'],
  ])('refuses %s and names the kind of value', (_what, options, kind) => {
    const message = `credentials must be objects, sets or lists of these, not ${kind}`
    expect(thrownBy(() => createAuth(options as never))).toMatchObject({ code: 'CONFIG_INVALID', message })
  })

  it('a credential of the wrong shape may omit sendTo where its type says elsewhere what it may sign', () => {
    expect(() => createAuth({ credentials: [entries.signer] })).not.toThrow()
  })
})

describe('what the default strategies say about sendTo before they are loaded', () => {
  it.each(defaultStrategies)('agrees with the forms of $type', async ({ sendTo, load }) => {
    const { forms } = await load()
    expect(sendTo === 'required').toBe(forms.every(({ fields }) => fields.sendTo?.required !== false))
  })
})

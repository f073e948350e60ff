import { describe, expect, it } from 'vitest'
import { bearer, type CredentialInput } from '../../src/auth/credential.ts'
import { alternateOf, assetOf, linkOf, type Target } from '../../src/stac/target.ts'
import { leaks } from '../harness/canary.ts'
import { asset, catalog, found, item, type Json, scheme } from '../harness/documents.ts'
import { failureOf } from '../harness/failure.ts'
import { redirectTo, routes } from '../harness/scripted.ts'
import { unchecked } from '../harness/unchecked.ts'
import { DATA, entries, SIGN_URL, SIGNED, secrets, TOKEN_URL, victim } from '../harness/victim.ts'

const F = `${DATA}f.tif`
const { key } = entries
const token = { ...bearer(secrets.bearer.value, DATA), id: 'token' }
const wide = { ...key, id: 'wide', name: 'x-wide', sendTo: 'https://*.victim.example/' }
const all = Object.values(secrets)

/** An asset that says nothing about authentication. */
const silent = (href: unknown, members: Json = {}): Target =>
  found(assetOf(item(undefined, { data: { href, ...members } }), 'data', { url: 'https://catalog.example/x.json' }))

/** The id of the credential that was selected, `-` for none, or the code of the refusal; and what `explain` says of the same. */
async function outcomeOf(target: Target, credentials: unknown, options: Json = { byAddress: true }) {
  const { auth, script } = victim({ credentials: credentials as CredentialInput[], ...options })
  const { byAddress } = await auth.explain(target)
  expect(script.sent).toEqual([])
  const told = byAddress?.used ? (byAddress.code ?? byAddress.credential) : '-'
  const done = await auth.authorize(target).then(
    ({ credential = '-', ref, scheme: type }) => {
      expect([ref, type]).toEqual([undefined, undefined])
      return credential
    },
    ({ code }) => code,
  )
  return { told, done, sent: script.sent }
}

describe('a target without references', () => {
  it('gets no credential unless the user opts in, and explain says which one covers it', async () => {
    const { auth, script } = victim({ credentials: [key] })
    expect(await auth.authorize(silent(F))).toMatchObject({ url: F, headers: {} })
    await auth.fetch(silent(F))
    expect(script.sent.map(({ headers }) => headers)).toEqual([{}])
    expect(await auth.explain(silent(F))).toMatchObject({ refs: [], byAddress: { credential: 'key', used: false } })
    expect(await auth.explain(silent('https://evil.example/'))).not.toHaveProperty('byAddress')
  })

  it('gets the credential that covers its URL with byAddress, in every call that takes a target', async () => {
    const { auth, script } = victim({ credentials: [key], byAddress: true })
    expect(await auth.authorize(silent(F))).toMatchObject({ credential: 'key', headers: { 'x-api-key': secrets.key.value } })
    expect(auth.peek(silent(F))).toMatchObject({ credential: 'key' })
    await auth.fetch(silent(F))
    await auth.send(silent(F))
    await auth.fetchFor(silent(`${DATA}store.zarr`))(`${DATA}store.zarr/0`)
    await auth.fetchFor(silent(`${DATA}store.zarr`))('https://evil.example/0')
    expect(script.sent.map(({ headers }) => headers['x-api-key'])).toEqual([...Array(3).fill(secrets.key.value), undefined])
    expect(leaks(all, { evil: JSON.stringify(script.to('evil.example')) })).toEqual([])
  })

  it('gets a credential that says so by itself, and no other one', async () => {
    const own = { ...key, use: 'by-address' }
    expect(await outcomeOf(silent(F), [token, own], {})).toMatchObject({ told: 'key', done: 'key' })
    expect(await outcomeOf(silent(F), [token, key], {})).toMatchObject({ told: '-', done: '-' })
  })

  it('the name of a provider changes nothing: neither where a credential is used nor where it is sent', async () => {
    const named = { ...key, provider: 'copernicus' }
    const file = 'https://zipper.dataspace.copernicus.eu/a'
    expect(await outcomeOf(silent(F), [named], {})).toMatchObject({ told: '-', done: '-' })
    expect(await outcomeOf(silent(F), [named])).toMatchObject({ told: 'key', done: 'key' })
    expect(await outcomeOf(silent(file), [{ ...named, use: 'by-address' }])).toMatchObject({ told: '-', done: '-' })
  })

  it('a target without references is refused for another value of use', async () => {
    const { auth } = victim({ credentials: [{ ...key, use: 'always' } as never] })
    expect(await failureOf(auth.ready())).toMatchObject({ code: 'CONFIG_INVALID', pointer: '/credentials/0/use' })
  })

  it.each<[string, unknown[], string]>([
    ['the narrowest pattern', [wide, key], 'key'],
    ['the narrowest pattern, whatever the type', [wide, { ...entries.oauth, sendTo: `${DATA}private/` }, token], 'token'],
    ['the earlier one of two types that are equally narrow', [token, key], 'token'],
    ['the earlier one of two types that are equally narrow', [key, token], 'key'],
    ['none whose pattern ends before it', [{ ...key, sendTo: `${DATA}private/` }], '-'],
  ])('selects %s', async (_name, credentials, id) => {
    expect(await outcomeOf(silent(F), credentials)).toMatchObject({ told: id, done: id })
  })

  it('selects a preferred credential first', async () => {
    expect(await outcomeOf(silent(F), { credentials: [key, wide], preferred: ['wide'] })).toMatchObject({ told: 'wide', done: 'wide' })
  })

  it('reports that a login is needed instead of asking without it', async () => {
    const { told, done, sent } = await outcomeOf(silent(F), [entries.login])
    expect([told, done, sent]).toEqual(['LOGIN_REQUIRED', 'LOGIN_REQUIRED', []])
    const { auth } = victim({ credentials: [entries.login], byAddress: true })
    expect((await auth.explain(silent(F))).byAddress).toMatchObject({ code: 'LOGIN_REQUIRED', credential: entries.login.id })
  })

  it('a target without references is signed by a signing API whose credential covers it', async () => {
    const { auth, script } = victim({ credentials: [entries.signer], byAddress: true })
    expect(await (await auth.fetch(silent(F))).text()).toBe('data')
    expect(script.sent.map(({ url }) => url)).toEqual([`${SIGN_URL}?href=${encodeURIComponent(F)}`, SIGNED])
    expect((await auth.fetch(silent('https://elsewhere.example/'))).status).toBe(404)
    expect(script.to('sign.victim.example')).toHaveLength(1)
  })

  it('a target without references is signed with the keys of an s3 credential whose bucket is covered', async () => {
    const store = { id: 'eo', type: 's3', accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 's', region: 'eu-central-1', sendTo: 's3://eo/' }
    expect(await outcomeOf(silent('s3://eo/a.tif'), [store])).toMatchObject({ told: 'eo', done: 'eo' })
    expect(await outcomeOf(silent('https://eo.s3.eu-central-1.amazonaws.com/a.tif'), [store])).toMatchObject({ told: 'eo', done: 'eo' })
    expect(await outcomeOf(silent('s3://eo-evil/a.tif'), [store])).toMatchObject({ told: '-', done: '-' })
    const elsewhere = { 'storage:schemes': { k: { type: 'custom-s3', platform: 'https://s3.evil.example' } } }
    const document = item(undefined, { data: { href: 's3://eo/a.tif', 'storage:refs': ['k'] } })
    const moved = found(assetOf({ ...document, properties: elsewhere }, 'data'))
    expect(await outcomeOf(moved, [store])).toMatchObject({ told: 'CREDENTIAL_TARGET_UNTRUSTED', done: 'CREDENTIAL_TARGET_UNTRUSTED' })
    const { auth } = victim({ credentials: [unchecked(store)], byAddress: true })
    expect(await failureOf(auth.authorize(moved))).toMatchObject({ pointer: '/assets/data/href' })
  })

  it('a target without references is refused when the server does not accept the credential', async () => {
    const servers = routes({ [F]: { status: 403 } })
    const { auth } = victim({ credentials: [key], byAddress: true }, servers)
    expect(await failureOf(auth.fetch(silent(F)))).toMatchObject({ code: 'AUTH_REJECTED', credential: 'key' })
  })
})

describe('catalog text cannot widen it', () => {
  it.each([
    ['a look-alike host', 'https://data.victim.example.evil.example/f.tif'],
    ['a look-alike host in front', 'https://evildata.victim.example.evil.example/f.tif'],
    ['a Cyrillic letter', 'https://d\u0430ta.victim.example/f.tif'],
    ['http:', 'http://data.victim.example/f.tif'],
    ['another port', 'https://data.victim.example:8443/f.tif'],
    ['a subdomain', 'https://sub.data.victim.example/f.tif'],
    ['a relative URL on the host of the document', './f.tif'],
    ['a bucket of that name', 's3://data.victim.example/f.tif'],
  ])('%s gets nothing', async (_name, href) => {
    const { auth, script } = victim({ credentials: [key, token, entries.cookie, entries.signer], byAddress: true })
    expect(await auth.explain(silent(href))).not.toHaveProperty('byAddress')
    await auth.fetch(silent(href)).catch(() => undefined)
    expect(leaks(all, { sent: JSON.stringify(script.sent) })).toEqual([])
    expect(script.to('sign.victim.example')).toEqual([])
  })

  it.each([
    ['https://ada@data.victim.example/f.tif', 'URL_HAS_USERINFO'],
    ['https://data.victim.example@evil.example/f.tif', 'URL_HAS_USERINFO'],
    ['https://data.victim.example\\@evil.example/f.tif', 'URL_INVALID'],
    ['https://data.victim.example./f.tif', 'URL_INVALID'],
    ['https://data.victim.example%2eevil.example/f.tif', 'URL_INVALID'],
    ['//data.victim.example/f.tif', 'URL_INVALID'],
    ['https://127.0.0.1/f.tif', 'URL_ADDRESS_FORBIDDEN'],
  ])('%s is refused', async (href, code) => {
    expect(await outcomeOf(silent(href), [key])).toMatchObject({ told: '-', done: code, sent: [] })
  })

  it.each(['private/../admin', 'private/%2e%2e/admin', 'private/..%2fadmin', 'private/..;/admin', 'PRIVATE/f'])(
    'the path %s is not below a folder that is covered',
    async (path) => {
      expect(await outcomeOf(silent(DATA + path), [{ ...key, sendTo: `${DATA}private/` }])).toMatchObject({ told: '-', done: '-' })
    },
  )

  it.each<[string, unknown, string]>([
    ['that is not defined', ['gone'], 'SCHEME_NOT_FOUND'],
    ['of another kind', ['k'], 'SCHEME_MISMATCH'],
    ['of a type that nobody knows', ['odd'], 'SCHEME_UNSUPPORTED'],
  ])('a target with a reference %s keeps its refusal', async (_name, refs, code) => {
    const schemes = { k: scheme.key('x-api-key', 'query'), odd: { type: 'odd' } }
    const target = found(assetOf(item(schemes, { data: asset(F, refs) }), 'data'))
    expect(await outcomeOf(target, [{ ...key, use: 'by-address' }])).toMatchObject({ told: '-', done: code, sent: [] })
  })

  it.each<[unknown]>([[[]], [null], [{}], [[{}]], [[1]], [true], [0]])('auth:refs of %j is a word on the target', async (refs) => {
    const target = found(assetOf(item({ k: scheme.key() }, { data: asset(F, refs) }), 'data'))
    const { auth, script } = victim({ credentials: [key], byAddress: true })
    expect((await auth.explain(target)).byAddress).toBeUndefined()
    await auth.fetch(target).catch(() => undefined)
    expect(leaks(all, { sent: JSON.stringify(script.sent) })).toEqual([])
  })

  it('an alternate is checked by its own URL, and its [] is a word as well', async () => {
    const alternates = { near: { href: F }, far: { href: 'https://evil.example/f.tif' }, free: { href: F, 'auth:refs': [] } }
    const document = item({ k: scheme.key() }, { data: asset('https://other.example/f.tif', ['k'], { alternate: alternates }) })
    const of = (name: string) => outcomeOf(found(alternateOf(document, 'data', name)), [key])
    expect(await of('near')).toMatchObject({ told: 'key', done: 'key' })
    expect(await of('far')).toMatchObject({ told: '-', done: '-' })
    expect(await of('free')).toMatchObject({ told: '-', done: '-' })
  })

  it.each<[Json, string]>([
    [{ method: 'POST' }, '/links/0/method'],
    [{ headers: { authorization: 'x' } }, '/links/0/headers'],
    [{ body: {} }, '/links/0/body'],
  ])('a link with %j gets no credential', async (members, pointer) => {
    const link = found(linkOf(catalog(undefined, { links: [{ rel: 'next', href: F, ...members }] }), 'next'))
    const { auth, script } = victim({ credentials: [key], byAddress: true })
    expect(await failureOf(auth.fetch(link))).toMatchObject({ code: 'LINK_REQUEST_FORBIDDEN', pointer })
    expect(script.sent).toEqual([])
    expect((await victim({ credentials: [key] }).auth.fetch(link)).status).toBe(200)
  })

  it('a scheme in the document selects nothing where no reference names it', async () => {
    const document = item({ k: scheme.client('https://auth.evil.example/token') }, { data: { href: F } })
    const { auth, script } = victim({ credentials: [entries.oauth], byAddress: true })
    await auth.fetch(assetOf(document, 'data'))
    expect(script.sent.map(({ url }) => url)).toEqual([TOKEN_URL, F])
  })

  it('with anonymous, a target whose references are unusable is requested without a credential', async () => {
    const target = found(assetOf(item({}, { data: asset(F, ['gone']) }), 'data'))
    const { auth, script } = victim({ credentials: [key], byAddress: true, anonymous: 'allow' })
    await auth.fetch(target)
    expect(script.sent.map(({ headers }) => headers)).toEqual([{}])
    await auth.fetch(silent(F))
    expect(script.sent.map(({ headers }) => headers)).toEqual([{}, { 'x-api-key': secrets.key.value }])
  })

  it('a URL without encryption gets a credential only where the user wrote its origin', async () => {
    const local = { ...key, id: 'local', sendTo: 'http://127.0.0.1:8080/data/' }
    expect(await outcomeOf(silent('http://127.0.0.1:8080/data/f'), [local])).toMatchObject({ told: 'local', done: 'local' })
    expect(await outcomeOf(silent('http://127.0.0.1:8081/data/f'), [local])).toMatchObject({ told: '-', done: 'URL_ADDRESS_FORBIDDEN' })
    const typed = ['http://127.0.0.1:8081/elsewhere']
    expect(await outcomeOf(silent('http://127.0.0.1:8081/data/f'), [local], { byAddress: true, typed })).toMatchObject({
      told: '-',
      done: '-',
    })
  })

  it.each<[string, Json]>([
    ['token endpoint', { ...entries.oauth, tokenUrl: 'http://127.0.0.1:9000/token' }],
    ['issuer', { ...entries.oauth, tokenUrl: undefined, issuer: 'http://127.0.0.1:9000/realm' }],
  ])('a private address that the user wrote as a %s may be requested, and no other one', async (_name, credential) => {
    expect(await outcomeOf(silent('http://127.0.0.1:9000/f'), [credential])).toMatchObject({ told: '-', done: '-' })
    expect(await outcomeOf(silent('http://127.0.0.1:9001/f'), [credential])).toMatchObject({ done: 'URL_ADDRESS_FORBIDDEN' })
  })
})

describe('a redirect of a target without references', () => {
  const EVIL = 'https://evil.example/'
  const fetched = async (href: string, replies: Parameters<typeof routes>[0], credentials: unknown = [key, token]) => {
    const script = routes(replies)
    const { auth } = victim({ credentials: credentials as CredentialInput[], byAddress: true }, script)
    const outcome = await auth.fetch(silent(href)).then(
      ({ status }) => status,
      ({ code }) => code,
    )
    return { outcome, script }
  }

  it('a redirect of a target without references to another host is followed without the credential', async () => {
    const { script, outcome } = await fetched(F, { [F]: redirectTo(`${EVIL}g`), [`${EVIL}g`]: { body: 'ok' } })
    expect(outcome).toBe(200)
    expect(leaks(all, { evil: JSON.stringify(script.to('evil.example')) })).toEqual([])
  })

  it('each redirect hop is checked by its URL: back on a covered host it carries the credential again', async () => {
    const { script } = await fetched(F, { [F]: redirectTo(`${EVIL}g`), [`${EVIL}g`]: redirectTo(`${DATA}h`), [`${DATA}h`]: { body: 'ok' } })
    expect(script.sent.map(({ headers }) => 'x-api-key' in headers)).toEqual([true, false, true])
  })

  it('a redirect from a host that is not covered cannot widen what a covered host gets', async () => {
    const body = { [`${EVIL}f`]: redirectTo(`${DATA}h?x=1`), [`${DATA}h`]: { body: 'ok' } }
    const { script } = await fetched(`${EVIL}f`, body)
    expect(script.sent.map(({ method, body: sentBody, headers }) => [method, sentBody, Object.keys(headers)])).toEqual([
      ['GET', undefined, []],
      ['GET', undefined, ['x-api-key']],
    ])
    expect(leaks(all, { evil: JSON.stringify(script.to('evil.example')) })).toEqual([])
  })

  it.each([
    ['without encryption', 'http://data.victim.example/f.tif', 'REDIRECT_DOWNGRADE'],
    ['with user info', 'https://ada@data.victim.example/g', 'REDIRECT_INVALID'],
    ['to a bucket', 's3://eo/a', 'REDIRECT_INVALID'],
    ['to a private address', 'https://10.0.0.1/g', 'URL_ADDRESS_FORBIDDEN'],
  ])('%s is refused', async (_name, location, code) => {
    const { script, outcome } = await fetched(F, { [F]: redirectTo(location) })
    expect([outcome, script.sent.length]).toEqual([code, 1])
  })

  it('a redirect of a signed URL without references gets nothing more, not even on a covered host', async () => {
    const { script } = await fetched(F, { [SIGN_URL]: { body: { href: SIGNED } }, [SIGNED]: redirectTo(`${DATA}h`), [`${DATA}h`]: {} }, [
      entries.signer,
      { ...key, sendTo: `${DATA}h` },
    ])
    expect(script.sent.map(({ url }) => new URL(url).pathname)).toEqual(['/v1/sign', '/signed/f.tif', '/h'])
    expect(leaks(all, { sent: JSON.stringify(script.sent) })).toEqual([])
  })
})

import { describe, expect, it } from 'vitest'
import { requestsFor } from '../../src/adapters/requests.ts'
import type { StacReference } from '../../src/adapters/stac-js.ts'
import type { AuthError } from '../../src/errors.ts'
import { alternateOf, assetOf, linkOf, type Target, targetsOf } from '../../src/stac/target.ts'
import { asset, found, item, type Json, scheme } from '../harness/documents.ts'
import { failureOf } from '../harness/failure.ts'
import { DATA, victim } from '../harness/victim.ts'

const F = `${DATA}f.tif`
const SCHEMES = { k: scheme.key() }
const data = (refs: unknown, href = F) => found(assetOf(item(SCHEMES, { data: asset(href, refs) }), 'data'))

/** Values that name no scheme, and where the first of them is reported. */
const MALFORMED: readonly (readonly [refs: unknown, below: string])[] = [
  [[{}], '/0'],
  [[1], '/0'],
  [[null], '/0'],
  [[true, 'gone'], '/0'],
  [[['k']], '/0'],
  [[[]], '/0'],
  [{}, ''],
  [{ 0: 'k', length: 1 }, ''],
  [true, ''],
  [false, ''],
  [0, ''],
  [null, ''],
  ['', ''],
]

describe('auth:refs that cannot be read', () => {
  it.each(MALFORMED)('refuses %j in every call and sends nothing', async (refs, below) => {
    const wanted = data(refs)
    const expected = {
      code: 'SCHEME_INVALID',
      pointer: `/assets/data/auth:refs${below}`,
      message: expect.stringContaining('Nothing was sent'),
    }
    const { auth, script } = victim()
    const calls = [() => auth.authorize(wanted), () => auth.fetch(wanted), () => auth.send(wanted), () => auth.fetchFor(wanted)(`${F}/0/0`)]
    for (const call of calls) {
      const error = (await failureOf(call())) as AuthError
      expect([error, ...(error.reasons ?? [])]).toContainEqual(expect.objectContaining(expected))
    }
    expect(auth.peek(wanted)).toBeUndefined()
    const { refs: explained } = await auth.explain(wanted)
    expect(explained).toContainEqual(expect.objectContaining(expected))
    expect(script.sent).toEqual([])
  })

  it.each(MALFORMED)('requests %j without credentials when the caller allows it', async (refs) => {
    const { auth, script } = victim({ anonymous: 'allow' })
    expect((await auth.fetch(data(refs))).status).toBe(200)
    expect(script.sent.map(({ headers }) => headers)).toEqual([{}])
  })

  it('refuses an http: URL as for any protected target', async () => {
    expect(await failureOf(victim().auth.authorize(data([{}], 'http://data.victim.example/f.tif')))).toMatchObject({ code: 'URL_INSECURE' })
  })

  it.each<[string, unknown[]]>([
    ['before', [{}, 'k']],
    ['behind', ['k', 1, null]],
  ])('uses a good name %s a malformed one, and explains the malformed one', async (_place, refs) => {
    const { auth, script } = victim()
    expect(await auth.authorize(data(refs))).toMatchObject({ ref: 'k', credential: 'key' })
    const { refs: explained } = await auth.explain(data(refs))
    expect(explained[0]).toEqual({ ref: 'k', scheme: 'apiKey', credential: 'key' })
    expect(explained.slice(1).map(({ code }) => code)).toEqual(refs.slice(1).map(() => 'SCHEME_INVALID'))
    expect(script.sent).toEqual([])
  })

  it('returns the malformed reference as a reason when the good name is unusable', async () => {
    const error = (await failureOf(victim({ credentials: [] }).auth.authorize(data(['k', {}])))) as AuthError
    expect(error.code).toBe('NO_CREDENTIAL')
    expect(error.reasons).toMatchObject([{ code: 'SCHEME_INVALID', pointer: '/assets/data/auth:refs/1' }])
  })

  it('shows a short form of the value where a name would be', async () => {
    const { refs } = await victim().auth.explain(data([{}, 1, { long: 'x'.repeat(1000) }]))
    expect(refs.map(({ ref }) => ref)).toEqual(['{}', '1', `{"long":"${'x'.repeat(31)}…`])
  })

  it('returns a hundred malformed references at most', () => {
    expect(data(Array.from({ length: 300_000 }, () => ({}))).malformedRefs).toHaveLength(100)
  })

  it('unreadable auth:refs are inherited by an alternate on the same origin, and not by one elsewhere', async () => {
    const alternate = { near: { href: `${DATA}g.tif` }, far: { href: 'https://public.example/g.tif' }, none: { href: F, 'auth:refs': [] } }
    const document = item(SCHEMES, { data: asset(F, [{}], { alternate }) })
    const { auth } = victim()
    const expected = { code: 'SCHEME_INVALID', pointer: '/assets/data/auth:refs/0' }
    expect(await failureOf(auth.authorize(alternateOf(document, 'data', 'near')))).toMatchObject(expected)
    expect(await auth.authorize(alternateOf(document, 'data', 'far'))).toMatchObject({ headers: {} })
    expect(await auth.authorize(alternateOf(document, 'data', 'none'))).toMatchObject({ headers: {} })
  })

  it('auth:refs that cannot be read are in every kind of target that targetsOf gives', () => {
    const malformed = { href: F, 'auth:refs': {} }
    const document = item(
      SCHEMES,
      { data: { ...malformed, alternate: { other: malformed } } },
      { links: [{ rel: 'next', ...malformed }], item_assets: { i: malformed } },
    )
    const pointers = [...targetsOf(document)].map(({ refs, malformedRefs }: Target) => [refs.length, malformedRefs?.[0]?.pointer])
    expect(pointers).toEqual([
      [0, '/assets/data/auth:refs'],
      [0, '/assets/data/alternate/other/auth:refs'],
      [0, '/item_assets/i/auth:refs'],
      [0, '/links/0/auth:refs'],
    ])
  })

  it('auth:refs that cannot be read refuse a link with a body before anything else is asked', async () => {
    const document = item(SCHEMES, {}, { links: [{ rel: 'next', href: F, body: {}, 'auth:refs': [{}] }] })
    expect(await failureOf(victim().auth.authorize(linkOf(document, 'next')))).toMatchObject({ code: 'LINK_REQUEST_FORBIDDEN' })
  })

  it('auth:refs that cannot be read refuse the request of an adapter', async () => {
    const document: Json = item(SCHEMES, { data: asset(F, [1]) })
    const context = { getAbsoluteUrl: () => `${DATA}item.json`, toJSON: () => document }
    const reference: StacReference = { isAsset: true, getKey: () => 'data', getContext: () => context }
    const { fetch, peek } = requestsFor(victim().auth, reference)
    expect(await failureOf(fetch(F))).toMatchObject({ code: 'SCHEME_INVALID' })
    expect(peek()).toBeUndefined()
  })
})

describe('auth:refs of a scheme that cannot be read', () => {
  const chained = (refs: unknown) => found(assetOf(item({ k: { ...scheme.key(), 'auth:refs': refs } }, { data: asset(F) }), 'data'))

  it.each(MALFORMED.filter(([refs]) => !Array.isArray(refs) || !refs.includes('gone')))(
    'refuses the scheme for %j',
    async (refs, below) => {
      const { auth, script } = victim()
      const pointer = `/properties/auth:schemes/k/auth:refs${below}`
      expect(await failureOf(auth.authorize(chained(refs)))).toMatchObject({ code: 'SCHEME_INVALID', pointer, ref: 'k' })
      expect(script.sent).toEqual([])
    },
  )
})

import { describe, expect, it } from 'vitest'
import { createAuth } from '../../src/auth/create-auth.ts'
import { Secret } from '../../src/auth/credential.ts'
import { readCredentials } from '../../src/auth/parse-credentials.ts'
import { loadStrategies } from '../../src/auth/strategy.ts'
import { defaultStrategies } from '../../src/strategies/index.ts'
import { type Canary, canary, cloned, leaks, shown } from '../harness/canary.ts'
import { scheme, target } from '../harness/documents.ts'
import { failureOf } from '../harness/failure.ts'
import { FakeClock } from '../harness/fake-clock.ts'
import { type Reply, routes } from '../harness/scripted.ts'
import { DATA, entries, honestServers, SIGN_URL, secrets, TOKEN_URL, victim } from '../harness/victim.ts'

const F = `${DATA}f.tif`
const all = Object.values(secrets)

/** Every way in which a value can be printed, and what of it a clone keeps. */
const texts = (value: unknown) => ({ shown: shown(value), clone: cloned(value), template: `${value}`, joined: [value].join() })

describe('a secret', () => {
  it.each<[string, (one: Canary) => Secret]>([
    ['made from text', ({ value }) => new Secret(value)],
    ['made from a function', ({ value }) => new Secret(() => value)],
    ['made from a promise', ({ value }) => new Secret(async () => value)],
  ])('%s prints as [secret], in whatever it stands', async (_name, make) => {
    const one = canary('secret')
    const secret = make(one)
    expect(String(secret)).toBe('[secret]')
    expect(JSON.stringify({ secret })).toBe('{"secret":"[secret]"}')
    for (const holder of [secret, { secret }, [secret], new Map([['a', secret]]), new Error('x', { cause: secret })]) {
      expect(leaks([one], texts(holder))).toEqual([])
    }
    expect(await secret.reveal()).toBe(one.value)
  })

  it('reports whether it was given as text', () => {
    expect(new Secret('a').isText).toBe(true)
    expect(new Secret(() => 'a').isText).toBe(false)
  })

  it.each([[null], ['text'], [{ reveal: () => 'text' }], [JSON.parse('{"stac-auth.secret":true}')]])(
    'a secret is not made from %j',
    (value) => {
      expect(Secret.from(value)).toBeUndefined()
    },
  )
})

describe('O22 nothing that is returned or thrown shows a secret', () => {
  it('credentials and engines', async () => {
    const credentials = readCredentials(Object.values(entries), await loadStrategies(defaultStrategies))
    expect(leaks(all, texts(credentials))).toEqual([])
    expect(leaks(all, texts(createAuth({ credentials: Object.values(entries) })))).toEqual([])
  })

  it('explanations, before and after tokens were got', async () => {
    const { auth } = victim()
    const targets = [
      target(scheme.client(TOKEN_URL), F),
      target(scheme.key(), F),
      target(scheme.signed(SIGN_URL), F),
      target(scheme.key(), 'https://evil.example/'),
    ]
    for (const wanted of targets) {
      expect(leaks(all, texts(await auth.explain(wanted)))).toEqual([])
      await auth.authorize(wanted).catch(() => {})
      expect(leaks(all, texts(await auth.explain(wanted)))).toEqual([])
    }
  })

  const echo = (request: unknown): Reply => ({
    status: 401,
    body: JSON.stringify(request),
    headers: { 'www-authenticate': `Bearer error="invalid_token", realm="${secrets.key.value}"` },
  })

  it.each([
    ['a token', scheme.client(TOKEN_URL)],
    ['a key in a header', scheme.key()],
    ['a key in the query', scheme.key('key&admin=1#', 'query')],
    ['a key in a cookie', scheme.key('session', 'cookie')],
    ['a signed address', scheme.signed(SIGN_URL)],
  ])('a refusal of %s by a server that repeats everything', async (_name, k) => {
    const { auth } = victim(
      {},
      routes({
        [TOKEN_URL]: { body: { access_token: secrets.token.value, token_type: 'Bearer' } },
        [SIGN_URL]: { body: { href: `${DATA}s?sig=${secrets.bearer.value}` } },
        [`${DATA}s`]: echo,
        [F]: echo,
      }),
    )
    const error = await failureOf(auth.fetch(target(k, F)))
    expect(error).toMatchObject({ code: 'AUTH_REJECTED' })
    expect(leaks(all, texts(error))).toEqual([])
  })

  it.each([TOKEN_URL, SIGN_URL])('a failure of %s that repeats everything', async (failing) => {
    const servers = routes({ [failing]: (request) => ({ status: 500, body: JSON.stringify(request) }) })
    const { auth } = victim({ clock: new FakeClock({ waits: 'skipped' }) }, servers)
    const k = failing === TOKEN_URL ? scheme.client(TOKEN_URL) : scheme.signed(SIGN_URL)
    expect(leaks(all, texts(await failureOf(auth.fetch(target(k, F)))))).toEqual([])
  })

  it('an authorized request says by structure what of it is secret', async () => {
    const { auth } = victim({}, honestServers())
    for (const k of [scheme.client(TOKEN_URL), scheme.key(), scheme.key('key&admin=1#', 'query'), scheme.key('session', 'cookie')]) {
      const { secretIn, url, headers, ...rest } = await auth.authorize(target(k, F))
      const open = Object.fromEntries(Object.entries(headers).filter(([name]) => !secretIn.headers.includes(name)))
      expect(leaks(all, texts({ rest, open, url: secretIn.url ? '' : url }))).toEqual([])
    }
  })
})

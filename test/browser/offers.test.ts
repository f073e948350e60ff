/** Which of the credentials that a page offers a refused request lacks. */
import { expect, it, onTestFinished } from 'vitest'
import { bearer } from '../../src/auth/credential.ts'
import type { Strategy } from '../../src/auth/strategy.ts'
import { createLiveAuth, type LiveAuthOptions } from '../../src/browser/live-auth.ts'
import { apiKey } from '../../src/strategies/api-key.ts'
import { target } from '../harness/documents.ts'
import { failureOf } from '../harness/failure.ts'
import { script } from '../harness/scripted.ts'
import { DATA, entries, secrets } from '../harness/victim.ts'

const F = `${DATA}f.tif`
const key = { id: 'key', type: 'apiKey', in: 'header', name: 'x-api-key', sendTo: DATA }
const account = { id: 'account', type: 'http', scheme: 'basic', username: 'guest', sendTo: [DATA] }
const token = { ...key, id: 'token', in: 'query', name: 'token' }
const offers = [key, account, token, { ...key, id: 'second' }, { ...key, id: 'elsewhere', sendTo: 'https://else.example/' }]
const keyed = target({ type: 'apiKey', in: 'header', name: 'x-api-key' }, F)
const tokened = target({ type: 'apiKey', in: 'query', name: 'token' }, F)
const ofAccount = target({ type: 'http', scheme: 'basic' }, F)

function page(options: Partial<LiveAuthOptions> = {}) {
  const { send } = script(({ headers, url }) => ({ status: url === F && headers['x-api-key'] === secrets.key.value ? 200 : 401 }))
  const auth = createLiveAuth({ credentials: [], offers, anonymous: 'allow', transport: send, tabs: false, ...options })
  onTestFinished(() => auth.credentials.close())
  return { auth, wanted: () => auth.credentials.needs().map(({ credential }) => credential) }
}

it('is the one that suits the references of the target, of several for its host', async () => {
  const { auth, wanted } = page()
  expect(await failureOf(auth.fetch(ofAccount))).toMatchObject({ code: 'NO_CREDENTIAL' })
  expect(wanted()).toEqual(['account'])
  expect(await failureOf(auth.fetchFor(keyed)(`${DATA}other.tif`))).toMatchObject({ code: 'NO_CREDENTIAL' })
  expect(wanted()).toEqual(['account', 'key'])
  await auth.credentials.add(entries.key)
  expect(await failureOf(auth.fetch(tokened))).toMatchObject({ code: 'SCHEME_MISMATCH' })
  expect(wanted()).toEqual(['account', 'token'])
})

it('may be the keys of an object store', async () => {
  const bucket = { id: 'bucket', type: 's3', region: 'eu-central-1', sendTo: DATA }
  const { auth, wanted } = page({ offers: [key, bucket] })
  await failureOf(auth.fetch(target({ type: 's3' }, F)))
  expect(wanted()).toEqual(['bucket'])
})

it('is none for a scheme that no offer suits, or on another host', async () => {
  const { auth, wanted } = page()
  await failureOf(auth.fetch(target({ type: 'apiKey', in: 'query', name: 'other' }, F)))
  await failureOf(auth.fetch(target({ type: 'http', scheme: 'basic' }, 'https://hostile.example/f.tif')))
  expect(wanted()).toEqual([])
})

it('is the preferred one for a URL and for a scheme that several suit, and stays preferred once it was added', async () => {
  const { auth, wanted } = page({ credentials: { credentials: [], preferred: ['second', 'account'] } })
  expect((await auth.fetch(F)).status).toBe(401)
  await failureOf(auth.fetch(keyed))
  expect(wanted()).toEqual(['second'])
  await auth.credentials.add({ ...entries.key, value: 'wrong' })
  await auth.credentials.add({ ...entries.key, id: 'second' })
  expect(await auth.service(DATA)).toMatchObject({ credential: 'second' })
  expect((await auth.fetch(keyed)).status).toBe(200)
})

it('is preferred to a credential that the server refused', async () => {
  const { auth, wanted } = page({ credentials: { credentials: [{ ...bearer('expired', DATA), id: 'bearer' }], preferred: ['key'] } })
  expect(await failureOf(auth.fetch(F))).toMatchObject({ code: 'AUTH_REJECTED' })
  expect(wanted()).toEqual(['key'])
})

it('is the login of the page, unless an offer is preferred to it', async () => {
  const { oidc } = entries
  for (const [preferred, wanted] of [
    [['key', 'oidc'], 'key'],
    [['oidc', 'key'], 'oidc'],
    [[], 'oidc'],
  ] as const) {
    const shown = page({ credentials: { credentials: [oidc], preferred } })
    await failureOf(shown.auth.fetch(F))
    expect(shown.wanted()).toEqual([wanted])
  }
})

it('must exist: another id in the order of preference is an error', async () => {
  const { auth } = page({ credentials: { credentials: [], preferred: ['okey'] } })
  expect(await failureOf(auth.ready())).toMatchObject({ code: 'CONFIG_INVALID', pointer: '/preferred/0' })
})

it('is looked for with one engine for each offer, however many requests are refused', async () => {
  let asked = 0
  const counting: typeof apiKey = {
    ...apiKey,
    schemeOf: (credential) => {
      asked++
      return apiKey.schemeOf(credential)
    },
  }
  const { auth, wanted } = page({ offers: [token, key], strategies: [counting as Strategy] })
  const tile = (index: number) => failureOf(auth.fetchFor(keyed)(`${DATA}tile-${index}`))
  await tile(0)
  expect(wanted()).toEqual(['key'])
  const first = asked
  expect(first).toBeGreaterThan(0)
  await Promise.all(Array.from({ length: 20 }, (_, index) => tile(index + 1)))
  expect(asked).toBe(first)
  auth.credentials.typed('http://localhost:8080/')
  await tile(0)
  expect(asked).toBe(2 * first)
})

/**
 * Each secret goes to the origins of its credential and to no other: fifty URLs, five ways to write `sendTo`, eight forms of secrets, and
 * every way to request a URL. Servers repeat what they were sent, so everything that comes back is searched for secrets as well.
 */
import { inspect } from 'node:util'
import { describe, expect, it, vi } from 'vitest'
import { AuthError } from '../../src/errors.ts'
import type { HttpRequest } from '../../src/http/message.ts'
import { type Canary, leaks } from '../harness/canary.ts'
import { target } from '../harness/documents.ts'
import type { Sent } from '../harness/scripted.ts'
import { allowedPlacesOf, engineOf, examine, type Problems, textsIn, withoutTraces } from './examine.ts'
import { type Material, materials } from './materials.ts'
import { ALLOWED, type Allowed, READ_BY_PARSERS, URLS } from './origins.ts'
import { type Cell, HANDED, OTHER, SENDING, START } from './ways.ts'

/** Ways in which only a scheme of the document selects an `s3` credential, and where a key in the query may already be in the URL. */
const BY_REFERENCE = new Set(['fetch of a target', 'send of a target', 'fetchFor of a target', 'requestsFor', 'authorize'])

async function runAll(material: Material, by: Allowed, refuses: boolean): Promise<Problems> {
  const problems: Problems = { list: [], carried: new Set() }
  const { auth, servers: all, told } = engineOf(material, by, refuses)
  const sent = all.sent as Sent[]
  // What a service worker leaves to the page; nothing in it comes from the library.
  const ofPage: HttpRequest[] = []
  vi.stubGlobal('fetch', (input: Request) => {
    ofPage.push({ method: 'GET', url: String(input.url ?? input), headers: Object.fromEntries(input.headers ?? []) })
    return Promise.reject(new TypeError('page: not reachable'))
  })
  await auth.ready()
  for (const [url] of URLS) {
    const cell: Cell = { auth, url, target: target(material.scheme, url), send: all.send }
    for (const [way, run] of Object.entries({ ...SENDING, ...OTHER })) {
      const outcome = await run(cell).catch((error: unknown) => error)
      examine(material, by, way, url, [...sent.splice(0), ...ofPage.splice(0)], outcome, problems)
    }
    for (const [way, run] of Object.entries(HANDED)) {
      const handed: Pick<HttpRequest, 'url' | 'headers'>[] = []
      const error = await run(cell).then(
        (request) => void (request && handed.push(request)),
        (thrown: unknown) => thrown,
      )
      examine(material, by, way, url, [...sent.splice(0), ...handed], error, problems)
    }
    problems.list.push(...leaks(material.secrets, { [`warnings and uses of ${url}`]: textsIn(told.splice(0)) }))
  }
  vi.unstubAllGlobals()
  return problems
}

/** The ten encodings, written here once more. */
const ENCODED: Readonly<Record<string, (secret: string) => string>> = {
  'it is': (secret) => secret,
  'percent encoding': encodeURIComponent,
  'percent encoding in lower case': (secret) => encodeURIComponent(secret).replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
  'a form': (secret) => new URLSearchParams([['a', secret]]).toString(),
  base64: (secret) => Buffer.from(`{"token":"${secret}"}`).toString('base64'),
  base64url: (secret) => Buffer.from(`xx${secret}y`).toString('base64url'),
  'base64 of an account': (secret) => Buffer.from(`ada:${secret}`).toString('base64'),
  'a JSON string': (secret) => JSON.stringify({ secret }),
  'hexadecimal digits': (secret) => Buffer.from(secret).toString('hex').toUpperCase(),
  'text that Node quotes': (secret) => inspect({ secret }),
}

const WAYS = Object.keys(ALLOWED) as Allowed[]
const cells = materials().flatMap((material, row) =>
  WAYS.map((by, column) => ({ by, material, name: material.name, isFirst: (row + column) % WAYS.length === 0 })),
)

describe.each(cells)('$name that may be sent to $by', ({ by, material, isFirst }) => {
  it('goes there and nowhere else', async () => {
    const { list, carried } = await withoutTraces(() => runAll(material, by, false))
    expect(list.slice(0, 5)).toEqual([])
    const places = [...allowedPlacesOf(by)].filter((place) => !place.startsWith(START) && !READ_BY_PARSERS[by]?.includes(place))
    for (const way of Object.keys(SENDING)) {
      if (material.credential.type === 's3' && !BY_REFERENCE.has(way)) continue
      // A key with `../` in it is refused: no client can send it unchanged.
      const isRefused = (place: string) => material.credential.type === 's3' && place.includes('..%2f')
      const missing = places.filter((place) => !carried.has(`${way} ${place}`) && !isRefused(place))
      expect([way, missing]).toEqual([way, []])
    }
  })

  // What is said of a refusal does not depend on how `sendTo` is written: here one form for each secret, at night all.
  if (!isFirst && !process.env.NIGHTLY) return
  it('is not in what comes back from a server that refuses and repeats it', async () => {
    const { list } = await withoutTraces(() => runAll(material, by, true))
    expect(list.slice(0, 5)).toEqual([])
  })
})

describe('the matrix notices', () => {
  const [, material] = materials() as readonly [Material, Material, ...Material[]]
  const [{ value }] = material.secrets as readonly [Canary]
  const problemsOf = (url: string, headers: Readonly<Record<string, string>>, outcome?: unknown) => {
    const problems: Problems = { list: [], carried: new Set() }
    examine(material, 'folder', 'a leaking way', 'https://evil.example/f', [{ url, headers }], outcome, problems)
    return problems.list
  }

  it.each(Object.entries(ENCODED))('a secret that is sent elsewhere as %s, in a URL, a field or a body', (_encoding, encode) => {
    const form = encode(value)
    expect(problemsOf(`https://evil.example/?a=${form}`, {})).toHaveLength(1)
    expect(problemsOf('https://data.victim.example/opened/f', { 'x-other': `x ${form}` })).toHaveLength(1)
    expect(problemsOf('https://data.victim.example/open/f.tif', { 'x-other': form })).toEqual([])
  })

  it.each(Object.entries(ENCODED))('a secret that comes back as %s, in a value, a message or a cause', (_encoding, encode) => {
    const form = encode(value)
    const errors = [new AuthError('NO_CREDENTIAL', form), new AuthError('NO_CREDENTIAL', 'x', { cause: new Error(form) })]
    for (const outcome of [{ body: form }, ...errors]) expect(problemsOf('https://evil.example/', {}, outcome)).not.toEqual([])
  })

  it('an error of another kind', () => {
    expect(problemsOf('https://evil.example/', {}, new RangeError('x'))).toHaveLength(1)
  })
})

it('the matrix has fifty URLs, of which each way to write sendTo allows at least two', () => {
  expect(URLS).toHaveLength(50)
  for (const by of Object.keys(ALLOWED) as Allowed[]) expect(allowedPlacesOf(by).size).toBeGreaterThanOrEqual(4)
})

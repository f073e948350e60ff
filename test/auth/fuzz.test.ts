import { describe, expect, it } from 'vitest'
import { isAuthError } from '../../src/errors.ts'
import type { StacDocument } from '../../src/stac/document.ts'
import { targetsOf } from '../../src/stac/target.ts'
import { leaks } from '../harness/canary.ts'
import { asset, catalog, collection, item, scheme, signing } from '../harness/documents.ts'
import { mutated, type Random, randomFrom } from '../harness/mutate.ts'
import { unchecked } from '../harness/unchecked.ts'
import { AUTHORIZE_URL, DATA, DISCOVERY_URL, entries, SIGN_URL, secrets, TOKEN_URL, victim } from '../harness/victim.ts'

/** Of 1000 cases each: a part takes seconds even where other programs keep the machine busy. */
const PARTS = 20
const CASES = 1000
const F = `${DATA}f.tif`

const schemes = {
  k: scheme.key(),
  q: scheme.key('key&admin=1#', 'query'),
  o: scheme.client(TOKEN_URL, { scopes: { admin: 'x' } }),
  l: scheme.oauth2({ authorizationCode: { authorizationUrl: AUTHORIZE_URL, tokenUrl: TOKEN_URL } }),
  d: scheme.oidc(DISCOVERY_URL),
  s: scheme.signed(SIGN_URL, {
    parameters: { href: { in: 'query', required: true, schema: { type: 'string', pattern: '^https', enum: [F] } }, key: { in: 'body' } },
  }),
  p: { type: 'signedUrl', flows: { a: signing('https://evil.example/'), b: signing('/sign', { method: 'POST' }) } },
  h: { ...scheme.basic, 'auth:refs': ['k', 's'] },
  c: { type: 'planetaryComputer' },
  n: { type: 'none' },
  e: { type: 's3' },
}
const refs = Object.keys(schemes)
const storage = {
  'storage:schemes': { st: { type: 'custom-s3', platform: 'https://s3.example/{bucket}', region: 'x', requester_pays: true } },
}
const alternate = { s3: { href: 's3://eo/a/b.tif', 'auth:refs': ['e'], 'storage:refs': ['st'] }, same: { href: `${DATA}g.tif` } }

const seeds: readonly unknown[] = [
  item(schemes, { data: asset(F, refs, { alternate }), s: asset(F, ['s']), o: asset(F, ['o']) }, storage),
  item(
    schemes,
    {
      open: asset('s3://open/a%20b', [], { 'storage:refs': ['st', 'host'] }),
      named: asset('s3://eo/a/b', ['e'], { 'storage:refs': ['host', 'st'] }),
    },
    {
      'storage:schemes': {
        ...storage['storage:schemes'],
        host: { type: 'aws-s3', platform: 'https://{bucket}.s3.{region}.amazonaws.com', region: 'eu-north-1' },
      },
    },
  ),
  catalog(schemes, {
    links: [
      { rel: 'next', href: F, 'auth:refs': refs, method: 'GET' },
      { rel: 'item', href: './x.json', 'auth:refs': ['h'] },
    ],
  }),
  collection(
    { k: schemes.k },
    { summaries: { 'auth:schemes': [schemes] }, item_assets: { data: asset(F, refs) }, assets: { d: asset('s3://eo/k', ['e']) } },
  ),
  {
    type: 'FeatureCollection',
    features: [item(schemes, { data: asset('f.tif', refs) }), null],
    'auth:schemes': schemes,
    links: [{ rel: 'next', href: F, 'auth:refs': ['k'] }],
  },
]

const s3 = {
  id: 'eo',
  type: 's3',
  accessKeyId: 'AKID',
  secretAccessKey: secrets.password.value,
  region: 'eu-central-1',
  sendTo: ['s3://eo/', 'https://s3.example/'],
}

/** What a caller does with a document and one of its targets. */
async function use({ auth }: ReturnType<typeof victim>, document: unknown, random: Random, problems: string[]): Promise<void> {
  const base = { url: 'https://data.victim.example/items/x.json', parents: [document as StacDocument] }
  const targets = [...targetsOf(document as StacDocument, base)]
  if (targets.length === 0) return
  const wanted = random.pick(targets)
  for (const outcome of await Promise.allSettled([auth.explain(wanted), auth.authorize(wanted), auth.fetch(wanted)])) {
    if (outcome.status === 'rejected') examine(outcome.reason, problems)
  }
}

function examine(error: unknown, problems: string[]): void {
  if (!isAuthError(error)) problems.push(`foreign: ${error instanceof Error ? error.stack : String(error)}`)
  else problems.push(...leaks(Object.values(secrets), { error: JSON.stringify(error) }))
}

describe('a mutated document', () => {
  it.each(Array.from({ length: PARTS }, (_, part) => part))(
    `makes nothing but our own errors (${CASES} cases, part %i)`,
    async (part) => {
      const random = randomFrom(20_261_121 + 2 * part)
      const problems: string[] = []
      const engine = victim({ credentials: unchecked([...Object.values(entries), s3]) })
      for (let done = 0; done < CASES && problems.length < 5; done++) {
        const document = mutated(seeds[done % seeds.length], random)
        try {
          await use(engine, document, random, problems)
        } catch (error) {
          problems.push(`thrown: ${error instanceof Error ? error.stack : String(error)}`)
        }
      }
      expect(problems).toEqual([])
    },
    60_000,
  )

  it('a mutated document is the same for the same seed', () => {
    const cases = [1, 2].map(() => {
      const random = randomFrom(7)
      return seeds.map((seed) => mutated(seed, random))
    })
    expect(cases[0]).toEqual(cases[1])
  })
})

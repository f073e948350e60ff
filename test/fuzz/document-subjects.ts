/** Documents that somebody broke: what is requested for them, where findings stand, what fixes make of them. */
import fc from 'fast-check'
import { readCredentials } from '../../src/auth/parse-credentials.ts'
import { loadStrategies } from '../../src/auth/strategy.ts'
import { isAuthError } from '../../src/errors.ts'
import { fixText } from '../../src/lint/fix/fix-text.ts'
import { lint, lintText } from '../../src/lint/index.ts'
import { locate, valueAt } from '../../src/lint/pointer.ts'
import { rewriteHrefs } from '../../src/node/gateway/rewrite.ts'
import { isObject, type StacDocument } from '../../src/stac/document.ts'
import { parseDocument } from '../../src/stac/parse-document.ts'
import { targetsOf } from '../../src/stac/target.ts'
import { defaultStrategies } from '../../src/strategies/index.ts'
import { leaks, shown } from '../harness/canary.ts'
import { asset, catalog, collection, item, scheme, signing } from '../harness/documents.ts'
import { mutated, randomFrom } from '../harness/mutate.ts'
import type { Sent } from '../harness/scripted.ts'
import { unchecked } from '../harness/unchecked.ts'
import { AUTHORIZE_URL, DATA, DISCOVERY_URL, entries, SIGN_URL, secrets, TOKEN_URL, victim } from '../harness/victim.ts'
import { damage, randomFrom as damageFrom, documents } from '../lint/damaged.ts'
import { type Subject, subject } from './run-cases.ts'

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
const all = [...Object.values(entries), s3]

const numbers = fc.tuple(fc.nat({ max: seeds.length - 1 }), fc.integer({ min: 1 }))

/** Hosts that a credential of the user names. */
const KNOWN = /^https:\/\/(?:(?:data|auth|sign)\.victim\.example|s3\.example|(?:eo\.)?s3\.eu-central-1\.amazonaws\.com)\//

/** One engine for many cases: what a document changes in it is a fault, too. */
let engine: ReturnType<typeof victim> | undefined

const selection = subject(
  'document sends secrets to the hosts of their credentials only, and its refusals show none',
  0.14,
  numbers,
  async ([seed, number]) => {
    const random = randomFrom(number)
    const document = mutated(seeds[seed], random) as StacDocument
    engine ??= victim({ credentials: unchecked(all) })
    const { auth, script } = engine
    const targets = [...targetsOf(document, { url: 'https://data.victim.example/items/x.json', parents: [document] })]
    if (targets.length === 0) return undefined
    const target = random.pick(targets)
    const outcomes = await Promise.allSettled([auth.explain(target), auth.authorize(target), auth.fetch(target)])
    const sent = (script.sent as Sent[]).splice(0)
    for (const request of sent) {
      if (KNOWN.test(request.url)) continue
      const [leak] = leaks(Object.values(secrets), { request: JSON.stringify(request) })
      if (leak) return `${leak} was sent to ${request.url}`
    }
    for (const outcome of outcomes) {
      if (outcome.status === 'fulfilled') continue
      const { reason } = outcome
      if (!isAuthError(reason)) return `threw ${reason instanceof Error ? reason.stack : String(reason)}`
      const [leak] = leaks(Object.values(secrets), { error: JSON.stringify(reason) })
      if (leak) return `${leak} ${shown(reason)}`
    }
    return undefined
  },
)

const broken = fc.tuple(fc.nat({ max: documents.length - 1 }), fc.nat(), fc.integer({ min: 0, max: 4 }), fc.constantFrom(0, 1, 2, '\t'))

function brokenText([number, seed, times, indent]: readonly [number, number, number, number | string]): string {
  const random = damageFrom(seed)
  let document: unknown = documents[number]
  for (let time = 0; time < times; time++) document = damage(document, random)
  return JSON.stringify(document, null, indent) ?? 'null'
}

const errors = (text: string) => lint(JSON.parse(text)).filter(({ severity }) => severity === 'error').length

const fixes = subject('document has no more errors after its fixes, and no fix is left to do', 0.02, broken, (how) => {
  const text = brokenText(how)
  const fixed = fixText(text, { suggestions: true })
  if (fixed.fixed.length === 0 && fixed.text !== text) return 'nothing was fixed and something changed'
  if (errors(fixed.text) > errors(text)) return `more errors than before in ${fixed.text}`
  const again = fixText(fixed.text, { suggestions: true })
  return again.fixed.length === 0 ? undefined : `fixed again: ${again.fixed.map(({ code }) => code)}`
})

/** Every pointer of a value, in the order of the text. */
function pointersOf(value: unknown, at = ''): readonly string[] {
  if (typeof value !== 'object' || value === null) return [at]
  const members = Object.entries(value)
  return [at, ...members.flatMap(([name, inner]) => pointersOf(inner, `${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`))]
}

const locator = subject(
  'value of a JSON text is found where it stands',
  0.03,
  fc.tuple(fc.jsonValue({ maxDepth: 3 }), fc.constantFrom(0, 1, 2, '\t'), fc.boolean()),
  ([value, indent, isWindows]) => {
    const text = JSON.stringify(value, null, indent).replaceAll('\n', isWindows ? '\r\n' : '\n')
    const plain = JSON.parse(text)
    const lines = text.split('\n')
    const pointers = pointersOf(plain)
    for (const [pointer, { line, column, endLine, endColumn }] of locate(text, pointers)) {
      const inside = lines.slice(line - 1, endLine)
      const last = inside.length - 1
      const whole = inside.map((one, at) => one.slice(at === 0 ? column - 1 : 0, at === last ? endColumn - 1 : undefined)).join('\n')
      if (JSON.stringify(JSON.parse(whole)) !== JSON.stringify(valueAt(plain, pointer))) return `${pointer} is found at ${whole}`
    }
    return undefined
  },
)

const noise = fc.array(
  fc.tuple(fc.nat(3000), fc.constantFrom('"', '\\', '{', '[', ']', '}', ',', ':', '\u0000', '\ud800', 'href', '\ufeff', '\\u12', '1e999')),
  { maxLength: 4 },
)
const encoder = new TextEncoder()
const gatewayUrl = 'http://127.0.0.1:8123/capability/https/data.example/x.json'
const urlFor = async (url: string) => (url.startsWith('https://data.') ? gatewayUrl : undefined)

const texts = subject(
  'text is a document or is refused without being quoted, by every reader',
  0.03,
  fc.tuple(broken, noise),
  async ([how, changes]) => {
    let text = brokenText(how)
    for (const [where, what] of changes) text = text.slice(0, where % text.length) + what + text.slice((where % text.length) + 1)
    const bytes = encoder.encode(text)
    lintText(bytes)
    if (!((await rewriteHrefs(bytes, { url: 'https://data.example/x.json', gatewayUrl, urlFor })) instanceof Uint8Array)) return 'no bytes'
    try {
      parseDocument(bytes)
    } catch (error) {
      if (!isAuthError(error)) throw error
      if (text.length > 20 && shown(error.message).includes(text.slice(0, 20))) return 'the error quotes the text'
    }
    return undefined
  },
)

const strategies = loadStrategies(defaultStrategies)

const configurations = subject(
  'list of credentials is read or refused with a pointer, without a secret in the refusal',
  0.04,
  fc.integer({ min: 1 }),
  async (number) => {
    const changed = mutated(all, randomFrom(number))
    const { read } = await reading
    try {
      read(changed)
    } catch (error) {
      if (!isAuthError(error)) throw error
      const [leak] = leaks(Object.values(secrets), { error: JSON.stringify(error) })
      if (error.code !== 'CONFIG_INVALID') return `is ${error.code}`
      // What is not even a list of objects has no place to point to.
      if (![changed].flat().every(isObject)) return leak
      return leak ?? (error.pointer === undefined ? `the refusal has no pointer: ${error.message}` : undefined)
    }
    return undefined
  },
)
const reading = Promise.resolve(strategies).then((loaded) => ({
  read: (changed: unknown) => readCredentials(unchecked(changed as typeof all), loaded),
}))

export const documentSubjects: readonly Subject[] = [selection, fixes, locator, texts, configurations]

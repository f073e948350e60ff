/** Documents in the shapes of the extension's examples, and mutants of them: the same ones for the same seed. */

import { type ExtensionVersion, isObject, type JsonObject } from '../../src/stac/document.ts'
import { randomFrom } from './damaged.ts'
import { addressOf } from './published-schemas.ts'

export interface Example {
  readonly name: string
  readonly version: ExtensionVersion
  readonly document: JsonObject
}

export interface Mutant {
  readonly example: Example
  readonly text: string
  readonly value: unknown
}

const login = {
  type: 'oauth2',
  description: 'needs a login and the token of a user',
  flows: {
    authorizationCode: {
      authorizationUrl: 'https://login.example/oauth/authorize',
      tokenUrl: 'https://login.example/oauth/token',
      refreshUrl: 'https://login.example/oauth/refresh',
      scopes: { 'read:scenes': 'Read scenes', 'write:scenes': 'Write scenes' },
    },
    clientCredentials: { tokenUrl: 'https://login.example/oauth/token', scopes: {} },
  },
}

const signing = {
  type: 'signedUrl',
  description: 'needs a signature for each file',
  flows: {
    sign: {
      method: 'POST',
      authorizationApi: 'https://sign.example/url',
      parameters: {
        bucket: { in: 'body', required: true, description: 'bucket of the asset', schema: { type: 'string', examples: ['scenes'] } },
        key: { in: 'body', required: true, schema: { type: 'string', minLength: 1 } },
        minutes: { in: 'query', required: false, schema: { type: 'integer', maximum: 60 } },
      },
      responseField: 'signed_url',
    },
  },
}

const oidc = { type: 'openIdConnect', openIdConnectUrl: 'https://login.example/.well-known/openid-configuration' }
const key = { type: 'apiKey', name: 'x-api-key', in: 'header', description: 'Ask the help desk.' }
const basic = { type: 'http', scheme: 'basic', description: 'Accounts of the archive' }
const store = { type: 's3', description: 'Keys of the object store' }
const exchange = {
  type: 'oauth2',
  'auth:refs': ['oidc'],
  flows: {
    tokenExchange: {
      tokenUrl: 'https://login.example/exchange',
      subjectTokenType: 'urn:ietf:params:oauth:token-type:id_token',
      scopes: { 'read:data': 'Read data' },
    },
  },
}

const ALTERNATES = 'https://stac-extensions.github.io/alternate-assets/v1.2.0/schema.json'
const STORAGE = 'https://stac-extensions.github.io/storage/v2.0.0/schema.json'

function base(type: string, version: ExtensionVersion, ...others: string[]): JsonObject {
  return { type, stac_version: '1.1.0', stac_extensions: [...others, addressOf(version)], id: `example-${type.toLowerCase()}` }
}

function item(version: ExtensionVersion, schemes: JsonObject, refs: string): JsonObject {
  return {
    ...base('Feature', version),
    bbox: [10, 50, 11, 51],
    geometry: { type: 'Point', coordinates: [10.5, 50.5] },
    properties: { datetime: '2026-01-01T00:00:00Z', title: 'A scene', 'auth:schemes': schemes },
    links: [
      { rel: 'self', href: 'https://catalog.example/item.json' },
      { rel: 'collection', href: 'https://catalog.example/collection.json', 'auth:refs': [refs] },
    ],
    assets: {
      data: { href: 'https://data.example/scene.tif', title: 'The scene', type: 'image/tiff', roles: ['data'], 'auth:refs': [refs] },
      thumbnail: { href: 'https://data.example/scene.png', roles: ['thumbnail'] },
    },
  }
}

function collection(version: ExtensionVersion, schemes: JsonObject, refs: readonly [string, string]): JsonObject {
  return {
    ...base('Collection', version),
    description: 'Scenes',
    license: 'other',
    extent: { spatial: { bbox: [[10, 50, 11, 51]] }, temporal: { interval: [['2026-01-01T00:00:00Z', null]] } },
    'auth:schemes': schemes,
    assets: { index: { href: 'https://data.example/index.json', roles: ['metadata'], 'auth:refs': [refs[0]] } },
    item_assets: { data: { title: 'The scene', roles: ['data'], 'auth:refs': [refs[1]] } },
    summaries: { datetime: { minimum: '2026-01-01T00:00:00Z', maximum: '2026-07-10T00:00:00Z' }, 'auth:schemes': [schemes] },
    links: [
      { rel: 'self', href: 'https://catalog.example/collection.json' },
      { rel: 'item', href: 'https://catalog.example/item.json', 'auth:refs': [refs[1]] },
    ],
  }
}

function itemWithAlternates(version: ExtensionVersion): JsonObject {
  const refs = ['oidc', 'key', 'basic']
  return {
    ...item(version, { oidc, key, basic, store, signing }, 'oidc'),
    stac_extensions: [ALTERNATES, STORAGE, addressOf(version)],
    assets: {
      data: {
        href: 'https://data.example/scene.tif',
        'auth:refs': refs,
        alternate: {
          s3: { href: 's3://scenes/scene.tif', 'storage:refs': ['store'], 'auth:refs': ['store'] },
          signed: { href: 'https://sign.example/scene.tif', 'auth:refs': ['signing'] },
        },
      },
    },
  }
}

function catalog(version: ExtensionVersion): JsonObject {
  return {
    ...base('Catalog', version),
    description: 'Scenes of several missions',
    'auth:schemes': { login, key },
    links: [
      { rel: 'root', href: 'https://catalog.example/catalog.json' },
      { rel: 'child', href: 'https://catalog.example/collection.json', 'auth:refs': ['login', 'key'] },
    ],
  }
}

const DOCUMENTS: readonly (readonly [name: string, version: ExtensionVersion, document: JsonObject])[] = [
  ['an Item of 1.0.0', '1.0.0', item('1.0.0', { login, basic }, 'login')],
  ['a Collection of 1.0.0', '1.0.0', collection('1.0.0', { login, signing }, ['signing', 'login'])],
  ['an Item of 1.1.0', '1.1.0', item('1.1.0', { login, basic }, 'login')],
  ['an Item of 1.1.0 with alternate assets', '1.1.0', itemWithAlternates('1.1.0')],
  ['a Collection of 1.1.0', '1.1.0', collection('1.1.0', { login, signing }, ['signing', 'login'])],
  ['a Catalog of 1.1.0', '1.1.0', catalog('1.1.0')],
  ['a Collection of 1.2.0 with a token exchange', '1.2.0', collection('1.2.0', { oidc, exchange }, ['exchange', 'exchange'])],
  ['an Item of 1.2.0 with alternate assets', '1.2.0', itemWithAlternates('1.2.0')],
  [
    'a FeatureCollection',
    '1.1.0',
    { type: 'FeatureCollection', features: [item('1.1.0', { oidc, key }, 'key'), item('1.1.0', { basic }, 'basic')], links: [] },
  ],
  ['a list of Collections', '1.1.0', { collections: [collection('1.1.0', { login, key }, ['key', 'login'])], links: [] }],
]

export const examples: readonly Example[] = DOCUMENTS.map(([name, version, document]) => ({ name, version, document }))

type Random = (limit: number) => number
type Container = JsonObject | unknown[]

/** A member or an element: where it stands, and by what name. */
interface Spot {
  readonly path: readonly (string | number)[]
  /** True within or beside a field of the extension. */
  readonly ours: boolean
}

const VALUES: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1.5,
  '',
  ' ',
  'x',
  'https://login.example/token',
  'http://login.example/token',
  'login.example',
  '/sign',
  '../sign?x=1',
  '<url>',
  'urn:example:x',
  'javascript:alert(1)',
  'https://a b/',
  [],
  [''],
  ['login'],
  [1, null],
  [[]],
  [{}],
  {},
  { x: {} },
  { type: 'http', scheme: 'basic' },
  { type: 'com.example.sso', flows: {} },
  { type: 5 },
  { href: 'https://data.example/x', 'auth:refs': 'key' },
]

/** Words of the extension, right ones and wrong ones. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  type: [
    'http',
    's3',
    'signedUrl',
    'oauth2',
    'apiKey',
    'openIdConnect',
    'OAuth2',
    'bearer',
    'com.example.sso',
    'Feature',
    'Catalog',
    'Item',
  ],
  in: ['query', 'header', 'cookie', 'body', 'Header', 'path'],
  scheme: ['basic', 'bearer', 'Digest', 'bearrer', ''],
  method: ['GET', 'POST', 'get', 'FETCH'],
  authorizationApi: ['/sign', '../sign', '?sign', 'sign.example/url'],
}

const FLOWS: readonly string[] = [
  ...['authorizationCode', 'implicit', 'password', 'clientCredentials', 'tokenExchange'],
  ...['authorization_code', 'accessCode', 'deviceCode', 'implicitimplicit', 'authorizationCodeimplicit', ''],
]

const NAMES: readonly string[] = [
  ...['auth:schemes', 'auth:refs', 'auth:ref', 'auth:scheme', 'auth:expiry', 'auth_refs', 'Auth:Refs', 'authorization'],
  ...['type', 'description', 'name', 'in', 'scheme', 'flows', 'openIdConnectUrl', 'href', 'rel', 'alternate', 'schema', 'required'],
  ...[
    'authorizationUrl',
    'tokenUrl',
    'refreshUrl',
    'scopes',
    'subjectTokenType',
    'method',
    'authorizationApi',
    'parameters',
    'responseField',
  ],
  ...FLOWS,
  ...[
    'properties',
    'assets',
    'item_assets',
    'links',
    'summaries',
    'features',
    'collections',
    'stac_extensions',
    '',
    'a\nb',
    '__proto__',
    'x',
  ],
]

/** Endless mutants of the examples, by turns; no text comes twice. */
export function* mutants(seed: number): Generator<Mutant> {
  const random = randomFrom(seed)
  const sources = examples.map((example) => ({ example, text: JSON.stringify(example.document), spots: spotsOf(example.document) }))
  const seen = new Set<string>()
  for (let turn = 0; ; turn++) {
    const source = sources[turn % sources.length]
    if (!source) return
    const root = [JSON.parse(source.text)] as unknown[]
    for (let times = 1 + Math.max(0, random(6) - 3); times > 0; times--) mutate(root, pick(random, source.spots), random)
    const text = doubled(JSON.stringify(root[0]) ?? 'null', random)
    if (seen.has(text) || text === source.text) continue
    seen.add(text)
    yield { example: source.example, text, value: JSON.parse(text) }
  }
}

/** Every member and element of the document, and the document; those that the extension is about three times as often as others. */
function spotsOf(document: JsonObject): Spot[] {
  const spots: Spot[] = [{ path: [0], ours: false }]
  walk(document, [0], false, spots)
  return spots.flatMap((spot) => (spot.ours ? [spot, spot, spot] : [spot]))
}

function walk(value: unknown, path: Spot['path'], within: boolean, spots: Spot[]): void {
  if (typeof value !== 'object' || value === null) return
  for (const name of Array.isArray(value) ? value.keys() : Object.keys(value)) {
    const ours = within || /^auth:|^stac_extensions$|^type$|^alternate$/.test(String(name))
    spots.push({ path: [...path, name], ours })
    walk((value as Record<string | number, unknown>)[name], [...path, name], ours && name !== 'alternate', spots)
  }
}

function pick<T>(random: Random, list: readonly T[]): T {
  return list[random(list.length)] as T
}

/** One change at the spot, unless an earlier one took it away. */
function mutate(root: unknown[], { path }: Spot, random: Random): void {
  const holder = holderOf(root, path)
  const name = path.at(-1)
  if (holder === undefined || name === undefined) return
  const change = pick(random, holder === root ? [retype] : CHANGES)
  change(holder, name, random, root)
}

function holderOf(root: unknown, path: Spot['path']): Container | undefined {
  let value = root
  for (const name of path.slice(0, -1)) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    value = (value as Record<string | number, unknown>)[name]
  }
  return Array.isArray(value) || isObject(value) ? (value as Container) : undefined
}

type Change = (holder: Container, name: string | number, random: Random, root: readonly unknown[]) => void

const CHANGES: readonly Change[] = [remove, remove, rename, rename, retype, retype, word, word, repeat, add, add, move, scratch]

function get(holder: Container, name: string | number): unknown {
  return (holder as Record<string | number, unknown>)[name]
}

function set(holder: object, name: string | number, value: unknown): void {
  Object.defineProperty(holder, name, { value, enumerable: true, writable: true, configurable: true })
}

function remove(holder: Container, name: string | number): void {
  if (Array.isArray(holder)) holder.splice(Number(name), 1)
  else delete (holder as Record<string, unknown>)[name]
}

/** Under another name, in the same place among its siblings. */
function rename(holder: Container, name: string | number, random: Random): void {
  if (Array.isArray(holder) || !Object.hasOwn(holder, name)) return
  const known = FLOWS.includes(String(name)) ? FLOWS : NAMES
  const other = pick(random, [misspelt(String(name), random), pick(random, known), pick(random, [`auth:${name}`, `${name}${name}`])])
  const members = Object.entries(holder)
  for (const [member] of members) delete (holder as Record<string, unknown>)[member]
  for (const [member, value] of members) set(holder, member === name ? other : member, value)
}

function retype(holder: Container, name: string | number, random: Random): void {
  const value = get(holder, name)
  const wrapped = [[value], { value }, String(value), JSON.stringify(value)]
  set(holder, name, structuredClone(random(3) === 0 ? pick(random, wrapped) : pick(random, VALUES)))
}

/** Another word of the extension where it has words, else an odd value. */
function word(holder: Container, name: string | number, random: Random): void {
  const words = WORDS[String(name)]
  const value = get(holder, name)
  if (words) set(holder, name, pick(random, words))
  else if (typeof value === 'string') set(holder, name, pick(random, [misspelt(value, random), addressOf('1.0.0'), addressOf('1.2.0')]))
  else set(holder, name, structuredClone(pick(random, VALUES)))
}

/** A second one: an element twice, a member beside itself under another name. */
function repeat(holder: Container, name: string | number, random: Random): void {
  const copy = structuredClone(get(holder, name))
  if (Array.isArray(holder)) holder.push(copy)
  else set(holder, pick(random, [`${name}2`, `${name}${name}`, pick(random, NAMES)]), copy)
}

/** A member more, in the holder or in the value. */
function add(holder: Container, name: string | number, random: Random): void {
  const value = get(holder, name)
  const place = isObject(value) && random(2) === 0 ? value : holder
  const given = structuredClone(pick(random, VALUES))
  if (Array.isArray(place)) place.push(given)
  else set(place, pick(random, NAMES), given)
}

/** From where it belongs to where it may not: another object of the document. */
function move(holder: Container, name: string | number, random: Random, root: readonly unknown[]): void {
  const value = get(holder, name)
  if (Array.isArray(holder) || value === undefined) return
  const objects: JsonObject[] = []
  collect(root[0], value, objects)
  if (objects.length === 0) return
  set(pick(random, objects), name, structuredClone(value))
  if (random(2) === 0) delete (holder as Record<string, unknown>)[name]
}

function collect(value: unknown, except: unknown, found: JsonObject[]): void {
  if (typeof value !== 'object' || value === null || value === except) return
  if (!Array.isArray(value)) found.push(value as JsonObject)
  for (const inner of Object.values(value)) collect(inner, except, found)
}

/** A character or an element less, or two of them swapped. */
function scratch(holder: Container, name: string | number, random: Random): void {
  const value = get(holder, name)
  if (typeof value === 'string') set(holder, name, misspelt(value, random))
  else if (Array.isArray(value)) value.reverse()
  else if (typeof value === 'number') set(holder, name, -value)
  else remove(holder, name)
}

function misspelt(original: string, random: Random): string {
  const at = random(original.length + 1)
  const changes = [
    original.slice(0, at) + original.slice(at + 1),
    `${original.slice(0, at)}x${original.slice(at)}`,
    original.toUpperCase(),
    original.toLowerCase(),
  ]
  return pick(random, changes)
}

/** Now and then a member that stands twice in the text: readers take the later one. */
function doubled(text: string, random: Random): string {
  if (random(20) > 0) return text
  const members = [...text.matchAll(/"([\w:]+)":(?="(?:[^"\\]|\\.)*")/g)]
  const member = members[random(members.length)]
  if (!member) return text
  return `${text.slice(0, member.index)}"${member[1]}":${JSON.stringify(pick(random, VALUES))},${text.slice(member.index)}`
}

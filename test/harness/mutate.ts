/** A seeded mutation of JSON documents: the same seed gives the same cases everywhere. */

export interface Random {
  /** From 0 up to, not including, `limit`. */
  below(limit: number): number
  pick<T>(from: readonly T[]): T
}

/** A generator of the xorshift family; good enough to wander through documents. */
export function randomFrom(seed: number): Random {
  let state = seed | 1
  const next = () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return state >>> 0
  }
  const below = (limit: number) => next() % limit
  return { below, pick: (from) => from[below(from.length)] as (typeof from)[number] }
}

/** Texts that trip readers: addresses, names, patterns, controls. */
const TEXTS = [
  '',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'k',
  'data',
  'header',
  'query',
  'cookie',
  'body',
  'GET',
  'POST',
  'http',
  's3',
  'signedUrl',
  'oauth2',
  'apiKey',
  'openIdConnect',
  'planetaryComputer',
  'earthdata',
  'none',
  'basic',
  'bearer',
  'digest',
  'https://data.victim.example/f.tif',
  'https://evil.example/',
  'https://data.victim.example@evil.example/',
  'http://127.0.0.1/',
  's3://eo/a%zz/%2f',
  's3://eo',
  's3:',
  's3://',
  's3://EO:80/../x',
  's3://xn--a/k',
  's3://eo/%ff?x-amz-request-payer=requester',
  'https://{bucket}.127.0.0.1/',
  'https://{bucket}.s3.{region}.amazonaws.com',
  'https://eo.s3.eu-central-1.amazonaws.com/%E0%A4%A',
  'https://s3..amazonaws.com/a',
  'file:///etc/passwd',
  'javascript:alert(1)',
  'arn:aws:s3:::x',
  '//evil',
  'https://',
  'https://[',
  'https://a%00b/',
  'https://\ud800/',
  '\ud800',
  '../x',
  '?x',
  '#x',
  '/sign',
  'https://sign.victim.example/v1/sign',
  'https://auth.victim.example/token',
  'x-api-key',
  'Host',
  'a\r\nb',
  '\u0000',
  '\u202e',
  '{bucket}',
  'https://{bucket}.{region}.x/',
  '^(a+)+$',
  '[',
  '(?<a>',
  `^${'a?'.repeat(50)}`,
  'a'.repeat(300),
]

const VALUES: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e308,
  Number.POSITIVE_INFINITY,
  Number.NaN,
  [],
  {},
  [[]],
  [null],
  { toString: 1, valueOf: 1 },
  { length: -1 },
  ['k', 'k', 5, null],
]

const NAMES = [
  'auth:schemes',
  'auth:refs',
  'assets',
  'links',
  'href',
  'type',
  'flows',
  'parameters',
  'schema',
  'pattern',
  'enum',
  'const',
  '$ref',
  'required',
  'alternate',
  'summaries',
  'item_assets',
  'properties',
  'storage:refs',
  'storage:schemes',
  'storage:platform',
  'method',
  'headers',
  'in',
  'name',
  'scheme',
  'responseField',
  'tokenUrl',
  'authorizationApi',
  '__proto__',
  'toJSON',
  'then',
]

/** A copy of the document with a few members changed, added, removed, swapped or repeated. */
export function mutated(document: unknown, random: Random): unknown {
  const copy: unknown = structuredClone(document)
  for (let changes = 1 + random.below(4); changes > 0; changes--) mutate(copy, random)
  if (random.below(20) === 0) bury(copy, random)
  return copy
}

function mutate(root: unknown, random: Random): void {
  const places: [Record<string, unknown>, string][] = []
  collect(root, places)
  if (places.length === 0) return
  const [holder, name] = random.pick(places)
  switch (random.below(5)) {
    case 0:
      remove(holder, name)
      break
    case 1:
      define(holder, random.pick(NAMES), anything(random, places))
      break
    case 2: {
      const value = holder[name]
      remove(holder, name)
      define(holder, random.pick([...NAMES, ...TEXTS]), value)
      break
    }
    default:
      define(holder, name, anything(random, places))
  }
}

function anything(random: Random, places: readonly [Record<string, unknown>, string][]): unknown {
  const kind = random.below(10)
  if (kind < 6) return random.pick(TEXTS)
  if (kind < 9) return structuredClone(random.pick(VALUES))
  const [holder, name] = random.pick(places)
  return structuredClone(holder[name])
}

/** Lists of JSON have no holes. */
function remove(holder: Record<string, unknown>, name: string): void {
  if (Array.isArray(holder)) holder.splice(Number(name), 1)
  else delete holder[name]
}

/** As `JSON.parse` would: `__proto__` is an ordinary name, and lists have indexes only. */
function define(holder: Record<string, unknown>, name: string, value: unknown): void {
  if (Array.isArray(holder)) holder[Object.hasOwn(holder, name) ? Number(name) : holder.length] = value
  else Object.defineProperty(holder, name, { value, enumerable: true, configurable: true, writable: true })
}

function collect(value: unknown, places: [Record<string, unknown>, string][]): void {
  const stack: unknown[] = [value]
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if (typeof next !== 'object' || next === null) continue
    for (const name of Object.keys(next)) {
      places.push([next as Record<string, unknown>, name])
      stack.push((next as Record<string, unknown>)[name])
    }
  }
}

/** The last change, for what is this deep cannot be copied again. */
function bury(root: unknown, random: Random): void {
  const places: [Record<string, unknown>, string][] = []
  collect(root, places)
  if (places.length === 0) return
  const [holder, name] = random.pick(places)
  define(holder, name, deep(random.below(20_000)))
}

function deep(levels: number): unknown {
  let value: unknown = 'https://data.victim.example/'
  for (let level = 0; level < levels; level++) value = level % 2 ? [value] : { flows: value }
  return value
}

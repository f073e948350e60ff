/** Seeded requests that are as odd as keys and queries may be. */

export interface Case {
  readonly key: string
  /** Path as sent, with the bucket where the style puts it. */
  readonly path: string
  readonly host: string
  readonly protocol: 'https:' | 'http:'
  readonly query: Readonly<Record<string, string | string[]>>
  readonly sessionToken?: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly region: string
  readonly now: number
  readonly headers: Readonly<Record<string, string>>
  readonly expiresIn?: number
}

const CHARACTERS = [...'aZ09-._~/ +%25!\'()*&=;:@,$?#[]{}|\\^`"<>', 'é', 'ß', '日', '本', '🛰', '\u0301', '\t', '\u007f']
const NAMES = ['prefix', 'max-keys', 'list-type', 'versionId', 'A', 'a', 'a-', 'a.b', 'ü', 'x y', 'x+y', '=', '%']
const REGIONS = ['us-east-1', 'eu-central-1', 'cn-north-1', 'RegionOne']

/** That many cases; the same seed gives the same cases. */
export function* cases(count: number, seed: number): Generator<Case> {
  const random = mulberry(seed)
  const below = (limit: number) => Math.floor(random() * limit)
  const pick = <T>(list: readonly T[]) => list[below(list.length)] as T
  const text = (limit: number) => Array.from({ length: below(limit) }, () => pick(CHARACTERS)).join('')
  for (let index = 0; index < count; index++) {
    const key = keyWithoutDots(text(24))
    const region = pick(REGIONS)
    const port = pick(['', '', ':9000', ':8443'])
    const virtual = random() < 0.5
    const host = `${virtual ? 'bucket-one.' : ''}s3.${region.toLowerCase()}.example${port}`
    yield {
      key,
      path: `/${virtual ? '' : 'bucket-one/'}${key}`,
      host,
      protocol: pick(['https:', 'https:', 'http:']),
      query: Object.fromEntries(Array.from({ length: below(5) }, () => [pick(NAMES), random() < 0.3 ? [text(4), text(4), ''] : text(8)])),
      ...(random() < 0.5 && { sessionToken: `token/${text(12).replace(/[^\x21-\x7e]/g, '+')}==` }),
      accessKeyId: `AKID${below(40)}`,
      secretAccessKey: `secret/${below(3)}`,
      region,
      now: Date.UTC(2026, below(12), 1 + below(28), below(24), below(60), below(60)),
      headers: random() < 0.3 ? { 'x-amz-checksum-mode': ' ENABLED   twice ', accept: '*/*' } : { accept: '*/*' },
      ...(random() < 0.4 && { expiresIn: 1 + below(604_800) }),
    }
  }
}

/** The address as a URL parser writes it, the query in an order of its own. */
export function urlOf({ protocol, host, path, query }: Case): string {
  const strict = (value: string) => encodeURIComponent(value)
  const pairs = Object.entries(query).flatMap(([name, value]) => [value].flat().map((one) => `${strict(name)}=${strict(one)}`))
  const search = pairs
    .reverse()
    .join('&')
    .replaceAll('%20', '+')
    .replace(/=(?=&|$)/g, pairs.length % 2 ? '' : '=')
  return new URL(`${protocol}//${host}${path.split('/').map(strict).join('/')}${search && `?${search}`}`).href
}

function keyWithoutDots(text: string): string {
  const key = text.replace(/(^|\/)\.{1,2}(?=\/|$)/g, '$1dot')
  return /(^|\/)\.{1,2}(\/|$)/.test(key) ? keyWithoutDots(key) : key
}

/** A small generator of pseudo-random numbers. */
function mulberry(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let value = Math.imul(state ^ (state >>> 15), 1 | state)
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value
    return ((value ^ (value >>> 14)) >>> 0) / 4_294_967_296
  }
}

import type { CacheEntry, Session } from '../../auth/session.ts'
import { covers, parseUrlPattern, type UrlPattern } from '../../auth/url-pattern.ts'
import { isAuthError } from '../../errors.ts'
import { endOfSpan, momentOf } from '../../http/headers.ts'
import { cloudFrontPolicy } from '../../http/url-signature.ts'
import { own } from '../../stac/document.ts'
import { expiresIn } from '../credential-values.ts'

/** Finds the signed URL for a URL: its own, or one whose signature is valid for it too. */

/** The result of a signing call. */
export interface Signed {
  /** The URL that was signed, and the key of the call: two calls for one URL may have different parameters. */
  readonly asked: string
  readonly call: string
  readonly address: string
  /** The signature, where the response holds only that: it is for every URL of the same call. */
  readonly query?: string | undefined
  readonly cover?: Cover | undefined
  /** Epoch milliseconds. */
  readonly since: number
}

/** The session keys of signed URLs. */
export interface Keys {
  readonly own: string
  /** Prefix of the keys of shared ones; absent when nothing is shared. */
  readonly shared?: string
  /** True for URLs that may use the signature of another one. */
  readonly allows: (address: string) => boolean
}

/** A signed URL for the requested one, and where it came from. */
export interface SignatureMatch {
  readonly key: string
  readonly entry: CacheEntry<Signed>
  readonly address: string
}

type SignCall = (signal: AbortSignal) => Promise<CacheEntry<Signed>>

/** Returns the signed URL that is already known. */
export function knownFor(url: string, keys: Keys, session: Pick<Session, 'get'>): SignatureMatch | undefined {
  const { shared } = keys
  const entry = session.get<Signed>(keys.own)
  if (entry) return foundIn(keys.own, entry, url, keys)
  if (shared === undefined) return undefined
  const first = session.get<Signed>(slot(shared, url, 0))
  const depth = first?.value.cover?.depth
  const found = first && foundIn(slot(shared, url, 0), first, url, keys)
  if (found || !depth) return found
  const second = session.get<Signed>(slot(shared, url, depth))
  return second && foundIn(slot(shared, url, depth), second, url, keys)
}

/**
 * Returns the signed URL, obtained when there is none. The first response for a host shows what its signatures are valid for: other calls
 * wait for it, and then for the first of their own folder. When signatures are for one URL, each gets its own.
 */
export async function obtainFor(url: string, keys: Keys, session: Session, sign: SignCall): Promise<SignatureMatch | undefined> {
  const known = knownFor(url, keys, session)
  if (known) return known
  if (keys.shared !== undefined) {
    let depth: number | undefined = 0
    do {
      const key: string = slot(keys.shared, url, depth)
      const first: CacheEntry<Signed> | undefined = await firstOf(key, session, sign)
      const found = first && foundIn(key, first, url, keys)
      if (found) return found
      depth = depth === 0 ? first?.value.cover?.depth : undefined
    } while (depth)
  }
  return foundIn(keys.own, await session.resolve(keys.own, sign), url, keys)
}

/** Returns the credential's signed URL for that URL, if it was signed for it or is valid for it. */
export function foundIn(
  key: string,
  entry: CacheEntry<Signed>,
  url: string,
  { own: ownKey, shared, allows }: Keys,
): SignatureMatch | undefined {
  const { asked, call, address, query, cover } = entry.value
  if (asked === url && call === ownKey) return { key, entry, address }
  const isForCall = query !== undefined && call === ownKey && shared !== undefined
  const opened = isForCall ? appended(url, query) : cover && openedBy(cover, url)
  return opened !== undefined && allows(opened) ? { key, entry, address: opened } : undefined
}

/** Waits for another caller's request; if it fails, the error is ignored and this caller sends its own. */
async function firstOf(key: string, session: Session, sign: SignCall): Promise<CacheEntry<Signed> | undefined> {
  let isOurs = false
  const ours: SignCall = (signal) => {
    isOurs = true
    return sign(signal)
  }
  try {
    return await session.resolve(key, ours)
  } catch (error) {
    if (isOurs || (isAuthError(error) && error.code === 'ABORTED')) throw error
    return undefined
  }
}

function slot(shared: string, url: string, depth: number): string {
  return `${shared} ${folderOf(url, depth)}`
}

/** Reads which URLs a signature is valid for, and until when, from the signature itself. */

/** How long a signed URL without an expiry is kept, in milliseconds. */
const UNKNOWN_LIFE = 5 * 60_000

/** Refreshed this long before it expires, or when half of the remaining time has passed. */
const MARGIN = 30_000

/**
 * Returns the URL with the earliest expiry that its query or the response states: `X-Amz-Date` + `X-Amz-Expires`, the same of
 * Google, `se` and `ske` of Azure, `Expires`, a policy of CloudFront, and `msft:expiry`, `expires_at`, `expires`,
 * `expires_in` of the response.
 */
export function expiryOf(address: string, answer: unknown, now: number): CacheEntry<string> {
  const query = new URL(address).searchParams
  const life = expiresIn(own(answer, 'expires_in'))
  const ends = [
    endOfSpan(query.get('X-Amz-Date'), query.get('X-Amz-Expires')),
    endOfSpan(query.get('X-Goog-Date'), query.get('X-Goog-Expires')),
    ...['se', 'ske', 'Expires'].map((name) => momentOf(query.get(name))),
    cloudFrontPolicy(query)?.end,
    ...['msft:expiry', 'expires_at', 'expires'].map((name) => momentOf(own(answer, name))),
    life && now + life * 1000,
  ].filter((end) => end !== undefined)
  if (ends.length === 0) return { value: address, refreshAt: now + UNKNOWN_LIFE }
  return ending(address, Math.min(...ends), now)
}

/** Returns the value with an earlier expiry, when the asset states one in `expires` (timestamps extension) that is in the future. */
export function endingWith<T>(entry: CacheEntry<T>, asset: unknown, now: number): CacheEntry<T> {
  const end = momentOf(own(asset, 'expires'))
  if (end === undefined || end <= now || end >= (entry.expiresAt ?? Number.POSITIVE_INFINITY)) return entry
  return ending(entry.value, end, now)
}

function ending<T>(value: T, expiresAt: number, now: number): CacheEntry<T> {
  return { value, expiresAt, refreshAt: expiresAt - Math.min(MARGIN, Math.max(0, expiresAt - now) / 2) }
}

/** A signature and the folder that it is valid for. */
export interface Cover {
  readonly folder: UrlPattern
  /** Number of segments of the folder's path: 0 is a whole host. */
  readonly depth: number
  /** The signature, as a query. */
  readonly query: string
}

/** Parameters of a shared access signature (Azure Storage, "Create a service SAS", "Create a user delegation SAS"). */
const SAS = new Set(
  'sv sr sdd st se sp sip spr si sig skoid sktid skt ske sks skv skdutid sduoid saoid suoid scid ses rscc rscd rsce rscl rsct'.split(' '),
)

/** Parameters of a signed URL with a custom policy (CloudFront). */
const CLOUD_FRONT = new Set(['Policy', 'Signature', 'Key-Pair-Id', 'Hash-Algorithm'])

/**
 * Returns what else the signature of a URL is valid for: the container (`sr=c`) or directory (`sr=d`) of a shared access signature,
 * the folder of a policy whose resource ends in `/*`. Undefined for every other one, and when the signed URL differs from
 * the requested one by more than the signature: how to sign the next one is then unknown.
 */
export function coverOf(signed: string, asked: string): Cover | undefined {
  const url = new URL(signed)
  const wanted = new URL(asked)
  if (url.origin !== wanted.origin || url.pathname !== wanted.pathname || wanted.search !== '') return undefined
  const names = [...url.searchParams.keys()]
  if (new Set(names).size !== names.length) return undefined
  const path = sasFolder(url, names) ?? policyFolder(url, names)
  const folder = path === undefined ? undefined : patternOf(url.origin + path)
  if (!folder || !covers(folder, wanted)) return undefined
  return { folder, depth: folder.path.split('/').length - 2, query: url.search }
}

/** Returns that URL with the signature, if it is below the folder on the same origin and has no query of its own. */
export function openedBy({ folder, query }: Cover, address: string): string | undefined {
  const url = new URL(address)
  if (url.search !== '' || !covers(folder, url)) return undefined
  url.search = query
  return url.href
}

/** Returns the first segments of the path, as a folder. */
function folderOf(address: string, depth: number): string {
  const { protocol, host, pathname } = new URL(address)
  const path = pathname.split('/', depth + 1).join('/')
  return `${protocol}//${host}${path}/`
}

function sasFolder({ pathname, searchParams }: URL, names: readonly string[]): string | undefined {
  if (!searchParams.has('sig') || !names.every((name) => SAS.has(name))) return undefined
  const segments = pathname.split('/').slice(1)
  const kind = searchParams.get('sr')
  // A path of one segment is an object of the root container and gives no folder.
  if (kind === 'c') return segments.length > 1 ? `/${segments[0]}/` : undefined
  const below = searchParams.get('sdd') ?? ''
  if (kind !== 'd' || !/^\d{1,3}$/.test(below)) return undefined
  const depth = 1 + Number(below)
  return segments.length >= depth ? `/${segments.slice(0, depth).join('/')}/` : undefined
}

function policyFolder({ host, searchParams }: URL, names: readonly string[]): string | undefined {
  if (!searchParams.has('Signature') || !names.every((name) => CLOUD_FRONT.has(name))) return undefined
  const [, named, path] = /^http(?:s|\*)?:\/\/([^/?*]+)(\/(?:[^?*]*\/)?)\*$/.exec(cloudFrontPolicy(searchParams)?.resource ?? '') ?? []
  return named?.toLowerCase() === host ? path : undefined
}

/** Returns undefined for paths that servers may decode in two ways. */
function patternOf(pattern: string): UrlPattern | undefined {
  try {
    return parseUrlPattern(pattern, { sharedHosts: true })
  } catch {
    return undefined
  }
}

/** Returns the URL with that query; undefined when the URL has a parameter of it already, or is not https (http for loopback hosts). */
export function appended(address: string, query: string): string | undefined {
  const url = new URL(address)
  const names = new Set(new URLSearchParams(query).keys())
  if (!/^https?:$/.test(url.protocol) || [...url.searchParams.keys()].some((name) => names.has(name))) return undefined
  url.hash = ''
  return `${url.href.replace(/[?&]$/, '')}${url.search === '' ? '?' : '&'}${query}`
}

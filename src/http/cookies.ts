/** Cookies of logins that redirect between hosts (RFC 6265): kept in memory and sent only to the origin that set them. */
import { isToken } from './headers.ts'

/**
 * Limits: longer cookies, in bytes, are ignored; above the number of cookies or origins the oldest are removed (RFC 6265 §6.1 requires at
 * least these numbers per host).
 */
const MAX_COOKIE = 4096
const MAX_COOKIES = 50
const MAX_ORIGINS = 64
/** Maximum length of the `Cookie` header in bytes, which servers accept. */
const MAX_HEADER = 8192

interface Cookie {
  readonly name: string
  readonly value: string
  readonly path: string
  /** Epoch milliseconds. */
  readonly expiresAt: number
}

/** The cookies that servers set for one credential. */
export class CookieJar {
  /** Increases when a response changes the value of a cookie, or adds or removes one. */
  version = 0
  readonly #now: () => number
  /** By origin, then by name and path. */
  readonly #origins: Map<string, ReadonlyMap<string, Cookie>>
  readonly #changed = new Set<string>()

  /** @param start the initial cookies */
  constructor(now: () => number, start?: CookieJar) {
    this.#now = now
    this.#origins = new Map(start ? start.#origins : [])
  }

  /** Copies the cookies of the origins that changed in another jar. */
  adopt(other: CookieJar): void {
    for (const origin of other.#changed) this.#set(origin, other.#origins.get(origin) ?? new Map())
  }

  /** Stores the cookies that a response of that URL sets. Invalid ones are ignored. */
  keep(url: string, fields: readonly string[]): void {
    const { origin } = new URL(url)
    const kept = new Map(this.#origins.get(origin))
    for (const field of fields) {
      const cookie = cookieOf(field, new URL(url), this.#now())
      if (cookie) this.#put(kept, cookie)
    }
    this.#set(origin, kept)
  }

  /** Returns the value of `Cookie` for a request to that URL, appended to the present one; undefined without cookies. */
  header(url: string, given: string | undefined): string | undefined {
    const { origin, pathname } = new URL(url)
    const pairs = given ? [given] : []
    const taken = new Set((given ?? '').split(';').map((pair) => pair.split('=')[0]?.trim()))
    let length = given?.length ?? 0
    for (const { name, value, path, expiresAt } of this.#ordered(origin)) {
      const pair = `${name}=${value}`
      if (expiresAt <= this.#now() || !isBelow(pathname, path) || taken.has(name) || length + pair.length > MAX_HEADER) continue
      pairs.push(pair)
      length += pair.length + 2
    }
    return pairs.length > 0 ? pairs.join('; ') : undefined
  }

  /** Removes the cookies of an origin that no longer accepts the credential. */
  forget(origin: string): void {
    this.#set(origin, new Map())
  }

  #set(origin: string, cookies: ReadonlyMap<string, Cookie>): void {
    this.#changed.add(origin)
    this.#origins.delete(origin)
    if (cookies.size > 0) this.#origins.set(origin, cookies)
    const [oldest = ''] = this.#origins.keys()
    if (this.#origins.size > MAX_ORIGINS) this.#origins.delete(oldest)
  }

  /** Longer paths first, then the older ones (§5.4). */
  #ordered(origin: string): readonly Cookie[] {
    return [...(this.#origins.get(origin)?.values() ?? [])].sort((one, other) => other.path.length - one.path.length)
  }

  #put(kept: Map<string, Cookie>, cookie: Cookie): void {
    const key = `${cookie.name} ${cookie.path}`
    const known = kept.get(key)
    const isOver = cookie.expiresAt <= this.#now()
    if (known?.value !== (isOver ? undefined : cookie.value)) this.version++
    if (isOver) kept.delete(key)
    else kept.set(key, cookie)
    const [oldest = ''] = kept.keys()
    if (kept.size > MAX_COOKIES) kept.delete(oldest)
  }
}

/**
 * Returns a cookie from `Set-Cookie` (§5.2, §5.3), undefined for an invalid one or one that this server may not set. `Domain` may name the
 * host or a parent domain and has no effect: the cookie is sent to the origin only.
 */
function cookieOf(field: string, url: URL, now: number): Cookie | undefined {
  const [pair = '', ...attributes] = field.split(';')
  const [, name = '', value = ''] = /^([^=]*)=(.*)$/s.exec(pair) ?? []
  const cookie = { name: name.trim(), value: value.trim() }
  if (!isToken(cookie.name) || !/^[\x20-\x7e]*$/.test(cookie.value) || pair.length > MAX_COOKIE) return undefined
  const given = attributesOf(attributes)
  const isSecure = given.has('secure')
  const path = given.get('path') ?? ''
  const domain = (given.get('domain') ?? '').toLowerCase().replace(/^\./, '')
  if (isSecure && url.protocol !== 'https:') return undefined
  if (domain !== '' && url.hostname !== domain && !url.hostname.endsWith(`.${domain}`)) return undefined
  if (/^__(?:secure|host)-/i.test(cookie.name) && !isSecure) return undefined
  if (/^__host-/i.test(cookie.name) && (domain !== '' || path !== '/')) return undefined
  return { ...cookie, path: path.startsWith('/') ? path : defaultPath(url), expiresAt: endOf(given, now) }
}

/** Returns the attributes by name in lower case; the last one of a name counts. */
function attributesOf(attributes: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    attributes.map((attribute) => {
      const [name = '', ...value] = attribute.split('=')
      return [name.trim().toLowerCase(), value.join('=').trim()]
    }),
  )
}

/** Returns the expiry in epoch milliseconds. `Max-Age` takes precedence over `Expires`; without either a cookie never expires (§5.3). */
function endOf(attributes: ReadonlyMap<string, string>, now: number): number {
  const maxAge = attributes.get('max-age') ?? ''
  if (/^-?\d+$/.test(maxAge)) return Number(maxAge) > 0 ? now + Number(maxAge) * 1000 : 0
  const expires = Date.parse(attributes.get('expires') ?? '')
  return Number.isNaN(expires) ? Number.POSITIVE_INFINITY : expires
}

/** Returns the default path: the folder of the URL (§5.1.4). */
function defaultPath({ pathname }: URL): string {
  return pathname.slice(0, Math.max(1, pathname.lastIndexOf('/')))
}

/** True when a request path matches the path of a cookie (§5.1.4). */
function isBelow(pathname: string, path: string): boolean {
  return pathname === path || pathname.startsWith(path.endsWith('/') ? path : `${path}/`)
}

/** Which signed address serves an address: its own, or one whose signature covers it. */
import type { CacheEntry, Session } from '../../auth/session.ts'
import { isAuthError } from '../../errors.ts'
import { type Cover, folderOf, openedBy } from './signed-policy.ts'

/** What a signing API gave. */
export interface Signed {
  /** The address that was to be signed, and the key of the call: two calls about one address may be told different things. */
  readonly asked: string
  readonly call: string
  readonly address: string
  readonly cover?: Cover
  /** Epoch milliseconds. */
  readonly since: number
}

/** Where signed addresses are kept in the session. */
export interface Keys {
  readonly own: string
  /** What the keys of shared ones begin with; absent where nothing is shared. */
  readonly shared?: string
  /** True for addresses at which a signature may be used that was given for another one. */
  readonly allows: (address: string) => boolean
}

/** A signed address for what was wanted, and where it came from. */
export interface Found {
  readonly key: string
  readonly entry: CacheEntry<Signed>
  readonly address: string
}

type Sign = (signal: AbortSignal) => Promise<CacheEntry<Signed>>

/** The signed address that is there already. */
export function knownFor(url: string, keys: Keys, session: Pick<Session, 'get'>): Found | undefined {
  const { own, shared } = keys
  const entry = session.get<Signed>(own)
  if (entry) return foundIn(own, entry, url, keys)
  if (shared === undefined) return undefined
  const first = session.get<Signed>(slot(shared, url, 0))
  const depth = first?.value.cover?.depth
  const found = first && foundIn(slot(shared, url, 0), first, url, keys)
  if (found || !depth) return found
  const second = session.get<Signed>(slot(shared, url, depth))
  return second && foundIn(slot(shared, url, depth), second, url, keys)
}

/**
 * The signed address, obtained where there is none. The first answer for a host shows how wide its signatures are: others wait
 * for it, and then for the first of their own folder. Where signatures are for one address, each gets its own.
 */
export async function obtainFor(url: string, keys: Keys, session: Session, sign: Sign): Promise<Found | undefined> {
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

/** The signed address of an entry for that address: what it was given for, or what it covers. */
export function foundIn(key: string, entry: CacheEntry<Signed>, url: string, { own, allows }: Keys): Found | undefined {
  const { asked, call, address, cover } = entry.value
  if (asked === url && call === own) return { key, entry, address }
  const opened = cover && openedBy(cover, url)
  return opened !== undefined && allows(opened) ? { key, entry, address: opened } : undefined
}

/** The failure of another one's call says nothing about ours. */
async function firstOf(key: string, session: Session, sign: Sign): Promise<CacheEntry<Signed> | undefined> {
  let isOurs = false
  const ours: Sign = (signal) => {
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

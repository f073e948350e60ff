/** Finds the signed URL for a URL: its own, or one whose signature is valid for it too. */
import type { CacheEntry, Session } from '../../auth/session.ts'
import { isAuthError } from '../../errors.ts'
import { type Cover, folderOf, openedBy } from './signed-policy.ts'
import { appended } from './signed-query.ts'

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
export interface Found {
  readonly key: string
  readonly entry: CacheEntry<Signed>
  readonly address: string
}

type Sign = (signal: AbortSignal) => Promise<CacheEntry<Signed>>

/** Returns the signed URL that is already known. */
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
 * Returns the signed URL, obtained when there is none. The first response for a host shows what its signatures are valid for: other calls
 * wait for it, and then for the first of their own folder. When signatures are for one URL, each gets its own.
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

/** Returns the credential's signed URL for that URL, if it was signed for it or is valid for it. */
export function foundIn(key: string, entry: CacheEntry<Signed>, url: string, { own, shared, allows }: Keys): Found | undefined {
  const { asked, call, address, query, cover } = entry.value
  if (asked === url && call === own) return { key, entry, address }
  const isForCall = query !== undefined && call === own && shared !== undefined
  const opened = isForCall ? appended(url, query) : cover && openedBy(cover, url)
  return opened !== undefined && allows(opened) ? { key, entry, address: opened } : undefined
}

/** Waits for another caller's request; if it fails, the error is ignored and this caller sends its own. */
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
